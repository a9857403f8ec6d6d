//! From what the user says of a topic to the topic, and what earlier runs have learnt of its terms.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::detect::Decider;
use crate::fetch::{FetchFailure, Fetcher, RobotsAnswer};
use crate::focus::{Focus, Topic, TopicError};
use crate::model::{CanonicalUrl, Normaliser, Relevance, TermCounts, TermId};
use crate::pagetext::Renderer;
use crate::pipeline::{Attempts, HostStats, Records};
use crate::store::{self, StoreReader};

use super::CrawlError;

/// Redirects that are followed from an example page.
const MOST_HOPS: usize = 5;

/// What a crawl looks for.
#[derive(Clone, Debug)]
pub struct FocusOptions {
    /// Of what the topic is made, together.
    pub examples: Vec<Example>,
    /// Pages that have less to do with it are not kept.
    pub least: Option<Relevance>,
    /// Where the topic is kept from run to run.
    pub folder: PathBuf,
}

/// What says what a topic is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// Words, or a whole text.
    Text(String),
    /// A page like those that are looked for. It is fetched when the crawl begins.
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

/// A topic that could not be made out.
#[derive(Debug, thiserror::Error)]
pub enum FocusError {
    /// It has no words.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// robots.txt says no.
    #[error(
        "the example page {0} may not be fetched: robots.txt says so. Name another, or describe the topic in words"
    )]
    Robots(CanonicalUrl),
    /// No answer.
    #[error("the example page {url} could not be fetched: {why}. Name another, or describe the topic in words")]
    Unanswered {
        /// The example.
        url: CanonicalUrl,
        /// The failure.
        why: String,
    },
}

/// The topic as it is kept in the folder: example pages are not fetched again.
#[derive(Serialize, Deserialize)]
struct Kept {
    examples: Vec<String>,
    topic: Topic,
}

/// Makes the topic out, or takes that of the earlier run if it was given by the same examples.
pub(super) async fn settle(
    options: &FocusOptions,
    fetcher: &Fetcher,
    renderer: &Renderer,
    normaliser: &Normaliser,
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
                let page = Asking { fetcher, normaliser, hosts }.fetch(url).await?;
                renderer.render(&page).terms
            }
        });
    }
    let topic = Topic::of(texts.iter().map(Vec::as_slice)).map_err(FocusError::from)?;
    let kept = serde_json::to_value(Kept { examples, topic: topic.clone() })?;
    store::write_json_file(&path, &kept)?;
    Ok(topic)
}

fn read(path: &Path) -> Result<Option<Kept>, CrawlError> {
    Ok(store::read_json_file(path)?.map(serde_json::from_value).transpose()?)
}

struct Asking<'a> {
    fetcher: &'a Fetcher,
    normaliser: &'a Normaliser,
    hosts: &'a mut HostStats,
}

impl Asking<'_> {
    /// Fetches an example page, as politely as any other, and enters the requests into the books.
    async fn fetch(&mut self, example: &CanonicalUrl) -> Result<crate::model::Fetched, FocusError> {
        let failed = |why: String| FocusError::Unanswered { url: example.clone(), why };
        let mut url = example.clone();
        for _ in 0..=MOST_HOPS {
            if self.fetcher.robots(&url).await.allows(&url) != RobotsAnswer::Allowed {
                return Err(FocusError::Robots(url));
            }
            let answer = self.fetcher.polite_get(&url).await;
            let (origin, traffic) = (url.origin(), self.fetcher.take_traffic(&url.origin()));
            self.hosts.add_attempts(&Attempts { origin, traffic, probes: 0 });
            let page =
                answer.map_err(|FetchFailure { class, detail, .. }| failed(format!("{}: {detail}", class.name())))?;
            match page.status {
                200..=299 => return Ok(page),
                301 | 302 | 303 | 307 | 308 => {
                    let location = page.header("location").unwrap_or_default();
                    let next = self.normaliser.resolve(url.as_url(), &location);
                    url = next.map_err(|error| failed(format!("redirect to '{location}': {error}")))?;
                }
                status => return Err(failed(format!("status {status}"))),
            }
        }
        Err(failed(format!("more than {MOST_HOPS} redirects in a row")))
    }
}

/// What the pages judged in earlier runs say of the terms of a topic. Cost: reads their records.
pub(super) fn restore(topic: Topic, reader: &StoreReader, decider: &Decider<Records>) -> Result<Focus, CrawlError> {
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
