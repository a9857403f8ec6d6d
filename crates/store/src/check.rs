//! Checks that a batch fits the logs: every id must be in the logs or in the batch.

use ndcrawl_model::{Batch, CommitMark, PageRow};

use super::error::{Error, Result};

/// Lengths of the logs after a batch.
#[derive(Clone, Copy)]
pub(crate) struct LogExtent {
    pub(crate) urls: u32,
    pub(crate) terms: u32,
    pub(crate) pages: u32,
}

/// Checks `batch` against the logs as of `mark`.
///
/// # Errors
/// [`Error::Batch`] if it names a URL, term or page that is in neither, if ids are not in order, or
/// if the crawl is over.
pub(crate) fn check(batch: &Batch, mark: &CommitMark) -> Result<LogExtent> {
    if mark.finished.is_some() {
        return fault("the crawl is finished and was not taken up again".to_owned());
    }
    let reach = LogExtent {
        urls: grown("URLs", mark.urls, batch.urls.len())?,
        terms: grown("terms", mark.terms, batch.terms.len())?,
        pages: grown("pages", mark.pages, batch.pages.len())?,
    };
    let referrers = batch
        .urls
        .iter()
        .map(|row| row.discovery.referrer)
        .chain(batch.requeued.iter().chain(&batch.shortened).map(|row| row.discovery.referrer));
    let paths = batch.requeued.iter().chain(&batch.shortened).map(|row| row.url);
    let links = batch.links.iter().flat_map(|row| row.links.iter().copied().chain([row.page]));
    let done = batch.outcomes.iter().map(|row| row.url).chain(paths).chain(links);
    let leased = batch.leased.iter().map(|(url, _)| *url);
    let repeats = batch.repeats.iter().flat_map(|(url, of)| [*url, *of]);
    let counterparts = batch.counterparts.iter().flat_map(|(page, other)| [*page, *other]);
    let named = referrers.flatten().chain(done).chain(leased).chain(repeats).chain(counterparts);
    let mut named = named.chain(batch.unmatched.iter().copied());
    if let Some(url) = named.find(|url| url.0 >= reach.urls) {
        return fault(format!("it names URL {url}, the log ends before {}", reach.urls));
    }
    for (sequence, page) in (mark.pages..).zip(&batch.pages) {
        check_page(page, sequence, reach)?;
    }
    match batch.page_lines.iter().chain(&batch.error_lines).find(|line| line.contains('\n')) {
        Some(line) => fault(format!("a line has a line end in it: {line:?}")),
        None => Ok(reach),
    }
}

fn check_page(page: &PageRow, sequence: u32, reach: LogExtent) -> Result<()> {
    if let Some(url) = page.links.iter().chain([&page.url]).find(|url| url.0 >= reach.urls) {
        return fault(format!("page {sequence} names URL {url}, the log ends before {}", reach.urls));
    }
    if let Some(term) = page.terms.last().filter(|term| term.0 >= reach.terms) {
        return fault(format!("page {sequence} names term {term}, the log ends before {}", reach.terms));
    }
    match page.verdict.duplicate_of() {
        Some(of) if of.0 >= sequence && of.as_earlier().is_none() => {
            fault(format!("page {sequence} repeats page {of}, which is not before it"))
        }
        _ => Ok(()),
    }
}

fn grown(what: &str, before: u32, more: usize) -> Result<u32> {
    let after = u32::try_from(more).ok().and_then(|more| before.checked_add(more));
    after.ok_or_else(|| Error::Batch(format!("more than {} {what}", u32::MAX)))
}

fn fault<T>(reason: String) -> Result<T> {
    Err(Error::Batch(reason))
}
