//! Groups of rules that one site's pages test together: rules that replace a directory by one of the same depth.
//!
//! A manual in eleven languages has 110 such rules, one for each pair. The links of a page tell copies from
//! translations in the same way for all of them. So the learner also measures each class of URLs for the whole group, a
//! URL at most once. While a group is proven for a class, each of its rules is trusted there after one hit, until its
//! own first miss.

use hashbrown::HashMap;

use super::confidence::{RuleConfidence, RuleState, RuleTest};
use super::rule::{Change, Rule};

/// The most groups.
const MAX_GROUPS: usize = 1 << 12;

/// What the rules of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey {
    origin: Change,
    /// Depths of the directories before and after.
    depths: [usize; 2],
}

impl GroupKey {
    fn of(rule: &Rule) -> Option<Self> {
        let start = rule.start.as_ref().filter(|_| rule.end.is_none() && rule.dropped.is_empty())?;
        let depths = [&start.from, &start.to].map(|text| text.matches('/').count());
        Some(Self { origin: rule.origin.clone(), depths })
    }
}

/// All groups, by number.
#[derive(Default)]
pub(super) struct RuleGroups {
    by_key: HashMap<GroupKey, u32>,
    /// Results by class of URL.
    groups: Vec<Vec<(&'static str, RuleConfidence)>>,
}

impl RuleGroups {
    /// Returns the group of a rule. `None` if it belongs to none, or there is no room.
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

    /// Returns the results of a group for a class of URLs, if it is proven there.
    pub(super) fn proven(&self, group: u32, kind: &str) -> Option<&RuleConfidence> {
        let kinds = self.groups[group as usize].iter();
        let mut proven = kinds.filter(|(_, confidence)| confidence.state == RuleState::Proven);
        proven.find(|(other, _)| *other == kind).map(|(_, confidence)| confidence)
    }

    /// Records a test of a group.
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

/// The tests of one URL by group and class: a miss if any rule of the group was wrong.
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
