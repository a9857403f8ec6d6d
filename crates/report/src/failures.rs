//! URLs that failed, and the pages that link to them.

use std::collections::{BTreeSet, HashMap};

use super::ReportError;
use ndcrawl_model::{FailureClass, PageLine, Reason, UrlId, shown_url};
use ndcrawl_store::StoreReader;

/// Failed URLs that are listed. Beyond it, they are counted by host only.
const MOST: usize = 10_000;
/// Linking pages that are named for one URL.
const LINKING: usize = 10;

/// A URL that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedUrl {
    /// The URL.
    pub url: String,
    /// The class of the failure.
    pub class: FailureClass,
    /// The HTTP status of the last answer.
    pub status: Option<u16>,
    /// Requests that were made.
    pub requests: u32,
    /// Pages that link to it; the first is the one by which it was found.
    pub linked_from: Vec<String>,
    /// Number of pages that link to it.
    pub links: u64,
}

impl FailedUrl {
    /// Returns the kind of failure: `HTTP 404` or a class.
    pub fn kind(&self) -> String {
        match self.status {
            Some(status) if self.class == FailureClass::Http => format!("HTTP {status}"),
            _ => self.class.name().to_owned(),
        }
    }

    /// Says in words what the kind means.
    pub fn meaning(&self) -> &'static str {
        match self.status.filter(|_| self.class == FailureClass::Http) {
            Some(401) => "a login is needed (-H 'Authorization: …')",
            Some(404) => "there is no such page: links to it are dead",
            Some(410) => "the page is gone for good: links to it are dead",
            Some(429) => "too many requests (--delay)",
            Some(400..500) => "the server refuses the request",
            Some(500..600) => "a fault of the server",
            _ => self.class.explain(),
        }
    }
}

/// The URLs that failed.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// The first of them, in the order of the lines.
    pub urls: Vec<FailedUrl>,
}

impl Failures {
    /// Adds a line, if its URL failed.
    pub fn add(&mut self, line: &PageLine) {
        let Some(Reason::Failed(class)) = line.reason.filter(|_| self.urls.len() < MOST) else { return };
        self.urls.push(FailedUrl {
            url: line.url.clone(),
            class,
            status: line.status,
            requests: line.requests,
            linked_from: line.referrer.iter().cloned().collect(),
            links: u64::from(line.referrer.is_some()),
        });
    }

    /// Looks the linking pages up in the log. Reads all URLs and pages once, if there is a failure.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn find_links(&mut self, reader: &StoreReader) -> Result<(), ReportError> {
        if self.urls.is_empty() {
            return Ok(());
        }
        let places: HashMap<&str, usize> =
            self.urls.iter().enumerate().map(|(place, failed)| (failed.url.as_str(), place)).collect();
        let mut ids: HashMap<UrlId, usize> = HashMap::new();
        for row in reader.all_urls()? {
            let (id, row) = row?;
            if let Some(place) = places.get(shown_url(&row.url).as_ref()) {
                ids.insert(id, *place);
            }
        }
        let mut linking: HashMap<usize, BTreeSet<UrlId>> = HashMap::new();
        for row in reader.all_pages()? {
            let (_, row) = row?;
            for place in row.links.iter().filter_map(|link| ids.get(link)) {
                linking.entry(*place).or_default().insert(row.url);
            }
        }
        for (place, pages) in linking {
            let failed = &mut self.urls[place];
            failed.links = pages.len() as u64;
            for page in pages {
                if failed.linked_from.len() >= LINKING {
                    break;
                }
                let Some(row) = reader.url(page)? else { continue };
                let url = shown_url(&row.url).into_owned();
                if !failed.linked_from.contains(&url) {
                    failed.linked_from.push(url);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::OutcomeKind;

    #[test]
    fn a_failure_has_its_status_or_class_and_the_page_that_named_it() {
        let mut failures = Failures::default();
        let line = |class: FailureClass, status| PageLine {
            url: "http://a.test/x".to_owned(),
            outcome: OutcomeKind::Failed,
            reason: Some(Reason::Failed(class)),
            status,
            referrer: Some("http://a.test/".to_owned()),
            ..PageLine::default()
        };
        failures.add(&line(FailureClass::Http, Some(404)));
        failures.add(&line(FailureClass::Tls, None));
        failures.add(&PageLine { outcome: OutcomeKind::Stored, reason: None, ..line(FailureClass::Tls, Some(200)) });
        let kinds: Vec<String> = failures.urls.iter().map(FailedUrl::kind).collect();
        assert_eq!(kinds, ["HTTP 404", "tls"]);
        assert_eq!(failures.urls[0].linked_from, ["http://a.test/"]);
    }
}
