//! Tests of rules and of the learner.

use proptest::prelude::*;

use super::alternates::LinkEvidence;
use super::confidence::RuleTest;
use super::*;
use crate::model::{OutcomeKind, UrlId};

fn rule(url: &str, original: &str) -> Rule {
    infer_rule(url, original).unwrap_or_else(|| panic!("{url} and {original}"))
}

#[test]
fn a_rule_has_a_short_text() {
    for (url, original, text) in [
        ("http://m.test/a/b.html", "http://s.test/a/b.html", "http://m.test/* -> http://s.test/*"),
        ("http://s.test/", "https://www.s.test/", "http://s.test/* -> https://www.s.test/*"),
        ("http://s.test/print/a/b", "http://s.test/a/b", "http://s.test/print/* -> http://s.test/*"),
        (
            "http://s.test/docs/15/x/y",
            "http://s.test/docs/16/x/y",
            "http://s.test/docs/15/* -> http://s.test/docs/16/*",
        ),
        ("http://s.test/a/index.html", "http://s.test/a/", "http://s.test/*index.html -> http://s.test/*"),
        ("http://s.test/a.html.de", "http://s.test/a.html", "http://s.test/*.html.de -> http://s.test/*.html"),
        ("http://s.test/a.en.html", "http://s.test/a.html", "http://s.test/*.en.html -> http://s.test/*.html"),
        ("http://s.test/a?id=1&sid=7", "http://s.test/a?id=1", "http://s.test/*?sid= -> http://s.test/*"),
        ("http://s.test/a?sid=7", "http://s.test/a?sid=8", "http://s.test/*?sid= -> http://s.test/*"),
        ("http://s.test/sid/a.html?sid=7", "http://m.test/a.html", "http://s.test/sid/*?sid= -> http://m.test/*"),
        (
            "http://s.test/print.php?id=3",
            "http://s.test/show.php?id=3",
            "http://s.test/print.php* -> http://s.test/show.php*",
        ),
    ] {
        assert_eq!(rule(url, original).to_string(), text);
    }
}

#[test]
fn a_difference_of_stems_is_no_rule() {
    for (url, original) in [
        ("http://s.test/a.html", "http://s.test/b.html"),
        ("http://s.test/a.html", "http://m.test/b.html"),
        ("http://s.test/a.html", "http://s.test/"),
        ("http://s.test/a?id=1", "http://s.test/b?id=2"),
        ("http://s.test/a", "http://s.test/a"),
        ("http://s.test/a?b=1&c=2", "http://s.test/a?c=2&b=1"),
        ("http://s.test/1/2/3/4/5/x", "http://s.test/6/7/8/9/0/x"),
        ("no url", "http://s.test/"),
    ] {
        let found = infer_rule(url, original).filter(|rule| rule.end.is_none());
        assert_eq!(found, None, "{url} and {original}");
    }
}

#[test]
fn a_rule_applies_to_whole_names_only() {
    let index = rule("http://s.test/a/index.html", "http://s.test/a/");
    assert_eq!(index.apply("http://s.test/b/index.html?x").as_deref(), Some("http://s.test/b/?x"));
    assert_eq!(index.apply("http://s.test/b/myindex.html"), None);
    let language = rule("http://s.test/a.de.html", "http://s.test/a.html");
    assert_eq!(language.apply("http://s.test/x/guide.de.html").as_deref(), Some("http://s.test/x/guide.html"));
    assert_eq!(language.apply("http://s.test/x/.de.html"), None);
    let version = rule("http://s.test/15/a", "http://s.test/16/a");
    assert_eq!(version.apply("http://s.test/150/a"), None);
    assert_eq!(version.apply("http://s.test:81/15/a"), None);
}

