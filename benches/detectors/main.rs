//! Compares the five detectors: cost per page as the collection grows, and quality on search results of a topic, as in
//! the papers.
//!
//! `cargo bench --bench detectors -- --cost DIR [--most N]`
//!
//! `cargo bench --bench detectors -- --topics FILE --clusters FILE --pages DIR`

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ndcrawl::detect::{Options, SecondCheck};
use ndcrawl::model::{Detector, Normalizer, WantedOrder};
use ndcrawl::pagetext::{self, PageReader};

mod cost;
#[path = "../shared/html.rs"]
mod html;
#[path = "../shared/rendered_pages.rs"]
mod rendered_pages;
mod topics;

const HOW: &str = "\
Cost per page of each detector as the collection grows:

    cargo bench --bench detectors -- --cost DIR [--most N] [--only DETECTOR]

  --cost DIR  folder of HTML pages, repeated with renamed terms as often as needed
  --most N    number of pages [default: 100000]
  --only NAME only this detector

Quality of each detector on search results of topics:

    cargo bench --bench detectors -- --topics FILE --clusters FILE --pages DIR

  --topics FILE    TSV with a column `title`: the topics
  --clusters FILE  labeled pages to search
  --pages DIR      http://S.localhost:8080/P is the file DIR/S/P";

fn main() {
    // `cargo bench` adds a flag; `cargo test --benches` must not measure.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut options: HashMap<&str, &str> = HashMap::new();
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return println!("{HOW}") };
        options.insert(name, value);
    }
    let path = |name: &str| options.get(name).map(PathBuf::from);
    match (path("--cost"), path("--topics"), path("--clusters"), path("--pages")) {
        (Some(folder), None, None, None) => {
            let most = options.get("--most").map_or(100_000, |most| most.parse().unwrap());
            cost::table(&folder, most, options.get("--only").copied());
        }
        (None, Some(topics), Some(clusters), Some(pages)) => topics::table(&topics, &clusters, &pages),
        _ => println!("{HOW}"),
    }
}

/// Returns every detector in its default setting, and the paper's form of the default detector.
fn detectors() -> Vec<(&'static str, Options)> {
    let compare = Detector::ALL.into_iter().filter(|detector| *detector != Detector::None);
    let of_papers = ("mwo, paper's weights", Options { second: SecondCheck::None, ..Options::default() });
    compare.map(|detector| (detector.name(), Options::of(detector))).chain([of_papers]).collect()
}

/// Returns a renderer with everything that any detector needs.
fn renderer(order: WantedOrder) -> PageReader {
    PageReader::new(pagetext::Options { order, ..pagetext::Options::default() }, Normalizer::default())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
