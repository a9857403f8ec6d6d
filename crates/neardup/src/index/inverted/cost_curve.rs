//! The options of reading one list, and those of them that can be the best.

use super::impact_classes::CLASSES;

/// Reading a list down to class `from` costs `cost` in all and leaves the floor at `floor`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) cost: u32,
    pub(super) floor: u16,
    pub(super) from: u8,
}

/// The lower hull of cost over mass, points added by rising cost. The first is the closed list.
#[derive(Debug, Default)]
pub(super) struct Hull {
    points: [Point; CLASSES + 1],
    len: usize,
}

impl Hull {
    /// Begins anew, for a list whose floor is `closed` while nothing is read.
    pub(super) fn begin(&mut self, closed: u16) {
        self.points[0] = Point { cost: 0, floor: closed, from: CLASSES as u8 };
        self.len = 1;
    }

    /// Adds an option, and drops those that it makes useless.
    pub(super) fn add(&mut self, new: Point) {
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

    /// What is left, from the closed list on.
    pub(super) fn points(&self) -> &[Point] {
        &self.points[..self.len]
    }
}

/// Whether a unit of mass costs more from `b` to `c` than from `a` to `b`.
fn is_steeper(a: Point, b: Point, c: Point) -> bool {
    let mass = |from: Point, to: Point| u64::from(from.floor - to.floor);
    u64::from(b.cost - a.cost) * mass(b, c) < u64::from(c.cost - b.cost) * mass(a, b)
}
