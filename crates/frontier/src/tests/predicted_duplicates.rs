//! Predicted duplicates.

use proptest::prelude::*;

use super::*;
use crate::HeldBack;
use ndcrawl_model::Wait;

const PAGES: u32 = 300;

fn options() -> Options {
    Options { host_concurrency: 4, max_pages_per_host: 0, ..Options::default() }
}

/// A site and its mirror, each with so many pages. The first half of the numbers is the site's.
fn mirrored(options: Options) -> Bench {
    let bench = Bench::new(options);
    for host in ["site", "mirror"] {
        bench.offer(link(&format!("http://{host}.test/"), 0));
    }
    for host in ["site", "mirror"] {
        for page in 0..PAGES {
            bench.offer(link(&format!("http://{host}.test/page-{page}.html"), 1));
        }
    }
    bench
}

/// Returns the page of which a URL of the mirror has a copy, if all is mirrored.
fn counterpart(id: UrlId) -> Option<UrlId> {
    match id.0 {
        0 => None,
        1 => Some(UrlId(0)),
        page if page < 2 + PAGES => None,
        page => Some(UrlId(page - PAGES)),
    }
}

type Fetched = Vec<(UrlId, Option<UrlId>)>;

/// Of two URLs with the same page the one that comes later repeats the other.
#[derive(Default)]
struct Judge(std::collections::HashMap<UrlId, UrlId>);

impl Judge {
    fn judge(&mut self, id: UrlId, copy_of: Option<UrlId>) -> Option<UrlId> {
        let first = *self.0.entry(copy_of.unwrap_or(id)).or_insert(id);
        (first != id).then_some(first)
    }
}

/// Fetches all URLs, so many at a time. `copy_of` returns the page of which a URL has a copy.
fn fetch_all(bench: &Bench, most: usize, copy_of: impl Fn(UrlId) -> Option<UrlId>) -> Fetched {
    fetch_rest(bench, most, &mut Judge::default(), copy_of)
}

fn fetch_rest(bench: &Bench, most: usize, judge: &mut Judge, copy_of: impl Fn(UrlId) -> Option<UrlId>) -> Fetched {
    let mut pages = Vec::new();
    loop {
        let answer = bench.lease(most, 0);
        if answer.leases.is_empty() {
            assert_eq!(answer.wait, Wait::Done);
            return pages;
        }
        for lease in answer.leases {
            let repeats = judge.judge(lease.id, copy_of(lease.id));
            bench.ack_page(lease.id, repeats);
            pages.push((lease.id, repeats));
        }
    }
}

fn left_out(bench: &Bench) -> Vec<UrlId> {
    let unfinished = bench.frontier.unfinished();
    let left = unfinished.inspect(|(id, remaining)| assert_eq!(*remaining, HeldBack::Predicted, "{id}"));
    left.map(|(id, _)| id).collect()
}

#[test]
fn most_pages_of_a_mirror_are_not_fetched_and_name_the_page_and_the_rule() {
    let bench = mirrored(options());
    let fetched = fetch_all(&bench, 4, counterpart);
    let left = left_out(&bench);
    assert_eq!(fetched.len() + left.len(), 2 + 2 * PAGES as usize);
    assert!(left.len() > PAGES as usize * 7 / 10, "{}", left.len());
    assert_eq!(bench.frontier.counts().predicted, left.len() as u64);
    for id in left {
        let prediction = bench.frontier.prediction(id).unwrap();
        let of_mirror = counterpart(id);
        assert_eq!(prediction.of, of_mirror.unwrap_or(UrlId(id.0 + PAGES)));
        let (from, to) = if of_mirror.is_some() { ("mirror", "site") } else { ("site", "mirror") };
        assert_eq!(prediction.rule, format!("http://{from}.test/* -> http://{to}.test/*"));
        assert_eq!(prediction.validity, 1.0);
    }

    let measured = mirrored(Options { skip_predicted: false, ..options() });
    assert_eq!(fetch_all(&measured, 4, counterpart).len(), 2 + 2 * PAGES as usize);
    assert!(measured.frontier.rules().iter().any(|rule| rule.confidence.state == ndcrawl_dust::RuleState::Proven));
}

