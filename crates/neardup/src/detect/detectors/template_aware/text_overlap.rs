//! What the running text of two pages has in common, and what the later one says that the other does not.

use super::host_pair::{HostPair, merged};
use crate::detect::page_match::Page;
use crate::model::{Score, Threshold};
use crate::text::names_number;

/// With fewer shingles left, the text is too short to compare without template.
pub(super) const LITTLE_LEFT: u64 = 6;
/// The part that pages must share then, template included, and the cap otherwise; in millionths.
pub(super) const NEARLY_ALL: u64 = 900_000;
/// The fewest shingles beyond the core template that are believed to be a text that its host prints several times.
const REPEATED: u64 = 20;
/// A later page says something else if more than this part of its text is new words, and is at least [`FEW`] of them.
const NEW_PART: u64 = 260_000;
/// The part, if [`MANY`] words are new: that much text is worth more than what it repeats.
const NEW_PART_OF_MANY: u64 = 220_000;
/// The part of both texts together that may be words which the other lacks: an edition that replaces text says something
/// else sooner than one that adds to it.
const REPLACED_PART: u64 = 220_000;
/// The part, if [`MANY`] words are new.
const REPLACED_PART_OF_MANY: u64 = 200_000;
const FEW: u64 = 20;
const MANY: u64 = 110;
/// New shingles for each new word, in millionths, up to which the new words stand together. A new word alone makes four
/// new shingles, so typing errors and synonyms make two and more of them for each new word.
const TOGETHER: u64 = 1_600_000;
/// A later page states other facts if more than this part of its text is new shingles with a number, and is at least
/// [`SOME_FACTS`] of them.
const FACTS_PART: u64 = 200_000;
/// The part, if [`MANY_FACTS`] shingles with a number are new, as in a long table.
const FACTS_PART_OF_MANY: u64 = 100_000;
const SOME_FACTS: u64 = 20;
const MANY_FACTS: u64 = 100;

/// Shingles that at least one of two pages has, and those that both have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShingleOverlap {
    pub by_both: u64,
    pub by_any: u64,
}

impl ShingleOverlap {
    pub fn add(&mut self, both: bool) {
        self.by_any += 1;
        self.by_both += u64::from(both);
    }

    /// Returns the part that both have, in millionths, rounded down.
    pub fn share(self) -> u64 {
        part(self.by_both, self.by_any)
    }
}

/// What two pages have in common, by kinds of shingles. All counts are scaled to pages that are not sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextOverlap {
    /// No template.
    pub text: ShingleOverlap,
    /// No core template.
    pub beyond_core: ShingleOverlap,
    pub all: ShingleOverlap,
    /// All shingles of the probe, and of the stored page.
    pub of_each: [u64; 2],
    /// The probe's shingles of the text.
    of_text: u64,
    /// Of these, those that the stored page lacks.
    new: u64,
    /// Of these, those with a number.
    new_facts: u64,
}

impl TextOverlap {
    pub fn of(hosts: &HostPair<'_>, probe: &Page, stored: &Page) -> Self {
        let mut overlap = Self::default();
        for (shingle, in_probe, in_stored) in merged(hosts.level, probe, stored) {
            let both = in_probe && in_stored;
            overlap.all.add(both);
            overlap.of_each[0] += u64::from(in_probe);
            overlap.of_each[1] += u64::from(in_stored);
            if hosts.is_core(shingle) {
                continue;
            }
            overlap.beyond_core.add(both);
            if hosts.is_template(shingle) {
                continue;
            }
            overlap.text.add(both);
            let is_new = in_probe && !both;
            overlap.of_text += u64::from(in_probe);
            overlap.new += u64::from(is_new);
            overlap.new_facts += u64::from(is_new && names_number(shingle));
        }
        overlap.scaled(hosts.level.min(32))
    }

    fn scaled(self, level: u8) -> Self {
        let scaled = |of: ShingleOverlap| ShingleOverlap { by_both: of.by_both << level, by_any: of.by_any << level };
        Self {
            text: scaled(self.text),
            beyond_core: scaled(self.beyond_core),
            all: scaled(self.all),
            of_each: self.of_each.map(|count| count << level),
            of_text: self.of_text << level,
            new: self.new << level,
            new_facts: self.new_facts << level,
        }
    }

    /// Returns the part of the shorter page's shingles that the other has too, in millionths.
    ///
    /// Unlike the part of all shingles, it does not sink if one page has a larger frame.
    pub fn contained(&self) -> u64 {
        part(self.all.by_both, self.of_each[0].min(self.of_each[1]))
    }

    /// Returns whether the probe says next to nothing that the stored page does not, and both share nearly all.
    pub fn is_repeated_text(&self) -> bool {
        self.new < LITTLE_LEFT && self.beyond_core.by_any >= REPEATED && self.beyond_core.share() >= NEARLY_ALL
    }

