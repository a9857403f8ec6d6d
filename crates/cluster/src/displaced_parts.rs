//! What the log has of displaced pages apart from their new decision: links, places in archives, and the rest of the line.
//!
//! A page that gave its place away is decided again and not fetched. The process that enters the decision need not have
//! the first line and row of the page, so they are put together where a folder is made.

use std::collections::{HashMap, HashSet};

use super::error::ClusterError;
use ndcrawl_model::{PageLine, PageRow, Revision, Sequence};

/// What each line of a displaced page has, and few others.
const DISPLACED: &str = "\"displaced\"";

/// The first lines and rows of displaced pages.
#[derive(Debug, Default)]
pub(super) struct DisplacedParts {
    urls: HashSet<String>,
    lines: HashMap<String, PageLine>,
    pages: HashSet<Sequence>,
    rows: HashMap<Sequence, PageRow>,
}

impl DisplacedParts {
    /// Notes which URLs have lines of displaced pages. Call it for all lines before the first one is completed.
    pub fn note_lines<'a>(&mut self, lines: impl Iterator<Item = &'a String>) -> Result<(), ClusterError> {
        for line in lines.filter(|line| line.contains(DISPLACED)) {
            let line: PageLine = serde_json::from_str(line)
                .map_err(|error| ClusterError::Damaged(format!("a line of the log: {error}")))?;
            self.urls.extend(Some(line.url.clone()).filter(|_| is_displaced(&line)));
        }
        Ok(())
    }

    /// Notes a displaced page. Call it for all of them before the first row is completed.
    pub fn note_page(&mut self, page: Sequence) {
        self.pages.insert(page);
    }

    /// Returns a line with what the line before of a displaced page has. Lines come in the order of the log.
    pub fn completed_line(&mut self, line: PageLine) -> PageLine {
        if !self.urls.contains(&line.url) {
            return line;
        }
        if !is_displaced(&line) {
            self.lines.insert(line.url.clone(), line.clone());
            return line;
        }
        // A line that a folder had is whole.
        let earlier = self.lines.get(&line.url).filter(|_| line.digest.is_none()).cloned();
        match earlier {
            Some(earlier) => line.decided_again(earlier),
            None => line,
        }
    }

    /// Returns the row of a page with what the row of the displaced page has that it decides again. Rows come in the order
    /// of decisions.
    pub fn completed_row(&mut self, number: Sequence, row: PageRow) -> PageRow {
        let row = match row.renews.and_then(|earlier| self.rows.get(&earlier)) {
            Some(earlier) if row.location.is_none() && row.links.is_empty() => {
                let PageRow { links, location, kind, relevance, .. } = earlier.clone();
                PageRow { links, location, kind, relevance, ..row }
            }
            _ => row,
        };
        if self.pages.contains(&number) {
            self.rows.insert(number, row.clone());
        }
        row
    }
}

fn is_displaced(line: &PageLine) -> bool {
    line.revised.as_ref().is_some_and(|revised| revised.reason == Some(Revision::Displaced))
}
