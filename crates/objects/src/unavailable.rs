//! What stands in for a bucket in a build without the feature `s3`: nothing can be opened.

use std::convert::Infallible;
use std::io;

use super::ObjectUrl;

/// A bucket that cannot be opened.
#[derive(Clone, Debug)]
pub struct Bucket(Infallible);

/// An object that cannot be found.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FoundObject {
    pub url: ObjectUrl,
    pub size: u64,
    pub modified: i64,
}

/// A reader that cannot be made.
#[derive(Debug)]
pub struct ObjectReader(Infallible);

/// A writer that cannot be made.
#[derive(Debug)]
pub struct ObjectWriter(Infallible);

#[allow(missing_docs)]
impl Bucket {
    pub fn open(_: &ObjectUrl) -> io::Result<Self> {
        let why = "this build cannot use s3://: build with --features s3";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    pub fn find(&self, _: &ObjectUrl) -> io::Result<Vec<FoundObject>> {
        match self.0 {}
    }

    pub fn below(&self, _: &ObjectUrl) -> io::Result<Vec<FoundObject>> {
        match self.0 {}
    }

    pub fn delete(&self, _: &ObjectUrl) -> io::Result<()> {
        match self.0 {}
    }
}

#[allow(missing_docs)]
impl ObjectReader {
    pub fn new(bucket: &Bucket, _: &FoundObject) -> Self {
        match bucket.0 {}
    }
}

impl io::Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

#[allow(missing_docs)]
impl ObjectWriter {
    pub fn create(bucket: &Bucket, _: &ObjectUrl) -> io::Result<Self> {
        match bucket.0 {}
    }

    pub fn finish(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

impl io::Write for ObjectWriter {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}
