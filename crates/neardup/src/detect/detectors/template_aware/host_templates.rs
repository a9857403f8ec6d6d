//! The template of a host: what many of its pages have in common.

use std::io::{self, Read, Write};

use hashbrown::HashMap;

use super::rare_shingles::RareShingles;
use crate::model::TermOrder;
use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// With fewer pages, template cannot be recognized.
const YOUNG_HOST: u32 = 5;
/// A shingle on at least one in so many pages of a host is template.
const TEMPLATE_SHARE: u32 = 25;
/// And on at least so many pages.
const TEMPLATE_PAGES: u32 = 5;
/// Template on at least one in so many pages is core template.
const CORE_SHARE: u32 = 8;
/// Pages after which template shingles that became rare are dropped; well above [`TEMPLATE_SHARE`].
const BUCKET: u32 = 50;
/// Levels of sampling for the shingles of long pages.
const LEVELS: usize = 33;
/// What a host takes beside its shingles, in bytes. Fixed, so that hosts are reduced alike on every machine.
const HOST_BYTES: usize = 256;
/// What an entry of the table of frequent shingles takes, in bytes.
const ENTRY_BYTES: usize = 16;

/// What is known of one host.
#[derive(Debug)]
pub(super) struct HostTemplates {
    pub(super) pages: u32,
    /// Only shingles with so many leading zero bits are known.
    pub(super) level: u8,
    /// Pages by the level to which their shingles are sampled.
    of_level: [u32; LEVELS],
    frequent: HashMap<u32, ShingleCount>,
    rare: RareShingles,
}

/// Pages with a shingle since it became frequent, and the number of buckets at that time.
#[derive(Clone, Copy, Debug)]
struct ShingleCount {
    pages: u32,
    before: u32,
}

impl Default for HostTemplates {
    fn default() -> Self {
        let (frequent, rare) = (HashMap::new(), RareShingles::new());
        Self { pages: 0, level: 0, of_level: [0; LEVELS], frequent, rare }
    }
}

impl HostTemplates {
    /// Adds the shingles of a page.
    pub(super) fn learn(&mut self, order: &TermOrder) {
        let buckets = self.pages / BUCKET;
        self.pages += 1;
        self.of_level[usize::from(order.shingle_level).min(LEVELS - 1)] += 1;
        let known = order.shingles.partition_point(|shingle| shingle.leading_zeros() >= self.level.into());
        let mut rare = Vec::with_capacity(known);
        for &shingle in &order.shingles[..known] {
            match self.frequent.get_mut(&shingle) {
                Some(count) => count.pages += 1,
                None => rare.push(shingle),
            }
        }
        let mut frequent = Vec::new();
        self.rare.add_page(&rare, TEMPLATE_PAGES, BUCKET, &mut frequent);
        // So a shingle that was taken for a frequent one is dropped after three buckets.
        let count = ShingleCount { pages: TEMPLATE_PAGES, before: buckets.saturating_sub(2) };
        self.frequent.extend(frequent.into_iter().map(|shingle| (shingle, count)));
        if self.pages.is_multiple_of(BUCKET) {
            let buckets = self.pages / BUCKET;
            self.frequent.retain(|_, count| count.pages + count.before > buckets);
        }
    }

    pub(super) fn is_young(&self) -> bool {
        self.pages < YOUNG_HOST
    }

    pub(super) fn is_template(&self, shingle: u32) -> bool {
        self.is_on(shingle, TEMPLATE_SHARE)
    }

    /// Returns whether so many pages have the shingle that it can't be a text that is printed on several.
    pub(super) fn is_core(&self, shingle: u32) -> bool {
        self.is_on(shingle, CORE_SHARE)
    }

    /// Returns whether one page in `share` has the shingle.
    fn is_on(&self, shingle: u32, share: u32) -> bool {
        let Some(count) = self.frequent.get(&shingle) else { return false };
        // Pages whose sample would contain the shingle.
        let level = shingle.leading_zeros() as usize;
        let pages: u32 = self.of_level[..=level].iter().sum();
        u64::from(count.pages) * u64::from(share) >= u64::from(pages)
    }

    /// Forgets half of what is known: from now on only shingles with one more leading zero bit are known.
    pub(super) fn sample(&mut self) {
        self.level += 1;
        let level = u32::from(self.level);
        self.frequent.retain(|shingle, _| shingle.leading_zeros() >= level);
        self.frequent.shrink_to_fit();
        self.rare.sample(self.level);
    }

