//! RSS and Atom feeds as pages.
//!
//! A feed is written as an HTML page: its title, and an article for each entry with a link to it. Then it is read like
//! any other page, with the markup that entries hold. RSS 0.9 to 2.0, with `content:encoded` and `atom:link`; Atom 1.0
//! (RFC 4287) and its paging (RFC 5005).

use std::fmt::Write;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesRef, BytesStart, Event};
use url::Url;

use super::entities::Entities;
use super::sitemap;
use crate::model::read_reference;

/// The deepest nesting that is read. Markup in an entry counts once.
const MOST_OPEN: usize = 64;

/// Relations of links that lead to pages.
const FOLLOWED: [&str; 8] =
    ["alternate", "related", "next", "prev", "previous", "prev-archive", "next-archive", "archives"];

/// Whether a text may be a feed, by its beginning: enough to look closer.
pub(super) fn may_be_feed(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}');
    ["<?xml", "<rss", "<feed", "<rdf"].iter().any(|begin| {
        let found = start.get(..begin.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(begin))
    })
}

/// Writes a feed as an HTML page. `address` is that of the feed. `None` if the text is no feed.
///
/// Damage ends the reading; entries before it count.
pub(super) fn as_html(text: &str, address: &Url) -> Option<String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    reader.config_mut().check_end_names = false;
    // An unescaped & is meant literally.
    reader.config_mut().allow_dangling_amp = true;
    let mut feed = Feed::new(address);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                if !feed.start(&tag) {
                    break;
                }
            }
            Ok(Event::Empty(tag)) => feed.empty(&tag),
            Ok(Event::End(tag)) => feed.end(tag.local_name().as_ref()),
            Ok(Event::Text(text)) => feed.value.push_str(&text),
            Ok(Event::CData(text)) => feed.cdata(&text),
            Ok(Event::DocType(declarations)) => feed.entities.declare(&declarations),
            Ok(Event::GeneralRef(reference)) => feed.reference(&reference),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    feed.finish()
}

/// How the text of an element is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Characters.
    Text,
    /// Characters that are HTML source.
    Html,
    /// Elements of XHTML.
    Xhtml,
    /// No text, such as a picture.
    Other,
}

/// An element whose end has not come yet.
struct Open {
    name: String,
    base: Url,
    content: Content,
    /// Whether the text is a URL that names the entry for good.
    is_permalink: bool,
}

/// An entry so far.
#[derive(Default)]
struct Entry {
    title: String,
    links: Vec<String>,
    permalink: Option<String>,
    summary: String,
    content: String,
}

struct Feed<'a> {
    address: &'a Url,
    open: Vec<Open>,
    /// How many elements are open within an element whose text is markup.
    markup: usize,
    value: String,
    entities: Entities,
    is_atom: bool,
    is_feed: bool,
    language: String,
    title: String,
    links: Vec<String>,
    description: String,
    base: Option<Url>,
    entry: Option<Entry>,
    articles: String,
}

impl<'a> Feed<'a> {
    fn new(address: &'a Url) -> Self {
        Self {
            address,
            open: Vec::new(),
            markup: 0,
            value: String::new(),
            entities: Entities::default(),
            is_atom: false,
            is_feed: false,
            language: String::new(),
            title: String::new(),
            links: Vec::new(),
            description: String::new(),
            base: None,
            entry: None,
            articles: String::new(),
        }
    }

    /// Opens an element. Returns whether to go on.
    fn start(&mut self, tag: &BytesStart<'_>) -> bool {
        if self.is_in_markup() {
            self.markup += 1;
            let _ = write!(self.value, "<{}>", &**tag);
            return true;
        }
        let name = sitemap::local_name(tag);
        if self.open.is_empty() && !self.begin(&name, tag) {
            return false;
        }
        if self.open.len() == MOST_OPEN {
            return false;
        }
        let base = self.base_of(tag);
        self.linked(&name, tag, &base);
        match name.as_str() {
            "item" | "entry" => {
                self.is_feed = true;
                self.entry = Some(Entry::default());
            }
            "channel" => self.is_feed = true,
            _ => {}
        }
        let content = self.content_of(&name, tag);
        let is_permalink = name == "guid" && sitemap::is_permalink_of(tag);
        self.open.push(Open { name, base, content, is_permalink });
        self.value.clear();
        true
    }

    /// Reads the root. Returns whether it is that of a feed.
    fn begin(&mut self, root: &str, tag: &BytesStart<'_>) -> bool {
        self.is_atom = root == "feed";
        // An RDF document is a feed only if it has a channel or items.
        self.is_feed = matches!(root, "rss" | "feed");
        self.language = attribute(tag, "xml:lang").unwrap_or_default();
        let base = self.base_of(tag);
        self.base = Some(base);
        self.is_feed || root == "rdf"
    }

