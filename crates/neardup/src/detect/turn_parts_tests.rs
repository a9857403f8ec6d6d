//! An index that is divided by hosts against one decider.

use proptest::prelude::*;

use super::test_streams::{any_stream, pages_of_templates};
use super::turn_tests::{by_one, turns};
use super::*;
use crate::model::{Detector, PageId, PageInput, Sequence, Threshold};

/// The worker of each part: none has all that another one has.
const WORKERS: [usize; 5] = [0, 1, 0, 2, 1];

/// Names differ, and groups become those of more hosts.
fn named(stream: Vec<PageInput>, hosts: u32) -> Vec<PageInput> {
    let name = |(number, page): (usize, PageInput)| {
        let group = page.group * 7 + number as u32 % hosts;
        PageInput { page: PageId::new("part", "", number as u32), group, ..page }
    };
    stream.into_iter().enumerate().map(name).collect()
}

/// Decides a stream in turns of these sizes. Each worker has the pages of some parts, and learns nothing of the others.
fn in_parts(options: &Options, stream: &[PageInput], turns: &[usize]) -> Vec<TurnAnswer> {
    let learnt = || Learnt::new(options.clone()).unwrap();
    let mut workers: Vec<_> = (0..3).map(|_| (Piece::new(&learnt(), InMemory), learnt())).collect();
    let part_of = |page: &PageInput| page.group as usize % usize::from(options.text_parts);
    let (mut next, mut answers, mut rest) = (Sequence(0), Vec::new(), stream);
    for size in turns.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (turn, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let parts: Vec<SettledPart> = (0..usize::from(options.text_parts))
            .map(|part| {
                let (piece, learnt) = &mut workers[WORKERS[part]];
                let own = (0..).zip(turn).filter(|(_, page)| part_of(page) == part);
                SettledPart::settle(next, own.map(|(place, page)| (place, page.clone())).collect(), piece, learnt)
                    .unwrap()
            })
            .collect();
        let joined = join_parts(next, turn.len(), &parts).unwrap();
        for (worker, (piece, learnt)) in workers.iter_mut().enumerate() {
            let own = turn
                .iter()
                .zip(&joined)
                .filter(|(page, joined)| WORKERS[part_of(page)] == worker && !joined.answer.redelivered);
            let pages = own.map(|(page, JoinedAnswer { answer, least_weight })| DecidedPage {
                sequence: answer.sequence,
                input: page.clone(),
                verdict: answer.verdict,
                least_weight: *least_weight,
            });
            let decided = DecidedTurn { first: next, pages: pages.collect(), ..DecidedTurn::default() };
            piece.apply(&decided, learnt, |_| true).unwrap();
            learnt.learn(&decided).unwrap();
        }
        next.0 += joined.iter().filter(|joined| !joined.answer.redelivered).count() as u32;
        answers.extend(joined.iter().map(|joined| joined.answer));
    }
    answers
}

fn within_hosts(options: Options, text_parts: u16) -> Options {
    Options { within: Within::Host, mode: Mode::Best, text_parts, ..options }
}

proptest! {
    /// The law: neither parts nor turns show in a verdict.
    #[test]
    fn parts_give_the_verdicts_of_one_decider(
        pages in any_stream(),
        again in prop::collection::vec(0usize..60, 0..6),
        hosts in 1u32..4,
        t in prop::sample::select(vec![0, 500_000, 700_000, 1_000_000]),
        parts in 1u16..6,
        turns in turns(),
    ) {
        let mut stream = named(pages, hosts);
        for page in again {
            let repeated = stream.get(page).cloned();
            stream.extend(repeated);
        }
        let threshold = Threshold::from_millionths(t).unwrap();
        let options = within_hosts(Options { threshold, min_terms: 2, ..Options::default() }, parts);
        prop_assert_eq!(in_parts(&options, &stream, &turns), by_one(&options, &stream, &turns, &[]));
    }

    /// The same with knowledge of hosts, of which the bound leaves little.
    #[test]
    fn parts_know_of_their_hosts_what_one_decider_knows(
        pages in pages_of_templates(),
        hosts in 1u32..4,
        parts in 1u16..6,
        text_memory in prop::sample::select(vec![20_000, 100_000, usize::MAX]),
        turns in turns(),
    ) {
        let options = within_hosts(Options { min_terms: 1, text_memory, ..Options::of(Detector::Mwo) }, parts);
        let stream = named(pages, hosts);
        prop_assert_eq!(in_parts(&options, &stream, &turns), by_one(&options, &stream, &turns, &[]));
    }
}

fn some_pages() -> Vec<PageInput> {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut pages = any_stream().new_tree(&mut runner).unwrap().current();
    while pages.len() < 8 {
        pages.extend(any_stream().new_tree(&mut runner).unwrap().current());
    }
    named(pages, 2)
}

#[test]
fn parts_of_another_turn_are_refused() {
    let options = within_hosts(Options::default(), 2);
    let learnt = Learnt::new(options.clone()).unwrap();
    let mut piece = Piece::new(&learnt, InMemory);
    let pages = some_pages();
    let mut part = |places: &[u32]| {
        let pages = places.iter().map(|place| (*place, pages[*place as usize].clone())).collect();
        SettledPart::settle(Sequence(0), pages, &mut piece, &learnt).unwrap()
    };
    let (even, odd) = (part(&[0, 2]), part(&[1, 3]));
    assert_eq!(join_parts(Sequence(0), 4, &[even.clone(), odd.clone()]).unwrap().len(), 4);
    let refused = |pages: usize, parts: &[SettledPart]| match join_parts(Sequence(0), pages, parts) {
        Err(DetectError::OtherParts { place }) => place,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(5, &[even.clone(), odd.clone()]), 4, "a page is missing");
    assert_eq!(refused(4, std::slice::from_ref(&even)), 1, "a part is missing");
    assert_eq!(refused(4, &[even.clone(), odd.clone(), even.clone()]), 0, "a part comes twice");
    assert_eq!(refused(3, &[even, odd]), 3, "a page is beyond the turn");

    let learnt = Learnt::new(Options { mode: Mode::Best, ..Options::default() }).unwrap();
    let refused = SettledPart::settle(Sequence(0), Vec::new(), &mut Piece::new(&learnt, InMemory), &learnt);
    assert!(matches!(refused, Err(DetectError::Undividable { .. })));
}
