//! *Where does a crawl start?* Seeds from arguments, files and standard input.
//!
//! A line that is not a URL is reported with its place and skipped. It is an error only if no seed is left.

mod fields;
mod lines;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::cli::config::http_values::mask_url;
use crate::cli::config::settings::Settings;
use crate::cli::config::source::Source;
use crate::cli::errors::CliError;
use crate::model::{CanonicalUrl, Normalizer};

use fields::Columns;
use lines::{Line, lines};

/// A URL to start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seed {
    /// Its source: `seeds.txt:3` or `argument 1`.
    #[serde(rename = "from")]
    pub line: String,
    /// The URL.
    #[serde(serialize_with = "masked")]
    pub url: CanonicalUrl,
    /// The same URL with `http`, to be tried if the first is unreachable, for a seed without scheme.
    #[serde(serialize_with = "masked_option", skip_serializing_if = "Option::is_none")]
    pub fallback: Option<CanonicalUrl>,
}

/// A line that is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectedSeed {
    /// Its source.
    #[serde(rename = "from")]
    pub line: String,
    /// The line; invalid UTF-8 is replaced.
    pub text: String,
    /// Why it is rejected.
    pub why: String,
}

/// The seeds and what was rejected.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Seeds {
    /// The valid seeds in the given order, without duplicates.
    pub seeds: Vec<Seed>,
    /// The lines that were skipped.
    pub rejected: Vec<RejectedSeed>,
    /// The files that were read.
    #[serde(skip)]
    pub files: Vec<String>,
    /// The sources of seeds with a user name, which no request has.
    #[serde(skip)]
    pub with_user: Vec<String>,
}

impl Seeds {
    /// Reads the seeds that the settings name. Reads `stdin` if a file is `-`.
    pub fn read(settings: &Settings, stdin: &mut dyn Read) -> Result<Self, CliError> {
        let mut reader = Reader::new(Normalizer::new(settings.normalise_options()));
        for path in &settings.seeds_file {
            let name = seeds_name(path);
            let bytes = read_bytes(path, stdin).map_err(|error| {
                CliError::usage(format!("{name}: {error}")).with_hint("--seeds takes a file with one URL per line")
            })?;
            if !lines::is_text(&bytes) {
                let error = CliError::usage(format!("{name}: no text"));
                return Err(error.with_hint("--seeds takes a file with one URL per line"));
            }
            reader.read_lines(&name, &bytes);
            reader.seeds.files.push(name);
        }
        let source = settings.source("seeds");
        for (index, text) in settings.seeds.iter().enumerate() {
            let place = match &source {
                Source::Flag(_) => format!("argument {}", index + 1),
                other => format!("{other}: seeds[{index}]"),
            };
            let text = text.0.trim();
            // `wget` names a folder like the host; a file is never meant.
            match !has_scheme(text) && Path::new(text).is_file() {
                true => reader.reject(place, text, A_PATH.to_owned()),
                false => reader.read_seed(place, text),
            }
        }
        Ok(reader.seeds)
    }

    /// Returns an error if there is no seed.
    pub fn require_one(&self) -> Result<(), CliError> {
        if !self.seeds.is_empty() {
            return Ok(());
        }
        Err(match self.rejected.as_slice() {
            [] if self.files.is_empty() => CliError::usage("no seeds: nothing to crawl")
                .with_hint("name a URL or a file: ndcrawl --seeds seeds.txt (see ndcrawl --help)"),
            [] => CliError::usage(format!("{}: no seed in it: nothing to crawl", self.files.join(", ")))
                .with_hint("one URL per line; lines that start with # are comments"),
            [first] => CliError::usage(format!("{}: '{}': {}", first.line, first.text, first.why)),
            [first, ..] => CliError::usage(format!(
                "no usable seed among {}, the first: {}: '{}': {}",
                self.rejected.len(),
                first.line,
                first.text,
                first.why
            )),
        })
    }
}

fn seeds_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

