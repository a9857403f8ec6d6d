//! The section on links of duplicates and on predicted duplicates.

use super::listing::{Cell, Listing, Parts};
use super::rule_words::rule_in_words;
use super::{MOST_HOSTS, MOST_TITLE, and_more, share};
use crate::{HostReport, PredictionStats, Report, SkipCost, SkipLoss};
use ndcrawl_engine::crawl::DuplicateLinks;
use ndcrawl_eval::Estimate;
use ndcrawl_html_writer::{TableCell, TableRow, shortened, table, thousands, words};
use ndcrawl_model::{OutcomeKind, Threshold};

/// Returns savings and losses.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let skipped: u64 = report.lines.sites.values().map(|site| site.skipped).sum();
    let requests: u64 = report.lines.growth.points(2).last().map_or(0, |last| last.requests);
    let mut html = match report.settings.links {
        DuplicateLinks::Skip => format!(
            "<p>Links of duplicates were not followed. {} URLs are linked from duplicates only and were not fetched, which saved at least \
             {} of all requests. {} of them have no counterpart among the links of the page that the duplicate repeats; \
             <code>--duplicate-links unmatched</code> follows these. This crawl cannot tell how many of these pages are unique. \
             <code>--duplicate-links sample:0.1</code> follows a random tenth of them to estimate it.</p>\n",
            thousands(skipped),
            share(skipped, skipped + requests),
            thousands(report.skip_cost.unmatched)
        ),
        DuplicateLinks::Unmatched => unmatched(&report.skip_cost, skipped),
        DuplicateLinks::Follow | DuplicateLinks::Defer => followed(&report.skip_cost, requests),
        DuplicateLinks::Sample(_) => sampled(&report.skip_cost, skipped),
    };
    let mut sites: Vec<(&String, &HostReport)> =
        report.lines.sites.iter().filter(|(_, site)| site.skipped > 0).collect();
    if !sites.is_empty() {
        sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.skipped), *host));
        let listing = Listing {
            file: "saved-by-host",
            caption: "Requests saved by host",
            heading: &["host", "URLs not fetched"],
            rows: sites
                .iter()
                .map(|(host, site)| vec![Cell::Name((*host).clone()), Cell::Count(site.skipped)])
                .collect(),
            most: MOST_HOSTS,
            what: "hosts",
        };
        html += &listing.html(parts);
    }
    html + &predicted(report, parts)
}

/// Returns the URLs skipped by learned rules.
fn predicted(report: &Report, parts: &mut Parts<'_>) -> String {
    let predicted = report.lines.outcome(OutcomeKind::PredictedDuplicate);
    if predicted == 0 {
        return String::new();
    }
    let mut rules: Vec<_> = report.lines.predicted.iter().collect();
    rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(**count), *rule));
    let row = |((rule, context, validity), count): &(&(String, String, u64), &u64)| {
        vec![
            Cell::Name(rule_in_words(rule, context)),
            Cell::Count(**count),
            Cell::Share(*validity, u64::from(Threshold::ONE)),
            Cell::Text((*rule).clone()),
            Cell::Text((*context).clone()),
        ]
    };
    let listing = Listing {
        file: "rules",
        caption: "Requests saved by rule",
        heading: &["rule", "URLs not fetched", "was right in", "in rules.jsonl", "context"],
        rows: rules.iter().map(row).collect(),
        most: MOST_HOSTS,
        what: "rules",
    };
    format!(
        "<p>URL rules learned by the crawl predict that {} further URLs are duplicates; the crawl did not fetch them.{}</p>\n{}",
        thousands(predicted),
        lost_by_rules(&report.lines.predictions),
        listing.html(parts)
    )
}

/// Returns the loss estimated from the sampled predictions.
fn lost_by_rules(predictions: &PredictionStats) -> String {
    let Estimate { value: Some(value), interval: Some((low, high)) } = predictions.loss() else {
        return " The crawl fetches a random sample of predicted duplicates to estimate the loss; so far the sample is empty.".to_owned();
    };
    let of = |share: f64| thousands((share * predictions.skipped as f64).round() as u64);
    format!(
        " It fetched a random sample of {} others: {} are unique. It also fetched {} URLs skipped at first, when their rule proved \
         wrong: {} are unique. Skipping predicted duplicates loses about {:.1} unique pages per 1,000 requests saved (95% interval \
         {:.1} to {:.1}). That is about {} of these URLs ({} to {}), plus the pages that only they link to.",
        thousands(predictions.sampled),
        thousands(predictions.sampled_unique),
        thousands(predictions.requeued),
        thousands(predictions.requeued_unique),
        value * 1000.0,
        low * 1000.0,
        high * 1000.0,
        of(value),
        of(low),
        of(high)
    )
}

