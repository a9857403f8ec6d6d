//! Writes an export to a folder, renamed into place when complete.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::{ExportError, Result};

/// A folder while it is written, under the name `FOLDER.open`. Dropping it unfinished removes it.
pub(super) struct FolderOutput {
    folder: PathBuf,
    open: PathBuf,
    is_finished: bool,
}

impl FolderOutput {
    /// Creates the folder, which must not exist or be empty. What an export left that was killed is removed.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
            Ok(true) => fs::remove_dir(folder).map_err(|source| ExportError::at(folder, source))?,
            Ok(false) => return Err(ExportError::at(folder, io::ErrorKind::DirectoryNotEmpty.into())),
            Err(found) if found.kind() == io::ErrorKind::NotFound => {}
            Err(found) => return Err(ExportError::at(folder, found)),
        }
        let mut name = folder.file_name().unwrap_or_default().to_owned();
        name.push(".open");
        let open = folder.with_file_name(name);
        match fs::remove_dir_all(&open) {
            Err(found) if found.kind() != io::ErrorKind::NotFound => return Err(ExportError::at(&open, found)),
            _ => fs::create_dir_all(&open).map_err(|source| ExportError::at(&open, source))?,
        }
        Ok(Self { folder: folder.to_owned(), open, is_finished: false })
    }

    /// Returns the folder to write to.
    pub(super) fn path(&self) -> &Path {
        &self.open
    }

    /// Gives the folder its name.
    pub(super) fn finish(mut self) -> Result<()> {
        self.is_finished = true;
        fs::rename(&self.open, &self.folder).map_err(|source| ExportError::at(&self.folder, source))
    }
}

impl Drop for FolderOutput {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.open);
        }
    }
}