fn read_bytes(path: &Path, stdin: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct Reader {
    normalizer: Normalizer,
    known: HashSet<CanonicalUrl>,
    seeds: Seeds,
}

impl Reader {
    fn new(normalizer: Normalizer) -> Self {
        Self { normalizer, known: HashSet::new(), seeds: Seeds::default() }
    }

    fn read_lines(&mut self, name: &str, bytes: &[u8]) {
        let mut columns = None;
        let mut is_first = true;
        for Line { number, text } in lines(bytes) {
            let place = format!("{name}:{number}");
            let text = match text {
                Ok(text) => text,
                Err((text, why)) => {
                    self.reject(place, &text, why.to_owned());
                    continue;
                }
            };
            if is_first && fields::is_name(&text) {
                continue;
            }
            if is_first {
                columns = Columns::of_names(&text);
                if columns.is_some() {
                    is_first = false;
                    continue;
                }
            }
            let seed = match &columns {
                Some(columns) => columns.seed(&text),
                None => fields::seed(&text),
            };
            is_first &= matches!(seed, Ok(None));
            match seed {
                Ok(Some(seed)) => self.read_seed(place, &seed),
                Ok(None) => {}
                Err(why) => self.reject(place, &text, why),
            }
        }
    }

    fn read_seed(&mut self, line: String, text: &str) {
        if let Some(why) = why_no_url(text) {
            self.reject(line, text, why);
            return;
        }
        let seed = if has_scheme(text) {
            self.normalizer.absolute(text).map(|url| (url, None))
        } else {
            let rest = text.trim_start_matches("//");
            let with = |scheme| self.normalizer.absolute(&format!("{scheme}://{rest}"));
            with("https").and_then(|url| Ok((url, Some(with("http")?))))
        };
        match seed {
            Ok((url, _)) if !is_host(&url) => {
                let why = format!("'{}' is no name of a host", url.host());
                self.reject(line, text, why);
            }
            Ok((url, fallback)) => {
                if has_user(text) {
                    self.seeds.with_user.push(line.clone());
                }
                if self.known.insert(url.clone()) {
                    self.seeds.seeds.push(Seed { line, url, fallback });
                }
            }
            Err(error) => self.reject(line, text, error.to_string()),
        }
    }

    fn reject(&mut self, line: String, text: &str, why: String) {
        const MOST_CHARACTERS: usize = 200;
        let text: String = mask_url(text.trim()).chars().take(MOST_CHARACTERS).collect();
        self.seeds.rejected.push(RejectedSeed { line, text, why });
    }
}

/// Why a path is no seed.
const A_PATH: &str = "a path, not a URL: ndcrawl dedup compares the pages in files and folders";

/// Whether the host is a name or an address. The URL parser also takes `url,title` for a name.
fn is_host(url: &CanonicalUrl) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    url.host().starts_with('[') || url.host().chars().all(is_name)
}

/// Says why a text cannot be a URL, where the URL parser would read it as the name of a host.
fn why_no_url(text: &str) -> Option<String> {
    if text.starts_with(['+', '-']) && text.contains('*') {
        return Some("a filter, not a URL; --include REGEX and --exclude REGEX select URLs".to_owned());
    }
    if ["./", "../", "~/"].iter().any(|start| text.starts_with(start))
        || text.starts_with('/') && !text.starts_with("//")
    {
        return Some(A_PATH.to_owned());
    }
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = has_scheme(text) || scheme.contains(['/', '?', '#']);
    (!is_scheme).then(|| format!("'{scheme}' is no scheme: a URL starts with http:// or https://"))
}

/// Whether a user name stands before the host.
fn has_user(text: &str) -> bool {
    let rest = text.split_once("//").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@'))
}

/// Returns whether the text has a scheme. `host:80/path` has none, `mailto:a@b` has one.
fn has_scheme(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest.starts_with("//") || !starts_with_port(rest),
        _ => false,
    }
}

fn starts_with_port(text: &str) -> bool {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < text.len() && (after.is_empty() || after.starts_with(['/', '?', '#']))
}

