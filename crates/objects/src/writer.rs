//! Uploads an object in parts.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use object_store::buffered::BufWriter;
use tokio::io::AsyncWriteExt;

use super::bucket::{Bucket, path};
use super::failure::failure;
use super::{ObjectUrl, PART};

/// Parts that are on their way at the same time.
const PARTS_AT_ONCE: usize = 2;

/// An upload. The object appears when it is finished; dropped before, the parts that the store has are given up.
pub struct ObjectWriter {
    bucket: Bucket,
    /// There while the upload can go on.
    upload: Option<BufWriter>,
}

impl ObjectWriter {
    /// Begins an object. One of that name stays until the new one is whole.
    ///
    /// # Errors
    /// If the key cannot be one.
    pub fn create(bucket: &Bucket, url: &ObjectUrl) -> io::Result<Self> {
        let upload = BufWriter::with_capacity(bucket.store(), path(url)?, PART).with_max_concurrency(PARTS_AT_ONCE);
        Ok(Self { bucket: bucket.clone(), upload: Some(upload) })
    }

    /// Sends what is left, and makes the object appear.
    ///
    /// # Errors
    /// If a part or the end of the upload could not be sent.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut upload = self.upload.take().ok_or(ErrorKind::BrokenPipe)?;
        // The crate gives the parts up if this fails.
        self.bucket.wait(async move { upload.shutdown().await })?.map_err(named)
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (mut upload, sent) = (self.upload.take().ok_or(ErrorKind::BrokenPipe)?, bytes.to_vec());
        let (upload, done) = self.bucket.wait(async move {
            let done = upload.write_all(&sent).await;
            if done.is_err() {
                // The first error is the one to tell.
                let _ = upload.abort().await;
                return (None, done);
            }
            (Some(upload), done)
        })?;
        self.upload = upload;
        done.map(|()| bytes.len()).map_err(named)
    }

    /// Does nothing: a part is sent when it is full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        if let Some(mut upload) = self.upload.take() {
            // The store gives up parts by a rule of its own, if it cannot be asked to.
            let _ = self.bucket.wait(async move { upload.abort().await });
        }
    }
}

/// Says why an upload failed, as other requests do.
fn named(error: io::Error) -> io::Error {
    error.downcast::<object_store::Error>().map_or_else(|error| error, |error| failure(&error))
}

impl fmt::Debug for ObjectWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upload to {:?}", self.bucket)
    }
}
