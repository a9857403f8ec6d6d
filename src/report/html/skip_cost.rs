//! What the links of duplicates were worth.

use super::{MOST_HOSTS, MOST_TITLE, and_more, share};
use crate::crawl::DuplicateLinks;
use crate::eval::Estimate;
use crate::html_writer::{Cell, Row, shortened, table, thousands, words};
use crate::model::OutcomeKind;
use crate::report::{Behind, Lost, Predictions, Report, Site};

/// What was saved and what was lost.
pub(super) fn section(report: &Report) -> String {
    let skipped: u64 = report.gathered.sites.values().map(|site| site.skipped).sum();
    let asked: u64 = report.gathered.growth.points(2).last().map_or(0, |last| last.requests);
    let mut html = match report.settled.links {
        DuplicateLinks::Skip => format!(
            "<p>Links of duplicates were not followed. {} URLs are named by duplicates only and were not fetched: {} of the requests \
             that following them would have taken at least. Whether any of these pages is unique this crawl cannot tell; \
             <code>--duplicate-links sample:0.1</code> follows a tenth of them, drawn by lot, and estimates it.</p>\n",
            thousands(skipped),
            share(skipped, skipped + asked)
        ),
        DuplicateLinks::Follow | DuplicateLinks::Defer => followed(&report.behind, asked),
        DuplicateLinks::Sample(_) => sampled(&report.behind, skipped),
    };
    let mut sites: Vec<(&String, &Site)> = report.gathered.sites.iter().filter(|(_, site)| site.skipped > 0).collect();
    if !sites.is_empty() {
        sites.sort_by_key(|(host, site)| (std::cmp::Reverse(site.skipped), *host));
        let row = |(host, site): &(&String, &Site)| -> Row {
            vec![Cell::Name(shortened(host, MOST_TITLE)), Cell::Figure(thousands(site.skipped))].into()
        };
        let rows: Vec<Row> = sites.iter().take(MOST_HOSTS).map(row).collect();
        html += &table("Requests saved by host", &words(&["host", "URLs not fetched"]), 1, &rows);
        html += &and_more(sites.len(), MOST_HOSTS, "hosts");
    }
    html + &foretold(report)
}

/// What rules have left out.
fn foretold(report: &Report) -> String {
    let predicted = report.gathered.outcome(OutcomeKind::PredictedDuplicate);
    if predicted == 0 {
        return String::new();
    }
    let mut rules: Vec<_> = report.gathered.foretold.iter().collect();
    rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(**count), *rule));
    let row = |((rule, context, validity), count): &(&(String, String, u64), &u64)| -> Row {
        let share = Cell::Figure(format!("{:.2} %", *validity as f64 / 1e4));
        let names = [rule, context].map(|name| Cell::Name(shortened(name, MOST_TITLE)));
        let [rule, context] = names;
        vec![rule, context, Cell::Figure(thousands(**count)), share].into()
    };
    let rows: Vec<Row> = rules.iter().take(MOST_HOSTS).map(row).collect();
    let mut html = format!(
        "<p>Rules that the crawl has learned foretell that {} further URLs repeat stored pages; they were not fetched.{}</p>\n",
        thousands(predicted),
        lost_by_rules(&report.gathered.predictions)
    );
    html += &table("Requests saved by rule", &words(&["rule", "where", "URLs not fetched", "right about"]), 2, &rows);
    html + &and_more(rules.len(), MOST_HOSTS, "rules")
}

/// What is estimated from those that were fetched all the same.
fn lost_by_rules(predictions: &Predictions) -> String {
    let Estimate { value: Some(value), interval: Some((low, high)) } = predictions.lost() else {
        return " A share of what rules foretell is fetched all the same; as yet there is none to tell by.".to_owned();
    };
    let of = |share: f64| thousands((share * predictions.left_out as f64).round() as u64);
    format!(
        " {} others were fetched all the same, drawn by lot, and {} of them are unique pages; {} were left out at first and \
         fetched when a rule had proved wrong, and {} of these are. So leaving out what rules foretell loses some {:.1} unique \
         pages for every thousand requests saved (95 %: {:.1} to {:.1}): some {} of these URLs ({} to {}), and what lies behind \
         them.",
        thousands(predictions.drawn),
        thousands(predictions.unique),
        thousands(predictions.brought_back),
        thousands(predictions.found),
        value * 1000.0,
        low * 1000.0,
        high * 1000.0,
        of(value),
        of(low),
        of(high)
    )
}

fn followed(behind: &Behind, asked: u64) -> String {
    format!(
        "<p>Links of duplicates were followed. A crawl that skips them would have spared {} of {} requests ({}), and would not have \
         found {} unique pages: {} for every thousand requests spared. That follows from the links in the log: these URLs are reached \
         by links of duplicates only.</p>\n",
        thousands(behind.asked),
        thousands(asked),
        share(behind.asked, asked),
        thousands(behind.unique),
        per_thousand(behind)
    )
}

fn sampled(behind: &Behind, skipped: u64) -> String {
    let Lost { gates, followed, share } = behind.lost;
    let (Some(value), Some((low, high))) = (share.value, share.interval) else {
        return format!(
            "<p>A share of the links of duplicates was to be followed; none led to a page that is not reached otherwise. {} URLs were \
             not fetched.</p>\n",
            thousands(skipped)
        );
    };
    let of = |share: f64| thousands((share * skipped as f64).round() as u64);
    let mut html = format!(
        "<p>Of {} URLs that only duplicates name, {} were followed, drawn by lot: with what lies behind them {} requests that \
         brought {} unique pages. So skipping such links loses some {:.0} unique pages for every thousand requests saved (95 %: {:.0} \
         to {:.0}). Of the {} URLs that were not fetched, that is some {} ({} to {}), and what lies behind them.</p>\n",
        thousands(gates),
        thousands(followed),
        thousands(behind.asked),
        thousands(behind.unique),
        value * 1000.0,
        low * 1000.0,
        high * 1000.0,
        thousands(skipped),
        of(value),
        of(low),
        of(high)
    );
    if behind.hosts.len() > 1 {
        html += &by_host(behind);
    }
    html
}

fn by_host(behind: &Behind) -> String {
    let mut hosts: Vec<(&String, &Lost)> = behind.hosts.iter().collect();
    hosts.sort_by_key(|(host, lost)| (std::cmp::Reverse(lost.followed), *host));
    let row = |(host, lost): &(&String, &Lost)| -> Option<Row> {
        let ((low, high), value) = (lost.share.interval?, lost.share.value?);
        let figures = [value, low, high].map(|share| Cell::Figure(format!("{:.0}", share * 1000.0)));
        let name = [Cell::Name(shortened(host, MOST_TITLE)), Cell::Figure(thousands(lost.followed))];
        Some(name.into_iter().chain(figures).collect::<Vec<_>>().into())
    };
    let rows: Vec<Row> = hosts.iter().take(MOST_HOSTS).filter_map(row).collect();
    let head = words(&["host", "followed", "lost", "at least", "at most"]);
    table("Unique pages lost for a thousand requests saved, by host (95 %)", &head, 1, &rows)
        + &and_more(hosts.len(), MOST_HOSTS, "hosts")
}

fn per_thousand(behind: &Behind) -> String {
    if behind.asked == 0 {
        "none".to_owned()
    } else {
        format!("{:.0}", behind.unique as f64 * 1000.0 / behind.asked as f64)
    }
}
