//! Minimum weight overlapping with a second check (`mwo` with `second_check` = `own-words`): what does the page say *for
//! itself*?
//!
//! A bag of weighted words takes siblings of one template for the same page. So a page is a near-duplicate of a stored one
//! if, besides, **it says for itself what the stored page says for itself**:
//!
//! 1. A run of [`RUN`] words is *common* once [five](known_text) documents of different subjects have it, wherever they come
//!    from. A word is a page's *own* unless it stands in a common run. So a menu, a licence, an instruction or a form is
//!    nobody's own after a few documents.
//! 2. At most a quarter of the page's own words may be missing from the stored page, and at most two fifths the other way
//!    round. Three words are always too few to matter. See [`OwnWords::is_met`].
//! 3. They are of *another subject* if each uses a word again and again that the other never uses. Typing errors and
//!    synonyms do not repeat, and an edition adds words but seldom replaces one throughout.
//! 4. If they share fewer than ten own words, nothing tells them apart or together but their names: these must be the same,
//!    and nearly all words of both too. Without names, all words must be the same.
//!
//! With [`Options::lose_at_most`], besides, so many of *all* its words at most may stand in no run that the stored page has.
//!
//! Two pages without running text are compared by their weights alone, which must be firm.
//!
//! *Documents of different subjects*: every stored page, and a near-duplicate that has another name than the page it
//! repeats and says something that one does not. A run counts once for each name, so of an edition only what is new in it
//! counts. Copies, editions and frames have no subject of their own, so an article may be printed and revised as often as
//! one likes. A name that eight documents have beside one run, such as that of the site, tells none of them apart.
//!
//! What is known is as of the last update, and of stored pages and verdicts alone: a verdict can be repeated from the log.
//! All arithmetic is in integers, so a tie is the same everywhere.
//!
//! | parameter | value | chosen on |
//! |---|---|---|
//! | documents that make a run common | 5 | made families and all labeled sites, on which they are measured, too |
//! | own words that may be missing | 1/4, 2/5 | there too |
//! | uses of a word that make a subject | 4, and one in 200 words | there too |
//! | own words shared, below which names decide | 10 | there too |
//! | documents of one name with a run that make the name common | 8 | there too |
//!
//! **Memory.** Counts of runs take 12 to 23 bytes a run of a stored page ([`run_counts`]), and at most
//! [`Options::text_memory`].
//!
//! **Departures.** The paper has no such check. Design notes: `docs/design/detect.md`.

mod common_runs;
mod comparison;
mod known_text;
#[cfg(test)]
mod planted_tests;
mod run_counts;
mod sample;

use std::io::{self, Read, Write};

pub use self::comparison::PreparedText;
use self::known_text::KnownText;
use self::sample::smallest;
use super::Measure;
use super::mwo::Mwo;
use crate::detect::Options;
use crate::detect::page_match::{Page, Similarity};
use crate::index::RunKeys;
use crate::model::{Difference, MostLost, Score, Sequence, Threshold};
use crate::similarity::Record;

/// So few words never matter.
const FEW: usize = 3;
/// With fewer own words in common, names decide.
const NOTHING_OWN: usize = 10;
/// The least uses of a word that the other page never uses, on both sides, that tell two subjects.
const SUBJECT_USES: usize = 4;
/// And one use in so many words.
const SUBJECT_SHARE: usize = 200;
/// So many words on end that the kept page lacks are something to say.
const PASSAGE: usize = 10;
/// The first score that pages without running text must reach.
const FIRM_ALONE: Score = Score(800_000);
/// Runs that represent a page in the index: a sample of the smallest hashes.
const FILED: usize = 64;
/// Runs that are looked up: the stored page may have a third fewer own runs, and so a larger sample of them.
const LOOKED_UP: usize = 3 * FILED;

/// What two pages say for themselves: numbers of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnWords {
    /// Own words of the page, and those of them that the stored page lacks.
    pub own: usize,
    /// See [`own`](Self::own).
    pub adds: usize,
    /// Own words of the stored page, and those of them that the page lacks.
    pub stored_own: usize,
    /// See [`stored_own`](Self::stored_own).
    pub lacks: usize,
    /// All words of the page, and those of them that the stored page lacks.
    pub words: usize,
    /// See [`words`](Self::words).
    pub other: usize,
    /// All words of the stored page, and those of them that the page lacks.
    pub stored_words: usize,
    /// See [`stored_words`](Self::stored_words).
    pub stored_other: usize,
    /// The most uses of a word by the page that the stored page never uses; 0 if the pages differ anyway.
    pub repeats: usize,
    /// The most uses of a word by the stored page that the page never uses; 0 if the pages differ anyway.
    pub repeated: usize,
    /// Whether both names have the same words.
    pub has_same_name: bool,
    /// Whether both have a name.
    pub is_named: bool,
    /// The most words on end that the stored page lacks.
    pub says_more: usize,
}

impl OwnWords {
    /// Returns whether both say the same for themselves.
    pub fn is_met(&self) -> bool {
        let Self { own, adds, stored_own, lacks, words, other, stored_words, stored_other, .. } = *self;
        let most =
            |missing: usize, of: usize, (part, whole): (usize, usize)| missing <= FEW || missing * whole <= of * part;
        let is_same = most(adds, own, (1, 4)) && most(lacks, stored_own, (2, 5)) && !self.is_other_subject();
        // So few words never matter, unless they are all.
        let is_same = is_same && other < words;
        let is_named_alike = match self.is_named {
            true => most(other, words, (10, 100)) && most(stored_other, stored_words, (16, 100)),
            false => other + stored_other == 0,
        };
        is_same && (!self.has_nothing_own() || self.has_same_name && is_named_alike)
    }

