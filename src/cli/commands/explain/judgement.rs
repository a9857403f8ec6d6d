//! Repeats a decision: which pages it compared, and how similar each was.

use serde::Serialize;

use crate::cli::errors::{CliError, opening_error};
use crate::detect::{Options, Page, Replay, ReplayedComparison, SecondCheckBasis, Withdrawals};
use crate::model::{Detector, Digest, PageRow, Score, Sequence, Threshold, UrlId, shown_url};
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
    /// The threshold of the second check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold2: Option<f64>,
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

/// The result of the second check.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct SecondCheckResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_score: Option<f64>,
    /// The value needed to pass.
    pub asked: f64,
    pub basis: &'static str,
    pub second_is_met: bool,
}

impl SecondCheckResult {
    pub fn of(opinion: &ReplayedComparison) -> Option<Self> {
        let look = opinion.second?;
        Some(Self {
            second_score: look.score.map(Score::as_f64),
            asked: look.required.as_f64(),
            basis: match look.basis {
                SecondCheckBasis::Text => "text without template",
                SecondCheckBasis::LittleText => "all text: hardly any of it is no template",
                SecondCheckBasis::RepeatedText => {
                    "text without the template of most pages: the page has no other of its own"
                }
                SecondCheckBasis::OtherName => {
                    "text without template and names: the page has nothing of its own but its name"
                }
                SecondCheckBasis::YoungHost => "all text: too few pages of the host were known to tell its template",
                SecondCheckBasis::TwoYoungHosts => {
                    "text of the shorter page: too few pages of both hosts were known to tell their template"
                }
                SecondCheckBasis::NewText => "text of the later page: too much of it is new",
                SecondCheckBasis::WeightsAlone => "weights alone: there is no running text",
            },
            second_is_met: look.is_met(opinion.score),
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
    hindsight.update_before(number);
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
        threshold2: options.second.filter(|_| options.detector == Detector::Mwo).map(Threshold::into),
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
