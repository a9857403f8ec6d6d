//! The crate `spider` as the engine of a crawl: it finds the links and asks for URLs.
//!
//! Of spider, only its finding of links and its frontier are at work. Each request of it ends in [`ExternalEngine`], so that
//! the crawl's own fetcher asks the server, if at all; whether links of a page are followed is what the judge says.
//! Its client could not send anything if it were used: what it is asked through is no proxy.
//!
//! What had to be avoided in the pinned version, all found by reading and trying it:
//! - With one permit its loop ends as soon as a page has no new links, though others wait: links are lost without
//!   an error. So it always has several; how many requests are made at a time is our frontier's affair.
//! - Of its first page it may fetch a script (`_ssgManifest.js`) by itself, with its own client. So every URL is one
//!   of its "extra links", whose pages are only read.
//! - It gives all links the scheme of its first page and resolves `/path` by that page's host. So there is one
//!   [`Website`] for each origin, and links to other origins are entries of theirs.
//! - Its depth counts segments of paths. It is off: depth is counted in links, by our frontier.
//! - It takes URLs that differ in case alone for one, and does not see links to what looks like no page by its
//!   name's ending. What it does not ask for is on record as such.

mod engine;

use std::collections::HashMap;
use std::sync::Arc;

use spider::CaseInsensitiveString;
use spider::client::{Client, ClientBuilder, Proxy};
use spider::configuration::RedirectPolicy;
use spider::hashbrown::HashSet;
use spider::website::Website;
use tokio::task::{Id, JoinSet};

use crate::frontier::EmbeddedFrontier;
use crate::model::{CanonicalUrl, Normaliser};

use super::external_engine::ExternalEngine;
use super::url_log::StoredUrls;
use engine::{AskingEngine, Follows};

/// Origins at which spider is at work at the same time.
const ORIGINS_AT_ONCE: usize = 1024;
/// Where its own client would have to go.
const NOWHERE: &str = "http://127.0.0.1:0";

/// What spider works with.
pub(super) struct Spider {
    pub asked: Arc<ExternalEngine>,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub normaliser: Normaliser,
    /// Requests at a time that an origin is asked at most.
    pub host_concurrency: usize,
    pub user_agent: String,
}

impl Spider {
    /// Goes to work wherever there are entries, for ever: the scheduler knows when the crawl is over.
    pub async fn run(self) {
        let engine = Arc::new(AskingEngine {
            asked: self.asked.clone(),
            frontier: self.frontier.clone(),
            normaliser: self.normaliser.clone(),
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

    /// A crawl of spider's that does nothing of its own accord.
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

    /// As many as keep an origin busy; never one.
    fn asks_at_once(&self) -> usize {
        2 * self.host_concurrency + 2
    }
}

async fn crawl(mut website: Website, urls: Vec<CanonicalUrl>) -> Website {
    let urls: HashSet<CaseInsensitiveString> = urls.iter().map(|url| url.as_str().into()).collect();
    website.set_extra_links(urls);
    // Otherwise it would forget them, and what it has visited.
    website.persist_links();
    website.crawl_raw().await;
    website
}

fn client() -> Client {
    let nowhere = Proxy::all(NOWHERE).and_then(|proxy| ClientBuilder::new().proxy(proxy).build());
    nowhere.unwrap_or_default()
}
