//! The five detectors beside each other: what a page costs as the collection grows, and what they say
//! on pages found for a topic, as the papers have it.
//!
//! `cargo bench --bench detectors -- --cost DIR [--most N]`
//!
//! `cargo bench --bench detectors -- --topics FILE --clusters FILE --pages DIR`

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ndcrawl::detect::Options;
use ndcrawl::model::{Detector, Normaliser, WantedOrder};
use ndcrawl::pagetext::{self, Renderer};

mod cost;
#[path = "../shared/html.rs"]
mod html;
mod topics;

const HOW: &str = "\
What a page costs each detector as the collection grows:

    cargo bench --bench detectors -- --cost DIR [--most N] [--only DETECTOR]

  --cost DIR  folder of HTML pages; once through, they come again with every term another
  --most N    judge so many pages [default: 100000]
  --only NAME one detector only

What each detector says on pages found for a topic, the first of which is the query:

    cargo bench --bench detectors -- --topics FILE --clusters FILE --pages DIR

  --topics FILE    TSV with a column `title`: the topics
  --clusters FILE  labelled pages, which are searched
  --pages DIR      http://S.localhost:8080/P is the file DIR/S/P";

fn main() {
    // `cargo bench` adds a flag of its own; `cargo test --benches` is no occasion for measuring.
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

/// Every detector that compares pages, as it is meant to be used; and the paper's form of the default.
fn detectors() -> Vec<(&'static str, Options)> {
    let compare = Detector::ALL.into_iter().filter(|detector| *detector != Detector::None);
    let of_papers = ("mwo, paper's weights", Options { second: None, ..Options::default() });
    compare.map(|detector| (detector.name(), Options::of(detector))).chain([of_papers]).collect()
}

/// Renders what any detector looks at.
fn renderer(order: WantedOrder) -> Renderer {
    Renderer::new(pagetext::Options { order, ..pagetext::Options::default() }, Normaliser::default())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
