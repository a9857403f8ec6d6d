//! Streams of pages, and a log, for tests.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::test_rows::{LogRow, log_of};
use super::*;
use crate::model::{
    Digest, Field, FieldCounts, Judged, PageId, PageInput, PageTerms, RunningText, Sequence, Term, TermCounts,
    TermOrder, Threshold, Verdict,
};

pub(super) const THRESHOLDS: [u32; 6] = [0, 500_000, 700_000, 800_000, 900_000, 1_000_000];

pub(super) fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).unwrap()
}

/// A page of words and their counts in running text; its own body, no text digest.
pub(super) fn page(number: usize, words: &[(u32, u32)]) -> PageInput {
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

pub(super) fn with_body(mut page: PageInput, body: &str) -> PageInput {
    page.body_digest = Digest::of(body.as_bytes());
    page
}

pub(super) fn with_text(mut page: PageInput, text: &str) -> PageInput {
    page.text_digest = Some(Digest::of(text.as_bytes()));
    page
}

pub(super) fn options(millionths: u32, min_terms: usize) -> Options {
    Options { threshold: threshold(millionths), min_terms, mode: Mode::Best, ..Options::default() }
}

pub(super) fn verdicts(options: Options, pages: &[PageInput]) -> Vec<Verdict> {
    let judged = Decider::in_memory(options).decide(pages.to_vec()).unwrap();
    judged.iter().map(|judged| judged.verdict).collect()
}

pub(super) fn oracle(options: Options, pages: &[PageInput]) -> Vec<Verdict> {
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

/// Pages of a few hosts: a template, some words of a stock, perhaps a post that other pages print too, and words of
/// their own. One word in two counts as one with a digit.
pub(super) fn pages_of_templates() -> impl Strategy<Value = Vec<PageInput>> {
    let stock = prop::collection::vec(0..12u32, 0..4);
    let own = (0..6u32, prop_oneof![3 => Just(1u32), 1 => 2..80u32]);
    let group = prop_oneof![4 => 0..2u32, 1 => 2..6u32];
    let page = (group, 0..3u32, stock, prop::option::weighted(0.3, 0..2u32), own);
    prop::collection::vec(page, 1..40).prop_map(|pages| {
        let candidates =
            pages.into_iter().enumerate().map(|(number, (group, template, stock, post, (own, length)))| {
                let post = post.into_iter().flat_map(|post| (0..40).map(move |word| 500 + 50 * post + word));
                let words: Vec<u32> = (0..30).map(|word| template * 100 + word).chain(stock).chain(post).collect();
                let (own_name, own) = (own, (0..length).map(|word| 1000 + 100 * own + word));
                let counted: Vec<(u32, u32)> =
                    words.iter().map(|&word| (word, 1)).chain(own.clone().map(|word| (word, 2))).collect();
                let name = vec![own_name];
                let words = words.iter().copied().chain(own).map(|word| word.wrapping_mul(0x9E37_79B1)).collect();
                let order = TermOrder { text: RunningText { words, name }, ..TermOrder::default() };
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

/// A log that is read from while it grows.
#[derive(Clone, Default)]
pub(super) struct Log(pub(super) Arc<Mutex<Vec<LogRow>>>);

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

pub(super) type Told = (Sequence, Verdict, PageTerms, Vec<Term>);

/// Everything but the redelivery flag.
pub(super) fn told(judged: &[Judged]) -> Vec<Told> {
    judged.iter().map(|j| (j.sequence, j.verdict, j.terms.clone(), j.new_terms.clone())).collect()
}
