//! The second check word for word, on streams of pages of a few templates.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::test_streams::pages_of_templates;
use super::*;
use crate::model::{DecidedBy, Detector, MostLost, PageInput, RUN, RunningText, Sequence, Threshold, Verdict};

/// The second check, in plain words. `common` are the runs that many documents have.
fn agrees(a: &RunningText, b: &RunningText, common: &BTreeSet<u64>) -> bool {
    let ([own, adds, other], [stored_own, lacks, stored_other]) = (missing(a, b, common), missing(b, a, common));
    let is_little = |words: usize, of: usize, percent: usize| words <= 3 || words * 100 <= of * percent;
    let subject = most_uses(a, b).min(most_uses(b, a));
    let is_other_subject = subject >= 4 && subject * 200 >= a.words.len().min(b.words.len());
    let is_any_shared = other < a.words.len();
    let is_same = is_little(adds, own, 25) && is_little(lacks, stored_own, 40) && is_any_shared && !is_other_subject;
    let is_nearly_all_the_same = is_little(other, a.words.len(), 10) && is_little(stored_other, b.words.len(), 16);
    let is_all_the_same = other == 0 && stored_other == 0;
    let is_named_alike = a.name == b.name && if a.name.is_empty() { is_all_the_same } else { is_nearly_all_the_same };
    is_same && (own - adds >= 10 || is_named_alike)
}

/// Returns whether the kept page has all but so many words of the dropped one, or all but such a share.
fn loses_little(page: &RunningText, kept: &RunningText, most: Option<MostLost>) -> bool {
    let [_, _, lost] = missing(page, kept, &BTreeSet::new());
    match most {
        None => true,
        Some(MostLost::Words(words)) => lost <= words as usize,
        Some(MostLost::Share(share)) => {
            lost as f64 / page.words.len() as f64 <= f64::from(share.millionths()) / 1e6 + 1e-9
        }
    }
}

/// Any bound, also none.
fn bounds() -> impl Strategy<Value = Option<MostLost>> {
    let words = (0u32..9).prop_map(MostLost::Words);
    let shares = (0u32..25).prop_map(|percent| MostLost::Share(Threshold::from_millionths(percent * 10_000).unwrap()));
    prop::option::of(prop_oneof![words, shares])
}

/// Returns the own words, those that the other page lacks, and all words that it lacks.
fn missing(page: &RunningText, other: &RunningText, common: &BTreeSet<u64>) -> [usize; 3] {
    let theirs: BTreeSet<u64> = other.runs().collect();
    let stands_in = |at: usize, runs: &BTreeSet<u64>| {
        page.runs().enumerate().any(|(start, run)| (start..start + RUN).contains(&at) && runs.contains(&run))
    };
    let own: Vec<usize> = (0..page.words.len()).filter(|at| !stands_in(*at, common)).collect();
    let missing: BTreeSet<usize> = (0..page.words.len()).filter(|at| !stands_in(*at, &theirs)).collect();
    [own.len(), own.iter().filter(|at| missing.contains(at)).count(), missing.len()]
}

/// Returns how often a page uses a word without digit that the other never uses, at most.
fn most_uses(page: &RunningText, other: &RunningText) -> usize {
    let mut uses = BTreeMap::<u32, usize>::new();
    for word in page.words.iter().filter(|word| **word & 1 == 0 && !other.words.contains(word)) {
        *uses.entry(*word).or_default() += 1;
    }
    uses.into_values().max().unwrap_or(0)
}

/// Returns whether a near-duplicate has a subject of its own beside the page that it repeats.
fn has_subject(page: &RunningText, kept: &RunningText) -> bool {
    let theirs: BTreeSet<u64> = kept.runs().collect();
    let known: Vec<bool> = (0..page.words.len())
        .map(|at| page.runs().enumerate().any(|(from, run)| (from..from + RUN).contains(&at) && theirs.contains(&run)))
        .collect();
    let new = known.iter().filter(|known| !**known).count();
    let on_end = known.split(|known| *known).map(<[bool]>::len).max().unwrap_or(0);
    let says_something = on_end >= 10 || (new > 3 && new * 1000 >= 55 * page.words.len());
    says_something && (page.name != kept.name || page.name.is_empty())
}

