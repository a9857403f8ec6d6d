//! The common words of a site's error pages, and whether a page says no more than that.
//!
//! An error page may repeat the requested address, show a clock, or give other advice each time. So words of a page's
//! own address count apart, all words with a digit count as the same word, and two answers are compared: where they
//! differ, a page may differ, too.

use std::collections::HashMap;

use ndcrawl_model::{CanonicalUrl, Digest, Field, PageContent};

/// Stands for every word with a digit: times, dates, counters.
const NUMBER: &str = "#";
/// Shared words for each word in which two answers may differ.
const LEAST_COMMON: u32 = 10;
/// Shorter pieces, in bytes, occur in any address by accident.
const LEAST_PART: usize = 3;

/// How often a word occurs in a text.
#[derive(Clone, Copy, Debug, Default)]
struct WordCount {
    all: u32,
    /// How often as a word of the page's own address.
    own: u32,
}

impl WordCount {
    fn foreign(self) -> u32 {
        self.all - self.own
    }
}

/// The words of a page.
#[derive(Debug)]
pub(super) struct AnswerWords {
    words: HashMap<Box<str>, WordCount>,
    text: Option<Digest>,
}

impl AnswerWords {
    /// Takes the words of a page from the last of these addresses. The others redirected to it.
    pub fn new(page: &PageContent, addresses: &[CanonicalUrl]) -> Self {
        let own = AddressWords::new(addresses);
        let mut words: HashMap<Box<str>, WordCount> = HashMap::new();
        for term in &page.terms {
            let in_address = term.counts.0[Field::Url as usize];
            let all = term.counts.0.iter().fold(0u32, |sum, count| sum.saturating_add(*count)) - in_address;
            if all > 0 {
                let is_own = in_address > 0 || own.has(&term.term);
                let word = if term.term.contains(|c: char| c.is_ascii_digit()) { NUMBER } else { &*term.term };
                let count = words.entry(word.into()).or_default();
                count.all = count.all.saturating_add(all);
                count.own = count.own.saturating_add(if is_own { all } else { 0 });
            }
        }
        Self { words, text: page.text_digest }
    }

    fn all(&self, word: &str) -> u32 {
        self.words.get(word).map_or(0, |count| count.all)
    }

    /// Counts the words beyond those of the other page and of its own address.
    fn beyond(&self, other: impl Fn(&str) -> u32) -> u32 {
        let beyond = self.words.iter().map(|(word, count)| count.foreign().saturating_sub(other(word)));
        beyond.fold(0, u32::saturating_add)
    }
}

/// The words of addresses.
struct AddressWords(Vec<String>);

impl AddressWords {
    fn new(addresses: &[CanonicalUrl]) -> Self {
        let pieces = addresses.iter().flat_map(|url| pieces(url.as_str()).map(str::to_lowercase).collect::<Vec<_>>());
        Self(pieces.collect())
    }

