//! A set of stored records, and probes that search for all similar ones.
//!
//! A time is the median of three means over all probes. Brute force runs once, on some of the probes. Matches below the
//! threshold count as false. Missed matches are counted against brute force on its probes, and against the union of all
//! contenders on the others.

use std::collections::{BTreeMap, BTreeSet};

use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::Record;

use crate::brute;
use crate::clock::Moment;
use crate::contender::{Contender, Cost, Kind};
use crate::table::Row;

const PASSES: usize = 3;
/// Number of records of a big set.
pub const BIG: usize = 200_000;
/// Rivals with longer passes run once, in microseconds.
const LONG: f64 = 2e6;
/// Number of comparisons of brute force per threshold, and its minimum number of probes.
const COMPARISONS: usize = 1_000_000;
const FEWEST: usize = 8;
/// Plain brute force runs on this share of the probes of the early-terminating one.
const PLAIN_PART: usize = 4;

/// Results of one contender at one threshold.
pub struct Outcome {
    pub kind: Kind,
    pub threshold: Threshold,
    pub micros: f64,
    pub insert_micros: f64,
    pub bytes: usize,
    cost: Cost,
    /// Matches by probe.
    found: BTreeMap<usize, Vec<Sequence>>,
}

pub struct Set<'a> {
    pub name: String,
    pub records: &'a [Record],
    pub probes: &'a [Record],
}

impl Set<'_> {
    /// Runs the contenders on all probes.
    pub fn measure(&self, kinds: &[Kind], thresholds: &[Threshold]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for &kind in kinds {
            let mut built = None;
            for &threshold in thresholds {
                if !self.suits(kind, threshold) {
                    continue;
                }
                let (contender, insert_micros) = match &mut built {
                    Some(built) => built,
                    none => none.insert(self.build(kind, threshold)),
                };
                outcomes.push(self.ask(kind, contender.as_mut(), threshold, *insert_micros));
                if kind.is_built_for_one_threshold() {
                    built = None;
                }
            }
        }
        outcomes.sort_by_key(|outcome| outcome.threshold);
        outcomes
    }

    /// Returns whether a contender takes part at a threshold.
    ///
    /// MinHash is built for one similarity. At low thresholds a prefix is most of a record, so in a big set it takes as
    /// long as brute force.
    fn suits(&self, kind: Kind, threshold: Threshold) -> bool {
        let is_low = threshold.millionths() < 700_000;
        match kind {
            Kind::Lsh16x8 | Kind::Lsh21x6 => threshold.millionths() == 800_000,
            Kind::Prefix | Kind::PrefixSketch => !is_low || self.records.len() < BIG,
            Kind::Ours | Kind::Early | Kind::Plain => true,
        }
    }

    /// Stores all records. Also returns the mean time per record.
    fn build(&self, kind: Kind, threshold: Threshold) -> (Box<dyn Contender + '_>, f64) {
        let mut contender = kind.build(self.records, threshold);
        let began = Moment::now();
        (0..self.records.len() as u32).for_each(|id| contender.insert(Sequence(id)));
        let micros = began.micros() / self.records.len().max(1) as f64;
        (contender, micros)
    }

    fn ask(&self, kind: Kind, contender: &mut dyn Contender, threshold: Threshold, insert_micros: f64) -> Outcome {
        let numbers = self.probes_for(kind);
        let mut found = BTreeMap::new();
        let mut cost = Cost::default();
        let mut means = Vec::new();
        let mut buffer = Vec::new();
        let passes = if kind.is_brute() { 1 } else { PASSES };
        for pass in 0..passes {
            let mut micros = 0.0;
            for &number in &numbers {
                let began = Moment::now();
                let probe_cost = contender.probe(&self.probes[number], threshold, &mut buffer);
                micros += began.micros();
                if pass == 0 {
                    cost.add(probe_cost);
                    found.insert(number, buffer.clone());
                }
            }
            means.push(micros / numbers.len().max(1) as f64);
            if micros > LONG && kind != Kind::Ours {
                break;
            }
        }
        means.sort_unstable_by(f64::total_cmp);
        let micros = means[means.len() / 2];
        Outcome { kind, threshold, micros, insert_micros, bytes: contender.bytes(), cost, found }
    }

    fn probes_for(&self, kind: Kind) -> Vec<usize> {
        let all = self.probes.len();
        let early = (COMPARISONS / self.records.len().max(1)).max(FEWEST).min(all);
        let many = match kind {
            Kind::Early => early,
            Kind::Plain => early.div_ceil(PLAIN_PART),
            _ => all,
        };
        (0..many).map(|place| place * all / many).collect()
    }

    /// Returns a row per result.
    pub fn rows(&self, outcomes: &[Outcome]) -> Vec<Row> {
        outcomes.iter().map(|outcome| self.row(outcome, outcomes)).collect()
    }

    fn row(&self, outcome: &Outcome, all: &[Outcome]) -> Row {
        let probes = outcome.found.len().max(1) as f64;
        let brute = micros_of(all, Kind::Early, outcome.threshold);
        let (mut true_matches, mut found_true, mut found_false) = (0, 0, 0);
        for (number, found) in &outcome.found {
            let (right, wrong) = self.judge(*number, found, outcome.threshold);
            let known = all.iter().filter(|other| other.threshold == outcome.threshold);
            let known = known.filter_map(|other| other.found.get(number)).flatten().copied();
            true_matches += self.judge(*number, &known.collect::<Vec<_>>(), outcome.threshold).0;
            found_true += right;
            found_false += wrong;
        }
        let indexed = !outcome.kind.is_brute();
        let mut row = Row::default();
        row.text("set", self.name.clone());
        row.text("t", outcome.threshold.to_string());
        row.text("contender", outcome.kind.name());
        row.count("probes", outcome.found.len());
        row.number("µs/probe", outcome.micros);
        row.number_if("brute/this", brute.map(|brute| brute / outcome.micros));
        row.number("postings", outcome.cost.postings as f64 / probes);
        row.number("candidates", outcome.cost.candidates as f64 / probes);
        row.number("sketches", outcome.cost.sketches as f64 / probes);
        row.number("verified", outcome.cost.verifications as f64 / probes);
        row.text("found/true", format!("{found_true}/{true_matches}"));
        row.count("false", found_false);
        row.number_if("µs/insert", indexed.then_some(outcome.insert_micros));
        row.number_if("B/record", indexed.then_some(self.bytes_per_record(outcome)));
        row
    }

    pub fn bytes_per_record(&self, outcome: &Outcome) -> f64 {
        outcome.bytes as f64 / self.records.len().max(1) as f64
    }

    /// Counts distinct true and false matches.
    fn judge(&self, probe: usize, found: &[Sequence], threshold: Threshold) -> (usize, usize) {
        let different: BTreeSet<Sequence> = found.iter().copied().collect();
        let matches = |id: &&Sequence| brute::matches(&self.probes[probe], &self.records[id.index()], threshold);
        let right = different.iter().filter(matches).count();
        (right, found.len() - right)
    }
}

/// Returns the time of a contender at a threshold, if it took part.
pub fn micros_of(outcomes: &[Outcome], kind: Kind, threshold: Threshold) -> Option<f64> {
    let outcome = outcomes.iter().find(|outcome| outcome.kind == kind && outcome.threshold == threshold);
    outcome.map(|outcome| outcome.micros)
}
