//! *Do the parsers of untrusted input hold their invariants on any bytes?*
//!
//! Each function takes arbitrary bytes and checks that a parser does not panic, plus invariants of its result.
//! `tests/fuzz` holds the fuzz programs, `tests/fuzz/corpus` their seed corpora. The tests below run every target over
//! its corpus. Compiled only for tests and fuzzing.

use std::io::Write;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cli::{config::file, config::merge, terminal_safe::terminal_safe};
use crate::dust;
use crate::export::csv_cell;
use crate::fetch::{self, Codings, Label, Robots, absent_page, retry_after};
use crate::html_writer::escaped;
use crate::model::{
    CanonicalUrl, Fetched, MediaType, Normalizer, PageContent, RobotsRow, UrlId, WantedOrder, read_reference,
};
use crate::pagetext::{self, PageReader, Parser, SitemapLimits, WordCache, parse_sitemap};
use crate::store::WarcReader;

pub use crate::dedup::fuzzing::{
    damage as dedup_damage, file as dedup_file, input as dedup_input, parquet as dedup_parquet, rows as dedup_rows,
};
pub use crate::store::fuzzing::rows as store_rows;

/// The name of a fuzz target and its function.
type Target = (&'static str, fn(&[u8]));

/// All fuzz targets, by the names of their corpus folders.
pub const TARGETS: [Target; 17] = [
    ("rendering", rendering),
    ("xml", xml),
    ("charset", charset),
    ("robots", robots),
    ("url", url),
    ("url_rules", url_rules),
    ("sitemap", sitemap),
    ("warc", warc),
    ("dedup_input", dedup_input),
    ("dedup_parquet", dedup_parquet),
    ("dedup_rows", dedup_rows),
    ("answers", answers),
    ("dedup_file", dedup_file),
    ("dedup_damage", dedup_damage),
    ("store_rows", store_rows),
    ("configuration", configuration),
    ("text", text),
];

/// 2026-01-01, in milliseconds since 1970.
const NOW: i64 = 1_767_225_600_000;

fn page(content_type: &[u8], body: &[u8]) -> Option<Fetched> {
    let url = Normalizer::default().absolute("http://www.h.test/a/b.html").ok()?;
    let headers = vec![("content-type".to_owned(), content_type.to_vec())];
    Some(Fetched { headers, started_at: Some(NOW), ..Fetched::of_file(url, "", body.to_vec()) })
}

static FAST: LazyLock<PageReader> = LazyLock::new(|| renderer(Parser::Fast, WordCache::Page));
static DOM: LazyLock<PageReader> = LazyLock::new(|| renderer(Parser::Dom, WordCache::Plain));

fn renderer(parser: Parser, word_cache: WordCache) -> PageReader {
    let order = WantedOrder { sentence_count: true, sentences: true, text: true };
    let options = pagetext::Options { parser, word_cache, order, ..pagetext::Options::default() };
    PageReader::new(options, Normalizer::default())
}

fn rendered(renderer: &PageReader, page: &Fetched) -> (PageContent, Option<String>) {
    (renderer.render(page), renderer.reading(page).map(|reading| reading.text))
}

/// Splits the input into a `Content-Type` (first line) and a body.
fn split_header(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

/// Checks that both HTML parsers agree on a UTF-8 page.
pub fn rendering(bytes: &[u8]) {
    let Some(page) = page(b"text/html; charset=utf-8", bytes) else { return };
    let (fast, fast_text) = rendered(&FAST, &page);
    let (dom, dom_text) = rendered(&DOM, &page);
    assert_eq!(fast_text, dom_text);
    assert_eq!(format!("{fast:?}"), format!("{dom:?}"));
}

/// Checks XML: its media types do not matter, the links are those of the reader, and a page says the same again.
pub fn xml(bytes: &[u8]) {
    let Some(first) = page(b"application/xhtml+xml; charset=utf-8", bytes) else { return };
    let Some(other) = page(b"text/xml; charset=utf-8", bytes) else { return };
    let ((one, one_text), (two, two_text)) = (rendered(&FAST, &first), rendered(&DOM, &other));
    assert_eq!(one_text, two_text);
    assert_eq!((&one.terms, &one.title, &one.links), (&two.terms, &two.title, &two.links));
    assert_eq!((&one.language, &one.canonical, one.robots), (&two.language, &two.canonical, two.robots));
}

/// Checks decoding of any type and encoding: the decoded text, read as UTF-8 text, stays the same.
pub fn charset(bytes: &[u8]) {
    let (content_type, body) = split_header(bytes);
    let Some(first) = page(content_type, body) else { return };
    let renderer = &*FAST;
    let charset = renderer.render(&first).charset;
    let Some(reading) = renderer.reading(&first) else { return };
    assert_eq!(reading.charset, charset);
    // Zero bytes may be those of UTF-16, whatever is declared.
    if reading.source.contains('\0') {
        return;
    }
    let Some(again) = page(b"text/plain; charset=utf-8", reading.source.as_bytes()) else { return };
    if let Some(again) = renderer.reading(&again) {
        assert_eq!(again.source, reading.source.strip_prefix('\u{feff}').unwrap_or(&reading.source));
    }
}

/// Checks robots.txt: sitemaps and delay are usable, and a stored and restored file allows the same paths.
pub fn robots(bytes: &[u8]) {
    const PATHS: [&str; 4] = ["/", "/a/b.html?c=d", "/%7Eu/%e4%2f*$", "/robots.txt"];
    let row = RobotsRow { fetched_at: NOW, status: 200, body: bytes.to_vec() };
    let options = fetch::Options::default();
    let robots = Robots::new("http://a.test:80", row, &options);
    let restored = Robots::new("http://a.test:80", robots.row().clone(), &options);
    let own = String::from_utf8_lossy(bytes);
    for path in PATHS.into_iter().chain(own.split_ascii_whitespace().take(8)) {
        assert_eq!(robots.allows_text(path), restored.allows_text(path));
    }
    let address = url::Url::parse("http://a.test/a/b.html?c=d").expect("a constant");
    assert_eq!(robots.preferences(&address), restored.preferences(&address));
    assert!(robots.sitemaps().iter().all(|url| matches!(url.scheme(), "http" | "https")));
    let delay = robots.crawl_delay().unwrap_or_default();
    assert!(robots.good_until(delay) >= NOW);
}

/// Checks URLs and references: canonicalization is idempotent, and the file name is safe.
pub fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let normalizer = Normalizer::default();
    let Some(base) = read_reference(None, "http://www.h.test/a/b;c?d#e").ok() else { return };
    for url in [normalizer.absolute(&text), normalizer.resolve(&base, &text)].into_iter().flatten() {
        assert_eq!(normalizer.absolute(url.as_str()).as_ref(), Ok(&url));
        assert_eq!(CanonicalUrl::from_canonical(url.as_str()).as_ref(), Ok(&url));
        assert!(url.as_url().username().is_empty() && url.as_url().password().is_none());
        let name = url.file_name();
        assert!(name.len() <= 98 && !name.starts_with('.'));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')));
        assert!(url.origin().ends_with(char::is_numeric) && !url.registrable_domain().is_empty());
    }
}

/// Checks URL rules on two URLs and a rule file: an inferred rule rewrites its URL, and no rule maps a URL to itself.
pub fn url_rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let (url, original) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if let Some(rule) = dust::infer_rule(url, original) {
        assert!(rule.apply(url).is_some_and(|made| made != url));
    }
    let rest: String = lines.flat_map(|line| [line, "\n"]).collect();
    for listed in dust::ListedRule::read(rest.as_bytes()).unwrap_or_default() {
        assert_ne!(listed.rule.apply(url).as_deref(), Some(url));
        let mut learner = dust::RuleLearner::new(0);
        learner.import(&listed);
        let _ = learner.predict(url, |_| Some(UrlId(0)));
    }
}

