//! *What does the server say, asked politely?*
//!
//! The only room that touches the network. The life of a request:
//!
//! 1. [`Fetcher::robots`]: may the URL be asked for at all? robots.txt is had once per origin and
//!    day, by the same road as any page, before any page.
//! 2. The host's name becomes one pinned address, which an [`AddressGuard`] permits or not. The
//!    connection goes to that very address.
//! 3. [`Politeness::acquire`]: origin and address have had their rest, and not too many requests
//!    are in flight.
//! 4. One request, no redirect followed, nothing repeated. The header may take so long and be so
//!    large; the body too, counted after decompression.
//! 5. The permit is dropped with the end of the answer; an answer that asks for rest gets it.
//!
//! [`Fetcher::polite_get`] is steps 2 to 5. What to do with a redirect, and whether to ask again
//! ([`retry_status`], [`back_off`], [`retry_after`]), is decided elsewhere: here a redirect is an
//! answer, and a failure says whether it may pass.
//!
//! Behind a proxy the proxy looks up names and connects: then only addresses that stand in a URL
//! are checked, and there is no gap per address.

mod address;
mod classify;
mod client;
mod error;
mod exchange;
mod headers;
mod options;
mod pace;
mod politeness;
mod proxy;
mod request;
mod resolver;
mod retry;
mod robots;
mod robots_cache;
mod robots_download;
mod robots_rule;
mod robots_text;
mod signatures;
#[cfg(test)]
mod test;

pub use address::{AddressGuard, public_address};
pub use client::Fetcher;
pub use error::{FetchError, FetchFailure};
pub use headers::{MASK, is_secret_header};
pub use options::{Options, ResolveOverride, accepts};
pub use politeness::{CrawlDelay, Permit, Politeness, Rest, Traffic};
pub use request::Validators;
pub use retry::{back_off, retry_after, retry_status, slow_down_status};
pub use robots::{Robots, RobotsAnswer};
pub use robots_rule::{RobotsRule, deciding_rule};
pub use signatures::no_text;
