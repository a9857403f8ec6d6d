//! Which URLs does a sitemap name?
//!
//! The formats of sitemaps.org: XML (`urlset`, `sitemapindex`), RSS and Atom, and plain text with one URL a line; gzip is
//! decompressed. References to entities that nobody declares are meant literally, like any other `&` in a URL.

use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::charset;
use super::entities::Entities;
use super::sitemap_date::SitemapDate;

/// The deepest nesting that is read. No format nests deeper, and every open element is remembered: a few bytes of gzip
/// can open millions.
const MOST_OPEN: usize = 256;

/// The first bytes of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What may stand before a document: blanks, and marks that programs add without looking for one.
fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\0'))
}

/// Returns the XML of a text, from its declaration or its root on. Warnings of a script and blank lines come before it.
fn xml_start(text: &str) -> Option<&str> {
    let text = trimmed(text);
    let declared =
        || ["<?xml", "<urlset", "<sitemapindex", "<rss", "<feed"].iter().filter_map(|sign| text.find(sign)).min();
    if text.starts_with('<') && xml_root(text).is_some_and(|root| root != "br" && root != "b") {
        return Some(text);
    }
    declared().map(|at| &text[at..])
}

/// Limits for one sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapLimits {
    /// Entries read; sitemaps.org allows 50,000.
    pub entries: usize,
    /// Bytes after decompression; sitemaps.org allows 50 MiB.
    pub bytes: u64,
}

impl Default for SitemapLimits {
    fn default() -> Self {
        Self { entries: 50_000, bytes: 50 << 20 }
    }
}

/// The URLs in a sitemap, as written and trimmed. The format allows no relative URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// URLs of pages.
    pub pages: Vec<String>,
    /// What it says of the dates of pages, by their places in `pages`, ascending.
    pub dates: Vec<(usize, SitemapDate)>,
    /// URLs of other languages and forms of these pages.
    pub alternates: Vec<String>,
    /// URLs of further sitemaps.
    pub sitemaps: Vec<String>,
    /// Why it was not read to its end.
    pub cut: Option<SitemapCut>,
}

/// Why a sitemap was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SitemapCut {
    /// It has more entries than the limit.
    #[error("it has more than {0} entries")]
    Entries(usize),
    /// It has more bytes than the limit.
    #[error("it has more than {0} bytes")]
    Bytes(u64),
    /// Its compressed data end too early.
    #[error("its compressed data end too early")]
    Compressed,
    /// Its XML or its compression is damaged.
    #[error("it is damaged")]
    Damage,
}

impl SitemapCut {
    /// Whether a part of the bytes is missing. What has too many entries is all there.
    pub fn is_of_bytes(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Compressed)
    }
}

/// Reads a sitemap. Damage and limits end the reading; entries before that count.
pub fn parse_sitemap(body: &[u8], limits: &SitemapLimits) -> Sitemap {
    let (unpacked, cut) = if body.starts_with(&GZIP) {
        let (unpacked, cut) = gunzip(body, limits.bytes);
        (Some(unpacked), cut)
    } else {
        (None, None)
    };
    let body = unpacked.as_deref().unwrap_or(body);
    let text = charset::decode(body, None, charset::Syntax::Xml, None).text;
    let sitemap = match xml_start(&text) {
        Some(start) => parse_xml(start, limits.entries),
        None => parse_list(trimmed(&text), limits.entries),
    };
    // What ends within an element because it was cut before is not damaged itself.
    Sitemap { cut: cut.or(sitemap.cut), ..sitemap }
}

