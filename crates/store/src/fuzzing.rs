//! Rows as they could stand in a store that somebody else wrote.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::block::{Block, pack};
use super::options::Identity;
use super::reader::DoneRow;
use super::snapshot::SnapshotHead;
use super::value_chunk;
use ndcrawl_model::{CommitMark, HostRow, PageLine, PageRow, TermRow, UrlRow};

/// A piece, a block of rows of any kind, a line of `pages.jsonl`: what can be read comes back from what is
/// written of it.
pub fn rows(bytes: &[u8]) {
    let _ = value_chunk::open("url", b"key", bytes);
    assert_eq!(value_chunk::open("url", b"key", &value_chunk::seal("url", b"key", 1, bytes)), Ok((1, bytes)));
    if let Ok(line) = serde_json::from_slice::<PageLine>(bytes) {
        assert!(serde_json::to_string(&line).is_ok());
    }
    for read in [
        value::<UrlRow>,
        value::<TermRow>,
        value::<PageRow>,
        value::<DoneRow>,
        value::<HostRow>,
        value::<CommitMark>,
        value::<Identity>,
        value::<SnapshotHead>,
    ] {
        read(bytes);
    }
    let Ok(block) = Block::new(bytes.to_vec()) else { return };
    for index in 0..=block.len() {
        row::<UrlRow>(&block, index);
        row::<TermRow>(&block, index);
        row::<PageRow>(&block, index);
        row::<DoneRow>(&block, index);
    }
}

fn value<T: Serialize + DeserializeOwned + Debug>(bytes: &[u8]) {
    if let Ok(value) = postcard::from_bytes::<T>(bytes) {
        let again = postcard::to_stdvec(&value).ok().and_then(|bytes| postcard::from_bytes::<T>(&bytes).ok());
        // Not every number is equal to itself.
        assert_eq!(again.map(|again| format!("{again:?}")), Some(format!("{value:?}")));
    }
}

fn row<T: Serialize + DeserializeOwned + Debug>(block: &Block, index: usize) {
    let Ok(row) = block.row::<T>(index) else { return };
    let packed = pack(std::slice::from_ref(&row)).ok().and_then(|mut blocks| blocks.pop());
    let again = packed.and_then(|(_, bytes)| Block::new(bytes).ok()?.row::<T>(0).ok());
    assert_eq!(again.map(|again| format!("{again:?}")), Some(format!("{row:?}")));
}