fn url() -> impl Strategy<Value = String> {
    let text = "https?://[ab]\\.test(:81)?(/(en|de|print|[a-c])){0,3}/([a-d]{0,2}(\\.(en|de))?(\\.html|\\.php)?)?\
                (\\?(id|sid|x)=[0-3](&(id|sid|x)=[0-3])?)?";
    proptest::string::string_regex(text).unwrap()
}

proptest! {
    #[test]
    fn a_rule_learned_from_two_urls_makes_one_of_the_other(url in url(), original in url()) {
        let Some(rule) = infer_rule(&url, &original) else { return Ok(()) };
        let made = rule.apply(&url).unwrap();
        prop_assert_ne!(&made, &url);
        prop_assert_eq!(Some(made.clone()), rule.apply(&url));
        // The original may have other values of the dropped parameters: without them both URLs are equal.
        let left = if rule.dropped.is_empty() { original.clone() } else { without(&original, &rule.dropped) };
        prop_assert_eq!(made, left);
    }

    #[test]
    fn no_text_is_too_strange(url in ".{0,40}", original in ".{0,40}", known in url()) {
        for (from, to) in [(&url, &original), (&known, &original), (&url, &known)] {
            if let Some(rule) = infer_rule(from, to) {
                prop_assert_ne!(rule.apply(from), Some(from.clone()));
            }
        }
        let rule = rule("http://s.test/print/a.de.html?sid=1", "http://m.test/a.html");
        prop_assert_ne!(rule.apply(&url), Some(url));
    }

    #[test]
    fn a_rule_is_the_same_after_it_was_written_and_read(url in url(), original in url()) {
        let Some(rule) = infer_rule(&url, &original) else { return Ok(()) };
        let text = serde_json::to_string(&rule).unwrap();
        prop_assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), rule);
    }
}

/// A URL without some of its parameters.
fn without(url: &str, names: &[String]) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let is_kept = |pair: &&str| !pair.is_empty() && !names.iter().any(|name| pair.split('=').next() == Some(name));
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

/// A site and its learner: page N is `/N`, its copy has the number 1000 + N.
struct Site {
    learner: RuleLearner,
    copy: fn(u32) -> String,
}

fn page(number: u32) -> String {
    format!("http://s.test/{number}.html")
}

impl Site {
    fn new(copy: fn(u32) -> String) -> Self {
        Self { learner: RuleLearner::new(0), copy }
    }

    fn find(&self) -> impl Fn(&str) -> Option<UrlId> + use<> {
        let copy = self.copy;
        move |url| {
            let of_page = (0..500).find(|&number| page(number) == url).map(UrlId);
            of_page.or_else(|| (0..500).find(|&number| copy(number) == url).map(|number| UrlId(1000 + number)))
        }
    }

    /// Records a stored page, then its copy.
    fn note(&mut self, number: u32, is_copy: bool) {
        let (find, original, copy) = (self.find(), page(number), (self.copy)(number));
        let observed = ObservedOutcome { id: UrlId(number), url: &original, kind: OutcomeKind::Stored, repeats: None };
        self.learner.observe(observed, &find);
        let (kind, repeats) = match is_copy {
            true => (OutcomeKind::ExactDuplicate, Some((UrlId(number), original.as_str()))),
            false => (OutcomeKind::Stored, None),
        };
        self.learner.observe(ObservedOutcome { id: UrlId(1000 + number), url: &copy, kind, repeats }, &find);
    }

    /// The rule in the whole origin.
    fn confidence(&self) -> RuleConfidence {
        let mut rules = self.learner.rules();
        let whole = rules.find(|(_, rule, context, _)| *context == "*" && rule.apply(&(self.copy)(0)) == Some(page(0)));
        whole.map(|(.., confidence)| confidence).unwrap_or_default()
    }
}

fn printed(number: u32) -> String {
    format!("http://s.test/print/{number}.html")
}