fn followed(cost: &SkipCost, requests: u64) -> String {
    format!(
        "<p>Links of duplicates were followed. A crawl that skips them would have saved {} of {} requests ({}) and lost {} unique \
         pages, with new text worth {:.1} pages: {} per 1,000 requests saved. These are the URLs that, by the links in the log, are reached through links of duplicates \
         only.</p>\n",
        thousands(cost.requests),
        thousands(requests),
        share(cost.requests, requests),
        thousands(cost.unique),
        cost.new_text,
        per_thousand(cost)
    )
}

fn unmatched(cost: &SkipCost, skipped: u64) -> String {
    format!(
        "<p>Of the links of duplicates, those were followed that have no counterpart among the links of the page that the duplicate \
         repeats. They took {} requests and yielded {} unique pages, with new text worth {:.1} pages. {} URLs were not fetched: only \
         duplicates link to them, and they have a counterpart.</p>\n",
        thousands(cost.requests),
        thousands(cost.unique),
        cost.new_text,
        thousands(skipped)
    )
}

fn sampled(cost: &SkipCost, skipped: u64) -> String {
    let SkipLoss { gates, followed, share } = cost.loss;
    let (Some(value), Some((low, high))) = (share.value, share.interval) else {
        return format!(
            "<p>The crawl samples links of duplicates, but no sampled link led to a page not reached otherwise. {} URLs were not \
             fetched.</p>\n",
            thousands(skipped)
        );
    };
    let of = |share: f64| thousands((share * skipped as f64).round() as u64);
    let mut html = format!(
        "<p>Of {} URLs that only duplicates link to, {} were followed, a random sample. With the pages behind them, these took {} \
         requests and yielded {} unique pages, with new text worth {:.1} pages. Skipping such links loses new text worth about {:.0} \
         pages per 1,000 requests saved (95% interval {:.0} to {:.0}). The {} URLs not fetched have new text worth about {} pages ({} \
         to {}), plus that of pages that only they link to.</p>\n",
        thousands(gates),
        thousands(followed),
        thousands(cost.requests),
        thousands(cost.unique),
        cost.new_text,
        value * 1000.0,
        low * 1000.0,
        high * 1000.0,
        thousands(skipped),
        of(value),
        of(low),
        of(high)
    );
    if cost.hosts.len() > 1 {
        html += &by_host(cost);
    }
    html
}

fn by_host(cost: &SkipCost) -> String {
    let mut hosts: Vec<(&String, &SkipLoss)> = cost.hosts.iter().collect();
    hosts.sort_by_key(|(host, lost)| (std::cmp::Reverse(lost.followed), *host));
    let row = |(host, lost): &(&String, &SkipLoss)| -> Option<TableRow> {
        let ((low, high), value) = (lost.share.interval?, lost.share.value?);
        let figures = [value, low, high].map(|share| TableCell::Figure(format!("{:.0}", share * 1000.0)));
        let name = [TableCell::Name(shortened(host, MOST_TITLE)), TableCell::Figure(thousands(lost.followed))];
        Some(name.into_iter().chain(figures).collect::<Vec<_>>().into())
    };
    let rows: Vec<TableRow> = hosts.iter().take(MOST_HOSTS).filter_map(row).collect();
    let head = words(&["host", "followed", "lost", "lower", "upper"]);
    table("New text lost per 1,000 requests saved, in pages, by host (95% interval)", &head, 1, &rows)
        + &and_more(hosts.len(), MOST_HOSTS, "hosts")
}

fn per_thousand(cost: &SkipCost) -> String {
    if cost.requests == 0 { "none".to_owned() } else { format!("{:.0}", cost.new_text * 1000.0 / cost.requests as f64) }
}
