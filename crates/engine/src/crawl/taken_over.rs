//! Hosts that another process may have asked a moment ago.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::pipeline::SharedRests;
use ndcrawl_model::{HostRow, Rest, RestOf, RestRow};

/// What one process of several must know of hosts that it takes over, and leaves to whoever is next.
pub(super) struct TakenOver<'a> {
    /// The gap between two requests to a host.
    pub gap: Duration,
    /// The hosts that were asked.
    pub hosts: &'a [HostRow],
    /// Where rests are noted for whoever is next.
    pub rests: SharedRests,
    /// The rests that were noted.
    pub resting: &'a [RestRow],
}

impl TakenOver<'_> {
    /// Returns a gap for each host, from now on, and the rests that were noted.
    pub fn rests(&self) -> Vec<RestRow> {
        let (since, millis) = (now_millis(), self.gap_millis());
        let gap = |host: &HostRow| RestRow {
            of: RestOf::Origin(host.origin.clone()),
            why: Rest::Gap,
            since,
            millis,
            at: None,
            strikes: 0,
        };
        let gaps = self.hosts.iter().filter(|_| millis > 0).map(gap);
        gaps.chain(self.resting.iter().cloned()).collect()
    }

    /// Returns what notes rests. Whoever takes a host over begins with a gap, so those that are no longer are left out.
    pub fn note(&self) -> impl Fn(&RestRow) + Send + Sync + 'static {
        let (rests, gap) = (self.rests.clone(), self.gap_millis());
        move |rest| {
            if rest.millis > gap {
                rests.note(rest);
            }
        }
    }

    fn gap_millis(&self) -> u64 {
        u64::try_from(self.gap.as_millis()).unwrap_or(u64::MAX)
    }
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
