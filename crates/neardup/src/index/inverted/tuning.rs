//! What can be tuned in the index: these values change time and memory, never a result.
//!
//! Values are from `cargo bench --bench index`; `docs/design/index.md` tells what was tried. Constants that are part
//! of a data structure's layout are kept beside it: impact classes, the sketch, the lengths at which a list changes
//! its shape, write buffers, windows and the price scale.

/// The values that were chosen by measurement.
pub(super) struct Tuning;

/// Inserting.
impl Tuning {
    /// Records; more unfiled records than this are filed at once, since each probe compares all of them.
    pub(super) const UNFILED_LIMIT: usize = 256;
    /// Postings; how long before it is filed a posting's slot is prefetched, to hide a memory access.
    pub(super) const SLOTS_AHEAD: usize = 48;
    /// Postings; how long before it is filed the head of its list is prefetched, once the slot is there.
    pub(super) const HEADS_AHEAD: usize = 32;
    /// One part of an array's length; a full array grows by this share, so that no more lies idle.
    pub(super) const ARRAY_GROWTH_DIVISOR: usize = 8;
    /// Elements; the least by which a full array grows, so that small arrays are not moved each time.
    pub(super) const ARRAY_GROWTH_LEAST: usize = 4;
    /// One part of a class's postings; a gap holds these plus a square root, so that classes fill up together.
    pub(super) const GAP_DIVISOR: u16 = 6;
    /// Fifths; share of the lists' memory kept when the limit is exceeded, since dropping costs a pass over all lists.
    pub(super) const KEPT_FIFTHS: u128 = 4;
}

/// Looking first at records that share rare terms.
impl Tuning {
    /// Postings; a longer list is not rare.
    pub(super) const RARE_LIST_LONGEST: usize = 8;
    /// Postings; no more are counted, so that the attempt stays below a microsecond.
    pub(super) const RARE_POSTINGS: usize = 64;
    /// Records; only the best are compared, since a near-duplicate is among them or none is.
    pub(super) const RARE_RECORDS: usize = 4;
}

/// Planning.
impl Tuning {
    /// Postings; what opening a list costs, as a memory access takes as long.
    pub(super) const OPENING_COST: u32 = 16;
    /// Percent of the postings that must be read; so many more are read, to leave fewer candidates.
    pub(super) const MORE_PERCENT: u64 = 100;
    /// Postings; shorter lists are planned in [larger steps](Self::SHORT_LIST_STEP), as finer choices cost more.
    pub(super) const FINE_STEPS_FROM: u32 = 4096;
    /// Impact classes between two depths at which a shorter list may be read.
    pub(super) const SHORT_LIST_STEP: usize = 4;
    /// Impact classes between two depths at which a longer list may be read.
    pub(super) const LONG_LIST_STEP: usize = 2;
    /// A share of the records; the least by which a price is divided, so that it stays finite.
    pub(super) const DISCRIMINATION_LEAST: f32 = 1.0 / 64.0;
}

/// Reading lists.
impl Tuning {
    /// Postings; a longer read goes class by class, which spares looking up each gain.
    pub(super) const READ_BY_CLASS_FROM: u32 = 1024;
    /// Cache lines; how much of a list's beginning is prefetched, until the hardware follows.
    pub(super) const LIST_START_LINES: usize = 8;
    /// Bytes; how far ahead a list is prefetched while it is read: some hundred nanoseconds of reading.
    pub(super) const LIST_BYTES_AHEAD: usize = 1024;
    /// Sums; how many are checked together: at a million records one block in nine holds a candidate.
    pub(super) const SUMS_PER_BLOCK: usize = 64;
    /// Sums; how many are reset together in the time of a single one, which takes a nanosecond.
    pub(super) const RESETS_SIDE_BY_SIDE: usize = 24;
}

/// Dropping candidates.
impl Tuning {
    /// Candidates; how long before it is compared a sketch is prefetched.
    pub(super) const SKETCHES_AHEAD: usize = 24;
    /// Postings; how many may be read to spare an exact comparison: four times as many cost what they spare.
    pub(super) const POSTINGS_PER_COMPARISON: u64 = 256;
    /// Eighths of the records; refining reads no list that names more, since it tells none from another.
    pub(super) const REFINE_EIGHTHS: usize = 7;
}