/// Checks sitemaps: compression does not change the result, and limits hold.
pub fn sitemap(bytes: &[u8]) {
    let limits = SitemapLimits { entries: 20, bytes: 1 << 20 };
    let sitemap = parse_sitemap(bytes, &limits);
    assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= limits.entries);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        assert_eq!(parse_sitemap(&gzipped(bytes), &limits), sitemap);
    }
}

/// Checks WARC files, plain and as one gzip member: records are contiguous.
pub fn warc(bytes: &[u8]) {
    for file in [bytes, &gzipped(bytes)] {
        let mut end = 0;
        for record in WarcReader::new(file, 0).flatten() {
            assert_eq!(record.offset, end);
            end += record.length;
            let _ = (record.http_head(), record.http_body().map(<[u8]>::len));
        }
        assert!(end <= file.len() as u64);
    }
}

/// Checks configuration files: valid settings can be shown, and errors have at most two lines.
pub fn configuration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match file::from_text("ndcrawl.toml", text).and_then(merge::merge) {
        Ok(settings) => assert!(settings.to_json().is_object()),
        Err(error) => assert!(error.to_string().lines().count() <= 2),
    }
}

/// Checks escaping of page text for terminal, HTML and CSV, and parsing of header values.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(!terminal_safe(&text).contains(char::is_control));
    assert!(!escaped(&text).contains(|c: char| c.is_control() || "<>\"'".contains(c)));
    let cell = csv_cell(&text);
    assert!(!cell.contains(char::is_control) && !cell.starts_with(['=', '+', '-', '@']));
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    assert!(inner.map_or(!cell.contains(['"', ',']), |inner| !inner.replace("\"\"", "").contains('"')));
    let longest = Duration::from_secs(300);
    assert!(retry_after(&text, SystemTime::UNIX_EPOCH, longest).is_none_or(|wait| wait <= longest));
    let _ = pagetext::robots_directives([&*text], [("robots", &*text)], "ndcrawl", NOW);
}

