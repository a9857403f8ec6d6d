//! Exports duplicate rates by host, domain, language or media type.

use std::collections::BTreeMap;
use std::io::Write;

use ndcrawl_model::{CanonicalUrl, OutcomeKind, PageLine, named};

use super::csv::csv_cell;
use super::error::Result;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;

named! {
    /// The key that groups pages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RateKey {
        /// The host name, without port.
        #[default]
        Host = "host",
        /// The registrable domain.
        Domain = "domain",
        /// The language of the page.
        Language = "lang",
        /// The media type.
        Type = "type",
    }
}

impl RateKey {
    /// Returns the key of a line; empty if unknown.
    fn key(self, line: &PageLine) -> String {
        let key = match self {
            RateKey::Host => Some(line.site()),
            RateKey::Domain => CanonicalUrl::from_canonical(&line.url)
                .map_or_else(|_| Some(line.site()), |url| Some(url.registrable_domain().to_owned())),
            RateKey::Language => line.lang.clone(),
            RateKey::Type => line.media_type.clone(),
        };
        key.unwrap_or_default()
    }
}

/// The outcomes in the order of their columns.
const OUTCOMES: [OutcomeKind; 9] = OutcomeKind::ALL;
/// The first outcomes are those of compared pages.
const COMPARED: usize = 3;

/// Counters of one key.
#[derive(Default)]
struct RateCounts {
    outcomes: [u64; OUTCOMES.len()],
    /// Whether any of its URLs was requested by the crawl, or read from a file by `dedup`.
    is_visited: bool,
}

/// Writes CSV with one line per key, ascending: compared pages, URLs by outcome, and the duplicate rate.
///
/// Keys of which nothing was requested or read are left out. Memory grows with the number of lines.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn rates(source: ExportSource<'_>, by: RateKey, mut output: Output) -> Result<ExportCounts> {
    let mut totals = ExportCounts::default();
    let mut rows = BTreeMap::<String, RateCounts>::new();
    source.each(&mut totals, |line, _| {
        let counts = rows.entry(by.key(&line)).or_default();
        counts.is_visited |= line.is_visited();
        if let Some(at) = OUTCOMES.iter().position(|outcome| *outcome == line.outcome) {
            counts.outcomes[at] += 1;
        }
        Ok(())
    })?;
    let names = OUTCOMES.map(|outcome| outcome.name().replace('-', "_"));
    let (compared, others) = names.split_at(COMPARED);
    let heading = format!("{},pages,{},duplicate_rate,{}", by.name(), compared.join(","), others.join(","));
    let visited = rows.iter().filter(|(_, counts)| counts.is_visited);
    let lines = visited.map(|(key, counts)| line(key, &counts.outcomes));
    for line in std::iter::once(heading).chain(lines) {
        output.write_all(format!("{line}\r\n").as_bytes()).map_err(|error| output.error(error))?;
    }
    totals.bytes = output.finish()?;
    Ok(totals)
}

fn line(key: &str, counts: &[u64; OUTCOMES.len()]) -> String {
    let (compared, others) = counts.split_at(COMPARED);
    let pages: u64 = compared.iter().sum();
    let rate = match pages {
        0 => String::new(),
        _ => format!("{:.6}", (pages - compared[0]) as f64 / pages as f64),
    };
    let figures = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    format!("{},{pages},{},{rate},{}", csv_cell(key), figures(compared), figures(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_share_of_compared_pages_that_repeat_others() {
        assert_eq!(line("a.test", &[2, 1, 1, 0, 5, 0, 7, 0, 6]), "a.test,4,2,1,1,0.500000,0,5,0,7,0,6");
        assert_eq!(line("=x", &[0; 9]), "\"'=x\",0,0,0,0,,0,0,0,0,0,0");
    }

    #[test]
    fn a_line_counts_for_its_host_or_domain() {
        let line = PageLine { url: "http://docs.example.co.uk:81/".to_owned(), ..PageLine::default() };
        assert_eq!(RateKey::Host.key(&line), "docs.example.co.uk");
        assert_eq!(RateKey::Domain.key(&line), "example.co.uk");
        assert_eq!(RateKey::Language.key(&line), "");
    }
}
