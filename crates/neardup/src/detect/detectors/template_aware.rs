//! Minimum weight overlapping with a second check (`mwo` with `--second-check template`): word order, without the
//! template of the host.
//!
//! A bag of weighted words takes siblings of one template for the same page. Reference pages that differ in one class
//! name share nine tenths of their weight. So pages that reach the first threshold must also share running *text*:
//!
//! 1. The text of a page is its set of shingles: runs of four words.
//! 2. Shingles that are template on either host do not count. A shingle is template if at least
//!    [`TEMPLATE_PAGES`] of the host's pages have it, and at least one in [`TEMPLATE_SHARE`].
//! 3. Of the `n` shingles left, the part that both pages have must reach `second + 1.5/√n + 2·max(0, 0.75 − MWO)`;
//!    the first two terms are capped at 0.9. Short texts must agree more, since one telling word is a smaller
//!    part of a long text. Texts whose weights agree less must agree more, too.
//! 4. If both hosts have too few pages to recognize template, all shingles are compared. Pages of two such hosts must
//!    share a quarter more of them than rule 3 asks: two hosts seldom share a template, and a text is often printed
//!    on several. Pages of one such host must share nearly all, and so must pages of which almost nothing is left.
//!
//! Statistics count the pages decided before, without exact copies, as of the last update. So a verdict can be
//! repeated from the log. All arithmetic is in integers, so a tie is the same everywhere.
//!
//! | quantity | here | chosen on the public labels |
//! |---|---|---|
//! | first threshold | [`Options::threshold`](crate::detect::Options) | 0.68 |
//! | `second` | [`Options::second`](crate::detect::Options) | 0.35 |
//! | the others | constants of this file | there too |
//!
//! **Memory.** Shingles are counted by lossy counting (Manku and Motwani, "Approximate frequency counts over data
//! streams"). After each [`BUCKET`] pages of a host, shingles that cannot reach a fiftieth of its pages are dropped;
//! a count is too low by at most that share. A host keeps the shingles of its last fifty pages and the frequent ones,
//! at 12 to 24 bytes each, however many pages it has.
//!
//! **Departures.** The paper has no such check. The index stays complete for the first check, so every page that
//! passes both is found. Design notes: `docs/design/detect.md`.

use std::io::{self, Read, Write};

use hashbrown::HashMap;

use super::mwo::Mwo;
use super::thresholding::Thresholding;
use super::{Measure, SecondCheck, SecondCheckBasis};
use crate::detect::page_match::{Page, Similarity};
use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};
use crate::model::{DecidedBy, Score, Sequence, TermOrder, Threshold, Verdict};
use crate::similarity::Record;

/// A shingle on at least one in so many pages of a host is template.
const TEMPLATE_SHARE: u32 = 25;
/// And on at least so many pages.
const TEMPLATE_PAGES: u32 = 5;
/// Pages after which rare shingles are dropped; well above [`TEMPLATE_SHARE`].
const BUCKET: u32 = 50;
/// With fewer pages of either host, template cannot be recognized.
const YOUNG_HOST: u32 = 5;
/// The extra that pages of two young hosts must share, in millionths: what they have in common may be a template.
///
/// Copies of 150 words with three in a hundred changed, or a fifth cut off, share 0.77 or more, and 0.72 is required. Pages
/// of one template that states other facts share about half.
const TWO_YOUNG_HOSTS: u64 = 250_000;
/// With fewer shingles left, the text is too short to compare without template.
const LITTLE_LEFT: u64 = 6;
/// The part that pages must share then, template included, and the cap otherwise; in millionths.
const NEARLY_ALL: u64 = 900_000;
/// The square of 1.5 in millionths: the extra that short texts must share.
const SHORTNESS: u64 = 1_500_000 * 1_500_000;
/// From this first score on, in millionths, differing weights add nothing to the requirement.
const FIRM: u32 = 750_000;
/// The first score that pages without any shingle must reach.
const FIRM_ALONE: Score = Score(800_000);
/// Levels of sampling for the shingles of long pages.
const LEVELS: usize = 33;

/// Compares by two checks: weights, then word order.
#[derive(Debug)]
pub struct TemplateAware {
    weights: Mwo,
    second: Threshold,
    hosts: HashMap<u32, HostShingles>,
}

/// Shingle statistics of one host.
#[derive(Debug)]
struct HostShingles {
    pages: u32,
    /// Pages by the level to which their shingles are sampled.
    of_level: [u32; LEVELS],
    counts: HashMap<u32, ShingleCount>,
}

/// Pages with a shingle since it was last dropped, and the number of buckets at that time.
#[derive(Clone, Copy, Debug)]
struct ShingleCount {
    pages: u32,
    before: u32,
}

