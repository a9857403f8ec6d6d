//! *Is this a page, or what the site answers to any wrong address?*
//!
//! Many sites answer 200 where 404 was meant: each dead link brings a page that says that there is none.
//! So a site is asked for addresses that cannot exist, its *probes*, and a page that says no more than
//! the answers is no page: it is excluded as `soft-404`, its links are not used.
//!
//! ```text
//! page ─► does a known answer match? ─yes─► Found::NotThere
//!              │no
//!              ▼
//!         is there a reason to ask? ─no──► Found::Page
//!              │yes: two probes
//!              ▼
//!         both 200 and alike? ─► does the title say so, or does the start page say something else?
//! ```
//!
//! **When a site is asked.** By a worker that holds the lease of a page, before the judge sees the page, as
//! robots.txt is; others that need the answer wait for it. If the page's title says that it is not there, once
//! for its directory and ending; and if the site has brought pages enough to be worth a request, once for
//! its first directory and ending ([`Probes`] has the bounds). Probes obey robots.txt, scope and gaps, and count
//! as requests. They are not seen by the frontier, and have no lines. A site with real 404s costs one probe
//! for an area.
//!
//! **When a page matches** is settled by [`NotThere::matches`]: it has every word that both answers have, and
//! no others but those of its own address. Seeds, what they redirect to, and `/` are always pages. Where
//! wrong addresses are answered with the start page, or redirected to a page that does not say that there
//! is none, nothing is excluded: what repeats the start page is its duplicate. Nor is it where the second
//! probe, which has nothing of the page's path, is answered otherwise, or where the answer's canonical
//! address is the page's: there a part of the path settles what is shown, and no address beside it is
//! wrong. So an answer that one directory alone gives, under a title that does not tell, goes unrecognised.
//!
//! **After a restart** answers are asked for again when they are needed: the addresses are drawn by
//! `random_seed`, so they are the same.

mod prober;
mod schedule;
mod signature;
mod url_group;

pub(super) use prober::Stopped;
pub(super) use schedule::Probes;
