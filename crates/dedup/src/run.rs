//! Sets the parts up and runs them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use ndcrawl_engine::documents::Readers;
use ndcrawl_engine::pipeline::{
    ArchivePolicy, CommitProgress, ContentReader, DecisionStage, IndexSnapshots, LiveStats, PipelineError, StopReason,
    commit_all, restore_decider, snapshot_signature,
};
use ndcrawl_model::{Fetched, HostRow, Normalizer, Sequence, Totals, UrlId, capture_key, split_capture_key};
use ndcrawl_store::{Identity, Store};
use neardup::detect::DeciderStats;

use super::input::{IgnoredFile, InputDamage, InputDocument, InputItem};
use super::input_report::InputReports;
use super::intake::Intake;
use super::names::{self, Named, RowNames};
use super::rendering::{Done, Note, Work, pipe};
use super::setup::{DedupSetup, SameUrl};

/// Longest ending of a file's name by which it is counted.
const LONGEST_ENDING: usize = 10;

/// Counts captures by the hashes of their URLs. Those that come once take no more than the hash.
#[derive(Default)]
struct Captures {
    once: HashSet<u128>,
    again: HashMap<u128, u32>,
}

impl Captures {
    /// Counts a capture. Returns how many there are by now.
    fn add(&mut self, url: u128) -> u32 {
        if self.once.insert(url) {
            return 1;
        }
        let count = self.again.entry(url).or_insert(1);
        *count = count.saturating_add(1);
        *count
    }

    /// Returns how many captures there are of the URL of a document. A document without URL is the only one of its name.
    fn of(&self, document: &InputDocument, url: u128) -> u32 {
        if document.fetched.url.file().is_some() { 1 } else { self.count(url) }
    }

    fn count(&self, url: u128) -> u32 {
        let once = u32::from(self.once.contains(&url));
        self.again.get(&url).copied().unwrap_or(once)
    }
}

fn hash(url: &str) -> u128 {
    xxh3_128(url.as_bytes())
}

/// Counts of what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// Answers that were read.
    pub answers: u64,
    /// Answers that an earlier run had committed.
    pub known: u64,
    /// Answers that were passed over, because another one of their URL is kept.
    pub repeated: u64,
    /// Documents without URL.
    pub without_url: u64,
    /// Of these, documents whose id had come before: they are known by file and line.
    pub renamed: u64,
    /// Answers whose records state another digest than they have, although a checksum says that they are sound.
    pub other_digests: u64,
    /// Records that speak of no answer of their own.
    pub passed: u64,
    /// Files of folders that hold nothing that is read, by the endings of their names, each with the first one.
    pub ignored: BTreeMap<String, (u64, String)>,
    /// Bytes of bodies.
    pub bytes: u64,
    /// What the files gave.
    pub inputs: InputReports,
}

/// The result of a run.
#[derive(Debug)]
pub struct DedupEnding {
    /// Input of this run.
    pub tally: InputCounts,
    /// The totals of all runs.
    pub totals: Totals,
    /// Counters by origin.
    pub hosts: Vec<HostRow>,
    /// Why the run ended: the input ended, a stop was requested, or the disk has too little free space.
    pub reason: StopReason,
    /// Duplicates that were not decided again, because a stream cannot be read twice.
    pub not_revised: u64,
}

/// A run whose state is restored.
pub struct Dedup {
    setup: DedupSetup,
    reader: ContentReader,
    store: Store,
    intake: Intake,
    /// Captures that an earlier run has committed.
    known: Captures,
    names: RowNames,
}

/// A view of a run, for progress output.
#[derive(Clone)]
pub struct DedupWatch {
    live: Arc<LiveStats>,
}

impl DedupWatch {
    /// The totals of all runs.
    pub fn totals(&self) -> Totals {
        self.live.totals()
    }

    /// The index.
    pub fn index(&self) -> DeciderStats {
        self.live.index()
    }
}

impl Dedup {
    /// Resumes the run in `store`, or begins one. Cost: reads all URLs in the store, and the records since the last
    /// index snapshot.
    pub fn open(mut setup: DedupSetup, store: Store, identity: &Identity) -> Result<Self, PipelineError> {
        let reader = store.reader();
        let against = setup.against.clone();
        let (decided, covered) = restore_decider(&setup.detect, &reader, against.as_ref())?;
        let signature = snapshot_signature(&setup.detect, against.as_deref());
        let (mut known, mut names) = (Captures::default(), RowNames::default());
        for row in reader.all_urls()? {
            let (_, row) = row?;
            names.restore(&row.url);
            known.add(hash(split_capture_key(&row.url).0));
        }
        let hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        let mark = store.mark();
        let snapshots = IndexSnapshots::new(reader.clone(), signature, setup.snapshot_after, covered);
        let policy = ArchivePolicy { obey_noarchive: setup.obey_noarchive, keep_duplicates: setup.keep_duplicates };
        let (counters, logged) = ((mark.totals, hosts), (mark.pages, mark.terms));
        let intake = Intake {
            crawl: identity.crawl.clone(),
            stage: DecisionStage::new(decided, reader, counters, snapshots, against, policy, logged),
            next_url: mark.urls,
            waiting: Vec::new(),
            commits: None,
        };
        let documents = setup.documents.take().map(Readers::new);
        let reader = ContentReader::new(setup.renderer.clone(), documents);
        Ok(Self { setup, reader, store, intake, known, names })
    }

