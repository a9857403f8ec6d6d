//! Writes `crawl.json` and `status.json`: small files, replaced atomically.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Error, Result};

/// Replaces `crawl.json` in `folder` durably. A reader sees the old file or the new one, never a part.
///
/// # Errors
/// [`Error::Io`], [`Error::DiskFull`]; the old file is then unchanged.
pub fn write_crawl_file(folder: &Path, value: &Value) -> Result<PathBuf> {
    replace(&folder.join("crawl.json"), value, true)
}

/// Replaces any JSON file durably, as [`write_crawl_file`] does.
///
/// # Errors
/// As [`write_crawl_file`].
pub fn write_json_file(path: &Path, value: &Value) -> Result<PathBuf> {
    replace(path, value, true)
}

/// Replaces `status.json` in `folder` without a sync: it is rewritten every second and useless after a crash.
///
/// # Errors
/// As [`write_crawl_file`].
pub fn write_status_file(folder: &Path, value: &Value) -> Result<PathBuf> {
    replace(&folder.join("status.json"), value, false)
}

/// Reads a JSON file. `None` if it does not exist.
///
/// # Errors
/// [`Error::Io`], or [`Error::Corrupt`] if it is not JSON.
pub fn read_json_file(path: &Path) -> Result<Option<Value>> {
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|e| Error::corrupt(path.display().to_string(), e))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", path, e)),
    }
}

fn replace(path: &Path, value: &Value, durable: bool) -> Result<PathBuf> {
    let new = path.with_extension("json.new");
    let mut text = format!("{value:#}");
    text.push('\n');
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        if durable { file.sync_all() } else { Ok(()) }
    });
    written.map_err(|e| Error::io("write", &new, e))?;
    fs::rename(&new, path).map_err(|e| Error::io("replace", path, e))?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_json_file(&folder.path().join("crawl.json")).unwrap(), None);
        for value in [json!({"seeds": ["a", "b", "c"]}), json!({"seeds": []})] {
            let path = write_crawl_file(folder.path(), &value).unwrap();
            assert_eq!(read_json_file(&path).unwrap(), Some(value.clone()));
            write_status_file(folder.path(), &value).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_is_no_json_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        fs::write(&path, "{\"half\":").unwrap();
        assert!(matches!(read_json_file(&path), Err(Error::Corrupt { .. })));
    }
}
