//! Sets of 20,000 records that defeat filters.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use ndcrawl::model::{TermId, Threshold};
use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::Record;

use crate::base::Base;
use crate::contender::Kind;
use crate::sets::{Set, micros_of};
use crate::settings::Settings;
use crate::synthetic::Synthetic;
use crate::table::Printer;

const RECORDS: usize = 20_000;
const PROBES: usize = 50;

const CASES: [Case; 6] = [
    Case { name: "template 75 %", make: |random, records| each(random, records, many_in_template) },
    Case { name: "template 75 %, few own terms", make: |random, records| each(random, records, few_in_template) },
    Case { name: "template 75 %, own page", make: rare_in_template },
    Case { name: "template 75 %, all near t", make: pages_in_template },
    Case { name: "3-8 terms", make: |random, records| each(random, records, short) },
    Case { name: "even weights", make: |random, records| each(random, records, even) },
];

struct Case {
    name: &'static str,
    make: fn(&mut SeededRng, usize) -> Vec<Record>,
}

fn each(random: &mut SeededRng, records: usize, make: fn(&mut SeededRng) -> Record) -> Vec<Record> {
    (0..records).map(|_| make(random)).collect()
}

pub fn run(settings: &Settings, printer: Printer) {
    let threshold = Threshold::from_millionths(800_000).expect("0.8 is a valid threshold");
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|&kind| settings.takes_part(kind, kind != Kind::Prefix && !kind.is_lsh()))
        .collect();
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    for Case { name, make } in CASES {
        let mut random = SeededRng::new(settings.seed, "index");
        let mut records = make(&mut random, RECORDS + PROBES);
        let probes = records.split_off(RECORDS);
        let set = Set { name: name.into(), records: &records, probes: &probes };
        let outcomes = set.measure(&kinds, &[threshold]);
        rows.extend(set.rows(&outcomes));
        let micros = |kind| micros_of(&outcomes, kind, threshold);
        if let (Some(brute), Some(ours)) = (micros(Kind::Early), micros(Kind::Ours)) {
            figures.push((format!("{name}: time of brute force with early end / ndcrawl"), brute / ours));
        }
    }
    printer.table(&format!("Worst cases, {RECORDS} records"), &rows);
    printer.note("");
    for (name, number) in figures {
        printer.figure(&name, number, "");
    }
}

/// Terms that occur in every record with a template.
const SHARED: usize = 150;

/// A quarter of each record is rare terms of synthetic pages; 150 terms of every record are the rest.
///
/// Any two records are just below the threshold.
fn rare_in_template(random: &mut SeededRng, records: usize) -> Vec<Record> {
    let pages = pages(random, records);
    let mut counts: HashMap<TermId, usize> = HashMap::new();
    pages.iter().flat_map(Record::terms).for_each(|&(term, _)| *counts.entry(term).or_default() += 1);
    let mut by_frequency: Vec<TermId> = counts.keys().copied().collect();
    by_frequency.sort_unstable_by_key(|term| (Reverse(counts[term]), *term));
    let frequent: HashSet<TermId> = by_frequency.into_iter().take(SHARED).collect();
    let rare = |page: &Record| page.terms().iter().copied().filter(|(term, _)| !frequent.contains(term)).collect();
    pages.iter().map(|page| in_template(rare(page))).collect()
}

/// A quarter of each record is a whole synthetic page.
///
/// Any two share about a fifth of it, which brings all pairs to within 0.01 of the threshold. So only exact comparison
/// decides.
fn pages_in_template(random: &mut SeededRng, records: usize) -> Vec<Record> {
    pages(random, records).iter().map(|page| in_template(page.terms().to_vec())).collect()
}

fn pages(random: &mut SeededRng, records: usize) -> Vec<Record> {
    let base = Base::model(RECORDS, random);
    let mut synthetic = Synthetic::new(&base, random.next_u64());
    (0..records).map(|_| synthetic.record()).collect()
}

fn in_template(own: Vec<(TermId, u32)>) -> Record {
    let mass: u32 = own.iter().map(|&(_, weight)| weight).sum();
    let own = own.into_iter().map(|(term, weight)| (TermId(SHARED as u32 + term.0), weight));
    Record::new(template(3 * mass).chain(own).collect())
}

/// A quarter is 150 of 24,000 terms. A comparison must read on until it sees that the pages differ there.
fn many_in_template(random: &mut SeededRng) -> Record {
    even_in_template(random, 150, 24_000)
}

/// A quarter is 50 of 3,000 terms.
fn few_in_template(random: &mut SeededRng) -> Record {
    even_in_template(random, 50, 3_000)
}

/// The record's own terms have equal weight, so none is more selective than another.
fn even_in_template(random: &mut SeededRng, own: usize, others: usize) -> Record {
    const MASS: u32 = 30_000;
    let weight = MASS / own as u32;
    let own = random.sample(own, others).into_iter().map(|term| (TermId((SHARED + term) as u32), weight));
    Record::new(template(3 * MASS).chain(own).collect())
}

/// Weights are uneven, as in real templates: the heaviest term has a sixteenth of the mass.
fn template(mass: u32) -> impl Iterator<Item = (TermId, u32)> {
    let share = |place: usize| 1.0 / (place as f64 + 5.0);
    let whole: f64 = (0..SHARED).map(share).sum();
    (0..SHARED).map(move |place| (TermId(place as u32), (f64::from(mass) * share(place) / whole) as u32))
}

/// Records of three to eight terms, preferably frequent ones.
fn short(random: &mut SeededRng) -> Record {
    const VOCABULARY: f64 = 20_000.0;
    let terms = 3 + random.below(6);
    let term = |random: &mut SeededRng| TermId(VOCABULARY.powf(random.share()) as u32);
    Record::new((0..terms).map(|_| (term(random), 100)).collect())
}

/// 800 of the same 4,000 terms with about the same weight: no term is rare, and none is heavy.
fn even(random: &mut SeededRng) -> Record {
    let terms = random.sample(800, 4_000);
    Record::new(terms.into_iter().map(|term| (TermId(term as u32), 100 + random.below(3) as u32)).collect())
}
