//! Repeats a decision: which pages it compared, and how similar each was.

use serde::Serialize;

use crate::cli::errors::{CliError, opening_error};
use crate::detect::{Options, Page, Replay, ReplayedComparison, Withdrawals};
use crate::model::{Digest, PageRow, Sequence, UrlId, shown_url};
use crate::store::StoreReader;

/// Candidates shown.
const NAMED: usize = 5;

/// A repeated decision.
#[derive(Debug, Serialize)]
pub(super) struct Judgement {
    /// The position in decision order, from 0.
    pub sequence: u32,
    /// Decided pages in total.
    pub judged: u32,
    pub detector: &'static str,
    /// Distinct terms, and their total weight in hundredths.
    pub terms: usize,
    pub weight: u64,
    /// Pages with fewer terms are compared by bytes only.
    pub min_terms: usize,
    pub threshold: f64,
    /// Whether own words were compared, too.
    pub second_check: bool,
    /// The first earlier page with the same bytes, and with the same text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_text: Option<String>,
    /// Whether it was compared with stored pages: it is not a copy, and long enough.
    pub is_compared: bool,
    pub stages: StageCounts,
    /// The most similar stored pages, in descending order.
    pub candidates: Vec<ReplayedCandidate>,
}

/// The number of stored pages left after each stage, by brute force.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct StageCounts {
    /// Pages stored before.
    pub stored: u64,
    /// Of these, pages that are long enough and share a term.
    pub sharing: u64,
    /// Of these, pages that reach the threshold.
    pub reaching: u64,
    /// Of these, pages that pass all checks.
    pub matching: u64,
}

/// A stored page and its similarity.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReplayedCandidate {
    pub url: String,
    pub score: f64,
    #[serde(flatten)]
    pub second: Option<SecondCheckResult>,
    /// Whether its first score is high enough.
    #[serde(skip)]
    pub reaches: bool,
    pub is_match: bool,
    /// Whether the verdict names it.
    pub is_named: bool,
}

/// The result of the second check: what either page says for itself.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct SecondCheckResult {
    /// Own words of the page, and those of them that the stored page lacks.
    pub own_words: usize,
    pub adds_words: usize,
    /// Own words of the stored page, and those of them that the page lacks.
    pub kept_own_words: usize,
    pub lacks_words: usize,
    /// All words of the page, and those of them that stand in no run that the stored page has.
    pub words: usize,
    pub loses_words: usize,
    /// Why they are the same, or not.
    pub basis: &'static str,
    pub second_is_met: bool,
}

impl SecondCheckResult {
    pub fn of(opinion: &ReplayedComparison) -> Option<Self> {
        let own = opinion.own_words?;
        let loses_too_much = own.is_met() && opinion.reaches && !opinion.is_match;
        let basis = match own {
            _ if loses_too_much => "more of its words than may be lost are not in that one (--lose-at-most)",
            _ if own.is_other_subject() => "each uses a word again and again that the other never uses",
            _ if own.has_nothing_own() && !own.has_same_name => {
                "they share next to nothing of their own, and have other names"
            }
            _ if own.has_nothing_own() && !own.is_named => "they share next to nothing of their own, and have no names",
            _ if own.has_nothing_own() => "they share next to nothing of their own, and have the same name",
            _ if own.is_met() => "each says nearly all that the other says for itself",
            _ => "one says for itself what the other does not",
        };
        Some(Self {
            own_words: own.own,
            adds_words: own.adds,
            kept_own_words: own.stored_own,
            lacks_words: own.lacks,
            words: own.words,
            loses_words: own.other,
            basis,
            second_is_met: own.is_met() && !loses_too_much,
        })
    }
}

/// The log up to a page: the detector as it was then, and the page.
pub(super) struct ReplayState {
    pub hindsight: Replay,
    pub number: Sequence,
    pub row: PageRow,
}

/// Replays the log up to the last decision on this URL; `None` if it has none.
pub(super) fn then(reader: &StoreReader, options: &Options, url: UrlId) -> Result<Option<ReplayState>, CliError> {
    let mut last = None;
    for row in reader.all_pages().map_err(opening_error)? {
        let (number, row) = row.map_err(opening_error)?;
        if row.url == url {
            last = Some((number, row));
        }
    }
    let Some((number, row)) = last else { return Ok(None) };
    let mut hindsight = Replay::new(options.clone());
    for earlier in reader.all_pages().map_err(opening_error)?.take(number.index()) {
        let (number, row) = earlier.map_err(opening_error)?;
        hindsight.learn(number, &row.judged());
    }
    hindsight.update_before(number, row.judged().rank);
    Ok(Some(ReplayState { hindsight, number, row }))
}

