//! *Which URL do we fetch next, and which have we seen?*
//!
//! The crawl offers a URL, and in the same step the frontier marks it as seen and queues, defers or excludes it. The
//! crawl leases URLs whose origins are due, and acks each with its outcome or gives it back. The crawl is over when no
//! URL can be leased and no lease is alive. [`Wait`](ndcrawl_model::Wait) says so exactly, so nobody need poll.
//!
//! ```text
//! offer ──► queued ──lease──► leased ──ack──► done
//!       │      ▲ ◄────nak───────┘
//!       ├─► deferred ──better path──► queued
//!       └─► excluded ──offered as a seed──► queued
//!
//! queued ──its pattern is closed──► closed ──it is opened again──► queued
//! queued ──a rule predicts it──► predicted ──the rule is withdrawn──► queued
//! ```
//!
//! **Order.** Between origins: the one due first, in turn among those that are due. Within an origin: rank, then depth,
//! then arrival. A focused crawl takes the best score first and also tries unknown hosts.
//!
//! **Depth.** A URL has the depth of the shortest path by links that may be followed, whatever the order in which the
//! paths turn up. A shorter path moves a queued URL forward and brings back one that was too deep. If its page was
//! fetched already, the URLs that the page names get nearer with it. So which URLs are too deep does not depend on
//! chance.
//!
//! **The log is the truth.** The store keeps a log of [`UrlRow`](ndcrawl_model::UrlRow)s, and a URL's number is its place
//! there. All state here follows from the log: [`FrontierChanges`] go into each commit, and the next start reads the log
//! row by row. The texts of leased URLs come from [`UrlLog`], a few at a time. A queued URL costs 28 bytes of memory;
//! `docs/design/frontier.md` lists the rest.
//!
//! **Parts.** [`EmbeddedFrontier`] locks `engine`, which asks each part and applies its effects (`effect`):
//!
//! | file | question |
//! |---|---|
//! | `state`, `url_state`, `seen`, `rows` | What was seen, and where is each URL in its life? |
//! | `page_links` | Which URLs get nearer with a page? |
//! | `scope`, `trap` | Does a URL belong to the crawl? |
//! | `host_queues`, `host_queue`, `leases` | Which origin is next, and which URLs are on lease? |
//! | `lease_choice`, `best_first` | Which URL promises most, in a focused crawl? |
//! | `trap_guard`, `trap_patterns`, `trap_shapes` | Which patterns of URLs keep repeating each other? |
//! | `predicted_duplicates`, `sampling`, `discoveries` | Which URLs will repeat a page, and which of them are fetched? |
//! | `mail`, `outbox` | Which links go to other slots, in a crawl of several processes? |
//! | `restore` | What did an earlier run leave? |
//!
//! **Invariants.** Nothing here fetches, sleeps, reads a clock or knows the store. A URL is on lease at most once. Pages
//! and living leases together never exceed a budget.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

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
mod mail;
mod names;
mod options;
mod outbox;
mod page_links;
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
mod trap_shapes;
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
pub use trap_shapes::url_pattern;
pub use url_state::HeldBack;