#[test]
fn a_rule_is_proven_by_what_comes_after_the_pair_that_made_it_known() {
    let mut site = Site::new(printed);
    site.note(0, true);
    assert_eq!((site.confidence().support, site.confidence().tests), (1, 0));
    for number in 1.. {
        assert!(number < 100);
        site.note(number, true);
        if site.learner.can_predict() {
            assert_eq!((site.confidence().tests, site.confidence().hits), (number, number));
            break;
        }
    }
    let predicted = site.learner.predict(&printed(3), site.find());
    assert_eq!(predicted[0].target, UrlId(3));
    // The inverse holds as well, but it is about the stored page.
    let reverse = site.learner.predict(&page(3), site.find());
    assert!(reverse.iter().all(|predicted| site.learner.original(predicted.target) == Some(UrlId(3))));
}

#[test]
fn a_miss_withdraws_a_rule_until_it_has_proved_itself_for_longer() {
    let mut site = Site::new(printed);
    (0..60).for_each(|number| site.note(number, true));
    assert_eq!(site.confidence().state, RuleState::Proven);
    assert!(site.learner.take_withdrawn().is_empty());
    site.note(60, false);
    assert_eq!(site.confidence().state, RuleState::Withdrawn);
    assert!(!site.learner.take_withdrawn().is_empty() && site.learner.take_withdrawn().is_empty());
    assert!(site.learner.predict(&printed(3), site.find()).is_empty());
    let again = (61..200).take_while(|&number| {
        site.note(number, true);
        site.confidence().state != RuleState::Proven
    });
    assert!(again.count() > 24);
    let (low, high) = site.confidence().interval();
    assert!(low > 0.9 && high < 1.0 && site.confidence().share() < 1.0);
}

#[test]
fn pages_with_other_session_ids_match_by_the_rest_of_their_urls() {
    let mut learner = RuleLearner::new(0);
    let find = |_: &str| None;
    let url = |page: u32, session: u32| format!("http://s.test/{page}?sid={session}");
    for page in 0..60 {
        let (first, second) = (url(page, 1), url(page, 2));
        let observed = ObservedOutcome { id: UrlId(2 * page), url: &first, kind: OutcomeKind::Stored, repeats: None };
        learner.observe(observed, find);
        let repeats = Some((UrlId(2 * page), first.as_str()));
        learner.observe(
            ObservedOutcome { id: UrlId(2 * page + 1), url: &second, kind: OutcomeKind::ExactDuplicate, repeats },
            find,
        );
    }
    let predicted = learner.predict(&url(50, 77), find);
    assert_eq!(predicted.iter().map(|predicted| predicted.target).collect::<Vec<_>>(), [UrlId(100)]);
}

#[test]
fn a_rule_that_is_switched_off_is_measured_and_never_proven() {
    let mut site = Site::new(printed);
    let rule = rule(&printed(0), &page(0));
    let off = RuleConfidence { state: RuleState::Off, ..RuleConfidence::default() };
    for context in ["*", "*.html", "same-name"] {
        let (text, context) = (rule.to_string(), context.to_owned());
        let listed = ListedRule {
            text,
            rule: rule.clone(),
            context,
            confidence: off,
            share: 0.0,
            interval: (0.0, 1.0),
            saved: 0,
            off: true,
        };
        site.learner.import(&listed);
    }
    (0..100).for_each(|number| site.note(number, true));
    assert!(site.confidence().hits > 90 && site.confidence().state == RuleState::Off);
    assert!(site.learner.predict(&printed(3), site.find()).is_empty());
}

#[test]
fn a_rule_that_was_wrong_often_needs_more_than_a_run_of_hits_and_is_sampled_more_often() {
    let mut confidence = RuleConfidence::default();
    let hit = RuleTest::Hit { is_near: false };
    (0..16).for_each(|_| assert!(!confidence.test(hit)));
    assert_eq!((confidence.state, confidence.one_in()), (RuleState::Proven, 8));
    (0..16).for_each(|_| assert!(!confidence.test(hit)));
    assert_eq!(confidence.one_in(), 16);
    assert!(confidence.test(RuleTest::Miss));
    (1..11).for_each(|_| assert!(!confidence.test(RuleTest::Miss)));
    // A run of 64 hits would do; but eleven misses need nine hits each, and it has 32.
    (32..98).for_each(|_| assert!(!confidence.test(hit)));
    assert_eq!(confidence.state, RuleState::Withdrawn);
    confidence.test(hit);
    assert_eq!((confidence.state, confidence.one_in()), (RuleState::Proven, 4));
}

