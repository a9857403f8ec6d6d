//! Objects of a bucket as input files.
//!
//! What is read from its beginning to its end is streamed. Parquet and zip files have their directory at the end, and
//! their parts are read in any order: such an object is copied to a temporary file first, which is gone when it has been
//! read.

use std::io::{self, Read};
use std::sync::atomic::AtomicU64;

use tempfile::NamedTempFile;

use ndcrawl_objects::{Bucket, FoundObject, ObjectReader};

use super::{Counted, InputItem, Items, Options, SourceFile, opened, parquet, read, wacz};

/// An object, and the bucket that it is in.
#[derive(Clone, Debug)]
pub(super) struct InputObject {
    pub(super) bucket: Bucket,
    pub(super) object: FoundObject,
}

impl InputObject {
    /// Reads the object. An error is the only item of one that cannot be read.
    pub(super) fn items<'a>(
        &self,
        file: SourceFile,
        options: &'a Options,
        bytes: &'a AtomicU64,
    ) -> Result<Items<'a>, InputItem> {
        let reader = ObjectReader::new(&self.bucket, &self.object);
        items_of_reader(file, reader, options, bytes)
    }
}

/// Reads what can be read from its beginning to its end only.
pub(super) fn items_of_reader<'a>(
    file: SourceFile,
    mut reader: impl Read + Send + 'a,
    options: &'a Options,
    bytes: &'a AtomicU64,
) -> Result<Items<'a>, InputItem> {
    let mut first = Vec::new();
    if let Err(error) = reader.by_ref().take(parquet::MAGIC.len() as u64).read_to_end(&mut first) {
        return Err(file.damaged(error.to_string()));
    }
    let is_parquet = first == parquet::MAGIC;
    let whole = io::Cursor::new(first.clone()).chain(reader);
    if !is_parquet && !wacz::is_zip(&first) {
        return read(file, Counted { input: whole, bytes }, options);
    }
    let copy = match copied(whole) {
        Ok(copy) => copy,
        Err(error) => return Err(file.damaged(format!("it cannot be copied to a temporary file: {error}"))),
    };
    let items = match is_parquet {
        true => opened(&file.place, "Parquet", parquet::rows(copy.path(), &file.place, options, bytes)),
        false => wacz::items(file, copy.path(), options, bytes)?,
    };
    Ok(Box::new(CopiedItems { items, _copy: copy }))
}

/// The items of a copy, which lasts as long as they do.
struct CopiedItems<'a> {
    items: Items<'a>,
    _copy: NamedTempFile,
}

impl Iterator for CopiedItems<'_> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        self.items.next()
    }
}

fn copied(mut input: impl Read) -> io::Result<NamedTempFile> {
    let mut copy = NamedTempFile::new()?;
    io::copy(&mut input, &mut copy)?;
    Ok(copy)
}
