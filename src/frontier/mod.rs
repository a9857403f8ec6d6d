//! *What do we fetch next, and what have we seen?*
//!
//! A URL is offered, and in the same step marked as seen and queued, deferred or excluded. It is
//! leased when its origin is due, and acked with its outcome or given back. The crawl is over when
//! nothing that could be leased is queued and no lease is alive; [`Wait`](crate::model::Wait) says
//! so exactly, so that nobody need poll.
//!
//! ```text
//! offer ──► queued ──lease──► leased ──ack──► done
//!       │      ▲ ◄────nak───────┘
//!       ├─► deferred ──better path──► queued
//!       └─► excluded ──offered as a seed──► queued
//!
//! queued ──its pattern is closed──► closed ──it is opened again──► queued
//! queued ──a rule foretells it──► predicted ──the rule is withdrawn──► queued
//! ```
//!
//! **The log is the truth.** The store keeps a log of [`UrlRow`](crate::model::UrlRow)s, and a URL's
//! number is its place there. What is held here is derived from it: [`FrontierChanges`] go into each commit,
//! and at the next start the log is read back row by row. Texts of URLs are not held: those of leased
//! ones are read back through [`UrlLog`], a few at a time.
//!
//! | held in memory for | bytes |
//! |---|---|
//! | a seen URL: hash, place in the table, state | 15 to 20.5 |
//! | a queued URL: its number, besides | 4 |
//! | a queued URL that was deferred or excluded before: its better path, besides | 30 to 60 |
//! | a URL that was given back and is not yet due, besides | about 100 |
//! | an origin with something queued | about 530 |
//! | a page or redirect that is done, for what may repeat it | 16 |
//! | a URL that a rule foretells to be a duplicate, besides | about 50 |
//! | one that is fetched all the same, besides, until it is done; for good if it is a near-duplicate | about 50 |
//! | a link from a page to itself, or to what looks like another edition of it, a million at most | 9 to 18 |
//! | a page that has named URLs first, where the links of duplicates are followed, besides | 14 to 28 |
//! | a pattern of URLs that repeats itself, 65,536 of them at most | about 60 |
//! | a URL not yet committed: its row | 64 and its text |
//! | rows read ahead, in all | 8,192 rows |
//!
//! The test `a_queued_url_costs_less_than_100_bytes_of_resident_memory` measures it, and
//! `cargo test --lib frontier::tests::memory -- --nocapture` prints the figure:
//! 26 bytes for each of 200,000 URLs of 1,000 hosts, and as many for each of a million of one host.
//!
//! **Order.** Between origins by the time at which they are due, and in turn among those that are;
//! within an origin by rank, then depth, then arrival; in a focused crawl what promises most goes first, within an
//! origin and among those that are due, but hosts of which nothing is known are tried besides. A URL keeps the depth at
//! which it was first queued: if a shorter path is found while it waits, its links still count from the longer one.
//!
//! **Invariants.** Nothing here fetches, sleeps, reads a clock, or knows the store. A URL is on lease
//! at most once. The number of pages and living leases together never exceeds a budget.

mod best_first;
mod chunks;
mod discoveries;
mod effect;
mod embedded;
mod engine;
mod error;
mod host_queue;
mod host_queues;
mod lease_choice;
mod leases;
mod names;
mod options;
mod predicted_duplicates;
mod restore;
mod rows;
mod sampling;
mod scope;
mod seen;
mod state;
mod trap;
mod trap_guard;
mod trap_patterns;
mod url_state;

#[cfg(test)]
mod tests;

pub use embedded::{EmbeddedFrontier, FrontierChanges};
pub use error::FrontierError;
pub use host_queues::{OriginHold, QueuedOrigin};
pub use options::{FocusOptions, Options, ScopeKind};
pub use predicted_duplicates::Prediction;
pub use rows::UrlLog;
pub use trap::Trap;
pub use url_state::HeldBack;
