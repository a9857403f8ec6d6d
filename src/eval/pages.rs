//! The labelled pages, read and rendered once for all detectors.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::address::Address;
use super::clock::Moment;
use crate::model::{Digest, Fetched, PageId, PageInput};
use crate::pagetext::Renderer;

/// The pages of a file of labels.
#[derive(Debug, Default)]
pub struct Pages {
    /// In the order of the addresses; `None` for a page that can't be had.
    pub pages: Vec<Option<Page>>,
    /// The files of those, and why.
    pub missing: Vec<Missing>,
    /// What rendering cost.
    pub cost: RenderingCost,
}

/// A rendered page.
#[derive(Clone, Debug)]
pub struct Page {
    /// As detectors see it.
    pub candidate: PageInput,
    /// The length of its body.
    pub bytes: usize,
}

/// A page that can't be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its file.
    pub file: PathBuf,
    /// Why.
    pub why: String,
}

/// What it cost to render pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RenderingCost {
    /// Pages rendered.
    pub pages: usize,
    /// Bytes of their bodies.
    pub bytes: usize,
    /// The time for which threads ran, all together; reading files is not in it.
    pub thread_time: Duration,
    /// The time on the wall, reading files included.
    pub elapsed: Duration,
    /// Threads that took part.
    pub threads: usize,
}

impl Pages {
    /// Reads and renders pages on all cores. `advance` is called after each.
    pub fn render(folder: &Path, addresses: &[Address], renderer: &Renderer, advance: &(dyn Fn() + Sync)) -> Self {
        let started = Instant::now();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(addresses.len()).max(1);
        let (groups, next) = (groups(addresses), AtomicUsize::new(0));
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(address) = addresses.get(number) else { return done };
                done.push((number, one(folder, address, groups[address.url.host()], renderer)));
                advance();
            }
        };
        let mut done = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Vec<_>>()
        });
        done.sort_unstable_by_key(|(number, _)| *number);
        let mut pages = Self::default();
        done.into_iter().for_each(|(_, done)| pages.push(done));
        pages.cost.elapsed = started.elapsed();
        pages.cost.threads = threads;
        pages
    }

    /// How many pages could be had.
    pub fn found(&self) -> usize {
        self.cost.pages
    }

    fn push(&mut self, done: Result<(Page, Duration), Missing>) {
        self.pages.push(match done {
            Ok((page, time)) => {
                self.cost.pages += 1;
                self.cost.bytes += page.bytes;
                self.cost.thread_time += time;
                Some(page)
            }
            Err(missing) => {
                self.missing.push(missing);
                None
            }
        });
    }
}

/// The page as a server would have sent it.
///
/// # Errors
/// If the file can't be read.
pub fn fetched(folder: &Path, address: &Address) -> io::Result<Fetched> {
    let body = fs::read(folder.join(&address.file))?;
    Ok(Fetched {
        url: address.url.clone(),
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".to_owned(),
        headers: vec![("content-type".to_owned(), address.media_type().as_bytes().to_vec())],
        request_headers: Vec::new(),
        body,
        truncated: false,
        address: None,
        started_at: 0,
        elapsed: Duration::ZERO,
    })
}

/// Hosts by number, as detectors know them.
fn groups(addresses: &[Address]) -> HashMap<&str, u32> {
    let mut groups = HashMap::new();
    for address in addresses {
        let next = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        groups.entry(address.url.host()).or_insert(next);
    }
    groups
}

fn one(folder: &Path, address: &Address, group: u32, renderer: &Renderer) -> Result<(Page, Duration), Missing> {
    let missing = |why: String| Missing { file: address.file.clone(), why };
    let fetched = fetched(folder, address).map_err(|error| missing(reason(&error)))?;
    let started = Moment::now();
    // As in a crawl: a panic in a parser is this page's failure.
    let candidate = catch_unwind(AssertUnwindSafe(|| candidate(&fetched, group, renderer)))
        .map_err(|_| missing("rendering failed".to_owned()))?;
    Ok((Page { candidate, bytes: fetched.body.len() }, started.elapsed()))
}

fn candidate(fetched: &Fetched, group: u32, renderer: &Renderer) -> PageInput {
    let rendered = renderer.render(fetched);
    PageInput {
        page: PageId::new("eval", fetched.url.as_str(), 0),
        group,
        body_digest: Digest::of(&fetched.body),
        text_digest: rendered.text_digest,
        terms: rendered.terms,
        order: rendered.order,
        renews: None,
    }
}

fn reason(error: &io::Error) -> String {
    if error.kind() == ErrorKind::NotFound { "no such file".to_owned() } else { error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Normaliser;

    #[test]
    fn pages_come_in_order_and_what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one.html"), "<meta charset=iso-8859-1><p>caf\u{e9}</p>").unwrap();
        fs::write(folder.path().join("a/two.txt"), "<p>plain</p>").unwrap();
        let addresses: Vec<_> =
            ["http://a.localhost/two.txt", "http://b.localhost/none.html", "http://a.localhost/one.html"]
                .iter()
                .map(|url| Address::parse(url, &Normaliser::default()).unwrap())
                .collect();
        let ticks = AtomicUsize::new(0);
        let tick = || {
            ticks.fetch_add(1, Ordering::Relaxed);
        };
        let pages = Pages::render(folder.path(), &addresses, &Renderer::default(), &tick);
        assert_eq!((ticks.into_inner(), pages.found()), (3, 2));
        assert_eq!(pages.missing, [Missing { file: "b/none.html".into(), why: "no such file".to_owned() }]);
        let terms = |page: usize| pages.pages[page].as_ref().unwrap().candidate.terms.len();
        // The brackets of plain text are text; so `p` is a term there.
        assert!(terms(0) > 0 && terms(2) > 0);
        assert!(pages.pages[1].is_none());
        assert!(pages.cost.bytes > 0);
    }
}
