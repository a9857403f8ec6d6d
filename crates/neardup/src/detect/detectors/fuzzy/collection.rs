//! Which words are related: document counts of a reference collection (equation (1)).

use std::io::{self, Read, Write};

use crate::model::TermId;
use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Articles in the collection: the first that later pages are compared with. The paper's index had 500 pages.
pub(super) const MOST_ARTICLES: u16 = 2_048;

/// Articles with more words are left out: they would relate everything to everything, and memory must be bounded (40
/// MB at worst).
pub(super) const MOST_WORDS: usize = 10_000;

/// A set of articles is a list up to this length, and 2,048 bits beyond it.
const LONGEST_LIST: usize = 64;

const BLOCKS: usize = MOST_ARTICLES as usize / 64;

/// For each word the articles of the collection that contain it.
///
/// A word takes 24 bytes and 2 for each of its articles, at most 256: about 5 MB for 2,048 pages of 300 words. A full
/// collection never changes.
#[derive(Debug, Default)]
pub(super) struct Collection {
    articles: u16,
    words: Vec<Articles>,
}

/// The articles that contain a word.
#[derive(Debug)]
enum Articles {
    /// Ascending.
    Few(Vec<u16>),
    Many(Box<Bits>),
}

#[derive(Debug)]
struct Bits {
    count: u32,
    blocks: [u64; BLOCKS],
}

impl Collection {
    /// Adds an article, if there is room.
    pub(super) fn add(&mut self, terms: &[(TermId, u32)]) {
        if self.articles >= MOST_ARTICLES || terms.len() > MOST_WORDS {
            return;
        }
        for (term, _) in terms {
            if self.words.len() <= term.index() {
                self.words.resize_with(term.index() + 1, Articles::default);
            }
            self.words[term.index()].add(self.articles);
        }
        self.articles += 1;
    }

    /// Returns `1 − W(i, j)` for two different words, where `W(i, j) = n_ij / (n_i + n_j − n_ij)`.
    ///
    /// Words that fewer than `least` articles hold together are not related.
    pub(super) fn independence(&self, i: u32, j: u32, least: u32) -> f64 {
        let (Some(i), Some(j)) = (self.words.get(i as usize), self.words.get(j as usize)) else { return 1.0 };
        let (n_i, n_j) = (i.count(), j.count());
        if n_i.min(n_j) < least.max(1) {
            return 1.0;
        }
        let together = i.together(j);
        if together < least.max(1) {
            return 1.0;
        }
        f64::from(n_i + n_j - 2 * together) / f64::from(n_i + n_j - together)
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<Articles>() + self.words.iter().map(Articles::bytes).sum::<usize>()
    }

    /// Writes the collection to a snapshot: the number of articles of each word, then which.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.articles)?;
        write_array(out, &self.words.iter().map(Articles::count).collect::<Vec<_>>())?;
        write_array(out, &self.words.iter().flat_map(Articles::list).collect::<Vec<_>>())
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let articles = read_number::<u16>(input)?;
        let counts: Vec<u32> = read_array(input)?;
        let all: Vec<u16> = read_array(input)?;
        if articles > MOST_ARTICLES || all.iter().any(|&article| article >= articles) {
            return Err(invalid("an article that is not in the collection"));
        }
        let mut rest = &all[..];
        let mut words = Vec::with_capacity(counts.len());
        for count in counts {
            let (own, others) =
                rest.split_at_checked(count as usize).ok_or_else(|| invalid("a word without articles"))?;
            if !own.is_sorted_by(|a, b| a < b) {
                return Err(invalid("articles out of order"));
            }
            let mut word = Articles::default();
            own.iter().for_each(|&article| word.add(article));
            words.push(word);
            rest = others;
        }
        Ok(Self { articles, words })
    }
}

impl Default for Articles {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Articles {
    /// Adds an article; articles must ascend.
    fn add(&mut self, article: u16) {
        match self {
            Self::Few(list) if list.len() < LONGEST_LIST => list.push(article),
            Self::Few(list) => {
                let mut bits = Bits { count: 0, blocks: [0; BLOCKS] };
                list.iter().for_each(|&article| bits.add(article));
                bits.add(article);
                *self = Self::Many(Box::new(bits));
            }
            Self::Many(bits) => bits.add(article),
        }
    }

