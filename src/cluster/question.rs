//! What is asked of all pieces at the end of a crawl, and what comes of it.

use serde::{Deserialize, Serialize};

use crate::detect::{Outranking, SecondLook};
use crate::model::Sequence;

/// Which decisions a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The first page that the question before was not about. Earlier ones count if the page that they name was withdrawn.
    pub from: Sequence,
    /// The decisions on pages below this one stand.
    pub settled: Sequence,
}

/// A question to all pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// Which near-duplicates are unlike the page that they name?
    Suspects(Asked),
    /// Which pages are to be decided again, given what the question for suspects has found?
    Revisions(Asked, Vec<Sequence>),
}

/// What a piece says to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum QuestionReply {
    Suspects(Vec<Sequence>),
    Revisions(Vec<SecondLook>, Vec<Outranking>),
}

/// What a turn has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// Near-duplicates in doubt.
    Suspects(Vec<Sequence>),
    /// Duplicates that are to be fetched and decided again.
    Revisions(Vec<Sequence>),
    /// Stored pages that have left for a better one, to be decided again as they are.
    Displaced(Vec<Sequence>),
}

impl Found {
    /// Returns what ends the round, if its questions are answered.
    pub(super) fn conclusion(&self) -> Option<Conclusion> {
        match self {
            Self::Suspects(_) => None,
            Self::Revisions(pages) | Self::Displaced(pages) if pages.is_empty() => Some(Conclusion::Nothing),
            Self::Revisions(_) => Some(Conclusion::Revisions),
            Self::Displaced(_) => Some(Conclusion::Displaced),
        }
    }
}

/// How a round of questions ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conclusion {
    /// Nothing is to be decided again.
    Nothing,
    /// Pages are to be decided again.
    Revisions,
    /// Pages that gave their place away are. Who names them is not looked at yet: the next questions begin where these did.
    Displaced,
}
