//! Host rewrites: what many pairs of mirrored origins have in common, such as `http://mirror-` for `http://`.
//!
//! A rule covers two origins only, and each pair must prove itself. A *host rewrite* replaces a text at the start or
//! the end of an origin, at word boundaries (the substring substitutions of Bar-Yossef, Keidar and Schonfeld). It is
//! tested on hosts:
//!
//!  - An exact copy or a redirect confirms a host, as do two near-duplicates; further pages add nothing. So one large
//!    mirror does not make a rewrite trusted.
//!  - Four confirmed hosts make it trusted, if no page ever contradicted it.
//!  - A page counts for one host only. So hosts that all serve the same placeholder do not make a rewrite trusted.
//!  - One miss ends the trust for good.
//!
//! Under a trusted rewrite, one page that confirms a host proves that host's own rule. The learner then tests that rule
//! like any other, on 1 in 4 of the URLs that it predicts. So the crawl always fetches the first page of each host.

use hashbrown::HashMap;

use super::confidence::RuleTest;
use super::rule::Change;
use ndcrawl_model::UrlId;

/// The most points of a host, and the points of an exact copy or a redirect; a near-duplicate has half.
const HOST_POINTS: u32 = 2;
/// Points that make a rewrite trusted: four hosts, besides the pair that made it known.
const TRUSTED_POINTS: u32 = 4 * HOST_POINTS;
/// The most rewrites.
const MAX_REWRITES: usize = 256;
/// Hosts that the copy rate of a rewrite counts.
const COPY_RATE_HOSTS: usize = 64;

/// A text at the start or the end of an origin, replaced by another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostRewrite {
    change: Change,
    is_at_start: bool,
}

impl HostRewrite {
    /// Returns the rewrites between two origins that keep at least one word of the host.
    pub(super) fn of(origin: &Change) -> impl Iterator<Item = Self> {
        let (from, to) = (words(&origin.from), words(&origin.to));
        let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let pairs = from[same..].iter().rev().zip(to[same..].iter().rev());
        let same_at_end = pairs.take_while(|(one, other)| one == other).count();
        let cut = |all: &[&str], other: &[&str]| Change { from: all.concat(), to: other.concat() };
        let start = cut(&from[..from.len() - same_at_end], &to[..to.len() - same_at_end]);
        let end = cut(&from[same..], &to[same..]);
        let cross_host = [Self { change: start, is_at_start: true }, Self { change: end, is_at_start: false }];
        let both = |rewrite: &Self| {
            rewrite.apply(&origin.from).as_ref() == Some(&origin.to) && rewrite.reverse().apply(&origin.to).is_some()
        };
        cross_host.into_iter().filter(both)
    }

    /// Applies the rewrite to an origin; `None` if it does not apply.
    pub(super) fn apply(&self, origin: &str) -> Option<String> {
        let Change { from, to } = &self.change;
        let (rest, made) = if self.is_at_start {
            let rest = origin.strip_prefix(from.as_str())?;
            (rest, format!("{to}{rest}"))
        } else {
            let rest = origin.strip_suffix(from.as_str())?;
            (rest, format!("{rest}{to}"))
        };
        let seam = if self.is_at_start { from.len() } else { rest.len() };
        let is_whole = is_between_words(origin, seam);
        (is_whole && has_word_of_host(rest, self.is_at_start) && made != origin).then_some(made)
    }

    /// Returns the inverse rewrite.
    fn reverse(&self) -> Self {
        let Change { from, to } = &self.change;
        Self { change: Change { from: to.clone(), to: from.clone() }, is_at_start: self.is_at_start }
    }
}