fn masked<S: Serializer>(url: &CanonicalUrl, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&mask_url(url.as_str()))
}

fn masked_option<S: Serializer>(url: &Option<CanonicalUrl>, serializer: S) -> Result<S::Ok, S::Error> {
    url.as_ref().map(|url| mask_url(url.as_str())).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;
    use crate::cli::errors::exit;

    fn read(bytes: &[u8]) -> Seeds {
        Seeds::read(&settings(&[("seeds_file", "-")]), &mut &bytes[..]).unwrap()
    }

    fn urls(seeds: &Seeds) -> Vec<&str> {
        seeds.seeds.iter().map(|seed| seed.url.as_str()).collect()
    }

    #[test]
    fn comments_blank_lines_mark_and_line_ends_are_accepted() {
        let seeds = read(b"\xef\xbb\xbfhttps://a.example/\r\n\r\n# a comment\r\n  https://b.example/x # why\t\n\t#\n");
        assert_eq!(urls(&seeds), ["https://a.example/", "https://b.example/x"]);
        assert_eq!(seeds.seeds[1].line, "standard input:4");
        assert!(seeds.rejected.is_empty());
    }

    #[test]
    fn a_seed_without_scheme_falls_back_to_http() {
        let seeds = read(b"example.org/a\nlocalhost:8080\n127.0.0.1:81/x\n[::1]:82\n//b.example\nHTTP://c.example\n");
        let pairs: Vec<_> =
            seeds.seeds.iter().map(|s| (s.url.as_str(), s.fallback.as_ref().map(CanonicalUrl::as_str))).collect();
        assert_eq!(
            pairs,
            [
                ("https://example.org/a", Some("http://example.org/a")),
                ("https://localhost:8080/", Some("http://localhost:8080/")),
                ("https://127.0.0.1:81/x", Some("http://127.0.0.1:81/x")),
                ("https://[::1]:82/", Some("http://[::1]:82/")),
                ("https://b.example/", Some("http://b.example/")),
                ("http://c.example/", None),
            ]
        );
    }

    #[test]
    fn lists_of_other_programs_are_read_or_told_with_their_lines() {
        let tell = |text: &str| {
            let seeds = read(text.as_bytes());
            let mut told: Vec<String> = seeds.seeds.iter().map(|seed| seed.url.to_string()).collect();
            told.extend(seeds.rejected.iter().map(|rejected| rejected.line.replace("standard input", "line")));
            told
        };
        for (text, expected) in [
            ("http://a.test/x\tscore=1\nhttp://b.test/\n", &["http://a.test/x", "http://b.test/"][..]),
            ("http://a.test/x\rhttp://b.test/\r", &["http://a.test/x", "http://b.test/"]),
            ("http://a.test/x its label\rhttp://b.test/\r", &["http://b.test/", "line:1"]),
            ("# by hand\n\nurl,title\nhttp://a.test/x,X\nhttp://b.test/,1,2\n", &["http://a.test/x", "line:5"]),
            ("sep=;\nurl;title\nhttp://a.test/x;X\n", &["http://a.test/x"]),
            ("URL\r\nhttp://a.test/x,y\r\n", &["http://a.test/x,y"]),
            ("1,a.test\n2,b.test\n", &["line:1", "line:2"]),
            ("http://a.test/x\nurl,title\n", &["http://a.test/x", "line:2"]),
        ] {
            assert_eq!(tell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_list_in_utf_16_is_read() {
        let bytes: Vec<u8> = "\u{feff}http://a.test/\r\nb.test\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(urls(&read(&bytes)), ["http://a.test/", "https://b.test/"]);
    }

    #[test]
    fn bad_lines_are_reported_with_their_place_and_skipped() {
        let seeds =
            read(b"mailto:a@b\nftp://x/\nhttp://\nhttps://ok.example/\nhttp://\xff/\nno url\njavascript:void(0)\n");
        assert_eq!(urls(&seeds), ["https://ok.example/"]);
        let places: Vec<_> = seeds.rejected.iter().map(|rejected| rejected.line.as_str()).collect();
        assert_eq!(places, [1, 2, 3, 5, 6, 7].map(|n| format!("standard input:{n}")));
        assert_eq!(seeds.rejected[0].why, "scheme 'mailto' is not http or https");
        assert_eq!(
            (seeds.rejected[3].text.as_str(), seeds.rejected[3].why.as_str()),
            ("http://\u{fffd}/", "not UTF-8")
        );
        seeds.require_one().unwrap();
    }

    #[test]
    fn what_is_no_url_has_its_reason() {
        for (text, why) in [
            ("ht!tp://foo", "'ht!tp' is no scheme: a URL starts with http:// or https://"),
            ("http://fo!o/", "'fo!o' is no name of a host"),
            ("fo!o.test", "'fo!o.test' is no name of a host"),
            ("./pages", A_PATH),
            ("../a.html", A_PATH),
            ("/srv/pages", A_PATH),
            ("+*.pdf", "a filter, not a URL; --include REGEX and --exclude REGEX select URLs"),
        ] {
            let seeds = read(text.as_bytes());
            assert_eq!(seeds.rejected.first().map(|rejected| rejected.why.as_str()), Some(why), "{text}");
        }
        assert_eq!(urls(&read(b"a.test/go?to=http://b.test/")), ["https://a.test/go?to=http://b.test/"]);
    }

    #[test]
    fn a_file_is_no_host() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let seeds = Seeds::read(&settings(&[("seeds", file.path().to_str().unwrap())]), &mut std::io::empty()).unwrap();
        assert_eq!(seeds.rejected[0].why, A_PATH);
        // No path begins here, and nothing is there.
        let seeds = Seeds::read(&settings(&[("seeds", "index.html")]), &mut std::io::empty()).unwrap();
        assert_eq!(urls(&seeds), ["https://index.html/"]);
    }

    #[test]
    fn a_program_is_no_list_of_seeds() {
        let error = Seeds::read(&settings(&[("seeds_file", "-")]), &mut &b"\x7fELF\x02\0\0\nw\n"[..]).unwrap_err();
        assert_eq!((error.message.as_str(), error.code), ("standard input: no text", exit::USAGE));
    }

    #[test]
    fn no_usable_seed_is_a_usage_error_that_names_the_line() {
        let error = read(b"\nmailto:a\n").require_one().unwrap_err();
        assert_eq!(error.message, "standard input:2: 'mailto:a': scheme 'mailto' is not http or https");
        assert_eq!(error.code, 2);
        assert_eq!(read(b"").require_one().unwrap_err().message, "standard input: no seed in it: nothing to crawl");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_usage_error() {
        let error = Seeds::read(&settings(&[("seeds_file", "/no/such/file")]), &mut std::io::empty()).unwrap_err();
        assert!(error.message.starts_with("/no/such/file: "), "{error}");
        assert_eq!(error.code, 2);
    }

    #[test]
    fn each_url_is_a_seed_once_and_arguments_are_numbered() {
        let settings = settings(&[("seeds_file", "-"), ("seeds", "http://a.example")]);
        let seeds = Seeds::read(&settings, &mut &b"http://a.example/#x\nhttp://a.example/\n"[..]).unwrap();
        assert_eq!(urls(&seeds), ["http://a.example/"]);
        let seeds = Seeds::read(&settings, &mut &b""[..]).unwrap();
        assert_eq!(seeds.seeds[0].line, "argument 1");
    }

    #[test]
    fn passwords_in_seeds_are_masked_when_shown() {
        let seeds = read(b"http://u:secret@a.example/\nftp://u:secret@b.example/\n");
        assert!(!serde_json::to_string(&seeds).unwrap().contains("secret"));
        assert_eq!(seeds.with_user, ["standard input:1"]);
        assert!(read(b"http://a.example/@u\na.example/?q=u@b\n").with_user.is_empty());
        assert_eq!(read(b"user@a.example\n").with_user.len(), 1);
    }
}
