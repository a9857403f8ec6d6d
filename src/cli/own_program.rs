//! How this program starts itself once more.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a library in another program was told of how that starts it.
static TOLD: OnceLock<OwnProgram> = OnceLock::new();

/// A program, and the arguments before those of a command.
#[derive(Clone, Debug)]
pub(super) struct OwnProgram {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl OwnProgram {
    /// Finds this program.
    pub fn find() -> io::Result<Self> {
        if let Some(told) = TOLD.get() {
            return Ok(told.clone());
        }
        // The running file, also if an update has replaced it meanwhile.
        let running = Path::new("/proc/self/exe");
        let program = if running.exists() { running.to_owned() } else { std::env::current_exe()? };
        Ok(Self { program, arguments: Vec::new() })
    }
}

/// Tells how this library is run as the program `ndcrawl` where it is part of another program, such as Python. The first
/// call counts.
pub fn set_own_program(program: PathBuf, arguments: Vec<OsString>) {
    let _ = TOLD.set(OwnProgram { program, arguments });
}