    /// Returns whether each piece of the word occurs in an address. Words are stems, and some have a dot.
    fn has(&self, word: &str) -> bool {
        pieces(word).all(|piece| {
            let is_long = piece.len() >= LEAST_PART;
            self.0.iter().any(|own| own == piece || (is_long && own.contains(piece)))
        })
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// The answer of a site to wrong addresses.
#[derive(Debug)]
pub(super) struct Soft404Signature {
    /// The first probe.
    pub probe: CanonicalUrl,
    /// Words of both answers, without words of their addresses.
    common: Vec<(Box<str>, u32)>,
    /// Words of either answer.
    either: HashMap<Box<str>, u32>,
    /// How many words one answer has that the other lacks.
    varying: u32,
    /// Digest of their text, if it is the same.
    text: Option<Digest>,
}

impl Soft404Signature {
    /// Returns what two answers have in common; `None` if they differ in much.
    pub fn new(probe: CanonicalUrl, one: &AnswerWords, other: &AnswerWords) -> Option<Self> {
        let mut common: Vec<(Box<str>, u32)> = Vec::new();
        let mut either: HashMap<Box<str>, u32> =
            one.words.iter().map(|(word, count)| (word.clone(), count.all)).collect();
        for (word, count) in &other.words {
            let more = either.entry(word.clone()).or_default();
            *more = count.all.max(*more);
            let shared = one.words.get(word).map_or(0, |one| one.foreign().min(count.foreign()));
            if shared > 0 {
                common.push((word.clone(), shared));
            }
        }
        let varying = one.beyond(|word| other.all(word)).max(other.beyond(|word| one.all(word)));
        let text = one.text.filter(|_| one.text == other.text);
        let shared = common.iter().fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
        let is_alike = shared > 0 && varying.saturating_mul(LEAST_COMMON) <= shared;
        (is_alike || text.is_some()).then_some(Self { probe, common, either, varying, text })
    }

    /// Returns whether a page says the same. It has all words of both answers, and beyond them only words of its own
    /// address and as many others as one of the answers had. Or its text is exactly theirs.
    pub fn matches(&self, page: &AnswerWords) -> bool {
        if self.text.is_some() && self.text == page.text {
            return true;
        }
        let says_all = || self.common.iter().all(|(word, count)| page.all(word) >= *count);
        let beyond = || page.beyond(|word| self.either.get(word).copied().unwrap_or(0));
        !self.common.is_empty() && says_all() && beyond() <= self.varying
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{Fetched, Normalizer};
    use pagetext::PageReader;

    fn address(path: &str) -> CanonicalUrl {
        Normalizer::default().absolute(&format!("http://a.test{path}")).unwrap()
    }

    fn said(path: &str, text: &str) -> AnswerWords {
        let url = address(path);
        let fetched = Fetched {
            url: url.clone(),
            spelling: None,
            status: 200,
            version: "HTTP/1.1",
            reason: String::new(),
            headers: vec![("content-type".into(), b"text/html; charset=utf-8".to_vec())],
            request_headers: Vec::new(),
            body: format!("<html><title>A site</title><body><p>{text}</p>").into_bytes(),
            truncated: false,
            broken_off: None,
            address: None,
            started_at: None,
            elapsed: std::time::Duration::ZERO,
        };
        AnswerWords::new(&PageReader::default().render(&fetched), &[url])
    }

    /// What is learned from an answer that is made of the path and of a number.
    fn learned(answer: impl Fn(&str, usize) -> String) -> Option<Soft404Signature> {
        let [one, other] = ["/qwertzuiop", "/yxcvbnmasdf"];
        Soft404Signature::new(address(one), &said(one, &answer(one, 1)), &said(other, &answer(other, 2)))
    }

    const MENU: &str = "Start Products Prices Company History Contact Imprint Privacy Terms Careers Press Partners";

    #[test]
    fn an_answer_is_known_again_whatever_address_it_repeats_and_how_often() {
        let answer = |path: &str| format!("Sorry, there is no {path} here, {path} was moved. Page not found. {MENU}");
        let known = learned(|path, _| answer(path)).unwrap();
        for path in ["/a/b.html", "/caf%C3%A9-society?id=7", "/page/found/17", "/%E5%9B%B3%E6%9B%B8%E9%A4%A8"] {
            assert!(known.matches(&said(path, &answer(path))), "{path}");
        }
        let decoded = answer("/café-society");
        assert!(known.matches(&said("/caf%C3%A9-society", &decoded)));
        let in_characters = answer("/図書館");
        assert!(known.matches(&said("/%E5%9B%B3%E6%9B%B8%E9%A4%A8", &in_characters)));
    }

    #[test]
    fn two_words_are_enough_to_be_known_and_one_more_is_a_page() {
        let known = learned(|path, _| format!("Nothing found: {path}")).unwrap();
        assert!(known.matches(&said("/a", "Nothing found: /a")));
        assert!(!known.matches(&said("/a", "Nothing found: /a, sunset")));
        assert!(!known.matches(&said("/a", "Nothing")));
    }

    #[test]
    fn a_page_under_a_large_menu_is_a_page_however_little_it_says() {
        let menu = [MENU; 20].join(" ");
        let known = learned(|path, _| format!("{menu} Sorry, {path} cannot be found")).unwrap();
        for text in ["", "Sunset", "12 / 17", "Sorry, sold out"] {
            assert!(!known.matches(&said("/photo/17", &format!("{menu} {text}"))), "{text}");
        }
        assert!(known.matches(&said("/photo/17", &format!("{menu} Sorry, /photo/17 cannot be found"))));
    }

    #[test]
    fn a_clock_and_a_few_words_that_vary_do_not_hide_an_answer() {
        let answer = |path: &str, n: usize| {
            let advice = ["rivers", "mountains", "forests", "deserts"][n % 4];
            format!("{MENU} Sorry, {path} cannot be found. Try {advice}! {n}2:31:0{n}")
        };
        let known = learned(answer).unwrap();
        assert!(known.matches(&said("/a", &answer("/a", 3))));
        assert!(!known.matches(&said("/a", &answer("/a", 3).replace("deserts", "deserts, steppes"))));
    }

    #[test]
    fn answers_that_differ_in_much_teach_nothing() {
        assert!(learned(|_, n| [["rivers", "mountains"][n - 1]; 30].join(" ")).is_none());
        assert!(learned(|_, n| format!("{MENU} {}", "lorem ".repeat(n * 20))).is_none());
    }

    #[test]
    fn answers_without_words_teach_nothing_unless_they_are_the_same_text() {
        let without_title = |path: &str| {
            let mut said = said(path, "");
            said.words.clear();
            said.text = None;
            said
        };
        assert!(Soft404Signature::new(address("/q"), &without_title("/q"), &without_title("/w")).is_none());
        let known = learned(|_, _| "It is not in here".to_owned()).unwrap();
        assert!(known.matches(&said("/a", "It is not in here")));
    }

    #[test]
    fn a_page_that_has_the_words_of_an_answer_and_a_text_of_its_own_is_a_page() {
        let known = learned(|path, _| format!("Page {path} not found")).unwrap();
        let text = "Page not found is what a server says with the status 404, described in the standard";
        assert!(!known.matches(&said("/wiki/not-found", text)));
    }
}
