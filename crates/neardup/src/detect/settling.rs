//! When index and statistics take in what was decided.

/// The pages between two updates of index and statistics. It belongs to the definition of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// After every so many pages of the log, at fixed page numbers.
    Every(u32),
    /// Where [`Decider::settle`](super::Decider::settle) is called: at the ends of [turns](super::TurnInput).
    AtMarks,
}

impl Default for Settling {
    fn default() -> Self {
        Self::Every(Self::PAGES)
    }
}

impl Settling {
    /// The pages between two updates by default.
    pub(super) const PAGES: u32 = 16;

    /// Returns whether an update is due before page `number`.
    pub(super) fn is_due(self, number: u32) -> bool {
        match self {
            Self::Every(pages) => number.is_multiple_of(pages.max(1)),
            Self::AtMarks => false,
        }
    }

    /// Returns how many pages from `number` on are decided before the next update, at most. Of marks nothing is known:
    /// [`usize::MAX`].
    pub fn until_due(self, number: u32) -> usize {
        match self {
            Self::Every(pages) => (pages.max(1) - number % pages.max(1)) as usize,
            Self::AtMarks => usize::MAX,
        }
    }
}
