//! Reads the lines of a file of lines as they are, as far as commits have filled it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use super::error::{Error, Result};

/// Returns the lines in the first `length` bytes, without line ends. A file that is shorter is damaged.
pub(super) fn line_texts(path: PathBuf, length: u64) -> Result<impl Iterator<Item = Result<String>>> {
    let failed = |error| Error::io("read", &path, error);
    let file = match File::open(&path) {
        // A crawl that has committed no line has no file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && length == 0 => None,
        opened => Some(opened.map_err(failed)?),
    };
    let found = file.as_ref().map(File::metadata).transpose().map_err(failed)?.map_or(0, |metadata| metadata.len());
    if found < length {
        let place = path.display().to_string();
        return Err(Error::corrupt(place, format!("it has {found} bytes, the last commit says {length}")));
    }
    let lines = file.into_iter().flat_map(move |file| BufReader::new(file.take(length)).lines());
    Ok(lines.map(move |line| line.map_err(|error| Error::io("read", &path, error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_the_last_commit_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.jsonl");
        assert_eq!(line_texts(path.clone(), 0).unwrap().count(), 0);
        assert!(line_texts(path.clone(), 4).is_err());
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let read = |length| -> Vec<String> { line_texts(path.clone(), length).unwrap().map(Result::unwrap).collect() };
        assert_eq!(read(8), ["one", "two"]);
        assert_eq!(read(4), ["one"]);
        let short = line_texts(path.clone(), 100).err().unwrap();
        assert!(short.to_string().contains("the last commit says 100"), "{short}");
    }
}
