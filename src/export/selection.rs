//! Which pages are exported.

use std::collections::BTreeSet;

use crate::model::{CanonicalUrl, OutcomeKind, PageLine};

/// Directives by which a page asks not to be passed on.
const HELD_BACK: [&str; 2] = ["noindex", "noarchive"];

/// Which pages are exported. The default is what a corpus is made of: the stored pages, which are the
/// representatives of all clusters, but for those that ask not to be passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The names of outcomes; empty: all.
    pub outcomes: BTreeSet<String>,
    /// Host names as they stand in URLs, without port; empty: all.
    pub hosts: BTreeSet<String>,
    /// Languages, primary BCP 47 subtags; empty: all, and pages of unknown language.
    pub languages: BTreeSet<String>,
    /// Pages that stand for their clusters instead of the stored ones.
    pub elected: Elected,
    /// Whether pages that say `noarchive` or `noindex` are exported too.
    pub ignore_noarchive: bool,
}

/// Which pages stand for their clusters instead of the stored ones. By default none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elected {
    /// Their URLs.
    pub pages: BTreeSet<String>,
    /// The URLs of the stored pages for which they stand.
    pub replaced: BTreeSet<String>,
}

impl Elected {
    /// Of every cluster: the URL of its stored page, and that of the page that is to stand for it.
    pub fn new(clusters: impl IntoIterator<Item = (String, String)>) -> Self {
        let others = clusters.into_iter().filter(|(stored, elected)| stored != elected);
        let (replaced, pages) = others.unzip();
        Self { pages, replaced }
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            outcomes: BTreeSet::from(
                [OutcomeKind::Stored, OutcomeKind::NotModified].map(|kind| kind.name().to_owned()),
            ),
            hosts: BTreeSet::new(),
            languages: BTreeSet::new(),
            elected: Elected::default(),
            ignore_noarchive: false,
        }
    }
}

/// What a selection says of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Taken,
    /// It would be taken, had it not asked not to be passed on.
    HeldBack,
    Left,
}

impl Selection {
    pub(super) fn choose(&self, line: &PageLine) -> Choice {
        let stands = match line.url.as_str() {
            url if self.elected.pages.contains(url) => OutcomeKind::Stored.name(),
            url if self.elected.replaced.contains(url) => OutcomeKind::NearDuplicate.name(),
            _ => &line.outcome,
        };
        let asked_for = is_in(&self.outcomes, Some(stands))
            && is_in(&self.languages, line.lang.as_deref())
            && (self.hosts.is_empty() || is_in(&self.hosts, Some(&host(&line.url))));
        let holds_back = line.robots.iter().any(|directive| HELD_BACK.contains(&directive.as_str()));
        match (asked_for, holds_back && !self.ignore_noarchive) {
            (false, _) => Choice::Left,
            (true, true) => Choice::HeldBack,
            (true, false) => Choice::Taken,
        }
    }
}

fn is_in(wanted: &BTreeSet<String>, found: Option<&str>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.contains(found))
}

/// The host of a URL; empty if it has none.
pub(super) fn host(url: &str) -> String {
    CanonicalUrl::from_canonical(url).map(|url| url.host().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, outcome: &str, lang: Option<&str>, robots: &[&str]) -> PageLine {
        PageLine {
            url: url.to_owned(),
            outcome: outcome.to_owned(),
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
        assert_eq!(selection.choose(&line("http://a.test/", "stored", None, &["nofollow"])), Choice::Taken);
        assert_eq!(selection.choose(&line("http://a.test/", "near-duplicate", None, &[])), Choice::Left);
        let held = line("http://a.test/", "stored", None, &["noarchive"]);
        assert_eq!(selection.choose(&held), Choice::HeldBack);
        assert_eq!(Selection { ignore_noarchive: true, ..selection }.choose(&held), Choice::Taken);
    }

    #[test]
    fn an_elected_page_stands_where_the_stored_one_stood() {
        let pairs = [("http://a.test/1", "http://a.test/2"), ("http://a.test/3", "http://a.test/3")];
        let elected = Elected::new(pairs.map(|(stored, elected)| (stored.to_owned(), elected.to_owned())));
        let selection = Selection { elected, ..Selection::default() };
        let taken = |url: &str, outcome: &str| selection.choose(&line(url, outcome, None, &[])) == Choice::Taken;
        assert!(!taken("http://a.test/1", "stored"));
        assert!(taken("http://a.test/2", "near-duplicate"));
        assert!(taken("http://a.test/3", "stored"));
        assert!(!taken("http://a.test/4", "exact-duplicate"));
        assert!(taken("http://a.test/5", "stored"));
    }

    #[test]
    fn all_that_is_asked_for_must_hold() {
        let selection = Selection {
            outcomes: set(&[]),
            hosts: set(&["a.test"]),
            languages: set(&["de", "fr"]),
            ..Default::default()
        };
        assert_eq!(selection.choose(&line("http://a.test:81/x", "failed", Some("fr"), &[])), Choice::Taken);
        assert_eq!(selection.choose(&line("http://b.a.test/x", "stored", Some("fr"), &[])), Choice::Left);
        assert_eq!(selection.choose(&line("http://a.test/x", "stored", None, &[])), Choice::Left);
    }
}
