//! The exact index: a full inverted index from which each probe reads only what it needs.
//!
//! **The paper.** Section 3: prefix filtering (records that share no rare term cannot be similar), then positional
//! filtering (bound the overlap by what is left after a shared term). Both *count* terms, equations (1) to (3).
//!
//! **The difference.** MWO weighs terms, so this index bounds weight, not counts;
//! [`PrefixFilter`](super::PrefixFilter) tells what counting loses. All terms are indexed, so no common order of
//! terms is needed, and one index serves every threshold:
//!
//! 1. *Guess* (`rare_term_probe`): look first at records that share rare terms with the probe.
//! 2. *Plan* (`query_plan`, the prefix restated): choose lists, and how deep to read each, until the unread
//!    weight is below the threshold.
//! 3. *Accumulate* (`accumulate`): a record met in a list gains `min(q_x, share) − θ_x`, its share rounded up to
//!    its class. The unread weight plus the gains bounds the overlap; records that can reach the goal are
//!    the candidates, C.
//! 4. *Sketch* (`sketch`, in place of the positional filter): candidates whose 64-byte sketch reaches the goal
//!    are the mezzanine, M.
//! 5. *Refine*: if many are left, read the lists of more terms, which lowers the bounds.
//!
//! All shares are rounded up, so no match is lost. The index decides nothing.
//!
//! **Cost.** A probe plans in 20 to 40 ns a term. It then reads about 0.1 postings for each stored record at t = 0.8,
//! and five at t = 0.5, at 1 to 2 ns each. Beyond about 50,000 records the cost is proportional to their number.
//! Above the memory limit the oldest records leave the lists; each probe compares their sketches, at a few
//! nanoseconds each.
//!
//! **Memory.** 4 to 5 bytes a posting (2.1 in lists of more than 16,384), 8 a term, 70 a record, and 2 to 6 a record
//! for each thread that probes.
//!
//! Measurements and rejected ideas: `docs/design/index.md`. Tunable values: `tuning`.

mod accumulate;
mod accumulators;
mod cost_curve;
mod cost_histogram;
mod impact_classes;
mod memory;
mod postings;
mod postings_by_impact;
mod postings_small;
mod postings_windowed;
mod prefetch;
mod quantize;
mod query_plan;
mod rare_term_probe;
mod sketch;
mod tuning;
mod write_buffer;

use std::cmp::Reverse;
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};

use self::accumulate::Accumulation;
use self::impact_classes::MOST_RECORDS;
use self::memory::{heap_bytes, make_room};
use self::postings::InvertedLists;
use self::quantize::{at_most, goal, shares_of};
use self::query_plan::QueryPlan;
use self::sketch::{Sketch, Sketches};
use self::tuning::Tuning;
use super::{Candidate, CandidateIndex, ProbeCounters, Visit};
use crate::model::arrays::{read_array, read_number, write_array, write_number};
use crate::model::{Sequence, TermId, Threshold};

/// An inverted index that loses no match, at any threshold.
#[derive(Debug)]
pub struct InvertedIndex {
    lists: InvertedLists,
    /// The caller's number of each record; inside, records are numbered in order of insertion.
    ids: Vec<Sequence>,
    sketches: Sketches,
    unfiled: UnfiledRecords,
    /// Records before this one have left the lists: they are compared by sketch only.
    listed_from: usize,
    /// Memory limit in bytes; `None` for no limit.
    budget: Option<usize>,
    /// Candidates shown before anything is done to have fewer of them.
    shown_first: usize,
}

impl Default for InvertedIndex {
    fn default() -> Self {
        Self::showing_first(64)
    }
}

/// Records that are not in the lists yet.
#[derive(Debug, Default)]
struct UnfiledRecords {
    shares: Vec<(TermId, u16)>,
    /// End of each record's shares.
    ends: Vec<usize>,
}

/// Working memory of one probe at a time.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    shares: Vec<(TermId, u16)>,
    plan: QueryPlan,
    sums: Accumulation,
    likely: Vec<u32>,
    /// Record and gain.
    candidates: Vec<(u32, u16)>,
    /// Bound and record.
    mezzanine: Vec<(u32, u32)>,
}

