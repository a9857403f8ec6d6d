//! Turns that are decided, taken in from a log, and decided by brute force.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::test_streams::{any_stream, page_of, pages_of_templates, with_body, with_text};
use super::*;
use crate::index::FilterKind;
use crate::model::{Detector, Judged, PageId, PageInput, Sequence, Threshold, Verdict};

/// Which pages leave: of each pair, a number of pages that were decided, and the page that leaves then.
pub(super) type Withdrawn = [(u32, u32)];

/// Returns a turn whose first page has the number `first`, with what leaves then.
fn turn_of(pages: &[PageInput], first: Sequence, withdrawn: &Withdrawn) -> TurnInput {
    let due = withdrawn.iter().filter(|(after, page)| *after <= first.0 && *page < first.0);
    let withdrawn = due.map(|(_, page)| Sequence(*page)).collect();
    TurnInput { withdrawn, ..pages.to_vec().into() }
}

/// Decides a stream in turns of these sizes, by one decider after the other: each takes in the turns of the others.
fn by_many(
    options: &Options,
    stream: &[PageInput],
    deciders: usize,
    turns: &[usize],
    withdrawn: &Withdrawn,
) -> Vec<TurnAnswer> {
    let options = Options { settling: Settling::AtMarks, ..options.clone() };
    let mut deciders: Vec<_> = (0..deciders).map(|_| Decider::in_memory(options.clone())).collect();
    let (mut first, mut answers, mut rest) = (Sequence(0), Vec::new(), stream);
    for (number, size) in turns.iter().cycle().enumerate() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let turn = turn_of(turn, first, withdrawn);
        let at_work = number % deciders.len();
        let decided = told(&deciders[at_work].decide_turn(turn.clone()).unwrap());
        let verdicts = new_verdicts(&decided);
        for (_, follower) in deciders.iter_mut().enumerate().filter(|(number, _)| *number != at_work) {
            let taken = follower.take_turn(turn.clone(), verdicts.iter().copied()).unwrap();
            assert_eq!(told(&taken), decided);
        }
        first.0 += verdicts.len() as u32;
        answers.extend(decided);
    }
    answers
}

pub(super) fn told(judged: &[Judged]) -> Vec<TurnAnswer> {
    judged.iter().map(TurnAnswer::from).collect()
}

/// Returns what the log has of a turn.
pub(super) fn new_verdicts(answers: &[TurnAnswer]) -> Vec<Verdict> {
    answers.iter().filter(|answer| !answer.redelivered).map(|answer| answer.verdict).collect()
}

/// Decides the same turns by one decider.
fn by_one(options: &Options, stream: &[PageInput], turns: &[usize], withdrawn: &Withdrawn) -> Vec<TurnAnswer> {
    by_many(options, stream, 1, turns, withdrawn)
}

/// Gives each page a name of its own.
fn named(stream: Vec<PageInput>) -> Vec<PageInput> {
    let name = |(number, page): (usize, PageInput)| PageInput { page: PageId::new("turn", "", number as u32), ..page };
    stream.into_iter().enumerate().map(name).collect()
}

/// Decides the same turns by brute force. No page comes twice.
fn by_brute_force(options: &Options, stream: &[PageInput], turns: &[usize], withdrawn: &Withdrawn) -> Vec<Verdict> {
    let (mut oracle, mut verdicts, mut rest) = (BruteForce::new(options.clone()), Vec::new(), stream);
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let TurnInput { withdrawn, pages, .. } = turn_of(turn, Sequence(verdicts.len() as u32), withdrawn);
        withdrawn.into_iter().for_each(|page| oracle.withdraw(page));
        verdicts.extend(pages.into_iter().map(|page| oracle.decide(page)));
    }
    verdicts
}

fn withdrawals() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0u32..50, 0u32..50), 0..8)
}

pub(super) fn turns() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1usize..20, 1..5)
}

