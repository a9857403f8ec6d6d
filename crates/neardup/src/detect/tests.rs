//! The decider against the oracle, on streams of pages.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::test_rows::{LogRow, judged_pages, log_of};
use super::*;
use crate::index::FilterKind;
use crate::model::{
    DecidedBy, Detector, Digest, Field, FieldCounts, Judged, PageId, PageInput, PageTerms, Score, Sequence, Term,
    TermCounts, TermId, TermOrder, Threshold, Verdict,
};

const THRESHOLDS: [u32; 6] = [0, 500_000, 700_000, 800_000, 900_000, 1_000_000];

pub(super) fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).unwrap()
}

/// A page of words and their counts in running text; its own body, no text digest.
fn page(number: usize, words: &[(u32, u32)]) -> PageInput {
    let counted = |&(word, count): &(u32, u32)| TermCounts {
        term: format!("w{word}").into(),
        counts: FieldCounts([0, 0, 0, 0, 0, 0, 0, count]),
    };
    PageInput {
        page: PageId::new("test", "", u32::try_from(number).unwrap()),
        group: 0,
        body_digest: Digest::of(&number.to_le_bytes()),
        text_digest: None,
        terms: words.iter().map(counted).collect(),
        order: TermOrder::default(),
        renews: None,
        rank: 0,
    }
}

fn with_body(mut page: PageInput, body: &str) -> PageInput {
    page.body_digest = Digest::of(body.as_bytes());
    page
}

fn with_text(mut page: PageInput, text: &str) -> PageInput {
    page.text_digest = Some(Digest::of(text.as_bytes()));
    page
}

pub(super) fn options(millionths: u32, min_terms: usize) -> Options {
    Options { threshold: threshold(millionths), min_terms, mode: Mode::Best, ..Options::default() }
}

fn verdicts(options: Options, pages: &[PageInput]) -> Vec<Verdict> {
    let judged = Decider::in_memory(options).decide(pages.to_vec()).unwrap();
    judged.iter().map(|judged| judged.verdict).collect()
}

fn oracle(options: Options, pages: &[PageInput]) -> Vec<Verdict> {
    let mut oracle = BruteForce::new(options);
    pages.iter().map(|page| oracle.decide(page.clone())).collect()
}

/// Ten or twenty occurrences of few words: similarities are tenths and twentieths, so that ties at
/// the thresholds are common. At times the same body or text, another group, another field.
pub(super) fn any_stream() -> impl Strategy<Value = Vec<PageInput>> {
    let words = prop_oneof![
        prop::collection::vec(0u32..8, 10),
        prop::collection::vec(0u32..30, 20),
        prop::collection::vec(0u32..12, 0..25),
    ];
    let copy = (0u8..40, 0u8..30, 0u32..2);
    prop::collection::vec((words, copy, 0usize..8), 1..60).prop_map(|drafts| {
        let candidates = drafts.into_iter().enumerate().map(|(number, (words, (body, text, group), field))| {
            let mut terms: Vec<TermCounts> = Vec::new();
            for (place, word) in words.iter().enumerate() {
                let field = if place == 0 { Field::ALL[field] } else { Field::Body };
                let mut counts = FieldCounts::default();
                counts.add(field);
                terms.push(TermCounts { term: format!("w{word}").into(), counts });
            }
            let mut candidate = page(number, &[]);
            candidate.terms = terms;
            candidate.group = group;
            let candidate = if body < 6 { with_body(candidate, &body.to_string()) } else { candidate };
            if text < 6 { with_text(candidate, &text.to_string()) } else { candidate }
        });
        candidates.collect()
    })
}

/// Verdicts that are wrong if this one is correct.
fn other_verdicts(verdict: Verdict) -> Vec<Verdict> {
    let near = |of, score| {
        let (detector, decided_by) = (Detector::Mwo, DecidedBy::Similarity);
        Verdict::NearDuplicate { of, score, second: None, detector, decided_by }
    };
    match verdict {
        Verdict::Unique => vec![near(Sequence(0), Score(999_999))],
        Verdict::NearDuplicate { of, score, .. } => {
            vec![Verdict::Unique, near(of, Score(score.0 - 1)), near(Sequence(of.0 + 1), score)]
        }
        Verdict::ExactDuplicate { of, .. } => vec![Verdict::Unique, near(of, Score(1_000_000))],
    }
}

