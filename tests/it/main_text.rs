//! The main text of real pages beside what people have marked.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;

use serde_json::Value;

use crate::needs::{shared, skip};
use crate::program::Place;

/// The least that the main text must reach on the public pages of articles.
const LEAST_F1: f64 = 0.95;
const LEAST_PRECISION: f64 = 0.93;

/// Counts the runs of four words of a text.
fn runs(text: &str) -> HashMap<Vec<&str>, usize> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let mut runs = HashMap::new();
    let length = words.len().min(4);
    for run in words.windows(length.max(1)) {
        *runs.entry(run.to_vec()).or_default() += 1;
    }
    runs
}

/// Returns precision, if there is a text at all, and recall.
fn score(found: &str, truth: &str) -> (Option<f64>, f64) {
    let (found, truth) = (runs(found), runs(truth));
    let common: usize = truth.iter().map(|(run, count)| *count.min(found.get(run).unwrap_or(&0))).sum();
    let total = |runs: &HashMap<Vec<&str>, usize>| runs.values().sum::<usize>();
    let precision = (total(&found) > 0).then(|| common as f64 / total(&found) as f64);
    (precision, common as f64 / total(&truth).max(1) as f64)
}

#[test]
fn the_main_text_of_articles_is_what_people_marked() {
    let Some(folder) = shared("text") else { return skip("pages of articles: shared/text is not beside the checkout") };
    let truth: Value = serde_json::from_reader(File::open(folder.join("truth-public.json")).unwrap()).unwrap();
    let place = Place::new();
    fs::create_dir(place.path("pages")).unwrap();
    for entry in fs::read_dir(folder.join("html")).unwrap() {
        let file = entry.unwrap().path();
        let mut html = Vec::new();
        flate2::read::GzDecoder::new(File::open(&file).unwrap()).read_to_end(&mut html).unwrap();
        fs::write(place.path("pages").join(file.file_stem().unwrap()), html).unwrap();
    }
    let dedup = ["dedup", "pages", "-o", "out", "--min-free", "0", "-q"];
    place.run(dedup).env("NDCRAWL_POLITENESS_NOARCHIVE", "ignore").finish().expect_code(0);
    let all = "stored,near-duplicate,exact-duplicate,excluded";
    let export = ["export", "out", "--format", "jsonl", "--noarchive", "ignore", "--outcome", all, "-o", "-", "-q"];
    let printed = place.run(export).finish().expect_code(0).stdout;
    let mut texts = HashMap::new();
    for line in printed.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["url"].as_str().unwrap().rsplit('/').next().unwrap().trim_end_matches(".html").to_owned();
        texts.insert(name, row["text"].as_str().unwrap_or_default().to_owned());
    }
    let truth = truth.as_object().unwrap();
    let scores: Vec<_> = truth
        .iter()
        .map(|(name, entry)| {
            let text = texts.get(name).map_or("", String::as_str);
            score(text, entry["articleBody"].as_str().unwrap())
        })
        .collect();
    let precisions: Vec<f64> = scores.iter().filter_map(|(precision, _)| *precision).collect();
    let precision = precisions.iter().sum::<f64>() / precisions.len() as f64;
    let recall = scores.iter().map(|(_, recall)| recall).sum::<f64>() / scores.len() as f64;
    let f1 = 2.0 * precision * recall / (precision + recall);
    println!("{} pages: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}", scores.len());
    assert!(f1 >= LEAST_F1 && precision >= LEAST_PRECISION, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
}
