//! The fetch engine of spider: it requests each URL from the crawl and waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use spider::client::StatusCode;
use spider::client::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use spider::fetch_engine::{EngineError, EngineRequest, EngineResponse, HttpFetchEngine};

use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::{CanonicalUrl, Normalizer};

use super::super::external_engine::{EngineReply, ExternalEngine};
use super::super::url_log::StoredUrls;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Whether spider may follow the links of a page, by the URL as spider spells it.
#[derive(Clone, Default)]
pub(super) struct Follows(Arc<Mutex<HashMap<String, bool>>>);

impl Follows {
    fn note(&self, url: &str, follow: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), follow);
    }

    /// Takes the answer for a page. Links of a page that was never requested are not followed.
    pub fn take(&self, url: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(url).unwrap_or(false)
    }
}

/// Fetches nothing itself: it passes spider's requests to the crawl.
pub(super) struct AskingEngine {
    pub asked: Arc<ExternalEngine>,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub normalizer: Normalizer,
    pub follows: Follows,
}

#[async_trait]
impl HttpFetchEngine for AskingEngine {
    /// Never fails: after an error spider would retry, or resolve names by itself.
    async fn fetch(&self, request: EngineRequest<'_>) -> Result<EngineResponse, EngineError> {
        // Spider does not decode character references in attributes.
        let answer = match self.normalizer.absolute(&request.url.replace("&amp;", "&")) {
            Ok(url) => self.asked.ask(&self.frontier, url).await.unwrap_or_else(|error| {
                tracing::error!(url = request.url, %error, "cannot queue the URL that spider requests; it is not fetched");
                EngineReply::Nothing
            }),
            Err(_) => EngineReply::Nothing,
        };
        self.follows
            .note(request.url, !matches!(answer, EngineReply::Nothing | EngineReply::Page { follow: false, .. }));
        Ok(response(answer))
    }
}

fn response(answer: EngineReply) -> EngineResponse {
    let (status_code, content_type, body) = match answer {
        EngineReply::Page { page, .. } => {
            let declared = page.source().content_type();
            let declared = declared.and_then(|declared| HeaderValue::from_str(&declared.value).ok());
            (StatusCode::OK, declared.unwrap_or(HTML), page.body.clone())
        }
        EngineReply::Redirect(to) => (StatusCode::OK, HTML, link_to(&to)),
        EngineReply::Nothing => (StatusCode::NOT_FOUND, HTML, Vec::new()),
    };
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
    EngineResponse { status_code, headers, body, served: true, ..EngineResponse::default() }
}

/// Returns a page with one link: to spider, a redirect is that. Spider decides whether and when to follow it.
fn link_to(url: &CanonicalUrl) -> Vec<u8> {
    // A canonical URL has neither quotes nor angle brackets.
    format!("<!DOCTYPE html><html><body><a href=\"{url}\">moved</a></body></html>").into_bytes()
}
