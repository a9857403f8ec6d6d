//! Cache of scripts that several pages share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ndcrawl_model::{CanonicalUrl, Fetched};

/// Most bytes in the cache. When they are passed, it is cleared.
const MOST: usize = 32 << 20;

#[derive(Default)]
pub(super) struct Scripts(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    by_url: HashMap<String, Arc<Fetched>>,
    bytes: usize,
}

impl Scripts {
    pub fn get(&self, url: &CanonicalUrl) -> Option<Arc<Fetched>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_url.get(url.as_str()).cloned()
    }

    /// Caches a script, unless its server forbids it.
    pub fn keep(&self, script: &Arc<Fetched>) {
        let is_forbidden =
            script.header("cache-control").is_some_and(|value| value.to_lowercase().contains("no-store"));
        if script.status != 200 || is_forbidden {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + script.body.len() > MOST {
            *kept = Kept::default();
        }
        kept.bytes += script.body.len();
        kept.by_url.insert(script.url.as_str().to_owned(), script.clone());
    }
}
