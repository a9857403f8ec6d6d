//! An endless web: each page links to a given number of new pages.

use crate::web::{Answer, Content};
use crate::words::{sentences, words_of};

/// For tests of limits, and of memory while the frontier grows.
pub struct Endless {
    origin: String,
    links: u64,
}

impl Endless {
    pub fn new(origin: &str, links: u64) -> Self {
        Self { origin: origin.to_owned(), links }
    }

    pub fn seed(&self) -> String {
        self.url(0)
    }

    fn url(&self, number: u64) -> String {
        format!("{}/endless/{number}", self.origin)
    }

    /// The pages form a tree: the children of k are k * links + 1 and those that follow. The links
    /// have function words for their text, since pages must not come to share terms through them.
    fn page(&self, number: u64) -> String {
        let words = words_of(number, "endless", 60);
        let first = number.saturating_mul(self.links).saturating_add(1);
        let links: String = (0..self.links)
            .map(|step| format!("<a href=\"{}\">to the</a>\n", self.url(first.saturating_add(step))))
            .collect();
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><title>{}</title></head><body><p>{}</p>{links}</body></html>",
            words[0],
            sentences(&words)
        )
    }
}

impl Content for Endless {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let number = url.strip_prefix(&format!("{}/endless/", self.origin)).and_then(|number| number.parse().ok());
        match number {
            Some(number) => Answer::html(self.page(number)),
            None => Answer::error(404),
        }
    }
}
