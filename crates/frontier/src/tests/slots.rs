//! Several frontiers with mail between them, beside one frontier, on random sites and in random order.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

use super::*;
use crate::{HeldBack, ScopeKind};
use ndcrawl_model::seeded::SeededRng;
use ndcrawl_model::{Deferral, Mailed, OwnSlots, Slot, SlotMap, Wait};

/// How a page names another.
#[derive(Clone, Copy, Debug)]
enum Naming {
    Link,
    OnlySeen,
    Sitemap,
    Redirect,
}

/// A random site. A page is a number below `pages`; some domains have several.
#[derive(Debug)]
struct MadeSite {
    domains: usize,
    seeds: Vec<usize>,
    links: Vec<Vec<(usize, Naming)>>,
}

impl MadeSite {
    fn new(random: &mut SeededRng) -> Self {
        let pages = 2 + random.below(40);
        let links = |random: &mut SeededRng| {
            if random.below(8) == 0 {
                return vec![(random.below(pages), Naming::Redirect)];
            }
            let naming = [Naming::Link, Naming::Link, Naming::Link, Naming::Link, Naming::OnlySeen, Naming::Sitemap];
            (0..random.below(5)).map(|_| (random.below(pages), *random.pick(&naming))).collect()
        };
        Self {
            domains: 1 + random.below(9),
            seeds: (0..1 + random.below(3)).map(|_| random.below(pages)).collect(),
            links: (0..pages).map(|_| links(random)).collect(),
        }
    }

    fn url(&self, page: usize) -> String {
        format!("http://domain-{}.test/{page}", page % self.domains)
    }

    /// Fetches a leased page: offers what it names, and ends the lease.
    fn fetch(&self, bench: &Bench, lease: &Lease) -> Ack {
        let page: usize = lease.url.as_url().path()[1..].parse().unwrap();
        let mut kind = OutcomeKind::Stored;
        for &(target, naming) in &self.links[page] {
            let Discovery { depth, hops, .. } = lease.discovery;
            let mut link = link_from(lease.id, &self.url(target), depth + 1);
            match naming {
                Naming::Link => {}
                Naming::OnlySeen => link.only_seen = Some(Deferral::DuplicateLink),
                Naming::Sitemap => link.discovery.kind = LinkKind::SitemapFile,
                Naming::Redirect => {
                    kind = OutcomeKind::Redirected;
                    link.discovery = Discovery { kind: LinkKind::Redirect, depth, hops: hops + 1, ..link.discovery };
                }
            }
            bench.offer(link);
        }
        let ack = Ack { id: lease.id, kind, repeats: None, worth: None };
        bench.frontier.ack(vec![ack]).unwrap();
        ack
    }
}

/// What is known of a URL at the end: its depth, and why it was not fetched.
type Fate = (Option<u16>, Option<HeldBack>);

/// Adds the fates of a frontier's own URLs. No URL is there already.
fn add_fates(fates: &mut BTreeMap<String, Fate>, bench: &Bench) {
    let unfinished: BTreeMap<UrlId, HeldBack> = bench.frontier.unfinished().collect();
    for (number, row) in bench.log.rows().into_iter().enumerate() {
        let id = UrlId(number as u32);
        if !matches!(row.state, UrlState::Elsewhere(_)) {
            let fate = (bench.frontier.depth(id), unfinished.get(&id).copied());
            assert_eq!(fates.insert(row.url, fate), None);
        }
    }
}

/// Returns the fates that one frontier gives.
fn fates_of_one(site: &MadeSite, options: &Options) -> BTreeMap<String, Fate> {
    let bench = Bench::new(options.clone());
    for &seed in &site.seeds {
        bench.offer(link(&site.url(seed), 0));
    }
    loop {
        let answer = bench.lease(3, 0);
        if answer.leases.is_empty() {
            assert_eq!(answer.wait, Wait::Done);
            break;
        }
        for lease in &answer.leases {
            site.fetch(&bench, lease);
        }
    }
    bench.commit();
    let mut fates = BTreeMap::new();
    add_fates(&mut fates, &bench);
    assert_eq!(bench.frontier.counts().seen, fates.len() as u64);
    fates
}

