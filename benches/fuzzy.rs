//! Measures the fuzzy detector: savings of each optimization, losses of its candidate step, and its quality on labeled
//! pairs by threshold.
//!
//! `cargo bench --bench fuzzy -- DIR [--every N] [--query TEXT] [--pairs FILE]`

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ndcrawl::detect::fuzzy::{FuzzyOptions, FuzzySets};
use ndcrawl::detect::{Decider, Options, Page};
use ndcrawl::model::{
    Detector, Digest, Fetched, FieldWeights, Normalizer, PageContent, PageId, PageInput, PageTerms, Term, TermCounts,
    TermId, TermOrder, Threshold, WantedOrder,
};
use ndcrawl::pagetext::{self, PageReader, query_terms};
use ndcrawl::similarity::Record;

use crate::html::{html_files, page};

#[path = "shared/html.rs"]
mod html;

const HOW: &str = "\
Usage, with a folder of HTML pages:

    cargo bench --bench fuzzy -- DIR [--every N] [--query TEXT] [--pairs FILE]

  --every N     use only every N-th page
  --query TEXT  query for the row of sentences with query terms [default: file]
  --pairs FILE  TSV of url_a, url_b and label (near, dup or distinct); http://S.localhost:8080/P is
                the file DIR/S/P";
/// Number of pages that stand for the results of a query.
const RESULTS: usize = 60;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.remove(at);
        Some(arguments.remove(at))
    };
    let every: usize = option("--every").map_or(1, |every| every.parse().unwrap());
    let query = option("--query").unwrap_or_else(|| "file".to_owned());
    let pairs = option("--pairs");
    let [folder] = &arguments[..] else {
        println!("{HOW}");
        return;
    };
    let folder = Path::new(folder);
    if let Some(pairs) = pairs {
        return labelled(folder, &std::fs::read_to_string(pairs).unwrap());
    }
    let files: Vec<PathBuf> = html_files(folder).into_iter().step_by(every).collect();
    println!("{} pages", files.len());
    rendering(&files);
    let mut terms = Terms::default();
    let rendered: Vec<PageContent> = files.iter().map(|file| renderer(true).render(&page(file))).collect();
    let pages: Vec<Page> = rendered.iter().map(|rendered| terms.page(rendered)).collect();
    speed_ups(&pages, &terms.ids(&query));
    candidates(&pages);
    stream(&rendered);
}

fn renderer(sentences: bool) -> PageReader {
    let order = WantedOrder { sentence_count: sentences, sentences, ..WantedOrder::default() };
    PageReader::new(pagetext::Options { order, ..pagetext::Options::default() }, Normalizer::default())
}

/// Numbers terms, as the decider does.
#[derive(Default)]
struct Terms(HashMap<Term, u32>);

impl Terms {
    fn page(&mut self, rendered: &PageContent) -> Page {
        let mut number = |term: &TermCounts| {
            let next = self.0.len() as u32;
            *self.0.entry(term.term.clone()).or_insert(next)
        };
        let ids: Vec<u32> = rendered.terms.iter().map(&mut number).collect();
        let counts: Vec<_> = ids.iter().zip(&rendered.terms).map(|(id, term)| (TermId(*id), term.counts)).collect();
        let sentences = &rendered.order.sentences;
        let sentences = sentences.iter().map(|words| words.iter().map(|word| ids[*word as usize]).collect()).collect();
        let record = Record::from_counts(&PageTerms::new(counts), &FieldWeights::default());
        Page { group: 0, record, order: TermOrder { sentences, ..TermOrder::default() } }
    }

    fn ids(&self, query: &str) -> Vec<u32> {
        query_terms(query).iter().filter_map(|term| self.0.get(term).copied()).collect()
    }
}

fn threshold(value: f64) -> Threshold {
    Threshold::try_from(value).unwrap()
}

fn rendering(files: &[PathBuf]) {
    let pages: Vec<Fetched> = files.iter().map(|file| page(file)).collect();
    let time = |renderer: &PageReader| {
        let start = Instant::now();
        let sentences: usize = pages.iter().map(|page| renderer.render(page).order.sentences.len()).sum();
        (start.elapsed(), sentences)
    };
    let (without, with) = (renderer(false), renderer(true));
    let _ = (time(&without), time(&with));
    let (plain, (listed, sentences)) = (time(&without).0, time(&with));
    println!("rendering {plain:?}, with {sentences} sentences {listed:?}\n");
}