/// Returns which stored pages had left the index before a page was decided.
fn withdrawals(reader: &StoreReader, number: Sequence) -> Result<Withdrawals, CliError> {
    let mut withdrawals = Withdrawals::default();
    if reader.mark().totals.revised > 0 {
        for row in reader.all_pages().map_err(opening_error)?.take(number.index() + 1) {
            withdrawals.add(&row.map_err(opening_error)?.1.judged());
        }
    }
    Ok(withdrawals)
}

/// Repeats the decision on this URL; `None` if it has none.
pub(super) fn judgement(reader: &StoreReader, options: &Options, url: UrlId) -> Result<Option<Judgement>, CliError> {
    let Some(then) = then(reader, options, url)? else { return Ok(None) };
    let probe = then.hindsight.page(&then.row.judged());
    let is_long_enough = then.hindsight.is_compared(&probe);
    let mut looking =
        CandidateScan { then: &then, probe: &probe, first_body: None, first_text: None, found: ScanResult::default() };
    let withdrawals = withdrawals(reader, then.number)?;
    for row in reader.all_pages().map_err(opening_error)? {
        let (number, row) = row.map_err(opening_error)?;
        if number >= then.number {
            break;
        }
        if !withdrawals.is_withdrawn(number, then.number) {
            looking.look(number, &row);
        }
    }
    let CandidateScan { mut first_body, mut first_text, found, .. } = looking;
    // A revised page inherits no earlier verdict.
    if then.row.renews.is_some() {
        (first_body, first_text) = (None, None);
    }
    let name = |id: UrlId| {
        Ok::<_, CliError>(
            reader.url(id).map_err(opening_error)?.map_or_else(String::new, |row| shown_url(&row.url).into_owned()),
        )
    };
    let candidates = found.best.iter().map(|(number, url, opinion)| {
        Ok(ReplayedCandidate {
            url: name(*url)?,
            score: opinion.score.as_f64(),
            second: SecondCheckResult::of(opinion),
            reaches: opinion.reaches,
            is_match: opinion.is_match,
            is_named: then.row.verdict.duplicate_of() == Some(*number),
        })
    });
    let is_copy = first_body.is_some() || first_text.is_some();
    Ok(Some(Judgement {
        sequence: then.number.0,
        judged: reader.mark().pages,
        detector: options.detector.name(),
        terms: probe.record.len(),
        weight: probe.record.total(),
        min_terms: options.min_terms,
        threshold: options.threshold.into(),
        second_check: options.has_second(),
        same_bytes: first_body.map(name).transpose()?,
        same_text: first_text.map(name).transpose()?,
        is_compared: is_long_enough && !is_copy,
        stages: found.stages,
        candidates: candidates.collect::<Result<_, CliError>>()?,
    }))
}

/// Goes through the earlier pages.
struct CandidateScan<'a> {
    then: &'a ReplayState,
    probe: &'a Page,
    first_body: Option<UrlId>,
    first_text: Option<UrlId>,
    found: ScanResult,
}

#[derive(Default)]
struct ScanResult {
    stages: StageCounts,
    best: Vec<(Sequence, UrlId, ReplayedComparison)>,
}

impl CandidateScan<'_> {
    fn look(&mut self, number: Sequence, row: &PageRow) {
        let same = |one: Option<Digest>, other: Option<Digest>| one.is_some() && one == other;
        // Earlier decisions pass nothing on to a revised page.
        let first = |known: Option<UrlId>| known.filter(|_| row.renews.is_none()).or(Some(row.url));
        if row.body_digest == self.then.row.body_digest {
            self.first_body = first(self.first_body);
        }
        let is_long_enough = self.then.hindsight.is_compared(self.probe);
        if is_long_enough && same(row.text_digest, self.then.row.text_digest) {
            self.first_text = first(self.first_text);
        }
        if !row.verdict.is_unique() {
            return;
        }
        let stages = &mut self.found.stages;
        stages.stored += 1;
        let Some(opinion) = self.then.hindsight.compare(self.probe, &self.then.hindsight.page(&row.judged())) else {
            return;
        };
        stages.sharing += 1;
        stages.reaching += u64::from(opinion.reaches);
        stages.matching += u64::from(opinion.is_match);
        self.keep(number, row.url, opinion);
    }

    /// Keeps the most similar pages, and always the one that the verdict names.
    fn keep(&mut self, number: Sequence, url: UrlId, opinion: ReplayedComparison) {
        let best = &mut self.found.best;
        best.push((number, url, opinion));
        best.sort_by_key(|(number, _, opinion)| (std::cmp::Reverse(opinion.score), *number));
        let named = self.then.row.verdict.duplicate_of();
        if let Some(place) = best.iter().rposition(|(number, ..)| Some(*number) != named).filter(|_| best.len() > NAMED)
        {
            best.remove(place);
        }
    }
}
