//! What holds for some hosts is carried over to others.

use proptest::prelude::*;

use super::*;

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

proptest! {
    #[test]
    fn host_rewrites_of_strange_origins_derive_one_from_the_other(from in "(http|https)://[a-c.:1é-]{0,9}", to in ".{0,12}", other in "http://[a-c.-]{0,8}") {
        let mut learner = RuleLearner::new(0);
        for to in [&to, &other] {
            let origin = Change { from: from.clone(), to: to.clone() };
            for rewrite in crate::cross_host::HostRewrite::of(&origin) {
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
