//! Compresses gzip members.
//!
//! The parts of a member are in memory anyway, and compressing them whole takes half the time of a stream.

use libdeflater::{CompressionLvl, Compressor};

/// Bytes of the buffers that are kept between members.
const KEPT_BYTES: usize = 1024 * 1024;

/// Compresses one member at a time, with reused buffers.
pub struct Gzip {
    compressor: Compressor,
    /// The concatenated parts of a member.
    parts: Vec<u8>,
    /// Output buffer. It keeps its largest length, since growing writes zeros.
    room: Vec<u8>,
}

impl Gzip {
    /// Creates a compressor of this level, clamped to 1–12.
    pub fn new(level: u32) -> Self {
        let level = i32::try_from(level).unwrap_or(i32::MAX).clamp(1, 12);
        let compressor = Compressor::new(CompressionLvl::new(level).unwrap_or_default());
        Self { compressor, parts: Vec::new(), room: Vec::new() }
    }

    /// Compresses these parts into one member.
    pub fn member(&mut self, parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().for_each(|part| self.parts.extend_from_slice(part));
        let bound = self.compressor.gzip_compress_bound(self.parts.len());
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        // It fails only if the buffer is short, and the bound is enough.
        let length = self.compressor.gzip_compress(&self.parts, &mut self.room).unwrap_or_default();
        let member = self.room[..length].to_vec();
        self.forget_much();
        member
    }

    fn forget_much(&mut self) {
        self.parts.clear();
        self.parts.shrink_to(KEPT_BYTES);
        self.room.truncate(KEPT_BYTES);
        self.room.shrink_to(KEPT_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::MultiGzDecoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn members_one_behind_the_other_unpack_to_all_parts(
            records in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..4), 1..6),
            level in 0u32..20,
        ) {
            let mut gzip = Gzip::new(level);
            let pack = |parts: &Vec<Vec<u8>>| gzip.member(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let members = records.iter().map(pack).collect::<Vec<_>>().concat();
            let mut unpacked = Vec::new();
            MultiGzDecoder::new(members.as_slice()).read_to_end(&mut unpacked).unwrap();
            prop_assert_eq!(unpacked, records.concat().concat());
        }
    }

    #[test]
    fn text_becomes_shorter_and_room_is_not_kept_for_ever() {
        let mut gzip = Gzip::new(1);
        let text = b"the same words again and again, ".repeat(100_000);
        assert!(gzip.member(&[&text]).len() < text.len() / 50);
        assert!(gzip.parts.capacity() < text.len() && gzip.room.capacity() < text.len());
    }
}
