//! *How relevant is a page, or a link, to the topic of the crawl?*
//!
//! A [`Topic`] is built from words, a text or example pages. It becomes weighted terms, as pages do. [`Focus`] compares
//! a rendered page with the topic and returns the page's [`Relevance`](ndcrawl_model::Relevance) and one
//! [`Clue`](ndcrawl_model::Clue) per link. The frontier orders the queue by clues and learns which regions are relevant.
//!
//! Term weights use the inverse document frequency among the pages read so far. So the relevance of the same page may
//! change a little during the crawl.
//!
//! Sources: Chakrabarti, van den Berg and Dom 1999 (focused crawling: the relevance of a page predicts that of its
//! links); Hersovici et al. 1998 (shark-search: so do anchor text and the text around it).

mod compare;
mod topic;

pub use compare::{Appraisal, Focus};
pub use topic::{Topic, TopicError};