/// A log that is read from while it grows.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<LogRow>>>);

impl RecordSource for Log {
    type Error = std::fmt::Error;

    fn page(&self, page: Sequence) -> Result<LoggedPage, std::fmt::Error> {
        let rows = self.0.lock().unwrap();
        let row = rows.get(page.index()).ok_or(std::fmt::Error)?;
        let LogRow { group, terms, least_weight, order, .. } = row.clone();
        Ok(LoggedPage { group, terms, least_weight, order })
    }
}

/// Writes decided pages to the log and opens a decider on it.
pub(super) fn committed_and_reopened(
    options: Options,
    pages: &[PageInput],
    judged: &[Judged],
    log: Log,
) -> Decider<Log> {
    log.0.lock().unwrap().extend(log_of(pages, judged));
    let mut decider = Decider::new(options, log);
    for term in judged.iter().flat_map(|judged| &judged.new_terms) {
        decider.restore_term(term).unwrap();
    }
    for (page, judged) in pages.iter().zip(judged) {
        decider.restore_page(judged.sequence, page.group, &LogRow::new(page, judged).judged()).unwrap();
    }
    decider
}

type Told = (Sequence, Verdict, PageTerms, Vec<Term>);

/// Everything but the redelivery flag.
fn told(judged: &[Judged]) -> Vec<Told> {
    judged.iter().map(|j| (j.sequence, j.verdict, j.terms.clone(), j.new_terms.clone())).collect()
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
    fn a_reopened_decider_goes_on_as_if_nothing_had_happened(
        pages in any_stream(),
        cut in any::<prop::sample::Index>(),
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
        thresholding in prop::sample::select(vec![Thresholding::Off, Thresholding::Paper]),
    ) {
        let (cut, options) = (cut.index(pages.len()), Options { within, thresholding, ..options(700_000, 3) });
        let log = Log::default();
        let mut whole = Decider::new(options.clone(), log.clone());
        let first = whole.decide(pages[..cut].to_vec()).unwrap();
        let mut reopened = committed_and_reopened(options, &pages[..cut], &first, log);
        whole.committed(Sequence(u32::try_from(cut).unwrap()));
        let (expected, found) = (whole.decide(pages[cut..].to_vec()), reopened.decide(pages[cut..].to_vec()));
        prop_assert_eq!(told(&found.unwrap()), told(&expected.unwrap()));
        let again = reopened.decide(pages.clone()).unwrap();
        prop_assert!(again.iter().all(|judged| judged.redelivered));
        prop_assert_eq!(reopened.stats().judged, whole.stats().judged);
        prop_assert_eq!(reopened.stats().indexed, whole.stats().indexed);
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
    fn a_snapshot_and_what_came_after_it_are_the_whole_log(
        pages in any_stream(),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        filter in prop::sample::select(vec![FilterKind::Exact, FilterKind::Paper]),
        budget in prop::sample::select(vec![0, usize::MAX]),
    ) {
        let (first, second) = (cuts.0.index(pages.len()), cuts.1.index(pages.len()));
        let (saved, killed) = (first.min(second), first.max(second));
        let options = Options { filter, thresholding: Thresholding::Paper, mode: Mode::Any, ..options(700_000, 3) };
        let log = Log::default();
        let mut whole = Decider::new(options.clone(), log.clone());
        whole.set_memory_limit(budget);
        let mut judged = whole.decide(pages[..saved].to_vec()).unwrap();
        let mut snapshot = Vec::new();
        whole.save(&mut snapshot).unwrap();
        judged.extend(whole.decide(pages[saved..killed].to_vec()).unwrap());

        let rows = log_of(&pages, &judged);
        log.0.lock().unwrap().extend(rows.iter().cloned());
        let mut reopened = Decider::new(options, log);
        reopened.set_memory_limit(budget);
        reopened.load(&mut &snapshot[..]).unwrap();
        for term in judged[saved..].iter().flat_map(|judged| &judged.new_terms) {
            reopened.restore_term(term).unwrap();
        }
        for (row, judged) in rows.iter().zip(&judged).skip(saved) {
            reopened.restore_page(judged.sequence, 0, &row.judged()).unwrap();
        }
        whole.committed(Sequence(u32::try_from(killed).unwrap()));
        let (expected, found) = (whole.decide(pages[killed..].to_vec()), reopened.decide(pages[killed..].to_vec()));
        prop_assert_eq!(told(&found.unwrap()), told(&expected.unwrap()));
    }

    #[test]
    fn a_budget_of_nothing_changes_no_verdict(pages in any_stream(), t in prop::sample::select(THRESHOLDS.to_vec())) {
        let mut decider = Decider::in_memory(options(t, 2));
        decider.set_memory_limit(0);
        let judged = decider.decide(pages.clone()).unwrap();
        let said: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
        prop_assert_eq!(said, oracle(options(t, 2), &pages));
        let stats = decider.stats();
        prop_assert!(stats.indexed < 20 || stats.sketch_only > 0);
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

#[test]
fn a_tie_at_exactly_the_threshold_is_a_near_duplicate_and_one_unit_less_is_not() {
    for t in THRESHOLDS {
        for (difference, expected) in [(-1, false), (0, true), (1, true)] {
            let shared = i64::from(t / 1000) + difference;
            let Ok(shared) = u32::try_from(shared) else { continue };
            let Some(own) = 1000u32.checked_sub(shared) else { continue };
            let words =
                |own_word| [(0, shared), (own_word, own)].into_iter().filter(|&(_, n)| n > 0).collect::<Vec<_>>();
            let pages = [page(0, &words(1)), page(1, &words(2))];
            let verdicts = verdicts(options(t, 1), &pages);
            let is_match = expected && shared > 0;
            assert_eq!(verdicts[1].is_unique(), !is_match, "t = {t}, {shared} shared");
            if is_match {
                let score = Score(shared * 1000);
                let (of, detector, decided_by) = (Sequence(0), Detector::Mwo, DecidedBy::Similarity);
                assert_eq!(verdicts[1], Verdict::NearDuplicate { of, score, second: None, detector, decided_by });
            }
        }
    }
}

#[test]
fn a_near_duplicate_names_the_best_stored_page_the_first_of_equals_and_never_a_duplicate() {
    let split = |number, left, right| page(number, &[(0, 60), (1, left), (2, right)]);
    let pages = [page(0, &[(0, 60), (1, 40)]), page(1, &[(0, 60), (2, 40)]), split(2, 10, 30), split(3, 20, 20)];
    let said = verdicts(options(700_000, 1), &pages);
    let near = |of, score| {
        let (detector, decided_by) = (Detector::Mwo, DecidedBy::Similarity);
        Verdict::NearDuplicate { of: Sequence(of), score: Score(score), second: None, detector, decided_by }
    };
    // Page 3 is most similar to page 2, at 0.9, but page 2 is not stored.
    assert_eq!(said, [Verdict::Unique, Verdict::Unique, near(1, 900_000), near(0, 800_000)]);
}

#[test]
fn a_copy_of_a_near_duplicate_inherits_its_verdict() {
    let original = page(0, &[(0, 80), (1, 20)]);
    let similar = with_text(with_body(page(1, &[(0, 80), (2, 20)]), "b"), "t");
    let same_body = with_body(page(2, &[(9, 1)]), "b");
    let same_text = with_text(page(3, &[(7, 1), (8, 1)]), "t");
    let verdicts = verdicts(options(800_000, 2), &[original, similar, same_body, same_text]);
    let near = |decided_by| Verdict::NearDuplicate {
        of: Sequence(0),
        score: Score(800_000),
        second: None,
        detector: Detector::Mwo,
        decided_by,
    };
    assert_eq!(verdicts[1..], [DecidedBy::Similarity, DecidedBy::BodyDigest, DecidedBy::TextDigest].map(near));
}

#[test]
fn a_copy_of_the_bytes_of_a_copy_of_the_text_is_called_a_copy_of_the_text() {
    let stored = with_text(page(0, &[(0, 1), (1, 1)]), "t");
    let same_text = with_body(with_text(page(1, &[(0, 1), (1, 1)]), "t"), "b");
    let same_body = with_body(page(2, &[(0, 1), (1, 1)]), "b");
    let verdicts = verdicts(options(800_000, 2), &[stored, same_text, same_body]);
    let copy = Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::TextDigest };
    assert_eq!(verdicts[1..], [copy, copy]);
}

#[test]
fn a_short_page_is_compared_by_its_bytes_only() {
    let short = |number| with_text(page(number, &[(0, 1), (1, 1)]), "t");
    let verdicts = verdicts(options(0, 3), &[short(0), short(1), with_body(short(2), "b"), with_body(short(3), "b")]);
    assert!(verdicts[..3].iter().all(Verdict::is_unique));
    assert_eq!(verdicts[3], Verdict::ExactDuplicate { of: Sequence(2), decided_by: DecidedBy::BodyDigest });
}

#[test]
fn without_a_detector_only_exact_copies_are_found() {
    let text = |number| with_text(page(number, &[(0, 1), (1, 1)]), "t");
    let pages = [text(0), page(1, &[(0, 1), (1, 1)]), text(2)];
    let options = Options { detector: Detector::None, ..options(0, 2) };
    let verdicts = verdicts(options, &pages);
    assert!(verdicts[1].is_unique());
    assert_eq!(verdicts[2], Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::TextDigest });
}

#[test]
fn a_redelivered_page_meets_its_own_verdict_and_changes_nothing() {
    let pages = [page(0, &[(0, 80), (1, 20)]), page(1, &[(0, 80), (2, 20)])];
    let mut decider = Decider::in_memory(options(800_000, 1));
    let first = decider.decide(pages.to_vec()).unwrap();
    let before = decider.stats();
    let mut changed = pages[0].clone();
    changed.terms = page(0, &[(50, 1)]).terms;
    let again = decider.decide(vec![pages[1].clone(), changed]).unwrap();
    assert_eq!((again[0].sequence, again[0].verdict), (first[1].sequence, first[1].verdict));
    assert_eq!((again[1].sequence, again[1].verdict), (first[0].sequence, Verdict::Unique));
    assert!(again.iter().all(|judged| judged.redelivered && judged.terms.is_empty() && judged.new_terms.is_empty()));
    assert_eq!(decider.stats(), before);
}

#[test]
fn an_unreadable_record_breaks_the_decider_until_it_is_restored() {
    let mut decider = Decider::new(options(800_000, 1), Log::default());
    decider.decide(vec![page(0, &[(0, 1)])]).unwrap();
    decider.committed(Sequence(1));
    // A restored page is in no memory, so it is read from the log.
    let mut restored = Decider::new(options(800_000, 1), Log::default());
    restored.restore_term("w0").unwrap();
    let judged = Decider::in_memory(options(800_000, 1)).decide(vec![page(0, &[(0, 1)])]).unwrap();
    restored.restore_page(Sequence(0), 0, &LogRow::new(&page(0, &[(0, 1)]), &judged[0]).judged()).unwrap();
    let error = restored.decide(vec![page(1, &[(0, 1)])]).unwrap_err();
    assert!(matches!(error, DetectError::Source { sequence: Sequence(0), .. }), "{error}");
    assert!(matches!(restored.decide(vec![page(2, &[(5, 1)])]), Err(DetectError::Broken)));
    assert!(decider.decide(vec![page(1, &[(0, 1)])]).is_ok());
}

#[test]
fn a_damaged_log_is_refused() {
    let mut decider = Decider::in_memory(options(800_000, 1));
    decider.restore_term("w0").unwrap();
    assert!(matches!(decider.restore_term("w0"), Err(DetectError::RepeatedTerm { first: TermId(0), .. })));
    let judged = Decider::in_memory(options(800_000, 1)).decide(vec![page(0, &[(0, 1)])]).unwrap();
    let good = LogRow::new(&page(0, &[(0, 1)]), &judged[0]);
    let out_of_order = decider.restore_page(Sequence(1), 0, &good.judged());
    assert!(matches!(out_of_order, Err(DetectError::OutOfOrder { expected: Sequence(0), .. })));
    let unknown = LogRow { terms: PageTerms::new(vec![(TermId(1), FieldCounts::default())]), ..good.clone() };
    assert!(matches!(decider.restore_page(Sequence(0), 0, &unknown.judged()), Err(DetectError::UnknownTerm { .. })));
    let verdict = Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::BodyDigest };
    let own_copy = LogRow { verdict, ..good };
    let restored = decider.restore_page(Sequence(0), 0, &own_copy.judged());
    assert!(matches!(restored, Err(DetectError::UnknownOriginal { .. })));
}

