//! Reads one of the inputs that several processes share, without deciding about its pages.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};

use ndcrawl_engine::documents::{self, Readers};
use ndcrawl_engine::pipeline::{
    ContentReader, NamedOriginal, OriginalLinks, RenderedPage, add_answer, add_document, add_original, add_page,
    outcome_line, outcome_of, page_input, unleased_line,
};
use ndcrawl_fetch::{absent_page, no_text};
use ndcrawl_model::{
    CanonicalUrl, Discovery, EarlierVerdict, Fetched, PageId, PageInput, PageLine, Revision, UrlRow, UrlState, Verdict,
    capture_key,
};
use pagetext::PageReader;

use super::input::{InputDamage, InputDocument, InputItem, Inputs, Options as InputOptions, RowSource};
use super::input_report::InputReports;
use super::intake::{InputPage, outcome_without_verdict};
use super::rendering::read_page;
use super::setup::SameUrl;

/// Says of a media type whether it is a page.
pub type Accepts = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Reads inputs and renders their pages.
pub struct InputReader {
    /// How pages are found.
    options: InputOptions,
    /// Reads pages and documents.
    content: ContentReader,
    /// Media types that are pages.
    accepts: Accepts,
    /// The name of the crawl, from which those of its pages follow.
    crawl: String,
    /// Which captures of one URL are documents.
    same_url: SameUrl,
    /// Whether the texts of pages are wanted.
    keep_text: bool,
}

/// A document that was read.
#[derive(Debug)]
pub struct ReadDocument {
    /// Its line: whole if it is no page, else without the verdict.
    pub line: PageLine,
    /// The `WARC-Record-ID` of its record.
    pub record_id: Option<String>,
    /// The page to be decided.
    pub page: Option<PageToDecide>,
    /// Its main text, if it is a page and texts are wanted.
    pub text: Option<String>,
    /// Its WARC record as it is, if it is a page and records are wanted.
    pub record: Option<Vec<u8>>,
}

/// A page to be decided.
#[derive(Debug)]
pub struct PageToDecide {
    /// For the detector.
    pub input: PageInput,
    /// Its URL as a store spells it.
    pub url: String,
    /// When it was fetched.
    pub fetched: Option<i64>,
}

/// What an input gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedInputReport {
    /// Answers and documents.
    pub answers: u64,
    /// Pages that were decided.
    pub pages: u64,
    /// Pages whose URL came before.
    pub repeated: u64,
    /// Pages that were decided again at the end of the manifest.
    pub revised: u64,
    /// Records, lines and rows that could not be read.
    pub damaged: u64,
    /// Whether all of it was read, and it has an answer.
    pub is_good: bool,
    /// Why the first piece could not be read.
    pub why: Option<String>,
    /// The pages by their outcomes.
    pub outcomes: std::collections::BTreeMap<String, u64>,
}

impl InputReader {
    /// Creates a reader of the inputs of the crawl of this name, from which those of its pages follow. `documents` read
    /// PDF, if anybody does.
    pub fn new(
        crawl: &str,
        options: InputOptions,
        (renderer, documents): (PageReader, Option<documents::Options>),
        accepts: Accepts,
        (same_url, keep_text): (SameUrl, bool),
    ) -> Self {
        let content = ContentReader::new(renderer, documents.map(Readers::new));
        Self { options, content, accepts, crawl: crawl.to_owned(), same_url, keep_text }
    }

    /// Reads an input, a file or a folder, in order. Stops when `take` returns false.
    pub fn read(&self, name: &str, mut take: impl FnMut(ReadDocument) -> bool) -> SharedInputReport {
        let mut report = SharedInputReport::default();
        let inputs = match Inputs::find(&[Path::new(name).to_owned()], &[]) {
            Ok(inputs) => inputs,
            Err(error) => {
                report.why = Some(error.to_string());
                return report;
            }
        };
        let (bytes, mut reports) = (AtomicU64::new(0), InputReports::default());
        for item in inputs.items(&self.options, &bytes, &|| false) {
            match item {
                InputItem::Opened(file) => reports.open(file),
                InputItem::Answer(document) if self.options.keeps_records && document.record.is_none() => {
                    let damage = without_record(name, &document);
                    report.damaged += 1;
                    report.why.get_or_insert_with(|| damage.why.clone());
                    reports.damaged(&damage);
                }
                InputItem::Answer(document) => {
                    report.answers += 1;
                    reports.answer();
                    if !take(self.document(name, report.answers, *document)) {
                        return report;
                    }
                }
                InputItem::Passed => reports.passed(),
                InputItem::Ignored(file) => reports.ignored(&file),
                InputItem::Damaged(damage) => {
                    report.damaged += 1;
                    report.why.get_or_insert_with(|| format!("{}: {}", damage.place, damage.why));
                    reports.damaged(&damage);
                }
            }
        }
        reports.end(false);
        report.is_good = report.answers > 0 && reports.poor == 0 && reports.lost == 0;
        report
    }

