//! Which URLs does a sitemap name?
//!
//! The formats of sitemaps.org: XML (`urlset`, `sitemapindex`), RSS and Atom, and plain text with one URL a line; gzip is
//! decompressed. Of entities only the predefined ones and character references are expanded.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::charset;

/// The deepest nesting that is read. No format nests deeper, and every open element is remembered: a few bytes of gzip
/// can open millions.
const MOST_OPEN: usize = 256;

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
    /// URLs of further sitemaps.
    pub sitemaps: Vec<String>,
}

/// Reads a sitemap. Damage ends the reading; entries before it count.
pub fn parse_sitemap(body: &[u8], limits: &SitemapLimits) -> Sitemap {
    let unpacked = if body.starts_with(&[0x1f, 0x8b]) { Some(gunzip(body, limits.bytes)) } else { None };
    let body = unpacked.as_deref().unwrap_or(body);
    let (text, _) = charset::decode(body, None, true, None);
    let start = text.trim_start();
    if start.starts_with('<') {
        return parse_xml(start, limits.entries);
    }
    let lines = start.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://"));
    Sitemap { pages: lines.take(limits.entries).map(str::to_owned).collect(), sitemaps: Vec::new() }
}

fn gunzip(body: &[u8], most: u64) -> Vec<u8> {
    let mut unpacked = Vec::new();
    // A broken end keeps the entries before it.
    let _ = MultiGzDecoder::new(body).take(most).read_to_end(&mut unpacked);
    unpacked
}

fn parse_xml(text: &str, most: usize) -> Sitemap {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    // An unescaped & in a URL is meant literally.
    reader.config_mut().allow_dangling_amp = true;
    let mut sitemap = Sitemap::default();
    let mut open: Vec<String> = Vec::new();
    let mut value = String::new();
    while sitemap.pages.len() + sitemap.sitemaps.len() < most {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = local_name(&tag);
                if name == "html" && open.is_empty() {
                    return Sitemap::default();
                }
                if open.len() == MOST_OPEN {
                    break;
                }
                atom_link(&name, &tag, &open, &mut sitemap);
                open.push(name);
                value.clear();
            }
            Ok(Event::Empty(tag)) => atom_link(&local_name(&tag), &tag, &open, &mut sitemap),
            Ok(Event::Text(text)) => value.push_str(&text),
            Ok(Event::CData(text)) => value.push_str(&text),
            Ok(Event::GeneralRef(reference)) => value.push_str(&resolved(&reference)),
            Ok(Event::End(_)) => {
                let name = open.pop();
                let parent = open.last().map(String::as_str);
                let url = std::mem::take(&mut value).trim().to_owned();
                match (parent, name.as_deref()) {
                    (Some("url"), Some("loc")) | (Some("item"), Some("link")) => sitemap.pages.push(url),
                    (Some("sitemap"), Some("loc")) => sitemap.sitemaps.push(url),
                    _ => {}
                }
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    sitemap
}

/// Expands `&amp;` and the like, and character references; drops other entities.
fn resolved(reference: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    match &**reference {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
    .to_owned()
}

fn local_name(tag: &BytesStart<'_>) -> String {
    tag.local_name().as_ref().to_ascii_lowercase()
}

/// Returns `entry/link[href]` of Atom, unless its `rel` is not for reading.
fn atom_link(name: &str, tag: &BytesStart<'_>, open: &[String], sitemap: &mut Sitemap) {
    if name != "link" || open.last().map(String::as_str) != Some("entry") {
        return;
    }
    let value = |key: &str| {
        let attribute = tag.try_get_attribute(key).ok().flatten()?;
        Some(attribute.value.replace("&amp;", "&"))
    };
    if value("rel").is_none_or(|rel| rel == "alternate")
        && let Some(href) = value("href")
    {
        sitemap.pages.push(href.trim().to_owned());
    }
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
    fn feeds_and_plain_lists_are_read() {
        assert_eq!(
            pages("<rss><channel><link>http://h/</link><item><link>http://h/1</link></item></channel></rss>"),
            ["http://h/1"]
        );
        assert_eq!(
            pages("<feed><entry><link rel='self' href='http://h/s'/><link href='http://h/e'/></entry></feed>"),
            ["http://h/e"]
        );
        assert_eq!(pages("\u{feff}http://h/1\r\nnonsense\nhttps://h/2\n"), ["http://h/1", "https://h/2"]);
        assert!(pages("<html><body>Not found</body></html>").is_empty());
    }

    #[test]
    fn a_packed_sitemap_is_unpacked_up_to_the_limit() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"<urlset><url><loc>http://h/1</loc></url>").unwrap();
        packed.write_all(&vec![b' '; 10 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        let limits = SitemapLimits { entries: 10, bytes: 1 << 20 };
        assert_eq!(parse_sitemap(&packed, &limits).pages, ["http://h/1"]);
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
    fn entities_of_its_own_are_not_expanded() {
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><urlset><url><loc>http://h/&b;1</loc></url></urlset>";
        assert_eq!(pages(bomb), ["http://h/1"]);
    }
}
