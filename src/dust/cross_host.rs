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

use super::confidence::Test;
use super::rule::Change;
use crate::model::UrlId;

/// What a host counts at most, and what an exact copy or a redirect does; a near-duplicate counts half as much.
const OF_A_HOST: u32 = 2;
/// What makes a family believed: four hosts, besides the one by which it becomes known.
const BELIEVED: u32 = 4 * OF_A_HOST;
/// Families at most.
const MOST: usize = 256;
/// Hosts of a family by which its habit is told.
const TELLING: usize = 64;

/// A text at the start or at the end of an origin that stands in the place of another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Family {
    change: Change,
    is_at_start: bool,
}

impl Family {
    /// The families of which two origins may be: those that leave a word of the host alone.
    pub(super) fn of(origin: &Change) -> impl Iterator<Item = Self> {
        let (from, to) = (words(&origin.from), words(&origin.to));
        let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let pairs = from[same..].iter().rev().zip(to[same..].iter().rev());
        let same_at_end = pairs.take_while(|(one, other)| one == other).count();
        let cut = |all: &[&str], other: &[&str]| Change { from: all.concat(), to: other.concat() };
        let start = cut(&from[..from.len() - same_at_end], &to[..to.len() - same_at_end]);
        let end = cut(&from[same..], &to[same..]);
        let families = [Self { change: start, is_at_start: true }, Self { change: end, is_at_start: false }];
        let both = |family: &Self| {
            family.apply(&origin.from).as_ref() == Some(&origin.to) && family.reverse().apply(&origin.to).is_some()
        };
        families.into_iter().filter(both)
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
enum Standing {
    Open,
    Believed,
    Wrong,
}

/// A family, and how it does.
struct Known {
    family: Family,
    standing: Standing,
    /// Hosts that bore it out, and how much each counts.
    hosts: Vec<(Box<str>, u32)>,
    /// Pages that count for a host.
    pages: Vec<UrlId>,
    habit: Habit,
}

/// How many of the hosts of a family were copies by the first of their pages that told, whether it is believed or not.
#[derive(Default)]
struct Habit {
    hosts: Vec<Box<str>>,
    copies: u32,
}

impl Habit {
    fn count(&mut self, origin: &str, is_copy: bool) {
        if self.hosts.len() < TELLING && !self.hosts.iter().any(|host| **host == *origin) {
            self.hosts.push(origin.into());
            self.copies += u32::from(is_copy);
        }
    }

    /// The share of copies, as if one host more had been none.
    fn share(&self) -> f64 {
        f64::from(self.copies) / (self.hosts.len() as f64 + 1.0)
    }
}

impl Known {
    fn new(family: Family) -> Self {
        Self { family, standing: Standing::Open, hosts: vec![], pages: vec![], habit: Habit::default() }
    }

    /// How likely that is a copy of which it says so.
    fn likelihood(&self) -> f64 {
        if self.standing == Standing::Believed { 1.0 } else { self.habit.share() }
    }

    fn points(&self) -> u32 {
        self.hosts.iter().map(|(_, points)| points).sum()
    }

    /// How much is lost with it. That it was wrong is worth to be remembered.
    fn weight(&self) -> u32 {
        if self.standing == Standing::Wrong { OF_A_HOST } else { self.points() }
    }

    fn count(&mut self, origin: &str, points: u32) {
        match self.hosts.iter_mut().find(|(host, _)| **host == *origin) {
            Some((_, counted)) => *counted = (*counted + points).min(OF_A_HOST),
            None => self.hosts.push((origin.into(), points)),
        }
        if self.points() >= BELIEVED {
            self.standing = Standing::Believed;
        }
    }
}

/// What follows from a test of a family.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    /// The rules of these origins are believed; a page has borne out each.
    Carried(Vec<Box<str>>),
    /// It was believed, and is no more: the hosts whose rules may rest on it.
    Lost(Vec<Box<str>>),
}

/// All families.
#[derive(Default)]
pub(super) struct Families {
    all: Vec<Known>,
    by_family: HashMap<Family, u32>,
    believed: usize,
}

impl Families {
    /// Makes the families of a pair of origins known.
    pub(super) fn learn(&mut self, origin: &Change) {
        for family in Family::of(origin) {
            if self.by_family.contains_key(&family) {
                continue;
            }
            let known = Known::new(family.clone());
            let place = if self.all.len() < MOST {
                self.all.push(known);
                self.all.len() - 1
            } else {
                // The one that was borne out least makes room.
                let idle = self.all.iter().enumerate().filter(|(_, known)| known.standing != Standing::Believed);
                let Some((place, _)) = idle.min_by_key(|(_, known)| known.weight()) else { return };
                let before = std::mem::replace(&mut self.all[place], known);
                self.by_family.remove(&before.family);
                place
            };
            self.by_family.insert(family, place as u32);
        }
    }