#[test]
fn rules_are_read_as_they_were_written() {
    let mut site = Site::new(printed);
    (0..60).for_each(|number| site.note(number, true));
    let rules = site.learner.listed(|_| 7);
    assert!(!rules.is_empty());
    let lines: String = rules.iter().map(|rule| serde_json::to_string(rule).unwrap() + "\n").collect();
    assert_eq!(ListedRule::read(lines.as_bytes()).unwrap(), rules);
    let mut other = RuleLearner::new(0);
    rules.iter().for_each(|rule| other.import(rule));
    assert_eq!(other.listed(|_| 7), rules);
    assert!(other.can_predict());
    let damaged = ListedRule::read("\n{}\n".as_bytes()).unwrap_err().to_string();
    assert!(damaged.starts_with("line 2 is not a rule"), "{damaged}");
}

#[test]
fn a_crowd_of_useless_rules_does_not_push_out_a_good_one() {
    let mut site = Site::new(printed);
    (0..60).for_each(|number| site.note(number, true));
    let none = |_: &str| None;
    for number in 0..5000 {
        let (url, original) = (format!("http://s.test/{number}/x"), format!("http://s.test/{number}/y/x"));
        let repeats = Some((UrlId(1), original.as_str()));
        site.learner.observe(
            ObservedOutcome { id: UrlId(2000 + number), url: &url, kind: OutcomeKind::ExactDuplicate, repeats },
            none,
        );
    }
    assert_eq!(site.confidence().state, RuleState::Proven);
    assert!(site.learner.rules().count() < 500);
}

/// A guide in two editions, on two hosts: the second edition repeats the first, and the second host the first.
#[test]
fn where_two_rules_contradict_each_other_the_skipped_page_is_disputed_and_tells_which_is_wrong() {
    let url = |host: char, edition: u32, page: u32| format!("http://{host}.test/guide/{edition}/{page}.html");
    let id = |host: char, edition: u32, page: u32| UrlId(10_000 * (2 * u32::from(host == 'b') + edition) + page);
    let find = |wanted: &str| {
        let all = [('a', 1), ('a', 2), ('b', 1), ('b', 2)];
        let mut ids = all.into_iter().flat_map(|(host, edition)| (0..200).map(move |page| (host, edition, page)));
        ids.find(|&(host, edition, page)| url(host, edition, page) == wanted).map(|(h, e, p)| id(h, e, p))
    };
    let mut learner = RuleLearner::new(0);
    let note = |learner: &mut RuleLearner, (host, edition, page), of: Option<(char, u32, u32)>| {
        let original = of.map(|(host, edition, page)| (id(host, edition, page), url(host, edition, page)));
        let kind = if of.is_some() { OutcomeKind::ExactDuplicate } else { OutcomeKind::Stored };
        let repeats = original.as_ref().map(|(id, url)| (*id, url.as_str()));
        learner.observe(
            ObservedOutcome { id: id(host, edition, page), url: &url(host, edition, page), kind, repeats },
            find,
        );
    };
    for page in 0..60 {
        note(&mut learner, ('a', 1, page), None);
        note(&mut learner, ('a', 2, page), Some(('a', 1, page)));
        note(&mut learner, ('b', 1, page), Some(('a', 1, page)));
        note(&mut learner, ('b', 2, page), Some(('a', 1, page)));
    }
    let state = |learner: &RuleLearner, text: &str| {
        let mut rules = learner.rules().filter(|(_, rule, context, _)| *context == "*" && rule.to_string() == text);
        rules.next().map(|(_, _, _, confidence)| confidence.state)
    };
    let (edition, host) = ("http://a.test/guide/2/* -> http://a.test/guide/1/*", "http://b.test/* -> http://a.test/*");
    assert_eq!([state(&learner, edition), state(&learner, host)], [Some(RuleState::Proven); 2]);

    // The second edition has rewritten page 100; the crawl skipped one of its two copies, for the first edition has a page 100.
    note(&mut learner, ('a', 1, 100), None);
    assert!(learner.take_disputed().is_empty());
    note(&mut learner, ('b', 2, 100), None);
    assert_eq!(learner.take_disputed().into_iter().collect::<Vec<_>>(), [id('a', 2, 100)]);
    assert_eq!([state(&learner, edition), state(&learner, host)], [Some(RuleState::Proven); 2]);

    note(&mut learner, ('a', 2, 100), Some(('b', 2, 100)));
    assert_eq!(
        [state(&learner, edition), state(&learner, host)],
        [Some(RuleState::Withdrawn), Some(RuleState::Proven)]
    );
}

