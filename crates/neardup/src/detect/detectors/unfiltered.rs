//! Checks every detector against itself without index, exact-duplicate lookup or threads: nothing is lost on the way.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::build;
use crate::detect::page_match::Page;
use crate::detect::{Decider, Match, Mode, Options, Settling, Thresholding};
use crate::model::{
    Detector, Digest, FieldCounts, PageId, PageInput, Sequence, TermCounts, TermId, TermOrder, Threshold, Verdict,
};
use crate::similarity::Record;

/// The detectors whose measure can be evaluated here.
const DETECTORS: [Detector; 3] = [Detector::Mwo, Detector::ExtendedTdw, Detector::Provenance];

/// A page by its words, their counts in running text, and its sentences.
type Draft = (Vec<(u32, u32)>, u32);

fn candidate(number: u32, (words, sentence_count): &Draft) -> PageInput {
    let term = |&(word, count): &(u32, u32)| TermCounts {
        term: format!("w{word}").into(),
        counts: FieldCounts([0, 0, 0, 0, 0, 0, 0, count]),
    };
    PageInput {
        page: PageId::new("test", "", number),
        group: 0,
        body_digest: Digest::of(&number.to_le_bytes()),
        text_digest: None,
        terms: words.iter().map(term).collect(),
        order: TermOrder { sentence_count: *sentence_count, ..TermOrder::default() },
        renews: None,
        rank: 0,
    }
}

/// The best match of each page among all pages stored before, by comparing it with all of them.
fn scanned(options: &Options, drafts: &[Draft]) -> Vec<Option<Match>> {
    let mut measure = build(options).unwrap();
    let (mut pages, mut verdicts, mut learned) = (Vec::<Arc<Page>>::new(), Vec::<Option<Match>>::new(), 0);
    // Terms are numbered as they come, so that sums of rounded numbers have the same order.
    let mut numbers = HashMap::new();
    let is_compared = |page: &Page| !page.record.is_empty() && page.record.len() >= options.min_terms;
    for (words, sentence_count) in drafts {
        while pages.len() % Settling::PAGES as usize == 0 && learned < pages.len() {
            let unique = verdicts[learned].is_none();
            let is_stored = unique && is_compared(&pages[learned]);
            measure.learn(Sequence(learned as u32), &pages[learned], true, is_stored);
            learned += 1;
        }
        let mut weigh = |&(word, count): &(u32, u32)| {
            let next = numbers.len() as u32;
            (TermId(*numbers.entry(word).or_insert(next)), 100 * count)
        };
        let record = Record::new(words.iter().map(&mut weigh).collect());
        let least = measure.least_weight(&record);
        let order = TermOrder { sentence_count: *sentence_count, ..TermOrder::default() };
        let page = Arc::new(Page { group: 0, record: record.without_lighter(least), order });
        let stored = pages.iter().enumerate().filter(|(of, stored)| verdicts[*of].is_none() && is_compared(stored));
        let matches = stored.filter(|_| is_compared(&page)).filter_map(|(of, stored)| {
            let found = measure.compare(&page, stored, options.threshold)?;
            Some((
                Match {
                    of: Sequence(of as u32),
                    score: found.score,
                    second: found.second,
                    difference: found.difference,
                },
                Arc::clone(stored),
            ))
        });
        let mut matches: Vec<_> = matches.collect();
        matches.sort_by_key(|(found, _)| (Reverse(found.score), found.of));
        let chosen = if measure.needs_all_matches() {
            measure.choose(&page, matches)
        } else {
            matches.into_iter().map(|(found, _)| found).collect()
        };
        verdicts.push(chosen.first().copied());
        pages.push(page);
    }
    verdicts
}

fn decided(options: &Options, drafts: &[Draft]) -> Vec<Option<Match>> {
    let candidates = (0..).zip(drafts).map(|(number, draft)| candidate(number, draft)).collect();
    let judged = Decider::in_memory(options.clone()).decide(candidates).unwrap();
    let found = |verdict| match verdict {
        Verdict::NearDuplicate { of, score, second, difference, .. } => Some(Match { of, score, second, difference }),
        _ => None,
    };
    judged.iter().map(|judged| found(judged.verdict)).collect()
}

/// Few words, so that many pages are near each other; all counts from 1 on.
fn any_drafts() -> impl Strategy<Value = Vec<Draft>> {
    let words = prop_oneof![
        prop::collection::btree_map(0u32..8, 1u32..4, 3..8),
        prop::collection::btree_map(0u32..30, 1u32..20, 4..20),
    ];
    prop::collection::vec((words.prop_map(|words| words.into_iter().collect()), 0u32..12), 1..50)
}

proptest! {
    #[test]
    fn no_match_is_lost(
        drafts in any_drafts(),
        t in prop::sample::select(vec![0, 500_000, 700_000, 800_000, 900_000, 970_000, 1_000_000]),
        slack in prop::option::of(1u32..8),
        thresholding in prop::sample::select(vec![Thresholding::Off, Thresholding::Paper]),
    ) {
        for detector in DETECTORS {
            let options = Options {
                threshold: Threshold::from_millionths(t).unwrap(),
                thresholding,
                sentence_slack: slack,
                min_terms: 2,
                mode: Mode::Best,
                ..Options::of(detector)
            };
            prop_assert_eq!(decided(&options, &drafts), scanned(&options, &drafts), "{:?} at {}", detector, t);
        }
    }
}
