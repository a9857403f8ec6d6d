//! What a recrawl found changed, and what it missed.
//!
//! A page that was not requested again because its sitemap calls it unchanged may have changed all the same. A random
//! sample of such pages is requested, and the estimate is that of predicted duplicates ([`PredictionStats`]): a page
//! that has changed counts as one that is lost. Nothing is brought back: a page that was not requested keeps the place
//! that it has, also if its host loses its trust afterwards.

use std::collections::BTreeMap;
use std::path::Path;

use super::ReportError;
use super::prediction_stats::{PredictionStats, is_share};
use ndcrawl_model::{LastmodClaim, NotRequested, PageLine, Reason};
use ndcrawl_store::PageLines;

/// Counters of the pages that the crawl before has kept, all or those of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecheckCounts {
    /// Pages that were requested, and whose answers tell whether they have changed.
    pub requested: u64,
    /// Of these, pages whose text has changed, and those that are gone.
    pub changed: u64,
    /// Of those requested, pages that the sitemap calls unchanged.
    pub called_unchanged: u64,
    /// Of these, pages that have changed.
    pub called_wrongly: u64,
    /// Pages that were not requested because they are recent.
    pub recent: u64,
    /// Pages that were not requested because of their sitemap (`skipped`), and the sample of them.
    pub by_lastmod: PredictionStats,
}

impl RecheckCounts {
    fn add(&mut self, line: &PageLine) {
        match line.reason {
            Some(Reason::NotRequested(NotRequested::Recent)) => self.recent += 1,
            Some(Reason::NotRequested(NotRequested::Lastmod)) => self.by_lastmod.skipped += 1,
            _ => {}
        }
        let Some(recheck) = &line.recheck else { return };
        self.requested += 1;
        self.changed += u64::from(recheck.changed);
        if recheck.lastmod == Some(LastmodClaim::Unchanged) {
            self.called_unchanged += 1;
            self.called_wrongly += u64::from(recheck.changed);
        }
        if let Some(share) = recheck.share.filter(|share| is_share(*share)) {
            self.by_lastmod.add_sampled(share, recheck.changed);
        }
    }
}

/// What a recrawl found of the pages that the crawl before has kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecrawlStats {
    /// All pages.
    pub all: RecheckCounts,
    /// By host.
    pub hosts: BTreeMap<String, RecheckCounts>,
}

impl RecrawlStats {
    /// Reads the page lines of an output folder.
    ///
    /// # Errors
    /// If the lines cannot be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut found = Self::default();
        for line in PageLines::open(folder)? {
            found.add(&line?);
        }
        Ok(found)
    }

    fn add(&mut self, line: &PageLine) {
        if line.recheck.is_some() || matches!(line.reason, Some(Reason::NotRequested(_))) {
            self.all.add(line);
            self.hosts.entry(line.site()).or_default().add(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_dust::{RuleConfidence, RuleState, RuleTest};
    use ndcrawl_model::Recheck;
    use ndcrawl_model::seeded::SeededRng;

    fn requested(changed: bool, share: Option<f64>) -> PageLine {
        let recheck = Recheck { changed, lastmod: Some(LastmodClaim::Unchanged), share };
        PageLine { url: "http://a.test/".to_owned(), recheck: Some(recheck), ..PageLine::default() }
    }

    fn reused(why: NotRequested) -> PageLine {
        let reason = Some(Reason::NotRequested(why));
        PageLine { url: "http://b.test/".to_owned(), reason, ..PageLine::default() }
    }

    #[test]
    fn pages_are_counted_by_host_and_by_what_became_of_them() {
        let mut found = RecrawlStats::default();
        let lines = [requested(true, Some(0.25)), requested(false, None), reused(NotRequested::Lastmod)];
        lines.iter().chain([&reused(NotRequested::Recent), &PageLine::default()]).for_each(|line| found.add(line));
        let RecheckCounts { requested, changed, called_unchanged, called_wrongly, recent, by_lastmod } = &found.all;
        assert_eq!((*requested, *changed, *called_unchanged, *called_wrongly, *recent), (2, 1, 2, 1, 1));
        assert_eq!((by_lastmod.sampled, by_lastmod.skipped), (1, 1));
        let of = |host: &str| (found.hosts[host].requested, found.hosts[host].recent);
        assert_eq!((of("a.test"), of("b.test"), found.hosts.len()), ((2, 0), (0, 1), 2));
    }

    /// Sites whose sitemaps are wrong about this share of the pages that they call unchanged, as a recrawl meets them.
    #[test]
    fn nineteen_of_twenty_intervals_hold_the_changes_that_are_missed() {
        let mut random = SeededRng::new(11, "recrawls");
        for wrong in [0.0, 0.005, 0.02, 0.1] {
            let (mut held, mut trials, mut missed, mut estimated, mut saved) = (0, 0, 0.0, 0.0, 0.0);
            for _ in 0..300 {
                let (mut found, mut host, mut truth) = (RecrawlStats::default(), RuleConfidence::default(), 0);
                for _ in 0..1000 {
                    let changed = random.share() < wrong;
                    let share = (host.state == RuleState::Proven).then(|| 1.0 / host.one_in() as f64);
                    if share.is_some_and(|share| random.share() >= share) {
                        found.add(&reused(NotRequested::Lastmod));
                        truth += u64::from(changed);
                        continue;
                    }
                    host.test(if changed { RuleTest::Miss } else { RuleTest::Hit { is_near: false } });
                    found.add(&requested(changed, share));
                }
                let by_lastmod = &found.all.by_lastmod;
                let Some((low, high)) = by_lastmod.loss().interval else { continue };
                let skipped = by_lastmod.skipped as f64;
                held += u32::from((low * skipped - 1e-6..=high * skipped + 1e-6).contains(&(truth as f64)));
                trials += 1;
                missed += truth as f64;
                estimated += by_lastmod.loss().value.unwrap() * skipped;
                saved += skipped;
            }
            let (coverage, trials) = (f64::from(held) / f64::from(trials), f64::from(trials));
            println!(
                "{wrong}: {held} of {trials} intervals hold the truth; of 1000 pages {:.0} saved, {:.1} changes missed, {:.1} estimated",
                saved / trials,
                missed / trials,
                estimated / trials
            );
            assert!(coverage > 0.93, "{wrong}: {coverage}");
        }
    }
}