    /// A rule of which it is known from elsewhere that it holds.
    pub(super) fn vouch(&mut self, origin: &Change) {
        self.learn(origin);
        for family in Family::of(origin) {
            let Some(&place) = self.by_family.get(&family) else { continue };
            let known = &mut self.all[place as usize];
            if known.standing == Standing::Open {
                known.count(&origin.from, OF_A_HOST);
                self.believed += usize::from(known.standing == Standing::Believed);
            }
        }
    }

    /// The families that apply to an origin, and what each makes of it.
    pub(super) fn applying(&self, origin: &str) -> Vec<(usize, String)> {
        let families = self.all.iter().enumerate();
        families.filter_map(|(place, known)| Some((place, known.family.apply(origin)?))).collect()
    }

    /// The origins of which an origin may be a copy, and how likely it is: certainly, if a family is believed.
    pub(super) fn copied(&self, origin: &str) -> Vec<(String, f64)> {
        let telling = self.all.iter().filter(|known| known.likelihood() > 0.0);
        telling.filter_map(|known| Some((known.family.apply(origin)?, known.likelihood()))).collect()
    }

    /// The family that makes of what this one has made what it was.
    pub(super) fn reverse(&self, place: usize) -> Option<usize> {
        self.by_family.get(&self.all[place].family.reverse()).map(|&reverse| reverse as usize)
    }

    /// What a family makes of an origin.
    pub(super) fn apply(&self, place: usize, origin: &str) -> Option<String> {
        self.all.get(place)?.family.apply(origin)
    }

    /// A page of an origin was said to repeat `page`.
    pub(super) fn enter(&mut self, place: usize, origin: &str, page: UrlId, test: Test) -> Follows {
        let known = &mut self.all[place];
        known.habit.count(origin, test != Test::Miss);
        match (known.standing, test) {
            (Standing::Wrong, _) => Follows::Nothing,
            (before, Test::Miss) => {
                known.standing = Standing::Wrong;
                self.believed -= usize::from(before == Standing::Believed);
                let hosts = std::mem::take(&mut known.hosts).into_iter().map(|(host, _)| host).collect();
                known.pages = Vec::new();
                if before == Standing::Believed { Follows::Lost(hosts) } else { Follows::Nothing }
            }
            (Standing::Believed, Test::Hit { .. }) => {
                if known.pages.contains(&page) || known.hosts.iter().any(|(host, _)| **host == *origin) {
                    return Follows::Nothing;
                }
                known.pages.push(page);
                known.hosts.push((origin.into(), OF_A_HOST));
                Follows::Carried(vec![origin.into()])
            }
            (Standing::Open, Test::Hit { is_near }) => {
                let has_all = known.hosts.iter().any(|(host, points)| **host == *origin && *points >= OF_A_HOST);
                if has_all || known.pages.contains(&page) {
                    return Follows::Nothing;
                }
                known.pages.push(page);
                known.count(origin, if is_near { 1 } else { OF_A_HOST });
                if known.standing != Standing::Believed {
                    return Follows::Nothing;
                }
                self.believed += 1;
                Follows::Carried(known.hosts.iter().map(|(host, _)| host.clone()).collect())
            }
        }
    }

    /// Bytes that they take, but for their texts.
    pub(super) fn bytes(&self) -> usize {
        let of = |known: &Known| {
            known.hosts.capacity() * size_of::<(Box<str>, u32)>()
                + known.pages.capacity() * size_of::<UrlId>()
                + known.habit.hosts.capacity() * size_of::<Box<str>>()
        };
        self.all.iter().map(of).sum::<usize>()
            + self.all.capacity() * size_of::<Known>()
            + self.by_family.allocation_size()
    }
}
