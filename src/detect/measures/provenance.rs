//! The web-provenance hybrid (`provenance`, "A Hybrid Model for Detection and Elimination of
//! Near-Duplicates Based on Web Provenance for Effective Web Search", T. Gupta and L. Banda).
//!
//! What a page says of its origin elects which page of a group stays; that is not this file's business.
//! Here is how the group is found (section III.A.6 to 8):
//!
//! ```text
//! (1)      W_x = Σ count · field weight
//! (2)-(4)  w_x = W_x / average, kept if above the threshold    see `thresholding`
//!          prefix and positional filter, t = 0.5
//! (5)      A = U·Σ·Vᵀ, of which two dimensions remain          see `plane`
//! (6)      J(X, Y) = |X ∩ Y| / |X ∪ Y|
//! ```
//!
//! | paper | here |
//! |---|---|
//! | normalisation and threshold, (2)-(4) | [`Options::thresholding`], by the paper's formula unless set |
//! | `t` of the filters, 0.5 | [`Options::threshold`], in [0, 1], 0.5 by default |
//! | `J(X, Y)`, over the terms that are kept | the score, in millionths, rounded down |
//! | mezzanine set `M`, the matrix `A` | the page that is judged and its candidates, a column each |
//! | `a_ij` | `W_x` over the page's weight: the number of documents is in all columns alike |
//! | "2D coordinates using SVD techniques" | `(σ₁·v_j1, σ₂·v_j2)` for column `j` |
//! | similarity there, of which nothing is said | the cosine, in millionths, rounded to the nearest: [`Match::second`] |
//!
//! A match is a page for which both `J` and the cosine in the plane are at least `t`.
//!
//! **Departures.** The paper calls `J` = 1 dissimilar and 0 the same, and keeps what is below 0.5: a
//! slip; here 1 is the same. Its matrix has all that the filters leave; here a page that falls short of
//! `J ≥ t` gets no column, since it can be no match and would only turn the plane, and of the others
//! the [`COLUMNS`] with the highest `J` get one, so that a page's cost has a bound.
//!
//! **Filter.** Each kept term has the same weight. Two pages then overlap by
//! `|X ∩ Y| / max(|X|, |Y|)`, which is at least `J`: so the floor is the threshold itself, and nothing is
//! lost. [`FilterKind::Paper`](crate::filter::FilterKind::Paper) was made for sets of terms, and loses
//! nothing here either.
//!
//! **What the plane is good for.** Little. With one candidate it is no projection at all: two columns
//! lie in a plane, and the similarity is their cosine. With more, what tells columns apart beyond the two
//! main directions is cut off, so that cosines rise as a rule, and the condition gets weaker the more
//! candidates there are; all of them share half their terms with the page to begin with. What it does
//! reject is pages that share many terms and not their weight. Where a candidate lies off the plane, it
//! is near the origin, and its direction says nothing. So precision rests on `J`, and the second
//! condition can lower recall as well as raise precision.
//!
//! **Cost.** `J` is one merge of two records. At worst 65 columns: 2,080 merges and the eigenvectors of
//! a matrix of 65 by 65, some milliseconds, for a page that has candidates at all.
//!
//! [`Options::thresholding`]: crate::detect::Options::thresholding
//! [`Options::threshold`]: crate::detect::Options::threshold

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::plane;
use super::thresholding::Lightest;
use super::{Measure, Page, Similarity};
use crate::detect::{Match, Options};
use crate::record::{Score, Sequence, TermId, Threshold, Verdict};
use crate::verify::Record;

/// Candidates that get a column.
const COLUMNS: usize = 64;

/// Sets of terms, and their columns in a plane.
#[derive(Debug)]
pub(super) struct Provenance {
    threshold: Threshold,
    lightest: Lightest,
}

impl Provenance {
    pub(super) fn new(options: &Options) -> Self {
        Self { threshold: options.threshold, lightest: Lightest::new(options.thresholding) }
    }
}

impl Measure for Provenance {
    fn least_weight(&self, record: &Record) -> u32 {
        self.lightest.least_weight(record)
    }

    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        page.record.terms().iter().map(|&(term, _)| (term, 1)).collect()
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let score = jaccard(&probe.record, &stored.record)?;
        (score.0 >= bar.millionths()).then_some(Similarity { score, second: None })
    }

    fn looks_at_all(&self) -> bool {
        true
    }

    fn choose(&self, probe: &Page, mut matches: Vec<(Match, Arc<Page>)>) -> Vec<Match> {
        // They come ranked.
        matches.truncate(COLUMNS);
        let columns: Vec<&Record> = matches.iter().map(|(_, page)| &page.record).collect();
        let in_plane = in_plane(&probe.record, &columns);
        let chosen = matches.iter().zip(in_plane).map(|((found, _), second)| Match { second: Some(second), ..*found });
        chosen.filter(|found| found.second.is_some_and(|second| second.0 >= self.threshold.millionths())).collect()
    }

    fn learn(&mut self, _: Sequence, page: &Page, _: &Verdict, _: bool) {
        self.lightest.learn(&page.record);
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lightest.save(out)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.lightest.load(input)
    }
}

/// Equation (6) in millionths, rounded down; `None` if nothing is shared. As the product with a million
/// is exact, it reaches a threshold if and only if the fraction does.
fn jaccard(a: &Record, b: &Record) -> Option<Score> {
    let (mut shared, mut rest) = (0, b.terms().iter().peekable());
    for (term, _) in a.terms() {
        while rest.next_if(|(other, _)| other < term).is_some() {}
        shared += u64::from(rest.next_if(|(other, _)| other == term).is_some());
    }
    let all = (a.len() + b.len()) as u64 - shared;
    (shared > 0).then(|| Score((shared * u64::from(Threshold::ONE) / all) as u32))
}

/// The similarity of a page to each of the others in the plane of all their columns.
fn in_plane(page: &Record, others: &[&Record]) -> Vec<Score> {
    let columns: Vec<Vec<(u32, f64)>> = std::iter::once(&page).chain(others).map(|record| column(record)).collect();
    let points = plane::coordinates(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let rounded = |cosine: f64| Score(libm::round(cosine.clamp(0.0, 1.0) * f64::from(Threshold::ONE)) as u32);
    points.split_first().map_or_else(Vec::new, |(page, others)| {
        others.iter().map(|other| rounded(plane::cosine(*page, *other))).collect()
    })
}

/// The normalised weights of a page, but for the factor that is the same for all pages.
fn column(record: &Record) -> Vec<(u32, f64)> {
    let all = record.full_weight() as f64;
    record.terms().iter().map(|(term, weight)| (term.0, f64::from(*weight) / all)).collect()
}
