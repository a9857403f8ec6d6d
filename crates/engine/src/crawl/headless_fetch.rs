//! Runs the scripts of pages in a headless browser, between the request and the decision.

use std::sync::Arc;

use crate::headless::{Browser, Drawn, Options, is_shell};
use ndcrawl_fetch::Fetcher;
use ndcrawl_model::{Fetched, Normalizer, PAGE_SOURCE};

use super::messages::FetchedPage;
use super::page_fetch::{PageFetch, Stopped};

/// Which pages run in the browser, and how.
#[derive(Clone, Debug)]
pub struct HeadlessOptions {
    /// Whether every HTML page does, or only those without content before their scripts have run.
    pub all: bool,
    /// Options of the browser.
    pub browser: Options,
}

/// Runs pages in the browser.
pub(super) struct HeadlessFetch {
    all: bool,
    browser: Browser,
}

impl HeadlessFetch {
    pub fn new(options: HeadlessOptions, fetcher: Fetcher, normalizer: Normalizer) -> Self {
        Self { all: options.all, browser: Browser::new(options.browser, fetcher, normalizer) }
    }

    /// Ends the browser.
    pub async fn close(&self) {
        self.browser.close().await;
    }

    /// Returns the page after its scripts have run. Returns it unchanged if it needs no browser, or if the
    /// browser fails.
    pub async fn run_scripts(&self, fetch: &PageFetch, page: FetchedPage) -> Result<FetchedPage, Stopped> {
        if !self.is_wanted(&page) {
            return Ok(page);
        }
        let url = page.fetched.url.clone();
        let Drawn { html, origins } = match self.browser.draw(&page.fetched).await {
            Ok(drawn) => drawn,
            // Ctrl-C reaches the browser, too.
            Err(_) if fetch.is_stopped() => return Err(Stopped),
            Err(error) => {
                tracing::warn!(%url, %error, "browser failed; keeping the page as it is without its scripts");
                return Ok(without_scripts(page));
            }
        };
        // Requests to the page's own origin are counted with the page.
        for origin in origins.into_iter().filter(|origin| *origin != url.origin()) {
            fetch.count_requests(origin).await;
        }
        match fetch.render(Arc::new(with_body(&page.fetched, html))).await {
            Ok(page) => Ok(FetchedPage { is_headless: true, ..page }),
            Err(error) => {
                tracing::warn!(%url, error, "rendering failed; keeping the page as it is without its scripts");
                Ok(without_scripts(page))
            }
        }
    }

    fn is_wanted(&self, page: &FetchedPage) -> bool {
        let media_type = page.fetched.media_type();
        let is_html = media_type.contains("html") || media_type.is_empty();
        let is_whole = !page.fetched.truncated && page.unchanged.is_none();
        is_html && is_whole && (self.all || is_shell(&page.fetched.body, &page.rendered))
    }
}

/// Marks a page that the browser failed on, so that the next generation tries again.
fn without_scripts(page: FetchedPage) -> FetchedPage {
    let mut fetched = Fetched::clone(&page.fetched);
    fetched.headers.push((PAGE_SOURCE.to_owned(), b"static".to_vec()));
    FetchedPage { fetched: Arc::new(fetched), ..page }
}

/// Replaces the body by the browser's document. A header line tells readers of the archive.
fn with_body(answer: &Fetched, html: String) -> Fetched {
    let describes_body =
        |name: &str| ["content-type", "digest", "content-md5"].iter().any(|of| name.eq_ignore_ascii_case(of));
    let mut page = Fetched { body: html.into_bytes(), ..answer.clone() };
    page.headers.retain(|(name, _)| !describes_body(name));
    page.headers.push(("content-type".to_owned(), b"text/html; charset=utf-8".to_vec()));
    page.headers.push((PAGE_SOURCE.to_owned(), b"browser".to_vec()));
    page
}