    /// Returns the memory that this needs, in bytes; the same on every machine.
    pub(super) fn size(&self) -> usize {
        HOST_BYTES + self.frequent.len() * ENTRY_BYTES + self.rare.size()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.pages)?;
        write_number(out, u32::from(self.level))?;
        write_array(out, &self.of_level)?;
        let mut counts: Vec<_> = self.frequent.iter().collect();
        counts.sort_unstable_by_key(|(shingle, _)| **shingle);
        write_array(out, &counts.iter().map(|(shingle, _)| **shingle).collect::<Vec<_>>())?;
        write_array(out, &counts.iter().map(|(_, count)| count.pages).collect::<Vec<_>>())?;
        write_array(out, &counts.iter().map(|(_, count)| count.before).collect::<Vec<_>>())?;
        self.rare.save(out)
    }

    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (pages, level): (u32, u32) = (read_number(input)?, read_number(input)?);
        let level = u8::try_from(level).map_err(|_| invalid("a host sampled to no level"))?;
        let of_level = read_array(input)?.try_into().map_err(|_| invalid("a host of other levels"))?;
        let (shingles, met, before): (Vec<u32>, Vec<u32>, Vec<u32>) =
            (read_array(input)?, read_array(input)?, read_array(input)?);
        let counts = met.into_iter().zip(before).map(|(pages, before)| ShingleCount { pages, before });
        let frequent = shingles.into_iter().zip(counts).collect();
        Ok(Self { pages, level, of_level, frequent, rare: RareShingles::load(input)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn order(shingles: impl IntoIterator<Item = u32>) -> TermOrder {
        let mut shingles: Vec<u32> = shingles.into_iter().map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
        shingles.sort_unstable();
        TermOrder { shingles, ..TermOrder::default() }
    }

    /// A host of `pages` pages: a frame, a section on one page in ten from the middle on, and text of their own.
    fn host(pages: u32, own: u32) -> HostTemplates {
        let mut host = HostTemplates::default();
        for number in 0..pages {
            let section = (number > pages / 2 && number % 5 == 0).then_some(500..600).into_iter().flatten();
            let first = 10_000 + number * own;
            host.learn(&order((0..100).chain(section).chain(first..first + own)));
        }
        host
    }

    #[test]
    fn templates_are_found_and_texts_are_not_whatever_the_number_and_length_of_pages() {
        for (pages, own) in [(60, 20), (60, 600), (600, 100), (2000, 100), (2000, 1900)] {
            let host = host(pages, own);
            let is_template = |number: u32| host.is_template(number.wrapping_mul(0x9E37_79B1));
            assert!((0..100).all(is_template), "{pages} pages");
            assert!((500..600).all(is_template), "{pages} pages");
            let wrong = (10_000..10_000 + pages * own).filter(|number| is_template(*number)).count();
            assert!(wrong as f64 <= 0.03 * f64::from(pages * own), "{wrong} of {} runs of {pages} pages", pages * own);
        }
    }

    #[test]
    fn many_pages_take_no_more_memory_than_sixty() {
        let (few, many) = (host(60, 350).size(), host(6000, 350).size());
        assert!(few <= 24 << 10, "{few}");
        assert!(many <= 28 << 10, "{many}");
        assert!(host(6000, 1900).size() <= 100 << 10);
        assert!(host(3, 100).size() <= 4 << 10);
    }

    #[test]
    fn half_of_what_is_known_takes_half_the_memory() {
        let mut host = host(600, 100);
        let before = host.size();
        host.sample();
        assert!(host.size() * 10 <= before * 6, "{} of {before}", host.size());
        for number in 0..100u32 {
            let shingle = number.wrapping_mul(0x9E37_79B1);
            assert_eq!(host.is_template(shingle), shingle.leading_zeros() >= 1);
        }
        // What it learns from now on is sampled, too.
        (0..10).for_each(|_| host.learn(&order(7_000_000..7_000_100)));
        assert!(host.frequent.keys().all(|shingle| shingle.leading_zeros() >= 1));
    }

    #[test]
    fn a_host_comes_back_from_a_snapshot_and_goes_on_as_before() {
        let mut host = host(60, 600);
        host.sample();
        let mut bytes = Vec::new();
        host.save(&mut bytes).unwrap();
        let mut restored = HostTemplates::load(&mut &bytes[..]).unwrap();
        for _ in 0..30 {
            host.learn(&order(0..600));
            restored.learn(&order(0..600));
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        host.save(&mut one).unwrap();
        restored.save(&mut other).unwrap();
        assert_eq!(one, other);
        assert!(HostTemplates::load(&mut &bytes[..bytes.len() - 1]).is_err());
    }
}