    /// Returns a view of the run for other threads.
    pub fn watch(&self) -> DedupWatch {
        DedupWatch { live: self.intake.stage.live.clone() }
    }

    /// Decides all pages that earlier runs have not decided, and closes the store. Counts bytes read in `bytes`; `stop`
    /// ends the reading.
    pub fn run(mut self, bytes: &AtomicU64, stop: &AtomicBool) -> Result<DedupEnding, PipelineError> {
        self.store.reopen()?;
        self.intake.stage.progress.check_disk(&self.store)?;
        let stop = ReadingStop { asked: stop, committed: self.intake.stage.progress.clone() };
        let (known, mut names) = (std::mem::take(&mut self.known), std::mem::take(&mut self.names));
        let (same_url, all) = (self.setup.same_url, self.count_captures(&stop));
        let (mut seen, mut named) = (Captures::default(), NameCounts::default());
        let normalizer = self.setup.input.normalizer.clone();
        // Redirects to another spelling of their own URL. Each belongs to the page that follows, if one does.
        let (mut withheld, mut order) = (HashMap::<u128, (Url, Box<InputDocument>)>::new(), VecDeque::new());
        let (mut other_digests, mut alone) = (0, 0);
        let sift = |item: Option<InputItem>| match item {
            None if stop.is_asked() => None,
            None => loop {
                let url = order.pop_front()?;
                let redirect = withheld.remove(&url).filter(|_| seen.count(url) == 0);
                let Some((_, document)) = redirect else { continue };
                alone += 1;
                break Some(match known.count(url) {
                    0 => Work::Answer(document, 1, None),
                    _ => Work::Note(Note::Known),
                });
            },
            Some(InputItem::Opened(file)) => Some(Work::Note(Note::Opened(file))),
            Some(InputItem::Passed) => Some(Work::Note(Note::Passed)),
            Some(InputItem::Ignored(file)) => Some(Work::Note(Note::Ignored(file))),
            Some(InputItem::Damaged(damage)) => Some(Work::Note(Note::Damaged(damage))),
            Some(InputItem::Answer(mut answer)) => {
                other_digests += u64::from(answer.is_digest_other);
                if let Err(taken) = named.name(&mut names, &mut answer, &seen) {
                    return Some(Work::Note(Note::Damaged(taken)));
                }
                let url = names::key(&answer.fetched.url);
                if let Some(spelling) = own_spelling(&answer.fetched, &normalizer) {
                    // Nobody reads what a redirect says.
                    answer.fetched.body = Vec::new();
                    withheld.insert(url, (spelling, answer));
                    order.push_back(url);
                    return Some(Work::Note(Note::Passed));
                }
                answer.fetched.spelling = withheld.remove(&url).map(|(spelling, _)| spelling);
                Some(match same_url.choose(seen.add(url), all.of(&answer, url)) {
                    None => Work::Note(Note::Repeated),
                    Some(capture) if capture <= known.count(url) => Work::Note(Note::Known),
                    Some(capture) => Work::Answer(answer, capture, None),
                })
            }
        };
        let mut tally = InputCounts::default();
        self.pass(bytes, &stop, sift, &mut tally)?;
        tally.inputs.end(stop.is_asked());
        (tally.without_url, tally.renamed) = (named.without_url, named.renamed);
        // When they came they were taken for a part of the page that follows.
        (tally.passed, tally.other_digests) = (tally.passed - alone, other_digests);
        self.names = names;

        let mut not_revised = self.look_again(&all, &stop)?;
        while self.exchange(&stop)? {
            not_revised = self.look_again(&all, &stop)?;
        }
        self.end(tally, stop.reason(), not_revised)
    }

