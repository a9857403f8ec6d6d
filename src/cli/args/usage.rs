//! Turns messages of clap into the error format of this program, with a hint that helps.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::front_help::FRONT_HELP;
use super::{Arguments, foreign_flags};
use crate::cli::config::value::Scalar;
use crate::cli::config::value_enums::ColorChoice;
use crate::cli::errors::CliError;

/// What clap returns instead of arguments.
pub enum ParseOutcome {
    /// Help or version, to be printed.
    Print(clap::Error),
    /// The short help.
    PrintText(&'static str),
    /// A usage error.
    Error(CliError),
}

/// Classifies what clap returns instead of the arguments `typed`, the first of which is the program's name.
pub fn classify(error: clap::Error, typed: &[String]) -> ParseOutcome {
    match error.kind() {
        ErrorKind::DisplayHelp if TypedLine::new(typed).wants_front_help() => ParseOutcome::PrintText(FRONT_HELP),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ParseOutcome::Print(error),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ParseOutcome::Error(missing_command(&error)),
        _ => ParseOutcome::Error(one_line(&error, &TypedLine::new(typed))),
    }
}

/// Returns the color that `--color` asks for, also on a line that cannot be parsed.
pub fn typed_color(typed: &[String]) -> ColorChoice {
    let values = typed.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("--color") {
        Some("") => typed.get(at + 1).map(String::as_str),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    let mut choices = values.filter_map(|value| ColorChoice::from_text(value).ok());
    choices.next_back().unwrap_or_default()
}

/// Refuses a long flag with one dash, such as `-depth`, that would be read as a short flag and its value: `-d epth`.
///
/// # Errors
/// A usage error that names the flag that is meant.
pub fn expect_two_dashes(typed: &[String]) -> Result<(), CliError> {
    let line = TypedLine::new(typed);
    // The values of these short flags are numbers, or they have none.
    let is_name = |word: &str| {
        let mut characters = word.chars().skip(1);
        matches!(characters.next(), Some('c' | 'd' | 'h' | 't')) && characters.next().is_some_and(char::is_alphabetic)
    };
    let words = line.words.iter().filter(|_| line.is_crawl());
    let Some(word) = words.copied().find(|word| is_name(word) && line.is_long_with_one_dash(word)) else {
        return Ok(());
    };
    let hint = line.with_two_dashes(word).or_else(|| foreign_flags::instead_of(word));
    Err(CliError::usage(format!("unexpected argument '{word}' found")).with_hint(hint.unwrap_or_else(|| line.help())))
}

/// Returns the command that a misspelled word means, if one is close.
pub fn similar_command(word: &str) -> Option<String> {
    const LEAST_ALIKE: f64 = 0.6;
    let command = Arguments::command();
    let names = command.get_subcommands().map(|command| command.get_name().to_owned());
    let alike = names.map(|name| (strsim::normalized_damerau_levenshtein(&name, word), name));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(alike, _)| *alike >= LEAST_ALIKE).map(|(_, name)| name)
}

fn missing_command(error: &clap::Error) -> CliError {
    let text = error.to_string();
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("ndcrawl <COMMAND>");
    CliError::usage(format!("a command is missing: {usage}")).with_hint("--help lists the commands")
}

/// Returns the first paragraph of clap's text, which is the error; tips and usage follow it.
fn one_line(error: &clap::Error, typed: &TypedLine<'_>) -> CliError {
    let text = error.to_string();
    let paragraph = text.lines().take_while(|line| !line.trim().is_empty());
    let message = paragraph.map(str::trim).collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let words = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(words)) if !words.is_empty() && !message.contains("possible values") => {
            format!(" ({})", words.join(", "))
        }
        _ => String::new(),
    };
    // Advice to pass an unknown flag as a value helps nobody.
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let tip = tip.filter(|tip| !tip.starts_with("to pass ") && typed.is_close(error)).map(str::to_owned);
    let hint = typed.misspelled_command().or_else(|| typed.better_flag(error)).or(tip);
    CliError::usage(format!("{message}{words}")).with_hint(hint.unwrap_or_else(|| typed.help()))
}

/// What was typed, as far as the end of the flags.
struct TypedLine<'a> {
    words: Vec<&'a str>,
    program: Command,
}

