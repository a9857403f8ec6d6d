//! Pages that are decided again, by deciders that follow each other, one decider, and brute force.

use proptest::prelude::*;

use super::test_streams::{any_stream, page_of, pages_of_templates, with_body, with_text};
use super::turn_tests::{new_verdicts, told};
use super::*;
use crate::model::{Detector, PageId, PageInput, Sequence, Threshold, Verdict};

/// What a turn of a stream is: how many new pages, which decided pages are decided again, each maybe with the content of
/// another one, which leave, and whether it settles.
#[derive(Clone, Debug)]
struct TurnShape {
    size: usize,
    renewed: Vec<(u32, Option<u32>)>,
    withdrawn: Vec<u32>,
    repeats: bool,
    is_unsettled: bool,
}

fn shapes() -> impl Strategy<Value = Vec<TurnShape>> {
    let renewed = prop::collection::vec((any::<u32>(), prop::option::weighted(0.2, any::<u32>())), 0..4);
    let withdrawn = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any::<u32>(), 1..3)];
    let shape = (0usize..12, renewed, withdrawn, any::<bool>(), prop::bool::weighted(0.2));
    let shape = shape.prop_map(|(size, renewed, withdrawn, repeats, is_unsettled)| TurnShape {
        size,
        renewed,
        withdrawn,
        repeats,
        is_unsettled,
    });
    prop::collection::vec(shape, 1..8)
}

/// Deciders that decide turns one after the other; each takes in those of the others.
struct InTurn {
    deciders: Vec<Decider<InMemory>>,
    turns: Vec<(TurnInput, Vec<TurnAnswer>)>,
    /// The pages that were decided, with their verdicts.
    decided: Vec<(PageInput, Verdict)>,
}

impl InTurn {
    fn new(options: &Options, deciders: usize) -> Self {
        let options = Options { settling: Settling::AtMarks, ..options.clone() };
        let deciders = (0..deciders).map(|_| Decider::in_memory(options.clone())).collect();
        Self { deciders, turns: Vec::new(), decided: Vec::new() }
    }

    fn next(&self) -> Sequence {
        Sequence(self.decided.len() as u32)
    }

    fn decide(&mut self, turn: TurnInput) {
        let at_work = self.turns.len() % self.deciders.len();
        let answers = told(&self.deciders[at_work].decide_turn(turn.clone()).unwrap());
        for (_, follower) in self.deciders.iter_mut().enumerate().filter(|(number, _)| *number != at_work) {
            let taken = follower.take_turn(turn.clone(), new_verdicts(&answers).into_iter()).unwrap();
            assert_eq!(told(&taken), answers);
        }
        let new = turn.pages.iter().zip(&answers).filter(|(_, answer)| !answer.redelivered);
        self.decided.extend(new.map(|(page, answer)| (page.clone(), answer.verdict)));
        self.turns.push((turn, answers));
    }

    /// Decides a stream in turns of these shapes, the rest of it in one, and what was displaced behind each.
    fn decide_stream(&mut self, mut stream: &[PageInput], shapes: &[TurnShape]) {
        for shape in shapes {
            let (new, rest) = stream.split_at(shape.size.min(stream.len()));
            stream = rest;
            let turn = self.turn(new, shape);
            self.decide(turn);
            let displaced = self.deciders[0].displaced();
            let again = |page: Sequence| PageInput {
                page: PageId::new("displaced", "", page.0),
                renews: Some(page),
                ..self.decided[page.index()].0.clone()
            };
            let turn: Vec<PageInput> = displaced.into_iter().map(again).collect();
            self.decide(TurnInput { is_unsettled: shape.is_unsettled, ..turn.into() });
        }
        self.decide(stream.to_vec().into());
    }

    fn turn(&self, new: &[PageInput], shape: &TurnShape) -> TurnInput {
        let (next, mut pages) = (self.next().0, new.to_vec());
        for (number, (page, like)) in shape.renewed.iter().filter(|_| next > 0).enumerate() {
            let (page, like) = (page % next, like.unwrap_or(*page) % next);
            let name = PageId::new("renewed", &next.to_string(), number as u32);
            let content = &self.decided[like as usize].0;
            let renews = Some(Sequence(page));
            pages.insert((page as usize) % (pages.len() + 1), PageInput { page: name, renews, ..content.clone() });
        }
        // What is delivered again: a renewal of an earlier turn, and the first page of this one.
        let renewal = self.decided.iter().rev().map(|(page, _)| page).find(|page| page.renews.is_some());
        let repeated: Vec<PageInput> = renewal.into_iter().chain(pages.first()).cloned().collect();
        pages.extend(repeated.into_iter().filter(|_| shape.repeats));
        let withdrawn = shape.withdrawn.iter().filter(|_| next > 0).map(|page| Sequence(page % next)).collect();
        TurnInput { withdrawn, pages, is_unsettled: shape.is_unsettled }
    }
}

