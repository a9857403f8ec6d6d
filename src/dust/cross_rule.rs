//! What the rules of one site have in common: those that put a directory in the place of another one, both as deep.
//!
//! Of a manual in eleven languages there are a hundred and ten such rules, one for each pair; and to what a page links
//! tells of all of them in the same way whether a URL is a copy of it. So each kind of URL is also measured for all
//! *siblings* together, a URL at most once. As long as they are proven right about a kind, each is believed about it
//! after one hit, until its own first miss.

use hashbrown::HashMap;

use super::confidence::{RuleConfidence, RuleState, RuleTest};
use super::rule::{Change, Rule};

/// Groups of siblings at most.
const MAX_GROUPS: usize = 1 << 12;

/// What siblings have in common.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey {
    origin: Change,
    /// Directories that go, and that come.
    depths: [usize; 2],
}

impl GroupKey {
    fn of(rule: &Rule) -> Option<Self> {
        let start = rule.start.as_ref().filter(|_| rule.end.is_none() && rule.dropped.is_empty())?;
        let depths = [&start.from, &start.to].map(|text| text.matches('/').count());
        Some(Self { origin: rule.origin.clone(), depths })
    }
}

/// All groups of siblings, by number.
#[derive(Default)]
pub(super) struct RuleGroups {
    by_key: HashMap<GroupKey, u32>,
    /// By kind of URL.
    groups: Vec<Vec<(&'static str, RuleConfidence)>>,
}

impl RuleGroups {
    /// The group of a rule, if it is of one and there is room.
    pub(super) fn group(&mut self, rule: &Rule) -> Option<u32> {
        let kin = GroupKey::of(rule)?;
        if !self.by_key.contains_key(&kin) && self.groups.len() >= MAX_GROUPS {
            return None;
        }
        Some(*self.by_key.entry(kin).or_insert_with(|| {
            self.groups.push(Vec::new());
            (self.groups.len() - 1) as u32
        }))
    }

    /// How the siblings do with a kind of URL, if they are right about it.
    pub(super) fn proven(&self, group: u32, kind: &str) -> Option<&RuleConfidence> {
        let kinds = self.groups[group as usize].iter();
        let mut proven = kinds.filter(|(_, confidence)| confidence.state == RuleState::Proven);
        proven.find(|(other, _)| *other == kind).map(|(_, confidence)| confidence)
    }

    /// Takes note of a test of all siblings.
    pub(super) fn record(&mut self, group: u32, kind: &'static str, test: RuleTest) {
        let kinds = &mut self.groups[group as usize];
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, confidence)) => {
                confidence.test(test);
            }
            None => {
                let mut confidence = RuleConfidence::default();
                confidence.test(test);
                kinds.push((kind, confidence));
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let kinds =
            self.groups.iter().map(|kinds| kinds.capacity() * size_of::<(&str, RuleConfidence)>()).sum::<usize>();
        kinds + self.groups.capacity() * size_of::<Vec<(&str, RuleConfidence)>>() + self.by_key.allocation_size()
    }
}

/// The outcome of a URL for each group of siblings and kind: a miss if any of them was wrong about it.
#[derive(Default)]
pub(super) struct GroupTests(Vec<(u32, &'static str, RuleTest)>);

impl GroupTests {
    pub(super) fn add(&mut self, group: u32, kind: &'static str, test: RuleTest) {
        match self.0.iter_mut().find(|(other, own, _)| (*other, *own) == (group, kind)) {
            Some((.., told)) => {
                *told = match (*told, test) {
                    (RuleTest::Hit { is_near: one }, RuleTest::Hit { is_near: other }) => {
                        RuleTest::Hit { is_near: one || other }
                    }
                    _ => RuleTest::Miss,
                }
            }
            None => self.0.push((group, kind, test)),
        }
    }

    pub(super) fn into_tests(self) -> impl Iterator<Item = (u32, &'static str, RuleTest)> {
        self.0.into_iter()
    }
}
