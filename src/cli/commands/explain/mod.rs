//! *Why does a URL have its outcome, and what do two pages share?*
//!
//! Reads a finished crawl: the line of the URL, the lines from a seed to it, the robots.txt of its origin, and the
//! log of pages. The log repeats the decision ([`Replay`](crate::detect::Replay)).

mod find;
mod judgement;
mod nearest;
mod pair;
mod pair_text;
mod text;

use std::path::Path;

use serde::Serialize;

use crate::detect;
use crate::fetch::{RobotsRule, deciding_rule};
use crate::model::{ErrorLine, Normalizer, OutcomeKind, PageLine, UrlId, shown_origin, shown_url};
use crate::store::StoreReader;

use crate::cli::args::ExplainArguments;
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, exit, opening_error};
use crate::cli::saved_settings;
use crate::cli::setup;
use crate::cli::terminal::print;

use find::LineIndex;
use judgement::Judgement;

use pair::PagePair;

/// Explains a URL, or compares two, as text or JSON.
pub(super) fn run(arguments: &ExplainArguments) -> Result<u8, CliError> {
    let (folder, url, other) = arguments.named();
    let Some(url) = url else {
        let error = CliError::usage(format!("{}: no URL to explain", folder.display()));
        return Err(error.with_hint("name one that the crawl has seen: ndcrawl explain DIR URL"));
    };
    if arguments.all && other.is_none() {
        return Err(CliError::usage("--all: name two pages to compare, as in ndcrawl explain DIR URL URL2 --all"));
    }
    let mut crawl = ExplainedCrawl::open(&folder)?;
    let object = |json: serde_json::Result<String>| json.map(|json| json + "\n").map_err(anyhow::Error::from);
    print(&match other {
        None => {
            let explanation = crawl.explain(url)?;
            match arguments.json {
                true => object(serde_json::to_string(&explanation))?,
                false => explanation.text(&folder.display().to_string()),
            }
        }
        Some(other) => {
            let pair = crawl.compare(url, other)?;
            if arguments.json { object(serde_json::to_string(&pair))? } else { pair.text(arguments.all) }
        }
    })
}

/// The block cache of the store, in bytes.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// The explanation of a URL.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Its line of `pages.jsonl`; `None` while it is queued.
    line: Option<PageLine>,
    /// The URL.
    url: String,
    /// The chain of links from a seed.
    path: Vec<PathStep>,
    /// The rule of robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    robots: Option<RobotsView>,
    /// Its line of `errors.jsonl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine>,
    /// The line of the page that it duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<PageLine>,
    /// The repeated decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<Judgement>,
    /// The earlier crawls that it was also compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against: Vec<String>,
}

/// A URL on the path to another.
#[derive(Clone, Debug, Serialize)]
struct PathStep {
    url: String,
    depth: u16,
    outcome: OutcomeKind,
}

/// What robots.txt says about a URL.
#[derive(Debug, Serialize)]
struct RobotsView {
    origin: String,
    /// The HTTP status of robots.txt; 0 if it was unreachable.
    status: u16,
    /// Whether the matching rule allows the URL; `None` if no rule matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    allows: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// A finished crawl.
pub struct ExplainedCrawl {
    settings: Settings,
    options: detect::Options,
    reader: StoreReader,
    lines: LineIndex,
}

impl ExplainedCrawl {
    /// Opens the output folder of a crawl that is not running.
    pub fn open(folder: &Path) -> Result<Self, CliError> {
        let settings = saved_settings::settings(folder)?;
        let opened = StoreReader::open(folder, CACHE_BYTES).map_err(opening_error);
        let lines = LineIndex::index(folder)?;
        Ok(Self { options: setup::detect_options(&settings), reader: opened?.0, lines, settings })
    }

    /// Explains the outcome of a URL.
    pub fn explain(&mut self, url: &str) -> Result<Explanation, CliError> {
        let url = self.resolve_url(url)?;
        let line = self.lines.get(&url)?;
        let id = self.id(&url)?;
        let path = self.path(&url, id)?;
        let original = match line.as_ref().and_then(|line| line.duplicate_of.clone()) {
            Some(of) if line.as_ref().is_none_or(|line| line.duplicate_in.is_none()) => self.lines.get(&of)?,
            _ => None,
        };
        // The log lacks the pages of earlier crawls, so the decision cannot be repeated.
        let against = self.settings.dedup.against.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>();
        let judgement = match id {
            Some(id) if against.is_empty() => judgement::judgement(&self.reader, &self.options, id)?,
            _ => None,
        };
        let error = if line.as_ref().is_some_and(|line| line.outcome == OutcomeKind::Failed) {
            self.lines.error(&url)?
        } else {
            None
        };
        Ok(Explanation { robots: self.robots(&url)?, line, url, path, error, original, judgement, against })
    }

