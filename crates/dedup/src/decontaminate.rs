//! *Which documents hold an item of a test set?*
//!
//! A document is compared with the items with which it shares a run of words: 13 by default, as in the papers on GPT-3
//! and in the evaluation harness of EleutherAI. Then it is counted how much of either stands in the other, by runs of
//! four words as everywhere here. Words are stems in lower case, and all stop words are one.
//!
//! An item shorter than a run is searched as a whole, unless it has fewer than [`LEAST`] words: so few words stand
//! everywhere. A run of more than [`MOST_ITEMS`] items is the frame of the test set, such as an instruction, and names none
//! of them. Of equal items the first one is named.
//!
//! **Cost.** A look-up of each run of a document, for each length of items; the test set is in memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use super::input::{InputDamage, InputItem, Inputs, Options as InputOptions};
use super::input_report::InputReports;
use super::intake::InputPage;
use super::own_rows::{OwnRows, OwnRowsError, RowsGiven, row_hash, write_clean_rows};
use super::rendering::{Done, Note, Reading, Work, pipe};
use ndcrawl_engine::documents::{self, Readers};
use ndcrawl_engine::pipeline::{ContentReader, PipelineError};
use ndcrawl_model::RunningText;
use pagetext::PageReader;

/// Words of the shortest item that is searched.
pub const LEAST: usize = 8;

/// Items that have a run, at most, if it names them: as in the paper on GPT-3.
pub const MOST_ITEMS: usize = 10;

/// Documents and a test set.
#[allow(missing_docs)]
pub struct DecontaminationSetup {
    pub inputs: Inputs,
    pub input: InputOptions,
    pub tests: Inputs,
    pub test_input: InputOptions,
    pub renderer: PageReader,
    /// Who reads PDF, if anybody does.
    pub documents: Option<documents::Options>,
    /// Media types that are pages.
    pub accepts: Box<dyn Fn(&str) -> bool + Sync>,
    /// Words of a run that document and item must share.
    pub run: usize,
    /// The share of an item that a contaminated document holds at least, from 0 to 1.
    pub share: f64,
}

/// Where a document or an item is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct DocumentPlace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A document and an item that share a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContaminationHit {
    /// The document.
    pub document: DocumentPlace,
    /// The item.
    pub item: DocumentPlace,
    /// The share of the item's words that stand in the document, in runs of four.
    pub item_share: f64,
    /// The share of the document's words that stand in the item.
    pub document_share: f64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Contamination {
    /// All hits, in the order of the documents.
    pub hits: Vec<ContaminationHit>,
    /// Documents, those that could not be read too.
    pub documents: u64,
    /// Documents that hold enough of an item.
    pub contaminated: u64,
    /// Items that were searched.
    pub items: u64,
    /// Items that are too short to be searched.
    pub too_short: Vec<DocumentPlace>,
    /// Items of which each run stands in more than [`MOST_ITEMS`] others, so that they are not searched.
    pub too_common: Vec<DocumentPlace>,
    /// What the files of the documents gave.
    pub inputs: InputReports,
    /// What the files of the test set gave.
    pub tests: InputReports,
    /// Rows of documents that are contaminated or could not be read: they are not clean.
    rows: HashSet<u128>,
}

/// Items by their runs.
#[derive(Debug, Default)]
struct TestSet {
    run: usize,
    items: Vec<(DocumentPlace, RunningText)>,
    /// Items by runs of each length.
    by_run: HashMap<usize, HashMap<u64, Vec<usize>>>,
    too_short: Vec<DocumentPlace>,
    known: HashSet<Vec<u32>>,
}

impl TestSet {
    fn add(&mut self, place: DocumentPlace, text: RunningText) {
        let length = self.run.min(text.words.len());
        if length < LEAST.min(self.run) {
            self.too_short.push(place);
            return;
        }
        if !self.known.insert(text.words.clone()) {
            return;
        }
        let runs: BTreeSet<u64> = text.runs_of(length).collect();
        let by_run = self.by_run.entry(length).or_default();
        runs.into_iter().for_each(|run| by_run.entry(run).or_default().push(self.items.len()));
        self.items.push((place, text));
    }

    /// Forgets the runs that name no item. Returns the items that have no other ones.
    fn forget_frames(&mut self) -> Vec<DocumentPlace> {
        let mut is_named = vec![false; self.items.len()];
        for by_run in self.by_run.values_mut() {
            by_run.retain(|_, items| items.len() <= MOST_ITEMS);
            by_run.values().flatten().for_each(|item| is_named[*item] = true);
        }
        self.known = HashSet::new();
        let items = self.items.iter().zip(is_named).filter(|(_, is_named)| !is_named);
        items.map(|((place, _), _)| place.clone()).collect()
    }

