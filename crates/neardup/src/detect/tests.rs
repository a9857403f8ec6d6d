//! The decider against the oracle, on streams of pages.

use proptest::prelude::*;

use super::test_rows::{judged_pages, log_of};
use super::test_streams::{
    Log, THRESHOLDS, any_stream, committed_and_reopened, options, oracle, page, threshold, told, verdicts,
};
use super::*;
use crate::index::FilterKind;
use crate::model::{DecidedBy, Detector, Judged, Score, Sequence, Verdict};

/// Verdicts that are wrong if this one is correct.
fn other_verdicts(verdict: Verdict) -> Vec<Verdict> {
    let near = |of, score| {
        let (detector, decided_by) = (Detector::Mwo, DecidedBy::Similarity);
        Verdict::NearDuplicate { of, score, second: None, difference: None, detector, decided_by }
    };
    match verdict {
        Verdict::Unique => vec![near(Sequence(0), Score(999_999))],
        Verdict::NearDuplicate { of, score, .. } => {
            vec![Verdict::Unique, near(of, Score(score.0 - 1)), near(Sequence(of.0 + 1), score)]
        }
        Verdict::ExactDuplicate { of, .. } => vec![Verdict::Unique, near(of, Score(1_000_000))],
    }
}

proptest! {
    #[test]
    fn pages_are_judged_from_the_log_as_they_were_judged_first(
        mut pages in any_stream(),
        detector in prop::sample::select(Detector::ALL.to_vec()),
        t in prop::sample::select(vec![200_000, 500_000, 800_000]),
    ) {
        for page in &mut pages {
            let places: Vec<u32> = (0..).take(page.terms.len()).collect();
            page.order.sentences = places.chunks(4).map(<[u32]>::to_vec).collect();
            page.order.sentence_count = page.order.sentences.len() as u32;
        }
        let options = Options { detector, ..options(t, 2) };
        let first = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
        let mut decider = Decider::in_memory(options);
        for term in first.iter().flat_map(|judged| &judged.new_terms) {
            decider.restore_term(term).unwrap();
        }
        let rows = log_of(&pages, &first);
        let again = decider.decide_logged(judged_pages(&rows));
        let logged = |judged: &Judged| (judged.sequence, judged.verdict, judged.terms.clone(), judged.order.clone());
        let all = |judged: &[Judged]| judged.iter().map(logged).collect::<Vec<_>>();
        prop_assert_eq!(all(&again.unwrap()), all(&first), "{}", detector.name());
    }

    #[test]
    fn the_decider_says_what_brute_force_says(
        pages in any_stream(),
        min_terms in 0usize..5,
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
    ) {
        for t in THRESHOLDS {
            let options = Options { within, ..options(t, min_terms) };
            prop_assert_eq!(verdicts(options.clone(), &pages), oracle(options, &pages), "t = {}", t);
        }
    }

    #[test]
    fn light_terms_are_dropped_as_brute_force_drops_them(
        pages in any_stream(),
        min_terms in 0usize..5,
        share in 0u32..300_000,
        t in prop::sample::select(THRESHOLDS.to_vec()),
    ) {
        for thresholding in [Thresholding::Paper, Thresholding::Fixed(threshold(share))] {
            let options = Options { thresholding, ..options(t, min_terms) };
            let expected = oracle(options.clone(), &pages);
            prop_assert_eq!(&verdicts(options.clone(), &pages), &expected, "{}", thresholding);
            let judged = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
            let rows = log_of(&pages, &judged);
            prop_assert_eq!(Audit::new(options, judged_pages(&rows), &expected).differences(), []);
        }
    }

    #[test]
    fn named_pages_are_stored_earlier_and_as_similar_as_said(pages in any_stream(), t in 0u32..=1_000_000) {
        for filter in [FilterKind::Exact, FilterKind::Paper] {
            let options = Options { filter, ..options(t, 2) };
            let mut oracle = BruteForce::new(options.clone());
            pages.iter().for_each(|page| { oracle.decide(page.clone()); });
            let verdicts = verdicts(options, &pages);
            for (number, verdict) in (0..).map(Sequence).zip(&verdicts) {
                let Some(of) = verdict.duplicate_of() else { continue };
                prop_assert!(of < number && verdicts[of.index()].is_unique());
                if let Verdict::NearDuplicate { score, decided_by: DecidedBy::Similarity, .. } = *verdict {
                    prop_assert_eq!(Some(score), oracle.score(of, number));
                    prop_assert!(score >= Score(t));
                }
            }
        }
    }

    #[test]
    fn an_audit_finds_nothing_in_what_brute_force_says_and_every_wrong_verdict(
        pages in any_stream(),
        t in prop::sample::select(THRESHOLDS.to_vec()),
        min_terms in 0usize..5,
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
        wrong in any::<prop::sample::Index>(),
    ) {
        let options = Options { within, ..options(t, min_terms) };
        let judged = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
        let rows = log_of(&pages, &judged);
        let mut said = oracle(options.clone(), &pages);
        prop_assert_eq!(Audit::new(options.clone(), judged_pages(&rows), &said).differences(), []);
        let wrong = wrong.index(said.len());
        let expected = said[wrong];
        for other in other_verdicts(expected) {
            said[wrong] = other;
            let page = Sequence(u32::try_from(wrong).unwrap());
            let differences = Audit::new(options.clone(), judged_pages(&rows), &said).differences();
            prop_assert_eq!(differences.first(), Some(&AuditDifference { page, said: other, expected }));
        }
    }

    #[test]
    fn neither_batches_nor_threads_show_in_what_is_judged(
        pages in any_stream(),
        sizes in prop::collection::vec(1usize..30, 1..6),
        t in prop::sample::select(THRESHOLDS.to_vec()),
    ) {
        for mode in [Mode::Any, Mode::Best] {
            let options = Options { mode, ..options(t, 2) };
            let mut one_by_one = Decider::in_memory(options.clone());
            let expected: Vec<Judged> =
                pages.iter().flat_map(|page| one_by_one.decide(vec![page.clone()]).unwrap()).collect();
            let mut in_batches = Decider::in_memory(options);
            let (mut found, mut rest, mut sizes) = (Vec::new(), &pages[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let (batch, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
                found.extend(in_batches.decide(batch.to_vec()).unwrap());
                rest = after;
            }
            prop_assert_eq!(told(&found), told(&expected));
        }
    }

    #[test]
    fn any_match_will_do_but_it_must_be_one(pages in any_stream(), t in prop::sample::select(THRESHOLDS.to_vec())) {
        let options = Options { mode: Mode::Any, ..options(t, 2) };
        let judged = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
        let rows = log_of(&pages, &judged);
        let said: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
        prop_assert_eq!(Audit::new(options.clone(), judged_pages(&rows), &said).differences(), []);
        let best = oracle(Options { mode: Mode::Best, ..options }, &pages);
        for (any, best) in said.iter().zip(&best) {
            prop_assert_eq!(any.is_unique(), best.is_unique());
        }
    }

    #[test]
    fn unrelated_pages_change_no_verdict(pages in any_stream(), every in 1usize..4) {
        let mut mixed = Vec::new();
        for (number, candidate) in pages.iter().enumerate() {
            if number % every == 0 {
                let words: Vec<_> = (0..10).map(|word| (1000 + 10 * number as u32 + word, 1 + word)).collect();
                mixed.push((false, page(10_000 + number, &words)));
            }
            mixed.push((true, candidate.clone()));
        }
        let all: Vec<_> = mixed.iter().map(|(_, page)| page.clone()).collect();
        let places: Vec<_> = (0..mixed.len()).filter(|&place| mixed[place].0).collect();
        let moved = verdicts(options(700_000, 1), &all);
        for (number, verdict) in verdicts(options(700_000, 1), &pages).iter().enumerate() {
            let of = verdict.duplicate_of().map(|of| places[of.index()]);
            let moved = &moved[places[number]];
            prop_assert_eq!(moved.duplicate_of().map(Sequence::index), of);
            prop_assert_eq!(std::mem::discriminant(moved), std::mem::discriminant(verdict));
        }
    }

    #[test]
    fn asking_for_all_any_or_the_best_match_agrees(pages in any_stream(), t in 0u32..=1_000_000) {
        // Filled with a threshold that stores nearly everything, queried with another.
        let filled = Decider::in_memory(options(1_000_000, 1)).decide(pages.clone()).unwrap();
        let mut decider = committed_and_reopened(options(t, 1), &pages, &filled, Log::default());
        for page in &pages {
            let all = decider.matches(0, &page.terms, Mode::All).unwrap();
            let best = decider.matches(0, &page.terms, Mode::Best).unwrap();
            let any = decider.matches(0, &page.terms, Mode::Any).unwrap();
            prop_assert!(all.is_sorted_by_key(|found| (std::cmp::Reverse(found.score), found.of)));
            prop_assert_eq!(all.first(), best.first());
            prop_assert!(best.len() <= 1 && any.len() == best.len());
            prop_assert!(any.iter().all(|found| all.contains(found)));
        }
    }
}