/// Measures the paper's setting, each optimization alone, and all together.
fn speed_ups(pages: &[Page], query: &[u32]) {
    let none = FuzzyOptions {
        candidates: threshold(0.0),
        copies_first: false,
        least_words: 0,
        most_words: 0,
        skip_known: false,
        ..FuzzyOptions::default()
    };
    let all = FuzzyOptions { first_results: 10, ..FuzzyOptions::default() };
    let rows = [
        ("no speed-up", none.clone(), false),
        ("1 query terms", none.clone(), true),
        ("2 copies first", FuzzyOptions { copies_first: true, ..none.clone() }, false),
        ("3 lengths 3-100", FuzzyOptions { least_words: 3, most_words: 100, ..none.clone() }, false),
        ("4 look-up table", FuzzyOptions { skip_known: true, ..none.clone() }, false),
        ("5 first ten", FuzzyOptions { first_results: 10, ..none }, false),
        ("2, 3, 4", FuzzyOptions::default(), false),
        ("all", all, true),
    ];
    // Neighboring files contain duplicates, as results of a query do.
    let results = &pages[pages.len() / 2..(pages.len() / 2 + RESULTS).min(pages.len())];
    println!("{:<18}{:>12}{:>14}{:>12}", "switch", "time", "comparisons", "duplicates");
    for (name, options, asked) in rows {
        let mut results = results.to_vec();
        if asked {
            let has_term = |words: &Vec<u32>| words.iter().any(|word| query.contains(word));
            results.iter_mut().for_each(|page| page.order.sentences.retain(has_term));
        }
        let sets = FuzzySets::new(pages, threshold(0.5), &options);
        let start = Instant::now();
        let found = sets.among(&results);
        let time = start.elapsed();
        let duplicates = found.duplicate_of.iter().flatten().count();
        println!("{name:<18}{time:>12.1?}{:>14}{duplicates:>12}", found.comparisons);
    }
    println!();
}

/// Counts the matching pairs whose word overlap is below each floor.
fn candidates(pages: &[Page]) {
    let sample: Vec<&Page> = pages.iter().step_by((pages.len() / 400).max(1)).collect();
    let floors = [0.1, 0.2, 0.3, 0.5, 0.6];
    let (mut matches, mut lost) = (0, [0; 5]);
    let options = FuzzyOptions::default();
    let sets = FuzzySets::new(pages, threshold(0.5), &options);
    for (number, a) in sample.iter().enumerate() {
        for b in sample[..number].iter().filter(|b| sets.compare(a, b).is_some()) {
            matches += 1;
            let overlap = overlap(a, b, &options);
            for (floor, lost) in floors.iter().zip(&mut lost) {
                *lost += u32::from(overlap < *floor);
            }
        }
    }
    println!("{matches} matching pairs among {} pages", sample.len());
    floors.iter().zip(lost).for_each(|(floor, lost)| println!("  below {floor}: {lost}"));
    println!();
}

fn overlap(a: &Page, b: &Page, options: &FuzzyOptions) -> f64 {
    let words = |page: &Page| -> std::collections::BTreeSet<u32> {
        let distinct = |words: &Vec<u32>| words.iter().copied().collect::<std::collections::BTreeSet<_>>();
        let counts = |words: &std::collections::BTreeSet<u32>| {
            words.len() >= options.least_words && words.len() <= options.most_words
        };
        page.order.sentences.iter().map(distinct).filter(counts).flatten().collect()
    };
    let (a, b) = (words(a), words(b));
    a.intersection(&b).count() as f64 / a.len().max(b.len()).max(1) as f64
}

