//! `Deduplicator` beside MinHash with banding (the crate `gaoya`): speed, and decisions that are wrong.
//!
//! ```sh
//! cargo bench -p neardup --bench gaoya
//! ```
//!
//! A stream of synthetic texts, of which a third are edited copies of earlier ones. Each contender keeps what it calls
//! unique. A decision is *missed* if a kept text reaches the threshold by the contender's own measure, computed
//! exactly, and the contender says unique. It is *false* if the text that it names does not reach it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, VecContainer};
use neardup::text::{Tokenizer, TokenizerOptions};
use neardup::{Deduplicator, Verdict};

const THRESHOLD: f64 = 0.8;
const DOCUMENTS: usize = 3_000;
const VOCABULARY: u64 = 30_000;

/// SplitMix64: the same texts on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A word; the lower its number, the more frequent.
    fn word(&mut self) -> u64 {
        let unit = self.next() as f64 / u64::MAX as f64;
        ((VOCABULARY as f64).powf(unit) - 1.0) as u64
    }
}

fn texts() -> Vec<Vec<u64>> {
    let mut random = Random(1);
    let mut texts: Vec<Vec<u64>> = Vec::new();
    for number in 0..DOCUMENTS {
        if number % 3 == 2 {
            let mut text = texts[random.below(number as u64) as usize].clone();
            let edits = text.len() as u64 * random.below(40) / 100;
            for _ in 0..edits {
                let place = random.below(text.len() as u64) as usize;
                text[place] = random.word();
            }
            texts.push(text);
        } else {
            let length = 150 + random.below(450);
            texts.push((0..length).map(|_| random.word()).collect());
        }
    }
    texts
}

/// Letters only, and no word is another's stem.
fn spelled(words: &[u64]) -> String {
    words
        .iter()
        .map(|word| format!("{}q ", word.to_string().bytes().map(|d| char::from(d - b'0' + b'a')).collect::<String>()))
        .collect()
}

/// What a contender said of each text: the text that it repeats.
struct Run {
    name: String,
    took: Duration,
    said: Vec<Option<usize>>,
    exact: fn(&Terms, &Terms) -> f64,
}

/// Distinct terms, ascending, and their counts.
type Terms = Vec<(u32, u32)>;

fn neardup(texts: &[String]) -> Run {
    let mut documents: Deduplicator<usize> =
        Deduplicator::builder().own_words(false).threshold(THRESHOLD).build().expect("settings");
    let start = Instant::now();
    let said = texts.iter().enumerate().map(|(key, text)| match documents.insert(key, text).expect("an insertion") {
        Verdict::Unique => None,
        verdict => verdict.duplicate_of().copied(),
    });
    let said = said.collect();
    Run { name: "neardup".to_owned(), took: start.elapsed(), said, exact: overlap }
}

fn gaoya(texts: &[String], bands: usize, rows: usize) -> Run {
    let tokenizer = Tokenizer::new(TokenizerOptions::default());
    let hasher = MinHasher32::new(bands * rows);
    let mut index: MinHashIndex<u32, usize, VecContainer<usize>> = MinHashIndex::new_index(bands, rows, THRESHOLD);
    let start = Instant::now();
    let mut said = Vec::new();
    for (key, text) in texts.iter().enumerate() {
        let terms = tokenizer.terms_of(text);
        let signature = hasher.create_signature(terms.iter().map(|term| &*term.term));
        let found = index.query_owned(&signature).into_iter().min();
        if found.is_none() {
            index.insert(key, signature);
        }
        said.push(found);
    }
    Run { name: format!("gaoya, {bands} bands of {rows}"), took: start.elapsed(), said, exact: jaccard }
}

/// Minimum weight overlapping.
fn overlap(a: &Terms, b: &Terms) -> f64 {
    let total = |terms: &Terms| terms.iter().map(|term| f64::from(term.1)).sum::<f64>();
    let (in_a, in_b) = (total(a), total(b));
    common(a, b).map(|(a, b)| (f64::from(a) / in_a).min(f64::from(b) / in_b)).sum()
}

fn jaccard(a: &Terms, b: &Terms) -> f64 {
    let both = common(a, b).count();
    both as f64 / (a.len() + b.len() - both) as f64
}

/// The counts of the terms that both have.
fn common<'a>(a: &'a Terms, b: &'a Terms) -> impl Iterator<Item = (u32, u32)> + 'a {
    let mut rest = b.iter().peekable();
    a.iter().filter_map(move |(term, count)| {
        while rest.next_if(|other| other.0 < *term).is_some() {}
        rest.next_if(|other| other.0 == *term).map(|other| (*count, other.1))
    })
}

/// How many decisions are missed and false.
fn wrong(run: &Run, terms: &[Terms]) -> (usize, usize) {
    // A sum of shares may end a rounding below a tie.
    let reaches = |a: usize, b: usize| (run.exact)(&terms[a], &terms[b]) >= THRESHOLD - 1e-9;
    let (mut kept, mut missed, mut false_ones) = (Vec::new(), 0, 0);
    for (number, said) in run.said.iter().enumerate() {
        match said {
            Some(of) => false_ones += usize::from(!reaches(*of, number)),
            None => {
                missed += usize::from(kept.iter().any(|of| reaches(*of, number)));
                kept.push(number);
            }
        }
    }
    (missed, false_ones)
}

fn main() {
    let texts: Vec<String> = texts().iter().map(|words| spelled(words)).collect();
    let tokenizer = Tokenizer::new(TokenizerOptions::default());
    let mut numbers = HashMap::<String, u32>::new();
    let terms: Vec<Terms> = texts
        .iter()
        .map(|text| {
            let mut terms = Terms::new();
            for term in tokenizer.terms_of(text) {
                let new = numbers.len() as u32;
                let number = *numbers.entry(term.term.to_string()).or_insert(new);
                terms.push((number, term.counts.0.iter().sum()));
            }
            terms.sort_unstable();
            terms
        })
        .collect();
    println!("{} texts, {} distinct terms, threshold {THRESHOLD}\n", texts.len(), numbers.len());
    println!("| | texts a second | duplicates | missed | false |\n|---|---|---|---|---|");
    for run in [neardup(&texts), gaoya(&texts, 16, 8), gaoya(&texts, 21, 6), gaoya(&texts, 42, 3)] {
        let duplicates = run.said.iter().flatten().count();
        let (missed, false_ones) = wrong(&run, &terms);
        let rate = texts.len() as f64 / run.took.as_secs_f64();
        println!("| {} | {rate:.0} | {duplicates} | {missed} | {false_ones} |", run.name);
    }
}
