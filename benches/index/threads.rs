//! Batches of probes by one thread and by several.
//!
//! Times are wall-clock times, since the speed-up is measured. So other work on the machine distorts these figures,
//! unlike the others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ndcrawl::index::Scratch;
use ndcrawl::model::{Sequence, Threshold};

use crate::contender::Contender;
use crate::ours::{Ours, look_up};
use crate::sets::Set;
use crate::table::{Printer, Row};

const ROUNDS: usize = 5;

pub fn run(printer: Printer, set: &Set<'_>, thresholds: &[Threshold]) {
    let mut ours = Ours::new(set.records);
    (0..set.records.len() as u32).for_each(|id| ours.insert(Sequence(id)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut scratches: Vec<Scratch> = (0..cores).map(|_| Scratch::default()).collect();
    let mut rows = Vec::new();
    for &threshold in thresholds {
        let mut alone = 0.0;
        for threads in 1..=cores {
            let mut rates: Vec<f64> =
                (0..ROUNDS).map(|_| rate(set, &ours, &mut scratches[..threads], threshold)).collect();
            rates.sort_unstable_by(f64::total_cmp);
            let median = rates[ROUNDS / 2];
            if threads == 1 {
                alone = median;
            }
            let mut row = Row::default();
            row.text("set", set.name.clone());
            row.text("t", threshold.to_string());
            row.count("threads", threads);
            row.number("probes/s", median);
            row.number("of one thread's", median / alone);
            rows.push(row);
        }
    }
    printer.table("Probes by several threads, by the clock", &rows);
}

/// Returns probes per second.
fn rate(set: &Set<'_>, ours: &Ours<'_>, scratches: &mut [Scratch], threshold: Threshold) -> f64 {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for scratch in scratches {
            scope.spawn(|| {
                let mut found = Vec::new();
                while let Some(probe) = set.probes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    look_up(&ours.filter, set.records, scratch, probe, threshold, &mut found);
                }
            });
        }
    });
    set.probes.len() as f64 / began.elapsed().as_secs_f64()
}
