//! *What was asked for, and what does a person see?*
//!
//! ```text
//! argv ─► arguments ─┐
//! environment ───────┼─► merge ─► Settings ─► run ─► exit code
//! files ─► file ─────┘      ▲
//!                         keys (the one table of what can be set)
//! ```
//!
//! First what was typed ([`arguments`]), then what it means ([`Settings`]): merged once, validated
//! once. Every other room receives only its own options. This room alone prints and exits: data to
//! stdout, everything else to stderr.

mod against;
mod allocator;
pub mod arguments;
pub mod check;
pub mod clusters;
mod commands;
mod dashboard;
mod dedup;
mod defaults;
mod dry_run;
pub mod error;
pub mod evaluation;
pub mod explain;
pub mod export;
pub mod file;
mod flags;
pub mod format;
mod help;
pub mod http_values;
pub mod listen_address;
mod log;
pub mod merge;
mod monitor;
mod output_dir;
pub mod percent;
pub mod progress;
mod reindex;
mod reporting;
mod rules;
pub mod run;
mod saved_settings;
pub mod schema;
pub mod seeds;
pub mod settings;
mod setup;
mod signals;
pub mod source;
pub mod status;
pub mod summary;
mod summary_build;
pub mod table;
mod template;
pub mod terminal;
pub mod units;
mod usage;
pub mod value;
pub mod value_enums;

use std::panic;
use std::process::ExitCode;

use clap::Parser;

pub use arguments::RunFlags;
pub use error::{CliError, exit};
pub use progress::{Progress, Snapshot};
pub use seeds::{Seed, Seeds};
pub use settings::{Settings, fingerprint_difference};
pub use status::StatusFile;
pub use summary::Summary;

/// The program: parses the arguments of the process, does what they ask for, gives the exit code.
pub fn main() -> ExitCode {
    allocator::set();
    tell_panics_in_one_line();
    // The hook has told the panic; what is left is the exit code.
    let code = panic::catch_unwind(run_process).unwrap_or(exit::INTERNAL);
    ExitCode::from(code)
}

fn run_process() -> u8 {
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => match usage::refusal(error) {
            usage::Refusal::Error(error) => return fail(&error),
            usage::Refusal::Print(text) => {
                // A reader that has gone away (`| head`) is no error.
                let _ = text.print();
                return exit::FINISHED;
            }
        },
    };
    commands::dispatch(arguments).unwrap_or_else(|error| fail(&error))
}

fn fail(error: &CliError) -> u8 {
    terminal::write_stderr(&error.to_string());
    error.code
}

/// A panic is a fault of this program: told in one line, with a trace only for those who ask.
fn tell_panics_in_one_line() {
    let with_trace = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
        let what = panic_message(info.payload());
        let error = CliError::new(exit::INTERNAL, format!("internal fault: {what}{place}"))
            .with_hint("what was saved is kept, the crawl can be resumed; please report this");
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
