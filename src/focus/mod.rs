//! *How much has this page, or this link, to do with what is looked for?*
//!
//! A [`Topic`] is given as words, as a text or as example pages, and becomes weighted terms of the same
//! kind as those of pages. [`Focus`] compares: a rendered page with the topic gives its
//! [`Relevance`](crate::model::Relevance),
//! each of its links a [`Clue`](crate::model::Clue). What the crawl makes of clues, and what it learns
//! of regions while it goes, is the frontier's part.
//!
//! How much a term says is known only from pages that were read: the rarer among them, the more (its
//! inverse document frequency). So the same page may be a little more or less relevant later on.
//!
//! After Chakrabarti, van den Berg and Dom 1999 (focused crawling: the relevance of a page speaks for its
//! links) and Hersovici et al. 1998 (shark-search: so do the words of a link and those around it).

mod compare;
mod topic;

pub use compare::{Appraisal, Focus};
pub use topic::{Topic, TopicError};