/// Checks what a header says of its body, the first line being the value of every field: codings keep to the limit, a
/// `Location` is ASCII, and a media type is in lower case.
pub fn answers(bytes: &[u8]) {
    const MOST: usize = 64 * 1024;
    let (line, body) = split_header(bytes);
    for name in ["content-encoding", "transfer-encoding"] {
        let codings = Codings::of([(name, line)]);
        for label in [Label::Fresh, Label::Archived] {
            match codings.undo(body.to_vec(), MOST, label) {
                Ok(decoded) => assert!(decoded.body.len() <= MOST),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    if let Some(declared) = MediaType::of_lines([line, body]) {
        assert!(!declared.essence.contains(|c: char| c.is_ascii_uppercase()));
        let again = MediaType::of_lines([declared.value.as_bytes()]);
        assert_eq!(again.map(|again| again.essence), Some(declared.essence));
    }
    let Some(mut page) = page(b"text/html", body) else { return };
    page.status = 206;
    page.headers = ["location", "content-range"].map(|name| (name.to_owned(), line.to_vec())).to_vec();
    assert!(page.location().is_none_or(|target| target.is_ascii() && !target.is_empty()));
    let _ = absent_page(&page);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn fuzz_folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz")
    }

    #[test]
    fn what_is_kept_of_foreign_bytes_is_read_as_it_should_be() {
        for (name, read) in TARGETS {
            let files = fs::read_dir(fuzz_folder().join("corpus").join(name)).unwrap();
            let files: BTreeSet<_> = files.map(|entry| entry.unwrap().path()).collect();
            assert!(!files.is_empty(), "no corpus for {name}");
            for file in files {
                println!("{}", file.display());
                read(&fs::read(file).unwrap());
            }
        }
    }

    #[test]
    fn every_target_has_its_program() {
        let manifest = fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let programs: BTreeSet<&str> =
            manifest["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap()).collect();
        assert_eq!(programs, TARGETS.iter().map(|(name, _)| *name).collect());
        for name in programs {
            let program = fs::read_to_string(fuzz_folder().join(format!("{name}.rs"))).unwrap();
            assert!(program.contains(&format!("ndcrawl::fuzzing::{name}(")), "{name}");
        }
    }
}