/// The runs that five documents of different subjects have, of the first `known` pages.
fn common(pages: &[PageInput], verdicts: &[Verdict], known: usize) -> BTreeSet<u64> {
    let (mut counts, mut named) = (BTreeMap::<u64, usize>::new(), BTreeMap::<(&[u32], u64), usize>::new());
    for (page, verdict) in pages.iter().zip(verdicts).take(known) {
        let text = &page.order.text;
        let counts_here = match *verdict {
            Verdict::Unique => true,
            Verdict::NearDuplicate { of, decided_by: DecidedBy::Similarity, .. } => {
                has_subject(text, &pages[of.index()].order.text)
            }
            _ => false,
        };
        if !counts_here {
            continue;
        }
        let is_common = |counts: &BTreeMap<u64, usize>, run| counts.get(&run).is_some_and(|count| *count >= 5);
        let runs: BTreeSet<u64> = text.runs().filter(|run| !is_common(&counts, *run)).collect();
        let editions = |run: &u64| named.get(&(&text.name[..], *run)).copied().unwrap_or(0);
        let counts_all = text.name.is_empty() || runs.iter().any(|run| editions(run) >= 8);
        for run in runs.iter().filter(|run| counts_all || editions(run) == 0) {
            *counts.entry(*run).or_default() += 1;
        }
        runs.into_iter().for_each(|run| *named.entry((&text.name[..], run)).or_default() += 1);
    }
    counts.into_iter().filter(|(_, count)| *count >= 5).map(|(run, _)| run).collect()
}

fn options(lose_at_most: Option<MostLost>) -> Options {
    let threshold = Threshold::from_millionths(1).unwrap();
    // Streams of some dozen pages take in often what they learn.
    Options { min_terms: 1, threshold, lose_at_most, settling: Settling::Every(8), ..Options::of(Detector::Mwo) }
}

proptest! {
    #[test]
    fn a_page_is_stored_if_it_says_for_itself_what_no_stored_page_says(pages in pages_of_templates(), most in bounds()) {
        let judged = Decider::in_memory(options(most)).decide(pages.clone()).unwrap();
        let verdicts: Vec<Verdict> = judged.iter().map(|page| page.verdict).collect();
        for (number, (page, said)) in pages.iter().zip(&verdicts).enumerate() {
            let common = common(&pages, &verdicts, number / 8 * 8);
            let stored = (0..number).filter(|&earlier| verdicts[earlier].is_unique());
            let matches: Vec<u32> = stored
                .filter(|&earlier| agrees(&page.order.text, &pages[earlier].order.text, &common))
                .filter(|&earlier| loses_little(&page.order.text, &pages[earlier].order.text, most))
                .map(|earlier| earlier as u32)
                .collect();
            match said {
                Verdict::Unique => prop_assert_eq!(matches, Vec::<u32>::new(), "page {}", number),
                verdict => prop_assert!(matches.contains(&verdict.duplicate_of().unwrap().0), "page {}", number),
            }
            if let Verdict::NearDuplicate { of, difference: Some(told), .. } = said {
                let [_, _, lost] = missing(&page.order.text, &pages[of.index()].order.text, &BTreeSet::new());
                prop_assert_eq!((told.words as usize, told.loses as usize), (page.order.text.words.len(), lost));
                let kept: BTreeSet<u64> = pages[of.index()].order.text.runs().collect();
                prop_assert_eq!(page.order.text.words_outside(|run| kept.contains(&run)), lost);
            }
        }
    }

    #[test]
    fn near_duplicates_that_match_no_stored_page_any_more_are_outgrown(pages in pages_of_templates(), most in bounds()) {
        let mut decider = Decider::in_memory(options(most));
        let judged = decider.decide(pages.clone()).unwrap();
        let verdicts: Vec<Verdict> = judged.iter().map(|page| page.verdict).collect();
        let common = common(&pages, &verdicts, (pages.len() - 1) / 8 * 8);
        let stored: Vec<usize> = (0..pages.len()).filter(|&page| verdicts[page].is_unique()).collect();
        let is_alike = |page: usize, of: usize| {
            let (page, of) = (&pages[page].order.text, &pages[of].order.text);
            agrees(page, of, &common) && loses_little(page, of, most)
        };
        let left_out = (0..pages.len()).filter(|page| !verdicts[*page].is_unique());
        let expected: Vec<Sequence> = left_out
            .filter(|&page| !stored.iter().any(|&of| is_alike(page, of)))
            .map(|page| Sequence(page as u32))
            .collect();
        prop_assert_eq!(decider.outdated_duplicates(Sequence(0)).unwrap(), expected);
    }
}