impl Default for HostShingles {
    fn default() -> Self {
        Self { pages: 0, of_level: [0; LEVELS], counts: HashMap::new() }
    }
}

impl HostShingles {
    fn learn(&mut self, order: &TermOrder) {
        let before = self.pages / BUCKET;
        self.pages += 1;
        self.of_level[usize::from(order.shingle_level).min(LEVELS - 1)] += 1;
        for &shingle in &order.shingles {
            self.counts.entry(shingle).or_insert(ShingleCount { pages: 0, before }).pages += 1;
        }
        if self.pages.is_multiple_of(BUCKET) {
            let buckets = self.pages / BUCKET;
            self.counts.retain(|_, count| count.pages + count.before > buckets);
        }
    }

    fn is_template(&self, shingle: u32) -> bool {
        let Some(count) = self.counts.get(&shingle).filter(|count| count.pages >= TEMPLATE_PAGES) else { return false };
        // Pages whose sample would contain the shingle.
        let level = shingle.leading_zeros() as usize;
        let pages: u32 = self.of_level[..=level].iter().sum();
        u64::from(count.pages) * u64::from(TEMPLATE_SHARE) >= u64::from(pages)
    }
}

/// Shingles that at least one of two pages has, and those that both have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ShingleOverlap {
    by_both: u64,
    by_any: u64,
}

impl ShingleOverlap {
    fn add(&mut self, both: bool) {
        self.by_any += 1;
        self.by_both += u64::from(both);
    }

    /// Returns the part that both have, in millionths, rounded down.
    fn share(self) -> u64 {
        (self.by_both * u64::from(Threshold::ONE)).checked_div(self.by_any).unwrap_or(0)
    }
}

impl TemplateAware {
    /// Creates a detector without statistics.
    pub fn new(second: Threshold, thresholding: Thresholding) -> Self {
        Self { weights: Mwo::new(thresholding), second, hosts: HashMap::new() }
    }

    /// Returns the second score of two pages with the score `first`, if they pass the check.
    fn second(&self, probe: &Page, stored: &Page, first: Score) -> Option<Option<Score>> {
        if self.is_clearly_different(probe, stored) {
            return None;
        }
        let look = self.check_order(probe, stored, first);
        look.is_met(first).then_some(look.score)
    }

    /// Returns whether two pages certainly fail the check, without looking up most shingles.
    ///
    /// Siblings of a template do, and a large host has many.
    fn is_clearly_different(&self, probe: &Page, stored: &Page) -> bool {
        let hosts = self.hosts_of(probe, stored);
        if hosts.are_young() || probe.order.shingles.is_empty() || stored.order.shingles.is_empty() {
            return false;
        }
        let shared = merged(hosts.level, probe, stored)
            .filter(|&(shingle, both)| both && !hosts.is_template(shingle))
            .count() as u64;
        let enough = shared * u64::from(Threshold::ONE);
        let others = merged(hosts.level, probe, stored).filter(|&(shingle, both)| !both && !hosts.is_template(shingle));
        // The shared shingles are too few of these, and there are enough to decide.
        let too_many = (shared + 1..)
            .zip(others)
            .find(|(by_any, _)| *by_any >= LITTLE_LEFT && enough < by_any * u64::from(self.second.millionths()));
        too_many.is_some()
    }

    fn hosts_of(&self, probe: &Page, stored: &Page) -> HostPair<'_> {
        let other = self.hosts.get(&stored.group).filter(|_| probe.group != stored.group);
        let level = probe.order.shingle_level.max(stored.order.shingle_level);
        HostPair { own: self.hosts.get(&probe.group), other, level }
    }

    /// Compares the word order of two pages, and returns the shared and the required part.
    fn check_order(&self, probe: &Page, stored: &Page, first: Score) -> SecondCheck {
        if probe.order.shingles.is_empty() || stored.order.shingles.is_empty() {
            return SecondCheck { score: None, required: FIRM_ALONE, basis: SecondCheckBasis::WeightsAlone };
        }
        let hosts = self.hosts_of(probe, stored);
        let level = hosts.level;
        let (mut text, mut all) = (ShingleOverlap::default(), ShingleOverlap::default());
        for (shingle, both) in merged(level, probe, stored) {
            all.add(both);
            if !hosts.is_template(shingle) {
                text.add(both);
            }
        }
        let (shared, required, basis) = match () {
            () if hosts.are_young() && probe.group == stored.group => (all, NEARLY_ALL, SecondCheckBasis::YoungHost),
            () if hosts.are_young() => {
                let required = self.required_part(all.by_any << level.min(32), first, TWO_YOUNG_HOSTS);
                (all, required, SecondCheckBasis::TwoYoungHosts)
            }
            () if text.by_any < LITTLE_LEFT => (all, NEARLY_ALL, SecondCheckBasis::LittleText),
            () => (text, self.required_part(text.by_any << level.min(32), first, 0), SecondCheckBasis::Text),
        };
        SecondCheck { score: Some(Score(shared.share() as u32)), required: Score(required as u32), basis }
    }

    /// Returns the part that two texts of `shingles` shingles must share, in millionths; `more` is added below the cap.
    fn required_part(&self, shingles: u64, first: Score, more: u64) -> u64 {
        let second = u64::from(self.second.millionths());
        let more_if_short = (SHORTNESS / shingles.max(1)).isqrt();
        let more_if_loose = 2 * u64::from(FIRM.saturating_sub(first.0));
        (second + more_if_short + more).min(NEARLY_ALL.max(second)) + more_if_loose
    }
}