    /// Decides duplicates again until none is outdated. Returns how many are left because the input cannot be read twice.
    fn look_again(&mut self, all: &Captures, stop: &ReadingStop<'_>) -> Result<u64, PipelineError> {
        let mut from = Sequence(0);
        while !stop.is_asked() {
            let outdated = self.intake.stage.outdated(from)?;
            from = Sequence(self.intake.stage.page_urls.len() as u32);
            if outdated.is_empty() {
                break;
            }
            if !self.setup.inputs.can_be_read_again() {
                return Ok(outdated.len() as u64);
            }
            self.revise(&outdated, all, stop)?;
        }
        Ok(0)
    }

    /// Counts the captures of each URL, if the last one is wanted.
    fn count_captures(&self, stop: &ReadingStop<'_>) -> Captures {
        let mut all = Captures::default();
        if self.setup.same_url == SameUrl::Last {
            let unseen = AtomicU64::new(0);
            for item in self
                .setup
                .inputs
                .items(&self.setup.input, &unseen, &|| stop.is_asked())
                .take_while(|_| !stop.is_asked())
            {
                if let InputItem::Answer(answer) = item
                    && answer.fetched.url.file().is_none()
                    && own_spelling(&answer.fetched, &self.setup.input.normalizer).is_none()
                {
                    all.add(names::key(&answer.fetched.url));
                }
            }
        }
        all
    }

    /// Reads the input once: `sift` chooses what is decided and committed. Behind the last item it is asked for what it
    /// has withheld.
    fn pass(
        &mut self,
        bytes: &AtomicU64,
        stop: &ReadingStop<'_>,
        sift: impl FnMut(Option<InputItem>) -> Option<Work> + Send,
        tally: &mut InputCounts,
    ) -> Result<(), PipelineError> {
        self.committing(|setup, pages, intake| {
            pipe(setup.reading(pages), bytes, &|| stop.is_asked(), sift, |done| take(intake, tally, done))
        })
    }

    /// Has the copies that the user's rule prefers take the place of those that were decided first. Returns whether any has.
    fn exchange(&mut self, stop: &ReadingStop<'_>) -> Result<bool, PipelineError> {
        let clusters = self.intake.stage.clusters(&self.setup.keep_rule);
        if clusters.is_empty() {
            return Ok(false);
        }
        self.committing(|setup, _, intake| {
            let mut is_any = false;
            for cluster in clusters.iter().take_while(|_| !stop.is_asked()) {
                is_any |= intake.exchange(&setup.keep_rule, cluster)?;
            }
            Ok(is_any)
        })
    }

    /// Runs `work`, and commits what it and the intake make, in a thread of its own.
    fn committing<T>(
        &mut self,
        work: impl FnOnce(&DedupSetup, &ContentReader, &mut Intake) -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let Self { setup, reader: pages, store, intake, .. } = self;
        let archive = store.archive();
        std::thread::scope(|scope| {
            let (commits, batches) = sync_channel(0);
            intake.commits = Some(commits);
            let progress = intake.stage.progress.clone();
            let reader = setup.keep_text.then_some(&setup.renderer);
            let committer = scope.spawn(move || commit_all(store, (&archive, reader), None, batches, &progress, drop));
            let judged = work(setup, pages, intake).and_then(|done| intake.flush().map(|()| done));
            intake.commits = None;
            let committed = committer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // If the committer has failed, the decision stage stopped only because of that.
            committed.and(judged)
        })
    }

    /// Reads the input once more and revises these near-duplicates.
    fn revise(
        &mut self,
        outdated: &[(UrlId, Sequence)],
        all: &Captures,
        stop: &ReadingStop<'_>,
    ) -> Result<(), PipelineError> {
        let mut wanted = HashMap::new();
        for (id, page) in outdated {
            let row = self.intake.stage.reader.url(*id)?.ok_or(PipelineError::Lost { what: "URL", id: id.0 })?;
            wanted.insert(hash(&row.url), *page);
        }
        let (mut names, mut named) = (std::mem::take(&mut self.names), NameCounts::default());
        let normalizer = self.setup.input.normalizer.clone();
        let (same_url, mut seen) = (self.setup.same_url, Captures::default());
        let sift = |item: Option<InputItem>| {
            Some(match item? {
                InputItem::Answer(answer) if own_spelling(&answer.fetched, &normalizer).is_some() => {
                    Work::Note(Note::Passed)
                }
                InputItem::Answer(mut answer) => {
                    if answer.fetched.url.file().is_some() && named.name(&mut names, &mut answer, &seen).is_err() {
                        return Some(Work::Note(Note::Passed));
                    }
                    let url = names::key(&answer.fetched.url);
                    let capture = same_url.choose(seen.add(url), all.of(&answer, url));
                    let key = |capture| hash(&capture_key(answer.fetched.url.as_str(), capture));
                    let page = capture.and_then(|capture| wanted.remove(&key(capture)));
                    match (capture, page) {
                        (Some(capture), Some(page)) => Work::Answer(answer, capture, Some(page)),
                        _ => Work::Note(Note::Known),
                    }
                }
                _ => Work::Note(Note::Passed),
            })
        };
        self.pass(&AtomicU64::new(0), stop, sift, &mut InputCounts::default())?;
        self.names = names;
        Ok(())
    }

