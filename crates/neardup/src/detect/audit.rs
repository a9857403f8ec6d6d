//! Checks the verdicts of a whole crawl against brute force.
//!
//! [`BruteForce`](super::BruteForce) decides a stream by itself. An audit takes verdicts made elsewhere and checks
//! each page: after the pages stored before it, does brute force give the same verdict? So pages can be checked in
//! any order and by several threads, and one wrong verdict does not make all later ones wrong. With [`Mode::Any`],
//! the named match must be a match with that score. No difference at any page means that brute force gives the whole
//! stream the same verdicts.
//!
//! An audit shares no code with the decider: no vocabulary, log, index or verification. Its only optimization: it
//! stops comparing two pages once the rest cannot reach the threshold. Cost: quadratic; some seconds for ten thousand
//! pages.

use std::collections::HashMap;

use super::brute_force::inherit;
use super::{Mode, Options, Withdrawals, Within};
use crate::model::{DecidedBy, Detector, JudgedPage, PageInput, Score, Sequence, Verdict};

/// A page for which brute force gives another verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditDifference {
    /// The page.
    pub page: Sequence,
    /// The verdict in the log.
    pub said: Verdict,
    /// The verdict of brute force, after the same stored pages.
    pub expected: Verdict,
}

/// A log of pages and verdicts, checked against brute force.
#[derive(Debug)]
pub struct Audit<'a> {
    options: Options,
    pages: Vec<JudgedPage<'a>>,
    verdicts: &'a [Verdict],
    weights: Vec<Weights>,
    /// The pages that later pages are compared with, ascending.
    compared: Vec<Sequence>,
    withdrawals: Withdrawals,
    /// For each page, the page whose verdict it inherits by the same body, or the same text.
    same_body: Vec<Option<Sequence>>,
    same_text: Vec<Option<Sequence>>,
}

/// A page's terms, ascending, and the sum of their weights.
#[derive(Debug)]
struct Weights {
    terms: Vec<(u32, u32)>,
    total: u64,
}

impl<'a> Audit<'a> {
    /// Creates an audit of the verdicts on these pages, in the order of decision, under these options.
    ///
    /// The index named in the options is not used, nor are the verdicts in `pages`.
    ///
    /// # Panics
    /// If there is not one verdict for each page.
    pub fn new(options: Options, pages: Vec<JudgedPage<'a>>, verdicts: &'a [Verdict]) -> Self {
        assert_eq!(pages.len(), verdicts.len(), "each page has one verdict");
        let weights = pages.iter().map(|page| weigh(page, &options)).collect();
        let (compared, same_body, same_text) = (Vec::new(), Vec::new(), Vec::new());
        let (within, withdrawals, own) = (options.within, Withdrawals::default(), pages.clone());
        let mut audit = Self { options, pages: own, verdicts, weights, compared, withdrawals, same_body, same_text };
        // Pages that differ in body and not in text, or the other way round, repeat different pages: if the first one's
        // is withdrawn, another one's may still be stored.
        let mut of_body = HashMap::<_, Vec<Sequence>>::new();
        let mut of_text = HashMap::<_, Vec<Sequence>>::new();
        for (number, page) in (0..).map(Sequence).zip(&pages) {
            let digests = |page: &JudgedPage| {
                let group = group_of(within, page);
                ((group, page.body_digest), page.text_digest.map(|text| (group, text)))
            };
            // Pages no longer inherit from a page that is decided again, or that another one displaced; only from one that
            // was chosen.
            let displaced = audit.withdrawals.add(&JudgedPage { verdict: verdicts[number.index()], ..*page });
            for of in page.renews.into_iter().flat_map(|earlier| [earlier].into_iter().chain(displaced)) {
                let (body, text) = digests(&pages[of.index()]);
                let stays = |page: &Sequence| pages[page.index()].rank == PageInput::CHOSEN && *page != of;
                of_body.entry(body).or_default().retain(stays);
                if let Some(text) = text {
                    of_text.entry(text).or_default().retain(stays);
                }
            }
            let (body, text) = digests(page);
            let is_stored = |page: &Sequence| {
                let of = verdicts[page.index()].duplicate_of().unwrap_or(*page);
                !audit.withdrawals.is_withdrawn(of, number)
            };
            let first_stored = |pages: &mut Vec<Sequence>| {
                let first = pages.iter().copied().find(is_stored);
                pages.push(number);
                first
            };
            audit.same_body.push(first_stored(of_body.entry(body).or_default()));
            audit.same_text.push(text.and_then(|text| first_stored(of_text.entry(text).or_default())));
            if verdicts[number.index()].is_unique() && audit.is_long_enough(number) {
                audit.compared.push(number);
            }
        }
        audit
    }

    /// Returns whether a page is compared with a stored one.
    fn is_compared(&self, page: Sequence, of: Sequence) -> bool {
        of < page && !self.withdrawals.is_withdrawn(of, page)
    }

    /// Returns all differences, in order.
    pub fn differences(&self) -> Vec<AuditDifference> {
        (0..).map(Sequence).zip(&self.pages).filter_map(|(number, _)| self.difference(number)).collect()
    }