/// The hosts of two pages, and the level to which both have their shingles sampled.
#[derive(Clone, Copy, Debug)]
struct HostPair<'a> {
    own: Option<&'a HostShingles>,
    /// Only if it is another host.
    other: Option<&'a HostShingles>,
    level: u8,
}

impl HostPair<'_> {
    fn are_young(self) -> bool {
        let pages = |host: Option<&HostShingles>| host.map_or(0, |host| host.pages);
        pages(self.own).max(pages(self.other)) < YOUNG_HOST
    }

    fn is_template(self, shingle: u32) -> bool {
        let on = |host: Option<&HostShingles>| host.is_some_and(|host| host.is_template(shingle));
        on(self.own) || on(self.other)
    }
}

/// Merges the shingles of two pages, ascending, sampled to `level`, and tells whether both have each.
fn merged(level: u8, a: &Page, b: &Page) -> impl Iterator<Item = (u32, bool)> {
    // Hashes with that many leading zero bits come first.
    let kept = |shingles: &'_ [u32]| shingles.partition_point(|shingle| shingle.leading_zeros() >= level.into());
    let (a, b) = (&a.order.shingles, &b.order.shingles);
    let (mut a, mut b) = (&a[..kept(a)], &b[..kept(b)]);
    std::iter::from_fn(move || {
        let next = match (a.first(), b.first()) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&only), None) | (None, Some(&only)) => only,
            (None, None) => return None,
        };
        let (in_a, in_b) = (a.first() == Some(&next), b.first() == Some(&next));
        a = &a[usize::from(in_a)..];
        b = &b[usize::from(in_b)..];
        Some((next, in_a && in_b))
    })
}

impl Measure for TemplateAware {
    fn least_weight(&self, record: &Record) -> u32 {
        self.weights.least_weight(record)
    }

    fn bounds_are_scores(&self) -> bool {
        true
    }

