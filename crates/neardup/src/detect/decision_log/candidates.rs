//! Which decisions may be made once more.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::withdrawals::WithdrawnPages;
use super::{DecisionLog, Entry};
use crate::model::{DecidedBy, Digest, Sequence, Verdict};

/// The duplicate of the highest rank that outranks a stored page, and its rank.
pub(in crate::detect) type BestDuplicate = (u8, Sequence);

/// Tells which decisions are to be looked at again: near-duplicates that were found by comparison and have not been decided
/// again, from a page on, and earlier ones whose original was withdrawn since.
#[derive(Clone, Debug)]
struct Suspicion {
    from: Sequence,
    renewed: HashSet<Sequence>,
    withdrawn: WithdrawnPages,
    is_any_withdrawn: bool,
}

impl Suspicion {
    /// Returns the first page that may be looked at again.
    fn first(&self) -> Sequence {
        if self.is_any_withdrawn { Sequence(0) } else { self.from }
    }

    /// Returns whether a decision is to be looked at again.
    fn concerns(&self, page: Sequence, verdict: &Verdict) -> bool {
        let is_withdrawn = |page| self.withdrawn.is_withdrawn(page);
        let names_withdrawn = || self.is_any_withdrawn && verdict.duplicate_of().is_some_and(is_withdrawn);
        verdict.is_by_similarity()
            && (page >= self.from || names_withdrawn())
            && !self.renewed.contains(&page)
            && !is_withdrawn(page)
    }
}

impl DecisionLog {
    /// Returns near-duplicates that were found by comparison and are to be [looked at again](Suspicion).
    pub(in crate::detect) fn compared_duplicates(&self, from: Sequence) -> impl Iterator<Item = (Sequence, &Entry)> {
        let suspicion = self.suspicion(from);
        let first = suspicion.first();
        let entries = (first.0..).map(Sequence).zip(self.entries.iter().skip(first.index()));
        entries.filter(move |(number, entry)| suspicion.concerns(*number, &entry.verdict))
    }

    /// Returns which decisions are to be looked at again.
    fn suspicion(&self, from: Sequence) -> Suspicion {
        Suspicion {
            from,
            renewed: self.renewed_pages(),
            withdrawn: self.withdrawn.clone(),
            is_any_withdrawn: self.withdrawn.is_any_since(from),
        }
    }

    /// Returns, of each stored page, the first duplicate of the highest rank from a number on that outranks it and was
    /// not decided again. Pages of other bytes only.
    ///
    /// `rank` returns that of a stored page.
    pub(in crate::detect) fn outranking(
        &self,
        from: Sequence,
        rank: impl Fn(Sequence) -> Option<u8>,
    ) -> BTreeMap<Sequence, BestDuplicate> {
        let concerned = self.renewed_pages();
        let mut best = BTreeMap::<Sequence, BestDuplicate>::new();
        for (number, entry) in (0..).map(Sequence).zip(&self.entries) {
            let of = match entry.verdict {
                Verdict::NearDuplicate { of, decided_by: DecidedBy::Similarity, .. }
                | Verdict::ExactDuplicate { of, decided_by: DecidedBy::TextDigest } => of,
                _ => continue,
            };
            let is_passed_over = number < from || concerned.contains(&number) || self.withdrawn.is_withdrawn(number);
            let is_outranked = || rank(of).is_some_and(|stored| stored < entry.rank);
            if !is_passed_over && is_outranked() && self.withdrawn.may_be_displaced(of) {
                let known = best.entry(of).or_insert((entry.rank, number));
                if known.0 < entry.rank {
                    *known = (entry.rank, number);
                }
            }
        }
        best
    }

    /// Returns these pages and those that inherited a verdict from them, ascending. Cost: one pass over all entries.
    pub(in crate::detect) fn with_inheritors(&self, pages: HashSet<Sequence>) -> Vec<Sequence> {
        let entries = pages.iter().filter_map(|page| Some((page, self.get(*page)?)));
        let digests = entries.flat_map(|(_, entry)| {
            [Some(entry.body_digest), entry.text_digest].into_iter().flatten().map(|digest| (entry.group, digest))
        });
        let digests: HashMap<(u32, Digest), ()> = digests.map(|digest| (digest, ())).collect();
        let mut wanted = pages;
        wanted.extend(self.inheritors(&digests).into_iter().map(|(page, ())| page));
        let mut wanted: Vec<Sequence> = wanted.into_iter().collect();
        wanted.sort_unstable();
        wanted
    }

    /// Returns the pages that inherited a verdict by one of these bodies and texts and were not decided again. Cost: one pass over all entries.
    fn inheritors<T: Copy>(&self, digests: &HashMap<(u32, Digest), T>) -> Vec<(Sequence, T)> {
        if digests.is_empty() {
            return Vec::new();
        }
        let concerned = self.renewed_pages();
        let inherited = |entry: &Entry| match entry.verdict {
            Verdict::NearDuplicate { decided_by: DecidedBy::BodyDigest, .. } => Some(entry.body_digest),
            Verdict::NearDuplicate { decided_by: DecidedBy::TextDigest, .. } => entry.text_digest,
            _ => None,
        };
        let numbered = (0..).map(Sequence).zip(&self.entries);
        let wanted = numbered.filter_map(|(number, entry)| {
            let told = *digests.get(&(entry.group, inherited(entry)?))?;
            let is_passed_over = concerned.contains(&number) || self.withdrawn.is_withdrawn(number);
            (!is_passed_over).then_some((number, told))
        });
        wanted.collect()
    }

    /// Returns the stored pages that left for one of higher rank and were not decided again, ascending.
    pub(in crate::detect) fn displaced(&self) -> Vec<Sequence> {
        let earlier: HashSet<Sequence> = self.renewals.iter().map(|(_, earlier)| *earlier).collect();
        let mut displaced = self.withdrawn.displaced().to_vec();
        displaced.retain(|page| !earlier.contains(page));
        displaced.sort_unstable();
        displaced
    }

    /// Returns the earlier and the later numbers of pages that were decided again.
    fn renewed_pages(&self) -> HashSet<Sequence> {
        self.renewals.iter().flat_map(|&(number, earlier)| [number, earlier]).collect()
    }
}