#[test]
fn a_decider_can_be_sent_to_another_thread() {
    let mut decider = Decider::in_memory(options(800_000, 1));
    let judged = std::thread::spawn(move || decider.decide(vec![page(0, &[(0, 1)])])).join().unwrap();
    assert_eq!(judged.unwrap().len(), 1);
}

/// Pages of two hosts, each of a template, some words of a stock, and words of its own.
pub(super) fn pages_of_templates() -> impl Strategy<Value = Vec<PageInput>> {
    let page = (0..2u32, 0..3u32, prop::collection::vec(0..12u32, 0..4), 0..6u32);
    prop::collection::vec(page, 1..40).prop_map(|pages| {
        let candidates = pages.into_iter().enumerate().map(|(number, (group, template, stock, own))| {
            let words: Vec<u32> = (0..30).map(|word| template * 100 + word).chain(stock).collect();
            let counted: Vec<(u32, u32)> = words.iter().map(|&word| (word, 1)).chain([(1000 + own, 2)]).collect();
            let runs = words.iter().copied().chain([1000 + own]).flat_map(|word| [word * 7919, word * 104_729 + 1]);
            let mut shingles: Vec<u32> = runs.map(|run| run.wrapping_mul(0x9E37_79B1)).collect();
            shingles.sort_unstable();
            shingles.dedup();
            let order = TermOrder { shingles, ..TermOrder::default() };
            PageInput { group, order, ..page_of(number, &counted) }
        });
        candidates.collect()
    })
}

