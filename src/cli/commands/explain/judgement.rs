//! One decision, looked at again: what the page was compared with, and how close each came.

use serde::Serialize;

use crate::cli::errors::{CliError, opening_error};
use crate::detect::{Options, Page, Replay, ReplayedComparison, SecondCheckBasis};
use crate::model::{Detector, Digest, PageRow, Score, Sequence, Threshold, UrlId};
use crate::store::StoreReader;

/// Stored pages that are named as candidates.
const NAMED: usize = 5;

/// How a page was judged.
#[derive(Debug, Serialize)]
pub(super) struct Judgement {
    /// Its place in the order of judgement, from 0.
    pub sequence: u32,
    /// Pages that were judged in all.
    pub judged: u32,
    pub detector: &'static str,
    /// Distinct terms that count, and what they weigh together, in hundredths.
    pub terms: usize,
    pub weight: u64,
    /// With fewer terms, only bytes are compared.
    pub min_terms: usize,
    pub threshold: f64,
    /// The second condition's threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold2: Option<f64>,
    /// The first page before with the same bytes, and with the same text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_text: Option<String>,
    /// Whether it was compared with stored pages: it is no copy, and long enough.
    pub is_compared: bool,
    pub stages: Stages,
    /// The most similar stored pages, the most similar first.
    pub candidates: Vec<Considered>,
}

/// How many stored pages were left after each stage, by brute force.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Stages {
    /// Stored before.
    pub stored: u64,
    /// Of these: long enough, with anything in common.
    pub sharing: u64,
    /// Reach the first bar.
    pub reaching: u64,
    /// Meet all conditions.
    pub matching: u64,
}

/// A stored page as it was seen.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Considered {
    pub url: String,
    pub score: f64,
    #[serde(flatten)]
    pub second: Option<Second>,
    pub is_match: bool,
    /// Whether the verdict names it.
    pub is_named: bool,
}

/// The second condition as it was seen.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Second {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_score: Option<f64>,
    /// What would be enough.
    pub asked: f64,
    pub basis: &'static str,
    pub second_is_met: bool,
}

impl Second {
    pub fn of(opinion: &ReplayedComparison) -> Option<Self> {
        let look = opinion.second?;
        Some(Self {
            second_score: look.score.map(Score::as_f64),
            asked: look.asked.as_f64(),
            basis: match look.basis {
                SecondCheckBasis::Text => "text without template",
                SecondCheckBasis::LittleText => "all text: hardly any of it is no template",
                SecondCheckBasis::YoungHost => "all text: too few pages of the host were known to tell its template",
                SecondCheckBasis::WeightsAlone => "weights alone: there is no running text",
            },
            second_is_met: look.is_met(opinion.score),
        })
    }
}

/// The log up to a page: the detector as it was, and the page.
pub(super) struct Then {
    pub hindsight: Replay,
    pub number: Sequence,
    pub row: PageRow,
}

/// Reads the log up to the page of this URL, as it was judged last; `None` if it was not judged.
pub(super) fn then(reader: &StoreReader, options: &Options, url: UrlId) -> Result<Option<Then>, CliError> {
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
    hindsight.settle_for(number);
    Ok(Some(Then { hindsight, number, row }))
}

/// How the page of this URL was judged; `None` if it was not.
pub(super) fn judgement(reader: &StoreReader, options: &Options, url: UrlId) -> Result<Option<Judgement>, CliError> {
    let Some(then) = then(reader, options, url)? else { return Ok(None) };
    let probe = then.hindsight.page(&then.row.judged());
    let is_long_enough = then.hindsight.is_compared(&probe);
    let mut looking =
        Looking { then: &then, probe: &probe, first_body: None, first_text: None, found: Found::default() };
    for row in reader.all_pages().map_err(opening_error)? {
        let (number, row) = row.map_err(opening_error)?;
        if number >= then.number {
            break;
        }
        looking.look(number, &row);
    }
    let Looking { mut first_body, mut first_text, found, .. } = looking;
    // A page that is judged anew inherits nothing from what was said before.
    if then.row.renews.is_some() {
        (first_body, first_text) = (None, None);
    }
    let name =
        |id: UrlId| Ok::<_, CliError>(reader.url(id).map_err(opening_error)?.map_or_else(String::new, |row| row.url));
    let candidates = found.best.iter().map(|(number, url, opinion)| {
        Ok(Considered {
            url: name(*url)?,
            score: opinion.score.as_f64(),
            second: Second::of(opinion),
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

/// Goes through the pages before.
struct Looking<'a> {
    then: &'a Then,
    probe: &'a Page,
    first_body: Option<UrlId>,
    first_text: Option<UrlId>,
    found: Found,
}

#[derive(Default)]
struct Found {
    stages: Stages,
    best: Vec<(Sequence, UrlId, ReplayedComparison)>,
}

impl Looking<'_> {
    fn look(&mut self, number: Sequence, row: &PageRow) {
        let same = |one: Option<Digest>, other: Option<Digest>| one.is_some() && one == other;
        // From what is judged anew nothing is inherited any more by what was judged before.
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

    /// The page that is named is kept, however many are more similar.
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
