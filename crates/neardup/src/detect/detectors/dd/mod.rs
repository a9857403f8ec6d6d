//! The hash algorithm (`dd`, section 3.1.5, "Duplicate Detection (DD) Algorithm", of a paper on pages of web news).
//!
//! A page is the set of the hash values of its stemmed keywords. Two pages are as similar as their sets.
//!
//! | paper | here |
//! |---|---|
//! | steps 1 to 4: stemmed keywords, hash values, the DB of keys | [`Keywords`]: follows from the vocabulary |
//! | step 5: the hash values of a sample | the terms of the [`Record`](crate::similarity::Record): a term has one value, a value one term |
//! | step 7: similarity measure | the Jaccard coefficient of the two sets |
//! | step 8: SimScore in % | the score, in millionths, rounded down |
//! | step 8: 80 % | [`Options::threshold`], 0.8 by default, in [0, 1] |
//! | figure 5: four ranges of SimScore | [`Band`] |
//! | conclusion: above 60 % is not stored | [`DdOptions::store_below`], by default the threshold |
//!
//! **Departures.** The formula of the similarity measure was an image and is lost; the Jaccard coefficient is what
//! the text around it describes. Keywords that do not begin with a to z, which the paper does not mention, have
//! bucket 0. Terms whose fields weigh 0 are no keywords; otherwise weights play no part. The paper compares every
//! page with every other.
//!
//! **Ties.** Step 8 says "80 % similar", the text below it "above 80 %", figure 5 "> 80 %". Here a page that reaches
//! the threshold is a near-duplicate, as with every detector. `store_below` is strict ("greater than 60 %"). [`Band`]
//! tells on which side of a band's edge a score falls.
//!
//! **Index.** Each term of a page has the same weight. Let two pages have `a ≥ b` terms and share `s ≤ b` of them.
//! MWO of equal weights is `s / a`: a shared term has share `1/a` of the one page and `1/b ≥ 1/a` of the other. The
//! Jaccard coefficient is `s / (a + b − s) ≤ s / a`, since `s ≤ b`. So `Jaccard ≤ MWO`: no match is lost, and the
//! index's bounds are bounds of scores. No higher bound would do: if one set contains the other (`s = b`), the two
//! are equal.
//!
//! **Cost.** One merge of two sets a comparison, stopped as soon as too much is missing from either.

mod bands;
mod keywords;

use std::borrow::Cow;

use super::Measure;
use crate::detect::page_match::{Page, Similarity};
use crate::model::{Score, TermId, Threshold};

pub use bands::{Band, BandCounts};
pub use keywords::{HashValue, Keywords};

#[cfg(doc)]
use crate::detect::Options;

const ONE: u64 = Threshold::ONE as u64;

/// Options of this detector only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DdOptions {
    /// Pages with a higher SimScore are not stored either; `None`: the threshold alone decides. The paper's
    /// conclusion has 0.6.
    pub store_below: Option<Threshold>,
}

/// Compares sets of keywords.
#[derive(Debug)]
pub(super) struct Dd {
    threshold: Threshold,
    store_below: Option<Threshold>,
}

impl Dd {
    pub(super) fn new(threshold: Threshold, options: DdOptions) -> Self {
        Self { threshold, store_below: options.store_below }
    }

    /// Returns whether a page so similar to a stored one is not stored.
    fn is_kept_out(&self, likeness: Likeness) -> bool {
        likeness.reaches(self.threshold) || self.store_below.is_some_and(|below| likeness.is_over(below))
    }
}

impl Measure for Dd {
    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        page.record.terms().iter().map(|&(term, _)| (term, 1)).collect()
    }

    fn bounds_are_scores(&self) -> bool {
        true
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let likeness = Likeness::reaching(probe.record.terms(), stored.record.terms(), bar)?;
        self.is_kept_out(likeness).then(|| Similarity { score: likeness.score(), second: None, difference: None })
    }
}

/// The keywords that two pages share, and all keywords of both. They share at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Likeness {
    shared: u64,
    together: u64,
}

impl Likeness {
    /// Compares two sets, if they reach a score.
    fn reaching(a: &[(TermId, u32)], b: &[(TermId, u32)], bar: Threshold) -> Option<Self> {
        let both = (a.len() + b.len()) as u64;
        // 10⁶·s ≥ bar·(both − s), solved for s; nothing shared is no match.
        let bar = u64::from(bar.millionths());
        let needed = (bar * both).div_ceil(ONE + bar).max(1);
        let shared = shared(a, b, needed)?;
        Some(Self { shared, together: both - shared })
    }

    fn reaches(self, threshold: Threshold) -> bool {
        self.shared * ONE >= u64::from(threshold.millionths()) * self.together
    }

    fn is_over(self, threshold: Threshold) -> bool {
        self.shared * ONE > u64::from(threshold.millionths()) * self.together
    }

    fn score(self) -> Score {
        Score(u32::try_from(self.shared * ONE / self.together).unwrap_or(Threshold::ONE))
    }
}

/// Returns the number of terms in both, if it is at least `needed`.
fn shared(a: &[(TermId, u32)], b: &[(TermId, u32)], needed: u64) -> Option<u64> {
    let mut slack_a = (a.len() as u64).checked_sub(needed)?;
    let mut slack_b = (b.len() as u64).checked_sub(needed)?;
    let (mut left_a, mut left_b, mut shared) = (a.len(), b.len(), 0);
    // The newest terms come first: they tend to be rare and tell pages apart soonest.
    while left_a > 0 && left_b > 0 {
        let (term_a, term_b) = (a[left_a - 1].0, b[left_b - 1].0);
        shared += u64::from(term_a == term_b);
        left_a -= usize::from(term_a >= term_b);
        left_b -= usize::from(term_b >= term_a);
        if term_a > term_b {
            slack_a = slack_a.checked_sub(1)?;
        } else if term_b > term_a {
            slack_b = slack_b.checked_sub(1)?;
        }
    }
    (shared >= needed).then_some(shared)
}

#[cfg(test)]
mod tests;
