//! The second check word for word, on streams of pages of two hosts.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::test_streams::pages_of_templates;
use super::*;
use crate::model::{Detector, PageInput, Sequence, Verdict};

/// The second check, word for word, in floating point, for hosts of fewer than fifty pages: does `a`, the later page,
/// agree with `b`, at this first score in millionths? `before` are the pages that count.
fn agrees(a: &PageInput, b: &PageInput, before: &[PageInput], first: u32) -> bool {
    let pages = |group: u32| before.iter().filter(move |page| page.group == group);
    let is_on_one_in = |shingle: &u32, share: usize| {
        [a.group, b.group].into_iter().any(|group| {
            let holding = pages(group).filter(|page| page.order.shingles.contains(shingle)).count();
            holding >= 5 && holding * share >= pages(group).count()
        })
    };
    let (own, other) = (set(a), set(b));
    let all: BTreeSet<u32> = own.union(&other).copied().collect();
    let beyond_core: BTreeSet<u32> = all.iter().copied().filter(|shingle| !is_on_one_in(shingle, 8)).collect();
    let text: BTreeSet<u32> = all.iter().copied().filter(|shingle| !is_on_one_in(shingle, 25)).collect();
    let both =
        |of: &BTreeSet<u32>| of.iter().filter(|shingle| own.contains(shingle) && other.contains(shingle)).count();
    let share = |of: &BTreeSet<u32>| both(of) as f64 / of.len() as f64;
    // A millionth or two for the roots and shares that are rounded.
    let required = |shingles: usize, more: f64| (0.35 + 1.5 / (shingles as f64).sqrt() + more).min(0.9) - 2e-6;
    let loose = 2.0 * (0.75 - f64::from(first) / 1e6).max(0.0);
    let are_young = pages(a.group).count().max(pages(b.group).count()) < 5;
    if first < if are_young && a.group != b.group { 600_000 } else { 680_000 } {
        return false;
    }
    let new: BTreeSet<u32> =
        text.iter().copied().filter(|shingle| own.contains(shingle) && !other.contains(shingle)).collect();
    let of_text = text.iter().filter(|shingle| own.contains(shingle)).count() as f64;
    let facts = new.iter().filter(|shingle| **shingle & 1 == 1).count();
    let has_other_facts = facts >= 20 && facts as f64 / of_text > if facts >= 100 { 0.1 } else { 0.2 };
    if are_young {
        if a.group == b.group {
            return share(&all) >= 0.9;
        }
        let contained = both(&all) as f64 / own.len().min(other.len()) as f64;
        return contained >= required(all.len(), 0.15) && !has_other_facts;
    }
    let new_words = ((1_000_000 - first) as usize * own.len() / 1_000_000).min(new.len());
    let is_one_text = (new.len() as f64) < 1.6 * ((1_000_000 - first) as usize * own.len() / 1_000_000) as f64;
    let (most_words, most_replaced) = if new_words >= 110 { (0.22, 0.2) } else { (0.26, 0.22) };
    let of_other = text.iter().filter(|shingle| other.contains(shingle)).count() as f64;
    let lacked = text.iter().filter(|shingle| !own.contains(shingle)).count();
    let lacked_words = ((1_000_000 - first) as usize * other.len() / 1_000_000).min(lacked);
    let replaced = (new_words + lacked_words) as f64 / (of_text + of_other);
    let says_more =
        is_one_text && new_words >= 20 && (new_words as f64 / of_text > most_words || replaced > most_replaced);
    match text.len() < 6 {
        _ if says_more || has_other_facts => false,
        true if share(&all) >= 0.9 => true,
        false if share(&text) >= required(text.len(), 0.0) + loose => true,
        _ if new.len() < 6 && beyond_core.len() >= 20 && share(&beyond_core) >= 0.9 => true,
        _ => a.group == b.group && differs_in_name(a, b, &beyond_core),
    }
}

