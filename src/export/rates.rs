//! How much of each host is repetition.

use std::collections::BTreeMap;
use std::io::Write;

use crate::model::{CanonicalUrl, OutcomeKind, PageLine};

use super::cell::cell;
use super::error::Result;
use super::output::{Output, Tally};
use super::pages::Source;

/// What pages are counted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The host name, without port.
    #[default]
    Host,
    /// The registrable domain.
    Domain,
    /// The language.
    Language,
    /// The media type.
    Type,
}

impl By {
    /// The heading of the first column.
    fn name(self) -> &'static str {
        match self {
            By::Host => "host",
            By::Domain => "domain",
            By::Language => "lang",
            By::Type => "type",
        }
    }

    /// What a line counts for; empty if it does not tell.
    fn key(self, line: &PageLine) -> String {
        let url = || CanonicalUrl::from_canonical(&line.url).ok();
        let key = match self {
            By::Host => url().map(|url| url.host().to_owned()),
            By::Domain => url().map(|url| url.registrable_domain().to_owned()),
            By::Language => line.lang.clone(),
            By::Type => line.media_type.clone(),
        };
        key.unwrap_or_default()
    }
}

/// The outcomes in the order of their columns; the first three are those of pages that were compared.
const OUTCOMES: [OutcomeKind; 9] = OutcomeKind::ALL;
const COMPARED: usize = 3;

/// URLs by their outcomes.
#[derive(Default)]
struct Counts {
    outcomes: [u64; OUTCOMES.len()],
    /// Whether any of them was asked for.
    is_asked: bool,
}

/// Writes one line for each host, domain, language or type of which anything was asked for, ascending: how many pages
/// were compared, how they and other URLs came out, and which share of those compared repeats others. Memory goes by
/// the number of lines.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn rates(source: Source<'_>, by: By, mut output: Output) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut counts = BTreeMap::<String, Counts>::new();
    source.each(&mut tally, |line, _| {
        let counts = counts.entry(by.key(&line)).or_default();
        counts.is_asked |= line.requests > 0;
        if let Some(at) = OUTCOMES.iter().position(|outcome| outcome.name() == line.outcome) {
            counts.outcomes[at] += 1;
        }
        Ok(())
    })?;
    let names = OUTCOMES.map(|outcome| outcome.name().replace('-', "_"));
    let (compared, others) = names.split_at(COMPARED);
    let heading = format!("{},pages,{},duplicate_rate,{}", by.name(), compared.join(","), others.join(","));
    let asked = counts.iter().filter(|(_, counts)| counts.is_asked);
    let lines = asked.map(|(key, counts)| line(key, &counts.outcomes));
    for line in std::iter::once(heading).chain(lines) {
        output.write_all(format!("{line}\r\n").as_bytes()).map_err(|error| output.error(error))?;
    }
    tally.bytes = output.finish()?;
    Ok(tally)
}

fn line(key: &str, counts: &[u64; OUTCOMES.len()]) -> String {
    let (compared, others) = counts.split_at(COMPARED);
    let pages: u64 = compared.iter().sum();
    let rate = match pages {
        0 => String::new(),
        _ => format!("{:.6}", (pages - compared[0]) as f64 / pages as f64),
    };
    let figures = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    format!("{},{pages},{},{rate},{}", cell(key), figures(compared), figures(others))
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
        assert_eq!(By::Host.key(&line), "docs.example.co.uk");
        assert_eq!(By::Domain.key(&line), "example.co.uk");
        assert_eq!(By::Language.key(&line), "");
    }
}
