//! URLs that failed, and the pages that link to them.

use std::collections::{BTreeSet, HashMap};

use super::ReportError;
use crate::model::{OutcomeKind, PageLine, UrlId, shown_url};
use crate::store::StoreReader;

/// Failed URLs that are listed. Beyond it, they are counted by host only.
const MOST: usize = 10_000;
/// Linking pages that are named for one URL.
const LINKING: usize = 10;

/// A URL that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedUrl {
    /// The URL.
    pub url: String,
    /// The class of the failure.
    pub class: String,
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
            Some(status) if self.class == "http" => format!("HTTP {status}"),
            _ => self.class.clone(),
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
        if line.outcome != OutcomeKind::Failed.name() || self.urls.len() >= MOST {
            return;
        }
        self.urls.push(FailedUrl {
            url: line.url.clone(),
            class: line.reason.clone().unwrap_or_default(),
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

    #[test]
    fn a_failure_has_its_status_or_class_and_the_page_that_named_it() {
        let mut failures = Failures::default();
        let line = |class: &str, status| PageLine {
            url: "http://a.test/x".to_owned(),
            outcome: "failed".to_owned(),
            reason: Some(class.to_owned()),
            status,
            referrer: Some("http://a.test/".to_owned()),
            ..PageLine::default()
        };
        failures.add(&line("http", Some(404)));
        failures.add(&line("tls", None));
        failures.add(&PageLine { outcome: "stored".to_owned(), ..line("", Some(200)) });
        let kinds: Vec<String> = failures.urls.iter().map(FailedUrl::kind).collect();
        assert_eq!(kinds, ["HTTP 404", "tls"]);
        assert_eq!(failures.urls[0].linked_from, ["http://a.test/"]);
    }
}
