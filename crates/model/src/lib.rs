//! *Which values do the rooms exchange?*
//!
//! Plain values that flow from room to room. Constructors check invariants, so that the next room need not. Nothing
//! here does I/O, reads a clock or depends on a runtime.
//!
//! | value | made by | promises |
//! |---|---|---|
//! | [`CanonicalUrl`] | [`Normalizer`] | absolute, http or https, normalised once, no fragment |
//! | [`Lease`] | frontier | a URL to fetch now, with its depth and delivery count |
//! | [`Fetched`] | fetch | status, headers, capped and decoded body, time |
//! | [`PageContent`] | render | distinct terms with their field counts, links; no HTML |
//! | [`Verdict`] | detect | unique, or the stored original and the score |
//! | [`Batch`] | crawl | everything that one commit makes durable |

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod batch;
mod capture;
mod focus;
mod frontier_api;
mod keep_rule;
mod lost_words;
mod named;
mod outcome;
mod page;
mod page_line;
mod put_page;
mod recheck;
mod rest;
#[doc(hidden)]
pub mod seeded;
mod slot;
mod text_error;
mod url_id;

pub use batch::{
    Batch, CommitMark, HostRow, OutcomeRow, PageLinksRow, PageRow, Requeue, RobotsRow, TermRow, Totals, UrlRow,
    UrlState, WarcLocation,
};
pub use capture::{capture_key, split_capture_key};
pub use focus::{Clue, Expectation, PartWeights, PartWeightsError, Relevance};
pub use frontier_api::{Ack, Discovery, FrontierCounts, Lease, LeaseAnswer, Link, LinkKind, Offered, Wait};
pub use keep_rule::{ClusterCopy, KeepRule, KeepRuleError};
pub use lost_words::LostWords;
pub use outcome::{Deferral, Exclusion, FailureClass, Outcome, OutcomeKind, Reason};
pub use page::{Fetched, PAGE_SOURCE, digest_of_part};
pub use page_line::{EarlierVerdict, ErrorLine, PageLine, Revision, SampledPrediction};
pub use put_page::{KnownUnchanged, PutPage, RowName, Unchanged};
pub use recheck::{LastmodClaim, NotRequested, Recheck, Recrawled};
pub use rest::{Rest, RestOf, RestRow};
pub use slot::{Mailed, MailedReferrer, OwnSlots, Slot, SlotMap};
pub use text_error::TextError;
pub use url_id::UrlId;

pub use neardup::model::*;
pub use pagetext::model::{
    Alternate, CanonicalUrl, Header, LinkPlace, MediaType, NormalizeOptions, Normalizer, OutLink, PageContent,
    PageKind, PageSource, Permission, Preference, PreferenceForm, PreferencePlace, Refresh, RobotsDirectives,
    RunningTerms, SpelledUrl, UrlError, Usage, cut_preferences, permission, read_reference, shown_origin, shown_url,
};