    /// Returns the items that share a run with a text, each with its share in the text and the text's share in it.
    fn find(&self, text: &RunningText) -> Vec<(&DocumentPlace, f64, f64)> {
        let named = |(length, by_run): (&usize, &HashMap<u64, Vec<usize>>)| {
            let runs = text.runs_of(*length).filter(|_| text.words.len() >= *length);
            runs.filter_map(|run| by_run.get(&run)).flatten().copied().collect::<Vec<_>>()
        };
        let found: BTreeSet<usize> = self.by_run.iter().flat_map(named).collect();
        let runs = |text: &RunningText| text.runs().collect::<HashSet<u64>>();
        let own = if found.is_empty() { HashSet::new() } else { runs(text) };
        let shares = found.into_iter().map(|item| {
            let (place, item) = &self.items[item];
            (place, share_in(item, &own), share_in(text, &runs(item)))
        });
        shares.collect()
    }
}

/// Returns the share of a text's words that stand in one of these runs, rounded down to millionths.
fn share_in(text: &RunningText, runs: &HashSet<u64>) -> f64 {
    let (words, outside) = (text.words.len(), text.words_outside(|run| runs.contains(&run)));
    ((words - outside) * 1_000_000 / words.max(1)) as f64 / 1e6
}

impl Contamination {
    /// Reads the test set and then the documents.
    ///
    /// # Errors
    /// If a thread that reads has failed.
    pub fn find(setup: &DecontaminationSetup) -> Result<Self, PipelineError> {
        let content = ContentReader::new(setup.renderer.clone(), setup.documents.clone().map(Readers::new));
        let reading =
            Reading { inputs: &setup.tests, options: &setup.test_input, accepts: &*setup.accepts, content: &content };
        let mut set = TestSet { run: setup.run, ..TestSet::default() };
        let tests = read_all(reading, |place, _, text| {
            if let Some(text) = text {
                set.add(place, text);
            }
        })?;
        let too_common = set.forget_frames();
        let items = (set.items.len() - too_common.len()) as u64;
        let mut found = Self { items, too_common, tests, ..Self::default() };
        let reading = Reading { inputs: &setup.inputs, options: &setup.input, ..reading };
        found.inputs = read_all(reading, |place, row, text| {
            found.documents += 1;
            match text {
                Some(text) => found.add(&set, setup.share, (place, row), &text),
                None => found.rows.extend(row),
            }
        })?;
        found.too_short = set.too_short;
        Ok(found)
    }

    fn add(&mut self, set: &TestSet, least: f64, (place, row): (DocumentPlace, Option<u128>), text: &RunningText) {
        let hits = set.find(text).into_iter().map(|(item, item_share, document_share)| {
            let (document, item) = (place.clone(), item.clone());
            ContaminationHit { document, item, item_share, document_share }
        });
        let hits: Vec<ContaminationHit> = hits.collect();
        if hits.iter().any(|hit| hit.item_share >= least) {
            self.contaminated += 1;
            self.rows.extend(row);
        }
        self.hits.extend(hits);
    }

    /// Reads the documents once more and writes the rows of those that are not contaminated, as they came.
    ///
    /// # Errors
    /// [`OwnRowsError`].
    pub fn write_clean_rows(&self, path: &Path, setup: &DecontaminationSetup) -> Result<RowsGiven, OwnRowsError> {
        let is_clean = |row: u128| !self.rows.contains(&row);
        write_clean_rows(&OwnRows::Kept(path.to_owned()), &setup.inputs, &setup.input, is_clean)
    }
}

/// Reads all documents, and passes their places and texts to `take` in order; no text if it cannot be read.
fn read_all(
    reading: Reading<'_>,
    mut take: impl FnMut(DocumentPlace, Option<u128>, Option<RunningText>),
) -> Result<InputReports, PipelineError> {
    let (bytes, mut reports) = (AtomicU64::new(0), InputReports::default());
    let sift = |item: Option<InputItem>| {
        Some(match item? {
            InputItem::Opened(file) => Work::Note(Note::Opened(file)),
            InputItem::Answer(document) => Work::Answer(document, 1, None),
            InputItem::Passed => Work::Note(Note::Passed),
            InputItem::Ignored(file) => Work::Note(Note::Ignored(file)),
            InputItem::Damaged(damage) => Work::Note(Note::Damaged(damage)),
        })
    };
    pipe(reading, &bytes, &|| false, sift, |done| {
        match done {
            Done::Answer(page, _) => {
                reports.answer();
                take_page(page, &mut reports, &mut take);
            }
            Done::Note(Note::Opened(file)) => reports.open(file),
            Done::Note(Note::Ignored(file)) => reports.ignored(&file),
            Done::Note(Note::Damaged(damage)) => reports.damaged(&damage),
            Done::Note(Note::Passed | Note::Known | Note::Repeated) => reports.passed(),
        }
        Ok(())
    })?;
    reports.end(false);
    Ok(reports)
}

