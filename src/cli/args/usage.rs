//! Turns messages of clap into the error format of this program.

use crate::cli::errors::CliError;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What clap returns instead of arguments: help or version to print, or an error.
pub enum ParseOutcome {
    /// Help or version, to be printed.
    Print(clap::Error),
    /// A usage error.
    Error(CliError),
}

/// Classifies what clap returns instead of arguments.
pub fn classify(error: clap::Error) -> ParseOutcome {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ParseOutcome::Print(error),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ParseOutcome::Error(missing_command(&error)),
        _ => ParseOutcome::Error(one_line(&error)),
    }
}

fn missing_command(error: &clap::Error) -> CliError {
    let text = error.to_string();
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("ndcrawl <COMMAND>");
    CliError::usage(format!("a command is missing: {usage}")).with_hint("--help lists the commands")
}

/// Returns the first paragraph of clap's text, which is the error; tips and usage follow it.
fn one_line(error: &clap::Error) -> CliError {
    let text = error.to_string();
    let paragraph = text.lines().take_while(|line| !line.trim().is_empty());
    let message = paragraph.map(str::trim).collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let words = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(words)) if !words.is_empty() && !message.contains("possible values") => {
            format!(" ({})", words.join(", "))
        }
        _ => String::new(),
    };
    CliError::usage(format!("{message}{words}")).with_hint(tip.unwrap_or("ndcrawl --help lists all flags"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Arguments;

    fn error(arguments: &[&str]) -> String {
        let arguments = ["ndcrawl"].iter().chain(arguments);
        match classify(Arguments::try_parse_from(arguments).unwrap_err()) {
            ParseOutcome::Error(error) => error.to_string(),
            ParseOutcome::Print(_) => panic!("not an error"),
        }
    }

    #[test]
    fn a_wrong_flag_is_one_line_and_a_hint() {
        insta::assert_snapshot!(error(&["--dealy", "1s"]), @r"
        error: unexpected argument '--dealy' found
        hint: a similar argument exists: '--delay'
        ");
        insta::assert_snapshot!(error(&["--scope", "hosts"]), @r"
        error: invalid value 'hosts' for '--scope <host|domain|prefix|any>' [possible values: host, domain, prefix, any]
        hint: a similar value exists: 'host'
        ");
        insta::assert_snapshot!(error(&["--delay"]), @r"
        error: a value is required for '--delay <DURATION>' but none was supplied
        hint: ndcrawl --help lists all flags
        ");
        insta::assert_snapshot!(error(&["--resume", "--fresh"]), @r"
        error: the argument '--resume' cannot be used with '--fresh'
        hint: ndcrawl --help lists all flags
        ");
        insta::assert_snapshot!(error(&["--force"]), @r"
        error: the following required arguments were not provided: --fresh
        hint: ndcrawl --help lists all flags
        ");
        insta::assert_snapshot!(error(&["config"]), @r"
        error: a command is missing: ndcrawl config <COMMAND>
        hint: --help lists the commands
        ");
        insta::assert_snapshot!(error(&["completions", "tcsh"]), @r"
        error: invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]
        hint: a similar value exists: 'zsh'
        ");
    }
}