/// Rule 6: beside the runs with a word of a name, the later page `a` has no text of its own. `text` is without core template.
fn differs_in_name(a: &PageInput, b: &PageInput, text: &BTreeSet<u32>) -> bool {
    let names = |page: &PageInput| -> BTreeSet<u32> {
        page.order.names.iter().map(|at| page.order.shingles[usize::from(*at)]).collect()
    };
    let (own, other, of_a, of_b) = (set(a), set(b), names(a), names(b));
    let is_both = |run: &u32| own.contains(run) && other.contains(run);
    let beside: Vec<u32> =
        text.iter().copied().filter(|run| is_both(run) || !(of_a.contains(run) || of_b.contains(run))).collect();
    let new: Vec<u32> = beside.iter().copied().filter(|run| !other.contains(run)).collect();
    let shared: Vec<u32> = beside.iter().copied().filter(is_both).collect();
    let facts = shared.iter().filter(|run| *run & 1 == 1).count();
    !of_a.is_empty()
        && new.len() < 6
        && new.iter().all(|run| run & 1 == 0)
        && shared.len() - facts >= facts.max(6)
        && shared.len() as f64 / beside.len() as f64 >= 0.9
}

fn set(page: &PageInput) -> BTreeSet<u32> {
    page.order.shingles.iter().copied().collect()
}

proptest! {
    #[test]
    fn with_a_second_condition_a_page_is_stored_if_no_stored_page_meets_both(pages in pages_of_templates()) {
        let options = Options { min_terms: 1, ..Options::of(Detector::Mwo) };
        let judged = Decider::in_memory(options.clone()).decide(pages.clone()).unwrap();
        let scores = Comparer::new(Options { second: None, ..options.clone() });
        let handles: (Comparer, Vec<usize>) = pages.iter().fold((scores, Vec::new()), |(mut scores, mut handles), page| {
            handles.push(scores.learn(page.clone()).unwrap());
            (scores, handles)
        });
        for (number, (page, said)) in pages.iter().zip(&judged).enumerate() {
            // In tests the decider updates its statistics every eight pages.
            let known = &pages[..number / 8 * 8];
            let stored = (0..number).filter(|&earlier| judged[earlier].verdict.is_unique());
            let matches: Vec<u32> = stored.filter(|&earlier| {
                let mwo = handles.0.compare(handles.1[earlier], handles.1[number]).score;
                agrees(page, &pages[earlier], known, mwo.0)
            }).map(|earlier| earlier as u32).collect();
            match said.verdict {
                Verdict::Unique => prop_assert_eq!(matches, Vec::<u32>::new(), "page {}", number),
                verdict => prop_assert!(matches.contains(&verdict.duplicate_of().unwrap().0), "page {}", number),
            }
        }
    }

    #[test]
    fn near_duplicates_that_match_no_stored_page_any_more_are_outgrown(pages in pages_of_templates()) {
        let options = Options { min_terms: 1, ..Options::of(Detector::Mwo) };
        let mut decider = Decider::in_memory(options.clone());
        let judged = decider.decide(pages.clone()).unwrap();
        let mut scores = Comparer::new(Options { second: None, ..options });
        let handles: Vec<usize> = pages.iter().map(|page| scores.learn(page.clone()).unwrap()).collect();
        let known = &pages[..(pages.len() - 1) / 8 * 8];
        let matches = |a: usize, b: usize| {
            let mwo = scores.compare(handles[a], handles[b]).score;
            agrees(&pages[b], &pages[a], known, mwo.0)
        };
        let stored: Vec<usize> = (0..pages.len()).filter(|&page| judged[page].verdict.is_unique()).collect();
        let left_out = (0..pages.len()).filter(|page| !judged[*page].verdict.is_unique());
        let expected: Vec<Sequence> = left_out
            .filter(|&page| !stored.iter().any(|&of| matches(of, page)))
            .map(|page| Sequence(page as u32))
            .collect();
        prop_assert_eq!(decider.outdated_duplicates(Sequence(0)).unwrap(), expected);
    }
}