/// Sites and their learner: page N of site S is `http://site-S.test/N`, and its copy is on another host.
struct Sites {
    learner: RuleLearner,
    copy: fn(u32) -> String,
}

fn site(number: u32) -> String {
    format!("http://site-{number}.test")
}

fn mirror(number: u32) -> String {
    format!("http://mirror-site-{number}.test")
}

impl Sites {
    fn new(copy: fn(u32) -> String) -> Self {
        Self { learner: RuleLearner::new(0), copy }
    }

    fn find(&self) -> impl Fn(&str) -> Option<UrlId> + use<> {
        let copy = self.copy;
        move |url| {
            let (host, page) = url.rsplit_once('/')?;
            let id = |number: u32| 1000 * number + page.parse::<u32>().unwrap_or(0);
            let original = (0..20).find(|&number| site(number) == host).map(|number| UrlId(id(number)));
            original.or_else(|| (0..20).find(|&number| copy(number) == host).map(|number| UrlId(100_000 + id(number))))
        }
    }

    fn note(&mut self, url: &str, kind: OutcomeKind, repeats: Option<&str>) {
        let find = self.find();
        let repeats = repeats.map(|original| (find(original).unwrap(), original));
        self.learner.observe(ObservedOutcome { id: find(url).unwrap(), url, kind, repeats }, find);
    }

    /// Records a stored page of a site, then the outcome of its copy on the other host.
    fn judge(&mut self, number: u32, page: u32, kind: OutcomeKind) {
        let (original, copy) = (format!("{}/{page}", site(number)), format!("{}/{page}", (self.copy)(number)));
        self.note(&original, OutcomeKind::Stored, None);
        self.note(&copy, kind, Some(original.as_str()).filter(|_| kind != OutcomeKind::Stored));
    }

    /// Pages of a site that were copied.
    fn copies(&mut self, number: u32, pages: std::ops::Range<u32>) {
        pages.for_each(|page| self.judge(number, page, OutcomeKind::ExactDuplicate));
    }

    /// Returns the predictions for page 900 of the other host, while the site's is known.
    fn predicted(&self, number: u32) -> Vec<PredictedTarget> {
        self.learner.predict(&format!("{}/900", (self.copy)(number)), self.find())
    }

    fn can_predict(&self, number: u32) -> bool {
        !self.predicted(number).is_empty()
    }

    /// Whether one host may be a copy of another.
    fn is_copy(&self, host: &str, other: &str) -> bool {
        self.learner.mirrored_origins(&format!("{host}/")).contains(&(other.to_owned(), 1.0))
    }
}

