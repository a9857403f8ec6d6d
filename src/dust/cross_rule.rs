//! What the rules of one site have in common: those that put a directory in the place of another one, both as deep.
//!
//! Of a manual in eleven languages there are a hundred and ten such rules, one for each pair; and to what a page links
//! tells of all of them in the same way whether a URL is a copy of it. So each kind of URL is also measured for all
//! *siblings* together, a URL at most once. As long as they are proven right about a kind, each is believed about it
//! after one hit, until its own first miss.

use hashbrown::HashMap;

use super::confidence::{State, Test, Validity};
use super::rule::{Change, Rule};

/// Groups of siblings at most.
const MOST: usize = 1 << 12;

/// What siblings have in common.
#[derive(PartialEq, Eq, Hash)]
struct Kin {
    origin: Change,
    /// Directories that go, and that come.
    depths: [usize; 2],
}

impl Kin {
    fn of(rule: &Rule) -> Option<Self> {
        let start = rule.start.as_ref().filter(|_| rule.end.is_none() && rule.dropped.is_empty())?;
        let depths = [&start.from, &start.to].map(|text| text.matches('/').count());
        Some(Self { origin: rule.origin.clone(), depths })
    }
}

/// All groups of siblings, by number.
#[derive(Default)]
pub(super) struct Siblings {
    by_kin: HashMap<Kin, u32>,
    /// By kind of URL.
    groups: Vec<Vec<(&'static str, Validity)>>,
}

impl Siblings {
    /// The group of a rule, if it is of one and there is room.
    pub(super) fn group(&mut self, rule: &Rule) -> Option<u32> {
        let kin = Kin::of(rule)?;
        if !self.by_kin.contains_key(&kin) && self.groups.len() >= MOST {
            return None;
        }
        Some(*self.by_kin.entry(kin).or_insert_with(|| {
            self.groups.push(Vec::new());
            (self.groups.len() - 1) as u32
        }))
    }

    /// How the siblings do with a kind of URL, if they are right about it.
    pub(super) fn proven(&self, group: u32, kind: &str) -> Option<&Validity> {
        let kinds = self.groups[group as usize].iter();
        let mut proven = kinds.filter(|(_, validity)| validity.state == State::Proven);
        proven.find(|(other, _)| *other == kind).map(|(_, validity)| validity)
    }

    /// Takes note of a test of all siblings.
    pub(super) fn enter(&mut self, group: u32, kind: &'static str, test: Test) {
        let kinds = &mut self.groups[group as usize];
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, validity)) => {
                validity.test(test);
            }
            None => {
                let mut validity = Validity::default();
                validity.test(test);
                kinds.push((kind, validity));
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let kinds = self.groups.iter().map(|kinds| kinds.capacity() * size_of::<(&str, Validity)>()).sum::<usize>();
        kinds + self.groups.capacity() * size_of::<Vec<(&str, Validity)>>() + self.by_kin.allocation_size()
    }
}

/// The outcome of a URL for each group of siblings and kind: a miss if any of them was wrong about it.
#[derive(Default)]
pub(super) struct Tally(Vec<(u32, &'static str, Test)>);

impl Tally {
    pub(super) fn add(&mut self, group: u32, kind: &'static str, test: Test) {
        match self.0.iter_mut().find(|(other, own, _)| (*other, *own) == (group, kind)) {
            Some((.., told)) => {
                *told = match (*told, test) {
                    (Test::Hit { is_near: one }, Test::Hit { is_near: other }) => Test::Hit { is_near: one || other },
                    _ => Test::Miss,
                }
            }
            None => self.0.push((group, kind, test)),
        }
    }

    pub(super) fn into_tests(self) -> impl Iterator<Item = (u32, &'static str, Test)> {
        self.0.into_iter()
    }
}
