//! The lines of `pages.jsonl` and `errors.jsonl`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::capture::capture_key;
use super::{
    Alternate, CanonicalUrl, Expectation, FailureClass, OutcomeKind, Preference, Provenance, Reason, Recheck, TextError,
};

/// One line of `pages.jsonl`: the outcome of a URL. Fields that do not apply are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageLine {
    /// The canonical URL. For a document without URL: its own id as given, or `FILE#LINE`.
    pub url: String,
    /// The number of its capture in the input of `dedup`, from the second one on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
    /// The outcome.
    pub outcome: OutcomeKind,
    /// The id of a row, as given in its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The file from which `dedup` read a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The number of the line, row or element in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Other columns of the row that were carried through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<serde_json::Map<String, serde_json::Value>>,
    /// The next hop of a redirect, also of one that leads back to itself and fails. For other outcomes, the address that
    /// was requested, if the server redirected the URL to another spelling of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_url: Option<String>,
    /// The HTTP status of the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// When the request was sent, RFC 3339 UTC. For a page that was not requested again: that of the crawl before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
    /// Links from a seed. Seeds have 0.
    #[serde(default)]
    pub depth: u16,
    /// The URL of the page that led to its discovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referrer: Option<String>,
    /// Requests sent for it.
    #[serde(default)]
    pub requests: u32,
    /// The title, with whitespace folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first heading of the first level (`h1`), with whitespace folded. A heading that is one link is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// The language, a primary BCP 47 subtag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// The character encoding by which the page was read, by its WHATWG name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The encoding that server or page declare: its WHATWG name, or the label if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charset_declared: Option<String>,
    /// The media type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Bytes of the decoded body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether the body was cut at the limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// `browser` if the body is the document after its scripts ran, not the bytes of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_source: Option<String>,
    /// `pdf` if the text was read from a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_from: Option<String>,
    /// Why a PDF has no text, or a part of it only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_error: Option<TextError>,
    /// Digest of the body, as in the WARC record (`sha1:` and base 32).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Digest of the visible text (`blake3:` and 32 hexadecimal digits).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_digest: Option<String>,
    /// The `url` of the stored page that this page duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// The file of that page, if it is a document without URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_file: Option<String>,
    /// The `capture` of that page, from the second one on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of_capture: Option<u32>,
    /// The folder of the earlier crawl that stored it. Absent for a page of this crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_in: Option<String>,
    /// The similarity to it, in [0, 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The similarity by the detector's second check, in [0, 1], if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_score: Option<f64>,
    /// Own words of the page that the stored page lacks: words that few other pages say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds_words: Option<u32>,
    /// Own words of the stored page that this page lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks_words: Option<u32>,
    /// All words of a near-duplicate, own or common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u32>,
    /// Those of them that stand in no run of words that the stored page has: what is lost with the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses_words: Option<u32>,
    /// The name of the score, for a detector with named bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<String>,
    /// The detector that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<String>,
    /// The evidence: `body-digest`, `text-digest` or `similarity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The earlier verdict of a revised page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised: Option<EarlierVerdict>,
    /// Why the page is kept rather than the copy of it that was decided first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
    /// The rule, failure class or deferral, or why it was not requested again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The URL pattern that the trap guard closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The rule that predicts that the page is a duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The part of the site in which the rule was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_context: Option<String>,
    /// Whether other hosts or directories confirm the rule. Its own tests are too few.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rule_carried: bool,
    /// The share of correct predictions of the rule, in [0, 1], measured on fetched pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<f64>,
    /// The prediction that the page is a duplicate, which the crawl tested by fetching it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<SampledPrediction>,
    /// What a request found of a page that the crawl before has kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck: Option<Recheck>,
    /// The soft-404 probe: a made-up address that the site answers with the content of this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// Relevance to the topic, in [0, 1], in a focused crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<f64>,
    /// The expected relevance that decided its place in the queue, in a focused crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expectation>,
    /// Robots directives in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robots: Vec<String>,
    /// `link[rel=canonical]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// The pages of other languages that it names (`hreflang`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternates: Vec<Alternate>,
    /// What page, header and site say of its use, as evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<Preference>,
    /// Who, when, where, why and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The WARC file, relative to the output folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc_file: Option<String>,
    /// The offset of the record's gzip member in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc_offset: Option<u64>,
}

impl PageLine {
    /// Returns the next hop of a redirect, whether it was followed or leads back to where it began.
    pub fn leads_to(&self) -> Option<&str> {
        let is_redirect =
            self.outcome == OutcomeKind::Redirected || self.reason == Some(Reason::Failed(FailureClass::Redirect));
        self.final_url.as_deref().filter(|_| is_redirect)
    }

    /// Whether the page's record may name another spelling of the URL. The record of an unchanged page is that of an
    /// earlier generation, which may have requested another spelling.
    pub fn is_respelled(&self) -> bool {
        self.final_url.is_some() || self.outcome == OutcomeKind::NotModified
    }

