//! The exact filter: a full inverted index from which each probe reads what it needs.
//!
//! **What the paper says.** Section 3: prefix filtering (records that share no rare term cannot be
//! similar), then positional filtering (bound the overlap by what is left after a shared term), both
//! by *counting* terms, equations (1)-(3).
//!
//! **Where we differ.** MWO weighs terms, so we bound mass, not counts; see [`Paper`](super::Paper)
//! for what counting loses. All terms are indexed, so neither a common order of terms nor stable
//! document frequencies are needed, and one index serves every threshold:
//!
//! 1. *Guess*: records that share rare terms with the probe are looked at first (`likely`).
//! 2. *Plan* (the prefix, restated): choose lists, and how deep each is read, until what stays
//!    unread is below the threshold (`plan`).
//! 3. *Accumulate*: a record met in a list gains `min(q_x, share) − θ_x`, the share rounded up to
//!    its class. Unseen mass plus gains bounds its overlap: records for which that reaches the goal
//!    are the candidates, C (`scan`). While they are so many that it pays, the plan grows and is read
//!    on, which leaves less unseen and fewer of them.
//! 4. *Sketch* (in place of the positional filter): those whose 64-byte sketch reaches the goal too
//!    are the mezzanine, M (`sketch`).
//! 5. *Narrow*: if mezzanine are many still, the lists of more terms are read, which leaves less unseen.
//!
//! All shares are rounded up, so nothing that matches is lost; nothing is decided here.
//!
//! # What it costs
//!
//! A probe plans in some 20 to 40 ns a term, then reads about a tenth of a posting for each stored
//! record at t = 0.8 and five at t = 0.5, a nanosecond or two each: beyond some 50,000 records the
//! cost is in proportion to their number. Memory: 4 to 5 bytes a posting, 2.1 in lists of more than
//! 16,384, 8 a term, 70 a record, and 3 to 5 a record for each thread that probes. Over a budget, the oldest
//! records leave the lists and are compared by their sketches, some nanoseconds each, with every probe.
//!
//! # What was learned
//!
//! Each of these was measured on 86,000 real pages and up to a million synthetic ones
//! (`cargo bench --bench index`).
//!
//! * *Memory decides.* Lists in one array each, whose places are asked for before any is read
//!   (`Lists::look_up`), are worth more than any cleverer plan.
//! * *Gaps, not appendices.* Postings that wait unsorted behind a list are read by every probe that
//!   wants its heavy end only: a few dozen are next to nothing, more are not. Gaps between the classes are read with it,
//!   too, but they are a tenth.
//!   Below 256 postings classes are not worth the moving.
//! * *Windows of 16-bit numbers* for the longest lists take half the memory; they are read least.
//! * *Plan in rounds.* Most of a page's terms are frequent, and their lists are never worth opening.
//!   Pricing the short lists first shows it without looking at what the long ones hold.
//! * *Sorting prices exactly* cost more than it saved; eight steps to an octave do.
//! * *Guessing first* decides most near-duplicates before anything is planned: a fifth of the mean
//!   time on a crawl in which every second page is one.
//! * *Read on while it pays.* How many candidates a plan leaves differs more from probe to probe than anything else. With
//!   as much read beyond need as was needed, a tenth of the probes at a million records had 25, half of them under a
//!   thousand, a hundredth 114,000: too much for most, too little for these. In stages, each begun only if it costs less
//!   than the candidates that are there, 1,774 are left on average instead of 4,335: 220 -> 194 µs, and 27.7 -> 25.8 at
//!   100,000 records. More stages, or candidates weighed half or twice as much, give the same. It doubles the time where
//!   a template is most of every page: there who is left passes the sketch, too, and has to be verified.
//! * *Setting gains back* list by list, or all at a stroke, is cheaper than starting each probe from a
//!   base above what the last one left: the one instruction more for each posting costs as much. One by itself takes
//!   a nanosecond, one of all a twenty-fourth.
//! * *Asking for sketches ahead*: at a million records half of a probe was spent on waiting for those of its candidates,
//!   one after the other. Read 32 at a time, before they were compared, they took 2 to 5 % longer.
//! * *Sums in the first cache are not what is missing.* All that packed lists add to folded onto 32 KB, which gives wrong
//!   answers, makes reading 7 % faster at a million records. So to read all lists window by window, 65,536 records at a time, was 4 to 5 %
//!   slower. In later stages to pass over records that are no candidates, told by a bit each, was a quarter slower: those
//!   lists are where the candidates are, and the branch is guessed wrong.
//! * *Comparing nothing while no sum can reach the mark*, the longest lists first, saves some percent.
//! * *Lists are asked for ahead*: where each begins before any is read, of the longest each class, and packed ones a
//!   kilobyte ahead of where they are read: together 2 to 9 % of a probe at a million records. Streams of the longest
//!   lists, asked for in the same way, give nothing more.
//! * *Of no use* at a hundred thousand records: more of each list's beginning fetched ahead.
//! * *A posting touches as little as can be.* To count it in the header of a long list's last window, thousands of
//!   words before the end, was a quarter of an insert at a million records. Postings that wait in the heads of all lists
//!   but the short ones (`waiting`), and a prefetch for slots and heads some dozen postings ahead (`prefetch`), took
//!   a third off what was left: 14.4 -> 9.8 µs at 100,000 records, 10.2 -> 7.0 at 400,000 on another machine, and 800
//!   terms of one weight are read in 1,150 µs instead of 1,690. Before, the places of four records were read together, a
//!   shape at a time. To ask for the streams' ends, too, when a head is about to be full, made an insert dearer;
//!   postings parted by the shape of their lists beforehand, so that no branch guesses wrong, were not worth the copy.
//! * *A list is worth what it tells apart.* What nearly every record gains tells none from another: where a template is
//!   three quarters of every page, its terms were the cheapest mass, and left nearly every page a candidate. With their
//!   price divided by the share of records that a list does not name, 40 of 20,000 were left there, and not 14,845; and
//!   *narrowing* takes a third off all matches at t = 0.5. Together 18,600 -> 160 µs, and 12.9 -> 9.2 ms.
//! * *Look afterwards where much is read.* Once more postings are read than there are records, all sums are looked at
//!   together at the end, and long lists are read class by class, so that a posting is an addition and nothing else:
//!   880 -> 610 µs where 800 terms weigh the same. Where 1,024 postings of a list are read, it
//!   pays in all plans, 3 % at a million records; short runs of one class cost more than they save.
//! * *Sums of eight bits, looked at afterwards*, from one posting in 24 records on (`coarse`). At a million records a third
//!   of the probes read one in 16 or more, and take half of the time. To look at each posting's sum was a third of
//!   reading: with a plan read on twice as eagerly these probes took 192 µs instead of 246 in one run, and with the last
//!   gain all took 157 instead of 172, mean of three pairs; 24 as before at 100,000. How many have reached the mark
//!   is told by one stride in 16. To find them costs 5 ns each where strides and then words with such sums are listed
//!   without a branch, 20 ns with branches, which are all guessed wrong: that was as dear as what it spared, and with 16
//!   bits, which take more than twice as long to look at, up to twice as dear.
//! * *Eight bits do not pay otherwise*: read as little, each posting looking at its sum, they cost what 16 do, and leave a
//!   twentieth more candidates; where 800 terms weigh the same three times the time, as each gain is less than a unit.
//! * *Noting candidates without a branch*, or by blocks of 16 or 64 postings, is a fifth slower at a million records,
//!   and to ask for sums ahead of their postings gains nothing. *The heads of middle lists ordered so* that what a posting
//!   touches is in one line gains nothing; nor do lists in order of what a gain takes there, so that fewer postings look.
//! * *Within the noise* of a machine whose memory others use, too: filing 256 records at a time grouped by term, as the
//!   pairs of term and class hardly repeat.
//! * *A sketch of 16 bytes in front* of the one of 64 spares five sixths of those, and 4 % of the time at most: what is
//!   spent is spent on asking memory for each candidate at all.
//! * *Huge pages* (`GLIBC_TUNABLES=glibc.malloc.hugetlb=1`) make probes at a million records 9 to 16 % faster in two
//!   pairs and an insert as much. Asked for from inside, with `madvise`, for slots, sketches, sums, and one large array
//!   with the blocks of all lists, they gain nothing: at 400,000 records an insert took 11.7 µs (median of eight) where an
//!   allocation for each list took 11.3, and a probe 178 where it took 142.
//! * *The newest postings of a class in its stream's head*, rather than those of all classes in the list's, make an insert
//!   up to a fifth cheaper and probes as much dearer: most runs that a probe reads are short, and so there is one more.
//! * *Finer classes* cost more to plan and to file than they save: with eighths of an octave a million records leave a
//!   third fewer candidates. In packed lists alone, where they would cost nothing (a bit more of each posting), they
//!   leave as many as before (4,122 of 4,126): who is read there gains the probe's own share, mostly.
//! * *A finer sketch* (1/4,096 instead of 1/2,048) is worse on real pages: more buckets overflow.
//! * *Not less than linear.* A probe has to see a fifth of its mass in lists, and on these sets lists
//!   grow with the store. Blocks with common bounds, pivots and pairs of terms were tried in a study
//!   before and lost. What helps past a million records is that probes run on all cores.

