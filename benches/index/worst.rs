//! Sets on which filters fail, 20,000 records each.

use ndcrawl::record::{TermId, Threshold};
use ndcrawl::verify::Record;

use crate::contender::Kind;
use crate::random::Random;
use crate::sets::{Set, micros_of};
use crate::settings::Settings;
use crate::table::Printer;

const RECORDS: usize = 20_000;
const PROBES: usize = 50;

const CASES: [Case; 3] = [
    Case { name: "template 75 %", make: template },
    Case { name: "3-8 terms", make: short },
    Case { name: "even weights", make: even },
];

struct Case {
    name: &'static str,
    make: fn(&mut Random) -> Record,
}

pub fn run(settings: &Settings, printer: Printer) {
    let threshold = Threshold::from_millionths(800_000).expect("0.8 is a threshold");
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|&kind| settings.takes_part(kind, kind != Kind::Prefix && !kind.is_lsh()))
        .collect();
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    for Case { name, make } in CASES {
        let mut random = Random::new(settings.seed);
        let mut records: Vec<Record> = (0..RECORDS + PROBES).map(|_| make(&mut random)).collect();
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

/// 150 terms that stand in every record hold three quarters of each; the rest is rather its own, so
/// that any two records come just short of the threshold.
fn template(random: &mut Random) -> Record {
    const SHARED: usize = 150;
    const OWN: usize = 50;
    const OTHERS: usize = 3_000;
    // Uneven, as in a real template: its heaviest term has a twentieth of its mass.
    let weight = |place: usize| (30_000.0 / (place as f64 + 5.0)) as u32;
    let mut terms: Vec<(TermId, u32)> = (0..SHARED).map(|place| (TermId(place as u32), weight(place))).collect();
    let mass: u32 = terms.iter().map(|&(_, weight)| weight).sum();
    let own = random.sample(OWN, OTHERS);
    terms.extend(own.into_iter().map(|term| (TermId((SHARED + term) as u32), mass / 3 / OWN as u32)));
    Record::new(terms)
}

/// Three to eight terms, frequent ones more often.
fn short(random: &mut Random) -> Record {
    const VOCABULARY: f64 = 20_000.0;
    let terms = 3 + random.below(6);
    let term = |random: &mut Random| TermId(VOCABULARY.powf(random.share()) as u32);
    Record::new((0..terms).map(|_| (term(random), 100)).collect())
}

/// 800 of the same 4,000 terms, all of about the same weight: no term is rare, and none is heavy.
fn even(random: &mut Random) -> Record {
    let terms = random.sample(800, 4_000);
    Record::new(terms.into_iter().map(|term| (TermId(term as u32), 100 + random.below(3) as u32)).collect())
}
