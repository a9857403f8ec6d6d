//! The detector against the formulas.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::plain::Plain;
use super::*;
use crate::detect::detectors::tests::{candidate, of_sentences, page};
use crate::detect::test_rows::LogRow;
use crate::detect::{Decider, Mode, Options, Settling};
use crate::model::{Detector, Verdict};

fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).unwrap()
}

/// The paper's own options: all sentences, all pairs.
fn paper() -> FuzzyOptions {
    FuzzyOptions {
        sentence_threshold: threshold(500_000),
        candidates: threshold(0),
        least_together: 1,
        query: Vec::new(),
        copies_first: false,
        least_words: 0,
        most_words: 0,
        skip_known: false,
        first_results: 0,
    }
}

fn taught(articles: &[&[u32]], over: Threshold, options: &FuzzyOptions) -> Fuzzy {
    let mut fuzzy = Fuzzy::new(over, options.clone());
    for article in articles {
        fuzzy.learn(Sequence(0), &page(article), true, true);
    }
    fuzzy
}

/// Three articles: 1 and 2 occur together in one of three, 1 and 3 in two of three.
const ARTICLES: [&[u32]; 3] = [&[1, 2, 3], &[1, 3], &[2]];

#[test]
fn an_english_example_by_hand() {
    let fuzzy = taught(&ARTICLES, threshold(0), &paper());
    // (1): W(1, 2) = 1 / (2 + 2 − 1), W(1, 3) = 2 / (2 + 2 − 2), W(2, 3) = 1/3.
    assert!((fuzzy.collection.independence(1, 2, 1) - 2.0 / 3.0).abs() < 1e-12);
    assert!(fuzzy.collection.independence(1, 3, 1).abs() < 1e-12);
    assert!((fuzzy.collection.independence(1, 9, 1) - 1.0).abs() < 1e-12, "unseen words go with nothing");
    // (2): θ(2, {1, 3}) = 1 − 2/3 · 2/3 = 5/9; of two unseen words 0; of a word with itself 1.
    let theta = |i, sentence: &[u32]| direction::theta(&fuzzy.collection, 1, i, sentence.iter().copied());
    assert_eq!(theta(2, &[1, 3]), Some(555_556));
    assert_eq!(theta(8, &[9]), Some(0));
    assert_eq!(theta(9, &[9]), None);
    // (3): φ({2, 9}, {1, 3}) = (5/9 + 0) / 2, not over 0.5; φ({2}, {1, 3}) = 5/9, over it.
    let related = |s: &[u32], t: &[u32]| {
        let (s, t) = (fuzzy.article(&page(s)), fuzzy.article(&page(t)));
        Direction::new(&fuzzy.collection, 1, threshold(500_000), &s, &t).related(0)
    };
    assert_eq!(related(&[2, 9], &[1, 3]), Some(0));
    assert_eq!(related(&[2], &[1, 3]), Some(1));
    // AC': both sentences of e are related to one of f. Of the three of f the first is related to both of
    // e, which counts twice, as the sum has it.
    let (e, f) = (of_sentences(&[&[1, 3], &[2]]), of_sentences(&[&[1, 2], &[8, 9], &[6, 7]]));
    let found = fuzzy.correlation(&fuzzy.article(&e), &fuzzy.article(&f), threshold(0)).unwrap();
    assert_eq!((found.related, found.pairs), (2 * 2, 2 * 3));
    // AC = 1 · 2/3 / (1 − 2/3), rounded.
    assert!((article_correlation(found.score()) - 2.0).abs() < 1e-4);
}

#[test]
fn pages_that_match_in_every_sentence_have_no_finite_correlation() {
    assert!(article_correlation(Score(1_000_000)).is_infinite());
    assert!(article_correlation(Score(0)).abs() < 1e-12);
    assert!((article_correlation(Score(800_000)) - 4.0).abs() < 1e-9);
}