    fn document(&self, input: &str, number: u64, document: InputDocument) -> ReadDocument {
        let InputDocument { fetched, row, record_id, record, is_own, .. } = document;
        let fetched: Arc<Fetched> = Arc::new(fetched);
        let read = (row.is_some() || self.is_page(&fetched))
            .then(|| read_page(&self.content, &fetched, is_own, &self.options));
        let mut arrival = InputPage { fetched: fetched.clone(), row, capture: 1, read };
        let mut line = line_without_verdict(&arrival);
        let Some(Ok(read)) = &mut arrival.read else {
            return ReadDocument { line, record_id, page: None, text: None, record: None };
        };
        let RenderedPage { rendered, body_digest, group, payload_digest, document_text, text_error } = read;
        add_page(&mut line, rendered);
        add_document(&mut line, document_text.is_some(), *text_error);
        line.digest = Some(payload_digest.clone());
        if rendered.robots.noindex {
            return ReadDocument { line, record_id, page: None, text: None, record: None };
        }
        let key = self.key(input, number, &fetched, arrival.row.as_ref());
        let page = page_input(PageId::new(&self.crawl, &key, 0), &fetched, rendered, (*body_digest, *group), None);
        let main_text = || self.content.pages().reading(&*fetched).map(|reading| reading.text);
        let text = if self.keep_text { document_text.take().or_else(main_text) } else { None };
        let url = capture_key(fetched.url.as_str(), 1).into_owned();
        let page = Some(PageToDecide { input: page, url, fetched: fetched.started_at });
        ReadDocument { line, record_id, page, text, record }
    }

    fn is_page(&self, fetched: &Fetched) -> bool {
        (200..300).contains(&fetched.status)
            && absent_page(fetched).is_none()
            && (self.accepts)(&fetched.media_type())
            && no_text(&fetched.body).is_none_or(|found| (self.accepts)(found))
    }

    /// Returns what names a document: nobody knows all names, so one without URL is known by its place.
    fn key(&self, input: &str, number: u64, fetched: &Fetched, row: Option<&RowSource>) -> String {
        let place = row.filter(|_| fetched.url.file().is_some());
        let place = place.and_then(|row| CanonicalUrl::of_row_number(&row.file, row.number));
        match (self.same_url, place) {
            (SameUrl::Keep, _) => format!("{input}#{number} {}", fetched.url),
            (_, Some(place)) => place.to_string(),
            (_, None) => fetched.url.to_string(),
        }
    }
}

/// Says why a document is not taken whose record would be copied to a WARC file.
fn without_record(input: &str, document: &InputDocument) -> InputDamage {
    let why = match &document.record_id {
        Some(id) => format!("the record {id} is too long to be copied"),
        None => "it is not WARC, so it has no records to copy".to_owned(),
    };
    // Pages are missing, as if the input broke off.
    InputDamage { breaks_off: true, ..InputDamage::new(input, format!("{why}: use --kept jsonl or parquet")) }
}

/// Returns the line of an answer as if the decider did not see it.
fn line_without_verdict(arrival: &InputPage) -> PageLine {
    let key = capture_key(arrival.fetched.url.as_str(), 1).into_owned();
    let row = UrlRow { url: key, discovery: Discovery::SEED, state: UrlState::Queued, clue: None };
    let mut line = unleased_line(&row, None, &outcome_without_verdict(arrival));
    line.url = arrival.fetched.url.shown().into_owned();
    add_answer(&mut line, &arrival.fetched);
    if let Some(RowSource { file, number, id, columns }) = &arrival.row {
        (line.file, line.line) = (Some(file.to_string()), Some(*number));
        line.id.clone_from(id);
        line.columns.clone_from(columns);
    }
    line
}

/// Enters a verdict in the line of a page. `original` is the URL of the page that it repeats, as a store spells it.
pub fn enter_verdict(line: &mut PageLine, verdict: Verdict, original: Option<&str>) {
    let mut decided = outcome_line(&outcome_of(verdict, None));
    add_original(&mut decided, original.map(named_original).as_ref());
    *line = decided.decided_again(std::mem::take(line));
}

/// Enters the verdict that a page had before it was decided again. `original` is the URL of the page that it named.
pub fn enter_earlier_verdict(line: &mut PageLine, verdict: Verdict, original: Option<&str>, reason: Option<Revision>) {
    let earlier = outcome_line(&outcome_of(verdict, None));
    let duplicate_of = original.map(|url| named_original(url).shown());
    line.revised = Some(EarlierVerdict { outcome: earlier.outcome, duplicate_of, score: earlier.score, reason });
}

fn named_original(url: &str) -> NamedOriginal {
    NamedOriginal {
        id: None,
        url: url.to_owned(),
        capture: 1,
        fetched_at: None,
        folder: None,
        links: OriginalLinks::Earlier(Vec::new()),
    }
}
