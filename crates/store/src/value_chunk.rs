//! Splits values into chunks that suit sled, each with a checksum.
//!
//! ```text
//! chunk = format (1) | number of chunks, u32 little-endian (4) | XXH3-64, little-endian (8) | bytes
//! ```
//!
//! The checksum covers the name of the tree, the key, the number of chunks and the bytes. So it also detects a valid
//! chunk in the wrong place.

use xxhash_rust::xxh3::Xxh3;

/// Most bytes of one chunk. sled keeps up to 16 values in one page and rewrites it whole.
pub(crate) const PIECE_BYTES: usize = 16 * 1024;

const FORMAT: u8 = 1;
const HEAD_BYTES: usize = 13;

/// Encodes the chunk with this key.
pub(crate) fn seal(tree: &str, key: &[u8], pieces: u32, bytes: &[u8]) -> Vec<u8> {
    let mut piece = Vec::with_capacity(HEAD_BYTES + bytes.len());
    piece.push(FORMAT);
    piece.extend(pieces.to_le_bytes());
    piece.extend(checksum(tree, key, pieces, bytes).to_le_bytes());
    piece.extend(bytes);
    piece
}

/// Returns the number of chunks and the bytes of this one, or the reason for damage.
pub(crate) fn open<'a>(tree: &str, key: &[u8], piece: &'a [u8]) -> Result<(u32, &'a [u8]), String> {
    let (head, bytes) = piece.split_first_chunk::<HEAD_BYTES>().ok_or("shorter than its head")?;
    let [format, p0, p1, p2, p3, sum @ ..] = *head;
    if format != FORMAT {
        return Err(format!("unknown format {format}"));
    }
    let pieces = u32::from_le_bytes([p0, p1, p2, p3]);
    if u64::from_le_bytes(sum) != checksum(tree, key, pieces, bytes) {
        return Err("its checksum is another".to_owned());
    }
    Ok((pieces, bytes))
}

/// Returns the key of chunk `number` of a value. Number 0 has the key itself.
pub(crate) fn key(key: &[u8], number: u16) -> Vec<u8> {
    let mut piece_key = key.to_vec();
    if number > 0 {
        piece_key.extend(number.to_be_bytes());
    }
    piece_key
}

fn checksum(tree: &str, key: &[u8], pieces: u32, bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    for part in [tree.as_bytes(), key] {
        hasher.update(&(part.len() as u32).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(&pieces.to_le_bytes());
    hasher.update(bytes);
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_noticed() {
        let piece = seal("url", b"key", 1, b"some bytes");
        assert_eq!(open("url", b"key", &piece), Ok((1, &b"some bytes"[..])));
        for bit in 0..piece.len() * 8 {
            let mut flipped = piece.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(open("url", b"key", &flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_piece_in_the_wrong_place_or_cut_short_is_noticed() {
        let piece = seal("url", b"key", 1, b"some bytes");
        assert!(open("term", b"key", &piece).is_err());
        assert!(open("url", b"kez", &piece).is_err());
        for length in 0..piece.len() {
            assert!(open("url", b"key", &piece[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn keys_of_pieces_sort_between_their_value_and_the_next() {
        let next = key(&8u32.to_be_bytes(), 0);
        let keys = [key(&7u32.to_be_bytes(), 0), key(&7u32.to_be_bytes(), 1), key(&7u32.to_be_bytes(), 0x1234), next];
        assert!(keys.is_sorted());
    }
}