#[test]
fn a_score_has_to_be_over_the_threshold_and_one_is_enough_for_one() {
    let (e, f) = (of_sentences(&[&[1], &[2]]), of_sentences(&[&[1], &[3]]));
    let score = |over, a: &Page, b: &Page| {
        taught(&[], threshold(over), &paper()).compare(a, b, threshold(over)).map(|found| found.score.0)
    };
    assert_eq!(score(249_999, &e, &f), Some(250_000));
    assert_eq!(score(250_000, &e, &f), None, "a tie is not over");
    assert_eq!(score(1_000_000, &e, &e), Some(1_000_000));
    assert_eq!(score(0, &e, &of_sentences(&[&[1, 8, 9], &[3]])), None, "nothing related is no match, even at 0");
}

#[test]
fn words_met_once_in_the_same_article_are_no_synonyms() {
    let articles: [&[u32]; 2] = [&[1, 2], &[3]];
    let (e, f) = (page(&[1]), page(&[2]));
    let is_match = |least_together| {
        let fuzzy = taught(&articles, threshold(500_000), &FuzzyOptions { least_together, ..paper() });
        fuzzy.correlation(&fuzzy.article(&e), &fuzzy.article(&f), threshold(500_000)).is_some()
    };
    assert!(is_match(1), "the paper: W = 1");
    assert!(!is_match(2));
}

#[test]
fn sentences_outside_the_limits_do_not_count() {
    let options = FuzzyOptions { least_words: 2, most_words: 3, ..paper() };
    let article = Article::new(&of_sentences(&[&[7], &[1, 2, 2], &[5, 5], &[1, 3, 4, 9], &[3, 2, 1]]), &options);
    assert_eq!(article.words, [1, 2, 3]);
    assert_eq!(article.sentences, [vec![0, 1], vec![0, 1, 2]]);
}

#[test]
fn of_an_endless_page_the_beginning_is_looked_at() {
    let sentence = |number: u32| (20 * number..20 * (number + 1)).collect::<Vec<u32>>();
    let sentences: Vec<Vec<u32>> = (0..1_500).map(sentence).collect();
    let long = of_sentences(&sentences.iter().map(Vec::as_slice).collect::<Vec<_>>());
    assert_eq!(Article::new(&long, &FuzzyOptions::default()).sentences.len(), 8_192 / 20);
    let short: Vec<&[u32]> = sentences.iter().map(|sentence| &sentence[..3]).collect();
    assert_eq!(Article::new(&of_sentences(&short), &FuzzyOptions::default()).sentences.len(), 1_000);
}

#[test]
fn of_a_query_only_sentences_with_its_terms_are_kept() {
    let options = FuzzyOptions { query: vec!["纳米".into()], ..paper() };
    let mut asked = candidate(0, &["研究", "纳米", "主页"], &[&[0, 1], &[2], &[1]]);
    Fuzzy::new(threshold(0), options).project(&mut asked);
    assert_eq!(asked.order.sentences, [vec![0, 1], vec![1]]);
    assert_eq!(asked.order.sentence_count, 3, "of the page");
}

#[test]
fn only_the_first_suspects_are_compared() {
    let first = |number, word: &str| candidate(number, &["a", "b", "c", "d", "e", word], &[&[0, 1, 5], &[2, 3, 4]]);
    let compared = |first_results| {
        let fuzzy = FuzzyOptions { first_results, sentence_threshold: threshold(990_000), ..paper() };
        let options = Options {
            detector: Detector::Fuzzy,
            threshold: threshold(900_000),
            fuzzy,
            min_terms: 1,
            ..Options::default()
        };
        let mut decider = Decider::in_memory(options);
        let pages = ["v", "w", "x", "y", "z"].iter().zip(0..).map(|(word, number)| first(number, word)).collect();
        decider.decide(pages).unwrap();
        decider.stats().counters.verifications
    };
    assert_eq!(compared(0), 1 + 2 + 3 + 4);
    assert_eq!(compared(2), 1 + 2 + 2 + 2);
}

