//! Turns: numbered groups of pages that are decided together, by an index in pieces.
//!
//! 1. Each [`Piece`](super::Piece) [replies](super::Piece::reply) to the pages of a turn with what was stored before it.
//! 2. [`settle_turn`](super::settle_turn) takes all replies, compares the pages of the turn with each other, and decides them in order.
//! 3. Each piece takes in [its pages](super::Piece::apply), and each process [learns](super::Learnt::learn) all.
//!
//! **Law.** Whatever the pieces and turns, the verdicts are those of one [`Decider`](super::Decider) with
//! [`Settling::AtMarks`](super::Settling) that settles where turns end. All pieces together hold every page stored before
//! the turn once; each gives the best of its own, so the best of all is among the replies or in the turn.
//!
//! A turn may *withdraw* pages that earlier turns have decided: before its pages are decided, they leave the index, and
//! nothing passes on their verdicts any more. What was learned from them stays.
//!
//! A page of a turn may [renew](PageInput::renews) the decision on a page of an earlier turn; one of the same turn is
//! refused. Which page leaves for it depends on ranks and verdicts of earlier turns alone, so every process knows it:
//! [`Learnt`](super::Learnt) keeps them for all pages. Only the digests whose copies inherit nothing from then on have to
//! be told, by the pieces that hold them: see [`Ending`].
//!
//! A turn may end without [settling](TurnInput::is_unsettled): then what it teaches counts from the end of a later one.
//!
//! **By hosts.** If only pages of one host are compared ([`Within::Host`](super::Within)), a page needs one piece alone: the
//! one that has all pages of its host. Then each part of a turn is settled where its piece is, and
//! [`join_parts`](super::join_parts) gives the pages their numbers.

use serde::{Deserialize, Serialize};

use super::page_match::Match;
use crate::model::{Digest, PageInput, Sequence, Verdict};

/// What a turn is about.
#[derive(Clone, Debug, Default)]
pub struct TurnInput {
    /// Pages of earlier turns that leave the index before this turn's pages are decided. Some may have left before.
    pub withdrawn: Vec<Sequence>,
    /// The pages to decide, in order.
    pub pages: Vec<PageInput>,
    /// Whether what is learned from the turn does not count yet where it ends.
    pub is_unsettled: bool,
}

impl TurnInput {
    /// Returns whether a page of the turn renews an earlier decision.
    pub(super) fn has_renewals(&self) -> bool {
        self.pages.iter().any(|page| page.renews.is_some())
    }
}

impl From<Vec<PageInput>> for TurnInput {
    fn from(pages: Vec<PageInput>) -> Self {
        Self { withdrawn: Vec::new(), pages, is_unsettled: false }
    }
}

/// What a piece knows of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The page itself, if it was delivered before.
    pub known: Option<(Sequence, Verdict)>,
    /// The first page of the piece with its body.
    pub same_body: Option<(Sequence, Verdict)>,
    /// The first page of the piece with its text.
    pub same_text: Option<(Sequence, Verdict)>,
    /// The best match in the piece. Missing where a copy is known, in a turn without renewals.
    pub best: Option<Match>,
    /// By what copies of the page that it renews are found, if the piece has that one.
    pub renewed: Option<CopyKeys>,
    /// By what copies of the stored page that leaves for it are found, if the piece has that one.
    pub displaced: Option<CopyKeys>,
}

/// By what copies of a page are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyKeys {
    /// Only pages of the same group are copies of each other.
    pub group: u32,
    /// See [`PageInput::body_digest`].
    pub body: Digest,
    /// See [`PageInput::text_digest`].
    pub text: Option<Digest>,
}

/// From a page on, pages before it pass no verdict on to copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The page.
    pub from: Sequence,
    /// Of which pages.
    pub keys: CopyKeys,
}

/// A turn with its verdicts.
#[derive(Clone, Debug, Default)]
pub struct DecidedTurn {
    /// The number of the first page that it decides.
    pub first: Sequence,
    /// See [`TurnInput::withdrawn`].
    pub withdrawn: Vec<Sequence>,
    /// Its pages, without those that were delivered before. In an index that is divided by hosts, those of some hosts.
    pub pages: Vec<DecidedPage>,
    /// What its renewals end, in the order of its pages.
    pub endings: Vec<Ending>,
    /// See [`TurnInput::is_unsettled`].
    pub is_unsettled: bool,
    /// Number and verdict of each page that was submitted, and whether it had been delivered before.
    pub answers: Vec<TurnAnswer>,
}

/// A page of a turn, for the log.
#[derive(Clone, Debug)]
pub struct DecidedPage {
    /// The page's place in the order of decisions.
    pub sequence: Sequence,
    /// The page.
    pub input: PageInput,
    /// The decision.
    pub verdict: Verdict,
    /// See [`Judged::least_weight`](crate::model::Judged::least_weight).
    pub least_weight: u32,
}

/// The decision on a submitted page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAnswer {
    /// The page's place in the order of decisions.
    pub sequence: Sequence,
    /// The decision.
    pub verdict: Verdict,
    /// Whether it was made before.
    pub redelivered: bool,
    /// See [`Judged::displaced`](crate::model::Judged::displaced).
    pub displaced: Option<Sequence>,
}