pub(super) fn page_of(number: usize, words: &[(u32, u32)]) -> PageInput {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.dedup_by_key(|(word, _)| *word);
    page(number, &words)
}

/// The second check, word for word, in floating point, for hosts of fewer than fifty pages.
/// `before` are the pages that count.
fn agrees(a: &PageInput, b: &PageInput, before: &[PageInput], mwo: f64) -> bool {
    let pages = |group: u32| before.iter().filter(move |page| page.group == group);
    let is_template = |shingle: &u32| {
        [a.group, b.group].into_iter().any(|group| {
            let holding = pages(group).filter(|page| page.order.shingles.contains(shingle)).count();
            holding >= 5 && holding * 25 >= pages(group).count()
        })
    };
    let (own, other) = (&a.order.shingles, &b.order.shingles);
    let mut any: Vec<&u32> = own.iter().chain(other).collect();
    any.sort_unstable();
    any.dedup();
    let both = |shingles: &[&u32]| {
        let common = shingles.iter().filter(|shingle| own.contains(shingle) && other.contains(shingle)).count();
        common as f64 / shingles.len() as f64
    };
    let text: Vec<&u32> = any.iter().copied().filter(|shingle| !is_template(shingle)).collect();
    let are_young = pages(a.group).count().max(pages(b.group).count()) < 5;
    let is_strict = if are_young { a.group == b.group } else { text.len() < 6 };
    if is_strict {
        return both(&any) >= 0.9;
    }
    let (compared, more) = if are_young { (&any, 0.25) } else { (&text, 0.0) };
    let asked = (0.35 + 1.5 / (compared.len() as f64).sqrt() + more).min(0.9) + 2.0 * (0.75 - mwo).max(0.0);
    // Half a millionth for the roots and shares that are rounded.
    both(compared) >= asked - 2e-6
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
                mwo.0 >= 680_000 && agrees(page, &pages[earlier], known, mwo.as_f64())
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
            mwo.0 >= 680_000 && agrees(&pages[b], &pages[a], known, mwo.as_f64())
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

/// The log of a crawl, and what earlier ones have stored.
#[derive(Clone)]
struct SeededLog(Log, Arc<Vec<LoggedPage>>);

impl RecordSource for SeededLog {
    type Error = std::fmt::Error;

    fn page(&self, page: Sequence) -> Result<LoggedPage, std::fmt::Error> {
        match page.as_earlier() {
            Some(number) => self.1.get(number as usize).cloned().ok_or(std::fmt::Error),
            None => self.0.page(page),
        }
    }
}

/// A decider that was seeded with these pages, in this order.
fn seeded(options: &Options, stored: &[PageInput], log: &Log) -> Decider<SeededLog> {
    let (source, vocabulary) = seeded_source(stored, log);
    let logged = source.1.to_vec();
    let mut decider = Decider::new(options.clone(), source);
    for id in 0..vocabulary.len() {
        decider.restore_term(vocabulary.term(TermId(id as u32)).unwrap()).unwrap();
    }
    for (number, (page, logged)) in (0..).zip(stored.iter().zip(logged)) {
        let told = decider.seed(page.page, page.body_digest, page.text_digest, logged).unwrap();
        assert_eq!(told, Sequence::of_earlier(number));
    }
    decider
}

proptest! {
    #[test]
    fn pages_that_earlier_crawls_have_stored_count_as_if_they_had_come_first(
        earlier in any_stream(),
        pages in any_stream(),
        min_terms in 0usize..5,
        t in prop::sample::select(THRESHOLDS.to_vec()),
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
        cut in any::<prop::sample::Index>(),
    ) {
        let options = Options { within, ..options(t, min_terms) };
        let judged = Decider::in_memory(options.clone()).decide(earlier.clone()).unwrap();
        let stored: Vec<PageInput> = earlier
            .into_iter()
            .zip(&judged)
            .filter(|(_, judged)| judged.verdict.is_unique())
            .map(|(page, judged)| PageInput { page: PageId::new("earlier", "", judged.sequence.0), ..page })
            .collect();
        let all: Vec<PageInput> = stored.iter().chain(&pages).cloned().collect();
        let expected = oracle(options.clone(), &all);
        prop_assert!(expected[..stored.len()].iter().all(Verdict::is_unique));
        let seeds = stored.len() as u32;
        let inside = |page: Sequence| page.as_earlier().map_or(Sequence(page.0 + seeds), Sequence);
        let verdicts = |judged: &[Judged]| -> Vec<Verdict> {
            judged.iter().map(|judged| judged.verdict.renumbered(inside)).collect()
        };

        let mut whole = seeded(&options, &stored, &Log::default());
        let judged = whole.decide(pages.clone()).unwrap();
        prop_assert_eq!(&verdicts(&judged), &expected[stored.len()..]);
        prop_assert!((0..).map(Sequence).zip(&judged).all(|(number, judged)| judged.sequence == number));
        prop_assert_eq!(whole.stats().judged, pages.len() as u64);
        for judged in &judged {
            prop_assert_eq!(whole.verdict(judged.sequence), Some(judged.verdict));
        }

        // Restored from the log, and loaded from a snapshot, in the middle.
        let cut = cut.index(pages.len() + 1);
        let log = Log::default();
        let mut first = seeded(&options, &stored, &log);
        let begun = first.decide(pages[..cut].to_vec()).unwrap();
        log.0.lock().unwrap().extend(log_of(&pages, &begun));
        let mut snapshot = Vec::new();
        first.save(&mut snapshot).unwrap();
        let mut restored = seeded(&options, &stored, &log);
        for term in begun.iter().flat_map(|judged| &judged.new_terms) {
            restored.restore_term(term).unwrap();
        }
        for (number, row) in (0..).map(Sequence).zip(log.0.lock().unwrap().iter()) {
            restored.restore_page(number, row.group, &row.judged()).unwrap();
        }
        let mut loaded = Decider::new(options.clone(), seeded_source(&stored, &log).0);
        loaded.assume_seeds(seeds);
        loaded.load(&mut &snapshot[..]).unwrap();
        for mut decider in [restored, loaded] {
            decider.committed(Sequence(cut as u32));
            let rest = decider.decide(pages[cut..].to_vec()).unwrap();
            prop_assert_eq!(&verdicts(&rest), &expected[stored.len() + cut..]);
        }
    }
}

/// Where records come from, and the terms of those that others have stored.
fn seeded_source(stored: &[PageInput], log: &Log) -> (SeededLog, Vocabulary) {
    let mut vocabulary = Vocabulary::default();
    let logged: Vec<LoggedPage> = stored
        .iter()
        .map(|page| {
            let (terms, _, order) = vocabulary.intern_page(page.terms.clone(), page.order.clone()).unwrap();
            LoggedPage { group: page.group, terms, least_weight: 0, order }
        })
        .collect();
    (SeededLog(log.clone(), Arc::new(logged)), vocabulary)
}

#[test]
fn pages_of_others_come_before_all_judged_ones() {
    let options = options(800_000, 2);
    let mut decider = seeded(&options, &[page(1, &[(0, 1), (1, 1)])], &Log::default());
    assert_eq!(decider.last_page(), None);
    decider.decide(vec![page(2, &[(5, 1), (6, 1)])]).unwrap();
    let late = decider.seed(PageId(7), Digest::of(b"x"), None, LoggedPage::default());
    assert!(matches!(late, Err(DetectError::OutOfOrder { .. })));
    assert_eq!(decider.last_page(), Some(page(2, &[]).page));
}
