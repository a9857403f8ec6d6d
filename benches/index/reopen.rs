//! Measures the cost of storing records on disk and of opening them again.
//!
//! The records are those of the last synthetic set, as if each were a stored page. The bench packs and commits them to a
//! real store, then reads them back page by page and through a snapshot.

use std::path::Path;

use ndcrawl::detect::{Decider, InMemory, Options};
use ndcrawl::model::{
    Batch, Digest, Discovery, FieldCounts, FieldWeights, LinkKind, PageId, PageRow, PageTerms, Sequence, TermId,
    TermOrder, UrlId, UrlRow, UrlState, Verdict,
};
use ndcrawl::similarity::Record;
use ndcrawl::store::{self, Identity, SnapshotHead, Store, StoreReader};

use crate::clock::Moment;
use crate::table::{Printer, Row};

/// Pages per commit, as in the crawler.
const BATCH: usize = 100;
/// Maximum pages after a snapshot, relative to the pages that it covers.
const TAIL: usize = 16;

type Error = Box<dyn std::error::Error>;

pub fn run(printer: Printer, name: &str, records: &[Record]) -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("ndcrawl-reopen-{}", std::process::id()));
    let measured = measure(&folder, name, records);
    // Remove the records even after an error.
    let _ = std::fs::remove_dir_all(&folder);
    printer.table("Records on disk, seconds of one thread", &[measured?]);
    Ok(())
}

fn measure(folder: &Path, name: &str, records: &[Record]) -> Result<Row, Error> {
    let mut row = Row::default();
    row.text("set", name);
    let options = store::Options { min_free: 0, ..store::Options::default() };
    let (mut store, _) = Store::open(folder, options, &Identity::new(String::new(), ""))?;
    let (mut packing_micros, mut names_micros, mut records_micros) = (0.0, 0.0, 0.0);
    let mut terms = 0;
    for (number, records) in (0..).step_by(BATCH).zip(records.chunks(BATCH)) {
        let counted: Vec<Vec<_>> = records.iter().map(counted).collect();
        let began = Moment::now();
        let packed: Vec<PageTerms> = counted.into_iter().map(PageTerms::new).collect();
        packing_micros += began.micros();
        let mut names = batch(number, records, packed, &mut terms);
        let pages = Batch { pages: std::mem::take(&mut names.pages), ..Batch::default() };
        let began = Moment::now();
        store.commit(names)?;
        names_micros += began.micros();
        let began = Moment::now();
        store.commit(pages)?;
        records_micros += began.micros();
    }
    row.number("µs/record to log", records_micros / records.len() as f64);
    row.number("its terms packed", packing_micros / records.len() as f64);
    row.number("its URL and new terms", names_micros / records.len() as f64);

    let reader = store.reader();
    let began = Moment::now();
    let mut decider = decider();
    restore(&reader, &mut decider, 0)?;
    row.number("from the log", began.micros() / 1e6);

    let began = Moment::now();
    let head = |decider: &Decider<InMemory>| SnapshotHead {
        signature: "bench".to_owned(),
        pages: decider.stats().judged as u32,
        terms: decider.vocabulary().len() as u32,
        last_page: decider.last_page(),
    };
    reader.write_snapshot(&head(&decider), |out| decider.save(out))?.publish()?;
    row.number("snapshot written", began.micros() / 1e6);
    row.number("MB", std::fs::metadata(folder.join("store/index.snapshot"))?.len() as f64 / 1e6);
    row.number("read", open(&reader)?);

    let covered = records.len() * TAIL / (TAIL + 1);
    let mut decider = self::decider();
    for term in reader.all_terms()? {
        decider.restore_term(&term?.1)?;
    }
    for page in reader.all_pages()?.take(covered) {
        let (sequence, page) = page?;
        decider.restore_page(sequence, 0, &page.judged())?;
    }
    reader.write_snapshot(&head(&decider), |out| decider.save(out))?.publish()?;
    drop(decider);
    row.number("read with the longest tail", open(&reader)?);
    store.close()?;
    Ok(row)
}

/// Reads the snapshot and the pages after it. Returns seconds.
fn open(reader: &StoreReader) -> Result<f64, Error> {
    let began = Moment::now();
    let mut decider = decider();
    let (head, mut input) = reader.snapshot("bench").ok_or("the snapshot is not sound")?;
    decider.load(&mut input)?;
    restore(reader, &mut decider, head.pages)?;
    Ok(began.micros() / 1e6)
}

fn restore(reader: &StoreReader, decider: &mut Decider<InMemory>, from: u32) -> Result<(), Error> {
    for term in reader.terms_from(TermId(decider.vocabulary().len() as u32))? {
        decider.restore_term(&term?.1)?;
    }
    for page in reader.pages_from(Sequence(from))? {
        let (sequence, page) = page?;
        decider.restore_page(sequence, 0, &page.judged())?;
    }
    Ok(())
}

/// Weights of 0.01 per occurrence, so that a count equals a weight.
fn decider() -> Decider<InMemory> {
    let weights = FieldWeights([0, 0, 0, 0, 0, 0, 0, 1]);
    Decider::new(Options { weights, ..Options::default() }, InMemory)
}

fn batch(first: u32, records: &[Record], packed: Vec<PageTerms>, terms: &mut u32) -> Batch {
    let url = |number: u32| format!("http://example.com/a/path/of/some/length/{number}.html");
    let last = records.iter().filter_map(|record| record.terms().last()).map(|(term, _)| term.0 + 1).max();
    let known = std::mem::replace(terms, last.unwrap_or(0).max(*terms));
    Batch {
        urls: (first..)
            .take(records.len())
            .map(|number| UrlRow {
                url: url(number),
                discovery: Discovery::new(LinkKind::Page, None, 1),
                state: UrlState::Queued,
                clue: None,
            })
            .collect(),
        terms: (known..*terms).map(|term| format!("term{term}").into()).collect(),
        pages: (first..)
            .zip(packed)
            .map(|(number, terms)| PageRow {
                url: UrlId(number),
                page: PageId::new("bench", &url(number), 0),
                group: 0,
                fetched_at: None,
                body_digest: Digest::of(&number.to_le_bytes()),
                text_digest: Some(Digest::of(url(number).as_bytes())),
                verdict: Verdict::Unique,
                terms,
                least_weight: 0,
                order: TermOrder::default(),
                links: Vec::new(),
                location: None,
                renews: None,
                kind: ndcrawl::model::PageKind::Page,
                relevance: None,
            })
            .collect(),
        ..Batch::default()
    }
}

/// Returns the terms of a record, as the vocabulary has them.
fn counted(record: &Record) -> Vec<(TermId, FieldCounts)> {
    record.terms().iter().map(|&(term, weight)| (term, FieldCounts([0, 0, 0, 0, 0, 0, 0, weight]))).collect()
}
