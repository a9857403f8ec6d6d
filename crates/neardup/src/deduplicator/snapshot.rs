//! A deduplicator as bytes.
//!
//! ```text
//! magic, 8 bytes | settings | keys | documents | vocabulary | state of the decider | BLAKE3 of all before, 32 bytes
//! ```
//!
//! Settings, keys and documents are postcard, each after its length as a little-endian u64.

use std::hash::Hash;
use std::io::{Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::log::LogEntry;
use super::{Builder, Deduplicator, Error};
use crate::detect::Vocabulary;
use crate::model::Sequence;

/// Names the format and its version.
const MAGIC: &[u8; 8] = b"neardup\x08";
const DIGEST: usize = 32;

impl<K: Clone + Eq + Hash> Deduplicator<K> {
    /// Writes everything to `out`, with a checksum. Cost: linear; holds the bytes in memory once.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] if a key cannot be serialized.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), Error>
    where
        K: Serialize,
    {
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, &self.builder)?;
        put(&mut bytes, &self.keys)?;
        self.log.with(|entries| put(&mut bytes, &entries))?;
        self.counter.vocabulary.read().save(&mut bytes)?;
        self.decider.save(&mut bytes)?;
        let digest = blake3::hash(&bytes);
        out.write_all(&bytes)?;
        out.write_all(digest.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Reads what [`save`](Self::save) wrote, settings included. Reads `input` to its end.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] if the bytes are damaged or come from another version.
    pub fn load(input: &mut dyn Read) -> Result<Self, Error>
    where
        K: DeserializeOwned,
    {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        let mut rest = checked(&bytes)?;
        let builder: Builder = take(&mut rest)?;
        let keys: Vec<K> = take(&mut rest)?;
        let entries: Vec<LogEntry> = take(&mut rest)?;
        if keys.len() != entries.len() {
            return Err(Error::Format("keys and documents differ in number"));
        }
        let mut loaded: Self = builder.build()?;
        *loaded.counter.vocabulary.write() = Vocabulary::load(&mut rest)?;
        loaded.decider.load(&mut rest)?;
        loaded.decider.committed(Sequence(u32::try_from(keys.len()).unwrap_or(u32::MAX)));
        entries.into_iter().for_each(|entry| loaded.log.push(entry));
        loaded.numbers = keys.iter().cloned().zip((0..).map(Sequence)).collect();
        loaded.keys = keys;
        Ok(loaded)
    }
}

/// The bytes between magic and checksum, if both are right.
fn checked(bytes: &[u8]) -> Result<&[u8], Error> {
    let body = bytes.strip_prefix(MAGIC).ok_or(Error::Format("the magic bytes are missing"))?;
    let (body, digest) = body.split_at_checked(body.len().saturating_sub(DIGEST)).unwrap_or((body, &[]));
    let expected = blake3::hash(&bytes[..bytes.len() - digest.len()]);
    if digest == expected.as_bytes() { Ok(body) } else { Err(Error::Format("the checksum is wrong")) }
}

fn put(bytes: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Error> {
    let part = postcard::to_stdvec(value).map_err(|_| Error::Format("a key cannot be serialized"))?;
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
    Ok(())
}

fn take<T: DeserializeOwned>(rest: &mut &[u8]) -> Result<T, Error> {
    let damaged = || Error::Format("a part cannot be read");
    let (length, after) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let (part, after) = after.split_at_checked(length).ok_or_else(damaged)?;
    *rest = after;
    postcard::from_bytes(part).map_err(|_| damaged())
}
