//! The commands that need the other rooms.

use super::arguments::{DemoArguments, RunFlags, VerifyArguments};
use super::error::{CliError, exit};
use super::seeds::Seeds;
use super::settings::Settings;

/// Crawls, and gives the exit code. `seeds` may be empty if there is something to resume.
pub fn crawl(settings: Settings, seeds: Seeds, flags: RunFlags) -> Result<u8, CliError> {
    let _ = (settings, seeds, flags);
    Err(not_yet_joined("crawl"))
}

/// Serves a small site on loopback and crawls it. The settings are defaults, but for the log.
pub fn demo(settings: Settings, arguments: &DemoArguments) -> Result<u8, CliError> {
    let _ = (settings, arguments);
    Err(not_yet_joined("demo"))
}

/// Checks that an output folder is whole: 0 if it is, 1 if not.
pub fn verify(settings: Settings, arguments: &VerifyArguments) -> Result<u8, CliError> {
    let _ = (settings, arguments);
    Err(not_yet_joined("verify"))
}

fn not_yet_joined(command: &str) -> CliError {
    CliError::new(exit::INTERNAL, format!("{command}: not yet joined to the other rooms"))
}