    fn empty(&mut self, tag: &BytesStart<'_>) {
        if self.is_in_markup() {
            let _ = write!(self.value, "<{}/>", &**tag);
        } else if !self.open.is_empty() {
            let base = self.base_of(tag);
            self.linked(&sitemap::local_name(tag), tag, &base);
        }
    }

    fn end(&mut self, name: &str) {
        if self.markup > 0 {
            self.markup -= 1;
            let _ = write!(self.value, "</{name}>");
            return;
        }
        let Some(element) = self.open.pop() else { return };
        let value = std::mem::take(&mut self.value);
        if matches!(element.name.as_str(), "item" | "entry") {
            if let Some(entry) = self.entry.as_mut().filter(|entry| entry.summary.is_empty()) {
                // An entry that is nothing but text.
                entry.summary = escaped(value.trim());
            }
            self.end_entry();
        } else {
            self.field(&element, value.trim());
        }
    }

    fn cdata(&mut self, text: &str) {
        match self.content() {
            Content::Xhtml => self.value.push_str(&escaped(text)),
            _ => self.value.push_str(text),
        }
    }

    /// Adds a reference. HTML knows more of them than XML, so the others stay as they are.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        let name: &str = reference;
        match self.entities.text(reference) {
            Some(text) if self.content() != Content::Xhtml || text.len() > 1 => self.value.push_str(&text),
            _ => {
                let _ = write!(self.value, "&{name};");
            }
        }
    }

    fn content(&self) -> Content {
        self.open.last().map_or(Content::Text, |element| element.content)
    }

    /// Whether elements are markup of an entry. HTML source has none if it is escaped as it should be.
    fn is_in_markup(&self) -> bool {
        matches!(self.content(), Content::Html | Content::Xhtml)
    }

    /// Returns the base of an element: `xml:base` is relative to that of the element around it.
    fn base_of(&self, tag: &BytesStart<'_>) -> Url {
        let around = self.open.last().map_or(self.address, |element| &element.base);
        let own = attribute(tag, "xml:base").and_then(|base| read_reference(Some(around), base.trim()).ok());
        own.unwrap_or_else(|| around.clone())
    }

    fn content_of(&self, name: &str, tag: &BytesStart<'_>) -> Content {
        let is_text_of = |names: &[&str]| names.contains(&name);
        if !self.is_atom && is_text_of(&["description", "encoded"]) {
            return Content::Html;
        }
        if !is_text_of(&["title", "subtitle", "summary", "content"]) {
            return Content::Text;
        }
        match attribute(tag, "type").unwrap_or_default().trim() {
            "html" | "text/html" => Content::Html,
            "xhtml" | "application/xhtml+xml" => Content::Xhtml,
            "" | "text" | "text/plain" => Content::Text,
            _ => Content::Other,
        }
    }

    /// Reads a link that is an attribute: `link[href]` and `content[src]` of Atom.
    fn linked(&mut self, name: &str, tag: &BytesStart<'_>, base: &Url) {
        let target = match name {
            "link" if is_followed(tag) => attribute(tag, "href"),
            "content" => attribute(tag, "src"),
            _ => None,
        };
        if let Some(target) = target {
            self.add_link(&target, base);
        }
    }

    /// Adds a link of the entry, or of the feed, if the element around it is one of these.
    fn add_link(&mut self, target: &str, base: &Url) {
        let Ok(url) = read_reference(Some(base), target.trim()) else { return };
        match (self.open.last().map(|around| around.name.as_str()), &mut self.entry) {
            (Some("item" | "entry"), Some(entry)) => entry.links.push(url.into()),
            (Some("channel" | "feed"), _) => self.links.push(url.into()),
            _ => {}
        }
    }

    /// Reads the text of an element.
    fn field(&mut self, element: &Open, value: &str) {
        if value.is_empty() || element.content == Content::Other {
            return;
        }
        let around = self.open.last().map(|around| around.name.as_str());
        let html = || match element.content {
            Content::Html | Content::Xhtml => value.to_owned(),
            // Titles of RSS are HTML or not. References are taken for such, tags are not.
            _ if !self.is_atom => value.replace('<', "&lt;"),
            _ => escaped(value),
        };
        match (around, element.name.as_str()) {
            (Some("item" | "entry"), name) => {
                let html = html();
                let Some(entry) = &mut self.entry else { return };
                match name {
                    "title" => entry.title = html,
                    "description" | "summary" => entry.summary = html,
                    "content" | "encoded" => entry.content = html,
                    "guid" if element.is_permalink => entry.permalink = Some(value.to_owned()),
                    "link" | "comments" => self.add_link(value, &element.base),
                    _ => {}
                }
            }
            (Some("channel" | "feed"), name) => match name {
                "title" => self.title = html(),
                "description" | "subtitle" => self.description = html(),
                "language" => value.clone_into(&mut self.language),
                "link" => self.add_link(value, &element.base),
                _ => {}
            },
            _ => {}
        }
    }

    fn end_entry(&mut self) {
        let Some(Entry { title, mut links, permalink, summary, content }) = self.entry.take() else { return };
        if links.is_empty() {
            links.extend(permalink.filter(|url| url.starts_with("http://") || url.starts_with("https://")));
        }
        let text = if content.is_empty() { summary } else { content };
        let _ = write!(self.articles, "<article><h2>{}</h2><div>{text}</div></article>", anchors(&links, &title));
    }

    fn finish(mut self) -> Option<String> {
        if !self.is_feed {
            return None;
        }
        // The last entry of a feed that breaks off.
        self.end_entry();
        let base = self.base.as_ref().unwrap_or(self.address);
        Some(format!(
            "<!DOCTYPE html><html lang=\"{}\"><head><base href=\"{}\"><title>{}</title></head><body><h1>{}</h1><div>{}</div>{}</body></html>",
            escaped(&self.language),
            escaped(base.as_str()),
            without_tags(&self.title),
            anchors(&self.links, &self.title),
            self.description,
            self.articles,
        ))
    }
}

