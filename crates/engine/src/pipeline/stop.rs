/// Whether a run should stop, and how urgently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No stop was requested.
    Go,
    /// Start no new fetches. Fetches in flight may end within the grace time.
    Soon,
    /// Drop the fetches in flight. Pages that have arrived are committed.
    Now,
    /// As `Soon`, because the disk has less free space than `--min-free` asks for.
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
    /// A signal or the user stopped it.
    Signal,
    /// The disk has less free space than `--min-free` asks for.
    DiskFull,
    /// A part failed. The run returns the error as well.
    Failed,
}
