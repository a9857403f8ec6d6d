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
//! 4. A post that its host prints on several lists counts as template, too. So pages are also the same if the probe has
//!    next to no text that the stored page lacks, and both share nine tenths of what is no [core
//!    template](HostTemplates::is_core).
//! 5. If both hosts have too few pages to recognize template, all shingles are compared. Pages of one such host must
//!    share nearly all of them, and so must pages of which almost nothing is left. Of two such hosts, the part of the
//!    shorter page counts, and must be 0.15 more than rule 3 asks of firm weights: two hosts seldom share a template, and
//!    a text is often printed on several, each time in another frame. The frames dilute the weights, too, so a first
//!    score of 0.6 is enough there.
//! 6. Pages of one host are also the same if the later one has nothing of its own but its name:
//!    [`TextBesideNames::is_all_shared`]. One empty board of a forum is enough.
//! 7. A later page that says enough that the other does not is another document, however much they share:
//!    [`TextOverlap::too_much_new`].
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
//! streams"), the rare ones in a sketch ([`rare_shingles`]). A host takes some 16 KiB, four times as much if its pages
//! are long, and 16 bytes for each shingle of its template, however many pages it has. All hosts together stay within
//! [`Options::host_memory`](crate::detect::Options).
//!
//! **Departures.** The paper has no such check. The index stays complete for the first check, so every page that
//! passes both is found. Design notes: `docs/design/detect.md`.

use std::io::{self, Read, Write};

use self::divided_hosts::DividedHosts;
use self::host_pair::{HostPair, sampled};
use self::other_name::TextBesideNames;
use self::text_overlap::{LITTLE_LEFT, NEARLY_ALL, ShingleOverlap, TextOverlap};
use super::mwo::Mwo;
use super::thresholding::Thresholding;
use super::{Measure, OwnText, SecondCheck, SecondCheckBasis};
use crate::detect::page_match::{Page, Similarity};
use crate::model::{DecidedBy, Score, Sequence, Threshold, Verdict};
use crate::similarity::Record;

pub use self::text_bitmap::{ProbeBitmaps, TextBitmap};

mod divided_hosts;
mod host_pair;
mod host_templates;
mod hosts;
mod other_name;
mod rare_shingles;
mod text_bitmap;
mod text_overlap;

/// The extra that pages of two young hosts must share, in millionths: what they have in common may be a template.
const TWO_YOUNG_HOSTS: u64 = 150_000;
/// The square of 1.5 in millionths: the extra that short texts must share.
const SHORTNESS: u64 = 1_500_000 * 1_500_000;
/// From this first score on, in millionths, differing weights add nothing to the requirement.
const FIRM: u32 = 750_000;
/// The first score that pages without any shingle must reach.
const FIRM_ALONE: Score = Score(800_000);

/// Compares by two checks: weights, then word order.
#[derive(Debug)]
pub struct TemplateAware {
    weights: Mwo,
    second: Threshold,
    hosts: DividedHosts,
}

impl TemplateAware {
    /// Creates a detector without statistics. See [`Options::host_parts`](crate::detect::Options) for `host_parts`.
    pub fn new(second: Threshold, thresholding: Thresholding, host_memory: usize, host_parts: u16) -> Self {
        Self { weights: Mwo::new(thresholding), second, hosts: DividedHosts::new(host_memory, host_parts) }
    }

