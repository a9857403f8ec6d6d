//! What two pages say for themselves, word by word.

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::OwnWords;
use super::common_runs::{CommonRuns, OfRuns};
use crate::model::{RUN, RunningText};

/// The text of a page that is compared with others, looked up once for all of them.
#[derive(Clone, Debug, Default)]
pub struct PreparedText {
    /// The runs in order.
    runs: Vec<u64>,
    /// Whether many documents have a run.
    is_common: Vec<bool>,
    /// Whether a word is the page's own.
    is_own: Vec<bool>,
    own: usize,
    /// What only a comparison asks for.
    places: OnceLock<Places>,
}

/// Where each run stands for the first time: in order, and by run.
#[derive(Clone, Debug)]
struct Places {
    first: Vec<u32>,
    of: HashMap<u64, u32, OfRuns>,
}

impl Places {
    fn new(runs: &[u64]) -> Self {
        let mut of = HashMap::with_capacity_and_hasher(runs.len(), OfRuns::default());
        let first = (0..).zip(runs).map(|(place, run)| *of.entry(*run).or_insert(place)).collect();
        Self { first, of }
    }
}

/// Tells of the words of a text, one after the other, which stand in a run that counts.
#[derive(Clone, Copy, Default)]
struct Covered(usize);

impl Covered {
    /// `counts`: whether the run that begins at `place` does. Returns whether the word there stands in one.
    #[inline]
    fn word(&mut self, place: usize, counts: bool) -> bool {
        if counts {
            self.0 = place + RUN;
        }
        place < self.0
    }
}

impl PreparedText {
    pub(super) fn new(text: &RunningText, known: &CommonRuns) -> Self {
        let runs: Vec<u64> = text.runs().collect();
        let is_common: Vec<bool> = runs.iter().map(|run| known.has(*run)).collect();
        let mut common = Covered::default();
        let is_own: Vec<bool> =
            (0..text.words.len()).map(|place| !common.word(place, is_common.get(place) == Some(&true))).collect();
        let own = is_own.iter().filter(|is_own| **is_own).count();
        Self { runs, is_common, is_own, own, places: OnceLock::new() }
    }

    /// Returns the own words.
    pub(super) fn own(&self) -> usize {
        self.own
    }

    /// Returns the words.
    pub(super) fn len(&self) -> usize {
        self.is_own.len()
    }

    /// Returns the runs in which the page has a word of its own.
    pub(super) fn own_runs(&self) -> impl Iterator<Item = u64> {
        let with_own = self.is_own.windows(RUN.min(self.len()).max(1)).map(|run| run.contains(&true));
        self.runs.iter().zip(with_own).filter(|(_, has_own)| *has_own).map(|(run, _)| *run)
    }

    /// Returns all runs.
    pub(super) fn runs(&self) -> &[u64] {
        &self.runs
    }

    /// Compares the page with a stored one. Cost: some ten nanoseconds a word of either page.
    pub(super) fn compare(&self, page: &RunningText, stored: &RunningText, known: &CommonRuns) -> OwnWords {
        let places = self.places.get_or_init(|| Places::new(&self.runs));
        let mut is_shared = vec![false; self.runs.len()];
        let mut compared = OwnWords {
            own: self.own,
            words: self.len(),
            stored_words: stored.words.len(),
            has_same_name: page.name == stored.name,
            is_named: !page.name.is_empty() && !stored.name.is_empty(),
            ..OwnWords::default()
        };
        let (mut here, mut common, mut runs) = (Covered::default(), Covered::default(), stored.runs());
        for word in 0..stored.words.len() {
            let (mut is_here, mut is_common) = (false, false);
            if let Some(run) = runs.next() {
                let place = places.of.get(&run).map(|place| *place as usize);
                is_here = place.is_some();
                is_common = place.map_or_else(|| known.has(run), |place| self.is_common[place]);
                if let Some(place) = place {
                    is_shared[place] = true;
                }
            }
            let (is_lacked, is_own) = (!here.word(word, is_here), !common.word(word, is_common));
            compared.stored_own += usize::from(is_own);
            compared.lacks += usize::from(is_own && is_lacked);
            compared.stored_other += usize::from(is_lacked);
        }
        let (mut there, mut on_end) = (Covered::default(), 0);
        for (word, is_own) in self.is_own.iter().enumerate() {
            let is_there = places.first.get(word).is_some_and(|first| is_shared[*first as usize]);
            let is_missing = !there.word(word, is_there);
            compared.adds += usize::from(*is_own && is_missing);
            compared.other += usize::from(is_missing);
            on_end = if is_missing { on_end + 1 } else { 0 };
            compared.says_more = compared.says_more.max(on_end);
        }
        // Most pages differ, and of those nobody asks what their subjects are.
        if compared.is_met() {
            (compared.repeats, compared.repeated) = subjects(&page.words, &stored.words);
        }
        compared
    }
}

/// Returns how often either page uses a word that the other never uses, at most.
fn subjects(page: &[u32], stored: &[u32]) -> (usize, usize) {
    let mut uses = HashMap::<u32, [usize; 2]>::new();
    for (side, words) in [page, stored].into_iter().enumerate() {
        words
            .iter()
            .filter(|word| may_name_a_subject(**word))
            .for_each(|word| uses.entry(*word).or_default()[side] += 1);
    }
    let most = |of: usize, other: usize| uses.values().filter(|uses| uses[other] == 0).map(|uses| uses[of]).max();
    (most(0, 1).unwrap_or(0), most(1, 0).unwrap_or(0))
}

/// A number is no subject, and a stop word none either.
fn may_name_a_subject(word: u32) -> bool {
    word != RunningText::STOP_WORD && word & 1 == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(words: &[u32]) -> RunningText {
        RunningText { words: words.iter().map(|word| word * 2).collect(), name: Vec::new() }
    }

    /// The same by sets of runs and nothing that was prepared.
    fn plainly(page: &RunningText, stored: &RunningText, known: &CommonRuns) -> [usize; 6] {
        let side = |one: &RunningText, other: &RunningText| {
            let has = |run: u64| other.runs().any(|theirs| theirs == run);
            let words = one.words.len();
            let within = |at: usize, is_it: &dyn Fn(u64) -> bool| {
                one.runs().enumerate().any(|(start, run)| (start..start + RUN).contains(&at) && is_it(run))
            };
            let own: Vec<usize> = (0..words).filter(|at| !within(*at, &|run| known.has(run))).collect();
            let missing: Vec<usize> = (0..words).filter(|at| !within(*at, &has)).collect();
            [own.len(), own.iter().filter(|at| missing.contains(at)).count(), missing.len()]
        };
        let ([a, b, c], [d, e, f]) = (side(page, stored), side(stored, page));
        [a, b, d, e, c, f]
    }

    proptest! {
        #[test]
        fn words_are_compared_as_sets_of_runs_tell(
            page in prop::collection::vec(0u32..4, 0..40),
            stored in prop::collection::vec(0u32..4, 0..40),
            others in prop::collection::vec(prop::collection::vec(0u32..4, 0..12), 0..12),
        ) {
            let mut known = CommonRuns::new(usize::MAX, 5);
            for other in others {
                let counted = known.count(text(&other).runs());
                known.raise(counted, 0);
            }
            let (page, stored) = (text(&page), text(&stored));
            let found = PreparedText::new(&page, &known).compare(&page, &stored, &known);
            let OwnWords { own, adds, stored_own, lacks, other, stored_other, .. } = found;
            prop_assert_eq!([own, adds, stored_own, lacks, other, stored_other], plainly(&page, &stored, &known));
        }
    }
}
