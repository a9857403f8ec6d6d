//! *How much of each page is said by nearly all pages of its host?*

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use ndcrawl_model::{Field, PageRow, TermId};
use ndcrawl_store::{self as store, StoreReader};

/// Pages of a host of which the frame is learned, and the fewest that tell it.
const PAGES: (usize, usize) = (100, 10);
/// The fields that a reader sees on the page.
const SHOWN: [Field; 4] = [Field::Heading, Field::Body, Field::AnchorSameSite, Field::AnchorOtherSite];

/// How much of a unique page its frame is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageFrame {
    /// The URL.
    pub url: String,
    /// Words that the page shows, without stop words.
    pub words: u64,
    /// Those of them that nearly all pages of the host say.
    pub frame_words: u64,
}

impl PageFrame {
    /// Returns the share of the frame, in [0, 1].
    pub fn share(&self) -> f64 {
        self.frame_words as f64 / self.words.max(1) as f64
    }
}

/// The words of hosts that nearly all of their pages say.
pub(super) struct Frames(HashMap<u32, HashSet<TermId>>);

impl Frames {
    /// Learns them from the first unique pages of each host.
    pub fn read(reader: &StoreReader) -> Result<Self, store::Error> {
        let mut hosts: HashMap<u32, (usize, HashMap<TermId, usize>)> = HashMap::new();
        for row in reader.all_pages()? {
            let (_, row) = row?;
            let (pages, counts) = hosts.entry(row.group).or_default();
            if *pages < PAGES.0 && row.verdict.is_unique() {
                *pages += 1;
                row.terms.iter().for_each(|(term, _)| *counts.entry(term).or_default() += 1);
            }
        }
        hosts.retain(|_, (pages, _)| *pages >= PAGES.1);
        let frame = |(host, (pages, counts)): (u32, (usize, HashMap<TermId, usize>))| {
            let common = counts.into_iter().filter(|(_, count)| count * 10 >= pages * 9);
            (host, common.map(|(term, _)| term).collect())
        };
        Ok(Self(hosts.into_iter().map(frame).collect()))
    }

    /// Returns the share of the frame; `None` if too few pages of the host are known, or the page shows no words.
    pub fn of(&self, row: &PageRow, url: &str) -> Option<PageFrame> {
        let frame = self.0.get(&row.group)?;
        let words = count(row, &SHOWN, |_| true);
        let frame_words = count(row, &SHOWN, |term| frame.contains(term));
        (words > 0).then(|| PageFrame { url: url.to_owned(), words, frame_words })
    }

    /// Returns the number of words of a page outside links and the frame, without stop words; `None` if more of its words
    /// are links, as on a table of contents.
    pub fn own_words(&self, row: &PageRow) -> Option<u64> {
        let frame = self.0.get(&row.group);
        let is_own = |term: &TermId| frame.is_none_or(|frame| !frame.contains(term));
        let (text, links) = SHOWN.split_at(2);
        let words = count(row, text, is_own);
        (count(row, links, is_own) <= words).then_some(words)
    }
}

/// Counts the words of a page in these fields.
fn count(row: &PageRow, fields: &[Field], is_counted: impl Fn(&TermId) -> bool) -> u64 {
    let terms = row.terms.iter().filter(|(term, _)| is_counted(term));
    terms.map(|(_, counts)| fields.iter().map(|field| u64::from(counts.0[*field as usize])).sum::<u64>()).sum()
}