impl CandidateIndex for InvertedIndex {
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]) {
        let first = self.unfiled.shares.len();
        self.unfiled.shares.extend(shares_of(terms));
        self.unfiled.ends.push(self.unfiled.shares.len());
        self.sketches.push(&Sketch::new(&self.unfiled.shares[first..]));
        make_room(&mut self.ids);
        self.ids.push(id);
        if self.unfiled.ends.len() > Tuning::UNFILED_LIMIT {
            self.file_records();
        }
    }

    fn file_records(&mut self) {
        if self.ids.len() > MOST_RECORDS {
            // Postings cannot name more records. These stay unfiled and are compared by sketch.
            return;
        }
        let first = self.settled();
        let (shares, lists) = (&self.unfiled.shares, &mut self.lists);
        let mut place = 0;
        for (&end, record) in self.unfiled.ends.iter().zip(first as u32..) {
            for &(term, share) in &shares[place..end] {
                shares.get(place + Tuning::SLOTS_AHEAD).inspect(|ahead| lists.prefetch_slot(ahead.0));
                shares.get(place + Tuning::HEADS_AHEAD).inspect(|ahead| lists.prefetch_head(ahead.0));
                lists.push(term, record, share);
                place += 1;
            }
        }
        self.unfiled.shares.clear();
        self.unfiled.ends.clear();
        self.keep_to_budget();
    }

    fn probe(
        &self,
        scratch: &mut super::Scratch,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters {
        let mut probe = Probe::new(self, &mut scratch.exact, terms, threshold, visit);
        // `Break` only means that the caller stopped: the counters are valid either way.
        let _ = probe.all();
        probe.counters
    }

    fn probe_since(
        &self,
        scratch: &mut super::Scratch,
        from: usize,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters {
        let mut probe = Probe::new(self, &mut scratch.exact, terms, threshold, visit);
        let _ = probe.since(from);
        probe.counters
    }

    fn can_split_probes(&self) -> bool {
        true
    }

    fn set_memory_limit(&mut self, bytes: usize) {
        self.budget = Some(bytes);
        self.keep_to_budget();
    }

    fn sketch_only(&self) -> usize {
        self.listed_from
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.ids.iter().map(|id| id.0).collect::<Vec<_>>())?;
        self.sketches.save(out)?;
        self.lists.save(out)?;
        write_number(out, self.listed_from as u64)?;
        write_array(out, &self.unfiled.ends.iter().map(|&end| end as u64).collect::<Vec<_>>())?;
        write_array(out, &self.unfiled.shares.iter().map(|(term, _)| term.0).collect::<Vec<_>>())?;
        write_array(out, &self.unfiled.shares.iter().map(|&(_, share)| share).collect::<Vec<_>>())
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let ids: Vec<u32> = read_array(input)?;
        let (sketches, lists) = (Sketches::load(input)?, InvertedLists::load(input)?);
        let listed_from = read_number::<u64>(input)? as usize;
        let ends: Vec<u64> = read_array(input)?;
        let (terms, shares): (Vec<u32>, Vec<u16>) = (read_array(input)?, read_array(input)?);
        let unfiled = UnfiledRecords {
            shares: terms.into_iter().map(TermId).zip(shares).collect(),
            ends: ends.into_iter().map(|end| end as usize).collect(),
        };
        let ids = ids.into_iter().map(Sequence).collect();
        let (budget, shown_first) = (self.budget, self.shown_first);
        *self = Self { lists, ids, sketches, unfiled, listed_from, budget, shown_first };
        self.keep_to_budget();
        Ok(())
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn bytes(&self) -> usize {
        self.lists.bytes()
            + heap_bytes(&self.ids)
            + self.sketches.bytes()
            + heap_bytes(&self.unfiled.shares)
            + heap_bytes(&self.unfiled.ends)
    }
}

impl InvertedIndex {
    /// Creates an index whose probes show so many candidates before anything is done to have fewer of them.
    pub(in crate::index) fn showing_first(candidates: usize) -> Self {
        Self {
            lists: InvertedLists::default(),
            ids: Vec::new(),
            sketches: Sketches::default(),
            unfiled: UnfiledRecords::default(),
            listed_from: 0,
            budget: None,
            shown_first: candidates,
        }
    }

    /// Returns the number of records that were filed.
    fn settled(&self) -> usize {
        self.ids.len() - self.unfiled.ends.len()
    }

    /// Removes the oldest records from the lists if the memory limit is exceeded.
    ///
    /// It frees a fifth of what the lists may take: a removal costs a pass over all lists, so it must be rare.
    fn keep_to_budget(&mut self) {
        let Some(budget) = self.budget.filter(|&budget| self.bytes() > budget) else { return };
        let lists = self.lists.bytes();
        let listed = self.settled() - self.listed_from;
        let allowed = (budget + lists).saturating_sub(self.bytes());
        let kept = (listed as u128 * allowed as u128 * Tuning::KEPT_FIFTHS / (5 * lists.max(1) as u128)) as usize;
        if kept < listed {
            self.listed_from = self.settled() - kept;
            self.lists.forget_before(self.listed_from as u32);
        }
    }
}

/// Returns the sort key: the highest bound first.
fn by_bound(&(bound, record): &(u32, u32)) -> (Reverse<u32>, u32) {
    (Reverse(bound), record)
}

#[cfg(test)]
impl Scratch {
    pub(super) fn is_clear(&self) -> bool {
        self.sums.is_clear()
    }
}

/// One running probe.
struct Probe<'a, 'v> {
    index: &'a InvertedIndex,
    scratch: &'a mut Scratch,
    sketch: Sketch,
    goal: u32,
    counters: ProbeCounters,
    visit: &'a mut Visit<'v>,
}

impl<'a, 'v> Probe<'a, 'v> {
    fn new(
        index: &'a InvertedIndex,
        scratch: &'a mut Scratch,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &'a mut Visit<'v>,
    ) -> Self {
        scratch.shares.clear();
        scratch.shares.extend(shares_of(terms));
        scratch.likely.clear();
        let sketch = Sketch::new(&scratch.shares);
        Self { index, scratch, sketch, goal: goal(threshold), counters: ProbeCounters::default(), visit }
    }

    fn all(&mut self) -> ControlFlow<()> {
        if self.scratch.shares.is_empty() {
            return ControlFlow::Break(());
        }
        self.likely()?;
        self.listed()?;
        self.unlisted()?;
        self.since(self.index.settled())
    }

    /// Shows the records that share rare terms.
    fn likely(&mut self) -> ControlFlow<()> {
        rare_term_probe::find(&self.scratch.shares, &self.index.lists, &mut self.scratch.likely);
        for place in 0..self.scratch.likely.len() {
            let record = self.scratch.likely[place];
            self.compare_sketch(record)?;
        }
        ControlFlow::Continue(())
    }

    /// Shows the records that the planned lists bring up, by falling bound.
    fn listed(&mut self) -> ControlFlow<()> {
        let Scratch { shares, plan, sums, likely, candidates, mezzanine, .. } = &mut *self.scratch;
        let (lists, goal) = (&self.index.lists, self.goal);
        plan.make(shares, lists, self.index.settled(), goal);
        sums.read(lists, plan, self.index.settled(), (goal - plan.unseen()) as u16);
        let unseen = plan.unseen();
        candidates.clear();
        sums.drain(lists, plan, |record, gained| candidates.push((record, gained)));
        let first = &candidates[..candidates.len().min(Tuning::SKETCHES_AHEAD)];
        first.iter().for_each(|&(record, _)| self.index.sketches.prefetch(record as usize));
        mezzanine.clear();
        for (place, &(record, gained)) in candidates.iter().enumerate() {
            candidates
                .get(place + Tuning::SKETCHES_AHEAD)
                .inspect(|ahead| self.index.sketches.prefetch(ahead.0 as usize));
            let bound = self.index.sketches.bound(&self.sketch, record as usize).min(unseen + u32::from(gained));
            if bound >= goal && !likely.contains(&record) {
                mezzanine.push((bound, record));
            }
        }
        let (postings, candidates) = sums.counts();
        self.counters.postings += postings;
        self.counters.sketches += candidates;
        self.counters.candidates += candidates;
        let few = mezzanine.len().min(self.index.shown_first);
        if few < mezzanine.len() {
            mezzanine.select_nth_unstable_by_key(few, by_bound);
        }
        mezzanine[..few].sort_unstable_by_key(by_bound);
        self.show_candidates(0..few)?;
        self.drop_low(few);
        self.refine(few);
        self.show_candidates(few..self.scratch.mezzanine.len())
    }

    /// Drops the records behind the first `shown` that are below the goal by now.
    fn drop_low(&mut self, shown: usize) {
        let (goal, mut place) = (self.goal, 0);
        self.scratch.mezzanine.retain(|&(bound, _)| {
            place += 1;
            place <= shown || bound >= goal
        });
    }

    /// Sorts the mezzanine behind the first `shown`, after dropping records if many are left.
    ///
    /// Where a template is three quarters of every page, all sketches are alike, and the cheapest plan leaves most
    /// pages as candidates. Comparing one exactly takes as long as a thousand postings. So the lists of more terms
    /// are read first.
    fn refine(&mut self, shown: usize) {
        let Scratch { shares, plan, sums, mezzanine, .. } = &mut *self.scratch;
        let (lists, records, shown_first) = (&self.index.lists, self.index.settled(), self.index.shown_first);
        let left = mezzanine.len() - shown;
        if left >= shown_first {
            plan.plan_whole_lists(shares, lists, records, left as u64 * Tuning::POSTINGS_PER_COMPARISON);
        }
        if left >= shown_first && plan.unseen() < self.goal {
            sums.read(lists, plan, records, (self.goal - plan.unseen()) as u16);
            let mut place = 0;
            mezzanine.retain_mut(|(bound, record)| {
                place += 1;
                *bound = (*bound).min(plan.unseen() + u32::from(sums.gained(*record)));
                place <= shown || *bound >= self.goal
            });
            sums.drain(lists, plan, |_, _| {});
            self.counters.postings += sums.counts().0;
        }
        mezzanine[shown..].sort_unstable_by_key(by_bound);
    }

    fn show_candidates(&mut self, places: Range<usize>) -> ControlFlow<()> {
        for place in places {
            let (bound, record) = self.scratch.mezzanine[place];
            self.show(record, bound)?;
        }
        ControlFlow::Continue(())
    }

    /// Shows the records that have left the lists, in order.
    fn unlisted(&mut self) -> ControlFlow<()> {
        (0..self.index.listed_from).try_for_each(|record| self.compare_sketch(record as u32))
    }

    /// Shows the records from number `from` on, in order.
    fn since(&mut self, from: usize) -> ControlFlow<()> {
        for record in from..self.index.len() {
            self.compare_sketch(record as u32)?;
        }
        ControlFlow::Continue(())
    }

    /// Compares sketches, and shows the record if its bound reaches the goal.
    fn compare_sketch(&mut self, record: u32) -> ControlFlow<()> {
        self.counters.sketches += 1;
        self.counters.candidates += 1;
        self.show(record, self.index.sketches.bound(&self.sketch, record as usize))
    }

    /// Passes the record to the caller if its bound still reaches the goal, which may then rise.
    fn show(&mut self, record: u32, bound: u32) -> ControlFlow<()> {
        if bound < self.goal {
            return ControlFlow::Continue(());
        }
        self.counters.mezzanine += 1;
        let candidate = Candidate { id: self.index.ids[record as usize], at_most: at_most(bound) };
        let threshold = (self.visit)(candidate)?;
        self.goal = self.goal.max(goal(threshold));
        ControlFlow::Continue(())
    }
}
