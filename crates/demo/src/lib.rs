//! *How can a user try a crawl without a network?*
//!
//! The room generates a small site, the manual of a fictitious tide gauge, and serves it on loopback. The site has:
//!
//! - two versions of each chapter, print variants, a mirror, and links with session IDs;
//! - pages to which only duplicates link;
//! - a redirect, a dead link, a page disallowed by robots.txt, and a `noindex` page.
//!
//! [`DemoSite`] generates the site from a seed and records the ground truth of each page. [`serve`] serves it until the
//! [`DemoServer`] is stopped or dropped.
//!
//! A copy lies deeper than its original, so a breadth-first crawl meets the original first.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod html;
mod prose;
mod server;
mod site;
mod templates;
mod topics;

pub use server::{DemoServer, serve};
pub use site::{DemoSite, PlantedKind, PlantedPage};
