//! The benchmark sets of the index: reproducible, and similar to real crawls.

use ndcrawl::model::Threshold;
use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::{Record, reaches};

use base::Base;
use statistics::Statistics;
use synthetic::{Probe, Synthetic};

#[path = "../../benches/index/base.rs"]
mod base;
#[path = "../../benches/index/statistics.rs"]
mod statistics;
#[path = "../../benches/index/synthetic.rs"]
#[allow(clippy::module_inception)]
mod synthetic;

const RECORDS: usize = 2_000;

fn set(seed: u64) -> (Vec<Record>, Vec<Probe>) {
    let base = Base::model(4_000, &mut SeededRng::new(seed, "index"));
    let mut synthetic = Synthetic::new(&base, seed);
    let records: Vec<Record> = (0..RECORDS).map(|_| synthetic.record()).collect();
    let probes = synthetic.probes(200, &records);
    (records, probes)
}

#[test]
fn a_set_depends_on_its_seed_alone() {
    let [(one, probes), (same, same_probes), (other, _)] = [1, 1, 2].map(set);
    assert_eq!(one, same);
    assert!(probes.iter().zip(&same_probes).all(|(probe, same)| probe.record == same.record));
    assert_ne!(one[0], other[0]);
}

#[test]
fn a_set_is_like_a_crawl() {
    let (records, _) = set(1);
    let statistics = Statistics::of(&records);
    let is_about = |value: f64, wanted: f64| assert!((0.8..1.25).contains(&(value / wanted)), "{statistics:?}");
    is_about(statistics.terms, 183.0);
    statistics.percentiles.into_iter().zip([113.0, 167.0, 273.0]).for_each(|(value, wanted)| is_about(value, wanted));
    statistics.shares.into_iter().zip([0.64, 0.26, 0.029]).for_each(|(value, wanted)| is_about(value, wanted));
    assert!((0.73..0.86).contains(&statistics.single), "{statistics:?}");
}

#[test]
fn a_crawl_s_own_pages_can_be_the_base() {
    let (records, _) = set(1);
    let base = Base::of(&records);
    assert_eq!(base.vocabulary, Statistics::of(&records).vocabulary);
    assert!(base.pages.iter().flatten().all(|&rank| (rank as usize) < base.vocabulary));
    assert!(!Synthetic::new(&base, 1).record().is_empty());
}

#[test]
fn some_probes_are_near_duplicates_and_new_ones_are_not() {
    let (records, probes) = set(1);
    let threshold = Threshold::from_millionths(700_000).unwrap();
    let similar = |probe: &&Probe| records.iter().any(|record| reaches(&probe.record, record, threshold));
    let (changed, new): (Vec<&Probe>, Vec<&Probe>) = probes.iter().partition(|probe| probe.is_changed);
    assert!((30..70).contains(&changed.len()));
    let found = changed.iter().filter(|probe| similar(probe)).count();
    assert!(found * 2 > changed.len(), "{found} of {}", changed.len());
    assert_eq!(new.iter().filter(|probe| similar(probe)).count(), 0);
}
