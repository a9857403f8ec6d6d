//! `s3://BUCKET/KEY`.

use std::fmt;
use std::path::Path;

/// The address of an object, or of all objects whose keys begin with it and a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUrl {
    /// The bucket.
    pub bucket: String,
    /// The key, without slashes at its ends; empty for the whole bucket.
    pub key: String,
}

impl ObjectUrl {
    /// Returns the address that a path is, if it is none of a disk.
    pub fn of(path: &Path) -> Option<Self> {
        let rest = path.to_str()?.strip_prefix("s3://")?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        Some(Self { bucket: bucket.to_owned(), key: key.trim_matches('/').to_owned() })
    }

    /// Returns the address of an object below this one.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let key = if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) };
        Self { bucket: self.bucket.clone(), key }
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_an_address() {
        let read = |text: &str| ObjectUrl::of(Path::new(text)).map(|url| (url.bucket.clone(), url.key.clone()));
        let url = |bucket: &str, key: &str| Some((bucket.to_owned(), key.to_owned()));
        assert_eq!(read("s3://b/a/c.jsonl"), url("b", "a/c.jsonl"));
        assert_eq!(read("s3://b/a/"), url("b", "a"));
        assert_eq!(read("s3://b"), url("b", ""));
        assert_eq!([read("s3:/b/a"), read("out/s3://b"), read("-")], [None, None, None]);
        let root = ObjectUrl::of(Path::new("s3://b")).unwrap();
        assert_eq!(root.join("x").join("y.md").to_string(), "s3://b/x/y.md");
    }
}
