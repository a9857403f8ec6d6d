//! From outcomes to rules, and from rules to what is foretold.

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::alternates::{Editions, Naming};
use super::confidence::{State, Test, Validity};
use super::cross_host::{Families, Follows};
use super::cross_rule::Tally;
use super::infer_rule::difference;
use super::listing::ListedRule;
use super::parts::Parts;
use super::rule::{Change, Rule};
use super::rule_scope::contexts;
use super::table::{RuleId, Table};
use crate::model::{OutcomeKind, UrlId};

/// Pages that are remembered by what is left of their URLs without some parameters.
const KEYS: usize = 1 << 20;
/// Redirects and duplicates in a row that are followed to the page itself.
const HOPS: usize = 12;

/// A URL that has got its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a> {
    /// Its number.
    pub id: UrlId,
    /// The URL.
    pub url: &'a str,
    /// Its outcome.
    pub kind: OutcomeKind,
    /// The page that it repeats, or the target of its redirect.
    pub repeats: Option<(UrlId, &'a str)>,
}

/// What a proven rule says of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foretold {
    /// The URL says what this one says.
    pub target: UrlId,
    /// The rule that says so.
    pub rule: RuleId,
    /// Whether the URL is to be fetched all the same.
    pub is_sampled: bool,
    /// As one in so many is.
    pub one_in: u64,
}

/// Learns rules from outcomes. Cost of an outcome: a look at each rule of its origin, 256 at most, and at each family,
/// as many at most; of a unique page as many rules again for each that foretells something of it. Memory: some 16
/// bytes for each page and redirect, 9 to 18 for each link to a counterpart, and some hundreds for each rule.
pub struct Learner {
    seed: u64,
    table: Table,
    families: Families,
    /// Of each page the page that it repeats, itself if none; of each redirect its target.
    originals: HashMap<u32, u32>,
    /// Pages by what is left of their URLs without some parameters.
    by_key: HashMap<u64, u32>,
    editions: Editions,
    proven: usize,
    withdrawn: Vec<RuleId>,
    contested: HashSet<UrlId>,
    /// Whether a family is believed no longer since this was last asked.
    has_lost_family: bool,
}

