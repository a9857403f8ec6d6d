//! An index in pieces against one decider.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::test_streams::{any_stream, pages_of_templates};
use super::*;
use crate::model::{Detector, PageId, PageInput, Sequence, Threshold, Verdict};

/// Decides a stream in turns of these sizes, in that many pieces.
fn in_pieces(options: &Options, stream: &[PageInput], pieces: usize, turns: &[usize]) -> Vec<TurnAnswer> {
    let mut learnt = Learnt::new(options.clone()).unwrap();
    let mut pieces: Vec<Piece<InMemory>> = (0..pieces).map(|_| Piece::new(&learnt, InMemory)).collect();
    let (mut first, mut answers, mut rest) = (Sequence(0), Vec::new(), stream);
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let replies: Vec<Vec<Reply>> = pieces.iter_mut().map(|piece| piece.reply(turn, &learnt).unwrap()).collect();
        let decided = settle_turn(first, turn.to_vec(), &replies, &learnt).unwrap();
        let count = pieces.len();
        for (number, piece) in pieces.iter_mut().enumerate() {
            piece.apply(&decided, &learnt, |page| page.0 as usize % count == number).unwrap();
        }
        learnt.learn(&decided).unwrap();
        first.0 += decided.pages.len() as u32;
        answers.extend(decided.answers);
    }
    assert_eq!(pieces.iter().map(Piece::len).sum::<usize>(), first.index(), "each page is in one piece");
    answers
}

/// Decides the same turns by one decider.
fn by_one(options: &Options, stream: &[PageInput], turns: &[usize]) -> Vec<TurnAnswer> {
    let mut decider = Decider::in_memory(Options { settling: Settling::AtMarks, ..options.clone() });
    let (mut answers, mut rest) = (Vec::new(), stream);
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        answers.extend(decider.decide_turn(turn.to_vec()).unwrap());
    }
    answers
}

/// Two bits of the name choose the piece, so the names have to differ in them.
fn named(stream: Vec<PageInput>) -> Vec<PageInput> {
    let name = |(number, page): (usize, PageInput)| PageInput { page: PageId::new("turn", "", number as u32), ..page };
    stream.into_iter().enumerate().map(name).collect()
}

fn turns() -> impl Strategy<Value = Vec<usize>> {
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
    ) {
        let mut stream = named(pages);
        for page in again {
            let repeated = stream.get(page).cloned();
            stream.extend(repeated);
        }
        let threshold = Threshold::from_millionths(t).unwrap();
        let options = Options { threshold, within, min_terms: 2, mode: Mode::Best, ..Options::default() };
        prop_assert_eq!(in_pieces(&options, &stream, pieces, &turns), by_one(&options, &stream, &turns));
    }

    /// The same with knowledge of hosts, which counts as of the last turn.
    #[test]
    fn pieces_know_of_hosts_what_one_decider_knows(
        pages in pages_of_templates(),
        pieces in 1usize..5,
        turns in turns(),
    ) {
        let options = Options { min_terms: 1, mode: Mode::Best, ..Options::of(Detector::Mwo) };
        let stream = named(pages);
        prop_assert_eq!(in_pieces(&options, &stream, pieces, &turns), by_one(&options, &stream, &turns));
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
    assert_eq!(stored(&in_pieces(&options, &copies, 3, &[6])), 1);
    let learnt = Learnt::new(options.clone()).unwrap();
    let replies = Piece::new(&learnt, InMemory).reply(&copies, &learnt).unwrap();
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
    let refused = settle_turn(Sequence(1), vec![page], &[], &learnt);
    assert!(matches!(refused, Err(DetectError::RenewalInTurn { .. })));
}