    fn hosts_of(&self, probe: &Page, stored_group: u32, stored_level: u8) -> HostPair<'_> {
        let own = self.hosts.get(probe.group);
        let other = if probe.group == stored_group { None } else { self.hosts.get(stored_group) };
        let of_hosts = [own, other].into_iter().flatten().map(|host| host.level).max().unwrap_or(0);
        let level = probe.order.shingle_level.max(stored_level).max(of_hosts);
        HostPair { own, other, level }
    }

    /// Compares the word order of two pages, and returns the shared and the required part.
    fn check_order(&self, probe: &Page, stored: &Page, first: Score) -> SecondCheck {
        if probe.order.shingles.is_empty() || stored.order.shingles.is_empty() {
            return SecondCheck { score: None, required: FIRM_ALONE, basis: SecondCheckBasis::WeightsAlone };
        }
        let hosts = self.hosts_of(probe, stored.group, stored.order.shingle_level);
        let overlap = TextOverlap::of(&hosts, probe, stored);
        if hosts.are_young() {
            return self.check_young(&overlap, probe.group == stored.group, first);
        }
        let TextOverlap { text, beyond_core, all, .. } = overlap;
        let check = match text.by_any < LITTLE_LEFT {
            true => second_check(all.share(), NEARLY_ALL, SecondCheckBasis::LittleText),
            false => second_check(text.share(), self.required_part(text.by_any, first, 0), SecondCheckBasis::Text),
        };
        match overlap.too_much_new(first) {
            Some((shared, required)) if check.is_met(first) => {
                second_check(shared, required, SecondCheckBasis::NewText)
            }
            None if !check.is_met(first) && overlap.is_repeated_text() => {
                second_check(beyond_core.share(), NEARLY_ALL, SecondCheckBasis::RepeatedText)
            }
            None if !check.is_met(first) && may_differ_in_name(&hosts, probe, stored) => {
                let beside = TextBesideNames::of(&hosts, probe, stored);
                match beside.is_all_shared() {
                    true => second_check(beside.text.share(), NEARLY_ALL, SecondCheckBasis::OtherName),
                    false => check,
                }
            }
            _ => check,
        }
    }

    /// Compares two pages whose hosts have too few pages to recognize template.
    fn check_young(&self, overlap: &TextOverlap, same_host: bool, first: Score) -> SecondCheck {
        let all = overlap.all;
        if same_host {
            return second_check(all.share(), NEARLY_ALL, SecondCheckBasis::YoungHost);
        }
        // Frames of two hosts differ, and so do the weights.
        let required = self.required_part(all.by_any, first.max(Score(FIRM)), TWO_YOUNG_HOSTS);
        let check = second_check(overlap.contained(), required, SecondCheckBasis::TwoYoungHosts);
        match overlap.other_facts() {
            Some((shared, required)) if check.is_met(first) => {
                second_check(shared, required, SecondCheckBasis::NewText)
            }
            _ => check,
        }
    }

    /// Returns whether nearly all that a page has beyond the core template may stand in another.
    fn may_repeat(&self, hosts: &HostPair<'_>, beyond_core: &[u32], theirs: &[u32]) -> bool {
        let beyond = |shingle: &u32| hosts.other.is_none_or(|other| !other.is_core(*shingle));
        let own: Vec<u32> = beyond_core.iter().copied().filter(beyond).collect();
        shared(&own, theirs) as u64 * u64::from(Threshold::ONE) >= own.len() as u64 * NEARLY_ALL
    }

    /// Returns the part that two texts of `shingles` shingles must share, in millionths; `more` is added below the cap.
    fn required_part(&self, shingles: u64, first: Score, more: u64) -> u64 {
        let second = u64::from(self.second.millionths());
        let more_if_short = (SHORTNESS / shingles.max(1)).isqrt();
        let more_if_loose = 2 * u64::from(FIRM.saturating_sub(first.0));
        (second + more_if_short + more).min(NEARLY_ALL.max(second)) + more_if_loose
    }
}

/// Returns the first score that pages of two young hosts need: a quarter more may differ, since each has a frame of its
/// own. 0.6 instead of 0.68.
fn between_young_hosts(bar: Threshold) -> Threshold {
    let differs = Threshold::ONE - bar.millionths();
    Threshold::from_millionths(bar.millionths().saturating_sub(differs / 4)).unwrap_or(bar)
}

/// Returns whether two pages may differ in their names only: they are of one host, and nothing is sampled.
fn may_differ_in_name(hosts: &HostPair<'_>, probe: &Page, stored: &Page) -> bool {
    hosts.level == 0 && probe.group == stored.group && !probe.order.names.is_empty()
}

