//! Further workers on this machine: this program, started by itself.

use std::process::{Child, Command, Stdio};

use crate::cli::errors::{CliError, exit};

/// Another worker on this machine.
pub(super) struct Helper {
    child: Child,
    number: usize,
}

impl Helper {
    /// Starts worker number `number`. `arguments` adds to its command what it works on.
    pub fn start(number: usize, arguments: impl FnOnce(&mut Command)) -> Result<Self, CliError> {
        let failed = |error: std::io::Error| CliError::new(exit::INTERNAL, format!("worker {number}: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        arguments(&mut command);
        command.args(["--progress", "none"]).stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self { child: command.spawn().map_err(failed)?, number })
    }

    /// Waits for its end. Returns what is wrong, if it is neither one of these exit codes nor due to a stop.
    pub fn end(mut self, is_stopped: bool, codes: &[u8]) -> Option<String> {
        let number = self.number;
        match self.child.wait() {
            Ok(_) if is_stopped => None,
            Ok(status) if status.code().is_some_and(|code| codes.iter().any(|known| i32::from(*known) == code)) => None,
            Ok(status) => Some(format!("worker {number} ended with {status}")),
            Err(error) => Some(format!("worker {number}: {error}")),
        }
    }
}
