//! Languages and other editions of a page, told apart by links.

use super::*;

/// A manual in four languages. Of each page some are translations, and the others copies of the original. The original
/// and the translations name all of these, and so do the copies; no copy is named.
struct Manual {
    learner: RuleLearner,
    copies_named: bool,
}

impl Manual {
    const LANGUAGES: [&str; 4] = ["en", "de", "fr", "ja"];

    fn new() -> Self {
        Self { learner: RuleLearner::new(0), copies_named: false }
    }

    fn id(language: u32, number: u32) -> UrlId {
        UrlId(1000 * language + number)
    }

    fn url(UrlId(id): UrlId) -> String {
        format!("http://s.test/{}/{}.html", Self::LANGUAGES[id as usize / 1000], id % 1000)
    }

    fn find(url: &str) -> Option<UrlId> {
        let (language, file) = url.strip_prefix("http://s.test/")?.split_once('/')?;
        let language = Self::LANGUAGES.iter().position(|other| *other == language)?;
        Some(Self::id(language as u32, file.strip_suffix(".html")?.parse().ok()?))
    }

    fn is_translated(language: u32, number: u32) -> bool {
        language == 0 || (number + 31 * language) * 7919 % 13 < 4
    }

    /// The page is fetched; if it is a copy, it repeats what was fetched first with the text of the original.
    fn note(&mut self, language: u32, number: u32) {
        let id = Self::id(language, number);
        for other in (0..4).filter(|&other| Self::is_translated(other, number) != self.copies_named) {
            self.learner.note_counterpart(id, Self::id(other, number));
        }
        let is_original = language == 0 || !Self::is_translated(language, number);
        let same = (0..4).filter(|&other| other == 0 || !Self::is_translated(other, number));
        let first =
            same.map(|other| Self::id(other, number)).find(|other| self.learner.original(*other) == Some(*other));
        let of = first.filter(|_| is_original).map(|first| (first, Self::url(first)));
        let repeats = of.as_ref().map(|(of, url)| (*of, url.as_str()));
        let kind = if repeats.is_some() { OutcomeKind::ExactDuplicate } else { OutcomeKind::Stored };
        self.learner.observe(ObservedOutcome { id, url: &Self::url(id), kind, repeats }, Self::find);
    }

    /// Returns the predicted original of a URL, if it was fetched.
    fn predicted(&self, language: u32, number: u32) -> Option<UrlId> {
        let predicted = self.learner.predict(&Self::url(Self::id(language, number)), Self::find);
        predicted.iter().find_map(|predicted| self.learner.original(predicted.target))
    }
}

#[test]
fn links_of_the_original_tell_a_translation_from_a_copy() {
    // Or the opposite, where a site links to its copies.
    for copies_named in [false, true] {
        let mut manual = Manual { copies_named, ..Manual::new() };
        for number in 0..150 {
            manual.note(0, number);
            manual.note(1, number);
        }
        (150..200).for_each(|number| manual.note(0, number));
        for number in 150..200 {
            let original = (!Manual::is_translated(1, number)).then_some(Manual::id(0, number));
            assert_eq!(manual.predicted(1, number), original, "{number}");
        }
        // The original is unknown until fetched: the prediction is worth waiting for.
        let url = Manual::url(Manual::id(1, 200));
        let predicted = manual.learner.predict(&url, Manual::find);
        assert_eq!((predicted[0].target, manual.predicted(1, 200)), (Manual::id(0, 200), None));
    }
}

#[test]
fn all_languages_together_tell_which_pages_are_copies() {
    let mut manual = Manual::new();
    // Between two languages all is proven.
    for number in 0..150 {
        manual.note(1, number);
        manual.note(2, number);
    }
    // Of a third a few pages are known.
    for number in 150..170 {
        manual.note(1, number);
        assert_eq!(manual.predicted(3, number).filter(|_| number < 155), None);
        manual.note(3, number);
    }
    let mut saved = 0;
    for number in 170..250 {
        manual.note(1, number);
        let are_copies = !Manual::is_translated(1, number) && !Manual::is_translated(3, number);
        let predicted = manual.predicted(3, number);
        saved += u32::from(predicted.is_some());
        assert!(predicted.is_none() || (are_copies && predicted == Some(Manual::id(1, number))), "{number}");
    }
    assert!(saved > 25, "{saved}");
    let carried =
        manual.learner.rules().filter(|(.., confidence)| confidence.carried && confidence.state == RuleState::Proven);
    let from = |rule: &Rule| rule.start.as_ref().map(|start| start.from.clone());
    assert_eq!(carried.map(|(_, rule, ..)| from(rule)).next(), Some(Some("/ja/".to_owned())));

    // One miss ends the trust in that pair of languages.
    let number = (170..).find(|&n| manual.predicted(3, n).is_some()).unwrap();
    let (id, url) = (Manual::id(3, number), Manual::url(Manual::id(3, number)));
    manual.learner.take_withdrawn();
    manual.learner.observe(ObservedOutcome { id, url: &url, kind: OutcomeKind::Stored, repeats: None }, Manual::find);
    assert!(!manual.learner.take_withdrawn().is_empty());
    assert!((170..250).filter(|n| *n != number).all(|number| manual.predicted(3, number).is_none()));
}

#[test]
fn too_many_links_to_counterparts_tell_nothing() {
    let mut alternate_links = super::alternates::AlternateLinks::default();
    let evidence =
        |alternate_links: &super::alternates::AlternateLinks| alternate_links.evidence(UrlId(0), UrlId(7), UrlId(5));
    assert_eq!(evidence(&alternate_links), LinkEvidence::Links { there: false, itself: false });
    assert!(alternate_links.note(UrlId(7), UrlId(5)) && !alternate_links.note(UrlId(7), UrlId(5)));
    assert_eq!(evidence(&alternate_links), LinkEvidence::Links { there: true, itself: false });
    // The original has the same links.
    assert!(alternate_links.note(UrlId(7), UrlId(0)));
    assert_eq!(evidence(&alternate_links), LinkEvidence::Links { there: true, itself: true });
    let mut more = (0..).map(|page| alternate_links.note(UrlId(page), UrlId(1)));
    assert_eq!(more.position(|is_kept| !is_kept), Some((1 << 20) - 2));
    assert_eq!((evidence(&alternate_links), alternate_links.bytes()), (LinkEvidence::Unknown, 0));
    assert!(!alternate_links.note(UrlId(7), UrlId(5)));
}

#[test]
fn two_editions_of_a_page_have_one_name() {
    for (url, other, are) in [
        ("http://s.test/en/mod/core.html", "http://s.test/de/mod/core.html", true),
        ("http://s.test/en/mod/core.html", "http://s.test/de/mod/core.html.de", true),
        ("http://s.test/en/mod/", "http://s.test/de/mod/", true),
        ("http://s.test/a.html", "https://print.s.test/a.html", true),
        ("http://s.test/en/mod/core.html", "http://s.test/en/mod/worker.html", false),
        ("http://s.test/en/mod/core.html", "http://s.test/", false),
        ("http://s.test/a/", "http://s.test/b/", false),
        ("http://s.test/a.html", "http://s.test/a.html?sort=up", false),
        ("http://s.test/a.html", "http://s.test/a.html", false),
        ("http://s.test/", "http://s.test/de/", false),
    ] {
        assert_eq!((are_counterparts(url, other), are_counterparts(other, url)), (are, are), "{url} {other}");
    }
}