    /// Compares two pages.
    pub fn compare(&mut self, one: &str, other: &str) -> Result<PagePair, CliError> {
        let urls = [self.resolve_url(one)?, self.resolve_url(other)?];
        let mut ids = Vec::new();
        for url in &urls {
            let unjudged = || CliError::usage(format!("{url}: this URL was not compared, so it has no record"));
            ids.push(self.id(url)?.ok_or_else(unjudged)?);
        }
        let lines = [self.lines.get(&urls[0])?, self.lines.get(&urls[1])?];
        pair::pair(&self.reader, &self.options, &urls, [ids[0], ids[1]], lines)
    }

    /// Returns the URL as the crawl spells it. An unknown URL is an error that suggests similar ones.
    fn resolve_url(&mut self, text: &str) -> Result<String, CliError> {
        let normalizer = Normalizer::new(self.settings.normalise_options());
        let schemes = ["", "http://", "https://"];
        let spellings = schemes.iter().filter_map(|scheme| normalizer.absolute(&format!("{scheme}{text}")).ok());
        let spellings: Vec<String> =
            std::iter::once(text.to_owned()).chain(spellings.map(|url| url.to_string())).collect();
        for spelling in &spellings {
            if self.lines.has(spelling) || self.id(spelling)?.is_some() {
                return Ok(spelling.clone());
            }
        }
        let error = CliError::new(exit::USAGE, format!("{text}: this crawl has not seen this URL"));
        Err(match self.lines.nearest(text)?.hint() {
            None => error.with_hint(
                "no page that was fetched links to it, or no input has it; to crawl it, name it as a seed with --add",
            ),
            Some(hint) => error.with_hint(hint),
        })
    }

    /// Returns the number of the URL in the log.
    fn id(&self, url: &str) -> Result<Option<UrlId>, CliError> {
        for row in self.reader.all_urls().map_err(opening_error)? {
            let (id, row) = row.map_err(opening_error)?;
            if shown_url(&row.url) == url {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Returns the path from a seed to the page that links to the URL.
    fn path(&mut self, url: &str, id: Option<UrlId>) -> Result<Vec<PathStep>, CliError> {
        let mut next = match self.lines.get(url)? {
            Some(line) => line.referrer,
            None => self.referrer(id)?,
        };
        let mut path = Vec::new();
        while let Some(url) = next {
            let Some(line) = self.lines.get(&url)? else { break };
            // Ends a cycle of referrers.
            if path.iter().any(|step: &PathStep| step.url == url) {
                break;
            }
            path.push(PathStep { url: line.url, depth: line.depth, outcome: line.outcome });
            next = line.referrer;
        }
        path.reverse();
        Ok(path)
    }

    fn referrer(&self, id: Option<UrlId>) -> Result<Option<String>, CliError> {
        let Some(row) = id.map(|id| self.reader.url(id)).transpose().map_err(opening_error)?.flatten() else {
            return Ok(None);
        };
        let referrer =
            row.discovery.referrer.map(|id| self.reader.url(id)).transpose().map_err(opening_error)?.flatten();
        Ok(referrer.map(|row| row.url))
    }

    fn robots(&self, url: &str) -> Result<Option<RobotsView>, CliError> {
        let normalizer = Normalizer::new(self.settings.normalise_options());
        let Ok(url) = normalizer.absolute(url) else { return Ok(None) };
        let origin = url.origin();
        for row in self.reader.all_hosts().map_err(opening_error)? {
            let row = row.map_err(opening_error)?;
            let Some(robots) = row.robots.filter(|_| row.origin == origin) else { continue };
            let had = (200..300).contains(&robots.status);
            let token = &self.settings.identity.robots_agent.0;
            let rule = had.then(|| deciding_rule(&robots.body, token, &url)).flatten();
            let (allows, path) = rule.map(|RobotsRule { allows, path }| (allows, path)).unzip();
            return Ok(Some(RobotsView {
                origin: shown_origin(&row.origin).to_owned(),
                status: robots.status,
                allows,
                path,
            }));
        }
        Ok(None)
    }
}
