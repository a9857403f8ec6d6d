//! *What does the server say, asked politely?*
//!
//! The only room that touches the network. The life of a request:
//!
//! 1. [`Fetcher::robots`] says whether robots.txt allows the URL. The fetcher downloads robots.txt once per origin
//!    and day, with the same politeness as a page.
//! 2. The resolver knows the addresses of the host and pins the one that answered last. An [`AddressGuard`] permits
//!    each or not. The connection goes to exactly the pinned address; if that fails, to the next.
//! 3. [`Politeness::acquire`] waits for the politeness delay of origin and address, and for a free slot.
//! 4. The client sends one request. It follows no redirect, and repeats a request only if the server says that it has
//!    not seen it. Header and body have limits of time and size; the body is counted after decompression.
//! 5. The end of the response drops the permit. Trouble or `Retry-After` delays the origin.
//!
//! What politeness knows outlives the process: the caller stores each rest ([`Fetcher::store_rests`]) and gives it to
//! the fetcher of the next run ([`Fetcher::restore_rests`]).
//!
//! [`Fetcher::polite_get`] is steps 2 to 5. The caller follows redirects and decides on retries
//! ([`asks_to_come_again`], [`rest_asked`], [`back_off`]). A [`FetchFailure`] says whether a retry may help.
//!
//! A proxy resolves names and connects by itself. Then the guard checks only addresses written in a URL, and there
//! is no delay per address.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod address_attempts;
mod body_end;
mod classify;
mod client;
mod completeness;
mod connect;
mod content_coding;
mod cookies;
mod error;
mod exchange;
mod headers;
mod host_health;
mod http_client;
mod in_flight;
mod lenient;
mod licenses;
mod options;
mod pace;
mod path_preferences;
mod politeness;
mod proxy;
mod request;
mod resolver;
mod rest_journal;
mod retry;
mod robots;
mod robots_cache;
mod robots_download;
mod robots_rules;
mod robots_text;
mod shared_starts;
mod signatures;
mod signing;
mod site_files;
#[cfg(test)]
mod test;
mod tls_failure;

pub use address::{AddressGuard, public_address};
pub use client::Fetcher;
pub use completeness::{Absent, absent_page};
pub use content_coding::{CodingError, Codings, Decoded, Label};
pub use cookies::{CookieLineError, Cookies};
pub use error::{FetchError, FetchFailure};
pub use headers::{MASK, is_secret_header};
pub use host_health::HostHealth;
pub use options::{MARKDOWN, Options, ResolveOverride, accepts};
pub use politeness::{CrawlDelay, Permit, Politeness, Traffic};
pub use request::{PageRequest, Validators};
pub use retry::{asks_to_come_again, back_off, rest_asked, retry_after, tries_before_answer};
pub use robots::{Robots, RobotsAnswer};
pub use robots_rules::{RobotsRule, deciding_rule};
pub use shared_starts::SharedStarts;
pub use signatures::no_text;
pub use signing::{RequestSigner, SigningKey, SigningKeyError};
pub use site_files::SitePreferences;