/// Four copied hosts, after the one that makes the rewrite known.
fn trusted(copy: fn(u32) -> String) -> Sites {
    let mut sites = Sites::new(copy);
    sites.copies(0, 0..1);
    (1..5).for_each(|number| sites.copies(number, 0..2));
    sites
}

#[test]
fn what_held_for_four_hosts_holds_for_the_next_after_its_first_page() {
    let mut sites = Sites::new(mirror);
    sites.copies(0, 0..1);
    for number in 1..4 {
        sites.copies(number, 0..3);
        assert!(!sites.can_predict(number) && !sites.is_copy(&mirror(9), &site(9)));
    }
    assert!(!sites.learner.can_predict());
    sites.copies(4, 0..1);
    assert!((1..5).all(|number| sites.can_predict(number)), "the hosts that confirmed it are trusted, too");
    assert!(sites.is_copy(&mirror(9), &site(9)) && sites.is_copy(&site(9), &mirror(9)));

    assert!(!sites.can_predict(9), "its first page is fetched");
    sites.copies(9, 0..1);
    let predicted = sites.predicted(9);
    assert_eq!((predicted[0].target, predicted[0].one_in), (UrlId(9900), 4));
    let (rule, context, confidence) = sites.learner.rule(predicted[0].rule).unwrap();
    assert_eq!(rule.to_string(), "http://mirror-site-9.test/* -> http://site-9.test/*");
    assert!(context == "*" && confidence.carried && (confidence.tests, confidence.hits) == (1, 1), "{confidence:?}");
    sites.copies(9, 1..16);
    let (_, _, confidence) = sites.learner.rule(predicted[0].rule).unwrap();
    assert!(!confidence.carried && confidence.state == RuleState::Proven, "{confidence:?}");
}

#[test]
fn of_near_duplicates_two_are_wanted_for_one_exact_copy() {
    let mut sites = Sites::new(mirror);
    (0..8).for_each(|number| sites.judge(number, 0, OutcomeKind::NearDuplicate));
    assert!(!sites.is_copy(&mirror(9), &site(9)) && !sites.learner.can_predict());
    sites.judge(8, 0, OutcomeKind::NearDuplicate);
    assert!((1..9).all(|number| sites.can_predict(number)));
}

#[test]
fn one_host_with_many_pages_makes_no_host_rewrite_trusted() {
    let mut sites = Sites::new(mirror);
    sites.copies(0, 0..300);
    assert!(sites.can_predict(0) && !sites.is_copy(&mirror(9), &site(9)));
    (1..3).for_each(|number| sites.copies(number, 0..300));
    assert!(!sites.is_copy(&mirror(9), &site(9)));
    // The fourth host makes it trusted.
    sites.copies(9, 0..1);
    assert!(sites.can_predict(9) && sites.is_copy(&mirror(8), &site(8)));
}

#[test]
fn hosts_that_all_have_the_same_page_make_no_host_rewrite_trusted() {
    let mut sites = Sites::new(mirror);
    let sign = format!("{}/0", site(0));
    sites.note(&sign, OutcomeKind::Stored, None);
    for number in 0..20 {
        if number > 0 {
            sites.note(&format!("{}/0", site(number)), OutcomeKind::ExactDuplicate, Some(&sign));
        }
        sites.note(&format!("{}/0", mirror(number)), OutcomeKind::ExactDuplicate, Some(&sign));
    }
    assert!(!sites.is_copy(&mirror(9), &site(9)) && !sites.can_predict(9));
}

