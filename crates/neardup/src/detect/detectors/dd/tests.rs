//! Sets of keywords, their values, and the bands.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::detect::detectors::tests::{candidate, page};
use crate::detect::{BruteForce, Decider, InMemory, Mode, Options, Vocabulary};
use crate::model::{Detector, Verdict};
use crate::similarity;

fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).unwrap()
}

fn dd(threshold: Threshold, store_below: Option<Threshold>) -> Dd {
    Dd::new(threshold, DdOptions { store_below })
}

/// A page that has the first `own` of a hundred terms for itself, and shares those from there on.
fn sharing(own: u32, terms: u32, first_own: u32) -> Page {
    page(&(0..own).map(|term| first_own + term).chain(own..terms).collect::<Vec<_>>())
}

#[test]
fn a_value_is_the_letter_and_the_count_of_earlier_keywords_with_it() {
    let mut vocabulary = Vocabulary::default();
    for term in ["crawl", "web", "copi", "42", "搜索", "zebra", "étude", "Wide"] {
        vocabulary.intern(term).unwrap();
    }
    let keywords = Keywords::new(&vocabulary);
    let values: Vec<String> = (0..8).map(|term| keywords.value(TermId(term)).unwrap().to_string()).collect();
    assert_eq!(values, ["3-0", "23-0", "3-1", "0-0", "0-1", "26-0", "0-2", "23-1"]);
    assert_eq!(keywords.value(TermId(8)), None);
}

#[test]
fn a_decider_that_is_restored_from_its_log_gives_every_keyword_its_value() {
    let terms: Vec<String> = (0..500u32).map(|n| format!("{}{n}", char::from(b'a' + (n * 7 % 29) as u8))).collect();
    let restored = |terms: &[String]| {
        let mut decider = Decider::new(Options::default(), InMemory);
        terms.iter().for_each(|term| assert!(decider.restore_term(term).is_ok()));
        Keywords::new(decider.vocabulary())
    };
    let values = |keywords: &Keywords| (0..).map_while(|term| keywords.value(TermId(term))).collect::<Vec<_>>();
    let whole = restored(&terms);
    // Killed after any number of terms, then going on.
    for kept in [0, 1, 250, 499] {
        let mut resumed = restored(&terms[..kept]);
        terms[kept..].iter().for_each(|term| {
            resumed.add(term);
        });
        assert_eq!(values(&resumed), values(&whole));
    }
    let distinct: BTreeSet<HashValue> = values(&whole).into_iter().collect();
    assert_eq!(distinct.len(), terms.len(), "a value stands for one keyword");
}

#[test]
fn each_edge_of_a_band_falls_where_the_paper_says() {
    let edges = [
        (0, Band::Unique),
        (599_999, Band::Unique),
        (600_000, Band::Suspicious),
        (700_000, Band::Suspicious),
        (700_001, Band::AlmostNearDuplicate),
        (800_000, Band::AlmostNearDuplicate),
        (800_001, Band::NearDuplicate),
        (1_000_000, Band::NearDuplicate),
    ];
    for (score, band) in edges {
        assert_eq!(Band::of(Score(score)), band, "{score}");
    }
    let counts: BandCounts = edges.iter().map(|(score, _)| Score(*score)).collect();
    assert_eq!(
        counts.to_string().lines().map(str::trim_end).collect::<Vec<_>>(),
        [
            "SimScore    band                       pages",
            "<60%        unique                         2",
            "60% to 70%  suspicious                     2",
            "70% to 80%  almost-near-duplicate          2",
            ">80%        near-duplicate                 2",
        ]
    );
}

#[test]
fn the_threshold_is_reached_at_a_tie_and_store_below_is_not() {
    // 12 of 15 keywords together, 80 %; 3 own ones on one side.
    let (few, many) = (sharing(0, 12, 0), sharing(0, 15, 0));
    let score = |dd: Dd, bar| dd.compare(&few, &many, threshold(bar)).map(|found| found.score.0);
    assert_eq!(score(dd(threshold(800_000), None), 800_000), Some(800_000));
    assert_eq!(score(dd(threshold(800_001), None), 800_001), None);
    assert_eq!(score(dd(threshold(900_000), Some(threshold(800_000))), 800_000), None);
    assert_eq!(score(dd(threshold(900_000), Some(threshold(799_999))), 799_999), Some(800_000));
}

#[test]
fn weights_play_no_part() {
    let light = page(&[1, 2, 3]);
    let heavy = Page {
        record: similarity::Record::new((1..4).map(|term| (TermId(term), 900 * term)).collect()),
        ..light.clone()
    };
    let found = dd(threshold(800_000), None).compare(&light, &heavy, threshold(800_000));
    assert_eq!(found.map(|found| found.score.0), Some(1_000_000));
}

fn any_page() -> impl Strategy<Value = Page> {
    prop::collection::btree_set(0u32..14, 0..14).prop_map(|terms| page(&terms.into_iter().collect::<Vec<_>>()))
}

proptest! {
    #[test]
    fn the_score_is_the_definition(a in any_page(), b in any_page(), t in 0u32..=1_000_000) {
        let set = |page: &Page| page.record.terms().iter().map(|(term, _)| *term).collect::<BTreeSet<_>>();
        let (set_a, set_b) = (set(&a), set(&b));
        let (shared, together) = (set_a.intersection(&set_b).count(), set_a.union(&set_b).count());
        let expected = (shared > 0 && 1_000_000 * shared >= t as usize * together)
            .then(|| (1_000_000 * shared / together) as u32);
        let found = dd(threshold(t), None).compare(&a, &b, threshold(t));
        prop_assert_eq!(found.map(|found| found.score.0), expected);
    }

    #[test]
    fn what_reaches_a_bar_reaches_it_in_the_filter(a in any_page(), b in any_page(), t in 0u32..=1_000_000) {
        let dd = dd(threshold(t), None);
        if let Some(found) = dd.compare(&a, &b, threshold(t)) {
            let view = |page| similarity::Record::new(dd.filtered(page).into_owned());
            let (a, b) = (view(&a), view(&b));
            prop_assert!(similarity::reaches(&a, &b, dd.lower_bound(threshold(t))));
            prop_assert!(similarity::score(&a, &b) >= found.score, "bounds are bounds of scores");
        }
    }

    #[test]
    fn a_stream_is_judged_as_by_brute_force(
        pages in prop::collection::vec(prop::collection::btree_set(0u32..14, 0..14), 1..40),
        t in prop::sample::select(vec![0, 500_000, 600_000, 800_000, 1_000_000]),
        below in prop::option::of(prop::sample::select(vec![0, 333_333, 600_000, 1_000_000])),
        min_terms in 0usize..4,
    ) {
        let (detector, threshold, mode) = (Detector::Dd, threshold(t), Mode::Best);
        let dd = DdOptions { store_below: below.and_then(Threshold::from_millionths) };
        let options = Options { detector, threshold, min_terms, mode, dd, ..Options::default() };
        let names: Vec<String> = (0..14).map(|term| format!("w{term}")).collect();
        let page = |(number, terms): (u32, &BTreeSet<u32>)| {
            candidate(number, &terms.iter().map(|&term| &*names[term as usize]).collect::<Vec<_>>(), &[])
        };
        let pages: Vec<_> = (0..).zip(&pages).map(page).collect();
        let judged = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
        let verdicts: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
        let mut oracle = BruteForce::new(options);
        prop_assert_eq!(verdicts, pages.into_iter().map(|page| oracle.decide(page)).collect::<Vec<_>>());
    }
}
