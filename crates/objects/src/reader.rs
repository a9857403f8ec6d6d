//! Reads an object in ranges.

use std::fmt;
use std::io::{self, Read};

use object_store::{GetOptions, GetRange, ObjectMeta};

use super::PART;
use super::bucket::{Bucket, FoundObject};
use super::failure::failure;

/// A reader of an object from its beginning to its end.
pub struct ObjectReader {
    bucket: Bucket,
    object: ObjectMeta,
    /// Bytes of the object before the end of `range`.
    read: u64,
    range: Vec<u8>,
    /// The next byte in `range`.
    at: usize,
}

impl ObjectReader {
    /// Begins to read an object. The first read sends the first request.
    pub fn new(bucket: &Bucket, object: &FoundObject) -> Self {
        Self { bucket: bucket.clone(), object: object.meta.clone(), read: 0, range: Vec::new(), at: 0 }
    }

    /// Gets the next range. The crate repeats a request whose answer breaks off.
    fn fetch(&mut self) -> io::Result<()> {
        let end = self.object.size.min(self.read + PART as u64);
        let options = GetOptions {
            range: Some(GetRange::Bounded(self.read..end)),
            if_match: self.object.e_tag.clone(),
            ..GetOptions::default()
        };
        let (store, path) = (self.bucket.store(), self.object.location.clone());
        let got = self.bucket.wait(async move { store.get_opts(&path, options).await?.bytes().await })?;
        let bytes = got.map_err(|error| failure(&error))?;
        if bytes.len() as u64 != end - self.read {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the store sent less than the object has"));
        }
        self.range = bytes.into();
        (self.read, self.at) = (end, 0);
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.range.len() && self.read < self.object.size {
            self.fetch()?;
        }
        let mut left = self.range.get(self.at..).unwrap_or_default();
        let read = left.read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

impl fmt::Debug for ObjectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reader of {:?}/{}", self.bucket, self.object.location)
    }
}