#[test]
fn a_sampled_url_tells_its_sampling_share() {
    let bench = mirrored(options());
    let mut judge = Judge::default();
    let late = |id: UrlId| counterpart(id).filter(|_| id.0 < 2 + PAGES + 150);
    let (mut sampled, mut brought_back) = (Vec::new(), Vec::new());
    loop {
        let leases = bench.lease(1, 0).leases;
        let Some(lease) = leases.first() else { break };
        if let Some(prediction) = &lease.sampled_prediction {
            assert!(prediction.rule.contains("http://mirror.test/*"), "{prediction:?}");
            let kind = if prediction.was_left_out { &mut brought_back } else { &mut sampled };
            kind.push((lease.id, prediction.share));
        }
        bench.ack_page(lease.id, judge.judge(lease.id, late(lease.id)));
    }
    let left = left_out(&bench);
    let predicted = sampled.iter().chain(&brought_back);
    assert!(predicted.clone().all(|(id, share)| [0.25, 0.125, 0.0625].contains(share) && !left.contains(id)));
    // A sampled page has withdrawn the rule, and the crawl fetched later what the rule had left out.
    assert!(sampled.iter().any(|(id, _)| late(*id).is_none()) && !brought_back.is_empty(), "{sampled:?}");
    let all = (sampled.len() + brought_back.len() + left.len()) as f64;
    let stand_for = sampled.iter().map(|(_, share)| 1.0 / share).sum::<f64>();
    assert!((0.5..2.0).contains(&(stand_for / all)), "{stand_for} of {all}");
}

#[test]
fn a_sampled_url_is_fetched_at_a_second_try_too_though_fewer_are_sampled_by_then() {
    let bench = mirrored(options());
    let mut judge = Judge::default();
    let mut sampled = std::collections::HashSet::new();
    for second in [0, 200] {
        while let Some(lease) = bench.lease(1, second).leases.pop() {
            // The first try fails, and the next one comes when all else is done.
            if lease.sampled_prediction.is_some() && sampled.insert(lease.id) {
                bench.nak(lease, 100);
            } else {
                bench.ack_page(lease.id, judge.judge(lease.id, counterpart(lease.id)));
            }
        }
    }
    let left = left_out(&bench);
    assert!(sampled.len() > 10 && !left.is_empty(), "{} {}", sampled.len(), left.len());
    assert!(sampled.iter().all(|id| !left.contains(id)), "{sampled:?}");
}

#[test]
fn what_was_left_out_is_left_out_after_a_restart_too() {
    let bench = mirrored(options());
    let pages = fetch_all(&bench, 4, counterpart);
    let left = left_out(&bench);
    bench.commit();
    let history = History { pages, ..History::default() };
    let again = bench.reopen(options(), &history).unwrap();
    assert_eq!(again.frontier.counts().queued, left.len() as u64, "the log says that they were queued");
    assert_eq!((fetch_all(&again, 4, counterpart), left_out(&again)), (Vec::new(), left));
    assert_eq!(again.frontier.rules(), bench.frontier.rules());
}

#[test]
fn a_rule_that_is_wrong_is_withdrawn_and_what_it_left_out_is_fetched() {
    let bench = mirrored(options());
    let late = |id: UrlId| counterpart(id).filter(|_| id.0 < 2 + PAGES + 50);
    let fetched = fetch_all(&bench, 1, late);
    let number = |id: &UrlId| (id.0 - 2) % PAGES;
    let missing: Vec<UrlId> = left_out(&bench).into_iter().filter(|id| number(id) >= 50).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(fetched.len() > 2 + PAGES as usize + 250);
}

#[test]
fn what_repeats_a_page_that_is_a_redirect_to_nothing_by_now_is_fetched() {
    let bench = mirrored(options());
    fetch_all(&bench, 4, counterpart);
    let left = left_out(&bench);
    let of = bench.frontier.prediction(left[0]).unwrap().of;
    bench.offer(link("http://site.test/nothing", 1));
    let nothing = bench.lease(1, 0).leases[0].id;
    bench.ack(nothing, false);
    bench.frontier.revise(vec![of]).unwrap();
    assert_eq!(bench.lease(1, 0).leases.iter().map(|lease| lease.id).collect::<Vec<_>>(), [of]);
    let gone = Ack { id: of, kind: OutcomeKind::Redirected, repeats: Some(nothing), worth: None };
    bench.frontier.ack(vec![gone]).unwrap();
    assert_eq!(bench.lease(9, 0).leases.iter().map(|lease| lease.id).collect::<Vec<_>>(), [left[0]]);
    assert!(left[1..].iter().all(|id| bench.frontier.prediction(*id).is_some()));
}

