//! Compares two crawls page by page: a crawl and its recrawl, two sites, two thresholds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use url::{Position, Url};
use xxhash_rust::xxh3::xxh3_128;

use super::ReportError;
use super::csv_list::CsvList;
use ndcrawl_model::{Exclusion, OutcomeKind, PageLine, Permission, Reason, Usage, permission};
use ndcrawl_store::PageLines;

/// Examples of each change.
const EXAMPLES: usize = 100;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PageChange {
    /// Compared in the later crawl only.
    New,
    /// Compared in the earlier crawl only, and not there any more: 404, 410, a redirect, or no link to it is left.
    Gone,
    /// Compared in the earlier crawl only; the later one has not asked for it, or got no answer.
    NotFetched,
    /// Kept by the earlier crawl, a duplicate in the later one.
    NewlyDuplicated,
    /// A duplicate in the earlier crawl, kept by the later one.
    NoLongerDuplicated,
    /// Another text.
    Changed,
    /// The same text and the same verdict.
    Same,
}

impl PageChange {
    /// All changes, in the order of the report.
    pub const ALL: [Self; 7] = [
        Self::New,
        Self::Gone,
        Self::NewlyDuplicated,
        Self::NoLongerDuplicated,
        Self::Changed,
        Self::NotFetched,
        Self::Same,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            PageChange::New => "new",
            PageChange::Gone => "gone",
            PageChange::NotFetched => "not fetched this time",
            PageChange::NewlyDuplicated => "newly duplicated",
            PageChange::NoLongerDuplicated => "no longer duplicated",
            PageChange::Changed => "changed",
            PageChange::Same => "same",
        }
    }
}

/// A page that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPage {
    /// Its URL.
    pub url: String,
    /// The page that it repeats; empty if none.
    pub repeats: String,
    /// What is known beside, such as why it is gone.
    pub note: String,
}

/// Pages of one crawl by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedPages {
    /// Pages that were kept.
    pub kept: u64,
    /// Duplicates.
    pub copies: u64,
}

/// The differences of two crawls.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Compared pages of the later crawl.
    pub later: ComparedPages,
    /// Compared pages of the earlier crawl.
    pub earlier: ComparedPages,
    /// Whether pages were matched by their paths, since the crawls have no URL in common.
    pub is_by_path: bool,
    /// Pages by change.
    pub counts: HashMap<PageChange, u64>,
    /// The first pages of each change but [`PageChange::Same`].
    pub examples: HashMap<PageChange, Vec<ChangedPage>>,
    /// Pages in both crawls of whose use something else is said, whatever became of their text.
    pub other_uses: u64,
    /// The first of these.
    pub use_examples: Vec<ChangedPage>,
    /// All pages that changed.
    pub list: CsvList,
}

/// What a crawl says of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageState {
    is_kept: bool,
    text: u128,
    /// What is said of each use, in the order of [`Usage::ALL`].
    uses: [Permission; Usage::ALL.len()],
}