    /// Returns the URL as store and archive know it, also of a document that has none for people.
    pub fn address(&self) -> Option<CanonicalUrl> {
        let row = || {
            let (file, line) = (self.file.as_deref()?, self.line);
            match line.filter(|line| self.url == format!("{file}#{line}")) {
                Some(line) => CanonicalUrl::of_row_number(file, line),
                None => CanonicalUrl::of_row_id(file, &self.url),
            }
        };
        CanonicalUrl::from_canonical(&self.url).ok().or_else(row)
    }

    /// Whether the page was requested, or read from a file. A line of `dedup` has no request, but an answer.
    pub fn is_visited(&self) -> bool {
        self.requests > 0 || self.status.is_some()
    }

    /// Returns the host of the URL, or the file of a document without URL; empty if there is neither.
    pub fn site(&self) -> String {
        site(&self.url, self.file.as_deref())
    }

    /// Returns the [site](Self::site) of the page that this page duplicates; empty if it duplicates none.
    pub fn site_of_original(&self) -> String {
        site(self.duplicate_of.as_deref().unwrap_or_default(), self.duplicate_file.as_deref())
    }

    /// Returns the key of this capture, see [`capture_key`].
    pub fn key(&self) -> Cow<'_, str> {
        capture_key(&self.url, self.capture.unwrap_or(1))
    }

    /// Returns the key of the stored page that this page duplicates.
    pub fn original_key(&self) -> Option<Cow<'_, str>> {
        Some(capture_key(self.duplicate_of.as_deref()?, self.duplicate_of_capture.unwrap_or(1)))
    }

    /// Returns the line of a page that was decided again and not fetched: this verdict, and the rest of the line before.
    pub fn decided_again(self, earlier: Self) -> Self {
        let Self { outcome, reason, score, second_score, band, detector, decided_by, .. } = self;
        let Self { adds_words, lacks_words, words, loses_words, .. } = self;
        let Self { duplicate_of, duplicate_file, duplicate_of_capture, duplicate_in, revised, kept_by, .. } = self;
        Self {
            outcome,
            // That it was not requested again stays true.
            reason: reason.or(earlier.reason),
            score,
            second_score,
            adds_words,
            lacks_words,
            words,
            loses_words,
            band,
            detector,
            decided_by,
            duplicate_of,
            duplicate_file,
            duplicate_of_capture,
            duplicate_in,
            revised,
            kept_by,
            ..earlier
        }
    }

    /// Whether the page is stored, see [`OutcomeKind::is_kept`].
    pub fn is_kept(&self) -> bool {
        self.outcome.is_kept()
    }
}

fn site(url: &str, file: Option<&str>) -> String {
    match CanonicalUrl::from_canonical(url) {
        Ok(url) => url.site(),
        Err(_) => file.unwrap_or_default().to_owned(),
    }
}

/// A prediction that a page is a duplicate, tested by fetching the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledPrediction {
    /// The rule that predicted it.
    pub rule: String,
    /// The part of the site in which the rule was measured.
    pub context: String,
    /// The sampling rate of such pages, in (0, 1].
    pub share: f64,
    /// Whether this page was skipped first and fetched later: a rule proved wrong, two rules contradicted each other, or
    /// a seed named it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_left_out: bool,
}

/// A verdict from before enough was known of the host, or before a better page of the same text came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlierVerdict {
    /// The outcome.
    pub outcome: OutcomeKind,
    /// The original that it named, if it was a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// The similarity to it, in [0, 1], if it was a near-duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why it was revised. Absent: too few pages of the host had been known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Revision>,
}

/// Why one of two pages with the same text took the place of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Revision {
    /// It is a better place for the text than the page it named: an article rather than a list, a page rather than a feed.
    BetterPlace,
    /// A better place for the text came later.
    Displaced,
    /// The rule that says which copy is kept (`--keep`) prefers another one than the first.
    KeepRule,
}

/// One line of `errors.jsonl`: a URL that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorLine {
    /// The canonical URL.
    pub url: String,
    /// The class of the failure.
    pub class: String,
    /// The cause.
    pub detail: String,
    /// Number of attempts.
    pub attempts: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_knows_the_address_of_its_page() {
        let address = |url: &str, file: Option<&str>, line: Option<u64>| {
            let line = PageLine { url: url.to_owned(), file: file.map(str::to_owned), line, ..PageLine::default() };
            (line.address().map(|url| url.to_string()), line.site())
        };
        let told = |url: &str, site: &str| (Some(url.to_owned()), site.to_owned());
        assert_eq!(address("http://a.test/", None, None), told("http://a.test/", "a.test"));
        assert_eq!(address("http://a.test/", Some("f"), Some(3)), told("http://a.test/", "a.test"));
        assert_eq!(address("f#3", Some("f"), Some(3)), told("row://f?line=3", "f"));
        assert_eq!(address("f#3", Some("f"), Some(4)), told("row://f?id=f%233", "f"));
        assert_eq!(address("1", Some("f"), Some(4)), told("row://f?id=1", "f"));
        assert_eq!(address("1", None, None), (None, String::new()));
    }
}
