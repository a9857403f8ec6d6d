//! Pairs that meet the criterion by a hair, so that as few runs as possible are shared: does the sample find them?

use std::collections::BTreeSet;

use crate::detect::Options;
use crate::detect::detectors::Measure;
use crate::detect::page_match::Page;
use crate::index::{ONE_IN, RunIndex};
use crate::model::{RUN, RunningText, Sequence, TermOrder};
use crate::similarity::Record;

use super::{FILED, OwnWords, OwnWordsMeasure};

/// Pairs; so many times as many where `NDCRAWL_FULL` is set.
const PAIRS: usize = 5_000;
const FULL: usize = 200;

/// Numbers that are the same on every machine (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A word that no other text has, most likely, and that is no number.
    fn word(&mut self) -> u32 {
        self.next() as u32 & !1
    }
}

/// Returns a text and a page that has it with single words replaced, at random or as regularly as hurts most, and with
/// passages left out and added.
fn pair(random: &mut Random) -> [Page; 2] {
    let stored: Vec<u32> = (0..RUN + 1 + random.below(900)).map(|_| random.word()).collect();
    let (apart, is_regular) = (RUN + 1 + random.below(3), random.below(4) > 0);
    let mut words = stored.clone();
    for (place, word) in words.iter_mut().enumerate() {
        let is_replaced = if is_regular { place % apart == RUN } else { random.below(apart) == 0 };
        if is_replaced {
            *word = random.word();
        }
    }
    words.truncate(stored.len() - random.below(stored.len() * 2 / 5));
    let added = random.below(words.len() / 3 + 1);
    words.extend((0..added).map(|_| random.word()));
    [stored, words].map(|words| Page {
        group: 0,
        record: Record::new(Vec::new()),
        order: TermOrder { text: RunningText { words, name: Vec::new() }, ..TermOrder::default() },
    })
}

/// Returns the distinct runs of the stored page, and how many of them the page has.
fn shared_runs(stored: &Page, page: &Page) -> (usize, usize) {
    let distinct = |page: &Page| page.order.text.runs().collect::<BTreeSet<u64>>();
    let (stored, page) = (distinct(stored), distinct(page));
    (stored.len(), stored.intersection(&page).count())
}

/// Returns the probability that fewer than four of 64 runs that are drawn are shared: `shared` of `all` are.
fn is_missed(all: usize, shared: usize) -> f64 {
    let ln_choose = |of: usize, some: usize| (0..some).map(|k| ((of - k) as f64 / (some - k) as f64).ln()).sum::<f64>();
    let drawn = FILED.min(all);
    let few = (0..drawn.div_ceil(ONE_IN)).filter(|few| *few <= shared && drawn - few <= all - shared);
    few.map(|few| (ln_choose(shared, few) + ln_choose(all - shared, drawn - few) - ln_choose(all, drawn)).exp()).sum()
}

/// Whether the index proposes the stored page.
fn is_found(measure: &OwnWordsMeasure, stored: &Page, page: &Page) -> bool {
    let mut index = RunIndex::default();
    let filed = measure.filed_under(stored, &measure.prepare(stored));
    index.insert(Sequence(0), &filed.expect("a page with text has runs"));
    let keys = measure.looked_up_under(page, &measure.prepare(page));
    !index.find(&keys.expect("a page with text has runs")).0.is_empty()
}

#[test]
fn of_pairs_at_the_edge_the_sample_misses_as_many_as_the_bound_tells() {
    let pairs = if std::env::var_os("NDCRAWL_FULL").is_some() { PAIRS * FULL } else { PAIRS };
    let (mut random, measure) = (Random(1), OwnWordsMeasure::new(&Options::default()));
    let (mut at_the_edge, mut missed, mut expected, mut least) = (0, 0, 0.0, 1.0_f64);
    while at_the_edge < pairs {
        let [stored, page] = pair(&mut random);
        let Some(own) = measure.own_words(&page, &stored).filter(OwnWords::is_met) else { continue };
        if own.adds * 5 < own.own && own.lacks * 3 < own.stored_own {
            continue;
        }
        let (all, shared) = shared_runs(&stored, &page);
        at_the_edge += 1;
        expected += is_missed(all, shared);
        missed += usize::from(!is_found(&measure, &stored, &page));
        least = least.min(shared as f64 / all as f64);
    }
    assert!(least < 0.25, "no pair shares as few runs as the criterion allows: {least}");
    assert!((missed as f64 - expected).abs() < 5.0 * expected.sqrt() + 1.0, "{missed} missed, {expected} expected");
}
