//! The section on URLs that were not fetched or not kept, by rule.

use super::listing::{Cell, Listing, Parts};
use crate::{LeftOutUrls, Report};
use ndcrawl_html_writer::{escaped, thousands};
use ndcrawl_model::Reason;

/// Hosts or patterns of one rule in the page.
const GROUPS: usize = 20;

/// Returns excluded and deferred URLs by rule, with examples.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let left_out = &report.lines.left_out;
    if left_out.rules.is_empty() {
        return String::new();
    }
    let mut rules: Vec<(Reason, &LeftOutUrls)> = left_out.rules.iter().map(|(reason, urls)| (*reason, urls)).collect();
    rules.sort_by_key(|(reason, urls)| (std::cmp::Reverse(urls.count), reason.outcome().name(), reason.name()));
    let row = |(reason, urls): &(Reason, &LeftOutUrls)| {
        vec![
            Cell::Name(reason.name().to_owned()),
            Cell::Text(reason.outcome().name().to_owned()),
            Cell::Text(reason.explain().to_owned()),
            Cell::Count(urls.count),
            Cell::Urls(urls.examples.iter().map(|(url, _)| url.clone()).collect()),
        ]
    };
    let by_rule = Listing {
        file: "left-out-by-rule",
        caption: "URLs left out, by rule",
        heading: &["rule", "outcome", "meaning", "URLs", "examples"],
        rows: rules.iter().map(row).collect(),
        most: 50,
        what: "rules",
    };
    let list = parts.add("left-out.csv", left_out.list.text());
    let missing = match left_out.list.left_out() {
        0 => String::new(),
        more => format!(", without the last {}", thousands(more)),
    };
    format!(
        "<p>Excluded URLs are none of the crawl’s business by a rule; deferred ones are, and were not fetched. All of them, with the page \
         that links to each: <a href=\"{}\">left-out.csv</a>{missing}. <code>ndcrawl explain URL</code> says more of one.</p>\n",
        escaped(&list)
    ) + &by_rule.html_with_file(parts, &["rule", "outcome", "meaning", "URLs", "example"], &by_rule.rows)
        + &by_group(&rules, parts)
}

/// Returns the hosts, or URL patterns, in which most URLs were left out.
fn by_group(rules: &[(Reason, &LeftOutUrls)], parts: &mut Parts<'_>) -> String {
    let groups = rules.iter().flat_map(|(reason, urls)| {
        urls.groups.iter().map(move |(group, count)| (reason.name(), group.as_str(), *count))
    });
    let mut groups: Vec<(&str, &str, u64)> = groups.collect();
    groups.sort_by_key(|(reason, group, count)| (std::cmp::Reverse(*count), *reason, *group));
    let row = |(reason, group, count): &(&str, &str, u64)| {
        vec![Cell::Name((*group).to_owned()), Cell::Text((*reason).to_owned()), Cell::Count(*count)]
    };
    let listing = Listing {
        file: "left-out-by-host",
        caption: "URLs left out, by host or pattern",
        heading: &["host or pattern", "rule", "URLs"],
        rows: groups.iter().map(row).collect(),
        most: GROUPS,
        what: "hosts and patterns",
    };
    listing.html(parts)
}
