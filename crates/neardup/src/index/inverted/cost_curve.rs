//! The depths to which one list may be read, and those that can be optimal.

use super::impact_classes::CLASSES;

/// One depth: reading a list down to class `from` costs `cost` postings in all and leaves the floor at `floor`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadDepth {
    pub(super) cost: u32,
    pub(super) floor: u16,
    pub(super) from: u8,
}

/// The lower convex hull of cost over weight, points added by rising cost. The first point is the unread list.
#[derive(Debug, Default)]
pub(super) struct CostCurve {
    points: [ReadDepth; CLASSES + 1],
    len: usize,
}

impl CostCurve {
    /// Starts a new list, whose floor is `closed` while nothing is read.
    pub(super) fn begin(&mut self, closed: u16) {
        self.points[0] = ReadDepth { cost: 0, floor: closed, from: CLASSES as u8 };
        self.len = 1;
    }

    /// Adds a depth, and drops those that cannot be optimal any more.
    pub(super) fn add(&mut self, new: ReadDepth) {
        if self.points[self.len - 1].floor <= new.floor {
            return;
        }
        while let [.., before, last] = self.points() {
            if is_steeper(*before, *last, new) {
                break;
            }
            self.len -= 1;
        }
        self.points[self.len] = new;
        self.len += 1;
    }

    /// Returns the remaining points, from the unread list on.
    pub(super) fn points(&self) -> &[ReadDepth] {
        &self.points[..self.len]
    }
}

/// Returns whether a unit of weight costs more from `b` to `c` than from `a` to `b`.
fn is_steeper(a: ReadDepth, b: ReadDepth, c: ReadDepth) -> bool {
    let mass = |from: ReadDepth, to: ReadDepth| u64::from(from.floor - to.floor);
    u64::from(b.cost - a.cost) * mass(b, c) < u64::from(c.cost - b.cost) * mass(a, b)
}
