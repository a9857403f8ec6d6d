//! An index in pieces against one decider, on real pages: how many verdicts differ.
//!
//! ```sh
//! cargo bench --bench turns -- DIR [--most N]
//! ```
//!
//! `DIR` is a folder of sites: `DIR/SITE/PATH.html`. The pages come in random order, in turns of 256. Two controls show
//! that a fault would be seen: turns whose pages are not compared with each other, and a piece that takes in each turn
//! one turn late.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Instant;

use ndcrawl::detect::{
    DecidedTurn, Decider, InMemory, Learnt, Mode, Options, Piece, Reply, Settling, TurnAnswer, settle_turn,
};
use ndcrawl::model::{Detector, PageInput, Sequence};

#[path = "shared/html.rs"]
mod html;
#[path = "shared/real_pages.rs"]
mod real_pages;
#[path = "shared/rendered_pages.rs"]
mod rendered_pages;

/// Pages of a turn.
const TURN: usize = 256;

/// What is done wrong on purpose.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The pages of a turn are not compared with each other.
    ForgetsTheTurn,
    /// The first piece takes in each turn one turn late.
    IsLate,
}

fn main() {
    // `cargo bench` adds a flag; `cargo test --benches` must not measure.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (folder, most) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [folder] => (PathBuf::from(folder), 100_000),
        [folder, "--most", most] => (PathBuf::from(folder), most.parse().unwrap()),
        _ => return println!("cargo bench --bench turns -- DIR [--most N]"),
    };
    let pages = real_pages::in_random_order(&folder, most);
    println!(
        "{} pages in turns of {TURN}\n\n| | verdicts that differ | stored | time |\n|---|---|---|---|",
        pages.len()
    );
    let options = Options { mode: Mode::Best, ..Options::of(Detector::Mwo) };
    let begin = Instant::now();
    let expected = by_one(&options, &pages);
    row("one decider", &expected, &expected, begin);
    for pieces in 1..=4 {
        let begin = Instant::now();
        let found = in_pieces(&options, &pages, pieces, Fault::None);
        row(&format!("{pieces} pieces"), &found, &expected, begin);
    }
    for (name, fault) in [("a turn forgotten", Fault::ForgetsTheTurn), ("a piece that is late", Fault::IsLate)] {
        let begin = Instant::now();
        row(&format!("control: {name}"), &in_pieces(&options, &pages, 3, fault), &expected, begin);
    }
}

fn row(name: &str, found: &[TurnAnswer], expected: &[TurnAnswer], begin: Instant) {
    let differ = found.iter().zip(expected).filter(|(found, expected)| found.verdict != expected.verdict).count();
    let stored = found.iter().filter(|answer| answer.verdict.is_unique()).count();
    println!("| {name} | {differ} | {stored} | {:.1} s |", begin.elapsed().as_secs_f64());
}

fn by_one(options: &Options, pages: &[PageInput]) -> Vec<TurnAnswer> {
    let mut decider = Decider::in_memory(Options { settling: Settling::AtMarks, ..options.clone() });
    pages.chunks(TURN).flat_map(|turn| decider.decide_turn(turn.to_vec()).unwrap()).collect()
}

fn in_pieces(options: &Options, pages: &[PageInput], count: usize, fault: Fault) -> Vec<TurnAnswer> {
    let mut learnt = Learnt::new(options.clone()).unwrap();
    let mut pieces: Vec<Piece<InMemory>> = (0..count).map(|_| Piece::new(&learnt, InMemory)).collect();
    let (mut first, mut answers) = (Sequence(0), Vec::new());
    let mut late: Option<DecidedTurn> = None;
    for turn in pages.chunks(TURN) {
        let replies: Vec<Vec<Reply>> =
            pieces.iter_mut().map(|piece| piece.reply(&turn.to_vec().into(), &learnt).unwrap()).collect();
        let decided = match fault {
            Fault::ForgetsTheTurn => alone(first, turn, &replies, &learnt),
            _ => settle_turn(first, turn.to_vec(), &replies, &learnt).unwrap(),
        };
        for (number, piece) in pieces.iter_mut().enumerate() {
            let taken = if fault == Fault::IsLate && number == 0 { late.as_ref() } else { Some(&decided) };
            if let Some(taken) = taken {
                piece.apply(taken, &learnt, |page| page.page.0 as usize % count == number).unwrap();
            }
        }
        learnt.learn(&decided).unwrap();
        first.0 += decided.pages.len() as u32;
        answers.extend(decided.answers.iter().copied());
        late = Some(decided);
    }
    answers
}

/// Decides each page of a turn as if it were the only one.
fn alone(first: Sequence, turn: &[PageInput], replies: &[Vec<Reply>], learnt: &Learnt) -> DecidedTurn {
    let mut all = DecidedTurn { first, ..DecidedTurn::default() };
    for (place, page) in turn.iter().enumerate() {
        let of_page: Vec<Vec<Reply>> = replies.iter().map(|piece| vec![piece[place]]).collect();
        let number = Sequence(first.0 + all.pages.len() as u32);
        let decided = settle_turn(number, vec![page.clone()], &of_page, learnt).unwrap();
        all.pages.extend(decided.pages);
        all.answers.extend(decided.answers);
    }
    all
}
