//! *What does a crawl look like, without a network?*
//!
//! A small site of our own, the manual of a tide gauge that nobody sells. It has what makes a
//! crawl interesting: two versions of each chapter, print variants, a mirror, links with session
//! numbers, pages to which only duplicates link, a redirect, a dead link, a page that robots.txt
//! forbids and one that asks not to be indexed. [`Site`] writes it from a seed and knows the truth
//! about each page; [`serve`] puts it on loopback until the [`DemoServer`] is stopped or dropped.
//!
//! A copy lies deeper than the page it repeats, so that a crawl by depth meets the original first.

mod html;
mod prose;
mod server;
mod site;
mod templates;
mod topics;

pub use server::{DemoServer, serve};
pub use site::{PlantedKind, PlantedPage, Site};
