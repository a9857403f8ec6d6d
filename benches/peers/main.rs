//! *How good are the near-duplicate detectors of other software?*
//!
//! `cargo bench --bench peers -- --pairs FILE --pages DIR [--clusters FILE]...`
//!
//! Peers see the lowercased words of a page's visible text, as such tools commonly do, without fields, stems or stop
//! words. Each runs at its default and at the setting of the highest F1 on the pairs. Clusters are decided at these
//! settings.
//!
//! | peer | setting | default |
//! |---|---|---|
//! | digest of the text | none | |
//! | simhash of 64 bits (Charikar 2002; Manku and others 2007) | bits that may differ | 3 |
//! | MinHash, 16 bands of 8, then exact Jaccard of runs of 5 words | Jaccard | 0.8 |
//! | TextProfileSignature (Nutch, Solr) | quantization rate | 0.01 |
//!
//! All detect exact copies by their bytes first, as ndcrawl does.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ndcrawl::cli::eval_text as text;
use ndcrawl::detect::{Comparison, Options};
use ndcrawl::eval::{
    self, ClusterFigures, ClusterReport, HostPages, MemberOutcome, Pages, PairLabels, PairReport, PairScores, best,
    read_clusters, read_pairs,
};
use ndcrawl::model::{DecidedBy, Detector, Normalizer, Score, Threshold};
use ndcrawl::pagetext::{self, PageReader};

use crate::peer::{Peer, peers};
use crate::words::Texts;

mod minhash;
mod peer;
mod profile;
mod simhash;
mod words;

const HELP: &str = "\
Usage, with labeled pairs and their pages:

    cargo bench --bench peers -- --pairs FILE --pages DIR [--clusters FILE]...

  --pairs FILE     pairs on which settings are chosen
  --clusters FILE  pages to decide one by one at these settings
  --pages DIR      http://S.localhost:8080/P is the file DIR/S/P";

#[derive(Default)]
struct Settings {
    pairs: PathBuf,
    clusters: Vec<PathBuf>,
    pages: PathBuf,
}

/// A peer at one setting.
struct Chosen {
    peer: Box<dyn Peer>,
    name: String,
    threshold: Threshold,
}

fn main() -> ExitCode {
    // `cargo bench` adds a flag; `cargo test --benches` must not measure.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let Some(settings) = parse(&arguments) else {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    };
    let chosen = pairs(&settings);
    for file in &settings.clusters {
        clusters(&settings.pages, file, &chosen);
    }
    ExitCode::SUCCESS
}

fn parse(arguments: &[String]) -> Option<Settings> {
    let mut settings = Settings::default();
    let mut arguments = arguments.iter();
    while let Some(flag) = arguments.next() {
        let value = PathBuf::from(arguments.next()?);
        match flag.as_str() {
            "--pairs" => settings.pairs = value,
            "--clusters" => settings.clusters.push(value),
            "--pages" => settings.pages = value,
            _ => return None,
        }
    }
    let has = |path: &Path| !path.as_os_str().is_empty();
    (has(&settings.pairs) && has(&settings.pages)).then_some(settings)
}