#[test]
fn what_is_known_to_be_similar_is_not_compared_again() {
    let (a, b) = (of_sentences(&[&[1, 2]]), of_sentences(&[&[3, 4]]));
    let results = [a.clone(), b.clone(), a.clone(), a.clone(), b];
    let groups = |options: FuzzyOptions| {
        let found = FuzzySets::new(&[], threshold(500_000), &options).among(&results);
        (found.duplicate_of.iter().map(|of| of.map(|(of, _)| of)).collect::<Vec<_>>(), found.comparisons)
    };
    let expected = vec![None, None, Some(0), Some(0), Some(1)];
    assert_eq!(groups(paper()), (expected.clone(), 10));
    assert_eq!(groups(FuzzyOptions { skip_known: true, ..paper() }), (expected, 5));
    assert_eq!(groups(FuzzyOptions { first_results: 3, ..paper() }), (vec![None, None, Some(0)], 3));
}

fn any_sentences() -> impl Strategy<Value = Page> {
    prop::collection::vec(prop::collection::vec(0u32..12, 0..6), 0..6)
        .prop_map(|sentences| of_sentences(&sentences.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

fn any_options() -> impl Strategy<Value = FuzzyOptions> {
    let thresholds = prop::sample::select(vec![0, 333_333, 500_000, 666_666, 800_000, 1_000_000]);
    (thresholds, 0u32..=500_000, 1u32..4, any::<bool>(), 0usize..4, 0usize..6).prop_map(
        |(sentence, candidates, least_together, copies_first, least_words, most_words)| FuzzyOptions {
            sentence_threshold: threshold(sentence),
            candidates: threshold(candidates),
            least_together,
            copies_first,
            least_words,
            most_words,
            ..paper()
        },
    )
}

fn word_sets(pages: &[Page]) -> Vec<BTreeSet<u32>> {
    pages.iter().map(|page| page.record.terms().iter().map(|(term, _)| term.0).collect()).collect()
}

proptest! {
    #[test]
    fn every_score_is_that_of_the_formulas(
        articles in prop::collection::vec(any_sentences(), 0..6),
        a in any_sentences(),
        b in any_sentences(),
        options in any_options(),
        over in prop::sample::select(vec![0, 100_000, 250_000, 500_000, 1_000_000]),
    ) {
        let mut fuzzy = Fuzzy::new(threshold(over), options.clone());
        articles.iter().for_each(|page| fuzzy.learn(Sequence(0), page, true, true));
        let plain = Plain { articles: word_sets(&articles), options: &options };
        let score = plain.compare(&a, &b, threshold(over));
        let found = fuzzy.correlation(&fuzzy.article(&a), &fuzzy.article(&b), threshold(over));
        prop_assert_eq!(found.map(|found| found.score().0), score);
        let expected = score.filter(|_| plain.are_candidates(&a, &b));
        let found = fuzzy.compare(&a, &b, threshold(over)).map(|found| found.score.0);
        prop_assert_eq!(found, expected);
        if expected.is_some() {
            let view = |page| crate::similarity::Record::new(fuzzy.filtered(page).into_owned());
            prop_assert!(crate::similarity::reaches(&view(&a), &view(&b), fuzzy.lower_bound(threshold(over))));
        }
    }

    #[test]
    fn a_stream_is_judged_as_by_comparing_everything_with_everything(
        pages in prop::collection::vec(any_sentences(), 1..40),
        options in any_options(),
        min_terms in 0usize..4,
        cut in any::<prop::sample::Index>(),
    ) {
        let over = threshold(250_000);
        let settling = Settling::Every(8);
        let options = Options { detector: Detector::Fuzzy, threshold: over, min_terms, mode: Mode::Best, settling, fuzzy: options, ..Options::default() };
        let candidates: Vec<_> = (0..).zip(&pages).map(|(number, page)| as_candidate(number, page)).collect();
        let judged = Decider::in_memory(options.clone()).decide(candidates.clone()).unwrap();
        let verdicts: Vec<_> = judged.iter().map(|judged| judged.verdict).collect();
        prop_assert_eq!(verdicts.iter().map(named).collect::<Vec<_>>(), plainly(&pages, &options));

        // In two parts, with a snapshot between them: nothing learned is lost.
        let (first, second) = candidates.split_at(cut.index(candidates.len()));
        let mut decider = Decider::in_memory(options.clone());
        let mut resumed = decider.decide(first.to_vec()).unwrap();
        let mut saved = Vec::new();
        decider.save(&mut saved).unwrap();
        let mut restored = Decider::in_memory(options);
        restored.load(&mut &saved[..]).unwrap();
        let mut again = Vec::new();
        restored.save(&mut again).unwrap();
        prop_assert!(saved == again, "what was learned is loaded");
        resumed.extend(decider.decide(second.to_vec()).unwrap());
        prop_assert_eq!(resumed.iter().map(|judged| judged.verdict).collect::<Vec<_>>(), verdicts);
    }
}

/// A page whose terms are named by number.
fn as_candidate(number: u32, page: &Page) -> PageInput {
    let names: Vec<String> = page.record.terms().iter().map(|(term, _)| format!("w{}", term.0)).collect();
    let place = |word: &u32| page.record.terms().binary_search_by_key(word, |(term, _)| term.0).unwrap() as u32;
    let sentences: Vec<Vec<u32>> = page.order.sentences.iter().map(|words| words.iter().map(place).collect()).collect();
    candidate(
        number,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        &sentences.iter().map(Vec::as_slice).collect::<Vec<_>>(),
    )
}

fn named(verdict: &Verdict) -> Option<(u32, u32)> {
    match verdict {
        Verdict::NearDuplicate { of, score, .. } => Some((of.0, score.0)),
        _ => None,
    }
}

/// The stream by brute force: decided pages are learned after every eighth page.
fn plainly(pages: &[Page], options: &Options) -> Vec<Option<(u32, u32)>> {
    let mut plain = Plain { articles: Vec::new(), options: &options.fuzzy };
    let (mut stored, mut fresh, mut verdicts): (Vec<(u32, &Page)>, Vec<Page>, Vec<_>) = Default::default();
    for (number, page) in (0..).zip(pages) {
        if number % 8 == 0 {
            plain.articles.extend(word_sets(&std::mem::take(&mut fresh)));
        }
        let is_compared = page.record.len() >= options.min_terms.max(1);
        let mut best: Option<(u32, u32)> = None;
        for (of, other) in stored.iter().filter(|_| is_compared) {
            let score = plain.compare(page, other, options.threshold).filter(|_| plain.are_candidates(page, other));
            if let Some(score) = score.filter(|&score| best.is_none_or(|(_, highest)| score > highest)) {
                best = Some((*of, score));
            }
        }
        if is_compared && best.is_none() {
            stored.push((number, page));
            fresh.push(page.clone());
        }
        verdicts.push(best);
    }
    verdicts
}

#[test]
fn what_was_learnt_is_learnt_again_from_the_log() {
    let options = Options { detector: Detector::Fuzzy, min_terms: 1, ..Options::default() };
    let mut decider = Decider::in_memory(options.clone());
    let names: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
    let pages: Vec<PageInput> = (0..40u32)
        .map(|n| {
            let words: Vec<&str> = (0..5).map(|word| &*names[(n * (word + 1)) as usize % 40]).collect();
            candidate(n, &words, &[&[0, 1, 2], &[2, 3, 4]])
        })
        .collect();
    let judged = decider.decide(pages.clone()).unwrap();
    let mut restored = Decider::in_memory(options);
    for term in judged.iter().flat_map(|judged| &judged.new_terms) {
        restored.restore_term(term).unwrap();
    }
    for (page, judged) in pages.iter().zip(&judged) {
        let row = LogRow::new(page, judged);
        restored.restore_page(judged.sequence, 0, &row.judged()).unwrap();
    }
    let saved = |decider: &Decider<_>| {
        let mut bytes = Vec::new();
        decider.save(&mut bytes).unwrap();
        bytes
    };
    assert!(saved(&decider) == saved(&restored));
}
