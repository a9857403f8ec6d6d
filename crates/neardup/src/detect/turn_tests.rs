//! An index in pieces against one decider.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::test_streams::{any_stream, page_of, pages_of_templates, with_body, with_text};
use super::*;
use crate::model::{Detector, PageId, PageInput, Sequence, Threshold, Verdict};

/// Which pages leave: of each pair, a number of pages that were decided, and the page that leaves then.
pub(super) type Withdrawn = [(u32, u32)];

/// Returns a turn whose first page has the number `first`, with what leaves then.
fn turn_of(pages: &[PageInput], first: Sequence, withdrawn: &Withdrawn) -> TurnInput {
    let due = withdrawn.iter().filter(|(after, page)| *after <= first.0 && *page < first.0);
    let withdrawn = due.map(|(_, page)| Sequence(*page)).collect();
    TurnInput { withdrawn, ..pages.to_vec().into() }
}

/// Decides a stream in turns of these sizes, in that many pieces.
fn in_pieces(
    options: &Options,
    stream: &[PageInput],
    pieces: usize,
    turns: &[usize],
    withdrawn: &Withdrawn,
) -> Vec<TurnAnswer> {
    let mut learnt = Learnt::new(options.clone()).unwrap();
    let mut pieces: Vec<Piece<InMemory>> = (0..pieces).map(|_| Piece::new(&learnt, InMemory)).collect();
    let (mut first, mut answers, mut rest) = (Sequence(0), Vec::new(), stream);
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let turn = turn_of(turn, first, withdrawn);
        // A turn that is opened and forgotten leaves no trace.
        let other = TurnInput { withdrawn: (0..first.0).map(Sequence).collect(), ..turn.clone() };
        pieces.iter_mut().for_each(|piece| drop(piece.reply(&other, &learnt).unwrap()));
        let replies: Vec<Vec<Reply>> = pieces.iter_mut().map(|piece| piece.reply(&turn, &learnt).unwrap()).collect();
        let decided = settle_turn(first, turn, &replies, &learnt).unwrap();
        let count = pieces.len();
        for (number, piece) in pieces.iter_mut().enumerate() {
            piece.apply(&decided, &learnt, |page| page.page.0 as usize % count == number).unwrap();
        }
        learnt.learn(&decided).unwrap();
        first.0 += decided.pages.len() as u32;
        answers.extend(decided.answers);
    }
    assert_eq!(pieces.iter().map(Piece::len).sum::<usize>(), first.index(), "each page is in one piece");
    answers
}

/// Decides the same turns by one decider.
pub(super) fn by_one(
    options: &Options,
    stream: &[PageInput],
    turns: &[usize],
    withdrawn: &Withdrawn,
) -> Vec<TurnAnswer> {
    let mut decider = Decider::in_memory(Options { settling: Settling::AtMarks, ..options.clone() });
    let (mut answers, mut rest, mut first) = (Vec::<TurnAnswer>::new(), stream, Sequence(0));
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let decided = decider.decide_turn(turn_of(turn, first, withdrawn)).unwrap();
        first.0 += decided.iter().filter(|answer| !answer.redelivered).count() as u32;
        answers.extend(decided);
    }
    answers
}

/// Two bits of the name choose the piece, so the names have to differ in them.
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
    /// The law: neither pieces nor turns show in a verdict.
    #[test]
    fn any_division_gives_the_verdicts_of_one_decider(
        pages in any_stream(),
        again in prop::collection::vec(0usize..60, 0..4),
        within in prop_oneof![Just(Within::Crawl), Just(Within::Host)],
        t in prop::sample::select(vec![0, 500_000, 700_000, 1_000_000]),
        pieces in 1usize..5,
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
        let decided = in_pieces(&options, &stream, pieces, &turns, &withdrawn);
        prop_assert_eq!(&decided, &by_one(&options, &stream, &turns, &withdrawn));
        if decided.iter().all(|answer| !answer.redelivered) {
            let verdicts: Vec<Verdict> = decided.iter().map(|answer| answer.verdict).collect();
            prop_assert_eq!(verdicts, by_brute_force(&options, &stream, &turns, &withdrawn));
        }
    }

    /// The same with knowledge of hosts, which counts as of the last turn.
    #[test]
    fn pieces_know_of_hosts_what_one_decider_knows(
        pages in pages_of_templates(),
        pieces in 1usize..5,
        turns in turns(),
        withdrawn in withdrawals(),
    ) {
        let options = Options { min_terms: 1, mode: Mode::Best, ..Options::of(Detector::Mwo) };
        let stream = named(pages);
        let decided = in_pieces(&options, &stream, pieces, &turns, &withdrawn);
        prop_assert_eq!(decided, by_one(&options, &stream, &turns, &withdrawn));
    }
}