fn take_page(
    page: InputPage,
    reports: &mut InputReports,
    take: &mut impl FnMut(DocumentPlace, Option<u128>, Option<RunningText>),
) {
    let Some(read) = page.read else { return };
    if let Err(why) = &read {
        reports.damaged(&InputDamage::new(page.fetched.url.shown(), why));
    }
    let url = page.fetched.url.file().is_none().then(|| page.fetched.url.shown().into_owned());
    let row = page.row.as_ref().map(|row| row_hash(&row.file, row.number));
    let place = match page.row {
        Some(row) => DocumentPlace { file: Some(row.file.to_string()), line: Some(row.number), id: row.id, url },
        None => DocumentPlace { url: Some(page.fetched.url.shown().into_owned()), ..DocumentPlace::default() },
    };
    take(place, row, read.ok().map(|read| read.rendered.order.text));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(words: &[u32]) -> RunningText {
        RunningText { words: words.iter().map(|word| word * 2).collect(), name: Vec::new() }
    }

    fn has_run(text: &[u32], run: &[u32]) -> bool {
        text.windows(run.len()).any(|window| window == run)
    }

    #[test]
    fn an_item_that_is_shorter_than_a_run_is_searched_as_a_whole() {
        let mut set = TestSet { run: 13, ..TestSet::default() };
        let item: Vec<u32> = (100..109).collect();
        set.add(DocumentPlace::default(), text(&item));
        set.add(DocumentPlace { line: Some(2), ..DocumentPlace::default() }, text(&item[..7]));
        assert_eq!((set.items.len(), set.too_short.len()), (1, 1));
        let document: Vec<u32> = (0..9).chain(item.iter().copied()).collect();
        assert_eq!(set.find(&text(&document)), [(&DocumentPlace::default(), 1.0, 0.5)]);
        assert!(set.find(&text(&document[..17])).is_empty());
        assert!(set.find(&text(&item[..8])).is_empty() && set.find(&text(&[])).is_empty());
    }

    #[test]
    fn what_many_items_share_names_none_of_them() {
        let mut set = TestSet { run: 8, ..TestSet::default() };
        let frame: Vec<u32> = (0..8).collect();
        for number in 0..12u32 {
            let own: Vec<u32> = if number == 0 { Vec::new() } else { (100 * number..100 * number + 8).collect() };
            let place = DocumentPlace { line: Some(number.into()), ..DocumentPlace::default() };
            set.add(place.clone(), text(&[&frame[..], &own].concat()));
            set.add(place, text(&[&frame[..], &own].concat()));
        }
        assert_eq!(set.items.len(), 12);
        let unnamed: Vec<_> = set.forget_frames().into_iter().map(|place| place.line).collect();
        assert_eq!(unnamed, [Some(0)]);
        assert!(set.find(&text(&frame)).is_empty());
        let found = set.find(&text(&(300..308).collect::<Vec<_>>()));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.line, found[0].2), (Some(3), 1.0));
    }

    proptest! {
        /// Hits are those of a comparison of each document with each item, run by run.
        #[test]
        fn hits_are_those_of_brute_force(
            items in prop::collection::vec(prop::collection::vec(0u32..4, 0..16), 0..6),
            document in prop::collection::vec(0u32..4, 0..40),
            run in 1usize..13,
        ) {
            let mut set = TestSet { run, ..TestSet::default() };
            for (line, item) in (0..).zip(&items) {
                set.add(DocumentPlace { line: Some(line), ..DocumentPlace::default() }, text(item));
            }
            let found: Vec<u64> = set.find(&text(&document)).into_iter().filter_map(|(place, ..)| place.line).collect();
            let expected: Vec<u64> = (0..).zip(&items).filter(|(line, item)| {
                let length = run.min(item.len());
                let is_first = !items[..*line as usize].contains(item);
                is_first && length >= LEAST.min(run) && item.windows(length).any(|run| has_run(&document, run))
            }).map(|(line, _)| line).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