impl<'a> TypedLine<'a> {
    fn new(typed: &'a [String]) -> Self {
        let words = typed.iter().skip(1).map(String::as_str).take_while(|word| *word != "--");
        Self { words: words.collect(), program: Arguments::command() }
    }

    /// The names of the commands in front: `config show`.
    fn commands(&self) -> Vec<&Command> {
        let mut commands: Vec<&Command> = Vec::new();
        for word in &self.words {
            let current = commands.last().copied().unwrap_or(&self.program);
            let Some(next) = current.find_subcommand(word) else { break };
            commands.push(next);
        }
        commands
    }

    /// Where the flags are listed.
    fn help(&self) -> String {
        let names: String = self.commands().iter().map(|command| format!("{} ", command.get_name())).collect();
        format!("ndcrawl {names}--help lists all flags")
    }

    /// Says which command the first word means, if it is none and looks like one.
    fn misspelled_command(&self) -> Option<String> {
        let word = self.words.first()?;
        let is_bare = word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !word.starts_with('-');
        if !is_bare || !self.commands().is_empty() {
            return None;
        }
        similar_command(word).map(|name| format!("'{word}' is no command; a similar one exists: ndcrawl {name}"))
    }

    /// Says which flag is meant by a flag of another program, of another command, or with one dash.
    fn better_flag(&self, error: &clap::Error) -> Option<String> {
        let long = self.words.iter().position(|word| self.is_long_with_one_dash(word));
        let unknown = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => Some(flag.as_str()),
            _ => None,
        };
        let place = long.or_else(|| self.place_of(unknown?));
        let word = place.map_or(unknown, |place| Some(self.words[place]))?;
        if !self.is_crawl() {
            return self.other_command(word);
        }
        let long = self.with_two_dashes(word).or_else(|| foreign_flags::instead_of(word));
        long.or_else(|| foreign_flags::instead_of(unknown?))
    }

    /// Whether `-h` asks for the help of the program or of `crawl`.
    fn wants_front_help(&self) -> bool {
        let is_short = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains('h');
        let is_long = |word: &&str| matches!(*word, "--help" | "help");
        self.is_crawl() && self.words.iter().any(is_short) && !self.words.iter().any(is_long)
    }

    fn is_crawl(&self) -> bool {
        self.commands().first().is_none_or(|command| command.get_name() == "crawl")
    }

    /// Whether a word with one dash is a flag of ours, or a flag of more than one letter of another program.
    fn is_long_with_one_dash(&self, word: &str) -> bool {
        let is_long = word.len() > 2 && !word.starts_with("--");
        is_long && (self.with_two_dashes(word).is_some() || foreign_flags::instead_of(word).is_some())
    }

    fn with_two_dashes(&self, word: &str) -> Option<String> {
        let name = word.strip_prefix('-')?.split('=').next()?;
        let is_ours = self.program.get_arguments().any(|argument| argument.get_long() == Some(name));
        is_ours.then(|| format!("long flags have two dashes: --{name}"))
    }

    /// Whether the flag that clap suggests is listed, and not just the nearest of all.
    fn is_close(&self, error: &clap::Error) -> bool {
        const LEAST_ALIKE: f64 = 0.65;
        let unknown = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => flag,
            _ => return true,
        };
        let Some(ContextValue::String(suggested)) = error.get(ContextKind::SuggestedArg) else { return true };
        let name = suggested.trim_start_matches('-');
        let mut commands = self.commands();
        let command = commands.pop().unwrap_or(&self.program);
        let is_listed = |argument: &clap::Arg| argument.get_long() == Some(name) && !argument.is_hide_set();
        let alike = strsim::normalized_damerau_levenshtein(unknown.trim_start_matches('-'), name);
        alike >= LEAST_ALIKE && command.get_arguments().any(is_listed)
    }

    /// Says that a flag belongs to `crawl`.
    fn other_command(&self, word: &str) -> Option<String> {
        let name = word.strip_prefix("--")?.split('=').next()?;
        let is_of_crawl = self.program.get_arguments().any(|argument| argument.get_long() == Some(name));
        is_of_crawl.then(|| format!("--{name} is a flag of ndcrawl crawl; {}", self.help()))
    }

    /// The place of the word that holds this flag: `--level`, `--level=3`, or `-np` for `-n`.
    fn place_of(&self, flag: &str) -> Option<usize> {
        let has = |word: &&str| match flag.strip_prefix("--") {
            Some(_) => word.split('=').next() == Some(flag),
            None => !word.starts_with("--") && word.starts_with(flag),
        };
        self.words.iter().position(has)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Arguments;

    fn error(arguments: &[&str]) -> String {
        let typed: Vec<String> = ["ndcrawl"].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
        if let Err(error) = expect_two_dashes(&typed) {
            return error.to_string();
        }
        match classify(Arguments::try_parse_from(&typed).unwrap_err(), &typed) {
            ParseOutcome::Error(error) => error.to_string(),
            ParseOutcome::Print(_) | ParseOutcome::PrintText(_) => panic!("not an error"),
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

    fn hint(arguments: &[&str]) -> String {
        let error = error(arguments);
        error.split_once("\nhint: ").map_or_else(|| panic!("{error}"), |(_, hint)| hint.to_owned())
    }

    #[test]
    fn a_command_points_to_its_own_help() {
        assert_eq!(hint(&["export", "--format", "docx"]), "ndcrawl export --help lists all flags");
        assert_eq!(hint(&["config", "init", "--wait"]), "ndcrawl config init --help lists all flags");
        let other = "--delay is a flag of ndcrawl crawl; ndcrawl export --help lists all flags";
        assert_eq!(hint(&["export", "--delay", "1s"]), other);
    }

    #[test]
    fn the_short_help_is_that_of_the_front_page() {
        let is_front = |arguments: &[&str]| {
            let typed: Vec<String> = ["ndcrawl"].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
            let error = Arguments::try_parse_from(&typed).unwrap_err();
            matches!(classify(error, &typed), ParseOutcome::PrintText(_))
        };
        assert!(is_front(&["-h"]) && is_front(&["crawl", "-h"]) && is_front(&["-qh"]));
        assert!(!is_front(&["--help"]) && !is_front(&["status", "-h"]) && !is_front(&["crawl", "--help"]));
    }

    #[test]
    fn color_is_known_before_the_line_is_parsed() {
        let color = |words: &[&str]| typed_color(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(color(&["ndcrawl", "--dept", "--color", "never"]), ColorChoice::Never);
        assert_eq!(color(&["ndcrawl", "--color=never", "--color=always"]), ColorChoice::Always);
        assert_eq!(color(&["ndcrawl", "--color", "red", "--colors"]), ColorChoice::Auto);
    }

    #[test]
    fn a_flag_that_only_looks_like_one_of_ours_is_not_suggested() {
        for flag in ["--nntp", "--noitems", "--ignore-length", "--profile", "--unix-socket"] {
            assert_eq!(hint(&[flag]), "ndcrawl --help lists all flags", "{flag}");
        }
        assert_eq!(hint(&["--treshold", "1"]), "a similar argument exists: '--threshold'");
        assert_eq!(hint(&["--user_agent", "a"]), "a similar argument exists: '--user-agent'");
    }

    #[test]
    fn a_misspelled_command_is_found() {
        for (word, command) in [("crwal", "crawl"), ("statsu", "status"), ("exprot", "export"), ("explian", "explain")]
        {
            assert_eq!(similar_command(word).as_deref(), Some(command));
        }
        assert_eq!(similar_command("intranet"), None);
        let expected = "'exprot' is no command; a similar one exists: ndcrawl export";
        assert_eq!(hint(&["exprot", "--outcome", "stored"]), expected);
    }

    #[test]
    fn a_long_flag_with_one_dash_is_found() {
        assert_eq!(hint(&["-max-pages", "3"]), "long flags have two dashes: --max-pages");
        assert_eq!(hint(&["-depth", "3"]), "long flags have two dashes: --depth");
        let typed = ["ndcrawl", "-d3", "-t", "0.7", "-c=4", "--", "-depth"].map(str::to_owned);
        assert_eq!(expect_two_dashes(&typed), Ok(()));
    }

    #[test]
    fn flags_of_other_crawlers_name_ours() {
        for flag in ["-r", "--recursive", "--mirror", "-l", "--level=3", "--wait", "-rl", "-np", "-i", "-list"] {
            assert!(
                hint(&[flag, "1"]).starts_with(&format!("{} of another crawler: ", flag.split('=').next().unwrap()))
            );
        }
    }
}
