//! URLs that were not fetched or not kept, by rule, with examples.

use std::collections::BTreeMap;

use super::csv_list::CsvList;
use ndcrawl_model::{PageLine, Reason};

/// Examples of each rule.
const EXAMPLES: usize = 5;
/// Groups of each rule. Beyond it, URLs of further groups are counted for the rule only.
const MOST_GROUPS: usize = 2_000;

/// URLs for which one rule decided.
#[derive(Clone, Debug, Default)]
pub struct LeftOutUrls {
    /// Number of URLs.
    pub count: u64,
    /// The first of them, each with a page that links to it.
    pub examples: Vec<(String, Option<String>)>,
    /// URLs by host, or by URL pattern if that decided.
    pub groups: BTreeMap<String, u64>,
}

/// URLs by reason.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// By reason.
    pub rules: BTreeMap<Reason, LeftOutUrls>,
    /// All of them.
    pub list: CsvList,
}

impl Default for LeftOut {
    fn default() -> Self {
        Self { rules: BTreeMap::new(), list: CsvList::new(&["outcome", "reason", "url", "linked_from"]) }
    }
}

impl LeftOut {
    /// Counts a line, if its URL was excluded or deferred.
    pub fn add(&mut self, line: &PageLine, site: &str) {
        let reason = match line.reason {
            Some(reason @ (Reason::Excluded(_) | Reason::Deferred(_))) => reason,
            Some(Reason::Failed(_) | Reason::NotRequested(_)) | None => return,
        };
        let urls = self.rules.entry(reason).or_default();
        urls.count += 1;
        if urls.examples.len() < EXAMPLES {
            urls.examples.push((line.url.clone(), line.referrer.clone()));
        }
        let group = line.pattern.as_deref().unwrap_or(site);
        if let Some(count) = urls.groups.get_mut(group) {
            *count += 1;
        } else if urls.groups.len() < MOST_GROUPS {
            urls.groups.insert(group.to_owned(), 1);
        }
        let referrer = line.referrer.as_deref().unwrap_or_default();
        self.list.push(&[reason.outcome().name(), reason.name(), &line.url, referrer]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{Exclusion, FailureClass};

    #[test]
    fn urls_are_counted_by_rule_with_examples_and_their_hosts() {
        let mut left_out = LeftOut::default();
        let scope = Reason::Excluded(Exclusion::Scope);
        let line = |url: &str, reason: Reason| PageLine {
            url: url.to_owned(),
            outcome: reason.outcome(),
            reason: Some(reason),
            referrer: Some("http://a.test/".to_owned()),
            ..PageLine::default()
        };
        for number in 0..7 {
            left_out
                .add(&line(&format!("http://b{}.test/{number}", number % 2), scope), &format!("b{}.test", number % 2));
        }
        left_out.add(&line("http://a.test/x", Reason::Failed(FailureClass::Http)), "a.test");
        assert_eq!(left_out.rules.len(), 1);
        let urls = &left_out.rules[&scope];
        assert_eq!((urls.count, urls.examples.len(), urls.groups["b0.test"]), (7, EXAMPLES, 4));
        assert_eq!(left_out.list.text().lines().count(), 8);
    }
}
