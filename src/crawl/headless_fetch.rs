//! Pages that scripts draw, between the request and the judge.

use std::sync::Arc;

use crate::fetch::Fetcher;
use crate::headless::{Browser, Drawn, Options, is_shell};
use crate::model::{Fetched, Normaliser};
use crate::pipeline::{Attempts, Stop};

use super::conditional_fetch::PAGE_SOURCE;
use super::messages::{FoundPage, Message};
use super::soft_404::Stopped;
use super::worker::Worker;

/// What is drawn, and how.
#[derive(Clone, Debug)]
pub struct DrawingOptions {
    /// Whether every HTML page is drawn; otherwise those that say nothing without their scripts.
    pub all: bool,
    /// The browser's.
    pub browser: Options,
}

/// Draws pages.
pub(super) struct Drawing {
    all: bool,
    browser: Browser,
}

impl Drawing {
    pub fn new(options: DrawingOptions, fetcher: Fetcher, normaliser: Normaliser) -> Self {
        Self { all: options.all, browser: Browser::new(options.browser, fetcher, normaliser) }
    }

    /// Ends the browser.
    pub async fn close(&self) {
        self.browser.close().await;
    }

    fn is_wanted(&self, page: &FoundPage) -> bool {
        let media_type = page.fetched.media_type();
        let is_html = media_type.contains("html") || media_type.is_empty();
        let is_whole = !page.fetched.truncated && page.unchanged.is_none();
        is_html && is_whole && (self.all || is_shell(&page.fetched.body, &page.rendered))
    }
}

impl Worker {
    /// The page as its scripts have drawn it, if it is one of those that are drawn and can be; otherwise as it is.
    pub(super) async fn drawn(&self, page: FoundPage) -> Result<FoundPage, Stopped> {
        let Some(drawing) = self.drawing.as_ref().filter(|drawing| drawing.is_wanted(&page)) else { return Ok(page) };
        let url = page.fetched.url.clone();
        let Drawn { html, origins } = match drawing.browser.draw(&page.fetched).await {
            Ok(drawn) => drawn,
            // Who stops a crawl by Ctrl-C stops the browser, too.
            Err(_) if *self.stop.borrow() != Stop::Go => return Err(Stopped),
            Err(error) => {
                tracing::warn!(%url, %error, "the page is taken as it is without its scripts");
                return Ok(undrawn(page));
            }
        };
        self.count_requests(origins.into_iter().filter(|origin| *origin != url.origin())).await;
        match self.read(Arc::new(with_body(&page.fetched, html))).await {
            Ok(drawn) => Ok(FoundPage { is_drawn: true, ..drawn }),
            Err(error) => {
                tracing::warn!(%url, error, "the page is taken as it is without its scripts");
                Ok(undrawn(page))
            }
        }
    }

    /// Requests to the page's own origin are counted with it, those to others at once.
    async fn count_requests(&self, origins: impl Iterator<Item = String>) {
        for origin in origins {
            let traffic = self.fetcher.take_traffic(&origin);
            if traffic.requests > 0 {
                let _ = self.messages.send(Message::Attempts(Attempts { origin, traffic, probes: 0 })).await;
            }
        }
    }
}

/// The page as it is, which should have been drawn: when the crawl is done again, it is tried again.
fn undrawn(page: FoundPage) -> FoundPage {
    let mut fetched = Fetched::clone(&page.fetched);
    fetched.headers.push((PAGE_SOURCE.to_owned(), b"static".to_vec()));
    FoundPage { fetched: Arc::new(fetched), ..page }
}

/// The answer with the drawn document in place of its body. A header line tells so to whoever reads the archive.
fn with_body(answer: &Fetched, html: String) -> Fetched {
    let is_of_body =
        |name: &str| ["content-type", "digest", "content-md5"].iter().any(|of| name.eq_ignore_ascii_case(of));
    let mut drawn = Fetched { body: html.into_bytes(), ..answer.clone() };
    drawn.headers.retain(|(name, _)| !is_of_body(name));
    drawn.headers.push(("content-type".to_owned(), b"text/html; charset=utf-8".to_vec()));
    drawn.headers.push((PAGE_SOURCE.to_owned(), b"browser".to_vec()));
    drawn
}