mod accumulate;
mod accumulators;
mod accumulators_u8;
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

use self::accumulate::Scan;
use self::impact_classes::MOST_RECORDS;
use self::memory::{heap_bytes, make_room};
use self::postings::Lists;
use self::quantize::{at_most, goal, shares_of};
use self::query_plan::Plan;
use self::sketch::{Sketch, Sketches};
use self::tuning::Tuning;
use super::{Candidate, CandidateIndex, ProbeCounters, Visit};
use crate::model::arrays::{read_array, read_number, write_array, write_number};
use crate::model::{Sequence, TermId, Threshold};

/// Loses no match, at any threshold.
#[derive(Debug, Default)]
pub struct InvertedIndex {
    lists: Lists,
    /// Inside, records are numbered in order of arrival: what each is called outside.
    ids: Vec<Sequence>,
    sketches: Sketches,
    fresh: Fresh,
    /// Records before this one have left the lists: they are compared sketch by sketch.
    listed_from: usize,
    /// Bytes that the index may take before it forgets lists; `None` for no limit.
    budget: Option<usize>,
}

/// Records that are not in the lists yet.
#[derive(Debug, Default)]
struct Fresh {
    shares: Vec<(TermId, u16)>,
    /// Where each record's shares end.
    ends: Vec<usize>,
}

