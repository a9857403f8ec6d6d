/// How urgently a run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It goes on.
    Go,
    /// No new fetches; those in flight may end within the time of grace.
    Soon,
    /// Fetches in flight are dropped; what arrived is committed.
    Now,
    /// As `Soon`, because the disk has less than the free space asked for.
    DiskFull,
    /// As `Now`, because a part failed.
    Failed,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing was left to do within scope and budgets.
    Finished,
    /// The time limit was reached.
    Time,
    /// A stop was asked for.
    Signal,
    /// Too little free space.
    DiskFull,
    /// A part failed; the error is reported beside.
    Failed,
}
