//! Parses robots.txt and selects the groups for this crawler.
//!
//! It parses the lines (RFC 9309, section 2.2, as lenient as Google's parser), selects groups by product token, drops
//! rules without a path, and ignores lines before the first group.

use std::borrow::Cow;

use super::{Codings, Label, RobotsRule};
use ndcrawl_model::PreferenceForm;

/// Bytes of a line that are read, as in Google's parser.
const LONGEST_LINE: usize = 16_663;

/// The part of a robots.txt that applies to one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OurPart {
    /// The rules in order.
    pub(super) rules: Vec<RobotsRule>,
    /// Seconds between requests. Finite and not negative.
    pub(super) crawl_delay: Option<f64>,
    /// Sitemaps as written. They belong to no group.
    pub(super) sitemaps: Vec<String>,
    /// What is said of the use of pages, with the path before it.
    pub(super) uses: Vec<(PreferenceForm, String)>,
    /// Addresses of licenses in the form of RSL. They belong to no group.
    pub(super) licenses: Vec<String>,
}

/// A line with a known key.
enum Line<'a> {
    UserAgent(&'a str),
    Rule(bool, &'a str),
    CrawlDelay(&'a str),
    Sitemap(&'a str),
    Use(PreferenceForm, &'a str),
    License(&'a str),
}

/// Whether the current group names this crawler, or everyone.
#[derive(Clone, Copy, Default)]
struct Membership {
    ours: bool,
    everyones: bool,
    /// Whether the next user-agent line starts a new group.
    closed: bool,
    /// Whether a group has begun.
    begun: bool,
}

impl Membership {
    /// Applies a user-agent line. Returns whether it names this crawler.
    fn user_agent(&mut self, value: &str, token: &str) -> bool {
        if self.closed {
            *self = Self::default();
        }
        self.begun = true;
        let ours = product_token(value).eq_ignore_ascii_case(token);
        self.ours |= ours;
        self.everyones |= is_everyone(value);
        ours
    }

    /// Whether a statement that belongs to no group, or to this one, is for this crawler, and whether it is for everyone.
    fn addresses(self) -> (bool, bool) {
        (self.ours || !self.begun, self.everyones || !self.begun)
    }
}

/// Parses a robots.txt for the crawler with this product token.
pub(super) fn our_part(text: &[u8], token: &str) -> OurPart {
    let text = as_text(text);
    // The token may carry a version.
    let token = token.split('/').next().unwrap_or(token);
    let (mut ours, mut everyones, mut sitemaps) = (OurPart::default(), OurPart::default(), Vec::new());
    let mut named = false;
    // Crawl-delay is not in the RFC, so for rules it does not end a run of user-agent lines. For the delay
    // it does, as files use it.
    let (mut rules, mut delays) = (Membership::default(), Membership::default());
    // Lines about the use of pages are rules for one another, and change no rule of access.
    let (mut uses, mut licenses) = (Membership::default(), Vec::new());
    for line in text.split(['\n', '\r']).filter_map(parse_line) {
        match line {
            Line::UserAgent(value) => {
                named |= rules.user_agent(value, token);
                delays.user_agent(value, token);
                uses.user_agent(value, token);
            }
            Line::Rule(allow, path) => {
                (rules.closed, delays.closed, uses.closed) = (true, true, true);
                let rule = (!path.is_empty()).then(|| RobotsRule { allows: allow, path: path.to_owned() });
                ours.rules.extend(rule.clone().filter(|_| rules.ours));
                everyones.rules.extend(rule.filter(|_| rules.everyones));
            }
            Line::CrawlDelay(value) => {
                delays.closed = true;
                let delay = value.parse().ok().filter(|delay: &f64| delay.is_finite() && *delay >= 0.0);
                ours.crawl_delay = ours.crawl_delay.or(delay.filter(|_| delays.ours));
                everyones.crawl_delay = everyones.crawl_delay.or(delay.filter(|_| delays.everyones));
            }
            Line::Sitemap(value) => sitemaps.push(value.to_owned()),
            Line::Use(form, value) => {
                uses.closed = true;
                let (is_ours, is_everyones) = uses.addresses();
                ours.uses.extend(is_ours.then(|| (form, value.to_owned())));
                everyones.uses.extend(is_everyones.then(|| (form, value.to_owned())));
            }
            Line::License(value) => licenses.push(value.to_owned()),
        }
    }
    OurPart { sitemaps, licenses, ..if named { ours } else { everyones } }
}

fn parse_line(line: &str) -> Option<Line<'_>> {
    let end = (0..=LONGEST_LINE.min(line.len())).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
    let line = &line[..end];
    let line = line.split('#').next().unwrap_or_default().trim_matches(is_blank);
    let (key, value) = match line.split_once(':') {
        Some(pair) => pair,
        // Some files omit the colon. Then the value is one word.
        None => line.split_once(is_blank).filter(|(_, value)| !value.trim_matches(is_blank).contains(is_blank))?,
    };
    let (key, value) = (key.trim_matches(is_blank).to_ascii_lowercase(), value.trim_matches(is_blank));
    match key.as_str() {
        "user-agent" | "useragent" | "user agent" => Some(Line::UserAgent(value)),
        "allow" => Some(Line::Rule(true, value)),
        "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw" => Some(Line::Rule(false, value)),
        "crawl-delay" | "crawldelay" | "crawl delay" => Some(Line::CrawlDelay(value)),
        "sitemap" | "site-map" => Some(Line::Sitemap(value)),
        "content-usage" => Some(Line::Use(PreferenceForm::ContentUsage, value)),
        "content-signal" => Some(Line::Use(PreferenceForm::ContentSignal, value)),
        "license" => Some(Line::License(value)),
        _ => None,
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0b' | '\x0c' | '\0')
}

/// The product token at the start of a user-agent line (RFC 9309, section 2.2.1).
fn product_token(value: &str) -> &str {
    let end = value.find(|c: char| !c.is_ascii_alphabetic() && c != '-' && c != '_').unwrap_or(value.len());
    &value[..end]
}

fn is_everyone(value: &str) -> bool {
    value.strip_prefix('*').is_some_and(|rest| rest.is_empty() || rest.starts_with(is_blank))
}

/// The first bytes of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns at most `most` bytes of a file in UTF-8, whatever it was saved in: as UTF-16 by its mark or its zeros, or
/// packed without a word of it in the header. The RFC wants UTF-8, but what such a file says is beyond doubt.
///
/// It is unpacked once: there are files that unpack to themselves.
pub(super) fn as_utf8(body: &[u8], most: usize) -> Cow<'_, [u8]> {
    if !is_packed(body) {
        return decoded(body).map_or(Cow::Borrowed(body), Cow::Owned);
    }
    let unpacked = Codings::of([("content-encoding", &b"gzip"[..])]).undo(body.to_vec(), most, Label::Archived);
    unpacked.map_or(Cow::Borrowed(body), |unpacked| Cow::Owned(decoded(&unpacked.body).unwrap_or(unpacked.body)))
}

/// Whether the file is packed by gzip.
pub(super) fn is_packed(body: &[u8]) -> bool {
    body.starts_with(&GZIP)
}

/// Decodes UTF-16; `None` for any other text. The first character of the file is ASCII.
fn decoded(body: &[u8]) -> Option<Vec<u8>> {
    match body {
        [0xff, 0xfe, text @ ..] | text @ [1..=0x7f, 0, ..] => Some(of_utf_16(text, u16::from_le_bytes)),
        [0xfe, 0xff, text @ ..] | text @ [0, 1..=0x7f, ..] => Some(of_utf_16(text, u16::from_be_bytes)),
        _ => None,
    }
}

fn of_utf_16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = text.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
}

/// Decodes UTF-8, without its marks. Invalid bytes become percent-escapes, as in a URL.
fn as_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in without_bom(bytes).utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    // Programs that add a mark do not look for one. Within the text it belongs to its line, as for Google.
    match text.trim_start_matches(MARK) {
        unmarked if unmarked.len() < text.len() => unmarked.to_owned(),
        _ => text,
    }
}

/// The byte order mark.
const MARK: char = '\u{feff}';

/// Skips a mark, or the part of one that is left.
fn without_bom(text: &[u8]) -> &[u8] {
    b"\xef\xbb\xbf".iter().fold(text, |rest, &byte| rest.strip_prefix(&[byte]).unwrap_or(rest))
}

/// Whether a file has lines and none of them is a line of robots.txt: an error page, or another file.
pub(super) fn is_without_sense(text: &[u8]) -> bool {
    let text = as_text(text);
    let mut lines = text.split(['\n', '\r']).filter(|line| {
        let line = line.trim_matches(is_blank);
        !line.is_empty() && !line.starts_with('#')
    });
    let mut is_any = false;
    lines.all(|line| {
        is_any = true;
        !has_key(line)
    }) && is_any
}

/// Whether a line has the form of robots.txt, with a key that is known or not.
fn has_key(line: &str) -> bool {
    let key = line.split_once(':').map(|(key, _)| key.trim_matches(is_blank));
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_ ".contains(c));
    parse_line(line).is_some() || key.is_some_and(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<RobotsRule> {
        our_part(text.as_bytes(), "ndcrawl/0.1").rules
    }

    fn disallowed(path: &str) -> RobotsRule {
        RobotsRule { allows: false, path: path.to_owned() }
    }

    #[test]
    fn the_group_is_chosen_by_product_token_whatever_stands_behind_it() {
        let text = "User-agent: *\nDisallow: /all\n\nuser-agent: NDCrawl/1.0 (x)\nDisallow: /ours\n";
        assert_eq!(rules(text), [disallowed("/ours")]);
        assert_eq!(rules("User-agent: ndcrawl-news\nDisallow: /\n"), []);
        assert_eq!(rules("User-agent: * # all\nDisallow: /all # none\n"), [disallowed("/all")]);
        assert_eq!(rules("Disallow: /early\nUser-agent: *\nDisallow:\n"), []);
    }

    #[test]
    fn a_crawl_delay_belongs_to_its_own_group_and_is_a_number() {
        let delay = |text: &str| our_part(text.as_bytes(), "ndcrawl").crawl_delay;
        assert_eq!(delay("User-agent: a\nCrawl-delay: 9\nUser-agent: ndcrawl\nCrawl-delay: 0.5\n"), Some(0.5));
        for none in ["-5", "inf", "NaN", "soon", ""] {
            assert_eq!(delay(&format!("User-agent: *\nCrawl-delay: {none}\n")), None, "{none}");
        }
        assert_eq!(delay("Crawl-delay: 7\nUser-agent: *\nDisallow:\n"), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_spelt_as_in_a_url() {
        let part = our_part(b"\xef\xbb\xbfUser-agent: *\nDisallow: /caf\xe9\n", "ndcrawl");
        assert_eq!(part.rules, [disallowed("/caf%E9")]);
    }

    #[test]
    fn a_file_is_read_in_whatever_it_was_saved() {
        let text = "User-agent: *\r\nDisallow: /private/\r\n";
        let units = |mark: &str| format!("{mark}{text}").encode_utf16().collect::<Vec<u16>>();
        let le = |mark| units(mark).iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>();
        let be = |mark| units(mark).iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<u8>>();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        let files = [le("\u{feff}"), be("\u{feff}"), le(""), be(""), encoder.finish().unwrap()];
        for file in files.into_iter().chain([format!("\u{feff}\u{feff}{text}").into_bytes()]) {
            let part = our_part(&as_utf8(&file, 1000), "ndcrawl");
            assert_eq!(part.rules, [disallowed("/private/")], "{file:?}");
        }
    }

    #[test]
    fn a_file_is_unpacked_once() {
        let mut file = b"User-agent: *\nDisallow: /\n".to_vec();
        for _ in 0..2 {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, &file).unwrap();
            file = encoder.finish().unwrap();
        }
        let once = as_utf8(&file, 1000);
        assert!(is_packed(&once), "what unpacks to itself would have no end");
        assert!(our_part(&once, "ndcrawl").rules.is_empty());
    }

    #[test]
    fn text_without_a_line_of_such_a_file_is_without_sense() {
        for text in ["<html><p>Not here", "\u{1f8b}x"] {
            assert!(is_without_sense(text.as_bytes()), "{text}");
        }
        for text in ["", "# nothing is forbidden\n", "User-agent: *", "Host: a.test", "\n<p>\nDisallow: /a"] {
            assert!(!is_without_sense(text.as_bytes()), "{text}");
        }
    }
}