/// Memory for one probe at a time.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    shares: Vec<(TermId, u16)>,
    plan: Plan,
    scan: Scan,
    likely: Vec<u32>,
    /// Record and what it gained.
    candidates: Vec<(u32, u16)>,
    /// Bound and record.
    mezzanine: Vec<(u32, u32)>,
}

impl CandidateIndex for InvertedIndex {
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]) {
        let first = self.fresh.shares.len();
        self.fresh.shares.extend(shares_of(terms));
        self.fresh.ends.push(self.fresh.shares.len());
        self.sketches.push(&Sketch::new(&self.fresh.shares[first..]));
        make_room(&mut self.ids);
        self.ids.push(id);
        if self.fresh.ends.len() > Tuning::UNFILED_LIMIT {
            self.settle();
        }
    }

    fn settle(&mut self) {
        if self.ids.len() > MOST_RECORDS {
            // Postings cannot name them. They stay fresh, and are found by their sketches.
            return;
        }
        let first = self.settled();
        let (shares, lists) = (&self.fresh.shares, &mut self.lists);
        let mut place = 0;
        for (&end, record) in self.fresh.ends.iter().zip(first as u32..) {
            for &(term, share) in &shares[place..end] {
                shares.get(place + Tuning::SLOTS_AHEAD).inspect(|ahead| lists.prefetch_slot(ahead.0));
                shares.get(place + Tuning::HEADS_AHEAD).inspect(|ahead| lists.prefetch_head(ahead.0));
                lists.push(term, record, share);
                place += 1;
            }
        }
        self.fresh.shares.clear();
        self.fresh.ends.clear();
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
        // Either way the counters tell what was done.
        let _ = probe.all();
        probe.counters
    }

    fn probe_fresh(
        &self,
        scratch: &mut super::Scratch,
        from: usize,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters {
        let mut probe = Probe::new(self, &mut scratch.exact, terms, threshold, visit);
        let _ = probe.fresh(from);
        probe.counters
    }

    fn probes_add_up(&self) -> bool {
        true
    }

    fn set_budget(&mut self, bytes: usize) {
        self.budget = Some(bytes);
        self.keep_to_budget();
    }

    fn unlisted(&self) -> usize {
        self.listed_from
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.ids.iter().map(|id| id.0).collect::<Vec<_>>())?;
        self.sketches.save(out)?;
        self.lists.save(out)?;
        write_number(out, self.listed_from as u64)?;
        write_array(out, &self.fresh.ends.iter().map(|&end| end as u64).collect::<Vec<_>>())?;
        write_array(out, &self.fresh.shares.iter().map(|(term, _)| term.0).collect::<Vec<_>>())?;
        write_array(out, &self.fresh.shares.iter().map(|&(_, share)| share).collect::<Vec<_>>())
    }

    fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let ids: Vec<u32> = read_array(input)?;
        let (sketches, lists) = (Sketches::load(input)?, Lists::load(input)?);
        let listed_from = read_number::<u64>(input)? as usize;
        let ends: Vec<u64> = read_array(input)?;
        let (terms, shares): (Vec<u32>, Vec<u16>) = (read_array(input)?, read_array(input)?);
        let fresh = Fresh {
            shares: terms.into_iter().map(TermId).zip(shares).collect(),
            ends: ends.into_iter().map(|end| end as usize).collect(),
        };
        let ids = ids.into_iter().map(Sequence).collect();
        *self = Self { lists, ids, sketches, fresh, listed_from, budget: self.budget };
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
            + heap_bytes(&self.fresh.shares)
            + heap_bytes(&self.fresh.ends)
    }
}