/// The control: without the comparison inside a turn, near-duplicates that arrive together are all stored.
#[test]
fn pages_of_one_turn_are_compared_with_each_other() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let stream = named(any_stream().new_tree(&mut runner).unwrap().current());
    let page = stream.iter().find(|page| page.terms.len() > 4).unwrap();
    let copies: Vec<PageInput> = (0..6u8)
        .map(|number| PageInput {
            page: PageId::new("copy", "", number.into()),
            body_digest: crate::model::Digest::of(&[number]),
            text_digest: None,
            ..page.clone()
        })
        .collect();
    let options = Options { min_terms: 2, mode: Mode::Best, ..Options::default() };
    let stored = |answers: &[TurnAnswer]| answers.iter().filter(|answer| answer.verdict == Verdict::Unique).count();
    assert_eq!(stored(&in_pieces(&options, &copies, 3, &[6], &[])), 1);
    let learnt = Learnt::new(options.clone()).unwrap();
    let replies = Piece::new(&learnt, InMemory).reply(&copies.clone().into(), &learnt).unwrap();
    let alone = copies.iter().zip(&replies).map(|(page, reply)| {
        settle_turn(Sequence(0), vec![page.clone()], &[vec![*reply]], &learnt).unwrap().answers[0]
    });
    assert_eq!(stored(&alone.collect::<Vec<_>>()), 6);
}

#[test]
fn what_a_turn_cannot_decide_is_refused() {
    for options in
        [Options { mode: Mode::Any, ..Options::default() }, Options { mode: Mode::Best, ..Options::of(Detector::None) }]
    {
        assert!(matches!(Learnt::new(options), Err(DetectError::Undividable { .. })));
    }
    let learnt = Learnt::new(Options { mode: Mode::Best, ..Options::default() }).unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut page = any_stream().new_tree(&mut runner).unwrap().current().remove(0);
    page.renews = Some(Sequence(0));
    let refused = settle_turn(Sequence(0), vec![page.clone()], &[], &learnt);
    assert!(matches!(refused, Err(DetectError::NotDecided { page: Sequence(0) })), "a page of the same turn");
    let refused = settle_turn(Sequence(1), vec![page], &[], &learnt);
    assert!(matches!(refused, Err(DetectError::NotDecided { page: Sequence(0) })), "no piece has it");
    let too_early = TurnInput { withdrawn: vec![Sequence(1)], ..TurnInput::default() };
    let refused = settle_turn(Sequence(1), too_early.clone(), &[], &learnt);
    assert!(matches!(refused, Err(DetectError::NotDecided { page: Sequence(1) })));
    assert!(matches!(
        Decider::in_memory(Options::default()).decide_turn(too_early),
        Err(DetectError::NotDecided { page: Sequence(1) })
    ));
}

/// What the withdrawn page was like is stored again, also where only its copies are in a piece.
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
    assert_eq!(named(in_pieces(&options, &stream, 4, &[3], &[(3, 0)])), expected);
    assert_eq!(named(by_one(&options, &stream, &[3], &[(3, 0)])), expected);
    let kept = [None, Some(0), Some(0), Some(0), Some(0), Some(0)].map(|of| of.map(Sequence));
    assert_eq!(named(by_one(&options, &stream, &[3], &[])), kept);
}
