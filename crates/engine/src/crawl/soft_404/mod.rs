//! *Is this a page, or the site's answer to any wrong address?*
//!
//! A soft 404 is an error page with status 200. Many sites send one for each dead link. So the crawl requests
//! addresses of a site that cannot exist, its *probes*. A page that says no more than the answers is excluded as
//! `soft-404`, and its links are not used.
//!
//! ```text
//! page ─► does a known answer match? ─yes─► FetchOutcome::Soft404
//!              │no
//!              ▼
//!         is there a reason to probe? ─no──► FetchOutcome::Page
//!              │yes: two probes
//!              ▼
//!         both 200 and alike? ─► does the title say so, or does the start page say something else?
//! ```
//!
//! **When a site is probed.** A worker probes while it holds a page's lease, before the dispatcher sees the page.
//! Other workers that need the answer wait for it. A page whose title says that it does not exist causes probes once
//! for its directory and file ending. Other pages cause probes once for their first directory and ending, if the site
//! has enough pages to be worth a request. `schedule` has the limits. Probes obey robots.txt, scope and politeness, and
//! count as requests. The frontier does not see them, and they have no lines. A site with real 404s costs one probe
//! for each directory and ending.
//!
//! **When a page matches**: it has every word that both answers have, and no other words but those of its own
//! address. Seeds, the targets of their redirects, and `/` always count as pages.
//!
//! **What passes.** Nothing is excluded where wrong addresses lead to the start page, or to a page that does not say
//! that there is no such page: a copy of the start page is its duplicate. The same holds where the second probe has
//! another answer, or where the answer's canonical URL is the page's: there a part of the path chooses the page. So an
//! error page that only one directory has, under a title that does not tell, stays unrecognized.
//!
//! **After a restart** sites are probed again when needed, at the same addresses: `random_seed` determines them.

mod prober;
mod schedule;
mod signature;
mod url_group;

pub(super) use prober::Soft404Prober;