    /// Returns how the verdict on a page differs from that of brute force, if it does.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn difference(&self, page: Sequence) -> Option<AuditDifference> {
        let (said, expected) = (self.verdicts[page.index()], self.expected(page));
        (said != expected).then_some(AuditDifference { page, said, expected })
    }

    fn expected(&self, page: Sequence) -> Verdict {
        let any_match = || self.named_match(page).filter(|_| self.options.mode == Mode::Any);
        self.copy_of(page).or_else(any_match).or_else(|| self.best_match(page)).unwrap_or(Verdict::Unique)
    }

    fn copy_of(&self, page: Sequence) -> Option<Verdict> {
        let inherited = |of: Sequence, link| inherit(of, self.verdicts[of.index()], link);
        if let Some(of) = self.same_body[page.index()] {
            return Some(inherited(of, DecidedBy::BodyDigest));
        }
        let of = self.same_text[page.index()].filter(|_| self.is_long_enough(page))?;
        Some(inherited(of, DecidedBy::TextDigest))
    }

    /// Returns the match that the verdict names, if it is one.
    fn named_match(&self, page: Sequence) -> Option<Verdict> {
        let Verdict::NearDuplicate { of, decided_by: DecidedBy::Similarity, .. } = self.verdicts[page.index()] else {
            return None;
        };
        let is_stored = self.compared.binary_search(&of).is_ok() && self.is_compared(page, of);
        let is_compared = is_stored && self.is_long_enough(page);
        let same_group = || self.group(&self.pages[page.index()]) == self.group(&self.pages[of.index()]);
        if !is_compared || !same_group() {
            return None;
        }
        let threshold = self.options.threshold.millionths();
        let score = score_from(&self.weights[page.index()], &self.weights[of.index()], threshold)?;
        Some(self.near_duplicate(of, score))
    }

    fn near_duplicate(&self, of: Sequence, score: Score) -> Verdict {
        let (detector, decided_by) = (self.options.detector, DecidedBy::Similarity);
        Verdict::NearDuplicate { of, score, second: None, difference: None, detector, decided_by }
    }

    fn best_match(&self, page: Sequence) -> Option<Verdict> {
        if self.options.detector == Detector::None || !self.is_long_enough(page) {
            return None;
        }
        let group = self.group(&self.pages[page.index()]);
        let mut bar = self.options.threshold.millionths();
        let mut best = None;
        for &of in self.compared.iter().take_while(|of| **of < page) {
            if !self.is_compared(page, of) || self.group(&self.pages[of.index()]) != group {
                continue;
            }
            if let Some(score) = score_from(&self.weights[page.index()], &self.weights[of.index()], bar) {
                best = Some(self.near_duplicate(of, score));
                // Of equal scores the first stays.
                bar = score.0 + 1;
            }
        }
        best
    }

    fn is_long_enough(&self, page: Sequence) -> bool {
        self.weights[page.index()].terms.len() >= self.options.min_terms
    }

    fn group(&self, page: &JudgedPage) -> u32 {
        group_of(self.options.within, page)
    }
}

fn group_of(within: Within, page: &JudgedPage) -> u32 {
    if within == Within::Crawl { 0 } else { page.group }
}

fn weigh(page: &JudgedPage, options: &Options) -> Weights {
    let capped = |weight: u64| u32::try_from(weight).unwrap_or(u32::MAX);
    let weighed = page.terms.iter().map(|(term, counts)| (term.0, capped(options.weights.weigh(&counts))));
    // Which terms were too light depends on the pages before; the log holds the weight that decided.
    let terms: Vec<(u32, u32)> = weighed.filter(|&(_, weight)| weight >= page.least_weight.max(1)).collect();
    let total = terms.iter().map(|&(_, weight)| u64::from(weight)).sum();
    Weights { terms, total }
}

/// Returns `MWO` in millionths, rounded down, if it reaches `millionths` and a term is shared.
///
/// Exact while the product of the total weights stays below 2¹⁰⁸.
fn score_from(a: &Weights, b: &Weights, millionths: u32) -> Option<Score> {
    let (total_a, total_b) = (u128::from(a.total), u128::from(b.total));
    let bar = u128::from(millionths) * total_a * total_b;
    let mut sum = 0;
    // The weight not compared yet. The newest terms come first: few pages share them.
    let (mut left_a, mut left_b) = (total_a, total_b);
    let mut rest = b.terms.iter().rev().peekable();
    for &(term, weight) in a.terms.iter().rev() {
        while let Some(&(_, other)) = rest.next_if(|(other, _)| *other > term) {
            left_b -= u128::from(other);
        }
        if let Some(&(_, other)) = rest.next_if(|(other, _)| *other == term) {
            left_b -= u128::from(other);
            sum += (u128::from(weight) * total_b).min(u128::from(other) * total_a);
        }
        left_a -= u128::from(weight);
        let still_possible = (left_a * total_b).min(left_b * total_a);
        if 1_000_000 * (sum + still_possible) < bar {
            return None;
        }
    }
    let reached = sum > 0 && 1_000_000 * sum >= bar;
    reached.then(|| Score((1_000_000 * sum / (total_a * total_b)) as u32))
}
