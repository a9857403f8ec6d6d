//! From the logs of an earlier run to the decider in memory.

use std::sync::Arc;

use crate::detect::{self, Decider};
use crate::model::{Sequence, TermId};
use crate::store::StoreReader;

use super::PipelineError;
use super::index_snapshot::{self, State};
use super::records::Records;
use super::reference_crawls::{Against, AgainstError, is_begun_with};

/// The decider as it was at the last commit, the URL of each judged page, and how many of them came
/// from a snapshot. Cost: reads the snapshot, about a second for a million records, and from the
/// logs what is not in it, some microseconds a term and page.
/// Pages of earlier crawls come before all others; their terms are the first of the log.
/// `memory` bounds the index from the first record on, as it did while the pages were judged.
pub(crate) fn restore_decider(
    options: &detect::Options,
    memory: Option<u64>,
    reader: &StoreReader,
    against: Option<&Arc<Against>>,
) -> Result<(State, u32), PipelineError> {
    let new = || {
        let mut decider = Decider::new(options.clone(), Records::with(reader.clone(), against.cloned()));
        if let Some(bytes) = memory {
            decider.set_memory_limit(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        decider
    };
    let signature = index_snapshot::signature(options, against.map(Arc::as_ref));
    let seeds = against.map_or(0, |against| against.len());
    let restored = index_snapshot::load(reader, &signature, new(), seeds);
    let is_restored = restored.is_some();
    let (mut decider, mut page_urls) = restored.unwrap_or_else(|| (new(), Vec::new()));
    let covered = page_urls.len() as u32;
    for term in reader.terms_from(TermId(decider.vocabulary().len() as u32))? {
        let (id, term) = term?;
        if against.is_some_and(|against| !is_begun_with(against, id, &term)) {
            return Err(AgainstError::Changed.into());
        }
        decider.restore_term(&term)?;
    }
    if let Some(against) = against.filter(|_| !is_restored) {
        // Nothing is committed yet: the first commit will have these terms.
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