impl InvertedIndex {
    /// Records that are in the lists.
    fn settled(&self) -> usize {
        self.ids.len() - self.fresh.ends.len()
    }

    /// Takes the oldest records out of the lists when the budget is exceeded, until a fifth of what
    /// the lists may take is free again: it costs a pass over all lists, so it must not happen often.
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

/// Those that are likest first.
fn by_bound(&(bound, record): &(u32, u32)) -> (Reverse<u32>, u32) {
    (Reverse(bound), record)
}

#[cfg(test)]
impl Scratch {
    pub(super) fn is_clear(&self) -> bool {
        self.scan.is_clear()
    }
}

/// One probe on its way.
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
        self.fresh(0)
    }

    /// Looks at the records that share rare terms.
    fn likely(&mut self) -> ControlFlow<()> {
        rare_term_probe::find(&self.scratch.shares, &self.index.lists, &mut self.scratch.likely);
        for place in 0..self.scratch.likely.len() {
            let record = self.scratch.likely[place];
            self.look_at(record)?;
        }
        ControlFlow::Continue(())
    }

    /// Looks at the records that the planned lists bring up, by falling bound.
    fn listed(&mut self) -> ControlFlow<()> {
        let Scratch { shares, plan, scan, likely, candidates, mezzanine } = &mut *self.scratch;
        let (lists, goal) = (&self.index.lists, self.goal);
        plan.make(shares, lists, self.index.settled(), goal);
        scan.read(lists, plan, self.index.settled(), (goal - plan.unseen()) as u16);
        while plan.deepen(|| scan.cost_of_reached()) {
            scan.read_on(lists, plan, (goal - plan.unseen()) as u16);
        }
        let unseen = plan.unseen();
        candidates.clear();
        scan.drain(lists, plan, |record, gained| candidates.push((record, gained)));
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
        let (postings, candidates) = scan.counts();
        self.counters.postings += postings;
        self.counters.sketches += candidates;
        self.counters.candidates += candidates;
        let few = mezzanine.len().min(Tuning::SHOWN_FIRST);
        if few < mezzanine.len() {
            mezzanine.select_nth_unstable_by_key(few, by_bound);
        }
        mezzanine[..few].sort_unstable_by_key(by_bound);
        self.show_candidates(0..few)?;
        self.refine(few);
        self.show_candidates(few..self.scratch.mezzanine.len())
    }

    /// Orders the mezzanine behind the first `shown`. If they are many, reads the lists of more terms, and drops those
    /// that gain too little there.
    ///
    /// Where a template is three quarters of every page, all pages' sketches are alike, and a plan that reads no
    /// more than it must leaves most pages a chance. To compare one takes as long as a thousand postings.
    fn refine(&mut self, shown: usize) {
        let Scratch { shares, plan, scan, mezzanine, .. } = &mut *self.scratch;
        let (lists, records) = (&self.index.lists, self.index.settled());
        let left = mezzanine.len() - shown;
        if left >= Tuning::SHOWN_FIRST {
            plan.make_whole(shares, lists, records, left as u64 * Tuning::POSTINGS_PER_COMPARISON);
        }
        if left >= Tuning::SHOWN_FIRST && plan.unseen() < self.goal {
            scan.read(lists, plan, records, (self.goal - plan.unseen()) as u16);
            let mut place = 0;
            mezzanine.retain_mut(|(bound, record)| {
                place += 1;
                *bound = (*bound).min(plan.unseen() + u32::from(scan.gained(*record)));
                place <= shown || *bound >= self.goal
            });
            scan.drain(lists, plan, |_, _| {});
            self.counters.postings += scan.counts().0;
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

    /// Looks at the records that have left the lists, in order.
    fn unlisted(&mut self) -> ControlFlow<()> {
        (0..self.index.listed_from).try_for_each(|record| self.look_at(record as u32))
    }

    /// Looks at the records that are not in the lists yet, from number `from` on, in order.
    fn fresh(&mut self, from: usize) -> ControlFlow<()> {
        for record in self.index.settled().max(from)..self.index.len() {
            self.look_at(record as u32)?;
        }
        ControlFlow::Continue(())
    }

    /// Compares sketches, and shows the record if its bound reaches the goal.
    fn look_at(&mut self, record: u32) -> ControlFlow<()> {
        self.counters.sketches += 1;
        self.counters.candidates += 1;
        self.show(record, self.index.sketches.bound(&self.sketch, record as usize))
    }

    /// Hands the record over if its bound still reaches the goal, which may then rise.
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
