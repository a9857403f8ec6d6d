//! Sets the parts up and runs them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use xxhash_rust::xxh3::xxh3_128;

use crate::crawl::parts::{Book, Sealed, Snapshots, read, restored_decider, snapshot_signature};
use crate::crawl::{Against, CrawlError};
use crate::detect;
use crate::fetch::no_text;
use crate::record::{Fetched, HostRow, Sequence, Totals, UrlId};
use crate::render::Renderer;
use crate::store::{Identity, Store};

use super::input::{Damage, Inputs, Item, Options as InputOptions};
use super::judge::{Arrival, Judge, Read};

/// Answers that may wait before and behind each renderer.
const WAITING: usize = 16;
/// What can't be read is named so often; all of it is counted.
const MOST_NAMED: usize = 20;

/// Everything that a run is set up with.
#[allow(missing_docs)]
pub struct Setup {
    pub inputs: Inputs,
    pub input: InputOptions,
    pub detect: detect::Options,
    /// Pages of earlier crawls that are compared with.
    pub against: Option<Arc<Against>>,
    pub renderer: Renderer,
    /// Media types that are pages.
    pub accepts: Box<dyn Fn(&str) -> bool + Sync>,
    /// Memory of the index in octets; `None` for no bound.
    pub index_memory: Option<u64>,
    /// A snapshot of the index is written after so many pages.
    pub snapshot_after: u32,
    pub obey_noarchive: bool,
    pub keep_duplicates: bool,
}

/// What was read besides pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Answers that were read.
    pub answers: u64,
    /// Of them, those that an earlier run had committed.
    pub known: u64,
    /// Answers whose address had come before.
    pub repeated: u64,
    /// Records that speak of no answer of their own.
    pub passed: u64,
    /// What could not be read.
    pub damaged: u64,
    /// The first of these.
    pub damages: Vec<Damage>,
    /// Octets of bodies.
    pub octets: u64,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ending {
    /// What was read in this run.
    pub tally: Tally,
    /// The counters of all runs.
    pub totals: Totals,
    /// By origin.
    pub hosts: Vec<HostRow>,
    /// Whether a stop was asked for before all was read.
    pub is_stopped: bool,
    /// Near-duplicates that should be judged anew, which takes reading the input once more, and it was a
    /// stream.
    pub not_revised: u64,
}

/// A run whose state is restored.
pub struct Dedup {
    setup: Setup,
    judge: Judge,
    /// The hashes of the URLs that an earlier run has committed.
    known: HashSet<u128>,
}

/// What the reader hands on.
enum Work {
    Answer(Box<Fetched>, Option<Sequence>),
    Note(Note),
}

enum Note {
    Known,
    Repeated,
    Passed,
    Damaged(Damage),
}

/// What a renderer hands on.
enum Done {
    Answer(Arrival, Option<Sequence>),
    Note(Note),
}

impl Dedup {
    /// Takes up what `store` holds, or begins it. Cost: reads all URLs that it holds, and the records that
    /// came after the last snapshot of the index.
    pub fn open(setup: Setup, store: Store, identity: &Identity) -> Result<Self, CrawlError> {
        let reader = store.reader();
        let against = setup.against.clone();
        let ((decider, page_urls), covered) =
            restored_decider(&setup.detect, setup.index_memory, &reader, against.as_ref())?;
        let signature = snapshot_signature(&setup.detect, against.as_deref());
        let mut known = HashSet::new();
        for row in reader.all_urls()? {
            known.insert(xxh3_128(row?.1.url.as_bytes()));
        }
        let hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        let judge = Judge {
            crawl: identity.crawl.clone(),
            archive: store.archive(),
            decider,
            page_urls,
            book: Book::restore(store.mark().totals, hosts),
            snapshots: Snapshots::new(reader.clone(), signature, setup.snapshot_after, covered),
            obey_noarchive: setup.obey_noarchive,
            keep_duplicates: setup.keep_duplicates,
            next_url: store.mark().urls,
            waiting: Vec::new(),
            building: Sealed::begun(against.as_deref(), store.mark().terms),
            against,
            fresh: HashMap::new(),
            reader,
            store,
        };
        Ok(Self { setup, judge, known })
    }

    /// Judges all that is read and not known, and closes the store. `octets` counts what was read of the
    /// files; `stop` ends the reading.
    pub fn run(mut self, octets: &AtomicU64, stop: &AtomicBool) -> Result<Ending, CrawlError> {
        self.judge.store.reopen()?;
        let mut seen = HashSet::new();
        let known = std::mem::take(&mut self.known);
        let sift = |item: Item| match item {
            Item::Passed => Work::Note(Note::Passed),
            Item::Damaged(damage) => Work::Note(Note::Damaged(damage)),
            Item::Answer(answer) => {
                let hash = xxh3_128(answer.url.as_str().as_bytes());
                match (seen.insert(hash), known.contains(&hash)) {
                    (false, _) => Work::Note(Note::Repeated),
                    (true, true) => Work::Note(Note::Known),
                    (true, false) => Work::Answer(answer, None),
                }
            }
        };
        let mut tally = Tally::default();
        pipe(&self.setup, octets, stop, sift, |done| take(&mut self.judge, &mut tally, done))?;
        self.judge.flush()?;

        let outgrown = if stop.load(Ordering::Relaxed) { HashMap::new() } else { self.judge.outgrown()? };
        let mut not_revised = 0;
        if self.setup.inputs.can_be_read_again() {
            self.revise(&outgrown, stop)?;
        } else {
            not_revised = outgrown.len() as u64;
        }
        self.end(tally, stop.load(Ordering::Relaxed), not_revised)
    }