/// The store that the slots share: what their commits have made durable.
#[derive(Default)]
struct SharedStore {
    mail: BTreeMap<u64, (Slot, Mailed)>,
    sent: u64,
    /// Slots that had nothing queued or on lease at their last commit.
    idle: BTreeSet<Slot>,
}

impl SharedStore {
    fn is_over(&self, slots: usize) -> bool {
        self.idle.len() == slots && self.mail.is_empty()
    }
}

/// A slot at work.
struct Member {
    slot: Slot,
    options: Options,
    bench: Bench,
    /// What the log of the slot has beside its URLs.
    history: History,
    /// Outcomes and mail taken since the last commit.
    done: Vec<Ack>,
    taken: BTreeSet<u64>,
}

impl Member {
    fn new(options: &Options, map: SlotMap, slot: Slot) -> Self {
        let options = Options { own: Some(OwnSlots::new(map, [slot])), ..options.clone() };
        let bench = Bench::new(options.clone());
        Self { slot, options, bench, history: History::default(), done: Vec::new(), taken: BTreeSet::new() }
    }

    fn take_mail(&mut self, store: &SharedStore, most: usize) {
        let news = store.mail.iter().filter(|(id, (slot, _))| *slot == self.slot && !self.taken.contains(id));
        let news: Vec<(u64, Mailed)> = news.map(|(id, (_, mail))| (*id, mail.clone())).take(most).collect();
        self.taken.extend(news.iter().map(|(id, _)| *id));
        self.bench.frontier.deliver(news.into_iter().map(|(_, mail)| mail).collect()).unwrap();
    }

    fn fetch(&mut self, site: &MadeSite, most: usize) -> bool {
        let leases = self.bench.lease(most, 0).leases;
        self.done.extend(leases.iter().map(|lease| site.fetch(&self.bench, lease)));
        !leases.is_empty()
    }

    /// Commits in one transaction: the log, the mail sent and taken, and whether the slot is idle.
    fn commit(&mut self, store: &mut SharedStore) {
        let is_idle = self.bench.lease(0, 0).wait == Wait::Done;
        let changes = self.bench.commit();
        self.history.add_paths(&changes);
        self.history.leased = changes.leased;
        self.history.outcomes.extend(self.done.drain(..).map(|ack| (ack.id, ack.kind.is_page())));
        for mail in changes.outbox {
            store.mail.insert(store.sent, mail);
            store.sent += 1;
        }
        std::mem::take(&mut self.taken).iter().for_each(|id| drop(store.mail.remove(id)));
        if is_idle {
            store.idle.insert(self.slot)
        } else {
            store.idle.remove(&self.slot)
        };
    }

    fn die(&mut self) {
        self.bench = self.bench.reopen(self.options.clone(), &self.history).unwrap();
        assert_eq!(self.bench.frontier.take_changes().outbox, [], "restoring sends no mail");
        self.done.clear();
        self.taken.clear();
    }
}