/// Splits an origin into words (runs of letters and digits) and single characters between them.
fn words(origin: &str) -> Vec<&str> {
    let ends = origin.char_indices().map(|(at, _)| at).chain([origin.len()]).filter(|&at| is_between_words(origin, at));
    ends.scan(0, |start, end| Some(&origin[std::mem::replace(start, end)..end]))
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_between_words(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let is_of_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    !is_of_word(before.chars().next_back()) || !is_of_word(after.chars().next())
}

/// Whether the unchanged part, the end of an origin or else its start, contains a letter or digit of the host.
fn has_word_of_host(rest: &str, is_end: bool) -> bool {
    let of_host = if is_end {
        rest.trim_end_matches(|digit: char| digit.is_ascii_digit()).strip_suffix(':').unwrap_or(rest)
    } else {
        rest.split_once("://").map_or("", |(_, host)| host)
    };
    of_host.chars().any(char::is_alphanumeric)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Open,
    Trusted,
    Wrong,
}

/// A rewrite with its test results.
struct RewriteRecord {
    rewrite: HostRewrite,
    trust: Trust,
    /// Hosts that confirmed it, with their points.
    hosts: Vec<(Box<str>, u32)>,
    /// Pages that have counted for a host.
    pages: Vec<UrlId>,
    copy_rate: CopyRate,
}

/// The share of a rewrite's hosts that were copies, by the first conclusive page of each, whether it is trusted or not.
#[derive(Default)]
struct CopyRate {
    hosts: Vec<Box<str>>,
    copies: u32,
}

impl CopyRate {
    fn count(&mut self, origin: &str, is_copy: bool) {
        if self.hosts.len() < COPY_RATE_HOSTS && !self.hosts.iter().any(|host| **host == *origin) {
            self.hosts.push(origin.into());
            self.copies += u32::from(is_copy);
        }
    }

    /// Returns the share of copies, counting one more host that is not a copy.
    fn share(&self) -> f64 {
        f64::from(self.copies) / (self.hosts.len() as f64 + 1.0)
    }
}

impl RewriteRecord {
    fn new(rewrite: HostRewrite) -> Self {
        Self { rewrite, trust: Trust::Open, hosts: vec![], pages: vec![], copy_rate: CopyRate::default() }
    }

    /// Returns the likelihood that an origin is a copy if the rewrite says so.
    fn likelihood(&self) -> f64 {
        if self.trust == Trust::Trusted { 1.0 } else { self.copy_rate.share() }
    }

    fn points(&self) -> u32 {
        self.hosts.iter().map(|(_, points)| points).sum()
    }

    /// Returns how much evidence would be lost with it. A contradicted rewrite is worth remembering.
    fn weight(&self) -> u32 {
        if self.trust == Trust::Wrong { HOST_POINTS } else { self.points() }
    }

    fn count(&mut self, origin: &str, points: u32) {
        match self.hosts.iter_mut().find(|(host, _)| **host == *origin) {
            Some((_, counted)) => *counted = (*counted + points).min(HOST_POINTS),
            None => self.hosts.push((origin.into(), points)),
        }
        if self.points() >= TRUSTED_POINTS {
            self.trust = Trust::Trusted;
        }
    }
}

/// The effect of a test on the rules of a rewrite.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TrustChange {
    Nothing,
    /// The rules of these origins are trusted; a page has confirmed each.
    Carried(Vec<Box<str>>),
    /// The rewrite lost its trust: the hosts whose rules may rest on it.
    Lost(Vec<Box<str>>),
}

/// All host rewrites.
#[derive(Default)]
pub(super) struct CrossHostRules {
    all: Vec<RewriteRecord>,
    by_rewrite: HashMap<HostRewrite, u32>,
}

impl CrossHostRules {
    /// Adds the rewrites between two origins.
    pub(super) fn learn(&mut self, origin: &Change) {
        for rewrite in HostRewrite::of(origin) {
            if self.by_rewrite.contains_key(&rewrite) {
                continue;
            }
            let known = RewriteRecord::new(rewrite.clone());
            let place = if self.all.len() < MAX_REWRITES {
                self.all.push(known);
                self.all.len() - 1
            } else {
                // The least confirmed one makes room.
                let idle = self.all.iter().enumerate().filter(|(_, known)| known.trust != Trust::Trusted);
                let Some((place, _)) = idle.min_by_key(|(_, known)| known.weight()) else { return };
                let before = std::mem::replace(&mut self.all[place], known);
                self.by_rewrite.remove(&before.rewrite);
                place
            };
            self.by_rewrite.insert(rewrite, place as u32);
        }
    }

