//! The extended term-document-weight matrix (`extended-tdw`, "An Extended TDW Scheme by Word Mapping Technique", Arun
//! P. R. and Sumesh M. S., IJERT 4(7), 2015).
//!
//! ```text
//! (1)  |S_di − S_k| < T_s                     sentence filter
//! (2)  prefix length = |r| − ⌈t·|r|⌉ + 1      prefix filter
//! (3)  J ≥ t  ⟺  O ≥ t/(1+t)·(|r| + |r_i|)    positional filter
//! (4)  ubound = 1 + min(|r| − p, |r_i| − q)
//! (5)  θ_t = 180° · (1 − t)
//! (7)  cos θ = Σ a_x·b_x / (√Σa_x² · √Σb_x²);  near-duplicate if θ ≤ θ_t
//! ```
//!
//! | paper | here |
//! |---|---|
//! | word mapping, Table I | before this room: terms arrive as the shortest synonym's stem |
//! | field weights `wt`, Table III | [`Options::weights`] |
//! | `S_k`, sentences of a page | [`TermOrder::sentence_count`](crate::model::TermOrder::sentence_count) |
//! | `T_s`, no figure given | [`Options::sentence_slack`]; off by default, since it loses recall |
//! | `t`, no figure given | [`Options::threshold`], in [0, 1], 0.9 by default: 18 degrees |
//! | (2) to (4) | [`FilterKind::Paper`]; [`FilterKind::Exact`] has its own bounds, see `least_overlap` |
//! | a row of the matrix `M` (6) | the page's [`Record`](crate::similarity::Record) |
//! | `θ` and its order | the score `1 − θ/180°`: highest first, and at least `t` iff `θ ≤ θ_t` |
//!
//! **Range of `t`.** Angles between pages end at 90 degrees, which (5) puts at `t = 0.5`: up to there every page with
//! a shared term is a near-duplicate. The useful range is 0.7 (54°, a cosine of 0.59) to 1. At 1 only pages of equal
//! proportions match.
//!
//! **Departures.** Equations (2) to (4) bound the Jaccard similarity of the sets of terms, as in MWO's paper, and
//! cosine ≥ t does not imply Jaccard ≥ t: with [`FilterKind::Paper`] matches are lost. (Its prefix is MWO's, which
//! rounds down and is sometimes one term longer.)
//!
//! **Cost.** One merge of two records and one arc tangent a comparison. Four bytes a decided page if sentences are
//! counted. Design notes: `docs/design/detect.md`.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use super::Measure;
use super::angle;
use crate::detect::Options;
use crate::detect::page_match::{Page, Similarity};
use crate::index::FilterKind;
use crate::model::arrays::{read_array, write_array};
use crate::model::{Sequence, TermId, Threshold};

/// How far rounded weights may change an overlap, in millionths: more than 2⁻⁹.
const ROUNDING: u32 = 2_000;

/// Compares by angles between weighted terms.
#[derive(Debug)]
pub(super) struct ExtendedTdw {
    filter: FilterKind,
    sentence_slack: Option<u32>,
    /// By number: one more than the sentences of a page, 0 if unknown.
    sentences: Vec<u32>,
}

impl ExtendedTdw {
    pub(super) fn new(options: &Options) -> Self {
        Self { filter: options.filter, sentence_slack: options.sentence_slack, sentences: Vec::new() }
    }

    /// Evaluates equation (1).
    fn is_within_slack(&self, one: u32, other: u32) -> bool {
        self.sentence_slack.is_none_or(|slack| one.abs_diff(other) < slack)
    }
}

