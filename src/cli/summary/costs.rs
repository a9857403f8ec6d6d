//! What skipping links and predicted URLs saves and loses.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::format::counted;
use crate::report::{PredictionStats, SkipCost, SkipLoss};

/// What skipping the links of duplicates saves and loses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SkippingCost {
    /// URLs that only duplicates link to, without those reached through others of them.
    pub gates: u64,
    /// Of these, those that were followed.
    pub followed: u64,
    /// Requests for them and for the pages behind them.
    pub requests: u64,
    /// Unique pages found this way.
    pub unique: u64,
    /// Their text that stands in no other stored page, in pages.
    pub new_text: f64,
    /// New text lost per 1,000 requests saved, in pages; `None` if none was followed.
    pub lost_per_1000: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
    /// By host.
    pub hosts: BTreeMap<String, HostSkippingCost>,
    /// Whether all links without counterpart were followed, and no others.
    #[serde(skip)]
    pub is_of_unmatched: bool,
}

/// What skipping the links of duplicates loses on a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct HostSkippingCost {
    pub followed: u64,
    pub lost_per_1000: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

impl From<&SkipCost> for SkippingCost {
    fn from(cost: &SkipCost) -> Self {
        let SkipLoss { gates, followed, share } = cost.loss;
        let of_host = |lost: &SkipLoss| HostSkippingCost {
            followed: lost.followed,
            lost_per_1000: lost.share.value.map(per_1000),
            interval: lost.share.interval.map(both_per_1000),
        };
        Self {
            gates,
            followed,
            requests: cost.requests,
            unique: cost.unique,
            new_text: (cost.new_text * 1000.0).round() / 1000.0,
            lost_per_1000: share.value.map(per_1000),
            interval: share.interval.map(both_per_1000),
            hosts: cost.hosts.iter().map(|(host, lost)| (host.clone(), of_host(lost))).collect(),
            is_of_unmatched: false,
        }
    }
}

impl SkippingCost {
    pub(super) fn text(&self) -> String {
        let (Some(lost), Some((low, high))) = (self.lost_per_1000, self.interval) else { return String::new() };
        if self.is_of_unmatched {
            let requests = counted(self.requests, "request", "requests");
            return format!(
                "links of duplicates without counterpart: {requests} brought new text worth {:.1} pages\n",
                self.new_text
            );
        }
        let sure = if low == high { String::new() } else { format!(" (95% interval: {low:.0} to {high:.0})") };
        format!("skipping links of duplicates loses {lost:.0} pages of text per 1,000 requests{sure}\n")
    }
}

/// What skipping predicted duplicates loses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PredictionCost {
    /// Predicted URLs that were sampled and fetched.
    pub drawn: u64,
    /// Of these, unique pages.
    pub unique: u64,
    /// URLs skipped first and fetched later, because a rule was refuted or rules contradicted each other.
    pub brought_back: u64,
    /// Of these, unique pages.
    pub found: u64,
    /// Unique pages lost per 1,000 requests saved; `None` if none was sampled.
    pub lost_per_1000: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
}

impl From<&PredictionStats> for PredictionCost {
    fn from(predictions: &PredictionStats) -> Self {
        let lost = predictions.loss();
        let PredictionStats { sampled, sampled_unique, requeued, requeued_unique, .. } = *predictions;
        Self {
            drawn: sampled,
            unique: sampled_unique,
            brought_back: requeued,
            found: requeued_unique,
            lost_per_1000: lost.value.map(per_1000),
            interval: lost.interval.map(both_per_1000),
        }
    }
}

impl PredictionCost {
    pub(super) fn text(&self) -> String {
        let (Some(lost), Some((low, high))) = (self.lost_per_1000, self.interval) else { return String::new() };
        format!(
            "skipped predicted URLs lose {lost:.0} unique pages per 1,000 requests saved (95% interval: {low:.0} to {high:.0})\n"
        )
    }
}

fn per_1000(share: f64) -> f64 {
    (share * 1_000_000.0).round() / 1000.0
}

fn both_per_1000((low, high): (f64, f64)) -> (f64, f64) {
    (per_1000(low), per_1000(high))
}