impl PageState {
    /// Returns the state of a compared page; `None` for any other URL.
    fn of(line: &PageLine) -> Option<Self> {
        let is_copy = matches!(line.outcome, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
        let text = line.text_digest.as_deref().or(line.digest.as_deref()).unwrap_or_default();
        (line.is_kept() || is_copy).then(|| Self {
            is_kept: line.is_kept(),
            text: xxh3_128(text.as_bytes()),
            uses: Usage::ALL.map(|usage| permission(&line.preferences, usage)),
        })
    }

    /// Returns the uses of which something else is said now, as words: `train-ai y → n`.
    fn other_uses(&self, now: &Self) -> String {
        let pairs = Usage::ALL.iter().zip(self.uses.iter().zip(&now.uses)).filter(|(_, (before, now))| before != now);
        let words = pairs.map(|(usage, (before, now))| format!("{} {} → {}", usage.name(), before.name(), now.name()));
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Comparison {
    /// Compares the crawl in `later` with the one in `earlier`. Reads each twice. Memory: some 80 bytes a page.
    ///
    /// # Errors
    /// If the lines of either cannot be read.
    pub fn read(later: &Path, earlier: &Path) -> Result<Self, ReportError> {
        let comparison = Self::by(later, earlier, false)?;
        use PageChange::{Gone, New, NotFetched};
        let matched = PageChange::ALL.iter().filter(|change| !matches!(change, New | Gone | NotFetched));
        let is_disjoint = matched.into_iter().all(|change| comparison.count(*change) == 0);
        if is_disjoint { Self::by(later, earlier, true) } else { Ok(comparison) }
    }

    /// Returns the number of pages with a change.
    pub fn count(&self, change: PageChange) -> u64 {
        self.counts.get(&change).copied().unwrap_or_default()
    }

    fn by(later: &Path, earlier: &Path, is_by_path: bool) -> Result<Self, ReportError> {
        let key = |url: &str| xxh3_128(if is_by_path { path(url) } else { url.to_owned() }.as_bytes());
        let mut before: HashMap<u128, PageState> = HashMap::new();
        let mut comparison = Self {
            later: ComparedPages::default(),
            earlier: ComparedPages::default(),
            is_by_path,
            counts: HashMap::new(),
            examples: HashMap::new(),
            other_uses: 0,
            use_examples: Vec::new(),
            list: CsvList::new(&["change", "url", "repeats", "note"]),
        };
        for line in PageLines::open(earlier)? {
            let line = line?;
            if let Some(state) = PageState::of(&line) {
                comparison.earlier.add(state);
                before.insert(key(&line.url), state);
            }
        }
        let mut now: HashSet<u128> = HashSet::new();
        let mut others: HashMap<u128, (PageChange, String)> = HashMap::new();
        let mut has_skipped = false;
        for line in PageLines::open(later)? {
            let line = line?;
            has_skipped |= line.outcome == OutcomeKind::Deferred;
            let key = key(&line.url);
            let Some(state) = PageState::of(&line) else {
                if let Some(old) = before.get(&key).filter(|_| line.outcome == OutcomeKind::PredictedDuplicate) {
                    // It is still linked to. Only a request was saved.
                    now.insert(key);
                    let change = if old.is_kept { PageChange::NewlyDuplicated } else { PageChange::Same };
                    let (url, repeats, note) =
                        (line.url, line.duplicate_of.unwrap_or_default(), "predicted".to_owned());
                    comparison.add(change, ChangedPage { url, repeats, note });
                } else if before.contains_key(&key) {
                    let reason = line.reason.map_or(String::new(), |reason| format!(": {}", reason.name()));
                    let status = line.status.map_or(String::new(), |status| format!(" {status}"));
                    let change = if is_gone(&line) { PageChange::Gone } else { PageChange::NotFetched };
                    others.insert(key, (change, format!("{}{reason}{status}", line.outcome.name())));
                }
                continue;
            };
            comparison.later.add(state);
            now.insert(key);
            let other_uses = before.get(&key).map(|old| old.other_uses(&state)).unwrap_or_default();
            if !other_uses.is_empty() {
                comparison.add_use(&line.url, other_uses);
            }
            let change = match before.get(&key) {
                None => PageChange::New,
                Some(old) if old.is_kept && !state.is_kept => PageChange::NewlyDuplicated,
                Some(old) if !old.is_kept && state.is_kept => PageChange::NoLongerDuplicated,
                Some(old) if old.text != state.text => PageChange::Changed,
                Some(_) => PageChange::Same,
            };
            let (url, repeats) = (line.url, line.duplicate_of.unwrap_or_default());
            comparison.add(change, ChangedPage { url, repeats, note: String::new() });
        }
        for line in PageLines::open(earlier)? {
            let line = line?;
            let key = key(&line.url);
            if PageState::of(&line).is_some() && !now.contains(&key) {
                // A link to it may be on a page that was not asked for.
                let unseen = || match has_skipped {
                    true => (PageChange::NotFetched, "not seen, and some links were not followed".to_owned()),
                    false => (PageChange::Gone, "no link is left".to_owned()),
                };
                let (change, note) = others.remove(&key).unwrap_or_else(unseen);
                comparison.add(change, ChangedPage { url: line.url, repeats: String::new(), note });
            }
        }
        Ok(comparison)
    }

    fn add_use(&mut self, url: &str, note: String) {
        self.other_uses += 1;
        self.list.push(&["other use", url, "", &note]);
        if self.use_examples.len() < EXAMPLES {
            self.use_examples.push(ChangedPage { url: url.to_owned(), repeats: String::new(), note });
        }
    }

    fn add(&mut self, change: PageChange, page: ChangedPage) {
        *self.counts.entry(change).or_default() += 1;
        if change == PageChange::Same {
            return;
        }
        self.list.push(&[change.name(), &page.url, &page.repeats, &page.note]);
        let examples = self.examples.entry(change).or_default();
        if examples.len() < EXAMPLES {
            examples.push(page);
        }
    }
}

impl ComparedPages {
    fn add(&mut self, state: PageState) {
        *(if state.is_kept { &mut self.kept } else { &mut self.copies }) += 1;
    }

    /// Returns the number of all.
    pub fn all(self) -> u64 {
        self.kept + self.copies
    }
}

/// Whether a page that was not compared is not there any more.
fn is_gone(line: &PageLine) -> bool {
    let is_error_page = line.reason == Some(Reason::Excluded(Exclusion::Soft404));
    line.outcome == OutcomeKind::Redirected || is_error_page || matches!(line.status, Some(404 | 410))
}

/// Returns path and query of a URL; of a document without URL, its name.
fn path(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |parsed| parsed[Position::BeforePath..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::FailureClass;

    fn folder(lines: &[(&str, OutcomeKind, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let line = |(url, outcome, text): &(&str, OutcomeKind, &str)| {
            let line = PageLine {
                url: (*url).to_owned(),
                outcome: *outcome,
                text_digest: Some((*text).to_owned()),
                reason: (*outcome == OutcomeKind::Failed).then_some(Reason::Failed(FailureClass::Http)),
                status: (*outcome == OutcomeKind::Failed).then(|| text.parse().unwrap_or(404)),
                duplicate_of: outcome.name().ends_with("duplicate").then(|| "http://a.test/kept".to_owned()),
                ..PageLine::default()
            };
            serde_json::to_string(&line).unwrap() + "\n"
        };
        std::fs::write(folder.path().join("pages.jsonl"), lines.iter().map(line).collect::<String>()).unwrap();
        folder
    }

    #[test]
    fn each_page_has_one_change() {
        let earlier = folder(&[
            ("http://a.test/same", OutcomeKind::Stored, "1"),
            ("http://a.test/changed", OutcomeKind::Stored, "2"),
            ("http://a.test/lost", OutcomeKind::Stored, "3"),
            ("http://a.test/dead", OutcomeKind::Stored, "4"),
            ("http://a.test/copied", OutcomeKind::Stored, "5"),
            ("http://a.test/freed", OutcomeKind::NearDuplicate, "6"),
            ("http://a.test/failed", OutcomeKind::Failed, ""),
            ("http://a.test/busy", OutcomeKind::Stored, "8"),
            ("http://a.test/print", OutcomeKind::NearDuplicate, "1"),
        ]);
        let later = folder(&[
            ("http://a.test/same", OutcomeKind::Stored, "1"),
            ("http://a.test/changed", OutcomeKind::Stored, "2b"),
            ("http://a.test/dead", OutcomeKind::Failed, ""),
            ("http://a.test/copied", OutcomeKind::ExactDuplicate, "5b"),
            ("http://a.test/freed", OutcomeKind::Stored, "6"),
            ("http://a.test/new", OutcomeKind::Stored, "7"),
            ("http://a.test/busy", OutcomeKind::Failed, "503"),
            ("http://a.test/print", OutcomeKind::PredictedDuplicate, ""),
        ]);
        let comparison = Comparison::read(later.path(), earlier.path()).unwrap();
        let counts = PageChange::ALL.map(|change| comparison.count(change));
        assert_eq!((counts, comparison.is_by_path), ([1, 2, 1, 1, 1, 1, 2], false));
        assert_eq!((comparison.later.copies, comparison.earlier.all()), (1, 8));
        let notes = |comparison: &Comparison, change| -> Vec<String> {
            comparison.examples[&change].iter().map(|page| page.note.clone()).collect()
        };
        assert_eq!(notes(&comparison, PageChange::Gone), ["no link is left", "failed: http 404"]);
        assert_eq!(notes(&comparison, PageChange::NotFetched), ["failed: http 503"]);
        assert!(comparison.list.text().contains("newly duplicated,http://a.test/copied,http://a.test/kept,\r\n"));
    }

    #[test]
    fn a_page_is_gone_only_if_every_link_was_followed() {
        let earlier = folder(&[
            ("http://a.test/", OutcomeKind::Stored, "1"),
            ("http://a.test/x", OutcomeKind::Stored, "2"),
            ("http://a.test/y", OutcomeKind::Stored, "3"),
        ]);
        let later =
            folder(&[("http://a.test/", OutcomeKind::Stored, "1"), ("http://a.test/y", OutcomeKind::Deferred, "")]);
        let comparison = Comparison::read(later.path(), earlier.path()).unwrap();
        assert_eq!((comparison.count(PageChange::Gone), comparison.count(PageChange::NotFetched)), (0, 2));
    }

    #[test]
    fn another_answer_on_a_use_is_told_whatever_became_of_the_text() {
        let crawled = |lines: &[(&str, &str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let line = |(url, text, usage): &(&str, &str, &str)| {
                let from = ndcrawl_model::PreferencePlace::Header;
                let line = PageLine {
                    url: (*url).to_owned(),
                    outcome: OutcomeKind::Stored,
                    text_digest: Some((*text).to_owned()),
                    preferences: vec![pagetext::preferences::content_usage(usage, from)],
                    ..PageLine::default()
                };
                serde_json::to_string(&line).unwrap() + "\n"
            };
            std::fs::write(folder.path().join("pages.jsonl"), lines.iter().map(line).collect::<String>()).unwrap();
            folder
        };
        let earlier = crawled(&[
            ("http://a.test/same", "1", "train-ai=y"),
            ("http://a.test/words", "2", "train-ai=n, x=1"),
            ("http://a.test/changed", "3", "search=y"),
            ("http://a.test/gone", "4", "train-ai=y"),
        ]);
        let later = crawled(&[
            ("http://a.test/same", "1", "train-ai=n"),
            ("http://a.test/words", "2", "x=2, train-ai=n"),
            ("http://a.test/changed", "3b", "train-ai=?"),
            ("http://a.test/new", "5", "train-ai=n"),
        ]);
        let comparison = Comparison::read(later.path(), earlier.path()).unwrap();
        let notes: Vec<&str> = comparison.use_examples.iter().map(|page| page.note.as_str()).collect();
        assert_eq!(notes, ["train-ai y → n", "train-ai unknown → unclear, search y → unclear"]);
        assert_eq!((comparison.other_uses, comparison.count(PageChange::Same)), (2, 2));
        assert!(comparison.list.text().contains("other use,http://a.test/same,,train-ai y → n\r\n"));
    }

    #[test]
    fn crawls_of_two_sites_are_matched_by_path() {
        let earlier =
            folder(&[("http://a.test/x?y", OutcomeKind::Stored, "1"), ("http://a.test/z", OutcomeKind::Stored, "2")]);
        let later = folder(&[("https://b.test/x?y", OutcomeKind::Stored, "1")]);
        let comparison = Comparison::read(later.path(), earlier.path()).unwrap();
        assert!(comparison.is_by_path);
        assert_eq!(PageChange::ALL.map(|change| comparison.count(change)), [0, 1, 0, 0, 0, 0, 1]);
    }
}
