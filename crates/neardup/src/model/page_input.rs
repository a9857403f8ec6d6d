//! The decider's input and output for one page.

use super::{Digest, PageId, PageTerms, Sequence, Term, TermCounts, TermOrder, Verdict};

/// A page to decide about, without URL, time or runtime.
#[derive(Clone, Debug)]
pub struct PageInput {
    /// The page's deterministic name.
    pub page: PageId,
    /// The page's group (its host), an opaque number.
    pub group: u32,
    /// Digest of the body.
    pub body_digest: Digest,
    /// Digest of the visible text; `None` if there is none.
    pub text_digest: Option<Digest>,
    /// The distinct terms and their field counts.
    pub terms: Vec<TermCounts>,
    /// The order of the terms, as far as the detector needs it.
    pub order: TermOrder,
    /// The earlier near-duplicate verdict on this page that the new one replaces. Pages that inherited the earlier
    /// verdict by their bytes or text no longer inherit it.
    ///
    /// If the page outranks the stored page that the earlier verdict names, that page leaves the index for it: see
    /// [`Judged::displaced`]. If the earlier verdict was *unique*, the page it was given to leaves the index.
    pub renews: Option<Sequence>,
    /// Which of two copies should be the stored one: that of the higher rank. An opaque number, up to
    /// [`CHOSEN`](Self::CHOSEN).
    pub rank: u8,
}

impl PageInput {
    /// The [rank](Self::rank) of a page that is stored because somebody chose it: it outranks all others, and those that
    /// were chosen before. Copies that are decided again inherit from it.
    pub const CHOSEN: u8 = u8::MAX - 1;
}

/// The decider's result for one page.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The page's name.
    pub page: PageId,
    /// The page's place in the order of decisions.
    pub sequence: Sequence,
    /// Unique, or the page that it repeats.
    pub verdict: Verdict,
    /// The record for the log: terms ascending by id, with field counts.
    pub terms: PageTerms,
    /// The order of the terms, for the log.
    pub order: TermOrder,
    /// Terms below this weight, in hundredths, do not take part in the comparison; 0 for all terms.
    pub least_weight: u32,
    /// Terms that appeared for the first time on this page, in the order of their ids.
    pub new_terms: Vec<Term>,
    /// Whether the decider has decided this page before; then the log has everything but the verdict.
    pub redelivered: bool,
    /// The stored page of lower rank that left the index for this one. It has to be decided again next, with
    /// [`PageInput::renews`].
    pub displaced: Option<Sequence>,
}

/// A page that was decided before, as a log holds it.
#[derive(Clone, Copy, Debug)]
pub struct JudgedPage<'a> {
    /// The page's deterministic name.
    pub page: PageId,
    /// The page's group (its host), an opaque number.
    pub group: u32,
    /// Digest of the body.
    pub body_digest: Digest,
    /// Digest of the visible text; `None` if there is none.
    pub text_digest: Option<Digest>,
    /// The decision.
    pub verdict: Verdict,
    /// The distinct terms, ascending by id, with their field counts.
    pub terms: &'a PageTerms,
    /// See [`Judged::least_weight`].
    pub least_weight: u32,
    /// The order of the terms, as far as the detector reads it.
    pub order: &'a TermOrder,
    /// The same page as it was decided before.
    pub renews: Option<Sequence>,
    /// See [`PageInput::rank`].
    pub rank: u8,
}
