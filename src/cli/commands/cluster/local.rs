//! `cluster local`: two servers on this machine, for trying a cluster, and for tests.

use std::process::{Command, Stdio};

use clap::ValueEnum as _;

use crate::cli::args::ClusterLocalArguments;
use crate::cli::errors::{CliError, exit};
use crate::cli::terminal::write_stderr;

/// What PostgreSQL's own programs are called with.
const SCRIPT: &str = include_str!("local.sh");

/// Has the servers do something. What they have to say, their address, goes to stdout.
pub(super) fn run(arguments: &ClusterLocalArguments) -> Result<u8, CliError> {
    let action = arguments.action.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, "ndcrawl", &action]).arg(&arguments.folder).stdin(Stdio::null()).stderr(Stdio::piped());
    let failed =
        |error: std::io::Error| CliError::usage(format!("sh cannot be run, which starts the servers: {error}"));
    let output = shell.stdout(Stdio::inherit()).spawn().and_then(|shell| shell.wait_with_output()).map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(CliError::usage(said.trim().to_owned()));
    }
    said.lines().for_each(write_stderr);
    Ok(exit::FINISHED)
}
