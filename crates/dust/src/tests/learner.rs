//! Which rules the learner believes, and when it stops.

use super::*;

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