/// Whether a body is a sitemap of sitemaps.org: XML whose root says so, or a plain list of URLs only. Feeds, which can be
/// sitemaps too, are none here: they are pages as well.
pub fn is_sitemap(body: &[u8], media_type: &str) -> bool {
    /// Enough for a prolog with comments.
    const HEAD: usize = 16 << 10;
    let (unpacked, cut) = if body.starts_with(&GZIP) {
        let (unpacked, cut) = gunzip(body, HEAD as u64);
        (Some(unpacked), cut)
    } else {
        (None, None)
    };
    let is_list = unpacked.is_some() || media_type == "text/plain";
    let body = unpacked.as_deref().unwrap_or(body);
    let is_cut = cut.is_some() || body.len() > HEAD;
    let head = &body[..body.len().min(HEAD)];
    let text = charset::decode(head, None, charset::Syntax::Xml, None).text;
    let start = trimmed(&text);
    if let Some(start) = xml_start(start) {
        return xml_root(start).is_some_and(|root| matches!(root.as_str(), "urlset" | "sitemapindex"));
    }
    // The last line may be cut.
    let whole = if is_cut { start.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { start };
    let mut lines = whole.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    is_list && lines.peek().is_some() && lines.all(is_url)
}

/// Returns the local name of the root element, in lower case.
fn xml_root(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return Some(local_name(&tag)),
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

fn is_url(line: &str) -> bool {
    (line.starts_with("http://") || line.starts_with("https://")) && !line.contains(char::is_whitespace)
}

/// Returns the decompressed body up to the limit. A broken end keeps what is before it.
fn gunzip(body: &[u8], most: u64) -> (Vec<u8>, Option<SitemapCut>) {
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(body).take(most.saturating_add(1)).read_to_end(&mut unpacked);
    let is_longer = unpacked.len() as u64 > most;
    unpacked.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let cut = match read {
        _ if is_longer => Some(SitemapCut::Bytes(most)),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Some(SitemapCut::Compressed),
        Err(_) => Some(SitemapCut::Damage),
    };
    (unpacked, cut)
}

fn parse_list(text: &str, most: usize) -> Sitemap {
    let mut sitemap = Sitemap::default();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://")) {
        if !sitemap.has_room(most) {
            break;
        }
        sitemap.pages.push(line.to_owned());
    }
    sitemap
}

impl Sitemap {
    /// Whether another entry may be added. If not, the sitemap is cut.
    fn has_room(&mut self, most: usize) -> bool {
        let has_room = self.pages.len() + self.sitemaps.len() < most;
        if !has_room {
            self.cut = Some(SitemapCut::Entries(most));
        }
        has_room
    }
}

fn parse_xml(text: &str, most: usize) -> Sitemap {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    // An unescaped & in a URL is meant literally.
    reader.config_mut().allow_dangling_amp = true;
    let mut sitemap = Sitemap::default();
    let mut open: Vec<String> = Vec::new();
    let (mut value, mut entities) = (String::new(), Entities::default());
    // What an item of RSS has so far: whether there is a link, and the identifier that may stand for one.
    let (mut has_link, mut is_permalink, mut guid) = (false, false, None);
    // The entry that is being read: where its pages begin, and its date.
    let (mut first, mut date) = (0, None);
    while sitemap.cut.is_none() {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = local_name(&tag);
                if name == "html" && open.is_empty() {
                    return Sitemap::default();
                }
                if open.len() == MOST_OPEN {
                    sitemap.cut = Some(SitemapCut::Damage);
                    break;
                }
                atom_link(&name, &tag, &open, &mut sitemap, most);
                alternate(&name, &tag, &open, &mut sitemap, most);
                if is_entry(&name) {
                    (first, date) = (sitemap.pages.len(), None);
                }
                match name.as_str() {
                    "item" => (has_link, guid) = (false, None),
                    "guid" => is_permalink = is_permalink_of(&tag),
                    _ => {}
                }
                open.push(name);
                value.clear();
            }
            Ok(Event::Empty(tag)) => {
                let name = local_name(&tag);
                atom_link(&name, &tag, &open, &mut sitemap, most);
                alternate(&name, &tag, &open, &mut sitemap, most);
            }
            Ok(Event::Text(text)) => value.push_str(&text),
            Ok(Event::CData(text)) => value.push_str(&text),
            Ok(Event::DocType(declarations)) => entities.declare(&declarations),
            Ok(Event::GeneralRef(reference)) => match entities.text(&reference) {
                Some(text) => value.push_str(&text),
                None => value.extend(["&", &reference, ";"]),
            },
            Ok(Event::End(_)) => {
                let name = open.pop();
                let parent = open.last().map(String::as_str);
                let url = std::mem::take(&mut value).trim().to_owned();
                match (parent, name.as_deref()) {
                    (Some("url"), Some("loc")) if sitemap.has_room(most) => sitemap.pages.push(url),
                    (Some("item"), Some("link")) if !url.is_empty() && sitemap.has_room(most) => {
                        has_link = true;
                        sitemap.pages.push(url);
                    }
                    (Some("item"), Some("guid")) if is_permalink && is_url(&url) => guid = Some(url),
                    (_, Some("item")) if !has_link && guid.is_some() && sitemap.has_room(most) => {
                        sitemap.pages.extend(guid.take());
                    }
                    (Some("sitemap"), Some("loc")) if sitemap.has_room(most) => sitemap.sitemaps.push(url),
                    (Some(entry), Some(field)) if is_entry(entry) => {
                        date = SitemapDate::read(field, &url).map_or(date, |read| Some(read.or_better(date)));
                    }
                    _ => {}
                }
                if name.as_deref().is_some_and(is_entry) {
                    sitemap.dates.extend(
                        date.take()
                            .into_iter()
                            .flat_map(|date| (first..sitemap.pages.len()).map(move |page| (page, date))),
                    );
                }
            }
            Ok(Event::Eof) => {
                // Elements that are still open: the rest is lost.
                sitemap.cut = (!open.is_empty()).then_some(SitemapCut::Damage);
                break;
            }
            Err(_) => sitemap.cut = Some(SitemapCut::Damage),
            Ok(_) => {}
        }
    }
    sitemap
}