    fn end(self, tally: InputCounts, reason: StopReason, not_revised: u64) -> Result<DedupEnding, PipelineError> {
        let mut store = self.store;
        let (hosts, snapshots) = self.intake.stage.end();
        if let Some(mut snapshots) = snapshots {
            snapshots.publish(store.mark().pages);
        }
        if reason == StopReason::Finished {
            store.finish::<PipelineError>([])?;
        }
        store.close()?;
        let (totals, hosts) = hosts.into_parts();
        Ok(DedupEnding { tally, totals, hosts, reason, not_revised })
    }
}

/// Counts documents without URL.
#[derive(Default)]
struct NameCounts {
    without_url: u64,
    renamed: u64,
}

impl NameCounts {
    /// Gives a document its name.
    fn name(&mut self, names: &mut RowNames, document: &mut InputDocument, seen: &Captures) -> Result<(), InputDamage> {
        if document.fetched.url.file().is_none() {
            return Ok(());
        }
        match names.name(document, |key| seen.count(key) > 0) {
            Named::Own => {}
            Named::ByPlace => self.renamed += 1,
            Named::Taken => {
                let row =
                    document.row.as_ref().map_or(String::new(), |row| format!("{}, row {}", row.file, row.number));
                let name = document.fetched.url.shown().into_owned();
                let why = format!("another document is named '{name}'; give each row an id of its own (--id-field)");
                return Err(InputDamage::new(row, why));
            }
        }
        self.without_url += 1;
        Ok(())
    }
}

/// Whether the reader should stop, and why.
struct ReadingStop<'a> {
    asked: &'a AtomicBool,
    committed: Arc<CommitProgress>,
}

impl ReadingStop<'_> {
    fn is_asked(&self) -> bool {
        self.reason() != StopReason::Finished
    }

    fn reason(&self) -> StopReason {
        match (self.committed.is_disk_full(), self.asked.load(Ordering::Relaxed)) {
            (true, _) => StopReason::DiskFull,
            (false, true) => StopReason::Signal,
            (false, false) => StopReason::Finished,
        }
    }
}

impl DedupEnding {
    /// Returns the number of answers by the name of their outcome.
    pub fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        self.totals.outcomes.iter().map(|(kind, count)| (kind.name(), *count)).collect()
    }
}

fn take(intake: &mut Intake, tally: &mut InputCounts, done: Done) -> Result<(), PipelineError> {
    if matches!(done, Done::Answer(..) | Done::Note(Note::Known | Note::Repeated)) {
        tally.inputs.answer();
    }
    match done {
        Done::Note(Note::Opened(file)) => tally.inputs.open(file),
        Done::Answer(arrival, renews) => {
            tally.answers += 1;
            tally.bytes += arrival.fetched.body.len() as u64;
            intake.take(arrival, renews)?;
        }
        Done::Note(Note::Known) => (tally.answers, tally.known) = (tally.answers + 1, tally.known + 1),
        Done::Note(Note::Repeated) => (tally.answers, tally.repeated) = (tally.answers + 1, tally.repeated + 1),
        Done::Note(Note::Passed) => {
            tally.passed += 1;
            tally.inputs.passed();
        }
        Done::Note(Note::Ignored(file)) => {
            tally.inputs.ignored(&file);
            tally.ignored.entry(ignored_kind(&file)).or_insert((0, file.place)).0 += 1;
        }
        Done::Note(Note::Damaged(damage)) => tally.inputs.damaged(&damage),
    }
    Ok(())
}

/// Returns the spelling to which an answer redirects, if it is one of the same URL: its page follows in the input.
fn own_spelling(answer: &Fetched, normalizer: &Normalizer) -> Option<Url> {
    let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
    let location = is_redirect.then(|| answer.location())??;
    let to = normalizer.resolve_spelled(answer.address_requested(), &location).ok()?;
    (to.url == answer.url).then_some(to.spelling)
}

/// Returns the ending of an ignored file's name and what it holds, for counting.
fn ignored_kind(file: &IgnoredFile) -> String {
    let ending = Path::new(&file.place).extension().and_then(|ending| ending.to_str());
    let ending = ending.filter(|ending| ending.len() <= LONGEST_ENDING);
    let ending = ending.map_or("no ending".to_owned(), |ending| format!(".{}", ending.to_ascii_lowercase()));
    format!("{ending} ({}{})", if file.is_lost { "not read: " } else { "" }, file.what)
}
