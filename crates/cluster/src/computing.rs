//! Work of the processor among tasks that wait.

/// Runs what takes long on the processor. Other tasks of this thread, if there are any, move to another one.
pub(super) fn computing<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