/// Creates a check of these parts, in millionths.
fn second_check(shared: u64, required: u64, basis: SecondCheckBasis) -> SecondCheck {
    let score = |millionths: u64| Score(u32::try_from(millionths).unwrap_or(u32::MAX));
    SecondCheck { score: Some(score(shared)), required: score(required), basis }
}

/// How a text looks beside another with which it shares so many shingles, at most.
struct Unlikeness {
    /// They share less than even the longest text must.
    shares_too_little: bool,
    /// The other lacks too much for a repeated text, or for the same page of another name.
    is_new: bool,
    /// Enough is left without template to be compared.
    is_enough: bool,
}

impl Unlikeness {
    /// `names` of the probe's shingles may be new though the page is the same.
    fn of(measure: &TemplateAware, hosts: &HostPair<'_>, text: &[u32], shared: u64, names: u64) -> Self {
        let second = u64::from(measure.second.millionths());
        // The most of the text that could be enough: the union of two texts is at least one of them.
        let most = (shared * u64::from(Threshold::ONE)).checked_div(second).unwrap_or(u64::MAX - LITTLE_LEFT);
        let wanted = usize::try_from((most + 1).max(shared + names + LITTLE_LEFT)).unwrap_or(usize::MAX);
        let known = match hosts.other {
            None => text.len().min(wanted),
            Some(other) => text.iter().filter(|shingle| !other.is_template(**shingle)).take(wanted).count(),
        } as u64;
        Self {
            shares_too_little: most < known.max(LITTLE_LEFT),
            is_new: known.saturating_sub(shared + names) << hosts.level.min(32) >= LITTLE_LEFT,
            is_enough: known >= LITTLE_LEFT,
        }
    }

    fn is_certain(&self) -> bool {
        self.shares_too_little && self.is_new && self.is_enough
    }
}

