//! The archive files of all workers, and where they are found from here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::connection::Session;
use super::error::ClusterError;

/// An archive file, as far as commits have filled it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArchiveFile {
    /// The machine and the folder of the worker.
    pub archive: String,
    /// The folder below it.
    pub folder: String,
    /// Its number there.
    pub serial: u32,
    /// Its name below the folder.
    pub name: String,
    /// The bytes that were committed.
    pub bytes: u64,
}

impl ArchiveFile {
    /// Finds the file in the worker's folder, if that is on this machine, or in one of some other places.
    pub fn find(&self, places: &[PathBuf]) -> Result<PathBuf, ClusterError> {
        let told = self.archive.split_once(':').map(|(_, path)| PathBuf::from(path));
        let path = |place: &PathBuf| existing(&place.join(&self.folder).join(&self.name));
        told.iter().chain(places).find_map(path).ok_or_else(|| {
            let Self { archive, folder, name, .. } = self;
            ClusterError::Folder(format!(
                "the archive {} of {archive} is not found: copy it to this machine and name its folder with --archives",
                Path::new(folder).join(name).display()
            ))
        })
    }
}

/// Returns the archive files that have something, in the order of their runs.
pub(super) async fn archive_files(session: &Session) -> Result<Vec<ArchiveFile>, ClusterError> {
    let doing = ClusterError::query("list the archives");
    let statement = "SELECT run.archive, file.folder, file.serial, file.name, file.bytes \
                     FROM file JOIN run ON run.id = file.run WHERE bytes > 0 ORDER BY file.run, folder, serial";
    let rows = session.client().query(statement, &[]).await.map_err(&doing)?;
    let file = |row: &tokio_postgres::Row| {
        let (serial, bytes): (i64, i64) = (row.try_get(2).map_err(&doing)?, row.try_get(4).map_err(&doing)?);
        Ok(ArchiveFile {
            archive: row.try_get(0).map_err(&doing)?,
            folder: row.try_get(1).map_err(&doing)?,
            serial: u32::try_from(serial).unwrap_or(u32::MAX),
            name: row.try_get(3).map_err(&doing)?,
            bytes: bytes.unsigned_abs(),
        })
    };
    rows.iter().map(file).collect()
}

/// Returns the path of an archive file: with its final name, or as a killed worker has left it.
fn existing(path: &Path) -> Option<PathBuf> {
    let open = PathBuf::from(format!("{}.open", path.display()));
    [path.to_owned(), open].into_iter().find(|path| path.is_file())
}