    /// Returns whether each uses a word again and again that the other never uses.
    pub fn is_other_subject(&self) -> bool {
        let uses = self.repeats.min(self.repeated);
        uses >= SUBJECT_USES && uses * SUBJECT_SHARE >= self.words.min(self.stored_words)
    }

    /// Returns whether so little own is shared that names decide.
    pub fn has_nothing_own(&self) -> bool {
        self.own - self.adds < NOTHING_OWN
    }

    /// Returns what a verdict tells of the difference.
    pub(in crate::detect) fn difference(&self) -> Difference {
        let count = |words: usize| u32::try_from(words).unwrap_or(u32::MAX);
        // 5.5 percent.
        let says_something = self.says_more >= PASSAGE || (self.other > FEW && self.other * 1000 >= self.words * 55);
        let has_own_subject = says_something && !(self.is_named && self.has_same_name);
        let [adds, lacks, words, loses] = [self.adds, self.lacks, self.words, self.other].map(count);
        Difference { adds, lacks, words, loses, has_own_subject }
    }
}

/// Compares by two checks: weights, then own words.
#[derive(Debug)]
pub struct OwnWordsMeasure {
    weights: Mwo,
    lose_at_most: Option<MostLost>,
    known: KnownText,
    /// Keys of runs that became common, in order, since the detector was created or loaded.
    newly_common: Vec<u64>,
}

impl OwnWordsMeasure {
    /// Creates a detector that knows nothing.
    pub fn new(options: &Options) -> Self {
        let known = KnownText::new(options.text_memory);
        let weights = Mwo::new(options.thresholding);
        let lose_at_most = options.lose_at_most;
        Self { weights, lose_at_most, known, newly_common: Vec::new() }
    }

    /// `None` if neither page has running text: weights alone are compared.
    fn check(&self, probe: &Page, prepared: &PreparedText, stored: &Page) -> Option<OwnWords> {
        let (text, other) = (&probe.order.text, &stored.order.text);
        (!text.is_empty() || !other.is_empty()).then(|| prepared.compare(text, other, self.known.common()))
    }

    /// Returns the keys of a page: at most `most` of its own runs; and if it may be that only its name tells it from others,
    /// as with `own` words of its own, some of all its runs together with the name.
    fn run_keys(&self, page: &Page, prepared: &PreparedText, most: usize, own: usize) -> RunKeys {
        // Nothing own in common, and at most 16 % of all words differ.
        let is_named = own * 100 <= prepared.len() * 16 + (NOTHING_OWN + FEW) * 100;
        let name = page.order.text.name_hash();
        let named = if is_named { smallest(prepared.runs().iter().copied(), FILED) } else { Vec::new() };
        RunKeys { own: smallest(prepared.own_runs(), most), named: named.into_iter().map(|run| run ^ name).collect() }
    }
}

impl Measure for OwnWordsMeasure {
    fn least_weight(&self, record: &Record) -> u32 {
        self.weights.least_weight(record)
    }

    fn is_unstable(&self) -> bool {
        true
    }

    fn prepare(&self, probe: &Page) -> PreparedText {
        PreparedText::new(&probe.order.text, self.known.common())
    }

    fn filed_under(&self, page: &Page, prepared: &PreparedText) -> Option<RunKeys> {
        // A page is filed again only when it has lost a third of its runs.
        let own = prepared.own() * 2 / 3;
        (!page.order.text.is_empty()).then(|| self.run_keys(page, prepared, FILED, own))
    }

    fn looked_up_under(&self, page: &Page, prepared: &PreparedText) -> Option<RunKeys> {
        (!page.order.text.is_empty()).then(|| self.run_keys(page, prepared, LOOKED_UP, prepared.own()))
    }

    fn newly_common(&self) -> &[u64] {
        &self.newly_common
    }

    fn first_score(&self, probe: &Page, stored: &Page) -> Option<Score> {
        self.weights.first_score(probe, stored)
    }

    fn own_words(&self, probe: &Page, stored: &Page) -> Option<OwnWords> {
        self.check(probe, &self.prepare(probe), stored)
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        self.compare_prepared(probe, &self.prepare(probe), stored, bar)
    }

    fn compare_prepared(
        &self,
        probe: &Page,
        prepared: &PreparedText,
        stored: &Page,
        bar: Threshold,
    ) -> Option<Similarity> {
        let Similarity { score, .. } = self.weights.compare(probe, stored, bar)?;
        match self.check(probe, prepared, stored) {
            Some(own) => (own.is_met() && self.lose_at_most.is_none_or(|most| most.allows(own.other, own.words)))
                .then_some(Similarity { score, second: None, difference: Some(own.difference()) }),
            // What has no words cannot be shown to lose none.
            None => (score >= FIRM_ALONE && self.lose_at_most.is_none()).then_some(Similarity {
                score,
                second: None,
                difference: None,
            }),
        }
    }

    fn learn(&mut self, number: Sequence, page: &Page, is_subject: bool, is_compared: bool) {
        self.weights.learn(number, page, is_subject, is_compared);
        let text = &page.order.text;
        if is_subject {
            self.newly_common.extend(self.known.learn(text));
        }
    }

    fn bytes(&self) -> usize {
        self.known.bytes() + self.newly_common.capacity() * 8
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.weights.save(out)?;
        self.known.save(out)
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.weights.load(input)?;
        self.newly_common.clear();
        self.known.load(input)
    }
}
