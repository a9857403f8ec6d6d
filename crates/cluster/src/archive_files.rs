//! The archive files of all workers, and where they are found from here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use ndcrawl_engine::pipeline::ArchiveReach;

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
    let statement = "SELECT run.archive, file.folder, file.serial, file.name, file.bytes \
                     FROM file JOIN run ON run.id = file.run WHERE bytes > 0 ORDER BY file.run, folder, serial";
    let rows = session.client().rows("list the archives", statement, &[]).await?;
    let file = |(archive, folder, serial, name, bytes): (String, String, i64, String, i64)| {
        let serial = u32::try_from(serial).unwrap_or(u32::MAX);
        ArchiveFile { archive, folder, serial, name, bytes: bytes.unsigned_abs() }
    };
    Ok(rows.into_iter().map(file).collect())
}

/// Enters how far a file of a run's archive is. `folder` is the one below that of the run.
pub(super) async fn enter_file(
    transaction: &OpenTransaction<'_>,
    (run, folder): (i32, &str),
    ArchiveReach { serial, name, bytes }: ArchiveReach,
) -> Result<(), ClusterError> {
    let statement = "INSERT INTO file (run, folder, serial, name, bytes) VALUES ($1, $2, $3, $4, $5) \
                     ON CONFLICT (run, folder, serial) DO UPDATE SET bytes = excluded.bytes";
    let (serial, bytes) = (i64::from(serial), i64::try_from(bytes).unwrap_or(i64::MAX));
    let parameters: [&(dyn ToSql + Sync); 5] = [&run, &folder, &serial, &name, &bytes];
    transaction.sql().change("enter an archive file", statement, &parameters).await.map(drop)
}

/// Returns the path of an archive file: with its final name, or as a killed worker has left it.
fn existing(path: &Path) -> Option<PathBuf> {
    let open = PathBuf::from(format!("{}.open", path.display()));
    [path.to_owned(), open].into_iter().find(|path| path.is_file())
}