proptest! {
    /// The law: it does not show in a verdict who has decided which turn.
    #[test]
    fn deciders_in_turn_give_the_verdicts_of_one_and_of_brute_force(
        pages in any_stream(),
        again in prop::collection::vec(0usize..60, 0..4),
        within in prop_oneof![Just(Within::Crawl), Just(Within::Host)],
        t in prop::sample::select(vec![0, 500_000, 700_000, 1_000_000]),
        deciders in 2usize..5,
        turns in turns(),
        withdrawn in withdrawals(),
    ) {
        let mut stream = named(pages);
        for page in again {
            let repeated = stream.get(page).cloned();
            stream.extend(repeated);
        }
        let threshold = Threshold::from_millionths(t).unwrap();
        let options = Options { threshold, within, min_terms: 2, mode: Mode::Best, ..Options::default() };
        let decided = by_many(&options, &stream, deciders, &turns, &withdrawn);
        prop_assert_eq!(&decided, &by_one(&options, &stream, &turns, &withdrawn));
        if decided.iter().all(|answer| !answer.redelivered) {
            let verdicts: Vec<Verdict> = decided.iter().map(|answer| answer.verdict).collect();
            prop_assert_eq!(verdicts, by_brute_force(&options, &stream, &turns, &withdrawn));
        }
    }

    /// The same of whatever else compares pages: what a filter loses, all lose.
    #[test]
    fn all_give_the_verdicts_of_one_whatever_the_detector(
        pages in any_stream(),
        detector in prop::sample::select(Detector::ALL.to_vec()),
        filter in prop::sample::select(vec![FilterKind::Exact, FilterKind::Paper]),
        mode in prop::sample::select(vec![Mode::Any, Mode::Best]),
        deciders in 2usize..5,
        turns in turns(),
        withdrawn in withdrawals(),
    ) {
        let options = Options { filter, mode, min_terms: 2, ..Options::of(detector) };
        let stream = named(pages);
        let decided = by_many(&options, &stream, deciders, &turns, &withdrawn);
        prop_assert_eq!(decided, by_one(&options, &stream, &turns, &withdrawn));
    }

    /// The same with knowledge of hosts, which counts as of the last turn.
    #[test]
    fn all_know_of_hosts_what_one_decider_knows(
        pages in pages_of_templates(),
        deciders in 2usize..5,
        turns in turns(),
        withdrawn in withdrawals(),
    ) {
        let options = Options { min_terms: 1, mode: Mode::Best, ..Options::of(Detector::Mwo) };
        let stream = named(pages);
        let decided = by_many(&options, &stream, deciders, &turns, &withdrawn);
        prop_assert_eq!(decided, by_one(&options, &stream, &turns, &withdrawn));
    }
}

/// The control: whoever does not take in what others have decided gives other verdicts.
#[test]
fn a_turn_that_was_not_taken_in_shows() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let page = named(any_stream().new_tree(&mut runner).unwrap().current()).swap_remove(0);
    let options = Options { min_terms: 2, settling: Settling::AtMarks, ..Options::default() };
    let mut late = Decider::in_memory(options.clone());
    let mut one = Decider::in_memory(options);
    let copy = PageInput { page: PageId::new("copy", "", 0), ..page.clone() };
    one.decide_turn(vec![page]).unwrap();
    assert!(!one.decide_turn(vec![copy.clone()]).unwrap()[0].verdict.is_unique());
    assert!(late.decide_turn(vec![copy]).unwrap()[0].verdict.is_unique());
}

#[test]
fn what_is_no_turn_is_refused() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut page = named(any_stream().new_tree(&mut runner).unwrap().current()).swap_remove(0);
    let decider = || Decider::in_memory(Options::default());
    for verdicts in [&[][..], &[Verdict::Unique; 2]] {
        let mut other = decider();
        let refused = other.take_turn(vec![page.clone()], verdicts.iter().copied());
        assert!(matches!(refused, Err(DetectError::OtherVerdicts { first: Sequence(0), pages: 1, .. })), "{refused:?}");
        assert!(matches!(other.decide_turn(vec![page.clone()]), Err(DetectError::Broken)));
    }
    page.renews = Some(Sequence(0));
    let refused = decider().decide_turn(vec![page]);
    assert!(matches!(refused, Err(DetectError::NotDecided { page: Sequence(0) })), "a page of the same turn");
    let too_early = TurnInput { withdrawn: vec![Sequence(1)], ..TurnInput::default() };
    assert!(matches!(decider().decide_turn(too_early), Err(DetectError::NotDecided { page: Sequence(1) })));
}

/// What the withdrawn page was like is stored again.
#[test]
fn a_withdrawn_page_is_named_by_nobody() {
    let options = Options { min_terms: 2, mode: Mode::Best, ..Options::default() };
    let page = with_text(page_of(0, &[(1, 1), (2, 1), (3, 1)]), "text");
    let copy = |number: u32, body: Option<&str>| {
        let named = PageInput { page: PageId::new("copy", "", number), ..page.clone() };
        body.map_or(named.clone(), |body| with_body(named, body))
    };
    let stream =
        [page.clone(), copy(1, None), copy(2, Some("2")), copy(3, None), copy(4, Some("2")), copy(5, Some("5"))];
    let named =
        |answers: Vec<TurnAnswer>| answers.iter().map(|answer| answer.verdict.duplicate_of()).collect::<Vec<_>>();
    let expected = [None, Some(Sequence(0)), Some(Sequence(0)), None, Some(Sequence(3)), Some(Sequence(3))];
    assert_eq!(named(by_many(&options, &stream, 4, &[3], &[(3, 0)])), expected);
    assert_eq!(named(by_one(&options, &stream, &[3], &[(3, 0)])), expected);
    let kept = [None, Some(0), Some(0), Some(0), Some(0), Some(0)].map(|of| of.map(Sequence));
    assert_eq!(named(by_one(&options, &stream, &[3], &[])), kept);
}