/// Returns how many shingles two ascending lists share.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// Returns the part of all shingles that both lists have, in millionths, rounded down.
fn all_share(a: &[u32], b: &[u32]) -> u64 {
    let by_both = shared(a, b);
    ShingleOverlap { by_both: by_both as u64, by_any: (a.len() + b.len() - by_both) as u64 }.share()
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

    fn pair_bar(&self, probe: &Page, stored: &Page, bar: Threshold) -> Threshold {
        let are_young = || self.hosts_of(probe, stored.group, 0).are_young();
        if probe.group != stored.group && are_young() { between_young_hosts(bar) } else { bar }
    }

    fn page_bar(&self, probe: &Page, bar: Threshold) -> Threshold {
        let is_young = self.hosts.get(probe.group).is_none_or(|host| host.is_young());
        if is_young { between_young_hosts(bar) } else { bar }
    }

    fn own_text(&self, probe: &Page) -> OwnText {
        let shingles = &probe.order.shingles;
        let Some(host) = self.hosts.get(probe.group) else {
            let bitmaps = ProbeBitmaps::of(shingles);
            return OwnText { text: shingles.clone(), bitmaps, beyond_core: shingles.clone() };
        };
        let beyond_core: Vec<u32> = shingles.iter().copied().filter(|&shingle| !host.is_core(shingle)).collect();
        let text: Vec<u32> = beyond_core.iter().copied().filter(|&shingle| !host.is_template(shingle)).collect();
        OwnText { bitmaps: ProbeBitmaps::of(&text), text, beyond_core }
    }

    fn text_bitmap(&self, page: &Page) -> Option<TextBitmap<'static>> {
        TextBitmap::of(page.group, page.order.shingle_level, &page.order.shingles)
    }

    fn shares_too_little(&self, probe: &Page, own: &OwnText, stored: &TextBitmap<'_>) -> bool {
        let hosts = self.hosts_of(probe, stored.group, stored.shingle_level);
        if hosts.are_young() || probe.order.shingles.is_empty() {
            return false;
        }
        let text = sampled(&own.text, hosts.level);
        // What is too little for more is too little.
        let most = own.bitmaps.most_shared(stored).min(text.len());
        Unlikeness::of(self, &hosts, text, most as u64, probe.order.names.len() as u64).is_certain()
    }

    fn has_other_text(&self, probe: &Page, own: &OwnText, stored: &Page) -> bool {
        let hosts = self.hosts_of(probe, stored.group, stored.order.shingle_level);
        if hosts.are_young() || probe.order.shingles.is_empty() || stored.order.shingles.is_empty() {
            return false;
        }
        let (level, theirs) = (hosts.level, sampled(&stored.order.shingles, hosts.level));
        let text = sampled(&own.text, level);
        let names = probe.order.names.len() as u64;
        let unlike = Unlikeness::of(self, &hosts, text, shared(text, theirs) as u64, names);
        match () {
            () if !unlike.shares_too_little => false,
            () if unlike.is_certain() => true,
            // Nearly all must be shared then, with the core template or without.
            () => {
                all_share(sampled(&probe.order.shingles, level), theirs) < NEARLY_ALL
                    && (unlike.is_new
                        || names == 0 && !self.may_repeat(&hosts, sampled(&own.beyond_core, level), theirs))
            }
        }
    }

    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.weights.first_score(probe, stored)
    }

    fn second_check(&self, probe: &Page, stored: &Page, first: Score) -> Option<SecondCheck> {
        Some(self.check_order(probe, stored, first))
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        let Similarity { score, .. } = self.weights.compare(probe, stored, bar)?;
        let check = self.check_order(probe, stored, score);
        check.is_met(score).then_some(Similarity { score, second: check.score })
    }

    fn learn(&mut self, number: Sequence, page: &Page, verdict: &Verdict, is_compared: bool) {
        self.weights.learn(number, page, verdict, is_compared);
        let is_copy = match verdict {
            Verdict::Unique => false,
            Verdict::NearDuplicate { decided_by, .. } => *decided_by != DecidedBy::Similarity,
            Verdict::ExactDuplicate { .. } => true,
        };
        if !is_copy {
            self.hosts.learn(page.group, &page.order);
        }
    }

    fn bytes(&self) -> usize {
        self.hosts.bytes()
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.weights.save(out)?;
        self.hosts.save(out)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.weights.load(input)?;
        self.hosts.load(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TermId, TermOrder};

    const SECOND: Threshold = match Threshold::from_millionths(350_000) {
        Some(second) => second,
        None => panic!("0.35 is a threshold"),
    };

    /// A shingle without a number in it.
    fn shingle(number: u32) -> u32 {
        number.wrapping_mul(0x9E37_79B1) & !1
    }

    /// A page of two terms, of which `own` of 100 hundredths is its own, and of these shingles.
    fn page(group: u32, own: u32, shingles: impl IntoIterator<Item = u32>) -> Page {
        let record = Record::new(vec![(TermId(0), 100 - own), (TermId(own), own)]);
        let mut shingles: Vec<u32> = shingles.into_iter().map(shingle).collect();
        shingles.sort_unstable();
        Page { group, record, order: TermOrder { shingles, ..TermOrder::default() } }
    }

    /// Returns the places of these shingles on a page.
    fn names(page: &Page, named: std::ops::Range<u32>) -> Vec<u16> {
        let named: Vec<u32> = named.map(shingle).collect();
        (0..).zip(&page.order.shingles).filter(|(_, shingle)| named.contains(shingle)).map(|(at, _)| at).collect()
    }

    fn learned(pages: &[Page]) -> TemplateAware {
        let mut measure = TemplateAware::new(SECOND, Thresholding::Off, usize::MAX, 1);
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
        let measure = TemplateAware::new(SECOND, Thresholding::Off, usize::MAX, 1);
        let firm = Score(FIRM);
        assert_eq!(measure.required_part(2_250_000, firm, 0), 351_000);
        assert_eq!(measure.required_part(100, firm, 0), 500_000);
        assert_eq!(measure.required_part(1, firm, 0), NEARLY_ALL);
        assert_eq!(measure.required_part(100, Score(700_000), 0), 600_000);
        assert_eq!(measure.required_part(100, Score(999_999), 0), 500_000);
    }

    #[test]
    fn pages_of_two_young_hosts_may_differ_more_than_those_of_one() {
        let measure = TemplateAware::new(SECOND, Thresholding::Off, usize::MAX, 1);
        let original = page(1, 3, 0..300);
        // 40 shingles of 300 replaced: 0.76 of all.
        let edited = |group| page(group, 3, (40..300).chain(1000..1040));
        let similarity = measure.compare(&edited(2), &original, bar()).unwrap();
        assert_eq!(similarity.second, Some(Score(866_666)));
        assert_eq!(measure.compare(&edited(1), &original, bar()), None);
        let check = measure.check_order(&edited(2), &original, Score(900_000));
        assert_eq!((check.required, check.basis), (Score(581_348), SecondCheckBasis::TwoYoungHosts));
        // The frames of two hosts count little: what counts is the part of the shorter page.
        let framed = page(2, 3, (0..300).chain(2000..2200));
        assert_eq!(measure.compare(&framed, &original, bar()).unwrap().second, Some(Score(1_000_000)));
        // A template of which half is facts; and a short text, which must agree more.
        assert_eq!(measure.compare(&page(2, 3, (150..300).chain(1000..1150)), &original, bar()), None);
        assert_eq!(measure.compare(&page(2, 3, (14..40).chain(1000..1014)), &page(1, 3, 0..40), bar()), None);
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
        assert_eq!(measure.hosts.get(1).unwrap().pages, 10);
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
    fn a_text_that_lists_print_again_is_still_a_text() {
        // Sixty pages of one frame; five of them are lists that print the same post.
        let post = 500_000..500_100;
        let lists = |number: u32| (number < 5).then(|| post.clone()).into_iter().flatten();
        let others =
            (1..=60u32).map(|own| page(1, own, (0..200).chain(own * 1000..own * 1000 + 50).chain(lists(own - 1))));
        let measure = learned(&others.collect::<Vec<_>>());
        let printed = page(1, 3, (0..200).chain(post.clone()));
        assert!(post.clone().all(|number| measure.hosts.get(1).unwrap().is_template(shingle(number))));
        // A copy in the frame of another language, with the date in other words.
        let copy = page(1, 3, (300_000..300_200).chain(post.clone()).chain(600_000..600_004));
        let frames = (1..=20u32).map(|own| page(1, own, (300_000..300_200).chain(own * 7000..own * 7000 + 50)));
        let mut measure = measure;
        (60..).zip(frames).for_each(|(number, page)| measure.learn(Sequence(number), &page, &Verdict::Unique, true));
        let check = measure.check_order(&copy, &printed, Score(800_000));
        assert_eq!((check.basis, check.is_met(Score(800_000))), (SecondCheckBasis::RepeatedText, true));
        // Six runs of words more are something to say; and a product of the same frame has other facts.
        let more = page(1, 3, (0..200).chain(post.clone()).chain(600_000..600_006));
        assert!(!measure.check_order(&more, &printed, Score(900_000)).is_met(Score(900_000)));
        let product = |own: u32| page(1, 3, (0..200).chain(post.clone()).chain(own..own + 8));
        assert!(!measure.check_order(&product(700_000), &product(800_000), Score(950_000)).is_met(Score(950_000)));
    }

    #[test]
    fn pages_that_differ_in_their_names_only_are_one_but_products_are_not() {
        // Sixty pages of one frame.
        let others: Vec<Page> =
            (1..=60u32).map(|own| page(1, own, (0..200).chain(own * 1000..own * 1000 + 50))).collect();
        let measure = learned(&others);
        let board = |name: u32, text: std::ops::Range<u32>| {
            let mut board = page(1, 3, (0..200).chain(text).chain(name..name + 12));
            board.order.names = names(&board, name..name + 12);
            board
        };
        let check = |probe: &Page, stored: &Page| {
            let check = measure.check_order(probe, stored, Score(950_000));
            (check.basis, check.is_met(Score(950_000)))
        };
        // "There have been no posts in the last 30 days": some of the runs have a number.
        let number = |page: &mut Page, number: u32| {
            let at = page.order.shingles.binary_search(&shingle(number)).unwrap();
            page.order.shingles[at] |= 1;
        };
        let [mut one, mut other] = [700_000, 800_000].map(|name| board(name, 500_000..500_010));
        assert_eq!(check(&other, &one), (SecondCheckBasis::OtherName, true));
        [&mut one, &mut other].into_iter().for_each(|page| (500_000..500_004).for_each(|run| number(page, run)));
        assert_eq!(check(&other, &one), (SecondCheckBasis::OtherName, true));
        // Another number of days; some words more; nothing but the name; a page of another host.
        let mut year = board(800_000, 500_004..500_014);
        number(&mut year, 500_012);
        assert!(!check(&year, &one).1);
        assert!(!check(&board(800_000, 500_000..500_017), &one).1);
        assert!(!check(&board(800_000, 0..0), &board(700_000, 0..0)).1);
        assert!(!check(&Page { group: 2, ..other.clone() }, &one).1);
        // Products of one price.
        let [mut hammer, mut saw] = [700_000, 800_000].map(|name| board(name, 500_000..500_004));
        [&mut hammer, &mut saw].into_iter().for_each(|page| (500_000..500_004).for_each(|run| number(page, run)));
        assert!(!check(&saw, &hammer).1);
        let own = measure.own_text(&other);
        assert!(!measure.has_other_text(&other, &own, &one));
        assert!(!measure.shares_too_little(&other, &own, &measure.text_bitmap(&one).unwrap()));
    }

    proptest::proptest! {
        #[test]
        fn pages_of_other_text_never_meet_the_condition(
            shared in 0..40u32, lists in proptest::array::uniform2(0..60u32), template in 0..40u32, group in 1..=2u32,
            known in 0..12usize, levels in proptest::array::uniform2(0..3u8), first in 680_000..=1_000_000u32,
            repeated in 0..60u32, reduced in 0..3u8, named in 0..30u32,
        ) {
            let mut pages = siblings(1);
            pages.truncate(known);
            // A text on five of forty pages.
            pages.extend((0..if known == 11 { 40 } else { 0 }).map(|number| {
                page(1, 5, (if number < 5 { 80_000..80_000 + repeated } else { 0..0 }).chain(number * 900..number * 900 + 20))
            }));
            let mut measure = learned(&pages);
            (0..reduced).for_each(|_| { measure.hosts.reduce(); });
            let page = |group, own: u32, level: u8, from: u32| {
                let text = (0..template).chain(50_000..50_000 + shared).chain(80_000..80_000 + repeated);
                let mut page = page(group, 3, text.chain(from..from + own));
                page.order.shingle_level = level;
                page.order.shingles.retain(|shingle| shingle.leading_zeros() >= level.into());
                if level == 0 {
                    page.order.names = names(&page, from..from + own.min(named));
                }
                page
            };
            let (a, b) = (page(1, lists[0], levels[0], 60_000), page(group, lists[1], levels[1], 70_000));
            let is_met = measure.check_order(&a, &b, Score(first)).is_met(Score(first));
            let own = measure.own_text(&a);
            let refused = |b: &Page| measure.text_bitmap(b).is_some_and(|bitmap| measure.shares_too_little(&a, &own, &bitmap));
            proptest::prop_assert!(!(is_met && measure.has_other_text(&a, &own, &b)));
            proptest::prop_assert!(!(is_met && refused(&b)));
        }
    }

    #[test]
    fn siblings_are_seen_to_have_other_text() {
        let (pages, measure) = (siblings(7), learned(&siblings(7)));
        let own = measure.own_text(&pages[3]);
        assert_eq!((own.text.len(), own.beyond_core.len()), (50, 50));
        assert!(measure.has_other_text(&pages[3], &own, &pages[0]));
        assert!(!measure.has_other_text(&pages[3], &own, &pages[3]));
        let refused = |page| measure.shares_too_little(&pages[3], &own, &measure.text_bitmap(page).unwrap());
        assert!(refused(&pages[0]) && !refused(&pages[3]));
    }

    #[test]
    fn what_was_learnt_comes_back_from_a_snapshot() {
        let (pages, mut restored) = (siblings(7), TemplateAware::new(SECOND, Thresholding::Off, usize::MAX, 1));
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
