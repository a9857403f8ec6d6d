//! Pages of a folder of sites, rendered for the decider.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ndcrawl::model::{Digest, Normalizer, PageId, PageInput, WantedOrder};
use ndcrawl::pagetext::{self, PageReader};

use crate::html;

/// Returns at most `most` pages of `DIR/SITE/PATH.html`, in the same random order on every machine.
pub fn in_random_order(folder: &Path, most: usize) -> Vec<PageInput> {
    let mut files = html::html_files(folder);
    shuffle(&mut files);
    files.truncate(most);
    let order = WantedOrder { shingles: true, ..WantedOrder::default() };
    rendered(&files, order, |file| site(folder, file))
}

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

/// Returns the number of the site in which a file is.
fn site(folder: &Path, file: &Path) -> u32 {
    let site = file.strip_prefix(folder).unwrap().components().next().unwrap();
    let number = |number: u32, byte: &u8| number.wrapping_mul(31).wrapping_add((*byte).into());
    site.as_os_str().as_encoded_bytes().iter().fold(0, number)
}

/// Shuffles alike on every machine.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 1_u64;
    for place in (1..items.len()).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        items.swap(place, ((mixed ^ (mixed >> 31)) % (place as u64 + 1)) as usize);
    }
}
