//! Maps the URL of a labeled page to its file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use url::Url;

use ndcrawl_model::{CanonicalUrl, Normalizer};

const HOST_ENDING: &str = ".localhost";
/// The file that a server sends for a folder.
const INDEX: &str = "index.html";

/// The URL of a page and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The URL of the page for detectors.
    pub url: CanonicalUrl,
    /// The file, relative to the folder of pages.
    pub file: PathBuf,
}

impl Address {
    /// Parses a URL: `http://S.localhost:8080/P` is the file `S/P`, or `S/P/index.html` if `P` ends in a slash.
    pub(super) fn parse(text: &str, normalizer: &Normalizer) -> Result<Self, String> {
        let url = normalizer.absolute(text).map_err(|error| format!("'{text}': {error}"))?;
        let file = file_of(&url).ok_or_else(|| format!("'{text}' is not http://SITE{HOST_ENDING}:8080/PATH"))?;
        Ok(Self { url, file })
    }

    /// Returns the address of a file, relative to the folder of pages; `None` if no URL names it.
    pub(super) fn of_file(file: &Path, normalizer: &Normalizer) -> Option<Self> {
        let names: Option<Vec<&str>> = file.iter().map(OsStr::to_str).collect();
        let (site, path) = names.as_ref()?.split_first()?;
        let mut url = Url::parse(&format!("http://{site}{HOST_ENDING}:8080/")).ok()?;
        url.path_segments_mut().ok()?.clear().extend(path.iter().map(|name| if *name == INDEX { "" } else { name }));
        Self::parse(url.as_str(), normalizer).ok().filter(|address| address.file == file)
    }

    /// Returns the media type by the file extension. The page itself declares its encoding.
    pub fn media_type(&self) -> &'static str {
        let ending = self.file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "txt" => "text/plain",
            "xhtml" => "application/xhtml+xml",
            _ => "text/html",
        }
    }
}

fn file_of(url: &CanonicalUrl) -> Option<PathBuf> {
    let site = url.host().strip_suffix(HOST_ENDING).filter(|site| !site.is_empty())?;
    let mut file = PathBuf::from(site);
    for segment in url.as_url().path_segments()? {
        let name = unescaped(segment)?;
        // Security: no segment may lead out of the folder.
        if name.contains(['/', '\\', '\0']) || matches!(name.as_str(), "." | "..") {
            return None;
        }
        file.push(if name.is_empty() { INDEX } else { &name });
    }
    Some(file)
}

/// Decodes percent-encoding; `None` if the result is not UTF-8.
fn unescaped(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(url: &str) -> Option<String> {
        let address = Address::parse(url, &Normalizer::default()).ok()?;
        Some(address.file.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_url_names_a_file_of_its_site() {
        let files = [
            ("http://llvm-13.localhost:8080/AMDGPU/gfx7.html", "llvm-13/AMDGPU/gfx7.html"),
            ("http://a.localhost:8080/", "a/index.html"),
            ("http://a.localhost/en/", "a/en/index.html"),
            ("http://a.localhost:8080/b%20c%C3%A9.html", "a/b cé.html"),
            ("http://a.localhost:8080/x/../y.html", "a/y.html"),
        ];
        for (url, expected) in files {
            assert_eq!(file(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn a_file_has_the_url_that_names_it() {
        for file in ["a/index.html", "a/en/index.html", "a/b cé%.html", "llvm-13/x/y.html"] {
            let address = Address::of_file(Path::new(file), &Normalizer::default()).unwrap();
            assert_eq!(address.file, Path::new(file), "{}", address.url);
        }
        assert_eq!(Address::of_file(Path::new(""), &Normalizer::default()), None);
        assert_eq!(Address::of_file(Path::new("a b/c.html"), &Normalizer::default()), None);
    }

    #[test]
    fn what_is_no_page_of_a_site_has_no_file() {
        for url in [
            "http://example.com/",
            "http://localhost/a",
            "a.html",
            "http://a.localhost/..%2f..%2fetc",
            "ftp://a.localhost/",
        ] {
            assert_eq!(file(url), None, "{url}");
        }
    }

    #[test]
    fn the_media_type_is_that_of_the_name() {
        let types = [
            ("a.html", "text/html"),
            ("a.HTM", "text/html"),
            ("a.xhtml", "application/xhtml+xml"),
            ("a.txt", "text/plain"),
        ];
        for (name, expected) in types {
            let address = Address::parse(&format!("http://a.localhost/{name}"), &Normalizer::default()).unwrap();
            assert_eq!(address.media_type(), expected, "{name}");
        }
    }
}