#[test]
fn nothing_waits_for_ever_for_a_host_that_has_its_pages() {
    let bench = mirrored(Options { max_pages_per_host: 100, ..options() });
    let fetched = fetch_all(&bench, 4, counterpart);
    let unfinished: Vec<_> = bench.frontier.unfinished().collect();
    assert_eq!(fetched.len() + unfinished.len(), 2 + 2 * PAGES as usize);
    assert_eq!(fetched.len(), 200, "no budget is left unused while something waits");
    assert_eq!(bench.frontier.counts().leased, 0);
}

#[test]
fn a_seed_is_fetched_whatever_a_rule_predicts() {
    let bench = mirrored(options());
    fetch_all(&bench, 4, counterpart);
    let id = left_out(&bench)[0];
    let url = bench.frontier.url(id).unwrap().url;
    bench.offer(link(&url, 0));
    assert_eq!(bench.lease(9, 0).leases.iter().map(|lease| lease.id).collect::<Vec<_>>(), [id]);
    assert_eq!(bench.frontier.prediction(id), None);
}

#[test]
fn redirects_to_the_site_are_evidence_too() {
    let bench = mirrored(options());
    let mut fetched = 0;
    loop {
        let answer = bench.lease(4, 0);
        if answer.leases.is_empty() {
            break;
        }
        for lease in answer.leases {
            fetched += 1;
            let (kind, repeats) = match counterpart(lease.id) {
                Some(target) => (OutcomeKind::Redirected, Some(target)),
                None => (OutcomeKind::Stored, None),
            };
            bench.frontier.ack(vec![Ack { id: lease.id, kind, repeats, worth: None }]).unwrap();
        }
    }
    let left = left_out(&bench);
    assert_eq!(fetched + left.len(), 2 + 2 * PAGES as usize);
    assert!(left.len() > PAGES as usize * 7 / 10, "{}", left.len());
}

/// Fetches a site and its mirror, of which each begins with links to 60 lists, of which each names two pages. Gives how
/// many URLs are seen at the end, and how many are left out. In between the process may die.
fn crawl_lists(options: &Options, dies_after: usize) -> (u64, usize) {
    let mut bench = Bench::new(options.clone());
    for host in ["site", "mirror"] {
        bench.offer(link(&format!("http://{host}.test/"), 0));
    }
    let (mut first_with, mut history) = (std::collections::HashMap::new(), History::default());
    for turn in 0.. {
        if turn == dies_after {
            bench.commit();
            bench = bench.reopen(options.clone(), &history).unwrap();
        }
        let Some(lease) = bench.lease(1, 0).leases.pop() else { break };
        let (url, id) = (lease.url.as_str(), lease.id);
        let names = |path: String| {
            bench.offer(link_from(id, &format!("{url}{path}"), lease.discovery.depth + 1));
        };
        match lease.discovery.depth {
            0 => (0..60).map(|list| format!("{list}/")).for_each(names),
            1 => (0..2).map(|page| format!("{page}.html")).for_each(names),
            _ => {}
        }
        let repeats = *first_with.entry(url.replace("mirror", "site")).or_insert(id);
        let repeats = (repeats != id).then_some(repeats);
        bench.ack_page(id, repeats);
        history.pages.push((id, repeats));
    }
    (bench.frontier.counts().seen, left_out(&bench).len())
}

#[test]
fn where_links_of_duplicates_are_followed_nothing_stays_hidden_behind_what_is_left_out() {
    let all = 2 * (1 + 60 + 120);
    let options = Options { host_concurrency: 1, max_pages_per_host: 0, ..Options::default() };
    let (seen, left_out) = crawl_lists(&options, usize::MAX);
    assert!(seen < all - 20 && left_out > 20, "{seen}, {left_out}");
    let options = Options { follows_duplicates: true, ..options };
    for dies_after in [usize::MAX, 130] {
        let (seen, left_out) = crawl_lists(&options, dies_after);
        assert!(seen == all && left_out > 60, "{seen}, {left_out}");
    }
}

