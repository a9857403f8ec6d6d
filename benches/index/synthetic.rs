//! Generates an endless stream of pages, as hard for an index as a big crawl.
//!
//! - The words of a page are sampled from two base pages.
//! - Its site adds a template with 5 to 55 % of the mass.
//! - 1 to 6 terms occur on no other page.
//! - Site sizes follow Zipf's law.
//! - The 20,000 most frequent terms are common to all sites. Each of 16 groups of sites has its own other terms, so the
//!   vocabulary grows with the crawl, as on the web.
//!
//! A record depends only on the seed and on the records before it.

use ndcrawl::model::TermId;
use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::Record;

use super::base::Base;

const COMMON: usize = 20_000;
const GROUPS: usize = 16;
const SITES: usize = 20_000;
/// The size of a site of rank r is proportional to 1 / (r + OFFSET).
const OFFSET: usize = 50;
/// Words from base pages on the median page, and the factors of one standard deviation less or more.
const WORDS: f64 = 350.0;
const SHORTER: f64 = 1.55;
const LONGER: f64 = 3.0;
/// Share of the words from the first base page.
const FIRST: f64 = 0.6;
/// Number of words of a template.
const TEMPLATE_WORDS: (f64, f64) = (30.0, 160.0);
/// Share of a template in a page's mass.
const TEMPLATE_MASS: (f64, f64) = (0.05, 0.55);
const NEW_TERMS: usize = 6;
/// Weights of a word by field, in hundredths, with their frequencies.
const FIELDS: [(f64, u32); 4] = [(0.86, 100), (0.10, 200), (0.02, 300), (0.02, 50)];
/// Share of probes made of stored pages, and shares of their mass that are replaced.
const CHANGED_PROBES: f64 = 0.25;
const REPLACED: (f64, f64) = (0.01, 0.40);

/// Generates records one by one.
pub struct Synthetic<'a> {
    base: &'a Base,
    random: SeededRng,
    sites: Vec<Site>,
    /// Cumulative sizes of sites.
    sizes: Vec<f64>,
    /// Term IDs in order of appearance, by name; `u32::MAX` for terms that have not appeared.
    ids: Vec<u32>,
    terms: u32,
    words: Vec<(u32, u32)>,
}

struct Site {
    group: usize,
    /// Distinct term names with weights.
    template: Vec<(u32, u32)>,
    mass: f64,
}

/// A record to search for.
pub struct Probe {
    pub record: Record,
    /// Whether it was made of a stored record.
    pub is_changed: bool,
}

impl<'a> Synthetic<'a> {
    pub fn new(base: &'a Base, seed: u64) -> Self {
        let mut random = SeededRng::new(seed, "index");
        let sites = (0..SITES).map(|number| Site::new(base, number % GROUPS, &mut random)).collect();
        let mut sum = 0.0;
        let size = |rank| {
            sum += 1.0 / (rank + OFFSET) as f64;
            sum
        };
        let names = COMMON + GROUPS * base.vocabulary.saturating_sub(COMMON);
        Self {
            base,
            random,
            sites,
            sizes: (0..SITES).map(size).collect(),
            ids: vec![u32::MAX; names],
            terms: 0,
            words: Vec::new(),
        }
    }

    /// Generates the next record.
    pub fn record(&mut self) -> Record {
        let size = self.random.share() * self.sizes[SITES - 1];
        let site = &self.sites[self.sizes.partition_point(|&sum| sum <= size).min(SITES - 1)];
        let words = &mut self.words;
        words.clear();
        let deviations = self.random.normal();
        let factor: f64 = if deviations < 0.0 { SHORTER } else { LONGER };
        let length = (WORDS * factor.powf(deviations)).max(3.0) as usize;
        let pages = [self.random.pick(&self.base.pages), self.random.pick(&self.base.pages)];
        for _ in 0..length {
            let page = pages[usize::from(self.random.share() >= FIRST)];
            let name = name(*self.random.pick(page), site.group);
            words.push((name, field_weight(&mut self.random)));
        }
        let fresh = 1 + self.random.below(NEW_TERMS);
        let fresh: Vec<u32> = (0..fresh).map(|_| field_weight(&mut self.random)).collect();
        let mass = sum(words) + fresh.iter().map(|&weight| f64::from(weight)).sum::<f64>();
        let of_template = mass * site.mass / (1.0 - site.mass) / sum(&site.template);
        let scaled = |&(name, weight): &(u32, u32)| (name, (f64::from(weight) * of_template).ceil() as u32);
        words.extend(site.template.iter().map(scaled));
        merge(words);
        let mut terms = numbered(words, &mut self.ids, &mut self.terms);
        terms.extend(fresh.into_iter().map(|weight| (new_term(&mut self.terms), weight)));
        Record::new(terms)
    }

