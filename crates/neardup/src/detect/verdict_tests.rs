//! Verdicts on a few pages: ties, copies, short pages.

use super::test_streams::{THRESHOLDS, options, page, verdicts, with_body, with_text};
use super::*;
use crate::model::{DecidedBy, Detector, Score, Sequence, Verdict};

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
                assert_eq!(
                    verdicts[1],
                    Verdict::NearDuplicate { of, score, second: None, difference: None, detector, decided_by }
                );
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
        Verdict::NearDuplicate {
            of: Sequence(of),
            score: Score(score),
            second: None,
            difference: None,
            detector,
            decided_by,
        }
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
        difference: None,
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
fn a_decider_can_be_sent_to_another_thread() {
    let mut decider = Decider::in_memory(options(800_000, 1));
    let judged = std::thread::spawn(move || decider.decide(vec![page(0, &[(0, 1)])])).join().unwrap();
    assert_eq!(judged.unwrap().len(), 1);
}
