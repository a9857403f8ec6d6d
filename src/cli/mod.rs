//! *What did the user ask for, and what do they see?*
//!
//! ```text
//! argv ────────► args ──┐
//! environment ──────────┼─► config::merge ─► Settings ─► commands ─► exit code
//! files ─► config::file ┘        ▲
//!                         config::schema (the table of keys)
//! ```
//!
//! 1. [`args`] parses what was typed. It imports nothing but [`config`] and [`errors`].
//! 2. [`config`] merges and validates it once, into [`Settings`](config::Settings).
//! 3. `setup` turns settings into the options of each module; no module sees more.
//! 4. `commands` has one file per command. Only its dispatcher imports them; what they share lies below.
//!
//! Only this module prints and exits: data to stdout, everything else to stderr.

mod allocator;
pub mod args;
mod bar_lines;
#[cfg(feature = "cluster")]
mod cluster_access;
#[cfg(feature = "cluster")]
mod cluster_settings;
#[cfg(feature = "cluster")]
mod cluster_text;
pub mod clusters;
mod colors;
mod commands;
pub mod config;
mod cookie_file;
pub mod counts;
mod dashboard;
#[cfg(feature = "cluster")]
mod dividable;
pub mod errors;
pub mod eval_text;
pub mod format;
mod gates;
#[cfg(feature = "cluster")]
mod helper;
mod host;
mod log;
mod monitor;
mod next_step;
mod output_dir;
mod own_program;
pub mod progress;
mod reference_crawls;
#[cfg(test)]
mod reference_tests;
mod report_file;
mod rule_file;
mod run_crawl;
#[cfg(feature = "cluster")]
mod run_worker;
mod saved_settings;
pub mod seeds;
mod setup;
#[cfg(feature = "cluster")]
mod shared_dedup;
mod signals;
mod signing_key;
pub mod snapshot;
mod startup;
pub mod status_file;
#[cfg(feature = "cluster")]
mod step_progress;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod terminal_safe;
pub mod text_width;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::Parser;

use args::usage;
use errors::{CliError, exit};
use host::Host;

pub use host::RunHandle;
pub use own_program::set_own_program;

/// Runs the program: parses the arguments, runs the command, returns the exit code.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// Runs the program with these arguments, the first of which is the program's name. Returns the exit code.
///
/// It takes the process over: allocator, panic hook, log and signals.
pub fn main_with(arguments: Vec<OsString>) -> u8 {
    allocator::set();
    set_panic_hook();
    // The panic hook has printed the panic.
    panic::catch_unwind(|| run_process(arguments)).unwrap_or(exit::INTERNAL)
}

fn run_process(arguments: Vec<OsString>) -> u8 {
    let typed = words(&arguments);
    terminal::choose_color(usage::typed_color(&typed));
    if let Err(error) = usage::expect_two_dashes(&typed) {
        return fail(&error);
    }
    let arguments = match args::Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => match usage::classify(error, &typed) {
            usage::ParseOutcome::Error(error) => return fail(&error),
            usage::ParseOutcome::Print(text) => {
                // A reader that has closed the pipe (`| head`) is not an error.
                let _ = text.print();
                return exit::FINISHED;
            }
            usage::ParseOutcome::PrintText(text) => {
                return terminal::print(text).unwrap_or_else(|error| fail(&error));
            }
        },
    };
    commands::dispatch(arguments, &Host::Process).unwrap_or_else(|error| fail(&error))
}

/// Runs `crawl` or `dedup` inside another program, and returns the exit code and what would be printed.
///
/// The first argument is the program's name. Warnings go to stderr.
///
/// # Errors
/// What the program would print as its error.
pub fn run_embedded(arguments: Vec<OsString>, run: &RunHandle) -> Result<(u8, String), CliError> {
    let dispatched = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let typed = words(&arguments);
        let parsed = args::Arguments::try_parse_from(arguments);
        let arguments = parsed.map_err(|error| match usage::classify(error, &typed) {
            usage::ParseOutcome::Error(error) => error,
            usage::ParseOutcome::Print(_) | usage::ParseOutcome::PrintText(_) => {
                CliError::usage("help and version are for the program")
            }
        })?;
        commands::dispatch(arguments, &Host::Embedded(run.clone()))
    }));
    run.end();
    let code = dispatched.unwrap_or_else(|panic| {
        Err(CliError::new(exit::INTERNAL, format!("internal error: {}", panic_message(&*panic))))
    })?;
    Ok((code, run.take_summary()))
}

/// Returns the arguments as text, for hints.
fn words(arguments: &[OsString]) -> Vec<String> {
    arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn fail(error: &CliError) -> u8 {
    terminal::write_stderr(&error.to_string());
    error.code
}

/// Prints a panic, which is a bug, on one line; with a trace if `RUST_BACKTRACE` is set.
fn set_panic_hook() {
    let with_trace = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
        let what = panic_message(info.payload());
        let error = CliError::new(exit::INTERNAL, format!("internal error: {what}{place}"))
            .with_hint("the saved data is intact and the crawl can be resumed; please report this bug");
        terminal::write_stderr(&error.to_string());
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            with_trace(info);
        }
    }));
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_a_message_of_either_kind() {
        assert_eq!(panic_message(&"a"), "a");
        assert_eq!(panic_message(&"b".to_owned()), "b");
        assert_eq!(panic_message(&7), "no message");
    }
}
