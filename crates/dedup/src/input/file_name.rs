//! Names of files: compared whole, and byte for byte.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// Returns the path by which a file is known, wherever the command is given: below the current folder, or else whole.
/// Links are not resolved: a file is known by the name that people see.
pub(super) fn whole(path: &Path) -> PathBuf {
    let Ok(absolute) = std::path::absolute(path) else { return path.to_owned() };
    let mut whole = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    let here = std::env::current_dir().ok();
    here.and_then(|here| whole.strip_prefix(here).map(Path::to_owned).ok()).unwrap_or(whole)
}

/// Returns a name as text. Bytes that are no UTF-8 are told apart, as `\xFF`.
pub(super) fn shown(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02X}");
        }
    }
    shown
}

/// Escapes a path for a URL: all bytes but those that no parser of a path changes.
pub(super) fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'='
            | b'&'
            | b'+'
            | b','
            | b'@' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_from_wherever_it_is_named() {
        let here = std::env::current_dir().unwrap();
        for path in ["a/b.txt", "./a/b.txt", "a/../a/./b.txt", "../x/../"] {
            let expected = if path.starts_with("..") { here.parent().unwrap().to_owned() } else { "a/b.txt".into() };
            assert_eq!(whole(Path::new(path)), expected, "{path}");
            assert_eq!(whole(&here.join(path)), expected, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_no_utf_8_are_told_apart() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| shown(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(name(b"caf\xe9.txt"), "caf\\xE9.txt");
        assert_ne!(name(b"\xff.txt"), name(b"\xfe.txt"));
        assert_ne!(name("caf\u{e9}".as_bytes()), name("cafe\u{301}".as_bytes()));
    }

    #[test]
    fn no_two_paths_have_one_address() {
        let paths = ["a b", "a%20b", "A", "a", "x#1", "x?1", "100%", "d/e", "d%2Fe", "d;jsessionid=1", "d", "\u{e9}"];
        let escaped: std::collections::HashSet<String> = paths.iter().map(|path| escaped(path)).collect();
        assert_eq!(escaped.len(), paths.len(), "{escaped:?}");
    }
}
