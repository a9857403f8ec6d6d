//! Pages rendered for the decider.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ndcrawl::model::{Digest, Normalizer, PageId, PageInput, WantedOrder};
use ndcrawl::pagetext::{self, PageReader};

use crate::html;

/// Renders pages on all cores. `group` returns the host of a page.
pub fn rendered(files: &[PathBuf], order: WantedOrder, group: impl Fn(&Path) -> u32 + Sync) -> Vec<PageInput> {
    let reader = PageReader::new(pagetext::Options { order, ..pagetext::Options::default() }, Normalizer::default());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { return done };
            done.push((number, input(file, group(file), &reader)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, PageInput)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, page)| page).collect()
}

fn input(file: &Path, group: u32, reader: &PageReader) -> PageInput {
    let fetched = html::page(file);
    let rendered = reader.render(&fetched);
    PageInput {
        page: PageId::new("bench", fetched.url.as_str(), 0),
        group,
        body_digest: Digest::of(&fetched.body),
        text_digest: rendered.text_digest,
        terms: rendered.terms,
        order: rendered.order,
        renews: None,
        rank: 0,
    }
}