    /// Generates probes: some are stored records with a part replaced, the others are new.
    pub fn probes(&mut self, many: usize, stored: &[Record]) -> Vec<Probe> {
        let probe = |_| {
            let is_changed = !stored.is_empty() && self.random.share() < CHANGED_PROBES;
            let record = if is_changed { self.changed(stored) } else { self.record() };
            Probe { record, is_changed }
        };
        (0..many).map(probe).collect()
    }

    /// Replaces a part of a stored record's mass by terms of another page.
    fn changed(&mut self, stored: &[Record]) -> Record {
        let mut terms = self.random.pick(stored).terms().to_vec();
        let mass = |terms: &[(TermId, u32)]| terms.iter().map(|&(_, weight)| u64::from(weight)).sum::<u64>() as f64;
        let mut replaced = mass(&terms) * self.random.between(REPLACED.0, REPLACED.1);
        let other = self.record();
        let mut added = replaced;
        while replaced > 0.0 && !terms.is_empty() {
            let place = self.random.below(terms.len());
            let leaves = f64::from(terms[place].1).min(replaced);
            replaced -= leaves;
            terms[place].1 -= leaves as u32;
            if terms[place].1 == 0 {
                terms.swap_remove(place);
            }
        }
        while added > 0.0 {
            let &(term, weight) = self.random.pick(other.terms());
            added -= f64::from(weight);
            terms.push((term, weight));
        }
        Record::new(terms)
    }
}

impl Site {
    fn new(base: &Base, group: usize, random: &mut SeededRng) -> Self {
        let words = random.between(TEMPLATE_WORDS.0, TEMPLATE_WORDS.1) as usize;
        let mut template: Vec<(u32, u32)> = (0..words)
            .map(|_| {
                let page = random.pick(&base.pages);
                (name(*random.pick(page), group), 100)
            })
            .collect();
        merge(&mut template);
        Self { group, template, mass: random.between(TEMPLATE_MASS.0, TEMPLATE_MASS.1) }
    }
}

/// Returns the name of a base page's term in a group of sites.
fn name(rank: u32, group: usize) -> u32 {
    let common = COMMON as u32;
    if rank < common { rank } else { common + (rank - common) * GROUPS as u32 + group as u32 }
}

/// Sums the weights of repeated terms.
fn merge(words: &mut Vec<(u32, u32)>) {
    words.sort_unstable();
    words.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
}

fn numbered(words: &[(u32, u32)], ids: &mut [u32], terms: &mut u32) -> Vec<(TermId, u32)> {
    let id = |name: u32| {
        let id = &mut ids[name as usize];
        if *id == u32::MAX {
            *id = new_term(terms).0;
        }
        TermId(*id)
    };
    let mut id = id;
    words.iter().map(|&(name, weight)| (id(name), weight)).collect()
}

fn new_term(terms: &mut u32) -> TermId {
    *terms += 1;
    TermId(*terms - 1)
}

fn sum(words: &[(u32, u32)]) -> f64 {
    words.iter().map(|&(_, weight)| f64::from(weight)).sum()
}

fn field_weight(random: &mut SeededRng) -> u32 {
    let mut at = random.share();
    for (share, weight) in FIELDS {
        if at < share {
            return weight;
        }
        at -= share;
    }
    100
}
