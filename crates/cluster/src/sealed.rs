//! Bytes as the database keeps them: a format byte, a sum over the rest, and the bytes compressed by zstd.

use xxhash_rust::xxh3::xxh3_64;

use super::error::ClusterError;

const FORMAT: u8 = 1;
/// The format byte and the sum.
const HEADER: usize = 9;
/// Packs a fifth smaller than the default level does, for 0.05 ms more a page.
pub(super) const LEVEL: i32 = 6;

/// Returns the bytes to keep.
pub(super) fn seal(bytes: &[u8]) -> Result<Vec<u8>, ClusterError> {
    let packed = zstd::bulk::compress(bytes, LEVEL).map_err(|error| ClusterError::Damaged(error.to_string()))?;
    let length =
        u32::try_from(bytes.len()).map_err(|_| ClusterError::Damaged("more than 4 GiB in a row".to_owned()))?;
    let mut sealed = Vec::with_capacity(HEADER + 4 + packed.len());
    sealed.push(FORMAT);
    sealed.extend_from_slice(&[0; 8]);
    sealed.extend_from_slice(&length.to_le_bytes());
    sealed.extend_from_slice(&packed);
    let sum = xxh3_64(&sealed[HEADER..]);
    sealed[1..HEADER].copy_from_slice(&sum.to_le_bytes());
    Ok(sealed)
}

/// Returns the bytes that were kept. `name` is where they come from.
pub(super) fn open_sealed(sealed: &[u8], name: impl Fn() -> String) -> Result<Vec<u8>, ClusterError> {
    let damaged = |what: &str| ClusterError::Damaged(format!("{}: {what}", name()));
    let (header, rest) = sealed.split_at_checked(HEADER).ok_or_else(|| damaged("too short"))?;
    if header[0] != FORMAT {
        return Err(damaged("another format"));
    }
    if header[1..] != xxh3_64(rest).to_le_bytes() {
        return Err(damaged("another sum"));
    }
    let (length, packed) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("too short"))?;
    let length = u32::from_le_bytes(*length) as usize;
    let bytes = zstd::bulk::decompress(packed, length).map_err(|error| damaged(&error.to_string()))?;
    if bytes.len() == length { Ok(bytes) } else { Err(damaged("another length")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes: Vec<u8> = (0..200u8).collect();
        let sealed = seal(&bytes).unwrap();
        assert_eq!(open_sealed(&sealed, String::new).unwrap(), bytes);
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(open_sealed(&damaged, String::new).is_err(), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(open_sealed(&sealed[..length], String::new).is_err(), "{length} bytes");
        }
    }
}
