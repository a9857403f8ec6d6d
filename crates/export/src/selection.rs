//! Selects the pages to export.

use std::collections::{BTreeMap, BTreeSet};

use ndcrawl_model::{OutcomeKind, PageLine, Permission, Usage};

use super::disallowing::DisallowingClusters;

/// Directives that hold a page back from exports.
const HELD_BACK: [&str; 2] = ["noindex", "noarchive"];

/// The selection of pages to export.
///
/// The default suits a corpus: all stored pages, one per cluster, without those marked `noindex` or `noarchive`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Outcomes; empty for all.
    pub outcomes: BTreeSet<OutcomeKind>,
    /// Host names as in URLs, without port, and files of documents without URL; empty for all.
    pub hosts: BTreeSet<String>,
    /// Primary BCP 47 language subtags; empty for all, with pages of unknown language.
    pub languages: BTreeSet<String>,
    /// Elected representatives of clusters.
    pub elected: ElectedPages,
    /// What must be said of these uses; empty for all.
    pub uses: BTreeMap<Usage, BTreeSet<Permission>>,
    /// The clusters of which a page disallows a use. Empty if each page speaks for itself.
    pub disallowing: DisallowingClusters,
    /// Whether pages marked `noarchive` or `noindex` are exported too.
    pub ignore_noarchive: bool,
}

/// Pages that replace the stored page of their cluster. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElectedPages {
    /// URLs of the elected pages.
    pub pages: BTreeSet<String>,
    /// URLs of the stored pages that they replace.
    pub replaced: BTreeSet<String>,
}

impl ElectedPages {
    /// Takes pairs of URLs: the stored page of a cluster, and its elected page.
    pub fn new(clusters: impl IntoIterator<Item = (String, String)>) -> Self {
        let others = clusters.into_iter().filter(|(stored, elected)| stored != elected);
        let (replaced, pages) = others.unzip();
        Self { pages, replaced }
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            outcomes: BTreeSet::from([OutcomeKind::Stored, OutcomeKind::NotModified]),
            hosts: BTreeSet::new(),
            languages: BTreeSet::new(),
            uses: BTreeMap::new(),
            disallowing: DisallowingClusters::default(),
            elected: ElectedPages::default(),
            ignore_noarchive: false,
        }
    }
}

/// The result of applying a selection to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectionResult {
    /// Selected.
    Taken,
    /// Selected, but held back by a directive of the page.
    HeldBack,
    /// Selected, but for what is said of a use.
    OtherUse(Permission),
    /// Not selected.
    Left,
}

impl Selection {
    pub(super) fn choose(&self, line: &PageLine) -> SelectionResult {
        let stands = match line.url.as_str() {
            url if self.elected.pages.contains(url) => OutcomeKind::Stored,
            url if self.elected.replaced.contains(url) => OutcomeKind::NearDuplicate,
            _ => line.outcome,
        };
        let is_selected = (self.outcomes.is_empty() || self.outcomes.contains(&stands))
            && is_in(&self.languages, line.lang.as_deref())
            && (self.hosts.is_empty() || is_in(&self.hosts, Some(&line.site())));
        let holds_back = line.robots.iter().any(|directive| HELD_BACK.contains(&directive.as_str()));
        match (is_selected, holds_back && !self.ignore_noarchive) {
            (false, _) => SelectionResult::Left,
            (true, true) => SelectionResult::HeldBack,
            (true, false) => self.other_use(line).map_or(SelectionResult::Taken, SelectionResult::OtherUse),
        }
    }

    /// Returns what is said of the first use of which something else must be said.
    fn other_use(&self, line: &PageLine) -> Option<Permission> {
        self.uses.iter().find_map(|(usage, wanted)| {
            Some(self.disallowing.permission(line, *usage)).filter(|said| !wanted.contains(said))
        })
    }
}

