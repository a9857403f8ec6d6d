//! Compares two pages term by term.

use serde::Serialize;

use super::judgement::{SecondCheckResult, then};
use crate::cli::errors::{CliError, opening_error};
use crate::detect::Options;
use crate::model::{PageLine, TermId, UrlId};
use crate::report::{DifferentTerm, SharedTerm, TablePage, TermTable};
use crate::store::StoreReader;

/// Two compared pages.
#[derive(Debug, Serialize)]
pub struct PagePair {
    /// The page decided first, and the other.
    pub(super) pages: [PairSide; 2],
    /// Minimum weight overlap, from 0 to 1.
    pub(super) score: f64,
    /// The number of shared terms.
    pub(super) shared: usize,
    pub(super) threshold: f64,
    pub(super) detector: &'static str,
    /// The second check, as of the later page.
    #[serde(flatten)]
    pub(super) second: Option<SecondCheckResult>,
    /// The shared terms, the heaviest first.
    pub(super) terms: Vec<SharedTerm>,
    /// The terms with different weights, the largest difference first.
    pub(super) differences: Vec<DifferentTerm>,
}

/// One of the two pages.
#[derive(Debug, Serialize)]
pub(super) struct PairSide {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub outcome: String,
    pub sequence: u32,
    pub terms: usize,
    /// In hundredths.
    pub weight: u64,
}

/// Compares the pages of two URLs.
pub(super) fn pair(
    reader: &StoreReader,
    options: &Options,
    urls: &[String; 2],
    ids: [UrlId; 2],
    lines: [Option<PageLine>; 2],
) -> Result<PagePair, CliError> {
    let mut judged = Vec::new();
    for ((url, id), line) in urls.iter().zip(ids).zip(lines) {
        let then = then(reader, options, id)?.ok_or_else(|| unjudged(url, line.as_ref()))?;
        judged.push((then, url, line));
    }
    judged.sort_by_key(|(then, ..)| then.number);
    let [(first, ..), (last, ..)] = &judged[..] else { return Err(unjudged(&urls[0], None)) };
    let (stored, probe) = (last.hindsight.page(&first.row.judged()), last.hindsight.page(&last.row.judged()));
    let opinion = last.hindsight.compare(&probe, &stored);
    let name = |term: TermId| -> Result<String, CliError> {
        let terms = reader.terms(term, 1).map_err(opening_error)?;
        Ok(terms.into_iter().next().map_or_else(String::new, String::from))
    };
    let sides = [(&first.row, &stored.record), (&last.row, &probe.record)];
    let table = TermTable::new(sides.map(|(row, record)| TablePage { counts: &row.terms, record }), name)?;
    let sides = judged.iter().map(|(then, url, line)| PairSide {
        url: (*url).clone(),
        title: line.as_ref().and_then(|line| line.title.clone()),
        outcome: line.as_ref().map_or_else(|| "judged".to_owned(), |line| line.outcome.name().to_owned()),
        sequence: then.number.0,
        terms: if then.number == first.number { stored.record.len() } else { probe.record.len() },
        weight: if then.number == first.number { stored.record.total() } else { probe.record.total() },
    });
    let Ok(pages) = <[PairSide; 2]>::try_from(sides.collect::<Vec<_>>()) else { return Err(unjudged(&urls[0], None)) };
    Ok(PagePair {
        score: table.score(),
        shared: table.shared.len(),
        threshold: options.threshold.into(),
        detector: options.detector.name(),
        second: opinion.as_ref().and_then(SecondCheckResult::of),
        pages,
        terms: table.shared,
        differences: table.different,
    })
}

fn unjudged(url: &str, line: Option<&PageLine>) -> CliError {
    let outcome = line.map_or("waiting", |line| line.outcome.name());
    CliError::usage(format!("{url}: the page was not compared: it is {outcome}"))
        .with_hint("only stored pages and duplicates have a record; see ndcrawl explain DIR URL")
}
