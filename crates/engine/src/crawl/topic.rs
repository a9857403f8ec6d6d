//! Determines the topic of a focused crawl, and restores what earlier runs have learned about its terms.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::focus::{Focus, Topic, TopicError};
use crate::pipeline::{HostStats, PageRecords, RequestCounts};
use ndcrawl_fetch::{Absent, FetchFailure, Fetcher, RobotsAnswer, absent_page};
use ndcrawl_model::{CanonicalUrl, Normalizer, Relevance, TermCounts, TermId};
use ndcrawl_store::{self as store, StoreReader};
use neardup::detect::Decider;
use pagetext::PageReader;

use super::CrawlError;

/// Most redirects that an example page may have.
const MOST_HOPS: usize = 5;

/// The topic of a focused crawl, as the user gives it.
#[derive(Clone, Debug)]
pub struct FocusOptions {
    /// Examples that make up the topic together.
    pub examples: Vec<Example>,
    /// The least relevance of a page to keep.
    pub least: Option<Relevance>,
    /// The output folder, which keeps the topic from run to run.
    pub folder: PathBuf,
}

/// An example of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// Words, or a whole text.
    Text(String),
    /// A relevant page. The crawl fetches it when it begins.
    Page(CanonicalUrl),
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Page(url) => url.fmt(f),
        }
    }
}

/// Why the topic could not be determined.
#[derive(Debug, thiserror::Error)]
pub enum FocusError {
    /// The topic has no words.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// robots.txt disallows the example page.
    #[error(
        "the example page {0} may not be fetched: robots.txt disallows it. Name another, or describe the topic in words"
    )]
    Robots(CanonicalUrl),
    /// The example page could not be fetched.
    #[error("the example page {url} could not be fetched: {why}. Name another, or describe the topic in words")]
    Unanswered {
        /// The example.
        url: CanonicalUrl,
        /// The failure.
        why: String,
    },
}

/// The topic in the output folder, so that later runs need not fetch the example pages.
#[derive(Serialize, Deserialize)]
struct SavedTopic {
    examples: Vec<String>,
    topic: Topic,
}

/// Determines the topic, or loads that of an earlier run with the same examples.
pub(super) async fn determine(
    options: &FocusOptions,
    fetcher: &Fetcher,
    renderer: &PageReader,
    normalizer: &Normalizer,
    hosts: &mut HostStats,
) -> Result<Topic, CrawlError> {
    let path = options.folder.join("topic.json");
    let examples: Vec<String> = options.examples.iter().map(Example::to_string).collect();
    if let Some(kept) = read(&path)?.filter(|kept| kept.examples == examples) {
        return Ok(kept.topic);
    }
    let mut texts: Vec<Vec<TermCounts>> = Vec::new();
    for example in &options.examples {
        texts.push(match example {
            Example::Text(text) => renderer.terms_of_words(text),
            Example::Page(url) => {
                let page = ExampleFetch { fetcher, normalizer, hosts }.fetch(url).await?;
                renderer.render(&page).terms
            }
        });
    }
    let topic = Topic::of(texts.iter().map(Vec::as_slice)).map_err(FocusError::from)?;
    let kept = serde_json::to_value(SavedTopic { examples, topic: topic.clone() })?;
    store::write_json_file(&path, &kept)?;
    Ok(topic)
}

fn read(path: &Path) -> Result<Option<SavedTopic>, CrawlError> {
    Ok(store::read_json_file(path)?.map(serde_json::from_value).transpose()?)
}

struct ExampleFetch<'a> {
    fetcher: &'a Fetcher,
    normalizer: &'a Normalizer,
    hosts: &'a mut HostStats,
}

impl ExampleFetch<'_> {
    /// Fetches an example page as politely as any other, and counts the requests.
    async fn fetch(&mut self, example: &CanonicalUrl) -> Result<ndcrawl_model::Fetched, FocusError> {
        let failed = |why: String| FocusError::Unanswered { url: example.clone(), why };
        let mut url = example.clone();
        for _ in 0..=MOST_HOPS {
            if self.fetcher.robots(&url).await.allows(&url) != RobotsAnswer::Allowed {
                return Err(FocusError::Robots(url));
            }
            let answer = self.fetcher.polite_get(&url).await;
            let (origin, traffic) = (url.origin(), self.fetcher.take_traffic(&url.origin()));
            self.hosts.add_requests(&RequestCounts { origin, traffic, probes: 0 });
            let page =
                answer.map_err(|FetchFailure { class, detail, .. }| failed(format!("{}: {detail}", class.name())))?;
            match page.status {
                200..=299 => match absent_page(&page) {
                    None => return Ok(page),
                    Some(Absent::Empty) => return Err(failed("the answer is empty".to_owned())),
                    Some(Absent::Part(why)) => return Err(failed(why)),
                },
                301 | 302 | 303 | 307 | 308 => {
                    let location = page.location().unwrap_or_default();
                    let next = self.normalizer.resolve(url.as_url(), &location);
                    url = next.map_err(|error| failed(format!("redirect to '{location}': {error}")))?;
                }
                status => return Err(failed(format!("status {status}"))),
            }
        }
        Err(failed(format!("more than {MOST_HOPS} redirects in a row")))
    }
}

/// Counts the topic's terms in the pages of earlier runs. Cost: reads their records.
pub(super) fn restore(topic: Topic, reader: &StoreReader, decider: &Decider<PageRecords>) -> Result<Focus, CrawlError> {
    let mut focus = Focus::new(topic.clone());
    let vocabulary = decider.vocabulary();
    let place = |(term, _): &(Box<str>, u32)| Some((vocabulary.get(term)?, focus.place(term)?));
    let places: HashMap<TermId, u32> = topic.terms().iter().filter_map(place).collect();
    for page in reader.all_pages()? {
        let (_, page) = page?;
        focus.count(page.terms.iter().filter_map(|(term, _)| places.get(&term).copied()));
    }
    Ok(focus)
}