#[test]
fn a_host_with_a_page_of_its_own_ends_the_trust_in_a_host_rewrite() {
    let mut sites = Sites::new(mirror);
    sites.copies(0, 0..1);
    sites.copies(1, 0..2);
    sites.judge(2, 0, OutcomeKind::Stored);
    (3..12).for_each(|number| sites.copies(number, 0..2));
    assert!(!sites.learner.can_predict(), "it is never trusted");

    let mut sites = trusted(mirror);
    sites.copies(3, 2..20);
    sites.copies(9, 0..1);
    assert!(sites.can_predict(9) && sites.learner.take_withdrawn().is_empty() && !sites.learner.take_lost_trust());
    sites.judge(10, 0, OutcomeKind::Stored);
    assert!(sites.learner.take_lost_trust() && !sites.learner.take_lost_trust());
    assert!(!sites.learner.take_withdrawn().is_empty());
    assert!(!sites.can_predict(9) && !sites.can_predict(1), "rules that rested on it are no longer trusted");
    assert!(sites.can_predict(3), "what has proved itself is");
    sites.copies(11, 0..2);
    assert!(!sites.can_predict(11) && !sites.is_copy(&mirror(12), &site(12)));
}

#[test]
fn untrusted_host_rewrites_also_give_a_likelihood() {
    let mut sites = Sites::new(mirror);
    let likelihood = |sites: &Sites| {
        let copied = sites.learner.mirrored_origins(&format!("{}/", mirror(9)));
        copied.iter().find(|(origin, _)| *origin == site(9)).map(|(_, likelihood)| *likelihood)
    };
    sites.copies(0, 0..1);
    assert_eq!(likelihood(&sites), None, "of one host nothing is concluded");
    sites.copies(1, 0..3);
    assert_eq!(likelihood(&sites), Some(1.0 / 2.0), "its first page counts");
    sites.judge(2, 0, OutcomeKind::Stored);
    assert_eq!(likelihood(&sites), Some(1.0 / 3.0));
    (3..5).for_each(|number| sites.judge(number, 0, OutcomeKind::NearDuplicate));
    assert_eq!(likelihood(&sites), Some(3.0 / 5.0), "also when it was wrong once");
    assert!(!sites.is_copy(&mirror(9), &site(9)));
}

#[test]
fn a_rule_that_was_carried_over_is_withdrawn_by_its_first_miss() {
    let mut sites = trusted(mirror);
    sites.copies(9, 0..1);
    let rule = sites.predicted(9)[0].rule;
    sites.judge(9, 1, OutcomeKind::Stored);
    let (_, _, confidence) = sites.learner.rule(rule).unwrap();
    assert!(confidence.state == RuleState::Withdrawn && !confidence.carried, "{confidence:?}");
    assert!(sites.learner.take_withdrawn().contains(&rule) && !sites.can_predict(9));
}

#[test]
fn a_host_rewrite_of_redirects_has_no_inverse() {
    let www: fn(u32) -> String = |number| format!("http://www.site-{number}.test");
    let mut sites = Sites::new(www);
    (0..5).for_each(|number| (0..2).for_each(|page| sites.judge(number, page, OutcomeKind::Redirected)));
    assert!(sites.is_copy(&www(9), &site(9)) && !sites.is_copy(&site(9), &www(9)));
}

#[test]
fn host_rewrites_cover_addresses_ends_and_schemes_and_need_a_common_word() {
    let net = |number: u32| format!("http://127.0.2.{number}:8080");
    for (copy, host, other) in [
        ((|number| format!("http://site-{number}.test:81")) as fn(u32) -> String, "http://x.org:81", "http://x.org"),
        (|number| format!("https://site-{number}.test"), "https://x.org", "http://x.org"),
        (|number| format!("http://site-{number}.cache.test"), "http://x.cache.test", "http://x.test"),
        (mirror, "http://mirror-x:80", "http://x:80"),
    ] {
        assert!(trusted(copy).is_copy(host, other), "{host}");
    }
    let nothing_in_common = trusted(|number| format!("http://m{}.org", 7 * number));
    assert!(nothing_in_common.learner.mirrored_origins("http://m49.org/").is_empty());
    assert!(!trusted(mirror).is_copy("http://mirror-", "http://"));
    assert!(!trusted(mirror).is_copy("http://mirror-:80", "http://:80"));

    let mut learner = RuleLearner::new(0);
    for number in 0..5 {
        for page in 0..2 {
            let id = 10 * number + page;
            let (original, copy) = (format!("http://127.0.1.{number}:8080/{page}"), format!("{}/{page}", net(number)));
            let find = |url: &str| (url == original).then_some(UrlId(id));
            learner.observe(
                ObservedOutcome { id: UrlId(id), url: &original, kind: OutcomeKind::Stored, repeats: None },
                find,
            );
            let repeats = Some((UrlId(id), original.as_str()));
            let observed =
                ObservedOutcome { id: UrlId(1000 + id), url: &copy, kind: OutcomeKind::ExactDuplicate, repeats };
            learner.observe(observed, find);
        }
    }
    assert_eq!(learner.mirrored_origins("http://127.0.2.77:8080/"), [("http://127.0.1.77:8080".to_owned(), 1.0)]);
    assert!(
        learner.mirrored_origins("http://127.0.27.1:8080/").is_empty()
            && learner.mirrored_origins("http://127.0.2:8080/").is_empty()
    );
}