impl Learner {
    /// One that knows nothing. `seed` is that of all sampling.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            table: Table::default(),
            families: Families::default(),
            originals: HashMap::new(),
            by_key: HashMap::new(),
            editions: Editions::default(),
            proven: 0,
            withdrawn: Vec::new(),
            contested: HashSet::new(),
            has_lost_family: false,
        }
    }

    /// Takes a rule from elsewhere, with its state and its tests. Before all outcomes.
    pub fn take(&mut self, listed: &ListedRule) {
        let Some(rule) = self.table.place(&listed.rule) else { return };
        let entry = &mut self.table.entries[rule as usize];
        let Some(context) = entry.find_or_add(&listed.context) else { return };
        let validity = &mut entry.contexts[context].1;
        self.proven -= usize::from(validity.state == State::Proven);
        *validity = listed.validity;
        self.proven += usize::from(validity.state == State::Proven);
        let is_ground = listed.context == "*" && listed.validity.state == State::Proven && !listed.validity.carried;
        if is_ground && listed.rule.only_moves() {
            self.families.vouch(&listed.rule.origin);
        }
    }

    /// Bytes that it takes, but for the texts of rules.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
            + self.originals.allocation_size()
            + self.by_key.allocation_size()
            + self.editions.bytes()
            + self.contested.allocation_size()
            + self.families.bytes()
    }

    /// Whether a rule foretells anything. What siblings have proved together does not, as long as no rule has proved
    /// itself: on a small site that would be little to go by.
    pub fn foretells(&self) -> bool {
        self.proven > 0
    }

    /// Takes note of a link from a page to its [counterpart](super::are_counterparts) or to itself, before the page's
    /// outcome.
    /// Whether that is to be remembered, and was not known.
    pub fn note_counterpart(&mut self, page: UrlId, counterpart: UrlId) -> bool {
        self.editions.note(page, counterpart)
    }

    /// Takes note of an outcome: tests the rules that had said something of the URL, then learns from it. `find`
    /// gives the number of a URL that was seen.
    pub fn note(&mut self, noted: Noted<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        use OutcomeKind::{ExactDuplicate, NearDuplicate, NotModified, Redirected, Stored};
        let original = match (noted.kind, noted.repeats) {
            (Stored | NotModified, _) => noted.id,
            (NearDuplicate | ExactDuplicate | Redirected, Some((of, _))) => of,
            _ => return,
        };
        self.test(&noted, &find);
        self.test_families(&noted, find);
        if let Some((_, url)) = noted.repeats {
            self.support(noted.url, url);
            if noted.kind != Redirected {
                self.support(url, noted.url);
            }
        }
        self.originals.insert(noted.id.0, original.0);
        self.remember_keys(&noted);
    }

    /// The kept page behind a URL that has its outcome.
    pub fn original(&self, id: UrlId) -> Option<UrlId> {
        let mut place = id.0;
        for _ in 0..HOPS {
            let next = *self.originals.get(&place)?;
            if next == place {
                return Some(UrlId(place));
            }
            place = next;
        }
        None
    }

    /// What proven rules say of a URL, those that were right most often first.
    pub fn foretell(&self, url: &str, find: impl Fn(&str) -> Option<UrlId>) -> Vec<Foretold> {
        let Some(parts) = Parts::of(url).filter(|_| self.proven > 0) else { return Vec::new() };
        let id = find(url);
        let mut foretold = Vec::new();
        let mut sampled = u64::MIN;
        for &place in self.table.of_origin(parts.origin) {
            let entry = &self.table.entries[place as usize];
            let Some((target, _)) = self.target(&entry.rule, url, &find) else { continue };
            let naming = id.map_or(Naming::Unknown, |id| self.naming(target, id));
            let Some(context) = entry.deciding(url, naming, &self.table.siblings) else { continue };
            let validity = entry.contexts[context].1;
            sampled = sampled.max(entry.sampled(context, &self.table.siblings));
            foretold.push((validity.run, target, RuleId { rule: place, context: context as u32 }));
        }
        foretold.sort_unstable_by_key(|&(run, _, rule)| (std::cmp::Reverse(run), rule));
        // What is sampled of a smaller share is sampled of a larger one too.
        let is_sampled = sampled > 0 && xxh3_64_with_seed(url.as_bytes(), self.seed) < u64::MAX / sampled;
        foretold.into_iter().map(|(_, target, rule)| Foretold { target, rule, is_sampled, one_in: sampled }).collect()
    }

    /// Whether a URL may repeat a page of its site that was fetched: a rule that puts a directory in the place of
    /// another one says so, and was right more often than wrong.
    ///
    /// Of other hosts nothing is suspected: editions of a manual are alike in some parts and not in others, and if the
    /// parts in which two are alike are fetched last, these are all that a rule for a third one is tested on.
    pub fn suspects(&self, url: &str, find: impl Fn(&str) -> Option<UrlId>) -> bool {
        let Some(parts) = Parts::of(url) else { return false };
        let id = find(url);
        let entries = self.table.of_origin(parts.origin).iter().map(|&place| &self.table.entries[place as usize]);
        let mut of_site = entries.filter(|entry| entry.siblings.is_some() && entry.rule.stays_there());
        of_site.any(|entry| {
            let Some((target, _)) = self.target(&entry.rule, url, &find) else { return false };
            let is_fetched = self.original(target).is_some_and(|original| Some(original) != id);
            let naming = id.map_or(Naming::Unknown, |id| self.naming(target, id));
            is_fetched && entry.is_promising(url, naming)
        })
    }

    /// Whether nothing was learnt yet.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// The rules that are believed no longer since this was last asked.
    pub fn take_withdrawn(&mut self) -> Vec<RuleId> {
        std::mem::take(&mut self.withdrawn)
    }

    /// The URLs, since this was last asked, of which one rule says that they repeat a page, and another one that they
    /// repeat a unique page that has come since. One of the two rules is wrong: which one, only fetching them tells.
    pub fn take_contested(&mut self) -> HashSet<UrlId> {
        std::mem::take(&mut self.contested)
    }

    /// The origins of which that of a URL may be a copy, since others of its kind are, and how likely it is, in (0, 1]:
    /// 1 if it is believed.
    pub fn copied(&self, url: &str) -> Vec<(String, f64)> {
        Parts::of(url).map_or_else(Vec::new, |parts| self.families.copied(parts.origin))
    }

    /// Whether less is said so than when this was last asked.
    pub fn take_lost_family(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_family)
    }

    /// A rule, its context, and how it does there.
    pub fn rule(&self, id: RuleId) -> Option<(&Rule, &str, Validity)> {
        self.table.get(id)
    }

    /// What a rule would have made a URL of, if that can be told.
    pub fn behind(&self, rule: RuleId, made: &str) -> Option<String> {
        self.table.get(rule)?.0.reverse()?.apply(made)
    }

    /// All rules in all contexts that were tested.
    pub fn rules(&self) -> impl Iterator<Item = (RuleId, &Rule, &str, Validity)> {
        let siblings = &self.table.siblings;
        self.table.entries.iter().enumerate().flat_map(move |(rule, entry)| {
            entry.contexts.iter().enumerate().map(move |(context, (name, _))| {
                let id = RuleId { rule: rule as u32, context: context as u32 };
                (id, &entry.rule, &**name, entry.standing(context, siblings))
            })
        })
    }

    fn target(&self, rule: &Rule, url: &str, find: impl Fn(&str) -> Option<UrlId>) -> Option<(UrlId, String)> {
        let made = rule.apply(url)?;
        let by_key = || self.by_key.get(&self.key(rule, &made)).copied().map(UrlId);
        let target = find(&made).or_else(|| if rule.only_drops() { by_key() } else { None });
        target.map(|target| (target, made))
    }

    /// To what a page links of which a URL is said to be a copy.
    fn naming(&self, page: UrlId, url: UrlId) -> Naming {
        self.original(page).map_or(Naming::Pending, |original| self.editions.naming(page, original, url))
    }

    fn test(&mut self, noted: &Noted<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        let Some(parts) = Parts::of(noted.url) else { return };
        let (mut tested, mut contested) = (Vec::new(), Vec::new());
        for &place in self.table.of_origin(parts.origin) {
            let rule = &self.table.entries[place as usize].rule;
            let target = self.target(rule, noted.url, &find).filter(|(target, _)| *target != noted.id);
            let Some((target, made)) = target else { continue };
            match self.result(noted, target) {
                Some(test) => tested.push((place, target, made, test)),
                None if self.says(place, noted, target) && self.is_contested(noted, target, &made, &find) => {
                    contested.push(target)
                }
                None => {}
            }
        }
        self.contested.extend(contested);
        let mut tally = Tally::default();
        for (place, target, made, test) in tested {
            let naming = self.naming(target, noted.id);
            self.enter(place, noted.url, naming, test);
            if let Some(group) = self.table.entries[place as usize].siblings {
                naming.kinds().for_each(|(_, own)| tally.add(group, own, test));
            }
            // That two pages say the same, or do not, is as true the other way round; of a redirect it is not.
            let reverse = self.table.entries[place as usize].rule.reverse();
            let reverse = reverse
                .filter(|_| noted.kind != OutcomeKind::Redirected)
                .filter(|reverse| reverse.apply(&made).as_deref() == Some(noted.url));
            if let Some(reverse) = reverse.and_then(|reverse| self.table.find(&reverse)) {
                // What the page itself repeats is noted later: its own links are known by now.
                self.enter(reverse, &made, self.editions.naming(noted.id, noted.id, target), test);
            }
        }
        for (group, kind, test) in tally.into_tests() {
            self.table.siblings.enter(group, kind, test);
        }
    }

    /// Tests what families say of a URL. What is said of its counterpart is the same, but for a redirect.
    fn test_families(&mut self, noted: &Noted<'_>, find: impl Fn(&str) -> Option<UrlId>) {
        let Some(parts) = Parts::of(noted.url) else { return };
        let mut tested = Vec::new();
        for (family, origin) in self.families.applying(parts.origin) {
            let made = format!("{origin}{}", &noted.url[parts.origin.len()..]);
            let target = find(&made).filter(|target| *target != noted.id);
            let Some(target) = target else { continue };
            // A redirect says by itself where the page is, whether that was fetched or not.
            let is_told = noted.kind == OutcomeKind::Redirected && noted.repeats.is_some_and(|(of, _)| of == target);
            let page = if is_told { Some(target) } else { self.original(target) };
            let test = if is_told { Some(Test::Hit { is_near: false }) } else { self.result(noted, target) };
            if let (Some(page), Some(test)) = (page, test) {
                tested.push((family, origin, page, test));
            }
        }
        for (family, origin, page, test) in tested {
            let follows = self.families.enter(family, parts.origin, page, test);
            self.follow(family, follows);
            let reverse = self.families.reverse(family).filter(|_| noted.kind != OutcomeKind::Redirected);
            let reverse =
                reverse.filter(|&reverse| self.families.apply(reverse, &origin).as_deref() == Some(parts.origin));
            if let Some(reverse) = reverse {
                let follows = self.families.enter(reverse, &origin, page, test);
                self.follow(reverse, follows);
            }
        }
    }

    /// Believes rules for the sake of a family, or no longer.
    fn follow(&mut self, family: usize, follows: Follows) {
        let (hosts, is_lost) = match follows {
            Follows::Nothing => return,
            Follows::Carried(hosts) => (hosts, false),
            Follows::Lost(hosts) => (hosts, true),
        };
        self.has_lost_family |= is_lost;
        for from in hosts {
            let Some(to) = self.families.apply(family, &from) else { continue };
            let rule = Rule { origin: Change::new(&from, &to), start: None, end: None, dropped: Vec::new() };
            let place = if is_lost { self.table.find(&rule) } else { self.table.place(&rule) };
            let Some(place) = place else { continue };
            let Some((_, validity)) = self.table.entries[place as usize].contexts.first_mut() else { continue };
            if is_lost && validity.shake() {
                self.withdrawn.push(RuleId { rule: place, context: 0 });
                self.proven -= 1;
            } else if !is_lost && validity.carry_over() {
                self.proven += 1;
            }
        }
    }

    /// What came of a URL of which it was said that it says what `target` says; `None` if that tells nothing. What
    /// repeats another page than was said is no hit: where two hosts have the same pages, each would bear out what is
    /// wrong of both. It is a miss if it says exactly what that other page says; what is nearly like one may be nearly
    /// like both.
    fn result(&self, noted: &Noted<'_>, target: UrlId) -> Option<Test> {
        let foretold = self.original(target).filter(|original| *original != noted.id)?;
        let repeats = noted.repeats.map(|(of, _)| of);
        let is_near = noted.kind == OutcomeKind::NearDuplicate;
        let is_it = match noted.kind {
            OutcomeKind::Stored | OutcomeKind::NotModified => return Some(Test::Miss),
            OutcomeKind::Redirected => {
                repeats == Some(target) || repeats.and_then(|of| self.original(of)) == Some(foretold)
            }
            _ => repeats == Some(foretold),
        };
        match noted.kind {
            _ if is_it => Some(Test::Hit { is_near }),
            OutcomeKind::ExactDuplicate => Some(Test::Miss),
            _ => None,
        }
    }

    /// Whether a rule foretells of a URL that it says what `target` says.
    fn says(&self, rule: u32, noted: &Noted<'_>, target: UrlId) -> bool {
        let naming = self.naming(target, noted.id);
        self.table.entries[rule as usize].deciding(noted.url, naming, &self.table.siblings).is_some()
    }

    /// Whether a unique page is said to be what `target` is, which was not fetched, and of which is said that it
    /// repeats another page.
    fn is_contested(&self, noted: &Noted<'_>, target: UrlId, made: &str, find: impl Fn(&str) -> Option<UrlId>) -> bool {
        let is_unique = matches!(noted.kind, OutcomeKind::Stored | OutcomeKind::NotModified);
        let is_unfetched = !self.originals.contains_key(&target.0);
        is_unique && is_unfetched && {
            let mut originals = self.foretell(made, find).into_iter().filter_map(|other| self.original(other.target));
            originals.any(|original| original != noted.id)
        }
    }

    fn enter(&mut self, place: u32, url: &str, naming: Naming, test: Test) {
        let entry = &mut self.table.entries[place as usize];
        let mut contexts = entry.contexts_of(url);
        contexts.extend(naming.kinds().map(|(_, own)| own.to_owned()));
        entry.count_name(url, test != Test::Miss);
        for name in contexts {
            let Some(context) = entry.find_or_add(&name) else { continue };
            let was_believed = entry.is_believed(context, &self.table.siblings);
            let validity = &mut entry.contexts[context].1;
            let was_proven = validity.state == State::Proven;
            if validity.test(test) || (was_believed && test == Test::Miss) {
                self.withdrawn.push(RuleId { rule: place, context: context as u32 });
            }
            match (was_proven, validity.state == State::Proven) {
                (false, true) => self.proven += 1,
                (true, false) => self.proven -= 1,
                _ => {}
            }
        }
    }

    /// Two URLs say the same: so does the rule that makes one of the other.
    fn support(&mut self, url: &str, original: &str) {
        let Some(rule) = difference(url, original) else { return };
        if rule.only_moves() {
            self.families.learn(&rule.origin);
        }
        let Some(place) = self.table.place(&rule) else { return };
        let entry = &mut self.table.entries[place as usize];
        for name in contexts(&rule, url) {
            if let Some(context) = entry.find_or_add(&name) {
                let support = &mut entry.contexts[context].1.support;
                *support = support.saturating_add(1);
            }
        }
    }

    /// Remembers a page by what rules leave of its URL, for those that have other values of the parameters dropped.
    fn remember_keys(&mut self, noted: &Noted<'_>) {
        let Some(parts) = Parts::of(noted.url).filter(|parts| parts.query.is_some()) else { return };
        for &place in self.table.of_origin(parts.origin) {
            let rule = &self.table.entries[place as usize].rule;
            if rule.only_drops()
                && self.by_key.len() < KEYS
                && let Some(made) = rule.apply(noted.url)
            {
                self.by_key.entry(self.key(rule, &made)).or_insert(noted.id.0);
            }
        }
    }

    fn key(&self, rule: &Rule, made: &str) -> u64 {
        let seed = rule.dropped.iter().fold(self.seed, |seed, name| xxh3_64_with_seed(name.as_bytes(), seed));
        xxh3_64_with_seed(made.as_bytes(), seed)
    }
}
