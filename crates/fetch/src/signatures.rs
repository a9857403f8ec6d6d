//! Detects images, audio, video, archives and PDF by their first bytes, whatever the header says.
//!
//! The patterns are from the MIME Sniffing Standard (WHATWG), sections 6.1, 6.2 and 6.4, and 7.1 for PDF. One
//! deviation: the standard trusts a server that says `text/html`. A crawler that did would index images as words.

/// First bytes of binary formats. `None` matches any byte.
const SIGNATURES: [(&str, &[Option<u8>]); 15] = [
    ("image/png", &exactly(*b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", &exactly(*b"\xff\xd8\xff")),
    ("image/gif", &exactly(*b"GIF87a")),
    ("image/gif", &exactly(*b"GIF89a")),
    ("image/x-icon", &exactly(*b"\0\0\x01\0")),
    ("image/webp", &in_container(*b"RIFF", *b"WEBP")),
    ("audio/wave", &in_container(*b"RIFF", *b"WAVE")),
    ("video/avi", &in_container(*b"RIFF", *b"AVI ")),
    ("audio/mpeg", &exactly(*b"ID3\x03\0")),
    ("application/ogg", &exactly(*b"OggS\0")),
    ("video/webm", &exactly(*b"\x1a\x45\xdf\xa3")),
    ("application/gzip", &exactly(*b"\x1f\x8b\x08")),
    ("application/zip", &exactly(*b"PK\x03\x04")),
    ("application/x-rar-compressed", &exactly(*b"Rar!\x1a\x07")),
    ("application/pdf", &exactly(*b"%PDF-")),
];

/// Returns the media type of a binary body. `None` if it may be text.
pub fn no_text(body: &[u8]) -> Option<&'static str> {
    let begins = |pattern: &[Option<u8>]| {
        let mut bytes = body.iter();
        pattern.iter().all(|expected| bytes.next().is_some_and(|byte| expected.is_none_or(|known| known == *byte)))
    };
    SIGNATURES.iter().find(|(_, pattern)| begins(pattern)).map(|(name, _)| *name)
}

const fn exactly<const N: usize>(bytes: [u8; N]) -> [Option<u8>; N] {
    let mut pattern = [None; N];
    let mut at = 0;
    while at < N {
        pattern[at] = Some(bytes[at]);
        at += 1;
    }
    pattern
}

/// A container with its length between its name and the name of its content.
const fn in_container(container: [u8; 4], kind: [u8; 4]) -> [Option<u8>; 12] {
    let mut pattern = [None; 12];
    let mut at = 0;
    while at < 4 {
        pattern[at] = Some(container[at]);
        pattern[at + 8] = Some(kind[at]);
        at += 1;
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_bytes_and_text_is_never_taken_for_one() {
        for (body, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], Some("image/png")),
            (b"RIFF\x01\x02\x03\x04WEBPVP", Some("image/webp")),
            (b"%PDF-1.7 ...", Some("application/pdf")),
            (b"\x89PNG", None),
            (b"RIFF is a format", None),
            (b"GIF89 is old", None),
            (b"<!DOCTYPE html><title>\0\x01</title>", None),
            (b"\xff\xfe<\0h\0", None),
            (b"", None),
        ] {
            assert_eq!(no_text(body), expected, "{body:?}");
        }
    }
}