    fn is_unstable(&self) -> bool {
        true
    }

    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.weights.first_score(probe, stored)
    }

    fn second_check(&self, probe: &Page, stored: &Page, first: Score) -> Option<SecondCheck> {
        Some(self.check_order(probe, stored, first))
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let Similarity { score, .. } = self.weights.compare(probe, stored, bar)?;
        self.second(probe, stored, score).map(|second| Similarity { score, second })
    }

    fn learn(&mut self, number: Sequence, page: &Page, verdict: &Verdict, is_compared: bool) {
        self.weights.learn(number, page, verdict, is_compared);
        let is_copy = match verdict {
            Verdict::Unique => false,
            Verdict::NearDuplicate { decided_by, .. } => *decided_by != DecidedBy::Similarity,
            Verdict::ExactDuplicate { .. } => true,
        };
        if !is_copy {
            self.hosts.entry(page.group).or_default().learn(&page.order);
        }
    }

    fn bytes(&self) -> usize {
        let hosts = self.hosts.values().map(|host| host.counts.allocation_size());
        self.hosts.allocation_size() + hosts.sum::<usize>()
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.weights.save(out)?;
        let mut hosts: Vec<_> = self.hosts.iter().collect();
        hosts.sort_unstable_by_key(|(group, _)| **group);
        write_number(out, hosts.len() as u64)?;
        for (group, host) in hosts {
            write_number(out, *group)?;
            write_number(out, host.pages)?;
            write_array(out, &host.of_level)?;
            let mut counts: Vec<_> = host.counts.iter().collect();
            counts.sort_unstable_by_key(|(shingle, _)| **shingle);
            write_array(out, &counts.iter().map(|(shingle, _)| **shingle).collect::<Vec<_>>())?;
            write_array(out, &counts.iter().map(|(_, count)| count.pages).collect::<Vec<_>>())?;
            write_array(out, &counts.iter().map(|(_, count)| count.before).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.weights.load(input)?;
        self.hosts.clear();
        for _ in 0..read_number::<u64>(input)? {
            let (group, pages) = (read_number(input)?, read_number(input)?);
            let of_level = read_array(input)?.try_into().map_err(|_| invalid("a host of other levels"))?;
            let (shingles, met, before): (Vec<u32>, Vec<u32>, Vec<u32>) =
                (read_array(input)?, read_array(input)?, read_array(input)?);
            let counts = met.into_iter().zip(before).map(|(pages, before)| ShingleCount { pages, before });
            let counts = shingles.into_iter().zip(counts).collect();
            self.hosts.insert(group, HostShingles { pages, of_level, counts });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermId;

    const SECOND: Threshold = match Threshold::from_millionths(350_000) {
        Some(second) => second,
        None => panic!("0.35 is a threshold"),
    };

    /// A page of two terms, of which `own` of 100 hundredths is its own, and of these shingles.
    fn page(group: u32, own: u32, shingles: impl IntoIterator<Item = u32>) -> Page {
        let record = Record::new(vec![(TermId(0), 100 - own), (TermId(own), own)]);
        let mut shingles: Vec<u32> = shingles.into_iter().map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
        shingles.sort_unstable();
        Page { group, record, order: TermOrder { shingles, ..TermOrder::default() } }
    }

    fn learned(pages: &[Page]) -> TemplateAware {
        let mut measure = TemplateAware::new(SECOND, Thresholding::Off);
        (0..).zip(pages).for_each(|(number, page)| measure.learn(Sequence(number), page, &Verdict::Unique, true));
        measure
    }

    fn bar() -> Threshold {
        Threshold::from_millionths(680_000).unwrap()
    }

    /// Ten pages that share 1,000 shingles and have 50 of their own each.
    fn siblings(group: u32) -> Vec<Page> {
        (1..=10u32).map(|own| page(group, own, (0..1000).chain(own * 1000..own * 1000 + 50))).collect()
    }

    #[test]
    fn siblings_of_a_template_are_told_apart_once_the_template_is_known() {
        let pages = siblings(7);
        let young = learned(&pages[..3]);
        assert!(young.compare(&pages[3], &pages[0], bar()).is_some(), "nothing is known yet: nearly all is shared");
        let measure = learned(&pages);
        assert_eq!(measure.compare(&pages[3], &pages[0], bar()), None);
        let copy = page(7, 3, (0..1000).chain(4000..4048));
        let similarity = measure.compare(&pages[3], &copy, bar()).unwrap();
        assert_eq!(similarity.second, Some(Score(960_000)), "48 of 50 shingles that are no template");
    }

    #[test]
    fn what_is_template_on_either_host_does_not_count() {
        let (here, there) = (siblings(1), page(2, 5, (0..1000).chain(900_000..900_050)));
        let measure = learned(&here);
        for (a, b) in [(&here[0], &there), (&there, &here[0])] {
            assert_eq!(measure.compare(a, b, bar()), None);
        }
    }

    #[test]
    fn short_texts_and_loose_weights_have_to_agree_more() {
        let measure = TemplateAware::new(SECOND, Thresholding::Off);
        let firm = Score(FIRM);
        assert_eq!(measure.required_part(2_250_000, firm, 0), 351_000);
        assert_eq!(measure.required_part(100, firm, 0), 500_000);
        assert_eq!(measure.required_part(1, firm, 0), NEARLY_ALL);
        assert_eq!(measure.required_part(100, Score(700_000), 0), 600_000);
        assert_eq!(measure.required_part(100, Score(999_999), 0), 500_000);
    }

    #[test]
    fn pages_of_two_young_hosts_may_differ_more_than_those_of_one() {
        let measure = TemplateAware::new(SECOND, Thresholding::Off);
        let original = page(1, 3, 0..300);
        // 40 shingles of 300 replaced: 0.76 of all.
        let edited = |group| page(group, 3, (40..300).chain(1000..1040));
        let similarity = measure.compare(&edited(2), &original, bar()).unwrap();
        assert_eq!(similarity.second, Some(Score(764_705)));
        assert_eq!(measure.compare(&edited(1), &original, bar()), None);
        let check = measure.check_order(&edited(2), &original, Score(900_000));
        assert_eq!((check.required, check.basis), (Score(681_348), SecondCheckBasis::TwoYoungHosts));
        // A template of which a third is facts; and a short text, which must agree more.
        assert_eq!(measure.compare(&page(2, 3, (100..300).chain(1000..1100)), &original, bar()), None);
        assert_eq!(measure.compare(&page(2, 3, (5..40).chain(1000..1005)), &page(1, 3, 0..40), bar()), None);
        assert_eq!(measure.required_part(4, Score(FIRM), TWO_YOUNG_HOSTS), NEARLY_ALL);
    }

    #[test]
    fn without_shingles_the_weights_have_to_be_firm() {
        let measure = learned(&siblings(1));
        let bare = |own| page(1, own, []);
        assert_eq!(measure.compare(&bare(20), &bare(19), bar()).unwrap().second, None);
        assert_eq!(measure.compare(&bare(30), &bare(29), bar()), None);
    }

    #[test]
    fn exact_copies_do_not_make_a_text_a_template() {
        let original = page(1, 3, 0..50);
        let mut measure = learned(&siblings(1));
        let verdict = Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::BodyDigest };
        (0..40).for_each(|number| measure.learn(Sequence(number), &page(1, 1, 70_000..70_100), &verdict, false));
        assert_eq!(measure.hosts[&1].pages, 10);
        assert!(measure.compare(&original, &original, bar()).is_some());
    }

    #[test]
    fn a_long_and_a_longer_page_are_compared_on_what_both_could_show() {
        let mut long = page(1, 3, 0..64_000);
        long.order.shingle_level = 5;
        long.order.shingles.retain(|shingle| shingle.leading_zeros() >= 5);
        let whole = page(1, 3, 0..64_000);
        let measure = learned(&siblings(2));
        let similarity = measure.compare(&long, &whole, bar()).unwrap();
        assert_eq!(similarity.second, Some(Score(1_000_000)));
    }

    #[test]
    fn counting_forgets_what_is_rare_and_misses_no_template() {
        let mut measure = TemplateAware::new(SECOND, Thresholding::Off);
        let mut most = 0;
        for number in 0..2000u32 {
            // A section of its own: its template comes on one page in twelve, from the middle on.
            let section = (number > 1000 && number % 6 == 0).then_some(500..600).into_iter().flatten();
            let own = 10_000 + number * 100..10_000 + number * 100 + 100;
            let shingles = (0..100).chain(section).chain(own);
            measure.learn(Sequence(number), &page(1, 1, shingles), &Verdict::Unique, true);
            most = most.max(measure.hosts[&1].counts.len());
        }
        let host = &measure.hosts[&1];
        let is_template = |number: u32| host.is_template(number.wrapping_mul(0x9E37_79B1));
        assert!((0..100).all(is_template) && (500..600).all(is_template));
        assert!(!(10_000..210_000).any(is_template));
        assert!(most <= 50 * 100 + 300, "{most} counts");
    }

    proptest::proptest! {
        #[test]
        fn pages_of_other_text_never_meet_the_condition(
            shared in 0..40u32, lists in proptest::array::uniform2(0..60u32), template in 0..40u32, group in 1..=2u32,
            known in 0..12usize, levels in proptest::array::uniform2(0..3u8), first in 680_000..=1_000_000u32,
        ) {
            let measure = learned(&siblings(1)[..known.min(10)]);
            let page = |group, own: u32, level: u8, from: u32| {
                let mut page = page(group, 3, (0..template).chain(50_000..50_000 + shared).chain(from..from + own));
                page.order.shingle_level = level;
                page.order.shingles.retain(|shingle| shingle.leading_zeros() >= level.into());
                page
            };
            let (a, b) = (page(1, lists[0], levels[0], 60_000), page(group, lists[1], levels[1], 70_000));
            let is_met = measure.check_order(&a, &b, Score(first)).is_met(Score(first));
            proptest::prop_assert!(!(is_met && measure.is_clearly_different(&a, &b)));
        }
    }

    #[test]
    fn siblings_are_seen_to_have_other_text() {
        let pages = siblings(7);
        assert!(learned(&pages).is_clearly_different(&pages[3], &pages[0]));
        assert!(!learned(&pages).is_clearly_different(&pages[3], &pages[3]));
    }

    #[test]
    fn what_was_learnt_comes_back_from_a_snapshot() {
        let (pages, mut restored) = (siblings(7), TemplateAware::new(SECOND, Thresholding::Off));
        let measure = learned(&pages);
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        measure.save(&mut bytes).unwrap();
        restored.load(&mut &bytes[..]).unwrap();
        restored.save(&mut again).unwrap();
        assert_eq!(bytes, again);
        assert_eq!(restored.compare(&pages[3], &pages[0], bar()), None);
        assert!(restored.load(&mut &bytes[..bytes.len() / 2]).is_err());
    }
}
