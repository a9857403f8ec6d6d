//! Pages that are decided again, and pages that change places.

use std::collections::HashMap;

use proptest::prelude::*;

use super::test_rows::{judged_pages, log_of};
use super::test_streams::{Log, any_stream, committed_and_reopened, options, page_of, threshold};
use super::*;
use crate::model::{Detector, Digest, Judged, PageId, PageInput, RunningText, Sequence, TermOrder, Verdict};

proptest! {
    #[test]
    fn pages_decided_again_are_decided_as_brute_force_decides_them(
        pages in any_stream(),
        ranks in prop::collection::vec(0u8..3, 60),
        revised in prop::collection::vec(any::<bool>(), 60),
        within in prop_oneof![Just(Within::Crawl), Just(Within::Host)],
    ) {
        let options = Options { within, ..options(700_000, 2) };
        let (mut decider, mut oracle) = (Decider::in_memory(options.clone()), BruteForce::new(options.clone()));
        let (mut stream, mut all): (Vec<PageInput>, Vec<Judged>) = (Vec::new(), Vec::new());
        let mut near = Vec::new();
        let pages: Vec<PageInput> = pages.into_iter().zip(ranks).map(|(page, rank)| PageInput { rank, ..page }).collect();
        for (page, revised) in pages.iter().zip(revised) {
            let earlier = if revised { near.pop() } else { None };
            let mut next = vec![page.clone()];
            next.extend(earlier.map(|earlier: Sequence| renewal(&stream[earlier.index()], earlier)));
            while let Some(candidate) = next.pop() {
                let judged = decider.decide(vec![candidate.clone()]).unwrap().remove(0);
                prop_assert_eq!(judged.verdict, oracle.decide(candidate.clone()), "page {}", judged.sequence);
                if matches!(judged.verdict, Verdict::NearDuplicate { .. }) && candidate.renews.is_none() {
                    near.push(judged.sequence);
                }
                next.extend(judged.displaced.map(|page| renewal(&stream[page.index()], page)));
                stream.push(candidate);
                all.push(judged);
            }
        }
        let rows = log_of(&stream, &all);
        let said: Vec<Verdict> = all.iter().map(|judged| judged.verdict).collect();
        prop_assert_eq!(Audit::new(options.clone(), judged_pages(&rows), &said).differences(), []);

        let mut snapshot = Vec::new();
        decider.save(&mut snapshot).unwrap();
        let log = Log::default();
        let mut reopened = committed_and_reopened(options.clone(), &stream, &all, log.clone());
        let mut loaded = Decider::new(options, log);
        loaded.load(&mut &snapshot[..]).unwrap();
        for (number, page) in pages.iter().enumerate() {
            let copy = PageInput { page: PageId::new("copy", "", number as u32), ..page.clone() };
            let said = decider.decide(vec![copy.clone()]).unwrap()[0].verdict;
            prop_assert_eq!(reopened.decide(vec![copy.clone()]).unwrap()[0].verdict, said);
            prop_assert_eq!(loaded.decide(vec![copy]).unwrap()[0].verdict, said);
        }
    }
}

