//! The oracle: decides like [`Decider`](super::Decider), by comparing every page with every page before it.
//!
//! It shares no code with the decider: no vocabulary, digest tables, index, early termination or integer tricks. If
//! the two disagree on a stream of pages, one of them is wrong. Cost: quadratic; good for some thousands of pages.

#[cfg(feature = "baselines")]
use std::collections::BTreeSet;
use std::collections::{BTreeMap, HashMap};

use super::{Options, Settling, Thresholding, Within};
use crate::model::{DecidedBy, Detector, PageInput, Score, Sequence, Term, Threshold, Verdict};

/// Decides by comparing with everything. It does not detect redelivery: pass each page once.
#[derive(Clone, Debug, Default)]
pub struct BruteForce {
    options: Options,
    words: HashMap<Term, u32>,
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    input: PageInput,
    /// Ascending by word.
    weights: Vec<(u32, u128)>,
    /// Weight of its terms before light ones were dropped.
    full_weight: u128,
    verdict: Verdict,
    /// Which copies inherit its verdict: none by a body or text with which a page was decided again.
    passes_on: PassesOn,
    /// Whether later pages are no longer compared with it.
    is_withdrawn: bool,
    /// Whether it is a page that was withdrawn, decided again.
    is_settled: bool,
}

#[derive(Clone, Debug)]
struct PassesOn {
    to_body: bool,
    to_text: bool,
}

impl BruteForce {
    /// Creates an oracle with these options. The index named in them is not used.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Decides the next page.
    ///
    /// Exact while the product of two records' total weights stays below 2¹⁰⁸.
    pub fn decide(&mut self, input: PageInput) -> Verdict {
        if let Some(earlier) = input.renews {
            self.renew(earlier, input.rank);
        }
        let mut weights = self.weigh(&input);
        let full_weight = weights.iter().map(|&(_, weight)| weight).sum();
        weights.retain(|&(_, weight)| self.is_kept(weight, full_weight));
        let verdict =
            self.copy_of(&input, &weights).or_else(|| self.best_match(&input, &weights)).unwrap_or(Verdict::Unique);
        let passes_on = PassesOn { to_body: true, to_text: true };
        let earlier = input.renews.and_then(|earlier| self.pages.get(earlier.index()));
        let is_settled = earlier.is_some_and(|earlier| earlier.is_withdrawn);
        self.pages.push(Page { input, weights, full_weight, verdict, passes_on, is_withdrawn: false, is_settled });
        verdict
    }

    /// Takes a page back, or the stored page that it repeats if the new page outranks that one.
    fn renew(&mut self, earlier: Sequence, rank: u8) {
        self.end_inheritance(earlier);
        let Some(verdict) = self.pages.get(earlier.index()).map(|page| page.verdict) else { return };
        let Some(of) = verdict.duplicate_of() else {
            self.pages[earlier.index()].is_withdrawn = true;
            return;
        };
        // A page that was displaced once stays, unless another one is chosen.
        let stored = &mut self.pages[of.index()];
        let may_leave = match rank {
            PageInput::CHOSEN => stored.input.rank <= rank,
            _ => stored.input.rank < rank && !stored.is_settled,
        };
        if may_leave && !std::mem::replace(&mut stored.is_withdrawn, true) {
            self.end_inheritance(of);
        }
    }

    /// Takes a page back for good: nothing is compared with it, and nobody inherits from those that name it.
    pub fn withdraw(&mut self, page: Sequence) {
        self.pages[page.index()].is_withdrawn = true;
    }

    fn end_inheritance(&mut self, earlier: Sequence) {
        let Some(Page { input: PageInput { group, body_digest, text_digest, .. }, .. }) =
            self.pages.get(earlier.index())
        else {
            return;
        };
        let (group, body, text) = (*group, *body_digest, *text_digest);
        let within = self.options.within;
        for (number, page) in (0..).map(Sequence).zip(&mut self.pages) {
            // One that was chosen passes its verdict on until it leaves.
            let is_of_another = page.input.rank == PageInput::CHOSEN && number != earlier;
            if (within == Within::Crawl || page.input.group == group) && !is_of_another {
                page.passes_on.to_body &= page.input.body_digest != body;
                page.passes_on.to_text &= page.input.text_digest != text || text.is_none();
            }
        }
    }

    /// Returns `MWO` of two decided pages in millionths, rounded down; `None` if there is no such page.
    pub fn score(&self, a: Sequence, b: Sequence) -> Option<Score> {
        let (a, b) = (self.pages.get(a.index())?, self.pages.get(b.index())?);
        let (scaled, product) = scaled_overlap(&a.weights, &b.weights);
        Some(Score(scaled.checked_div(product).unwrap_or(0) as u32))
    }

    fn weigh(&mut self, input: &PageInput) -> Vec<(u32, u128)> {
        let mut weights = BTreeMap::<u32, u64>::new();
        for term in &input.terms {
            let next = self.words.len() as u32;
            let word = *self.words.entry(term.term.clone()).or_insert(next);
            *weights.entry(word).or_default() += self.options.weights.weigh(&term.counts);
        }
        let capped = weights.into_iter().map(|(word, weight)| (word, u128::from(weight.min(u64::from(u32::MAX)))));
        capped.filter(|&(_, weight)| weight > 0).collect()
    }

    /// Returns whether a term of this weight is compared, on a page of weight `own`.
    fn is_kept(&self, weight: u128, own: u128) -> bool {
        match self.options.thresholding {
            Thresholding::Off => true,
            Thresholding::Fixed(share) => 1_000_000 * weight >= u128::from(share.millionths()) * own,
            Thresholding::Paper => {
                // Decided pages are learned at fixed page numbers; the page itself counts too.
                let learned = self.pages.len() - self.pages.len() % Settling::PAGES as usize;
                let all = own + self.pages[..learned].iter().map(|page| page.full_weight).sum::<u128>();
                learned + 1 < 20 || weight * (learned as u128 + 1) * all > own * own
            }
        }
    }

