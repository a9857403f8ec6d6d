//! Restores the decider from a snapshot and the logs of earlier runs.

use std::sync::Arc;

use ndcrawl_model::{Sequence, TermId};
use ndcrawl_store::StoreReader;
use neardup::detect::{self, Decider};

use super::PipelineError;
use super::index_snapshot::{self, DeciderState};
use super::records::PageRecords;
use super::reference_crawls::{ReferenceCrawls, ReferenceCrawlsError, has_same_term};

/// Restores the decider of the last commit.
///
/// Returns the decider, the URL of each decided page, and how many of these pages came from a snapshot.
/// Cost: about a second for a snapshot of a million records, and some microseconds for each term and page that
/// only the logs have.
///
/// The pages of earlier crawls come before all others, and their terms are the first of the log.
pub fn restore_decider(
    options: &detect::Options,
    reader: &StoreReader,
    against: Option<&Arc<ReferenceCrawls>>,
) -> Result<(DeciderState, u32), PipelineError> {
    let new = || Decider::new(options.clone(), PageRecords::with(reader.clone(), against.cloned()));
    let signature = index_snapshot::signature(options, against.map(Arc::as_ref));
    let seeds = against.map_or(0, |against| against.len());
    let restored = index_snapshot::load(reader, &signature, new(), seeds);
    let is_restored = restored.is_some();
    let (mut decider, mut page_urls) = restored.unwrap_or_else(|| (new(), Vec::new()));
    let covered = page_urls.len() as u32;
    for term in reader.terms_from(TermId(decider.vocabulary().len() as u32))? {
        let (id, term) = term?;
        if against.is_some_and(|against| !has_same_term(against, id, &term)) {
            return Err(ReferenceCrawlsError::Changed.into());
        }
        decider.restore_term(&term)?;
    }
    if let Some(against) = against.filter(|_| !is_restored) {
        // These terms are not committed yet: the first commit has them.
        for term in against.terms().skip(decider.vocabulary().len()) {
            decider.restore_term(&term)?;
        }
        against.seed(&mut decider)?;
    }
    for page in reader.pages_from(Sequence(covered))? {
        let (sequence, page) = page?;
        decider.restore_page(sequence, page.group, &page.judged())?;
        page_urls.push(page.url);
    }
    Ok(((decider, page_urls), covered))
}