/// Measures the cost per page of the detector in a stream.
fn stream(rendered: &[PageContent]) {
    println!("{:<28}{:>12}{:>10}{:>14}{:>12}", "stream", "per page", "near", "comparisons", "index");
    let fuzzy = |first_results, candidates| FuzzyOptions {
        first_results,
        candidates: threshold(candidates),
        ..FuzzyOptions::default()
    };
    let rows = [
        ("mwo", Detector::Mwo, fuzzy(0, 0.6)),
        ("dd", Detector::Dd, fuzzy(0, 0.6)),
        ("fuzzy", Detector::Fuzzy, fuzzy(0, 0.6)),
        ("fuzzy, candidates 0.3", Detector::Fuzzy, fuzzy(0, 0.3)),
        ("fuzzy, candidates 0.5", Detector::Fuzzy, fuzzy(0, 0.5)),
        ("fuzzy, first 10", Detector::Fuzzy, fuzzy(10, 0.6)),
        ("fuzzy, first 30", Detector::Fuzzy, fuzzy(30, 0.6)),
    ];
    for (name, detector, fuzzy) in rows {
        let threshold = Options::default_threshold(detector, false);
        let mut decider = Decider::in_memory(Options { detector, threshold, fuzzy, ..Options::default() });
        let candidates = (0u32..).zip(rendered).map(|(number, rendered)| PageInput {
            page: PageId::new("bench", "", number),
            group: 0,
            body_digest: Digest::of(&number.to_le_bytes()),
            text_digest: rendered.text_digest,
            terms: rendered.terms.clone(),
            order: rendered.order.clone(),
            renews: None,
            rank: 0,
        });
        let batch: Vec<PageInput> = candidates.collect();
        let start = Instant::now();
        let judged = decider.decide(batch).unwrap();
        let time = start.elapsed() / rendered.len() as u32;
        let near = judged.iter().filter(|judged| !judged.verdict.is_unique()).count();
        let stats = decider.stats();
        println!("{name:<28}{time:>12.1?}{near:>10}{:>14}{:>12}", stats.counters.verifications, stats.index_bytes);
    }
}

/// Measures precision and recall on labeled pairs by threshold.
fn labelled(folder: &Path, pairs: &str) {
    let (mut terms, mut pages) = (Terms::default(), HashMap::<&str, Page>::new());
    let (with_sentences, mut labels) = (renderer(true), Vec::new());
    for line in pairs.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [a, b, label, ..] = columns[..] else { continue };
        let file = |url: &str| {
            let (site, path) = url.strip_prefix("http://")?.split_once(".localhost:8080/")?;
            Some(folder.join(site).join(path)).filter(|path| path.is_file())
        };
        let (Some(file_a), Some(file_b)) = (file(a), file(b)) else { continue };
        let is_near = match label {
            "near" | "dup" => true,
            "distinct" => false,
            _ => continue,
        };
        for (url, file) in [(a, file_a), (b, file_b)] {
            pages.entry(url).or_insert_with(|| terms.page(&with_sentences.render(&page(&file))));
        }
        labels.push((a, b, is_near));
    }
    let mut reference: Vec<(&&str, &Page)> = pages.iter().collect();
    reference.sort_unstable_by_key(|(url, _)| **url);
    let reference: Vec<Page> =
        reference.iter().step_by(reference.len().div_ceil(2_048)).map(|(_, page)| (*page).clone()).collect();
    println!("{} pairs of {} pages", labels.len(), pages.len());
    println!("{:<10}{:<10}{:<10}{:>11}{:>9}{:>9}{:>10}", "T1", "together", "T", "precision", "recall", "F1", "time");
    for (first, together, second) in sweep() {
        let options =
            FuzzyOptions { sentence_threshold: threshold(first), least_together: together, ..FuzzyOptions::default() };
        let start = Instant::now();
        let sets = FuzzySets::new(&reference, threshold(second), &options);
        let (mut hits, mut wrong, mut missed) = (0.0, 0.0, 0.0);
        for (a, b, is_near) in &labels {
            let (a, b) = (&pages[a], &pages[b]);
            // As in the detector, whose index leaves out the other pairs.
            let are_candidates = overlap(a, b, &options) >= f64::from(options.candidates);
            match (are_candidates && sets.compare(a, b).is_some(), is_near) {
                (true, true) => hits += 1.0,
                (true, false) => wrong += 1.0,
                (false, true) => missed += 1.0,
                (false, false) => {}
            }
        }
        let (precision, recall) = (hits / f64::max(hits + wrong, 1.0), hits / f64::max(hits + missed, 1.0));
        let f1 = 2.0 * hits / f64::max(2.0 * hits + wrong + missed, 1.0);
        println!(
            "{first:<10}{together:<10}{second:<10}{precision:>11.3}{recall:>9.3}{f1:>9.3}{:>10.1?}",
            start.elapsed()
        );
    }
}

fn sweep() -> Vec<(f64, u32, f64)> {
    let mut rows = Vec::new();
    for first in [0.8, 0.95, 0.98, 0.99, 0.999] {
        rows.extend([0.5, 0.8, 0.9].map(|second| (first, 2, second)));
    }
    rows.extend([1, 3, 5].map(|together| (0.99, together, 0.5)));
    rows
}
