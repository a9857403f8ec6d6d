//! What the parts of the frontier ask the engine to do with a URL.

use super::host_queues::QueuedUrl;
use super::url_state::{HeldBack, UrlPhase};

/// A change that the engine applies to the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Puts a URL back into its queue, if it is still in this phase.
    Requeue(QueuedUrl, UrlPhase),
    /// Takes the first URL of a queue out, to wait for another URL.
    Hold(QueuedUrl),
    /// Takes the first URL of a queue out, for this reason.
    LeaveOut(QueuedUrl, HeldBack),
}