fn is_in(wanted: &BTreeSet<String>, found: Option<&str>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.contains(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, outcome: OutcomeKind, lang: Option<&str>, robots: &[&str]) -> PageLine {
        PageLine {
            url: url.to_owned(),
            outcome,
            lang: lang.map(str::to_owned),
            robots: robots.iter().map(|&name| name.to_owned()).collect(),
            ..PageLine::default()
        }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn stored_pages_are_taken_unless_they_ask_not_to_be_passed_on() {
        let selection = Selection::default();
        assert_eq!(
            selection.choose(&line("http://a.test/", OutcomeKind::Stored, None, &["nofollow"])),
            SelectionResult::Taken
        );
        assert_eq!(
            selection.choose(&line("http://a.test/", OutcomeKind::NearDuplicate, None, &[])),
            SelectionResult::Left
        );
        let held = line("http://a.test/", OutcomeKind::Stored, None, &["noarchive"]);
        assert_eq!(selection.choose(&held), SelectionResult::HeldBack);
        assert_eq!(Selection { ignore_noarchive: true, ..selection }.choose(&held), SelectionResult::Taken);
    }

    #[test]
    fn an_elected_page_stands_where_the_stored_one_stood() {
        let pairs = [("http://a.test/1", "http://a.test/2"), ("http://a.test/3", "http://a.test/3")];
        let elected = ElectedPages::new(pairs.map(|(stored, elected)| (stored.to_owned(), elected.to_owned())));
        let selection = Selection { elected, ..Selection::default() };
        let taken = |url: &str, outcome: OutcomeKind| {
            selection.choose(&line(url, outcome, None, &[])) == SelectionResult::Taken
        };
        assert!(!taken("http://a.test/1", OutcomeKind::Stored));
        assert!(taken("http://a.test/2", OutcomeKind::NearDuplicate));
        assert!(taken("http://a.test/3", OutcomeKind::Stored));
        assert!(!taken("http://a.test/4", OutcomeKind::ExactDuplicate));
        assert!(taken("http://a.test/5", OutcomeKind::Stored));
    }

    #[test]
    fn what_is_said_of_a_use_must_be_among_what_is_wanted() {
        use Permission::{Allowed, Disallowed, Unclear, Unknown};
        let said = |usage: &str| {
            let preference = pagetext::preferences::content_usage(usage, ndcrawl_model::PreferencePlace::Header);
            PageLine { preferences: vec![preference], ..line("http://a.test/", OutcomeKind::Stored, None, &[]) }
        };
        let wants = |uses: &[(Usage, &[Permission])], usage: &str| {
            let uses = uses.iter().map(|(usage, wanted)| (*usage, wanted.iter().copied().collect())).collect();
            Selection { uses, ..Selection::default() }.choose(&said(usage))
        };
        assert_eq!(wants(&[(Usage::TrainAi, &[Allowed])], "train-ai=y"), SelectionResult::Taken);
        assert_eq!(wants(&[(Usage::TrainAi, &[Allowed])], "train-ai=n"), SelectionResult::OtherUse(Disallowed));
        assert_eq!(wants(&[(Usage::TrainAi, &[Allowed])], "search=y"), SelectionResult::OtherUse(Unknown));
        assert_eq!(wants(&[(Usage::TrainAi, &[Allowed, Unknown])], "search=y"), SelectionResult::Taken);
        assert_eq!(wants(&[(Usage::TrainAi, &[Allowed, Unknown])], "train-ai=?"), SelectionResult::OtherUse(Unclear));
        let both: [(Usage, &[Permission]); 2] = [(Usage::TrainAi, &[Allowed]), (Usage::Search, &[Disallowed])];
        assert_eq!(wants(&both, "train-ai=y, search=n"), SelectionResult::Taken);
        assert_eq!(wants(&both, "train-ai=y, search=y"), SelectionResult::OtherUse(Allowed));
    }

    #[test]
    fn all_that_is_asked_for_must_hold() {
        let selection = Selection {
            outcomes: BTreeSet::new(),
            hosts: set(&["a.test"]),
            languages: set(&["de", "fr"]),
            ..Default::default()
        };
        assert_eq!(
            selection.choose(&line("http://a.test:81/x", OutcomeKind::Failed, Some("fr"), &[])),
            SelectionResult::Taken
        );
        assert_eq!(
            selection.choose(&line("http://b.a.test/x", OutcomeKind::Stored, Some("fr"), &[])),
            SelectionResult::Left
        );
        assert_eq!(selection.choose(&line("http://a.test/x", OutcomeKind::Stored, None, &[])), SelectionResult::Left);
    }
}