#[test]
fn imported_rules_make_a_host_rewrite_trusted_and_carried_ones_stay_carried() {
    let mut sites = Sites::new(mirror);
    (0..4).for_each(|number| sites.copies(number, 0..20));
    let mut other = Sites::new(mirror);
    sites.learner.listed(|_| 0).iter().for_each(|rule| other.learner.import(rule));
    assert!(other.is_copy(&mirror(9), &site(9)));
    other.copies(9, 0..1);
    assert!(other.can_predict(9));
    let rules = other.learner.listed(|_| 0);
    assert_eq!(rules.iter().filter(|rule| rule.confidence.carried).count(), 2, "in both directions");
    let lines: String = rules.iter().map(|rule| serde_json::to_string(rule).unwrap() + "\n").collect();
    let validities = |rules: &[ListedRule]| rules.iter().map(|rule| rule.confidence).collect::<Vec<_>>();
    assert_eq!(validities(&ListedRule::read(lines.as_bytes()).unwrap()), validities(&rules));
}

#[test]
fn a_rule_that_is_switched_off_is_not_carried_over() {
    let mut sites = Sites::new(mirror);
    sites.copies(0, 0..2);
    let (text, rule) = (String::new(), rule(&format!("{}/1", mirror(9)), &format!("{}/1", site(9))));
    let confidence = RuleConfidence { state: RuleState::Off, ..RuleConfidence::default() };
    let (share, interval) = (0.0, (0.0, 1.0));
    sites.learner.import(&ListedRule {
        text,
        rule,
        context: "*".to_owned(),
        confidence,
        share,
        interval,
        saved: 0,
        off: true,
    });
    (1..8).for_each(|number| sites.copies(number, 0..2));
    sites.copies(9, 0..2);
    assert!(sites.can_predict(7) && !sites.can_predict(9));
}

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

proptest! {
    #[test]
    fn host_rewrites_of_strange_origins_derive_one_from_the_other(from in "(http|https)://[a-c.:1é-]{0,9}", to in ".{0,12}", other in "http://[a-c.-]{0,8}") {
        let mut learner = RuleLearner::new(0);
        for to in [&to, &other] {
            let origin = Change { from: from.clone(), to: to.clone() };
            for rewrite in super::cross_host::HostRewrite::of(&origin) {
                prop_assert_eq!(rewrite.apply(&from), Some(to.clone()));
            }
            learner.import(&ListedRule {
                text: String::new(),
                rule: Rule { origin, start: None, end: None, dropped: Vec::new() },
                context: "*".to_owned(),
                confidence: RuleConfidence { state: RuleState::Proven, ..RuleConfidence::default() },
                share: 0.0,
                interval: (0.0, 1.0),
                saved: 0,
                off: false,
            });
        }
        let _ = learner.mirrored_origins(&format!("{other}/"));
    }
}