/// A manual in two languages. Every third page of the original names its translation; the others have none, and there
/// are copies in their place. The first half of the numbers is the original's.
fn manual() -> Bench {
    let bench = Bench::new(options());
    bench.offer(link("http://site.test/", 0));
    for language in ["en", "de"] {
        for page in 0..PAGES {
            bench.offer(link(&format!("http://site.test/{language}/page-{page}.html"), 1));
        }
    }
    bench
}

fn copied(id: UrlId) -> Option<UrlId> {
    id.0.checked_sub(PAGES).filter(|original| *original > 0 && original % 3 > 0).map(UrlId)
}

/// Fetches so many pages of a manual, or all. The history is what a log would have of it.
fn read_manual(bench: &Bench, most: usize, judge: &mut Judge, history: &mut History) {
    for _ in 0..most {
        let Some(lease) = bench.lease(1, 0).leases.pop() else { return };
        if (1..=PAGES).contains(&lease.id.0) && lease.id.0 % 3 == 0 {
            let translation = lease.url.as_str().replace("/en/", "/de/");
            bench.offer(link_from(lease.id, &translation, 2));
        }
        let repeats = judge.judge(lease.id, copied(lease.id));
        bench.ack_page(lease.id, repeats);
        history.pages.push((lease.id, repeats));
    }
}

#[test]
fn what_is_translated_is_fetched_and_what_is_copied_is_not_also_in_a_later_run() {
    for dies_after in [usize::MAX, 450] {
        let (mut bench, mut judge, mut history) = (manual(), Judge::default(), History::default());
        read_manual(&bench, dies_after, &mut judge, &mut history);
        if dies_after < usize::MAX {
            history.counterparts = bench.commit().counterparts;
            bench = bench.reopen(options(), &history).unwrap();
            read_manual(&bench, usize::MAX, &mut judge, &mut history);
        }
        let left = left_out(&bench);
        assert!(left.iter().all(|id| copied(*id).is_some() || copied(UrlId(id.0 + PAGES)) == Some(*id)));
        assert!(left.len() > PAGES as usize / 2, "{}", left.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_url_ends_once_whatever_is_true_and_whenever_the_process_dies(
        unique in prop::collection::hash_set(0..PAGES, 0..40),
        most in 1..5usize,
        deaths in prop::collection::vec(1..120usize, 0..3),
        pages_a_host in prop_oneof![3 => Just(0), 1 => 50..250u64],
    ) {
        let options = Options { max_pages_per_host: pages_a_host, ..options() };
        let truth = |id: UrlId| counterpart(id).filter(|of| of.0 < 2 || !unique.contains(&(of.0 - 2)));
        let mut bench = mirrored(options.clone());
        let (mut history, mut judge) = (History::default(), Judge::default());
        for rounds in deaths {
            for _ in 0..rounds {
                for lease in bench.lease(most, 0).leases {
                    let repeats = judge.judge(lease.id, truth(lease.id));
                    bench.ack_page(lease.id, repeats);
                    history.pages.push((lease.id, repeats));
                }
            }
            let changes = bench.commit();
            history.add_paths(&changes);
            bench = bench.reopen(options.clone(), &history).unwrap();
        }
        history.pages.extend(fetch_rest(&bench, most, &mut judge, truth));
        let fetched: std::collections::BTreeSet<UrlId> = history.pages.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(fetched.len(), history.pages.len(), "no URL is fetched twice");
        let unfinished: Vec<_> = bench.frontier.unfinished().collect();
        prop_assert_eq!(fetched.len() + unfinished.len(), 2 + 2 * PAGES as usize);
        for (id, remaining) in unfinished {
            prop_assert!(!fetched.contains(&id));
            if remaining == HeldBack::Predicted {
                let of = bench.frontier.prediction(id).unwrap().of;
                prop_assert!(history.pages.contains(&(of, None)), "{} is no kept page", of);
            } else {
                prop_assert!(pages_a_host > 0);
            }
        }
    }
}
