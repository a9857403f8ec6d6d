//! Counts again, from the stored texts, what dropped pages lose.
//!
//! The log of a folder has the words of each decided page, also of those that were dropped. So every number can be counted
//! again by nothing but the words of two pages, and it can be asked which of the lost words stand in another kept page.
//! Where the archive has a body, the words are read from it again, too: they must be those of the log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::ReportError;
use ndcrawl_model::{MostLost, OutcomeKind, PageLine, PageRow, RunningText, Sequence, UrlId, Verdict, shown_url};
use ndcrawl_store::{ArchiveReader, PageLines, StoreReader};
use pagetext::PageReader;

/// The cache of the store, in bytes.
const CACHE_BYTES: u64 = 64 << 20;
/// Most problems that are listed. The others are counted.
const MOST_PROBLEMS: usize = 100;
/// The most runs of lost words in memory, some 18 bytes each.
const MOST_RUNS: usize = 1 << 24;

/// What was counted again, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossCheck {
    /// Near-duplicates whose words were counted.
    pub near_duplicates: u64,
    /// Their words.
    pub words: u64,
    /// Those that stand in no run of the page kept in their place.
    pub lost: u64,
    /// Of these, those that stand in no run of any kept page; `None` if there are too many to look for.
    pub lost_everywhere: Option<u64>,
    /// Exact duplicates whose bytes or text are those of the kept page.
    pub exact_duplicates: u64,
    /// Pages whose words were read again from the archive.
    pub read_again: u64,
    /// Pages whose words are those that the log has: the archive has no body of them.
    pub without_body: u64,
    /// What could not be checked, by the reason.
    pub unchecked: BTreeMap<&'static str, u64>,
    /// The first problems, each with its URL.
    pub problems: Vec<String>,
    /// Number of all problems, listed or not.
    pub problem_count: u64,
}

impl LossCheck {
    /// Checks the folder of a run that compared own words. `texts` must read pages as the run did. `most` is the bound that
    /// it kept.
    ///
    /// Cost: reads lines, log and archive once, and renders each archived page.
    ///
    /// # Errors
    /// If the folder holds no crawl or is in use, or if lines or log cannot be read.
    pub fn of(folder: &Path, texts: PageReader, most: Option<MostLost>) -> Result<Self, ReportError> {
        let (log, _) = StoreReader::open(folder, CACHE_BYTES)?;
        let mut checker = Checker {
            rows: LatestRows::read(&log)?,
            log,
            archive: ArchiveReader::new(folder),
            texts,
            most,
            losing: Vec::new(),
            lost_runs: Some(HashMap::new()),
            check: Self::default(),
        };
        for line in PageLines::open(folder)? {
            checker.line(&line?)?;
        }
        let lost_everywhere = checker.lost_everywhere()?;
        Ok(Self { lost_everywhere, ..checker.check })
    }

    fn problem(&mut self, text: String) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(text);
        }
    }

    fn cannot_check(&mut self, why: &'static str) {
        *self.unchecked.entry(why).or_default() += 1;
    }
}

/// The last decision on each URL.
struct LatestRows {
    ids: HashMap<u128, UrlId>,
    of_url: HashMap<UrlId, Sequence>,
}

impl LatestRows {
    fn read(log: &StoreReader) -> Result<Self, ReportError> {
        let mut ids = HashMap::new();
        for row in log.all_urls()? {
            let (id, row) = row?;
            ids.insert(xxh3_128(shown_url(&row.url).as_bytes()), id);
        }
        let mut of_url = HashMap::new();
        for row in log.all_pages()? {
            let (number, row) = row?;
            of_url.insert(row.url, number);
        }
        Ok(Self { ids, of_url })
    }

    fn of_line(&self, line: &PageLine) -> Option<Sequence> {
        let id = self.ids.get(&xxh3_128(line.key().as_bytes()))?;
        self.of_url.get(id).copied()
    }

    fn is_latest(&self, number: Sequence, row: &PageRow) -> bool {
        self.of_url.get(&row.url) == Some(&number)
    }
}

struct Checker {
    log: StoreReader,
    rows: LatestRows,
    archive: ArchiveReader,
    texts: PageReader,
    most: Option<MostLost>,
    /// Near-duplicates that lose words.
    losing: Vec<Sequence>,
    /// Their runs that the page kept in their place has not, each with whether another kept page has it; `None` if there
    /// are too many.
    lost_runs: Option<HashMap<u64, bool>>,
    check: LossCheck,
}

