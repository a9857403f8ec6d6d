//! Reads and renders the labeled pages, once for all detectors.

use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use super::address::Address;
use super::clock::ThreadClock;
use ndcrawl_model::{Digest, Fetched, PageId, PageInput};
use pagetext::PageReader;

/// The pages of a label file.
#[derive(Debug, Default)]
pub struct Pages {
    /// In the order of the addresses; `None` for a missing page.
    pub pages: Vec<Option<EvalPage>>,
    /// The missing pages.
    pub missing: Vec<MissingPage>,
    /// Cost of rendering.
    pub cost: RenderingCost,
}

/// A rendered page.
#[derive(Clone, Debug)]
pub struct EvalPage {
    /// The input of detectors.
    pub candidate: PageInput,
    /// Length of the body in bytes.
    pub bytes: usize,
}

/// A page that cannot be read or rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPage {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub why: String,
}

/// Cost of rendering pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RenderingCost {
    /// Pages rendered.
    pub pages: usize,
    /// Bytes of their bodies.
    pub bytes: usize,
    /// CPU time of all threads, without reading files.
    pub thread_time: Duration,
    /// Wall-clock time, with reading files.
    pub elapsed: Duration,
    /// Number of threads.
    pub threads: usize,
}

impl Pages {
    /// Reads and renders pages on all cores. Calls `advance` after each page.
    pub fn render(folder: &Path, addresses: &[Address], renderer: &PageReader, advance: &(dyn Fn() + Sync)) -> Self {
        let started = Instant::now();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(addresses.len()).max(1);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(address) = addresses.get(number) else { return done };
                done.push((number, render_one(folder, address, renderer)));
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

    /// Returns the number of rendered pages.
    pub fn found(&self) -> usize {
        self.cost.pages
    }

    fn push(&mut self, done: Result<(EvalPage, Duration), MissingPage>) {
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

/// Reads a page as if a server had sent it.
///
/// # Errors
/// If the file cannot be read.
pub fn fetched(folder: &Path, address: &Address) -> io::Result<Fetched> {
    let body = fs::read(folder.join(&address.file))?;
    Ok(Fetched::of_file(address.url.clone(), address.media_type(), body))
}

/// Returns the number of a host, which detectors use as a group. The same in a crawl.
fn group_of(host: &str) -> u32 {
    xxh3_64(host.as_bytes()) as u32
}

fn render_one(folder: &Path, address: &Address, renderer: &PageReader) -> Result<(EvalPage, Duration), MissingPage> {
    let missing = |why: String| MissingPage { file: address.file.clone(), why };
    let fetched = fetched(folder, address).map_err(|error| missing(reason(&error)))?;
    let started = ThreadClock::now();
    // As in a crawl: a panic in a parser fails only this page.
    let candidate = catch_unwind(AssertUnwindSafe(|| candidate(&fetched, renderer)))
        .map_err(|_| missing("rendering failed".to_owned()))?;
    Ok((EvalPage { candidate, bytes: fetched.body.len() }, started.elapsed()))
}

fn candidate(fetched: &Fetched, renderer: &PageReader) -> PageInput {
    let rendered = renderer.render(fetched);
    PageInput {
        page: PageId::new("eval", fetched.url.as_str(), 0),
        group: group_of(fetched.url.host()),
        body_digest: Digest::of(&fetched.body),
        text_digest: rendered.text_digest,
        terms: rendered.terms,
        order: rendered.order,
        renews: None,
        rank: 0,
    }
}

fn reason(error: &io::Error) -> String {
    if error.kind() == ErrorKind::NotFound { "no such file".to_owned() } else { error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    #[test]
    fn pages_come_in_order_and_what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one.html"), "<meta charset=iso-8859-1><p>caf\u{e9}</p>").unwrap();
        fs::write(folder.path().join("a/two.txt"), "<p>plain</p>").unwrap();
        let addresses: Vec<_> =
            ["http://a.localhost/two.txt", "http://b.localhost/none.html", "http://a.localhost/one.html"]
                .iter()
                .map(|url| Address::parse(url, &Normalizer::default()).unwrap())
                .collect();
        let ticks = AtomicUsize::new(0);
        let tick = || {
            ticks.fetch_add(1, Ordering::Relaxed);
        };
        let pages = Pages::render(folder.path(), &addresses, &PageReader::default(), &tick);
        assert_eq!((ticks.into_inner(), pages.found()), (3, 2));
        assert_eq!(pages.missing, [MissingPage { file: "b/none.html".into(), why: "no such file".to_owned() }]);
        let terms = |page: usize| pages.pages[page].as_ref().unwrap().candidate.terms.len();
        // The brackets of plain text are text; so `p` is a term there.
        assert!(terms(0) > 0 && terms(2) > 0);
        assert!(pages.pages[1].is_none());
        assert!(pages.cost.bytes > 0);
    }
}