    /// Returns the number of articles that contain the word.
    fn count(&self) -> u32 {
        match self {
            // No list is longer than 64.
            Self::Few(list) => list.len() as u32,
            Self::Many(bits) => bits.count,
        }
    }

    /// Returns the number of articles that contain both words.
    fn together(&self, other: &Self) -> u32 {
        match (self, other) {
            (Self::Few(a), Self::Few(b)) => shared(a, b),
            (Self::Few(list), Self::Many(bits)) | (Self::Many(bits), Self::Few(list)) => {
                list.iter().map(|&article| u32::from(bits.has(article))).sum()
            }
            (Self::Many(a), Self::Many(b)) => a.blocks.iter().zip(&b.blocks).map(|(a, b)| (a & b).count_ones()).sum(),
        }
    }

    fn list(&self) -> Vec<u16> {
        match self {
            Self::Few(list) => list.clone(),
            Self::Many(bits) => (0..MOST_ARTICLES).filter(|&article| bits.has(article)).collect(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Few(list) => list.capacity() * size_of::<u16>(),
            Self::Many(_) => size_of::<Bits>(),
        }
    }
}

impl Bits {
    fn add(&mut self, article: u16) {
        self.blocks[usize::from(article) / 64] |= 1 << (article % 64);
        self.count += 1;
    }

    fn has(&self, article: u16) -> bool {
        self.blocks[usize::from(article) / 64] >> (article % 64) & 1 == 1
    }
}

/// Returns how many numbers are in both ascending lists.
fn shared(mut a: &[u16], mut b: &[u16]) -> u32 {
    let mut shared = 0;
    while let (Some(first_a), Some(first_b)) = (a.first(), b.first()) {
        shared += u32::from(first_a == first_b);
        let (skip_a, skip_b) = (usize::from(first_a <= first_b), usize::from(first_b <= first_a));
        (a, b) = (&a[skip_a..], &b[skip_b..]);
    }
    shared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collection(articles: &[Vec<u32>]) -> Collection {
        let mut collection = Collection::default();
        for article in articles {
            collection.add(&article.iter().map(|&term| (TermId(term), 1)).collect::<Vec<_>>());
        }
        collection
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn correlations_are_counted_documents_before_and_after_a_snapshot(
            articles in prop::collection::vec(prop::collection::btree_set(0u32..8, 0..6), 0..260),
            least in 1u32..4,
        ) {
            let articles: Vec<Vec<u32>> = articles.into_iter().map(|words| words.into_iter().collect()).collect();
            let collection = collection(&articles);
            let mut bytes = Vec::new();
            collection.save(&mut bytes).unwrap();
            let loaded = Collection::load(&mut &bytes[..]).unwrap();
            let count = |words: &[u32]| articles.iter().filter(|article| words.iter().all(|word| article.contains(word))).count() as f64;
            for (i, j) in (0..9).flat_map(|i| (0..9).map(move |j| (i, j))).filter(|(i, j)| i != j) {
                let together = count(&[i, j]);
                let all = count(&[i]) + count(&[j]) - together;
                let expected = if together < f64::from(least) { 1.0 } else { (all - together) / all };
                prop_assert_eq!(collection.independence(i, j, least), expected);
                prop_assert_eq!(loaded.independence(i, j, least), expected);
            }
        }
    }

    #[test]
    fn the_collection_ends_with_its_last_article_and_passes_over_the_longest() {
        let mut collection = collection(&[(0..=MOST_WORDS as u32).collect()]);
        assert_eq!(collection.articles, 0);
        for article in 0..u32::from(MOST_ARTICLES) + 10 {
            collection.add(&[(TermId(article % 3), 1)]);
        }
        assert_eq!(collection.articles, MOST_ARTICLES);
        assert_eq!(collection.words.iter().map(Articles::count).sum::<u32>(), 2_048);
    }

    #[test]
    fn what_is_no_collection_is_an_error() {
        let mut bytes = Vec::new();
        collection(&[vec![0, 1], vec![1]]).save(&mut bytes).unwrap();
        for cut in 0..bytes.len() {
            assert!(Collection::load(&mut &bytes[..cut]).is_err());
        }
        bytes[0] = 1;
        assert!(Collection::load(&mut &bytes[..]).is_err(), "article 1 of one article");
    }
}