proptest! {
    /// A duplicate takes the place of the stored page if, and only if, brute force then has all of the cluster name it.
    #[test]
    fn a_chosen_page_takes_the_place_where_all_others_would_name_it(
        pages in any_stream(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        within in prop_oneof![Just(Within::Crawl), Just(Within::Host)],
    ) {
        let options = Options { within, mode: Mode::Best, ..options(700_000, 2) };
        let log = Log::default();
        let mut decider = Decider::new(options.clone(), log.clone());
        let (mut oracle, mut stream, mut all) = (BruteForce::new(options.clone()), Vec::new(), Vec::new());
        let mut decide = |decider: &mut Decider<Log>, oracle: &mut BruteForce, page: PageInput| {
            let judged = decider.decide(vec![page.clone()]).unwrap().remove(0);
            log.0.lock().unwrap().extend(log_of(std::slice::from_ref(&page), std::slice::from_ref(&judged)));
            decider.committed(Sequence(judged.sequence.0 + 1));
            let expected = oracle.decide(page.clone());
            stream.push(page);
            all.push(judged.clone());
            (judged, expected)
        };
        let mut inputs = HashMap::new();
        for page in true_copies(pages) {
            let (judged, expected) = decide(&mut decider, &mut oracle, page.clone());
            prop_assert_eq!(judged.verdict, expected);
            inputs.insert(judged.sequence, page);
        }
        for choice in choices {
            let names = |page: &Sequence| decider.verdict(*page).and_then(|verdict| verdict.duplicate_of());
            let mut duplicates: Vec<Sequence> = inputs.keys().copied().filter(|page| names(page).is_some()).collect();
            duplicates.sort_unstable();
            if duplicates.is_empty() {
                break;
            }
            let chosen = *choice.get(&duplicates);
            let kept = names(&chosen).unwrap();
            let mut others: Vec<Sequence> =
                duplicates.into_iter().filter(|page| *page != chosen && names(page) == Some(kept)).collect();
            let can = decider.can_take_place(chosen, kept, &others).unwrap();
            others.insert(0, kept);
            let again = |page: Sequence| renewal(&inputs[&page], page);
            let chosen_again = PageInput { rank: PageInput::CHOSEN, ..again(chosen) };
            let mut trial = oracle.clone();
            let is_unique = trial.decide(chosen_again.clone()).is_unique();
            let number = Sequence(decider.stats().judged as u32);
            let all_follow = others.iter().all(|page| trial.decide(again(*page)).duplicate_of() == Some(number));
            prop_assert_eq!(can, is_unique && all_follow, "{} for {}", chosen, kept);
            if !can {
                continue;
            }
            let renewed: Vec<_> = [(chosen, chosen_again)].into_iter().chain(others.iter().map(|page| (*page, again(*page)))).collect();
            for (page, input) in renewed {
                let (judged, expected) = decide(&mut decider, &mut oracle, input);
                prop_assert_eq!(judged.verdict, expected);
                let input = inputs.remove(&page).unwrap();
                inputs.insert(judged.sequence, input);
            }
        }
        let rows = log_of(&stream, &all);
        let said: Vec<Verdict> = all.iter().map(|judged| judged.verdict).collect();
        prop_assert_eq!(Audit::new(options.clone(), judged_pages(&rows), &said).differences(), []);
        let mut reopened = committed_and_reopened(options.clone(), &stream, &all, Log::default());
        let mut snapshot = Vec::new();
        reopened.save(&mut snapshot).unwrap();
        let mut loaded = Decider::new(options, log);
        loaded.load(&mut &snapshot[..]).unwrap();
        for (number, page) in inputs.into_values().enumerate() {
            let copy = PageInput { page: PageId::new("copy", "", number as u32), ..page };
            let said = decider.decide(vec![copy.clone()]).unwrap()[0].verdict;
            prop_assert_eq!(reopened.decide(vec![copy.clone()]).unwrap()[0].verdict, said);
            prop_assert_eq!(loaded.decide(vec![copy]).unwrap()[0].verdict, said);
        }
    }
}

/// The pages, where those of one body have one text, and those of one text have the same terms.
fn true_copies(pages: Vec<PageInput>) -> impl Iterator<Item = PageInput> {
    let (mut bodies, mut texts) = (HashMap::<Digest, PageInput>::new(), HashMap::<Digest, PageInput>::new());
    pages.into_iter().map(move |mut page| {
        if let Some(first) = bodies.get(&page.body_digest) {
            (page.text_digest, page.terms) = (first.text_digest, first.terms.clone());
        } else if let Some(first) = page.text_digest.and_then(|text| texts.get(&text)) {
            page.terms = first.terms.clone();
        }
        bodies.entry(page.body_digest).or_insert_with(|| page.clone());
        page.text_digest.map(|text| texts.entry(text).or_insert_with(|| page.clone()).clone());
        page
    })
}

/// A list that came first, an article, another article like both, and a page that is like the list only.
fn list_and_articles() -> Vec<PageInput> {
    let of_words = |number: usize, own: &[u32]| {
        let words: Vec<(u32, u32)> = (0..99).chain(own.iter().copied()).map(|word| (word, 1)).collect();
        let text = words.iter().map(|(word, _)| (word + 1).wrapping_mul(0x9E37_79B1)).collect();
        let text = RunningText { words: text, name: Vec::new() };
        PageInput { order: TermOrder { text, ..TermOrder::default() }, ..page_of(number, &words) }
    };
    let list = of_words(0, &[99, 200, 201, 202]);
    let article = PageInput { rank: 2, ..of_words(1, &[99]) };
    let other_article = PageInput { rank: 2, ..of_words(2, &[99, 100]) };
    let like_the_list = of_words(3, &[200, 201, 202, 300, 301, 302]);
    vec![list, article, other_article, like_the_list]
}

#[test]
fn a_page_of_higher_rank_takes_the_place_of_the_one_that_came_first() {
    let options = Options { threshold: threshold(950_000), min_terms: 1, ..Options::of(Detector::Mwo) };
    let mut decider = Decider::in_memory(options.clone());
    let mut stream = list_and_articles();
    let mut judged = decider.decide(stream.clone()).unwrap();
    let named = |judged: &[Judged]| judged.iter().map(|page| page.verdict.duplicate_of()).collect::<Vec<_>>();
    assert_eq!(named(&judged), [None, Some(Sequence(0)), Some(Sequence(0)), Some(Sequence(0))]);
    assert_eq!(decider.outranking(Sequence(0)), [Sequence(1)], "the first of equals");
    assert_eq!(decider.outranking(Sequence(2)), [Sequence(2)]);

    let again = renewal(&stream[1], Sequence(1));
    stream.push(again.clone());
    judged.extend(decider.decide(vec![again]).unwrap());
    assert_eq!((judged[4].verdict, judged[4].displaced), (Verdict::Unique, Some(Sequence(0))));
    let list = renewal(&stream[0], Sequence(0));
    stream.push(list.clone());
    judged.extend(decider.decide(vec![list]).unwrap());
    assert_eq!(judged[5].verdict.duplicate_of(), Some(Sequence(4)));
    assert_eq!(decider.outranking(Sequence(0)), [], "of equal rank, or renewed");
    // What was like the list only is like nothing that is stored.
    assert_eq!(decider.outdated_duplicates(Sequence(4)).unwrap(), [Sequence(3)]);

    // Audit, snapshot and restored log agree, and nothing is named that is no longer stored.
    let rows = log_of(&stream, &judged);
    let said: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
    let unchecked = Options { second: SecondCheck::None, ..options.clone() };
    assert_eq!(Audit::new(unchecked, judged_pages(&rows), &without_second(&said)).differences(), []);
    let mut snapshot = Vec::new();
    decider.save(&mut snapshot).unwrap();
    let log = Log::default();
    let mut reopened = committed_and_reopened(options.clone(), &stream, &judged, log.clone());
    let mut loaded = Decider::new(options, log);
    loaded.load(&mut &snapshot[..]).unwrap();
    for (number, page) in (0..).zip(&stream[..4]) {
        let copy = vec![PageInput { page: PageId::new("copy", "", number), ..page.clone() }];
        let said = decider.decide(copy.clone()).unwrap()[0].verdict;
        assert_ne!(said.duplicate_of(), Some(Sequence(0)), "copy of {number}");
        assert_eq!(reopened.decide(copy.clone()).unwrap()[0].verdict, said, "copy of {number}");
        assert_eq!(loaded.decide(copy).unwrap()[0].verdict, said, "copy of {number}");
    }
}

/// The verdicts without the score of the second check.
fn without_second(verdicts: &[Verdict]) -> Vec<Verdict> {
    let without = |verdict: &Verdict| match *verdict {
        Verdict::NearDuplicate { of, score, detector, decided_by, .. } => {
            Verdict::NearDuplicate { of, score, second: None, difference: None, detector, decided_by }
        }
        verdict => verdict,
    };
    verdicts.iter().map(without).collect()
}

/// The same page under another name, to be decided again.
fn renewal(page: &PageInput, earlier: Sequence) -> PageInput {
    PageInput { page: PageId::new("revised", "", earlier.0), renews: Some(earlier), ..page.clone() }
}
