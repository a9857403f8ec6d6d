//! Compares a block with the digest that its record states (`WARC-Block-Digest`, ISO 28500, section 5.8).

use data_encoding::{BASE32_NOPAD, BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use md5::Md5;
use sha1::Sha1;
use sha1::digest::DynDigest;
use sha2::{Sha256, Sha512};

/// A digest that a record states, and the bytes that were seen of its block.
pub(super) struct BlockDigest {
    hasher: Box<dyn DynDigest + Send>,
    stated: Vec<u8>,
}

impl BlockDigest {
    /// Parses `ALGORITHM:VALUE`, in base 32, base 64 or hexadecimal digits. `None` for an unknown algorithm or spelling.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (algorithm, value) = text.split_once(':')?;
        let hasher: Box<dyn DynDigest + Send> = match algorithm.trim().to_ascii_lowercase().as_str() {
            "sha1" | "sha-1" => Box::new(Sha1::default()),
            "sha256" | "sha-256" => Box::new(Sha256::default()),
            "sha512" | "sha-512" => Box::new(Sha512::default()),
            "md5" => Box::new(Md5::default()),
            _ => return None,
        };
        let value = value.trim().trim_end_matches('=');
        let spellings = [
            HEXLOWER_PERMISSIVE.decode(value.as_bytes()),
            BASE32_NOPAD.decode(value.to_ascii_uppercase().as_bytes()),
            BASE64_NOPAD.decode(value.as_bytes()),
        ];
        let stated = spellings.into_iter().flatten().find(|bytes| bytes.len() == hasher.output_size())?;
        Some(Self { hasher, stated })
    }

    /// Takes the next bytes of the block.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// Returns whether the block has the digest that was stated.
    pub(super) fn agrees(mut self) -> bool {
        let mut found = vec![0; self.stated.len()];
        self.hasher.finalize_into_reset(&mut found).is_ok() && found == self.stated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_in_all_spellings_and_unknown_ones_are_none() {
        for text in [
            "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
            "SHA-1: vgmt4nsha2awvor6evyxqugcnsonbwe5",
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha-256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "md5:900150983CD24FB0D6963F7D28E17F72",
        ] {
            let is_right = |block: &[u8]| {
                let mut digest = BlockDigest::parse(text).unwrap();
                digest.update(&block[..1]);
                digest.update(&block[1..]);
                digest.agrees()
            };
            assert!(is_right(b"abc"), "{text}");
            assert!(!is_right(b"abd"), "{text}");
        }
        for text in ["sha1:", "sha1:a999", "blake2b:900150983cd24fb0d6963f7d28e17f72", "sha1", ""] {
            assert!(BlockDigest::parse(text).is_none(), "{text}");
        }
    }
}