    fn copy_of(&self, input: &PageInput, weights: &[(u32, u128)]) -> Option<Verdict> {
        if let Some((number, page)) = self.first_of_body(input) {
            return Some(inherit(number, page.verdict, DecidedBy::BodyDigest));
        }
        if weights.len() < self.options.min_terms {
            return None;
        }
        let (number, page) = self.first_of_text(input)?;
        Some(inherit(number, page.verdict, DecidedBy::TextDigest))
    }

    fn first_of_body(&self, input: &PageInput) -> Option<(Sequence, &Page)> {
        let has_body = |page: &Page| page.passes_on.to_body && page.input.body_digest == input.body_digest;
        self.peers(input).find(|(_, page)| has_body(page) && self.is_stored(page))
    }

    fn first_of_text(&self, input: &PageInput) -> Option<(Sequence, &Page)> {
        input.text_digest?;
        let has_text = |page: &Page| page.passes_on.to_text && page.input.text_digest == input.text_digest;
        self.peers(input).find(|(_, page)| has_text(page) && self.is_stored(page))
    }

    /// Returns whether a page, or the one that it repeats, is compared with later pages.
    fn is_stored(&self, page: &Page) -> bool {
        let stored = page.verdict.duplicate_of().map_or(page, |of| &self.pages[of.index()]);
        !stored.is_withdrawn
    }

    fn best_match(&self, input: &PageInput, weights: &[(u32, u128)]) -> Option<Verdict> {
        if self.options.detector == Detector::None || weights.len() < self.options.min_terms {
            return None;
        }
        let t = u128::from(self.options.threshold.millionths());
        let mut best: Option<(Score, Sequence)> = None;
        for (number, page) in self.peers(input) {
            if !page.verdict.is_unique() || page.is_withdrawn || page.weights.len() < self.options.min_terms {
                continue;
            }
            let (scaled, whole) = match self.options.detector {
                #[cfg(feature = "baselines")]
                Detector::Dd => scaled_jaccard(&page.weights, weights),
                _ => scaled_overlap(&page.weights, weights),
            };
            let is_over = |below: Threshold| scaled > u128::from(below.millionths()) * whole;
            let is_kept_out = self.store_below().is_some_and(is_over);
            if scaled == 0 || (scaled < t * whole && !is_kept_out) {
                continue;
            }
            let score = Score((scaled / whole) as u32);
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, number));
            }
        }
        let (score, of) = best?;
        let (detector, decided_by) = (self.options.detector, DecidedBy::Similarity);
        Some(Verdict::NearDuplicate { of, score, second: None, difference: None, detector, decided_by })
    }

    /// Returns the similarity above which a page is not stored though it is no duplicate.
    fn store_below(&self) -> Option<Threshold> {
        match self.options.detector {
            #[cfg(feature = "baselines")]
            Detector::Dd => self.options.dd.store_below,
            _ => None,
        }
    }

    /// Returns the pages that a page is compared with, in order.
    fn peers(&self, input: &PageInput) -> impl Iterator<Item = (Sequence, &Page)> + Clone {
        let (within, group) = (self.options.within, input.group);
        let numbered = (0..).map(Sequence).zip(&self.pages);
        numbered.filter(move |(_, page)| within == Within::Crawl || page.input.group == group)
    }
}

/// Returns `10⁶ · Σ min(c_a·W_b, c_b·W_a)` and `W_a · W_b`.
fn scaled_overlap(a: &[(u32, u128)], b: &[(u32, u128)]) -> (u128, u128) {
    let total = |weights: &[(u32, u128)]| weights.iter().map(|&(_, weight)| weight).sum::<u128>();
    let (total_a, total_b) = (total(a), total(b));
    let mut rest = b.iter().peekable();
    let mut sum = 0;
    for &(word, weight) in a {
        while rest.next_if(|(other, _)| *other < word).is_some() {}
        if let Some((_, other)) = rest.next_if(|(other, _)| *other == word) {
            sum += (weight * total_b).min(other * total_a);
        }
    }
    (1_000_000 * sum, total_a * total_b)
}

/// Returns `10⁶ · |A ∩ B|` and `|A ∪ B|`.
#[cfg(feature = "baselines")]
fn scaled_jaccard(a: &[(u32, u128)], b: &[(u32, u128)]) -> (u128, u128) {
    let words = |weights: &[(u32, u128)]| weights.iter().map(|&(word, _)| word).collect::<BTreeSet<_>>();
    let (a, b) = (words(a), words(b));
    (1_000_000 * a.intersection(&b).count() as u128, a.union(&b).count() as u128)
}

/// Returns the verdict on a page that is, by `link`, a copy of page `number` with that verdict.
pub(super) fn inherit(number: Sequence, verdict: Verdict, link: DecidedBy) -> Verdict {
    match verdict {
        Verdict::Unique => Verdict::ExactDuplicate { of: number, decided_by: link },
        Verdict::NearDuplicate { of, score, second, difference, detector, .. } => {
            Verdict::NearDuplicate { of, score, second, difference, detector, decided_by: link }
        }
        Verdict::ExactDuplicate { of, decided_by } => {
            let both_by_body = decided_by == DecidedBy::BodyDigest && link == DecidedBy::BodyDigest;
            let decided_by = if both_by_body { DecidedBy::BodyDigest } else { DecidedBy::TextDigest };
            Verdict::ExactDuplicate { of, decided_by }
        }
    }
}