    /// Returns the part of the probe's text that the stored page has, and the part that would be enough, in millionths;
    /// `None` if it is.
    ///
    /// `first` is the part of the weights that agree. What does not agree is as many words, more or less.
    pub fn too_much_new(&self, first: Score) -> Option<(u64, u64)> {
        let one = u64::from(Threshold::ONE);
        let [new_words, lacked_words] =
            self.of_each.map(|count| u64::from(Threshold::ONE.saturating_sub(first.0)) * count / one);
        let words = self.new.min(new_words);
        if self.new * one < TOGETHER * new_words && words >= FEW {
            let (most_new, most_replaced) = match words >= MANY {
                true => (NEW_PART_OF_MANY, REPLACED_PART_OF_MANY),
                false => (NEW_PART, REPLACED_PART),
            };
            let of_stored = self.text.by_any - self.new;
            let lacked = (self.text.by_any - self.of_text).min(lacked_words);
            let parts = [
                (part(words, self.of_text), most_new),
                (part(words + lacked, self.of_text + of_stored), most_replaced),
            ];
            if let Some((other, most)) = parts.into_iter().find(|(other, most)| other > most) {
                return Some((one.saturating_sub(other), one - most));
            }
        }
        self.other_facts()
    }

    /// Returns the same for shingles with a number: a table of other numbers says something else, however much of its
    /// words is the same.
    pub fn other_facts(&self) -> Option<(u64, u64)> {
        let one = u64::from(Threshold::ONE);
        let most = if self.new_facts >= MANY_FACTS { FACTS_PART_OF_MANY } else { FACTS_PART };
        let new = part(self.new_facts, self.of_text);
        (self.new_facts >= SOME_FACTS && new > most).then(|| (one.saturating_sub(new), one - most))
    }
}

/// Returns the part in millionths, rounded down; 0 of nothing.
fn part(of: u64, all: u64) -> u64 {
    (of * u64::from(Threshold::ONE)).checked_div(all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermOrder;
    use crate::similarity::Record;

    /// A page of these shingles; those from 500,000 on have a number.
    fn page(shingles: impl IntoIterator<Item = u32>) -> Page {
        let marked = |number: u32| number.wrapping_mul(0x9E37_79B1) & !1 | u32::from(number >= 500_000);
        let mut shingles: Vec<u32> = shingles.into_iter().map(marked).collect();
        shingles.sort_unstable();
        Page { group: 1, record: Record::new(vec![]), order: TermOrder { shingles, ..TermOrder::default() } }
    }

    fn overlap(probe: Page, stored: &Page) -> TextOverlap {
        TextOverlap::of(&HostPair { own: None, other: None, level: 0 }, &probe, stored)
    }

    #[test]
    fn new_words_that_stand_together_make_another_document() {
        let stored = page(0..200);
        // A new section of 80 words behind the old text: 0.29 of the words are new.
        let longer = overlap(page((0..200).chain(1000..1083)), &stored);
        assert_eq!(longer.too_much_new(Score(710_000)), Some((710_248, 740_000)));
        // Of 50 words: not enough; of 160 words less would be.
        assert_eq!(overlap(page((0..200).chain(1000..1053)), &stored).too_much_new(Score(800_000)), None);
        let much = overlap(page((0..400).chain(1000..1163)), &page(0..400));
        assert_eq!(much.too_much_new(Score(716_000)), Some((717_585, 780_000)));
        // The same part of a short text is a word or two.
        assert_eq!(overlap(page((0..20).chain(1000..1009)), &page(0..20)).too_much_new(Score(690_000)), None);
    }

    #[test]
    fn replaced_text_makes_another_document_sooner_than_added_text() {
        // The lesson of another week: 90 words of 400 are others.
        let (week, other) = (page(0..400), page((90..400).chain(1000..1090)));
        assert_eq!(overlap(other, &week).too_much_new(Score(775_000)), Some((775_000, 780_000)));
        // As many words more.
        assert_eq!(overlap(page((0..400).chain(1000..1090)), &week).too_much_new(Score(816_000)), None);
        assert_eq!(overlap(page((80..400).chain(1000..1080)), &week).too_much_new(Score(800_000)), None);
    }

    #[test]
    fn single_new_words_do_not() {
        // Typing errors in 17 of 100 words: each makes up to four new shingles.
        let (stored, errors) = (page(0..1000), page((430..1000).chain(2000..2430)));
        assert_eq!(overlap(errors, &stored).too_much_new(Score(830_000)), None);
    }

    #[test]
    fn other_numbers_in_the_same_words_make_another_document() {
        let stored = page((0..600).chain(600_000..601_000));
        let table = |new: u32| page((0..600).chain(600_000 + new..601_000).chain(700_000..700_000 + new));
        assert_eq!(overlap(table(200), &stored).too_much_new(Score(980_000)), Some((875_000, 900_000)));
        assert_eq!(overlap(table(90), &stored).too_much_new(Score(990_000)), None);
        let short = overlap(page((0..60).chain(700_000..700_025)), &page((0..60).chain(600_000..600_025)));
        assert_eq!(short.other_facts(), Some((705_883, 800_000)));
    }
}