impl Checker {
    fn line(&mut self, line: &PageLine) -> Result<(), ReportError> {
        match line.outcome {
            OutcomeKind::PredictedDuplicate => {
                self.check.cannot_check("not checked: predicted duplicates: they were not fetched")
            }
            OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate => self.duplicate(line)?,
            OutcomeKind::Stored | OutcomeKind::NotModified => {
                if let Some(row) = self.row_of(line)? {
                    self.read_again(line, &row);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn row_of(&self, line: &PageLine) -> Result<Option<PageRow>, ReportError> {
        Ok(self.rows.of_line(line).map(|number| self.log.page(number)).transpose()?.flatten())
    }

    fn duplicate(&mut self, line: &PageLine) -> Result<(), ReportError> {
        let Some(row) = self.row_of(line)? else {
            self.check.cannot_check("not checked: duplicates of which the store has no text");
            return Ok(());
        };
        let Some(of) = row.verdict.duplicate_of() else {
            self.check.problem(format!("{}: the log says that it is no duplicate", line.url));
            return Ok(());
        };
        if of.as_earlier().is_some() {
            self.check
                .cannot_check("not checked: duplicates of pages of another crawl (--against), whose text is not here");
            return Ok(());
        }
        let Some(kept) = self.log.page(of)? else {
            self.check.problem(format!("{}: the page that it repeats is not in the log", line.url));
            return Ok(());
        };
        if !self.is_kept(&kept)? {
            self.check.cannot_check("not checked: duplicates of a page that was decided again since");
            return Ok(());
        }
        match row.verdict {
            Verdict::NearDuplicate { .. } => self.near_duplicate(line, &row, &kept),
            _ => self.exact_duplicate(line, &row, &kept),
        }
        Ok(())
    }

    fn is_kept(&self, row: &PageRow) -> Result<bool, ReportError> {
        let latest = self.rows.of_url.get(&row.url).map(|number| self.log.page(*number)).transpose()?.flatten();
        Ok(latest.is_some_and(|latest| latest.verdict.is_unique()))
    }

    fn exact_duplicate(&mut self, line: &PageLine, row: &PageRow, kept: &PageRow) {
        let has_same_text = row.text_digest.is_some() && row.text_digest == kept.text_digest;
        match row.body_digest == kept.body_digest || has_same_text {
            true => self.check.exact_duplicates += 1,
            false => self.check.problem(format!("{}: neither bytes nor text are those of the kept page", line.url)),
        }
    }

    fn near_duplicate(&mut self, line: &PageLine, row: &PageRow, kept: &PageRow) {
        let text = &row.order.text;
        if text.is_empty() {
            return self
                .check
                .cannot_check("not checked: near-duplicates without running text: weights alone were compared");
        }
        self.read_again(line, row);
        let kept: HashSet<u64> = kept.order.text.runs().collect();
        let (words, lost) = (text.words.len(), text.words_outside(|run| kept.contains(&run)));
        (self.check.near_duplicates, self.check.words) =
            (self.check.near_duplicates + 1, self.check.words + words as u64);
        self.check.lost += lost as u64;
        let logged = match row.verdict {
            Verdict::NearDuplicate { difference, .. } => difference.map(|it| (it.words, it.loses)),
            _ => None,
        };
        for (place, said) in [("its line", line.words.zip(line.loses_words)), ("the log", logged)] {
            if said.map(|(all, some)| (all as usize, some as usize)) != Some((words, lost)) {
                let said = said.map_or("nothing".to_owned(), |(words, lost)| format!("{lost} of {words} words"));
                self.check.problem(format!("{}: it loses {lost} of {words} words, {place} says {said}", line.url));
            }
        }
        if let Some(most) = self.most.filter(|most| !most.allows(lost, words)) {
            self.check.problem(format!("{}: it loses {lost} of {words} words, more than {most}", line.url));
        }
        if lost > 0 {
            self.losing.extend(self.rows.of_line(line));
            if let Some(runs) = &mut self.lost_runs {
                runs.extend(text.runs().filter(|run| !kept.contains(run)).map(|run| (run, false)));
            }
            self.lost_runs.take_if(|runs| runs.len() > MOST_RUNS);
        }
    }

    /// Reads the words of a page from the archive, and compares them with those of the log.
    fn read_again(&mut self, line: &PageLine, row: &PageRow) {
        match self.archived_words(line) {
            Some(text) if text == row.order.text => self.check.read_again += 1,
            Some(_) => self.check.problem(format!("{}: the archived page has other words than the log", line.url)),
            None => self.check.without_body += 1,
        }
    }

    /// `None` if the archive has no body of the page, or a document that is no text.
    fn archived_words(&mut self, line: &PageLine) -> Option<RunningText> {
        let (file, offset) = (line.warc_file.as_deref()?, line.warc_offset?);
        let record = self.archive.record(file, offset).ok().filter(|_| line.text_from.is_none())?;
        let page = record.response(&line.address()?, line.is_respelled())?;
        Some(self.texts.render(&page).order.text)
    }

    /// Counts the lost words that stand in no kept page.
    fn lost_everywhere(&mut self) -> Result<Option<u64>, ReportError> {
        let Some(lost_runs) = &mut self.lost_runs else { return Ok(None) };
        for row in self.log.all_pages()? {
            let (number, row) = row?;
            if row.verdict.is_unique() && self.rows.is_latest(number, &row) {
                for run in row.order.text.runs() {
                    lost_runs.entry(run).and_modify(|is_kept| *is_kept = true);
                }
            }
        }
        let mut lost = 0;
        for number in &self.losing {
            let Some(row) = self.log.page(*number)? else { continue };
            // Other runs are in the page kept in its place.
            let is_kept = |run: u64| lost_runs.get(&run).copied().unwrap_or(true);
            lost += row.order.text.words_outside(is_kept) as u64;
        }
        Ok(Some(lost))
    }
}