/// A random crawl by several slots.
struct Schedule {
    site: MadeSite,
    options: Options,
    members: Vec<Member>,
    store: SharedStore,
    random: SeededRng,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let mut random = SeededRng::new(seed, "slots of the frontier");
        let site = MadeSite::new(&mut random);
        let scope = *random.pick(&[ScopeKind::Any, ScopeKind::Any, ScopeKind::Host, ScopeKind::Domain]);
        let options = Options { depth: 1 + random.below(6) as u16, scope, ..Options::default() };
        let map = SlotMap::new(NonZeroU16::new(1 + random.below(6) as u16).unwrap());
        let members: Vec<Member> = map.slots().map(|slot| Member::new(&options, map, slot)).collect();
        let mut schedule = Self { site, options, members, store: SharedStore::default(), random };
        schedule.offer_seeds(map);
        schedule
    }

    /// The seeds are committed before anything else happens, as the making of a crawl does.
    fn offer_seeds(&mut self, map: SlotMap) {
        for &seed in &self.site.seeds {
            let link = link(&self.site.url(seed), 0);
            self.members[usize::from(map.slot_of(&link.url).0)].bench.offer(link);
        }
        self.members.iter_mut().for_each(|member| member.commit(&mut self.store));
    }

    fn step(&mut self) {
        let (member, most) = (self.random.below(self.members.len()), 1 + self.random.below(3));
        let member = &mut self.members[member];
        match self.random.below(16) {
            0..=4 => member.take_mail(&self.store, most),
            5..=10 => drop(member.fetch(&self.site, most)),
            11..=14 => member.commit(&mut self.store),
            _ => member.die(),
        }
    }

    /// Lets every slot do all it can.
    fn round(&mut self) {
        for member in &mut self.members {
            member.take_mail(&self.store, usize::MAX);
            while member.fetch(&self.site, 2) {}
            member.commit(&mut self.store);
        }
    }

    /// Whether the committed state is the whole crawl of one frontier.
    fn is_whole(&mut self) -> bool {
        let mut fates = BTreeMap::new();
        for member in &mut self.members {
            member.die();
            let outcomes: BTreeSet<UrlId> = member.history.outcomes.iter().map(|(id, _)| *id).collect();
            assert_eq!(outcomes.len(), member.history.outcomes.len(), "a URL has two outcomes");
            add_fates(&mut fates, &member.bench);
        }
        fates == fates_of_one(&self.site, &self.options)
    }

    /// Runs until the end is found by `is_over`. Returns whether the crawl was whole then.
    fn run(&mut self, is_over: impl Fn(&SharedStore, usize) -> bool) -> bool {
        for step in 0..1000 {
            if is_over(&self.store, self.members.len()) {
                return self.is_whole();
            }
            if step < 400 { self.step() } else { self.round() }
        }
        panic!("the end is not found: {:?}", self.site);
    }
}

const SCHEDULES: u64 = 200;

#[test]
fn slots_with_mail_see_each_url_once_and_with_the_depths_of_one_frontier() {
    for seed in 0..SCHEDULES {
        let mut schedule = Schedule::new(seed);
        assert!(schedule.run(SharedStore::is_over), "seed {seed}: {:?}", schedule.site);
    }
}

#[test]
fn without_a_look_at_the_mail_the_end_comes_too_early() {
    let too_early = |seed: &u64| !Schedule::new(*seed).run(|store, slots| store.idle.len() == slots);
    assert!((0..SCHEDULES).filter(too_early).count() > 0);
}

/// The frontiers of two domains in two slots.
fn two_slots() -> [Bench; 2] {
    let map = SlotMap::new(NonZeroU16::new(1000).unwrap());
    let options =
        |url| Options { own: Some(OwnSlots::new(map, [map.slot_of(&link(url, 0).url)])), ..Options::default() };
    let benches = [HERE, THERE].map(|url| Bench::new(options(url)));
    benches[0].offer(link(HERE, 0));
    benches[1].offer(link(THERE, 0));
    benches.iter().for_each(|bench| assert_eq!(bench.commit().outbox, []));
    benches
}

const HERE: &str = "http://domain-0.test/";
const THERE: &str = "http://domain-1.test/";

fn mail(bench: &Bench) -> Vec<Mailed> {
    bench.commit().outbox.into_iter().map(|(_, mail)| mail).collect()
}