impl Measure for ExtendedTdw {
    fn filtered<'a>(&self, page: &'a Page) -> Cow<'a, [(TermId, u32)]> {
        let square = angle::square(&page.record);
        let share = |weight: u32| {
            let scaled = u128::from(weight) * u128::from(weight) * u128::from(u32::MAX);
            // At most `S`, as no weight is more than all of them.
            u32::try_from(scaled.div_ceil(square)).unwrap_or(u32::MAX)
        };
        page.record.terms().iter().map(|&(term, weight)| (term, share(weight))).collect()
    }

    fn lower_bound(&self, bar: Threshold) -> Threshold {
        match self.filter {
            FilterKind::Exact => least_overlap(bar),
            FilterKind::Paper => bar,
        }
    }

    fn rules_out(&self, probe: &Page, stored: Sequence) -> bool {
        let known = self.sentences.get(stored.index()).and_then(|count| count.checked_sub(1));
        known.is_some_and(|count| !self.is_within_slack(probe.order.sentence_count, count))
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        if !self.is_within_slack(probe.order.sentence_count, stored.order.sentence_count) {
            return None;
        }
        let score = angle::similarity(&probe.record, &stored.record)?;
        (score.0 >= bar.millionths()).then_some(Similarity { score, second: None, difference: None })
    }

    fn learn(&mut self, number: Sequence, page: &Page, _: bool, is_compared: bool) {
        if self.sentence_slack.is_some() && is_compared {
            self.sentences.resize(number.index(), 0);
            self.sentences.push(page.order.sentence_count.saturating_add(1));
        }
    }

    fn bytes(&self) -> usize {
        self.sentences.capacity() * size_of::<u32>()
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.sentences)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.sentences = read_array(input)?;
        Ok(())
    }
}

