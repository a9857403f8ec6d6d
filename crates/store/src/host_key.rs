//! Key of a row in the log of origins.

use ndcrawl_model::Digest;

/// The hash of the origin, then the commit that wrote the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostKey {
    pub(crate) origin: [u8; 16],
    pub(crate) commit: u64,
}

impl HostKey {
    pub(crate) const BYTES: usize = 24;

    pub(super) fn new(origin: &str, commit: u64) -> Self {
        Self { origin: Digest::of(origin.as_bytes()).0, commit }
    }

    /// Parses the key of a value or of one of its chunks.
    pub(crate) fn read(key: &[u8]) -> Option<Self> {
        let (origin, rest) = key.split_first_chunk()?;
        Some(Self { origin: *origin, commit: u64::from_be_bytes(*rest.first_chunk()?) })
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        [&self.origin[..], &self.commit.to_be_bytes()].concat()
    }
}