    /// Reads everything once more for the pages that are to be judged anew.
    fn revise(&mut self, outgrown: &HashMap<UrlId, Sequence>, stop: &AtomicBool) -> Result<(), CrawlError> {
        if outgrown.is_empty() {
            return Ok(());
        }
        let mut wanted = HashMap::new();
        for (id, page) in outgrown {
            let row = self.judge.reader.url(*id)?.ok_or(CrawlError::Lost { what: "URL", id: id.0 })?;
            wanted.insert(xxh3_128(row.url.as_bytes()), *page);
        }
        let sift = |item: Item| match item {
            Item::Answer(answer) => match wanted.remove(&xxh3_128(answer.url.as_str().as_bytes())) {
                Some(page) => Work::Answer(answer, Some(page)),
                None => Work::Note(Note::Known),
            },
            _ => Work::Note(Note::Passed),
        };
        let mut again = Tally::default();
        pipe(&self.setup, &AtomicU64::new(0), stop, sift, |done| take(&mut self.judge, &mut again, done))?;
        self.judge.flush()
    }

    fn end(self, tally: Tally, is_stopped: bool, not_revised: u64) -> Result<Ending, CrawlError> {
        let Judge { mut store, mut snapshots, decider, page_urls, book, .. } = self.judge;
        snapshots.finish(&decider, &page_urls);
        snapshots.publish(store.mark().pages);
        if !is_stopped {
            store.finish::<CrawlError>([])?;
        }
        store.close()?;
        let (totals, hosts) = book.into_parts();
        Ok(Ending { tally, totals, hosts, is_stopped, not_revised })
    }
}

/// The counters by outcome, as their names have it.
impl Ending {
    /// How many answers came to what, by the outcome's name.
    pub fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        self.totals.outcomes.iter().map(|(kind, count)| (kind.name(), *count)).collect()
    }
}

fn take(judge: &mut Judge, tally: &mut Tally, done: Done) -> Result<(), CrawlError> {
    match done {
        Done::Answer(arrival, renews) => {
            tally.answers += 1;
            tally.octets += arrival.fetched.body.len() as u64;
            judge.take(arrival, renews)?;
        }
        Done::Note(Note::Known) => (tally.answers, tally.known) = (tally.answers + 1, tally.known + 1),
        Done::Note(Note::Repeated) => (tally.answers, tally.repeated) = (tally.answers + 1, tally.repeated + 1),
        Done::Note(Note::Passed) => tally.passed += 1,
        Done::Note(Note::Damaged(damage)) => {
            tally.damaged += 1;
            if tally.damages.len() < MOST_NAMED {
                tally.damages.push(damage);
            }
        }
    }
    Ok(())
}

/// Reads, sifts and renders everything, and hands it on in order.
fn pipe(
    setup: &Setup,
    octets: &AtomicU64,
    stop: &AtomicBool,
    mut sift: impl FnMut(Item) -> Work + Send,
    mut take: impl FnMut(Done) -> Result<(), CrawlError>,
) -> Result<(), CrawlError> {
    let renderers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let (mut inlets, mut outlets) = (Vec::new(), Vec::new());
        for _ in 0..renderers {
            let (inlet, work) = sync_channel(WAITING);
            let (done, outlet) = sync_channel(WAITING);
            scope.spawn(move || render_all(setup, &work, &done));
            inlets.push(inlet);
            outlets.push(outlet);
        }
        scope.spawn(move || {
            let items = setup.inputs.items(&setup.input, octets).take_while(|_| !stop.load(Ordering::Relaxed));
            for (item, inlet) in items.zip(inlets.iter().cycle()) {
                // A closed channel means that the judge has failed, which says why.
                if inlet.send(sift(item)).is_err() {
                    break;
                }
            }
        });
        for outlet in outlets.iter().cycle() {
            match outlet.recv() {
                Ok(done) => take(done)?,
                Err(_) => break,
            }
        }
        Ok(())
    })
}

fn render_all(setup: &Setup, work: &Receiver<Work>, done: &SyncSender<Done>) {
    for work in work {
        let result = match work {
            Work::Note(note) => Done::Note(note),
            Work::Answer(fetched, renews) => {
                let fetched: Arc<Fetched> = Arc::from(fetched);
                let is_page = (200..300).contains(&fetched.status)
                    && (setup.accepts)(&fetched.media_type())
                    && no_text(&fetched.body).is_none_or(|found| (setup.accepts)(found));
                let read = is_page.then(|| {
                    read(&setup.renderer, &fetched).map(|(rendered, body_digest, payload_digest)| Read {
                        rendered,
                        body_digest,
                        payload_digest,
                    })
                });
                Done::Answer(Arrival { fetched, read }, renews)
            }
        };
        if done.send(result).is_err() {
            return;
        }
    }
}