    /// Counts an imported rule as a confirmed host.
    pub(super) fn trust(&mut self, origin: &Change) {
        self.learn(origin);
        for rewrite in HostRewrite::of(origin) {
            let Some(&place) = self.by_rewrite.get(&rewrite) else { continue };
            let known = &mut self.all[place as usize];
            if known.trust == Trust::Open {
                known.count(&origin.from, HOST_POINTS);
            }
        }
    }

    /// Returns the rewrites that apply to an origin, each with its result.
    pub(super) fn applying(&self, origin: &str) -> Vec<(usize, String)> {
        let cross_host = self.all.iter().enumerate();
        cross_host.filter_map(|(place, known)| Some((place, known.rewrite.apply(origin)?))).collect()
    }

    /// Returns the origins of which an origin may be a copy, each with its likelihood: 1 if the rewrite is trusted.
    pub(super) fn mirrored_origins(&self, origin: &str) -> Vec<(String, f64)> {
        let telling = self.all.iter().filter(|known| known.likelihood() > 0.0);
        telling.filter_map(|known| Some((known.rewrite.apply(origin)?, known.likelihood()))).collect()
    }

    /// Returns the number of the inverse rewrite.
    pub(super) fn reverse(&self, place: usize) -> Option<usize> {
        self.by_rewrite.get(&self.all[place].rewrite.reverse()).map(|&reverse| reverse as usize)
    }

    /// Applies a rewrite to an origin.
    pub(super) fn apply(&self, place: usize, origin: &str) -> Option<String> {
        self.all.get(place)?.rewrite.apply(origin)
    }

    /// Records a test: the rewrite predicted that a page of `origin` repeats `page`.
    pub(super) fn record(&mut self, place: usize, origin: &str, page: UrlId, test: RuleTest) -> TrustChange {
        let known = &mut self.all[place];
        known.copy_rate.count(origin, test != RuleTest::Miss);
        match (known.trust, test) {
            (Trust::Wrong, _) => TrustChange::Nothing,
            (before, RuleTest::Miss) => {
                known.trust = Trust::Wrong;
                let hosts = std::mem::take(&mut known.hosts).into_iter().map(|(host, _)| host).collect();
                known.pages = Vec::new();
                if before == Trust::Trusted { TrustChange::Lost(hosts) } else { TrustChange::Nothing }
            }
            (Trust::Trusted, RuleTest::Hit { .. }) => {
                if known.pages.contains(&page) || known.hosts.iter().any(|(host, _)| **host == *origin) {
                    return TrustChange::Nothing;
                }
                known.pages.push(page);
                known.hosts.push((origin.into(), HOST_POINTS));
                TrustChange::Carried(vec![origin.into()])
            }
            (Trust::Open, RuleTest::Hit { is_near }) => {
                let has_all = known.hosts.iter().any(|(host, points)| **host == *origin && *points >= HOST_POINTS);
                if has_all || known.pages.contains(&page) {
                    return TrustChange::Nothing;
                }
                known.pages.push(page);
                known.count(origin, if is_near { 1 } else { HOST_POINTS });
                if known.trust != Trust::Trusted {
                    return TrustChange::Nothing;
                }
                TrustChange::Carried(known.hosts.iter().map(|(host, _)| host.clone()).collect())
            }
        }
    }

    /// Returns the bytes in use, without texts.
    pub(super) fn bytes(&self) -> usize {
        let of = |known: &RewriteRecord| {
            known.hosts.capacity() * size_of::<(Box<str>, u32)>()
                + known.pages.capacity() * size_of::<UrlId>()
                + known.copy_rate.hosts.capacity() * size_of::<Box<str>>()
        };
        self.all.iter().map(of).sum::<usize>()
            + self.all.capacity() * size_of::<RewriteRecord>()
            + self.by_rewrite.allocation_size()
    }
}