/// Returns the least overlap of the shares of *squared* weights if the score is at least `bar`: `1 − sin θ`, less
/// rounding.
///
/// The exact index knows overlaps of shares, not angles. Let `p_x = a_x²/Σa²` and `q_x = b_x²/Σb²`. Both sum to one,
/// and `Σ √(p_x·q_x)` is `cos θ`. Then `Σ min(p_x, q_x) ≥ 1 − sin θ`: `Σ min(p,q) = 1 − ½·Σ|p−q|`, and with `|p−q| =
/// |√p−√q|·(√p+√q)`, by Cauchy-Schwarz,
///
/// `(Σ|p−q|)² ≤ Σ(√p−√q)² · Σ(√p+√q)² = (2 − 2·cos θ) · (2 + 2·cos θ) = 4·sin² θ`
///
/// That is 0.69 at t = 0.9, 0.41 at 0.8, and 0 (any shared term) up to 0.5.
///
/// *Rounding.* The index's weights have 32 bits: it gets `⌈p_x·S⌉`, `S = 2³² − 1`. Of `n` terms these sum to less
/// than `S + n`. Shares of them differ from `p` by less than `2n/S` in all, which moves an overlap by less than
/// `n/S`; two pages of up to 2²² terms together by less than 2⁻⁹. So the bound is lowered by 0.002 and rounded down.
/// A page with more terms, which needs a body limit far above the default, would be filtered slightly too strictly.
fn least_overlap(bar: Threshold) -> Threshold {
    let half_turns = 1.0 - f64::from(bar);
    let sine = if half_turns >= 0.5 { 1.0 } else { libm::sin(half_turns * std::f64::consts::PI) };
    let overlap = libm::floor((1.0 - sine) * f64::from(Threshold::ONE)) as u32;
    Threshold::from_millionths(overlap.saturating_sub(ROUNDING)).unwrap_or(bar)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{Score, TermOrder};
    use crate::similarity::{Record, score};

    fn threshold(millionths: u32) -> Threshold {
        Threshold::from_millionths(millionths).unwrap()
    }

    fn page(terms: &[(u32, u32)], sentence_count: u32) -> Arc<Page> {
        let record = Record::new(terms.iter().map(|&(term, weight)| (TermId(term), weight)).collect());
        Arc::new(Page { group: 0, record, order: TermOrder { sentence_count, ..TermOrder::default() } })
    }

    fn measure(sentence_slack: Option<u32>) -> ExtendedTdw {
        ExtendedTdw::new(&Options { sentence_slack, ..Options::default() })
    }

    fn found(measure: &ExtendedTdw, a: &Page, b: &Page, t: u32) -> Option<Score> {
        measure.compare(a, b, threshold(t)).map(|similarity| similarity.score)
    }

    /// Table II: rec1 = {t2, t1, t3}, rec2 = {t4, t1, t3}, rec3 = {t2, t4, t1, t3}, each term once in
    /// the main block.
    #[test]
    fn the_three_records_of_the_paper_have_the_angles_of_equation_7() {
        let records = [&[2, 1, 3][..], &[4, 1, 3], &[2, 4, 1, 3]]
            .map(|terms| page(&terms.iter().map(|&term| (term, 100)).collect::<Vec<_>>(), 1));
        let measure = measure(None);
        // arccos(2/3) is 48.19°, arccos(3/√12) is 30°.
        assert_eq!(found(&measure, &records[0], &records[1], 0), Some(Score(732_279)));
        assert_eq!(found(&measure, &records[0], &records[2], 0), Some(Score(833_333)));
        assert_eq!(found(&measure, &records[1], &records[2], 833_333), Some(Score(833_333)));
        assert_eq!(found(&measure, &records[1], &records[2], 833_334), None);
    }

    #[test]
    fn up_to_a_half_every_angle_passes_and_nothing_without_a_shared_term() {
        let (a, b, c) = (page(&[(0, 1), (1, 10_000)], 1), page(&[(0, 1), (2, 10_000)], 1), page(&[(3, 1)], 1));
        let measure = measure(None);
        assert_eq!(found(&measure, &a, &b, 500_000), Some(Score(500_000)));
        assert_eq!(found(&measure, &a, &c, 0), None);
        assert_eq!(measure.lower_bound(threshold(500_000)), threshold(0));
    }

    #[test]
    fn the_sentence_filter_is_equation_1() {
        let (a, b) = (page(&[(0, 1)], 10), page(&[(0, 1)], 12));
        for (slack, passes) in [(None, true), (Some(3), true), (Some(2), false)] {
            assert_eq!(found(&measure(slack), &a, &b, 900_000).is_some(), passes);
            assert_eq!(found(&measure(slack), &b, &a, 900_000).is_some(), passes);
        }
    }

    #[test]
    fn learnt_sentences_rule_pages_out_and_come_back_from_a_snapshot() {
        let mut measure = measure(Some(3));
        measure.learn(Sequence(0), &page(&[(0, 1)], 0), true, true);
        measure.learn(Sequence(1), &page(&[(0, 1)], 9), true, false);
        measure.learn(Sequence(4), &page(&[(0, 1)], 9), true, true);
        let mut bytes = Vec::new();
        measure.save(&mut bytes).unwrap();
        let mut loaded = super::tests::measure(Some(3));
        loaded.load(&mut &bytes[..]).unwrap();
        for measure in [measure, loaded] {
            let out = |count| (0..6).filter(|&n| measure.rules_out(&page(&[], count), Sequence(n))).collect::<Vec<_>>();
            assert_eq!((out(0), out(9), out(5)), (vec![4], vec![0], vec![0, 4]));
        }
    }

    #[test]
    fn the_floor_falls_with_the_angle() {
        let floor = |t| measure(None).lower_bound(threshold(t)).millionths();
        assert_eq!(
            [1_000_000, 900_000, 800_000, 700_000].map(floor),
            [998_000, 690_983 - 2_000, 412_214 - 2_000, 190_983 - 2_000]
        );
        let paper = ExtendedTdw::new(&Options { filter: FilterKind::Paper, ..Options::default() });
        assert_eq!(paper.lower_bound(threshold(900_000)), threshold(900_000));
    }

    fn any_page() -> impl Strategy<Value = Arc<Page>> {
        let weight = prop_oneof![1u32..4, 50u32..1_000, Just(u32::MAX)];
        prop::collection::vec((0u32..10, weight), 1..10).prop_map(|terms| page(&terms, 1))
    }

    proptest! {
        #[test]
        fn squared_shares_overlap_by_the_floor_of_the_score(a in any_page(), b in any_page()) {
            let measure = measure(None);
            if let Some(found) = found(&measure, &a, &b, 0) {
                let [a, b] = [&a, &b].map(|page| Record::new(measure.filtered(page).into_owned()));
                prop_assert!(score(&a, &b).0 >= measure.lower_bound(threshold(found.0)).millionths());
            }
        }

        #[test]
        fn the_score_is_the_angle_of_equation_7(a in any_page(), b in any_page()) {
            let weight = |page: &Page, term| {
                let found = page.record.terms().iter().find(|(other, _)| *other == TermId(term));
                found.map_or(0.0, |(_, weight)| f64::from(*weight))
            };
            let sum = |one: &Page, other: &Page| (0..10).map(|x| weight(one, x) * weight(other, x)).sum::<f64>();
            let cosine = sum(&a, &b) / (sum(&a, &a).sqrt() * sum(&b, &b).sqrt());
            let degrees = cosine.min(1.0).acos().to_degrees();
            let score = found(&measure(None), &a, &b, 0).map_or(0.5, Score::as_f64);
            prop_assert!((score - (1.0 - degrees / 180.0)).abs() < 1.1e-6, "{} {}", score, degrees);
        }
    }
}
