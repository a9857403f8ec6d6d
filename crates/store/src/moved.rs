//! Marks a folder whose crawl goes on in a database: nothing is fetched into it any more, all else reads it as ever.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::crawl_file::{read_json_file, write_json_file};
use super::disk::Disk;
use super::error::{Error, Result};

/// Name of the marker file.
pub const MOVED: &str = "moved.json";

/// Where the crawl of a folder went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedTo {
    /// The servers, without a password.
    pub servers: String,
    /// The name of the crawl there.
    pub crawl: String,
}

/// Marks the folder. The caller holds it.
///
/// # Errors
/// [`Error::Io`].
pub fn mark_moved(folder: &Path, to: &MovedTo) -> Result<()> {
    write_json_file(&folder.join(MOVED), &serde_json::json!(to))?;
    Disk::default().sync_folder(folder).map_err(|error| Error::io("sync", folder, error))
}

/// Refuses a folder whose crawl goes on elsewhere.
pub(super) fn expect_here(folder: &Path) -> Result<()> {
    let path = folder.join(MOVED);
    let Some(mark) = read_json_file(&path)? else { return Ok(()) };
    let to: MovedTo =
        serde_json::from_value(mark).map_err(|error| Error::corrupt(path.display().to_string(), error))?;
    Err(Error::Moved { folder: folder.to_owned(), servers: to.servers, crawl: to.crawl })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Options, Store, StoreReader};

    #[test]
    fn a_moved_folder_is_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::new("r", "f");
        Store::open(folder.path(), Options::default(), &identity).unwrap().0.close().unwrap();
        let to = MovedTo { servers: "db1,db2/crawls".to_owned(), crawl: "blogs".to_owned() };
        mark_moved(folder.path(), &to).unwrap();
        let refused = Store::open(folder.path(), Options::default(), &identity).err().unwrap().to_string();
        assert!(refused.contains("'blogs' of db1,db2/crawls") && refused.contains("ndcrawl gather"), "{refused}");
        StoreReader::open(folder.path(), 1 << 20).unwrap();
    }
}
