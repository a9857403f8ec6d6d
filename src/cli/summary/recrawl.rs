//! What a recrawl found changed, and what it missed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::format::{counted, thousands};
use crate::report::{RecheckCounts, RecrawlStats};

/// What a recrawl found of the pages that the crawl before has kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecrawlSummary {
    /// All pages.
    #[serde(flatten)]
    pub all: RecheckSummary,
    /// By host.
    pub hosts: BTreeMap<String, RecheckSummary>,
}

/// The same of all pages, or of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecheckSummary {
    /// Pages that were requested again.
    pub requested: u64,
    /// Of these, pages that have changed or are gone.
    pub changed: u64,
    /// Their share.
    pub changed_share: Option<f64>,
    /// Of those requested, pages that their sitemap calls unchanged.
    pub called_unchanged: u64,
    /// Of these, pages that have changed all the same.
    pub called_wrongly: u64,
    /// Pages that were not requested because they are recent.
    pub recent: u64,
    /// Pages that were not requested because their sitemap calls them unchanged.
    pub by_lastmod: u64,
    /// Of the pages that the sitemap calls unchanged, those that were requested to see whether that is true.
    pub sampled: u64,
    /// Changes that were missed so, as estimated; `None` if none was sampled.
    pub missed: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
}

impl From<&RecheckCounts> for RecheckSummary {
    fn from(counts: &RecheckCounts) -> Self {
        let RecheckCounts { requested, changed, called_unchanged, called_wrongly, recent, ref by_lastmod } = *counts;
        let missed = by_lastmod.loss();
        let of = |share: f64| (share * by_lastmod.skipped as f64 * 1000.0).round() / 1000.0;
        Self {
            requested,
            changed,
            changed_share: (requested > 0).then(|| changed as f64 / requested as f64),
            called_unchanged,
            called_wrongly,
            recent,
            by_lastmod: by_lastmod.skipped,
            sampled: by_lastmod.sampled,
            missed: missed.value.map(of),
            interval: missed.interval.map(|(low, high)| (of(low), of(high))),
        }
    }
}

impl From<&RecrawlStats> for RecrawlSummary {
    fn from(found: &RecrawlStats) -> Self {
        let hosts = found.hosts.iter().map(|(host, counts)| (host.clone(), counts.into())).collect();
        Self { all: (&found.all).into(), hosts }
    }
}

impl RecrawlSummary {
    pub(super) fn text(&self) -> String {
        let RecheckSummary { requested, changed, recent, by_lastmod, called_unchanged, called_wrongly, .. } = self.all;
        let mut text = String::new();
        if requested > 0 {
            let share = 100.0 * changed as f64 / requested as f64;
            let pages = counted(requested, "page", "pages");
            text +=
                &format!("{pages} of the crawl before requested again, {} changed ({share:.1}%)\n", thousands(changed));
        }
        if called_unchanged > 0 {
            let pages = counted(called_unchanged, "page", "pages");
            let wrong = thousands(called_wrongly);
            text += &format!("of {pages} among them that sitemaps call unchanged, {wrong} changed all the same\n");
        }
        if by_lastmod > 0 {
            let pages = counted(by_lastmod, "page", "pages");
            text += &format!("{pages} not requested, unchanged by lastmod: {}\n", self.all.missed());
        }
        if recent > 0 {
            text += &format!("{} not requested: too recent (--recrawl-after)\n", counted(recent, "page", "pages"));
        }
        text
    }
}

impl RecheckSummary {
    fn missed(&self) -> String {
        match (self.missed, self.interval) {
            (Some(missed), Some((low, high))) => {
                format!("about {missed:.0} changes missed (95% interval: {:.0} to {:.0})", low.floor(), high.ceil())
            }
            _ => "none was sampled to see what is missed".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_told_with_its_interval_or_as_not_measured() {
        let counts = RecheckSummary { requested: 200, changed: 30, by_lastmod: 1200, ..RecheckSummary::default() };
        let text = RecrawlSummary { all: counts.clone(), ..RecrawlSummary::default() }.text();
        assert_eq!(
            text,
            "200 pages of the crawl before requested again, 30 changed (15.0%)\n\
             1,200 pages not requested, unchanged by lastmod: none was sampled to see what is missed\n"
        );
        let counts = RecheckSummary { missed: Some(11.6), interval: Some((2.4, 40.2)), recent: 1, ..counts };
        let text = RecrawlSummary { all: counts, ..RecrawlSummary::default() }.text();
        assert!(text.contains("about 12 changes missed (95% interval: 2 to 41)\n1 page not requested: too"), "{text}");
    }
}
