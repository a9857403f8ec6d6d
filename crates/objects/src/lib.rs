//! *What does a bucket hold, and how does a file get into it?*
//!
//! Objects of S3 and of stores that speak its protocol, by the crate `object_store`. Its calls are asynchronous; here they
//! are plain ones, each of which waits: exports and readers of inputs have threads of their own. A thread of the
//! [`Bucket`]'s own sends the requests.
//!
//! | type | does |
//! |---|---|
//! | [`ObjectUrl`] | `s3://BUCKET/KEY` |
//! | [`Bucket`] | lists, deletes, opens; endpoint and credentials come from the `AWS_*` variables |
//! | [`ObjectWriter`] | uploads in parts; the object appears when [`finish`](ObjectWriter::finish) has been called, or never |
//! | [`ObjectReader`] | reads in ranges, and refuses an object that changes meanwhile |
//!
//! A request is repeated after a lost connection or an answer 5xx. Memory: three parts for a writer, one for a reader.
//! No error repeats a credential.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(feature = "s3")]
mod bucket;
#[cfg(feature = "s3")]
mod failure;
#[cfg(feature = "s3")]
mod reader;
#[cfg(not(feature = "s3"))]
mod unavailable;
mod url;
#[cfg(feature = "s3")]
mod writer;

#[cfg(feature = "s3")]
pub use self::bucket::{Bucket, FoundObject};
#[cfg(feature = "s3")]
pub use self::reader::ObjectReader;
#[cfg(not(feature = "s3"))]
pub use self::unavailable::{Bucket, FoundObject, ObjectReader, ObjectWriter};
pub use self::url::ObjectUrl;
#[cfg(feature = "s3")]
pub use self::writer::ObjectWriter;

/// Bytes of a part of an upload, and of a range that is read. A store takes at most 10,000 parts: 160 GB.
#[cfg(feature = "s3")]
const PART: usize = 16 * 1024 * 1024;