/// Writes links, of which the first has the text.
fn anchors(links: &[String], text: &str) -> String {
    let Some((first, others)) = links.split_first() else { return text.to_owned() };
    let anchor = |url: &str, text: &str| format!("<a href=\"{}\">{text}</a>", escaped(url));
    let others: String = others.iter().map(|url| anchor(url, "")).collect();
    anchor(first, text) + &others
}

/// Whether a `link` leads to a page that is to be read. Without a relation it is the alternate (RFC 4287, section
/// 4.2.7.2).
fn is_followed(tag: &BytesStart<'_>) -> bool {
    let rel = attribute(tag, "rel").unwrap_or_default().trim().to_ascii_lowercase();
    // The long form of registered relations.
    let rel = rel.rsplit_once("/relation/").map_or(rel.as_str(), |(_, name)| name);
    let kind = attribute(tag, "type").unwrap_or_default().to_ascii_lowercase();
    let is_page = kind.is_empty() || kind.starts_with("text/") || kind.contains("xml");
    is_page && (rel.is_empty() || FOLLOWED.contains(&rel))
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let value = tag.try_get_attribute(name).ok().flatten()?.value;
    Some(unescape(&value).map_or_else(|_| value.replace("&amp;", "&"), |text| text.into_owned()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    for part in html.split('<') {
        let is_first = text.is_empty() && html.starts_with(part);
        text.push_str(if is_first { part } else { part.split_once('>').map_or("", |(_, rest)| rest) });
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::tests::page;
    use crate::{Options, PageContent, PageReader};

    fn read(media_type: &str, body: &str) -> PageContent {
        let page = page("http://h.test/d/feed", media_type, body);
        PageReader::new(Options::default(), Default::default()).render(&page)
    }

    fn links(body: &str) -> Vec<String> {
        read("application/xml", body).links.iter().map(|link| link.url.to_string()).collect()
    }

    fn text(media_type: &str, body: &str) -> String {
        let page = page("http://h.test/d/feed", media_type, body);
        PageReader::default().reading(&page).unwrap().text
    }

    const RSS: &str = "<?xml version='1.0'?><!-- made by hand --><rss version='2.0' \
        xmlns:atom='http://www.w3.org/2005/Atom' xmlns:content='c'><channel><title>News &amp;amp; more</title>\
        <link>http://h.test/</link><atom:link rel='self' href='http://h.test/d/feed'/>\
        <atom:link rel='next' href='?page=2&amp;x'/><description>All the news</description><language>en-gb</language>\
        <image><link>http://h.test/logo</link><title>Logo</title></image>\
        <item><title>Caf&#233; &lt;b&gt; opens</title><link>/one?a=1&amp;b=2</link>\
        <description>&lt;p&gt;A &lt;a href='deep'&gt;deep&lt;/a&gt; word&lt;/p&gt;</description>\
        <enclosure url='http://h.test/sound.mp3' type='audio/mpeg'/></item>\
        <item><title><![CDATA[Two]]></title><guid>http://h.test/two</guid><comments>http://h.test/two/talk</comments>\
        <description>short</description><content:encoded><![CDATA[<p>The <i>whole</i> text&nbsp;here</p>]]></content:encoded></item>\
        <item><guid isPermaLink='false'>http://h.test/no</guid><description>no <b>link</b></description></item>\
        </channel></rss>";

    #[test]
    fn the_links_of_rss_are_those_of_its_entries_and_of_the_markup_in_them() {
        let expected = ["/", "/d/feed?page=2&x", "/one?a=1&b=2", "/d/deep", "/two/talk"];
        assert_eq!(links(RSS), expected.map(|path| format!("http://h.test{path}")));
        let only_id = RSS.replace("<comments>http://h.test/two/talk</comments>", "");
        assert_eq!(links(&only_id)[4], "http://h.test/two");
    }

    #[test]
    fn a_feed_is_a_page_with_title_language_and_text() {
        for media_type in ["application/rss+xml", "text/xml", "text/html"] {
            let content = read(media_type, RSS);
            assert_eq!(content.title.as_deref(), Some("News & more"), "{media_type}");
            assert_eq!(content.language.as_deref(), Some("en"), "{media_type}");
            let expected =
                "News & more\nAll the news\nCafé <b> opens\nA deep word\nTwo\nThe whole text\u{a0}here\nno link";
            assert_eq!(text(media_type, RSS).replace("text here", "text\u{a0}here"), expected, "{media_type}");
        }
    }

    #[test]
    fn atom_has_kinds_of_text_and_bases() {
        let feed = "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='de' xml:base='http://h.test/base/'>\
            <title type='html'>R&amp;amp;D &lt;i&gt;heute&lt;/i&gt;</title><link href='home'/>\
            <link rel='http://www.iana.org/assignments/relation/next' href='?2'/><link rel='hub' href='http://hub.test/'/>\
            <entry xml:base='sub/'><title>Eins &lt;2&gt;</title><link rel='alternate' type='text/html' href='one'/>\
            <link rel='enclosure' href='a.mp3'/><link rel='alternate' type='application/json' href='one.json'/>\
            <source><link href='http://other.test/'/><title>Fremd</title></source>\
            <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>Text &amp; <a href='in'>mehr</a><br/></div></content>\
            </entry><entry><title>Zwei</title><content src='two.html' type='text/html'/><summary>kurz</summary></entry>\
            <entry><content type='image/png'>aGFsbG8=</content></entry></feed>";
        assert_eq!(
            links(feed),
            ["home", "?2", "sub/one", "in", "two.html"].map(|path| format!("http://h.test/base/{path}"))
        );
        let content = read("application/atom+xml", feed);
        assert_eq!((content.title.as_deref(), content.language.as_deref()), (Some("R&D heute"), Some("de")));
        assert_eq!(text("application/atom+xml", feed), "R&D heute\nEins <2>\nText & mehr\nZwei\nkurz");
    }

    #[test]
    fn rdf_is_a_feed_if_it_has_items_and_other_xml_is_none() {
        let rdf = |inner: &str| format!("<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'>{inner}</rdf:RDF>");
        let item =
            "<channel rdf:about='x'><link>http://h.test/</link></channel><item><link>http://h.test/1</link></item>";
        assert_eq!(links(&rdf(item)), ["http://h.test/", "http://h.test/1"]);
        let page = super::Url::parse("http://h.test/").unwrap();
        for text in [&rdf("<Person/>"), "<html><rss>", "<urlset/>", "no feed", "", "<?xml version='1.0'?>"] {
            assert_eq!(super::as_html(text, &page), None, "{text}");
        }
    }

    #[test]
    fn damage_leaves_what_came_before_and_markup_need_not_be_escaped() {
        let cut = &RSS[..RSS.find("<guid>").unwrap()];
        assert_eq!(links(cut).len(), 4);
        let loose = "<rss><channel><item><link>http://h.test/?a=1&b=2</link>\
            <description><p>An <a href='/x'>open</a> tag &nbsp; & more</p></description></item></channel></rss>";
        assert_eq!(links(loose), ["http://h.test/?a=1&b=2", "http://h.test/x"]);
    }

    #[test]
    fn what_an_entry_says_to_robots_is_not_said_by_the_feed() {
        let feed = "<rss><channel><item><link>/1</link><description><![CDATA[<meta name=robots content=noindex>\
            <meta http-equiv=refresh content='0; url=/away'><link rel=canonical href=/c><base href=/b/><a href=2>2</a>]]></description>\
            </item></channel></rss>";
        let content = read("application/rss+xml", feed);
        assert!(!content.robots.noindex && content.refresh.is_none() && content.canonical.is_none());
        assert_eq!(content.links.last().unwrap().url.as_str(), "http://h.test/d/2");
    }
}
