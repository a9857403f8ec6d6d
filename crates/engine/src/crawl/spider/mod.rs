//! The crate `spider` as the engine of a crawl: it finds links and requests URLs.
//!
//! Only spider's link extraction and its frontier are used. Each of its requests goes to [`ExternalEngine`], so only the
//! crawl's own fetcher sends requests to servers. The dispatcher decides whether spider may follow a page's links.
//! Spider's own client could not send anything: its proxy does not exist.
//!
//! Pitfalls of the pinned version, found by reading and trying it:
//! - With one permit its loop ends at the first page without new links, although other pages wait: links are lost
//!   without an error. So it always has several permits, and our frontier limits the requests in flight.
//! - It may fetch a script of its first page (`_ssgManifest.js`) with its own client. So every URL is one of its
//!   "extra links", whose pages are only read.
//! - It gives all links the scheme of its first page, and resolves `/path` against that page's host. So there is one
//!   [`Website`] for each origin, and a link to another origin is an entry there.
//! - Its depth counts path segments. It is off, because our frontier counts depth in links.
//! - It treats URLs that differ only in case as the same, and ignores links whose ending is not that of a page. URLs
//!   that it never requests are reported as deferred.

mod engine;

use std::collections::HashMap;
use std::sync::Arc;

use spider::CaseInsensitiveString;
use spider::client::{Client, ClientBuilder, Proxy};
use spider::configuration::RedirectPolicy;
use spider::hashbrown::HashSet;
use spider::website::Website;
use tokio::task::{Id, JoinSet};

use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::{CanonicalUrl, Normalizer};

use super::external_engine::ExternalEngine;
use super::url_log::StoredUrls;
use engine::{AskingEngine, Follows};

/// Most origins that spider crawls at the same time.
const ORIGINS_AT_ONCE: usize = 1024;
/// The proxy of spider's own client, which does not exist.
const NOWHERE: &str = "http://127.0.0.1:0";

/// Runs spider for a crawl.
pub(super) struct Spider {
    pub asked: Arc<ExternalEngine>,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub normalizer: Normalizer,
    /// Most requests in flight to an origin.
    pub host_concurrency: usize,
    pub user_agent: String,
}

impl Spider {
    /// Crawls origins with entries, and never ends by itself: the scheduler knows when the crawl is over.
    pub async fn run(self) {
        let engine = Arc::new(AskingEngine {
            asked: self.asked.clone(),
            frontier: self.frontier.clone(),
            normalizer: self.normalizer.clone(),
            follows: Follows::default(),
        });
        let client = client();
        let (mut resting, mut at_work) = (HashMap::<String, Website>::new(), HashMap::<Id, String>::new());
        let mut crawls = JoinSet::new();
        loop {
            while crawls.len() < ORIGINS_AT_ONCE
                && let Some((origin, urls)) = self.asked.take_entries().await
            {
                let website = resting.remove(&origin).unwrap_or_else(|| self.website(&origin, &client, &engine));
                let id = crawls.spawn(crawl(website, urls)).id();
                at_work.insert(id, origin);
            }
            tokio::select! {
                () = self.asked.entered() => {}
                Some(ended) = crawls.join_next_with_id() => {
                    let id = match &ended {
                        Ok((id, _)) => *id,
                        Err(error) => error.id(),
                    };
                    let Some(origin) = at_work.remove(&id) else { continue };
                    match ended {
                        Ok((_, website)) => { resting.insert(origin.clone(), website); }
                        Err(error) => tracing::error!(%origin, %error, "spider failed; its links there are lost"),
                    }
                    self.asked.is_done(&origin).await;
                }
            }
        }
    }

    /// Returns a spider crawl of one origin that sends no requests by itself.
    fn website(&self, origin: &str, client: &Client, engine: &Arc<AskingEngine>) -> Website {
        let mut website = Website::new(origin);
        website
            .with_respect_robots_txt(false)
            .with_retry(0)
            .with_redirect_policy(RedirectPolicy::None)
            .with_user_agent(Some(&self.user_agent))
            .with_modify_headers(false)
            .with_depth(0)
            .with_concurrency_limit(Some(self.asks_at_once()))
            .with_shared_fetch_engine(engine.clone());
        let follows = engine.follows.clone();
        website
            .with_on_should_crawl_callback_closure(Some(move |page: &spider::page::Page| follows.take(page.get_url())));
        website.set_http_client(client.clone());
        website
    }

    /// Returns the number of permits: enough to keep an origin busy, and never one.
    fn asks_at_once(&self) -> usize {
        2 * self.host_concurrency + 2
    }
}

async fn crawl(mut website: Website, urls: Vec<CanonicalUrl>) -> Website {
    let urls: HashSet<CaseInsensitiveString> = urls.iter().map(|url| url.as_str().into()).collect();
    website.set_extra_links(urls);
    // Otherwise spider would forget them, and what it has visited.
    website.persist_links();
    website.crawl_raw().await;
    website
}

fn client() -> Client {
    let nowhere = Proxy::all(NOWHERE).and_then(|proxy| ClientBuilder::new().proxy(proxy).build());
    nowhere.unwrap_or_default()
}