/// Returns ndcrawl's detectors: by weights alone, and with the second check.
fn ours() -> [(&'static str, Options); 2] {
    [("mwo, paper", Options::default()), ("mwo, host", Options::of(Detector::Mwo))]
}

/// Returns a renderer with everything that these detectors need.
fn renderer() -> PageReader {
    let order = Options::of(Detector::Mwo).order();
    PageReader::new(pagetext::Options { order, ..pagetext::Options::default() }, Normalizer::default())
}

/// Prints the table of pairs and returns the chosen settings.
fn pairs(settings: &Settings) -> Vec<Chosen> {
    let labels = read_pairs(&settings.pairs).unwrap();
    let renderer = renderer();
    let pages = Pages::render(&settings.pages, &labels.pages, &renderer, &|| ());
    let others = HostPages::find(&settings.pages, &labels.pages, &renderer, &Normalizer::default());
    let texts = Texts::read(&settings.pages, &labels.pages);
    let mut report = PairReport::new(labels, &pages);
    let mut chosen = Vec::new();
    for peer in peers() {
        let scores = scores(&report.labels, &pages, &texts, &*peer);
        let sweep = scores.sweep_over(&report.labels, peer.thresholds().into_iter());
        let usual = peer.usual();
        let best = best(&sweep).map_or(usual, |point| point.threshold);
        for threshold in if best == usual { vec![usual] } else { vec![usual, best] } {
            let name = format!("{}, {}", peer.name(), peer.setting(threshold));
            report.add_scores(PairScores { detector: name.clone(), ..scores.clone() }, &[threshold]);
            chosen.push(Chosen { peer: peer.again(), name, threshold });
        }
    }
    for (name, ours) in ours() {
        report.add(&pages, &others, &ours, &[ours.threshold], &|| ()).unwrap();
        report.runs.last_mut().unwrap().scores.detector = name.to_owned();
    }
    println!("{}\n", settings.pairs.display());
    println!("{}", text::kinds_table(&report));
    chosen
}

fn scores(labels: &PairLabels, pages: &Pages, texts: &Texts, peer: &dyn Peer) -> PairScores {
    let signatures = texts.signatures(peer);
    let comparisons = labels.pairs.iter().map(|pair| {
        let (a, b) = (pages.pages[pair.a].as_ref()?, pages.pages[pair.b].as_ref()?);
        let score = peer.score(signatures[pair.a].as_ref()?, signatures[pair.b].as_ref()?);
        let mut comparison = Comparison::by_score(Score(score), peer.usual());
        if a.candidate.body_digest == b.candidate.body_digest {
            comparison.copied = Some(DecidedBy::BodyDigest);
        }
        Some(comparison)
    });
    PairScores { detector: peer.name().to_owned(), comparisons: comparisons.collect(), comparing: Duration::ZERO }
}

fn clusters(folder: &Path, file: &Path, chosen: &[Chosen]) {
    let labels = read_clusters(file).unwrap();
    let pages = Pages::render(folder, &labels.pages, &renderer(), &|| ());
    let texts = Texts::read(folder, &labels.pages);
    let mut report = ClusterReport::new(labels, &pages);
    for Chosen { peer, name, threshold } in chosen {
        let stored = decide(&report.labels, &pages, &texts, &**peer, *threshold);
        let outcome = |member: usize| stored[member];
        report.figures.push(ClusterFigures::count(&report.labels, name, *threshold, &outcome));
    }
    for (name, ours) in ours() {
        report.add(&pages, &ours, &[ours.threshold], &|| ()).unwrap();
        report.figures.last_mut().unwrap().detector = name.to_owned();
    }
    println!("{}\n", file.display());
    println!("{}", text::figures_table(&report));
}

/// Decides pages one by one, each against all pages stored before.
fn decide(
    labels: &eval::ClusterLabels,
    pages: &Pages,
    texts: &Texts,
    peer: &dyn Peer,
    threshold: Threshold,
) -> Vec<MemberOutcome> {
    let signatures = texts.signatures(peer);
    let (mut stored, mut bodies) = (Vec::<usize>::new(), std::collections::HashSet::new());
    let decide = |member: &eval::LabeledMember| {
        let (Some(page), Some(signature)) = (&pages.pages[member.page], &signatures[member.page]) else {
            return MemberOutcome::Absent;
        };
        let is_copy = !bodies.insert(page.candidate.body_digest);
        let is_like = |other: &usize| {
            signatures[*other].as_ref().is_some_and(|other| peer.score(other, signature) >= threshold.millionths())
        };
        if is_copy || stored.iter().any(is_like) {
            return MemberOutcome::Dropped(None);
        }
        stored.push(member.page);
        MemberOutcome::Stored
    };
    labels.members.iter().map(decide).collect()
}
