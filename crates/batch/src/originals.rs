//! The names of the pages that duplicates repeat, which may be pages of other workers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ndcrawl_cluster::{ClusterError, Session, named_page};
use ndcrawl_model::Sequence;

/// Most names that are kept.
const MOST: usize = 200_000;

/// Names of judged pages, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Originals(Mutex<HashMap<Sequence, String>>);

impl Originals {
    /// Returns the URLs of these pages.
    pub async fn find(
        &self,
        session: &Session,
        pages: impl IntoIterator<Item = Sequence>,
    ) -> Result<HashMap<Sequence, String>, ClusterError> {
        let mut found = HashMap::new();
        for page in pages {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&page).cloned();
            let url = match known {
                Some(url) => url,
                None => self.look_up(session, page).await?,
            };
            found.insert(page, url);
        }
        Ok(found)
    }

    async fn look_up(&self, session: &Session, page: Sequence) -> Result<String, ClusterError> {
        let named = named_page(session, page).await?;
        let named = named.ok_or_else(|| ClusterError::Damaged(format!("there is no page {page} to name")))?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(page, named.facts.url.clone());
        Ok(named.facts.url)
    }
}