/// Decides the same turns by one decider. All are asked the same questions at the end.
fn assert_as_one(options: &Options, mut all: InTurn, from: u32) -> Result<(), TestCaseError> {
    let mut one = Decider::in_memory(Options { settling: Settling::AtMarks, ..options.clone() });
    for (turn, answers) in &all.turns {
        prop_assert_eq!(&told(&one.decide_turn(turn.clone()).unwrap()), answers);
    }
    let from = Sequence(from % (all.next().0 + 1));
    for decider in &mut all.deciders {
        prop_assert_eq!(decider.outdated_duplicates(from).unwrap(), one.outdated_duplicates(from).unwrap());
        prop_assert_eq!(decider.outranking(from), one.outranking(from));
        prop_assert_eq!(decider.displaced(), one.displaced());
    }
    Ok(())
}

fn ranked(pages: Vec<PageInput>, ranks: Vec<u8>) -> Vec<PageInput> {
    let named = |(number, (page, rank)): (usize, (PageInput, u8))| PageInput {
        page: PageId::new("turn", "", number as u32),
        rank,
        ..page
    };
    pages.into_iter().zip(ranks.into_iter().cycle()).enumerate().map(named).collect()
}

fn ranks() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..3, 1..20)
}

proptest! {
    /// The law: it does not show who has decided which turn, whatever is decided again or withdrawn.
    #[test]
    fn deciders_in_turn_decide_again_as_one_decider_and_as_brute_force(
        pages in any_stream(),
        ranks in ranks(),
        shapes in shapes(),
        within in prop_oneof![Just(Within::Crawl), Just(Within::Host)],
        t in prop::sample::select(vec![0, 500_000, 700_000, 1_000_000]),
        deciders in 2usize..5,
        from in any::<u32>(),
    ) {
        let threshold = Threshold::from_millionths(t).unwrap();
        let options = Options { threshold, within, min_terms: 2, mode: Mode::Best, ..Options::default() };
        let mut all = InTurn::new(&options, deciders);
        all.decide_stream(&ranked(pages, ranks), &shapes);
        let mut oracle = BruteForce::new(options.clone());
        for (turn, answers) in &all.turns {
            turn.withdrawn.iter().for_each(|page| oracle.withdraw(*page));
            for (page, answer) in turn.pages.iter().zip(answers).filter(|(_, answer)| !answer.redelivered) {
                prop_assert_eq!(answer.verdict, oracle.decide(page.clone()), "page {}", answer.sequence);
            }
        }
        assert_as_one(&options, all, from)?;
    }

    /// The same with knowledge of hosts, by which verdicts become outdated.
    #[test]
    fn all_look_again_as_one_decider_does(
        pages in pages_of_templates(),
        ranks in ranks(),
        shapes in shapes(),
        deciders in 2usize..5,
        from in any::<u32>(),
    ) {
        let options = Options { min_terms: 1, mode: Mode::Best, ..Options::of(Detector::Mwo) };
        let mut all = InTurn::new(&options, deciders);
        all.decide_stream(&ranked(pages, ranks), &shapes);
        assert_as_one(&options, all, from)?;
    }
}

/// A copy of a page that was decided again inherits nothing from before.
#[test]
fn copies_of_a_page_that_was_decided_again_inherit_nothing_from_it() {
    let options = Options {
        min_terms: 2,
        threshold: Threshold::from_millionths(700_000).unwrap(),
        mode: Mode::Best,
        ..Options::default()
    };
    let list = with_text(page_of(0, &[(1, 3), (2, 3), (3, 3), (9, 1)]), "list");
    let article = PageInput { rank: 2, ..with_text(page_of(1, &[(1, 3), (2, 3), (3, 3), (8, 1)]), "article") };
    let copy = |number: u32| PageInput { page: PageId::new("copy", "", number), ..article.clone() };
    let mut all = InTurn::new(&options, 4);
    all.decide(vec![list.clone(), article.clone(), copy(0), copy(1), copy(2)].into());
    let again = |page: &PageInput, number: u32| PageInput {
        page: PageId::new("again", "", number),
        renews: Some(Sequence(number)),
        ..page.clone()
    };
    all.decide(vec![again(&article, 1), copy(3)].into());
    assert_eq!(all.turns[1].1[0].displaced, Some(Sequence(0)));
    all.decide(
        vec![
            again(&list, 0),
            copy(4),
            PageInput { page: PageId::new("list again", "", 0), ..with_body(list, "list again") },
        ]
        .into(),
    );
    let named: Vec<Option<Sequence>> = all.decided.iter().map(|(_, verdict)| verdict.duplicate_of()).collect();
    let [list, article] = [Some(Sequence(0)), Some(Sequence(5))];
    assert_eq!(named, [None, list, list, list, list, None, article, article, article, article]);
    let by_body = |place: usize| matches!(all.decided[place].1, Verdict::ExactDuplicate { .. });
    assert!(by_body(6) && by_body(8) && !by_body(7));
    assert_as_one(&options, all, 0).unwrap();
}
