//! Questions about similar pages that decide nothing.

use std::collections::HashSet;

use super::super::matching::{MatchFilter, MatchQuery};
use super::super::numbered_page::{NumberedPage, PairComparison};
use super::super::page_match::Similarity;
use super::super::records::RecordSource;
use super::super::search::QueryPage;
use super::super::{DetectError, Match, Mode};
use super::{Decider, verdict_query};
use crate::model::{PageInput, PageTerms, Sequence, TermCounts, TermOrder, Threshold};

impl<S: RecordSource> Decider<S> {
    /// Returns the near-duplicates from number `from` on that are none by the current statistics, ascending.
    ///
    /// A page that looked like a copy when the detector knew three pages of a host may be one of three hundred
    /// siblings. Pages that inherited such a verdict are included. Nothing changes: the caller delivers such a page
    /// again, under another name and with [`PageInput::renews`](crate::model::PageInput::renews), to have it decided again.
    ///
    /// Empty for detectors whose verdicts are stable. Pages that were renewed are not checked again. Cost: a
    /// comparison for each near-duplicate, and reading the two records back.
    ///
    /// # Errors
    /// If a record can't be read back.
    pub fn outdated_duplicates(&mut self, from: Sequence) -> Result<Vec<Sequence>, DetectError> {
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &mut self.search) else { return Ok(Vec::new()) };
        if !corpus_stats.measure().is_unstable() {
            return Ok(Vec::new());
        }
        let query = verdict_query(&self.options, corpus_stats);
        let mut outdated_duplicates = HashSet::new();
        for (sequence, entry) in self.log.compared_duplicates(self.numbering.inside(from)) {
            let page = search.records().get(sequence)?;
            let Some(of) = entry.verdict.duplicate_of() else { continue };
            let stored = search.records().get(of)?;
            let still = !self.log.is_withdrawn(of) && query.measure.compare(&page, &stored, query.threshold).is_some();
            if still {
                continue;
            }
            let needed = QueryPage { group: entry.group, page: &page, prepared: &query.measure.prepare(&page) };
            if search.find_matches(&query, needed, &self.log)?.is_empty() {
                outdated_duplicates.insert(sequence);
            }
        }
        let outdated_duplicates = self.log.with_inheritors(outdated_duplicates);
        Ok(outdated_duplicates.into_iter().map(|page| self.numbering.outside(page)).collect())
    }

    /// Returns whether a duplicate can take the place of the stored page that it names, `kept`: decided again as a
    /// [chosen](PageInput::CHOSEN) page it would be unique, and `kept` and `others`, decided again after it, would name it.
    ///
    /// With [`Mode::Any`], no if another stored page is similar to one of them: it might be named instead.
    ///
    /// The decider settles, as it does before it decides a chosen page. So until it has decided one it must decide no
    /// other page, and cannot be [saved](Self::save).
    ///
    /// # Errors
    /// If a record can't be read back.
    pub fn can_take_place(
        &mut self,
        chosen: Sequence,
        kept: Sequence,
        others: &[Sequence],
    ) -> Result<bool, DetectError> {
        let [chosen, kept] = [chosen, kept].map(|page| self.numbering.inside(page));
        if self.log.get(kept).is_none_or(|entry| entry.rank > PageInput::CHOSEN) {
            return Ok(false);
        }
        self.is_ahead = true;
        self.settle()?;
        if !self.similar_without(kept, chosen)?.is_empty() {
            return Ok(false);
        }
        let numbering = self.numbering;
        for page in [kept].into_iter().chain(others.iter().map(|page| numbering.inside(*page))) {
            if !self.would_name(chosen, kept, page)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a page of the cluster of `kept` would name `chosen` if that were stored in its place.
    fn would_name(&mut self, chosen: Sequence, kept: Sequence, page: Sequence) -> Result<bool, DetectError> {
        let (Some(entry), Some(of)) = (self.log.get(page), self.log.get(chosen)) else { return Ok(false) };
        let is_same_text = entry.text_digest.is_some() && entry.text_digest == of.text_digest;
        let is_one_group = entry.group == of.group;
        if is_one_group && entry.body_digest == of.body_digest {
            return Ok(true);
        }
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &mut self.search) else {
            return Ok(is_one_group && is_same_text);
        };
        let query = verdict_query(&self.options, corpus_stats);
        let (probe, stored) = (search.records().get(page)?, search.records().get(chosen)?);
        let found = query.measure.compare(&probe, &stored, query.threshold);
        let may_be_any = query.mode == Mode::Any;
        if is_one_group && is_same_text && self.is_long_enough(&probe) {
            return Ok(true);
        }
        let is_found = is_one_group && self.is_comparable(&probe) && self.is_comparable(&stored);
        let Some(found) = found.filter(|_| is_found) else { return Ok(false) };
        Ok(self.similar_without(kept, page)?.iter().all(|other| !may_be_any && other.score < found.score))
    }

    /// Returns the stored pages but `kept` that a decided page could name if it were decided again.
    fn similar_without(&mut self, kept: Sequence, page: Sequence) -> Result<Vec<Match>, DetectError> {
        let Some(search) = &mut self.search else { return Ok(Vec::new()) };
        let probe = search.records().get(page)?;
        let is_comparable = self.is_comparable(&probe);
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &mut self.search) else { return Ok(Vec::new()) };
        let Some(entry) = self.log.get(page).filter(|_| is_comparable) else { return Ok(Vec::new()) };
        let condition: &MatchFilter<'_> = &|_, _, found| found.of != kept;
        let query = MatchQuery { condition, ..verdict_query(&self.options, corpus_stats) };
        let needed = QueryPage { group: entry.group, page: &probe, prepared: &query.measure.prepare(&probe) };
        search.find_matches(&query, needed, &self.log)
    }

    /// Returns the pages that were decided again, ascending, each with its earlier number.
    pub fn renewed(&self) -> impl Iterator<Item = (Sequence, Sequence)> + '_ {
        let outside = |page: &Sequence| self.numbering.outside(*page);
        self.log.renewed().iter().map(move |(later, earlier)| (outside(later), outside(earlier)))
    }

    /// Returns whether a page was decided as a [chosen](PageInput::CHOSEN) one.
    pub fn is_chosen(&self, page: Sequence) -> bool {
        self.log.get(self.numbering.inside(page)).is_some_and(|entry| entry.rank == PageInput::CHOSEN)
    }

    /// Returns the duplicates from number `from` on that [outrank](crate::model::PageInput::rank) the stored page that
    /// they name: of each stored page the one of the highest rank, ascending.
    ///
    /// Nothing changes: the caller delivers such a page again, under another name and with [`PageInput::renews`]. Pages
    /// that were renewed are not named again. Empty for detectors whose verdicts are stable: they have no second look.
    /// Cost: one pass over the decisions.
    ///
    /// [`PageInput::renews`]: crate::model::PageInput::renews
    pub fn outranking(&self, from: Sequence) -> Vec<Sequence> {
        let is_unstable = self.corpus_stats.as_ref().is_some_and(|corpus_stats| corpus_stats.measure().is_unstable());
        if !is_unstable {
            return Vec::new();
        }
        let rank = |page| self.log.get(page).map(|entry| entry.rank);
        let best = self.log.outranking(self.numbering.inside(from), rank);
        let mut pages: Vec<Sequence> = best.into_values().map(|(_, page)| self.numbering.outside(page)).collect();
        pages.sort_unstable();
        pages
    }

    /// Returns the stored pages that left the index for a page that outranks them, and were not decided again since:
    /// ascending. See [`Judged::displaced`](crate::model::Judged::displaced).
    pub fn displaced(&self) -> Vec<Sequence> {
        self.log.displaced().into_iter().map(|page| self.numbering.outside(page)).collect()
    }

    /// Returns the stored pages similar to a text whose word order is unknown, without deciding it.
    ///
    /// A second check that needs the word order requires a higher first score instead. Empty if the text has fewer
    /// terms than [`Options::min_terms`](crate::detect::Options::min_terms); exact copies are found like any other similar page.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn matches(&mut self, group: u32, terms: &[TermCounts], mode: Mode) -> Result<Vec<Match>, DetectError> {
        self.matches_filtered(group, terms, mode, &|_, _, _| true)
    }

    /// As [`matches`](Self::matches), of those that pass a filter: with [`Mode::Any`] the first that passes ends the
    /// search.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn matches_filtered(
        &mut self,
        group: u32,
        terms: &[TermCounts],
        mode: Mode,
        condition: &MatchFilter<'_>,
    ) -> Result<Vec<Match>, DetectError> {
        let terms = self.vocabulary.look_up_page(terms);
        let (page, _) = self.weigh(group, &terms, TermOrder::default());
        let (in_group, is_comparable) = (self.group(group), self.is_comparable(&page));
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &mut self.search) else { return Ok(Vec::new()) };
        if !is_comparable {
            return Ok(Vec::new());
        }
        let mode = if corpus_stats.measure().needs_all_matches() { Mode::All } else { mode };
        let query = MatchQuery { measure: corpus_stats.measure(), mode, threshold: self.options.bar(), condition };
        let needed = QueryPage { group: in_group, page: &page, prepared: &query.measure.prepare(&page) };
        let matches = search.find_matches(&query, needed, &self.log)?;
        Ok(matches.into_iter().map(|found| Match { of: self.numbering.outside(found.of), ..found }).collect())
    }

    /// Returns all stored pages that reach `threshold`, by rank, without taking the page in. Threads can share it.
    ///
    /// `threshold` need not be that of the options. Empty if the page has fewer terms than [`Options::min_terms`](crate::detect::Options::min_terms).
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn similar(
        &self,
        group: u32,
        terms: &[TermCounts],
        order: TermOrder,
        threshold: Threshold,
    ) -> Result<Vec<Match>, DetectError> {
        self.similar_numbered(group, &self.vocabulary.look_up_page(terms), order, threshold)
    }

    /// As [`similar`](Self::similar), for terms that the caller has numbered.
    ///
    /// # Errors
    /// As [`similar`](Self::similar).
    pub fn similar_numbered(
        &self,
        group: u32,
        terms: &PageTerms,
        order: TermOrder,
        threshold: Threshold,
    ) -> Result<Vec<Match>, DetectError> {
        let (page, _) = self.weigh(group, terms, order);
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &self.search) else { return Ok(Vec::new()) };
        if !self.is_comparable(&page) {
            return Ok(Vec::new());
        }
        let query =
            MatchQuery { measure: corpus_stats.measure(), mode: Mode::All, threshold, condition: &|_, _, _| true };
        let prepared = &query.measure.prepare(&page);
        let needed = QueryPage { group: self.group(group), page: &page, prepared };
        let matches = search.find_shared(&query, needed, &self.log)?;
        Ok(matches.into_iter().map(|found| Match { of: self.numbering.outside(found.of), ..found }).collect())
    }

    /// Compares a page with another one as if that were stored, with what is known by now. Neither is taken in.
    pub fn compare_numbered(&self, stored: &NumberedPage, page: &NumberedPage) -> PairComparison {
        let weigh = |page: &NumberedPage| {
            self.weigh(0, &page.terms, TermOrder { text: page.text.clone(), ..TermOrder::default() }).0
        };
        let (stored, page) = (weigh(stored), weigh(page));
        let Some(measure) = self.measure() else { return PairComparison::default() };
        let prepared = measure.prepare(&page);
        let is_comparable = self.is_comparable(&stored) && self.is_comparable(&page);
        let found = measure.compare_prepared(&page, &prepared, &stored, self.options.bar()).filter(|_| is_comparable);
        match found {
            Some(Similarity { score, difference, .. }) => PairComparison { is_match: true, score, difference },
            None => PairComparison {
                is_match: false,
                score: measure.first_score(&page, &stored).unwrap_or_default(),
                difference: measure.own_words(&page, &stored).map(|own| own.difference()),
            },
        }
    }
}