#[test]
fn a_link_is_mailed_again_only_if_it_tells_something_new() {
    let [here, _] = two_slots();
    let target = format!("{THERE}page");
    let only_seen = Link { only_seen: Some(Deferral::NoFollow), ..link_from(UrlId(0), &target, 1) };
    let reasons = |bench: &Bench| mail(bench).iter().map(|mail| (mail.only_seen, mail.discovery.depth)).collect();
    for (link, decision, mailed) in [
        (only_seen.clone(), Some(UrlState::Elsewhere(Some(Deferral::NoFollow))), vec![(Some(Deferral::NoFollow), 1)]),
        (only_seen.clone(), None, vec![]),
        (link_from(UrlId(0), &target, 1), None, vec![(None, 1)]),
        (link_from(UrlId(0), &target, 1), None, vec![]),
        (only_seen, None, vec![]),
    ] {
        assert_eq!(here.offer(link).decision, decision);
        let sent: Vec<(Option<Deferral>, u16)> = reasons(&here);
        assert_eq!(sent, mailed);
    }
    assert_eq!(here.frontier.counts().seen, 1);
    assert_eq!(here.frontier.unfinished().count(), 1);
}

#[test]
fn the_redirect_of_a_seed_keeps_its_standing_in_the_mail() {
    let [here, there] = two_slots();
    let redirect = Discovery { kind: LinkKind::Redirect, hops: 1, ..Discovery::new(LinkKind::Page, Some(UrlId(0)), 0) };
    let hop = |url: &str, referrer| Link { discovery: Discovery { referrer, ..redirect }, ..link(url, 0) };
    here.offer(hop(&format!("{THERE}hop"), Some(UrlId(0))));
    there.frontier.deliver(mail(&here)).unwrap();
    let seen = there.frontier.find(&format!("{THERE}hop")).unwrap();
    assert!(there.frontier.is_from_seed(seen));
    let wide = there.offer(hop("http://www.domain-1.test/", Some(seen)));
    assert_eq!(wide.decision, Some(UrlState::Queued));
}

#[test]
fn damaged_mail_is_refused_with_its_text() {
    let [here, _] = two_slots();
    let mail =
        Mailed { url: "no URL".to_owned(), discovery: Discovery::SEED, referrer: None, only_seen: None, clue: None };
    let refused = here.frontier.deliver(vec![mail]).unwrap_err();
    assert_eq!(refused.to_string(), "mail from another slot names 'no URL', which is not a canonical URL");
}

#[test]
fn a_url_of_another_slot_is_adopted_once_its_slot_is_taken() {
    let [here, _] = two_slots();
    let target = format!("{THERE}page");
    here.offer(link_from(UrlId(0), &target, 1));
    let letters = mail(&here);
    let map = SlotMap::new(NonZeroU16::new(1000).unwrap());
    let slots = [HERE, THERE].map(|url| map.slot_of(&link(url, 0).url));
    let options = Options { own: Some(OwnSlots::new(map, slots)), ..Options::default() };
    for is_found_by_link in [false, true] {
        let both = here.reopen(options.clone(), &History::default()).unwrap();
        both.offer(link(THERE, 0));
        assert_eq!(both.frontier.counts().queued, 2, "the URL is still another's");
        if is_found_by_link {
            both.offer(link_from(UrlId(0), &target, 1));
        }
        both.frontier.deliver(letters.clone()).unwrap();
        both.frontier.deliver(letters.clone()).unwrap();
        assert_eq!(both.frontier.counts().queued, 3);
        let changes = both.commit();
        assert_eq!(changes.outbox, []);
        let adopted: Vec<(&str, UrlState)> =
            changes.adopted.iter().map(|(_, row)| (row.url.as_str(), row.state)).collect();
        assert_eq!(adopted, [(target.as_str(), UrlState::Queued)]);

        // The log of the slot has it as a requeueing from then on.
        let path = Requeue { url: changes.adopted[0].0, discovery: changes.adopted[0].1.discovery };
        let history = History { paths: vec![PathRow::Requeued(path)], ..History::default() };
        let again = both.reopen(options.clone(), &history).unwrap();
        assert_eq!(again.frontier.counts().queued, 3);
        let mut leased = Vec::new();
        for second in 0..3 {
            for lease in again.lease(3, second).leases {
                again.ack(lease.id, true);
                leased.push(lease.url.to_string());
            }
        }
        assert_eq!(leased.iter().filter(|url| **url == target).count(), 1, "{leased:?}");
    }
}
