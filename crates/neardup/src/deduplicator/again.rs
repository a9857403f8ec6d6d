//! All documents decided again, from what is kept of them: at another threshold, or without some of them.
//!
//! A verdict depends on all documents before it, and what was learned of one cannot be taken out again. So nothing is
//! patched: documents go through a new decider in their order, as they were counted. That is exact by construction.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use super::log::LogEntry;
use super::{Builder, Deduplicator, Error, Verdict};
use crate::detect::{NumberedPage, Vocabulary};
use crate::model::{PageId, PageTerms, TermId};

/// Numbers of terms in a new vocabulary, by their numbers in the old one.
struct Renumbering<'a> {
    old: &'a Vocabulary,
    new: Vec<Option<TermId>>,
}

impl<'a> Renumbering<'a> {
    fn new(old: &'a Vocabulary) -> Self {
        Self { old, new: vec![None; old.len()] }
    }

    /// Returns the terms with their numbers in `vocabulary`, to which those are added that it lacks.
    fn terms(&mut self, terms: &PageTerms, vocabulary: &mut Vocabulary) -> Result<PageTerms, Error> {
        let renumbered = terms.iter().map(|(term, counts)| {
            let place = self.new.get_mut(term.index()).ok_or(Error::Format("a document has an unknown term"))?;
            let number = match *place {
                Some(number) => number,
                None => vocabulary.intern(self.old.term(term).unwrap_or_default())?.0,
            };
            *place = Some(number);
            Ok((number, counts))
        });
        Ok(PageTerms::new(renumbered.collect::<Result<_, Error>>()?))
    }
}

impl<K: Clone + Eq + Hash> Deduplicator<K> {
    /// Returns a deduplicator that has taken in the same documents in the same order, at another threshold.
    ///
    /// Its verdicts are those of one that was built with this threshold; no text is read again. Cost: as inserting,
    /// without counting.
    ///
    /// # Errors
    /// [`Error::Threshold`], [`Error::Detect`].
    pub fn rethreshold(&self, threshold: f64) -> Result<Self, Error> {
        self.decided_again(self.builder.clone().threshold(threshold), |_| true)
    }

    /// Removes documents. Returns the others whose verdicts are other ones now, in their order.
    ///
    /// The deduplicator is then one that has never had them: the first duplicate of a removed document is unique, later
    /// ones name that one, and what only the removed ones said is neither known as common text nor
    /// [saved](Self::save). Numbers of terms may differ, which no verdict depends on. A [counter](Self::counter) from
    /// before keeps their words, and should be replaced.
    ///
    /// Cost: as inserting all that stay, without counting; and their memory twice meanwhile.
    ///
    /// # Errors
    /// [`Error::UnknownKey`], [`Error::Detect`]; then nothing is removed.
    pub fn remove<'k>(&mut self, keys: impl IntoIterator<Item = &'k K>) -> Result<Vec<(K, Verdict<K>)>, Error>
    where
        K: Debug + 'k,
    {
        let removed: HashSet<&K> = keys.into_iter().collect();
        if let Some(unknown) = removed.iter().find(|key| !self.numbers.contains_key(**key)) {
            return Err(Error::UnknownKey(format!("{unknown:?}")));
        }
        let again = self.decided_again(self.builder.clone(), |key| !removed.contains(key))?;
        let changed = again.keys.iter().filter_map(|key| {
            let (before, now) = (self.verdict(key), again.verdict(key));
            now.filter(|now| before.as_ref() != Some(now)).map(|now| (key.clone(), now))
        });
        let changed = changed.collect();
        *self = again;
        Ok(changed)
    }

    fn decided_again(&self, builder: Builder, stays: impl Fn(&K) -> bool) -> Result<Self, Error> {
        let mut again: Self = builder.build()?;
        let vocabulary = self.counter.vocabulary.read();
        let mut renumbering = Renumbering::new(&vocabulary);
        for key in self.keys.iter().filter(|key| stays(key)) {
            let Some(entry) = self.numbers.get(key).and_then(|number| self.log.get(*number)) else { continue };
            let terms = renumbering.terms(&entry.terms, &mut again.counter.vocabulary.write())?;
            again.take_in_again(key, LogEntry { terms, ..entry })?;
        }
        Ok(again)
    }

    fn take_in_again(&mut self, key: &K, entry: LogEntry) -> Result<(), Error> {
        let LogEntry { digest, terms, text, .. } = entry;
        let page = PageId::new("", "", self.keys.len() as u32);
        for judged in self.decider.decide_numbered(vec![NumberedPage { page, body_digest: digest, terms, text }])? {
            self.take_in(key.clone(), digest, judged);
        }
        Ok(())
    }
}
