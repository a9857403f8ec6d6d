//! Synthetic sets of increasing size.

use ndcrawl::model::Threshold;
use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::Record;

use crate::base::Base;
use crate::contender::Kind;
use crate::sets::{BIG, Outcome, Set, micros_of};
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::synthetic::{Probe, Synthetic};
use crate::table::{Printer, Row, grouped};
use crate::{reopen, threads};

/// Number of base pages, as in the data to which the model is fitted.
const BASE_PAGES: usize = 113_000;
/// Beyond this size, the signatures of MinHash do not fit into the memory of a common machine.
const HUGE: usize = 2_000_000;

/// Measures all sizes, with base pages of a crawl, or of the model without one.
pub fn run(settings: &Settings, printer: Printer, crawl: Option<&[Record]>) -> Result<(), String> {
    let base = match crawl {
        Some(records) => Base::of(records),
        None => Base::model(BASE_PAGES, &mut SeededRng::new(settings.seed, "index")),
    };
    let mut done = Vec::new();
    for &size in &settings.synthetic {
        let mut synthetic = Synthetic::new(&base, settings.seed);
        let records: Vec<Record> = (0..size).map(|_| synthetic.record()).collect();
        let name = grouped(&size.to_string());
        printer.table(&format!("{name} synthetic records"), &describe(&records));
        let probes = synthetic.probes(settings.probes, &records);
        printer.note("");
        let changed = probes.iter().filter(|probe| probe.is_changed).count();
        printer.note(&format!("  {} probes, {changed} of them stored records with some mass replaced", probes.len()));
        drop(synthetic);
        let probes: Vec<Record> = probes.into_iter().map(|Probe { record, .. }| record).collect();
        let set = Set { name, records: &records, probes: &probes };
        let outcomes = set.measure(&contenders(settings, size), &settings.thresholds);
        printer.table("All that is similar, per probe", &set.rows(&outcomes));
        printer.note("");
        figures(printer, &set, &outcomes);
        if settings.threads {
            threads::run(printer, &set, &settings.thresholds);
        }
        if settings.reopen {
            reopen::run(printer, &set.name, &records).map_err(|error| error.to_string())?;
        }
        done.push((size, outcomes));
    }
    growth(settings, printer, &done);
    Ok(())
}

/// Slow or similar rivals take part in smaller sets only, unless selected.
fn contenders(settings: &Settings, size: usize) -> Vec<Kind> {
    let by_default = |kind| match kind {
        Kind::Prefix | Kind::Lsh21x6 => size < BIG,
        Kind::Lsh16x8 => size < HUGE,
        _ => true,
    };
    Kind::ALL.into_iter().filter(|&kind| settings.takes_part(kind, by_default(kind))).collect()
}

/// Prints the set beside the one of the same size in the design study.
fn describe(records: &[Record]) -> Vec<Row> {
    let is = Statistics::of(records);
    let vocabulary = match records.len() {
        10_000 => Some(160_000.0),
        100_000 => Some(1_200_000.0),
        1_000_000 => Some(6_700_000.0),
        _ => None,
    };
    let wanted = [
        [Some(113.0), Some(167.0), Some(273.0), Some(183.0)],
        [Some(0.64), Some(0.26), Some(0.029), Some(0.001)],
        [vocabulary, None, None, None],
    ];
    let row =
        |name: &str, [p10, p50, p90, mean]: [Option<f64>; 4], shares: [Option<f64>; 4], vocabulary, single: &str| {
            let mut row = Row::default();
            row.text("", name);
            row.number_if("terms p10", p10);
            row.number_if("p50", p50);
            row.number_if("p90", p90);
            row.number_if("mean", mean);
            let heads = ["df/N, rank 10", "100", "1,000", "10,000"];
            heads.into_iter().zip(shares).for_each(|(head, share)| row.number_if(head, share));
            row.number_if("vocabulary", vocabulary);
            row.text("in one record", single);
            row
        };
    let [p10, p50, p90] = is.percentiles.map(Some);
    let single = format!("{:.0} %", is.single * 100.0);
    vec![
        row("this set", [p10, p50, p90, Some(is.terms)], is.shares.map(Some), Some(is.vocabulary as f64), &single),
        row("wanted", wanted[0], wanted[1], wanted[2][0], "73-86 %"),
    ]
}

fn figures(printer: Printer, set: &Set, outcomes: &[Outcome]) {
    let name = &set.name;
    for ours in outcomes.iter().filter(|outcome| outcome.kind == Kind::Ours) {
        let threshold = ours.threshold;
        for rival in [Kind::Early, Kind::Plain, Kind::PrefixSketch, Kind::Lsh16x8] {
            if let Some(micros) = micros_of(outcomes, rival, threshold) {
                let figure = format!("{name} records, t = {threshold}: time of {} / ndcrawl", rival.name());
                printer.figure(&figure, micros / ours.micros, "");
            }
        }
    }
    if let Some(ours) = outcomes.iter().find(|outcome| outcome.kind == Kind::Ours) {
        printer.figure(&format!("{name} records: memory of ndcrawl"), set.bytes_per_record(ours), "B/record");
        printer.figure(&format!("{name} records: taking one in"), ours.insert_micros, "µs");
    }
}

/// Prints how the time grows with the size.
fn growth(settings: &Settings, printer: Printer, done: &[(usize, Vec<Outcome>)]) {
    for pair in done.windows(2) {
        let [(small, before), (big, after)] = pair else { continue };
        let ratio = |threshold: Threshold| {
            Some(micros_of(after, Kind::Ours, threshold)? / micros_of(before, Kind::Ours, threshold)?)
        };
        for &threshold in &settings.thresholds {
            if let Some(ratio) = ratio(threshold) {
                let [small, big] = [small, big].map(|size| grouped(&size.to_string()));
                printer.figure(&format!("t = {threshold}: time at {big} records / at {small}"), ratio, "");
            }
        }
    }
}