/// Whether an element is an entry: of a sitemap, of RSS or of Atom.
fn is_entry(name: &str) -> bool {
    matches!(name, "url" | "item" | "entry")
}

/// Whether the `guid` of an RSS item is its URL, as it is unless it says otherwise.
pub(super) fn is_permalink_of(tag: &BytesStart<'_>) -> bool {
    let value = tag.try_get_attribute("isPermaLink").ok().flatten();
    value.is_none_or(|value| value.value.trim() != "false")
}

pub(super) fn local_name(tag: &BytesStart<'_>) -> String {
    tag.local_name().as_ref().to_ascii_lowercase()
}

/// Adds `entry/link[href]` of Atom, unless its `rel` is not for reading.
fn atom_link(name: &str, tag: &BytesStart<'_>, open: &[String], sitemap: &mut Sitemap, most: usize) {
    if name == "link"
        && open.last().map(String::as_str) == Some("entry")
        && attribute(tag, "rel").is_none_or(|rel| rel == "alternate")
        && let Some(href) = attribute(tag, "href")
        && sitemap.has_room(most)
    {
        sitemap.pages.push(href.trim().to_owned());
    }
}

/// Adds `url/xhtml:link[rel=alternate]`: another language of the page, or its form for another device. They are no entries
/// of their own, so they have as much room again.
fn alternate(name: &str, tag: &BytesStart<'_>, open: &[String], sitemap: &mut Sitemap, most: usize) {
    if name == "link"
        && open.last().map(String::as_str) == Some("url")
        && attribute(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("alternate"))
        && let Some(href) = attribute(tag, "href")
        && sitemap.alternates.len() < most
    {
        sitemap.alternates.push(href.trim().to_owned());
    }
}

