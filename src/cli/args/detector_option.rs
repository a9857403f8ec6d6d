//! `--detector-option KEY=VALUE`: options that one detector has, which would only fill the help as flags.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, ArgMatches};

use crate::cli::config::schema::{self, Key};
use crate::cli::config::source::{GivenValue, Source};

const ID: &str = "detector-option";
const HELP: &str = "Set an option that one detector has (repeatable); --help lists them";
const EXAMPLE: &str = "second_check=none";

/// An option and its text.
#[derive(Clone, Debug)]
struct DetectorOption {
    key: &'static Key,
    text: String,
}

/// Returns the flag.
pub fn argument() -> Arg {
    Arg::new(ID)
        .long(ID)
        .value_name("KEY=VALUE")
        .help_heading(schema::NEAR_DUPLICATES)
        .help(HELP)
        .long_help(long_help())
        .action(ArgAction::Append)
        .value_parser(parse)
}

/// Returns the values that the flag sets.
pub fn given(matches: &ArgMatches) -> Vec<GivenValue> {
    let value = |option: &DetectorOption| GivenValue {
        key: option.key,
        texts: vec![option.text.clone()],
        source: Source::Flag(format!("--{ID} {}", option.key.option_name().unwrap_or(option.key.name))),
    };
    // A command without options of detectors has no such flag.
    let given = matches.try_get_many::<DetectorOption>(ID).ok().flatten();
    given.into_iter().flatten().map(value).collect()
}

fn options() -> impl Iterator<Item = (&'static str, &'static Key)> {
    schema::all().filter_map(|key| Some((key.option_name()?, key)))
}

fn parse(text: &str) -> Result<DetectorOption, String> {
    let (typed, text) = text.split_once('=').ok_or_else(|| format!("it has no value; an example is {EXAMPLE}"))?;
    let name = typed.trim().replace('-', "_");
    let name = name.strip_prefix("dedup.").unwrap_or(&name);
    match options().find(|(known, _)| *known == name) {
        Some((_, key)) => Ok(DetectorOption { key, text: text.to_owned() }),
        None => Err(unknown(typed, name)),
    }
}

/// Says what is meant by a name that no option has.
fn unknown(typed: &str, name: &str) -> String {
    let of_all = schema::find(&format!("dedup.{name}")).and_then(|key| key.flag);
    if let Some(flag) = of_all {
        return format!("'{typed}' is not of one detector: use --{flag}");
    }
    let alike = |known: &str| strsim::normalized_damerau_levenshtein(known, name);
    let nearest = options().map(|(known, _)| (alike(known), known)).max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest.filter(|(alike, _)| *alike >= 0.6) {
        Some((_, known)) => format!("no detector has '{typed}'; a similar option exists: {known}"),
        None => format!(
            "no detector has '{typed}'; there are {}",
            options().map(|(known, _)| known).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Returns the help with all options, each with its default.
fn long_help() -> String {
    let mut text =
        "Set an option that one detector has (repeatable). In a file it is a key, such as dedup.second_check.\n"
            .to_owned();
    for (name, key) in options() {
        let default = Some(key.shown_default()).filter(|default| !default.is_empty());
        let default = default.map_or(String::new(), |default| format!(" [default: {default}]"));
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{name}{default}\n  {}. {}\n", key.help(), key.because());
    }
    text + &format!("\nExample: --{ID} {EXAMPLE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).map(|option| option.key.name).unwrap_err()
    }

    #[test]
    fn an_option_has_the_name_of_its_key() {
        for typed in ["second_check=none", "second-check=none", "dedup.second_check=none"] {
            let option = parse(typed).unwrap();
            assert_eq!((option.key.name, option.text.as_str()), ("dedup.second_check", "none"));
        }
        assert_eq!(parse("query=a=b").unwrap().text, "a=b");
        assert_eq!(parse("fuzzy.candidates=0.5").unwrap().key.name, "dedup.fuzzy.candidates");
    }

    #[test]
    fn an_unknown_option_is_told_what_there_is() {
        assert_eq!(error("second_check"), "it has no value; an example is second_check=none");
        assert_eq!(error("threshold=0.5"), "'threshold' is not of one detector: use --threshold");
        assert_eq!(error("second_chek=none"), "no detector has 'second_chek'; a similar option exists: second_check");
        assert!(error("colour=red").starts_with("no detector has 'colour'; there are second_check, "));
    }
}
