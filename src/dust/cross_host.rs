//! What the origins of many copies have in common: `http://mirror-` before the rest where the pages have `http://`.
//!
//! A rule tells of two origins only, and has to prove itself for each pair anew. A *family* is what becomes of the one
//! in the same way as of others: a text at the start or at the end of the origin in the place of another (the substring
//! substitutions of Bar-Yossef, Keidar and Schonfeld, at whole words of the origin). Its unit of evidence is the host:
//! one exact copy or redirect there bears it out, or two near-duplicates, and further pages add nothing, so that one
//! large mirror makes no family. Four hosts make it believed, if none was ever against it; and a page counts for one
//! host only, so that hosts that are all under construction make none either. A family that was ever wrong is believed
//! no more.
//!
//! What a believed family says of a host is no more than that one page which bears it out is enough to believe
//! that host's own rule. That one is then tested as any other, on one in four of the URLs of which it says something.
//! So the first page of each host is always fetched; and all follows from outcomes still.

use hashbrown::HashMap;

use super::confidence::RuleTest;
use super::rule::Change;
use crate::model::UrlId;

/// What a host counts at most, and what an exact copy or a redirect does; a near-duplicate counts half as much.
const HOST_POINTS: u32 = 2;
/// What makes a family believed: four hosts, besides the one by which it becomes known.
const TRUSTED_POINTS: u32 = 4 * HOST_POINTS;
/// CrossHostRules at most.
const MAX_REWRITES: usize = 256;
/// Hosts of a family by which its habit is told.
const COPY_RATE_HOSTS: usize = 64;

/// A text at the start or at the end of an origin that stands in the place of another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostRewrite {
    change: Change,
    is_at_start: bool,
}

impl HostRewrite {
    /// The families of which two origins may be: those that leave a word of the host alone.
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

    /// What it makes of an origin; `None` if it does not apply.
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

    /// The family that makes of what this one has made what it was.
    fn reverse(&self) -> Self {
        let Change { from, to } = &self.change;
        Self { change: Change { from: to.clone(), to: from.clone() }, is_at_start: self.is_at_start }
    }
}

/// An origin, cut between all letters and digits that belong together, and each character between them.
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

/// Whether there is something of a host in what is left alone, the end of an origin or else its start.
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

/// A family, and how it does.
struct RewriteRecord {
    rewrite: HostRewrite,
    trust: Trust,
    /// Hosts that bore it out, and how much each counts.
    hosts: Vec<(Box<str>, u32)>,
    /// Pages that count for a host.
    pages: Vec<UrlId>,
    copy_rate: CopyRate,
}

/// How many of the hosts of a family were copies by the first of their pages that told, whether it is believed or not.
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

    /// The share of copies, as if one host more had been none.
    fn share(&self) -> f64 {
        f64::from(self.copies) / (self.hosts.len() as f64 + 1.0)
    }
}

impl RewriteRecord {
    fn new(rewrite: HostRewrite) -> Self {
        Self { rewrite, trust: Trust::Open, hosts: vec![], pages: vec![], copy_rate: CopyRate::default() }
    }

    /// How likely that is a copy of which it says so.
    fn likelihood(&self) -> f64 {
        if self.trust == Trust::Trusted { 1.0 } else { self.copy_rate.share() }
    }

    fn points(&self) -> u32 {
        self.hosts.iter().map(|(_, points)| points).sum()
    }

    /// How much is lost with it. That it was wrong is worth to be remembered.
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

/// What follows from a test of a family.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TrustChange {
    Nothing,
    /// The rules of these origins are believed; a page has borne out each.
    Carried(Vec<Box<str>>),
    /// It was believed, and is no more: the hosts whose rules may rest on it.
    Lost(Vec<Box<str>>),
}

/// All families.
#[derive(Default)]
pub(super) struct CrossHostRules {
    all: Vec<RewriteRecord>,
    by_rewrite: HashMap<HostRewrite, u32>,
    believed: usize,
}

impl CrossHostRules {
    /// Makes the families of a pair of origins known.
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
                // The one that was borne out least makes room.
                let idle = self.all.iter().enumerate().filter(|(_, known)| known.trust != Trust::Trusted);
                let Some((place, _)) = idle.min_by_key(|(_, known)| known.weight()) else { return };
                let before = std::mem::replace(&mut self.all[place], known);
                self.by_rewrite.remove(&before.rewrite);
                place
            };
            self.by_rewrite.insert(rewrite, place as u32);
        }
    }

    /// A rule of which it is known from elsewhere that it holds.
    pub(super) fn trust(&mut self, origin: &Change) {
        self.learn(origin);
        for rewrite in HostRewrite::of(origin) {
            let Some(&place) = self.by_rewrite.get(&rewrite) else { continue };
            let known = &mut self.all[place as usize];
            if known.trust == Trust::Open {
                known.count(&origin.from, HOST_POINTS);
                self.believed += usize::from(known.trust == Trust::Trusted);
            }
        }
    }

    /// The families that apply to an origin, and what each makes of it.
    pub(super) fn applying(&self, origin: &str) -> Vec<(usize, String)> {
        let cross_host = self.all.iter().enumerate();
        cross_host.filter_map(|(place, known)| Some((place, known.rewrite.apply(origin)?))).collect()
    }

    /// The origins of which an origin may be a copy, and how likely it is: certainly, if a family is believed.
    pub(super) fn mirrored_origins(&self, origin: &str) -> Vec<(String, f64)> {
        let telling = self.all.iter().filter(|known| known.likelihood() > 0.0);
        telling.filter_map(|known| Some((known.rewrite.apply(origin)?, known.likelihood()))).collect()
    }

    /// The family that makes of what this one has made what it was.
    pub(super) fn reverse(&self, place: usize) -> Option<usize> {
        self.by_rewrite.get(&self.all[place].rewrite.reverse()).map(|&reverse| reverse as usize)
    }

    /// What a family makes of an origin.
    pub(super) fn apply(&self, place: usize, origin: &str) -> Option<String> {
        self.all.get(place)?.rewrite.apply(origin)
    }

    /// A page of an origin was said to repeat `page`.
    pub(super) fn record(&mut self, place: usize, origin: &str, page: UrlId, test: RuleTest) -> TrustChange {
        let known = &mut self.all[place];
        known.copy_rate.count(origin, test != RuleTest::Miss);
        match (known.trust, test) {
            (Trust::Wrong, _) => TrustChange::Nothing,
            (before, RuleTest::Miss) => {
                known.trust = Trust::Wrong;
                self.believed -= usize::from(before == Trust::Trusted);
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
                self.believed += 1;
                TrustChange::Carried(known.hosts.iter().map(|(host, _)| host.clone()).collect())
            }
        }
    }

    /// Bytes that they take, but for their texts.
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