pub(super) fn attribute(tag: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(key).ok().flatten()?;
    Some(attribute.value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn pages(body: &str) -> Vec<String> {
        parse_sitemap(body.as_bytes(), &SitemapLimits::default()).pages
    }

    #[test]
    fn pages_and_further_sitemaps_are_told_apart() {
        assert_eq!(
            pages(
                "<?xml version='1.0'?><urlset><url><loc> http://h.test/a?x=1&amp;y=2 </loc></url><url><loc><![CDATA[http://h.test/b]]></loc></url></urlset>"
            ),
            ["http://h.test/a?x=1&y=2", "http://h.test/b"]
        );
        let index = b"<sitemapindex><sitemap><loc>http://h.test/s.xml</loc></sitemap></sitemapindex>";
        let read = parse_sitemap(index, &SitemapLimits::default());
        assert_eq!((read.pages.len(), read.sitemaps), (0, vec!["http://h.test/s.xml".to_owned()]));
    }

    #[test]
    fn entities_of_the_document_are_expanded_and_others_are_literal() {
        assert_eq!(
            pages(
                "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY host \"http://h.test\"> <!ENTITY host 'other'>\
                 <!ENTITY % part SYSTEM 'x'><!ENTITY twice '&host;&host;'>]>\
                 <urlset><url><loc>&host;/a</loc></url><url><loc>http://h.test/?a=1&copy;=2</loc></url>\
                 <url><loc>http://h.test/&twice;</loc></url></urlset>"
            ),
            ["http://h.test/a", "http://h.test/?a=1&copy;=2", "http://h.test/&host;&host;"]
        );
        // References add no more than a megabyte.
        let bomb =
            format!("<!DOCTYPE u [<!ENTITY a '{}'>]><urlset><url><loc>{}", "x".repeat(2000), "&a;".repeat(100_000));
        let read = pages(&format!("{bomb}</loc></url></urlset>"));
        assert!(read[0].len() < 2 << 20, "{}", read[0].len());
    }

    #[test]
    fn feeds_and_plain_lists_are_read() {
        assert_eq!(
            pages("<rss><channel><link>http://h/</link><item><link>http://h/1</link></item></channel></rss>"),
            ["http://h/1"]
        );
        assert_eq!(
            pages(
                "<rss><item><guid>http://h/1</guid></item><item><guid>http://h/no</guid><link>http://h/2</link></item>\
                 <item><guid isPermaLink='false'>http://h/no</guid></item><item><guid>tag:h,1</guid></item></rss>"
            ),
            ["http://h/1", "http://h/2"]
        );
        assert_eq!(
            pages("<feed><entry><link rel='self' href='http://h/s'/><link href='http://h/e'/></entry></feed>"),
            ["http://h/e"]
        );
        assert_eq!(pages("\u{feff}http://h/1\r\nnonsense\nhttps://h/2\n"), ["http://h/1", "https://h/2"]);
        assert!(pages("<html><body>Not found</body></html>").is_empty());
    }

    #[test]
    fn dates_belong_to_the_pages_of_their_entries() {
        let dates = |body: &str| -> Vec<(usize, bool)> {
            let read = parse_sitemap(body.as_bytes(), &SitemapLimits::default());
            read.dates.iter().map(|(page, date)| (*page, date.is_of_change)).collect()
        };
        assert_eq!(
            dates(
                "<urlset><url><lastmod>2026-11-03</lastmod><loc>http://h/1</loc></url><url><loc>http://h/2</loc></url>\
                 <url><loc>http://h/3</loc><lastmod>soon</lastmod></url><url><loc>http://h/4</loc><lastmod> 2026 </lastmod></url></urlset>"
            ),
            [(0, true), (3, true)]
        );
        assert_eq!(
            dates(
                "<rss><item><link>http://h/1</link><pubDate>Tue, 03 Nov 2026 08:00:00 GMT</pubDate></item>\
                 <item><pubDate>x</pubDate><guid>http://h/2</guid></item></rss>"
            ),
            [(0, false)]
        );
        let entry = "<entry><updated>2026-11-03T08:00:00Z</updated><published>2026-11-02T08:00:00Z</published><link href='http://h/e'/></entry>";
        assert_eq!(dates(&format!("<feed><updated>2026</updated>{entry}</feed>")), [(0, true)]);
    }

    #[test]
    fn a_packed_sitemap_is_unpacked_up_to_the_limit() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"<urlset><url><loc>http://h/1</loc></url>").unwrap();
        packed.write_all(&vec![b' '; 10 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        let limits = SitemapLimits { entries: 10, bytes: 1 << 20 };
        let sitemap = parse_sitemap(&packed, &limits);
        assert_eq!((sitemap.pages, sitemap.cut), (vec!["http://h/1".to_owned()], Some(SitemapCut::Bytes(1 << 20))));
    }

    #[test]
    fn what_is_cut_is_told_and_what_ends_at_the_limit_is_whole() {
        let entry = |number: usize| format!("<url><loc>http://h/{number}</loc></url>");
        let xml = |most: usize| format!("<urlset>{}</urlset>", (0..most).map(entry).collect::<String>());
        let list = |most: usize| (0..most).map(|number| format!("http://h/{number}\n")).collect::<String>();
        let limits = SitemapLimits { entries: 3, bytes: 1 << 20 };
        for (count, cut) in [(3, None), (4, Some(SitemapCut::Entries(3)))] {
            for body in [xml(count), list(count)] {
                let sitemap = parse_sitemap(body.as_bytes(), &limits);
                assert_eq!((sitemap.pages.len(), sitemap.cut), (3, cut), "{body}");
            }
        }
        let half = &xml(3)[..50];
        assert_eq!(parse_sitemap(half.as_bytes(), &limits).cut, Some(SitemapCut::Damage));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(xml(3).as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(parse_sitemap(&packed, &limits).cut, None);
        assert_eq!(parse_sitemap(&packed[..packed.len() - 12], &limits).cut, Some(SitemapCut::Compressed));
        let is_of_bytes = [SitemapCut::Bytes(1), SitemapCut::Compressed, SitemapCut::Damage, SitemapCut::Entries(1)];
        assert_eq!(is_of_bytes.map(SitemapCut::is_of_bytes), [true, true, false, false]);
    }

    #[test]
    fn a_sitemap_is_known_by_its_root_or_as_a_list_of_urls() {
        let packed = |text: &str| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap()
        };
        let long = format!("{}http://h/last", "http://h/1\n".repeat(5_000));
        for text in [
            "\u{feff}<?xml version='1.0'?>\n<!-- made -->\n<?xml-stylesheet href='x'?><urlset xmlns='x'>",
            "<sitemapindex/>",
            "<s:urlset xmlns:s='x'></s:urlset>",
        ] {
            assert!(is_sitemap(text.as_bytes(), "text/html") && is_sitemap(&packed(text), ""), "{text}");
        }
        for text in ["http://h/1", "\n https://h/1 \r\nhttp://h/2\n", &long] {
            assert!(is_sitemap(text.as_bytes(), "text/plain") && is_sitemap(&packed(text), ""), "{text}");
            assert!(!is_sitemap(text.as_bytes(), "text/html"), "{text}");
        }
        for text in
            ["", "<html><urlset>", "<rss/>", "<feed/>", "http://h/1\nand more", "http://h/1 is a page", "urlset"]
        {
            assert!(!is_sitemap(text.as_bytes(), "text/plain") && !is_sitemap(&packed(text), ""), "{text}");
        }
    }

    #[test]
    fn elements_without_end_are_not_followed_down() {
        let deep = |depth| format!("<urlset>{}<url><loc>http://h/1</loc></url>", "<x>".repeat(depth));
        assert_eq!(pages(&deep(MOST_OPEN - 3)), ["http://h/1"]);
        assert!(pages(&deep(MOST_OPEN)).is_empty());
    }

    #[test]
    fn an_ampersand_that_is_not_escaped_is_itself() {
        let urls = "<url><loc>http://h/?a=1&b=2</loc></url><url><loc>http://h/x & y</loc></url><url><loc>http://h/2</loc></url>";
        assert_eq!(pages(&format!("<urlset>{urls}</urlset>")), ["http://h/?a=1&b=2", "http://h/x & y", "http://h/2"]);
    }

    #[test]
    fn entities_are_not_expanded_within_each_other() {
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><urlset><url><loc>http://h/&b;1</loc></url></urlset>";
        assert_eq!(pages(bomb), ["http://h/&a;&a;&a;1"]);
    }

    #[test]
    fn other_languages_are_pages_too_and_take_no_room() {
        let body = "<urlset><url><loc>http://h.test/en</loc><xhtml:link rel='alternate' hreflang='de' href='http://h.test/de?a&amp;b'/>\
                    <xhtml:link rel='stylesheet' href='http://h.test/s'/></url></urlset>";
        let read = parse_sitemap(body.as_bytes(), &SitemapLimits { entries: 1, ..SitemapLimits::default() });
        assert_eq!(
            (read.pages, read.alternates),
            (vec!["http://h.test/en".to_owned()], vec!["http://h.test/de?a&b".to_owned()])
        );
    }

    #[test]
    fn what_stands_before_the_document_is_skipped() {
        let xml = "<?xml version='1.0'?><urlset><url><loc>http://h.test/a</loc></url></urlset>";
        for before in ["\u{feff}\u{feff}", " \n", "Notice: undefined index\n", "<br />\n<b>Warning</b>: x<br />\n"] {
            assert_eq!(pages(&format!("{before}{xml}")), ["http://h.test/a"], "{before:?}");
        }
    }
}
