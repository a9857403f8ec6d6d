//! *Which page of one crawl says what a page of another one says?*
//!
//! All stored pages of both crawls are learned, so that the frame of either site counts as common text. Then each page of
//! the one is compared with those of the other as in a crawl: by runs of words, and exactly.

use std::sync::Arc;

use ndcrawl_model::{Difference, Score, Sequence};
use neardup::detect::{Decider, LoggedPage, Options, RecordSource};

use super::PipelineError;
use super::reference_crawls::{ReferenceCrawls, ReferenceCrawlsError};

/// A stored page of one crawl, and the most similar one of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterpart {
    /// The URL of the page.
    pub url: String,
    /// The URL of the most similar page.
    pub of: String,
    /// How similar they are.
    pub score: Score,
    /// Words that either page says for itself and the other does not.
    pub difference: Option<Difference>,
}

/// Reads the records of the pages that a decider compares.
struct Records(Arc<ReferenceCrawls>);

impl RecordSource for Records {
    type Error = ReferenceCrawlsError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, ReferenceCrawlsError> {
        self.0.logged(page.as_earlier().ok_or(ReferenceCrawlsError::Changed)?)
    }
}

/// Returns the stored pages of all folders but the first that nearly repeat a stored page of the first.
///
/// Cost: decides each page once.
///
/// # Errors
/// If the records cannot be read.
pub fn counterparts(crawls: &Arc<ReferenceCrawls>, options: &Options) -> Result<Vec<Counterpart>, PipelineError> {
    let mut decider = Decider::new(options.clone(), Records(Arc::clone(crawls)));
    for term in crawls.terms() {
        decider.restore_term(&term)?;
    }
    crawls.seed(&mut decider)?;
    decider.settle()?;
    let first = crawls.pages_of_first();
    let mut found = Vec::new();
    for number in first..crawls.len() {
        let LoggedPage { group, terms, order, .. } = crawls.logged(number)?;
        let similar = decider.similar_numbered(group, &terms, order, options.threshold)?;
        let others = similar.iter().filter_map(|one| Some((one.of.as_earlier()?, one)));
        if let Some((of, one)) = others.into_iter().find(|(of, _)| *of < first) {
            let [url, of] = [crawls.page(number)?.url, crawls.page(of)?.url];
            found.push(Counterpart { url, of, score: one.score, difference: one.difference });
        }
    }
    Ok(found)
}
