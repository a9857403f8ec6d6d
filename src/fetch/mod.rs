//! *What does the server say, asked politely?*

mod address;
mod error;
mod options;
mod pace;
mod politeness;
mod retry;
#[cfg(test)]
mod test;

pub use address::{AddressGuard, public_address};
pub use error::{FetchError, FetchFailure};
pub use options::{Options, ResolveOverride};
pub use politeness::{CrawlDelay, Permit, Politeness, Traffic};
pub use retry::{back_off, retry_after, retry_status, slow_down_status};
