//! Generates the clap flags of all keys that have one.

use std::marker::PhantomData;

use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::detector_option;
use super::key_sets::{AllKeys, KeySet};
use crate::cli::config::schema::{self, Key, Shape};
use crate::cli::config::source::{GivenValue, Source};

/// The values that flags set, in the order of the keys of `S`.
#[derive(Clone, Debug, Default)]
pub struct KeyFlags<S = AllKeys> {
    /// One entry for each flag given.
    pub given: Vec<GivenValue>,
    keys: PhantomData<S>,
}

impl<S: KeySet> Args for KeyFlags<S> {
    fn augment_args(command: Command) -> Command {
        S::keys().into_iter().flat_map(arguments).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: KeySet> FromArgMatches for KeyFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = schema::all().filter(|key| S::keys().iter().any(|of| of.name == key.name));
        let given = given.filter_map(|key| given_by(key, matches)).chain(detector_option::given(matches));
        Ok(Self { given: given.collect(), keys: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given.extend(Self::from_arg_matches(matches)?.given);
        Ok(())
    }
}

/// Returns the flag of a key. Options of one detector have a hidden one, and the first of them brings theirs.
fn arguments(key: &'static Key) -> Vec<Arg> {
    let is_first = key.name == "dedup.second_check";
    is_first.then(detector_option::argument).into_iter().chain(argument(key)).collect()
}

fn given_by(key: &'static Key, matches: &ArgMatches) -> Option<GivenValue> {
    let flag = key.flag?;
    if matches.value_source(key.name) != Some(ValueSource::CommandLine) {
        return None;
    }
    let texts = match key.shape {
        Shape::Switch(text) => vec![text.to_owned()],
        _ => matches.get_many::<String>(key.name)?.cloned().collect(),
    };
    Some(GivenValue { key, texts, source: Source::Flag(format!("--{flag}")) })
}

fn argument(key: &'static Key) -> Option<Arg> {
    let mut argument = Arg::new(key.name).long(key.flag?).help_heading(key.heading);
    argument = argument.help(help_text(key)).long_help(long_help(key)).hide(!key.detectors.is_empty());
    if let Some(letter) = key.short {
        argument = argument.short(letter);
    }
    if let Some(former) = key.former {
        argument = argument.alias(former.flag);
    }
    Some(match key.shape {
        Shape::Switch(_) => argument.action(ArgAction::SetTrue),
        Shape::Choice(words) => argument.value_name(words).value_parser(choices(key, words)).hide_possible_values(true),
        // The key rejects a negative number with a better message than clap.
        Shape::Value(name) => argument.value_name(name).allow_negative_numbers(true).value_hint(hint(name)),
        Shape::List(name) | Shape::CommaList(name) => {
            argument.value_name(name).action(ArgAction::Append).value_hint(hint(name))
        }
    })
}

/// The words of a choice; the former ones are accepted and not listed.
fn choices(key: &Key, words: &'static str) -> Vec<PossibleValue> {
    let former = key.former.into_iter().flat_map(|former| former.values);
    let hidden = former.map(|word| PossibleValue::new(*word).hide(true));
    words.split('|').map(PossibleValue::new).chain(hidden).collect()
}

fn help_text(key: &Key) -> String {
    let help = key.flag_help.unwrap_or(key.help);
    match (key.shape, key.shown_default()) {
        (Shape::Switch(_), _) | (_, "") => help.to_owned(),
        (_, default) => format!("{help} [default: {default}]"),
    }
}

/// Returns the description with the reason for the default and an example.
fn long_help(key: &Key) -> String {
    let example = key.example.map_or(String::new(), |example| format!("\nExample: {example}"));
    format!("{}\n\n{}{example}", help_text(key), key.because)
}

fn hint(value_name: &str) -> ValueHint {
    match value_name {
        "FILE" => ValueHint::FilePath,
        "DIR" => ValueHint::DirPath,
        "URL" => ValueHint::Url,
        _ => ValueHint::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::merge;

    #[test]
    fn the_former_spelling_of_a_flag_means_the_same() {
        let typed = |arguments: &[&str]| {
            let command = KeyFlags::<AllKeys>::augment_args(Command::new("ndcrawl"));
            let matches = command.try_get_matches_from([&["ndcrawl"], arguments].concat()).unwrap();
            let settings = merge(KeyFlags::<AllKeys>::from_arg_matches(&matches).unwrap().given).unwrap();
            (settings.to_stored_json(), settings.fingerprint())
        };
        for (now, former) in [("template", "host"), ("none", "paper")] {
            let expected = typed(&["--second-check", now]);
            assert_eq!(expected.0["dedup.weights"], former);
            for flags in [["--second-check", former], ["--weights", now], ["--weights", former]] {
                assert_eq!(typed(&flags), expected, "{flags:?}");
            }
            for text in [now, former].map(|word| format!("second_check={word}")) {
                assert_eq!(typed(&["--detector-option", &text]), expected, "{text}");
            }
        }
        assert_ne!(typed(&["--second-check", "template"]), typed(&["--second-check", "none"]));
    }

    #[test]
    fn a_flag_of_one_detector_still_works_and_is_not_in_the_help() {
        let mut command = KeyFlags::<AllKeys>::augment_args(Command::new("ndcrawl"));
        let helps = [command.render_help(), command.render_long_help()].map(|help| help.to_string());
        let values = [("second-check", "none"), ("threshold2", "0.5"), ("store-below", "0.6"), ("query", "a")];
        let flags: Vec<_> = schema::all().filter(|key| !key.detectors.is_empty()).filter_map(|key| key.flag).collect();
        assert_eq!(flags, values.map(|(flag, _)| flag));
        for (flag, value) in values {
            let settings = |arguments: &[&str]| {
                let matches = command.clone().try_get_matches_from([&["ndcrawl"], arguments].concat()).unwrap();
                merge(KeyFlags::<AllKeys>::from_arg_matches(&matches).unwrap().given).unwrap().to_json()
            };
            let option = settings(&["--detector-option", &format!("{flag}={value}")]);
            assert_eq!(settings(&[&format!("--{flag}"), value]), option);
            assert_ne!(settings(&[]), option);
            for help in &helps {
                assert!(!help.contains(&format!("--{flag} ")) && !help.contains("--weights "), "{flag}: {help}");
                assert!(help.contains("--detector-option <KEY=VALUE>"));
            }
        }
    }

    #[test]
    fn every_example_is_a_command_line() {
        let words = |text: &str| -> Vec<String> {
            let parts = text.split('\'').enumerate();
            let quoted = parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { part.replace(' ', "\0") });
            quoted.collect::<String>().split(' ').map(|word| word.replace('\0', " ")).collect()
        };
        for key in schema::all().filter(|key| key.example.is_some()) {
            let typed = [vec!["ndcrawl".to_owned()], words(key.example.unwrap())].concat();
            let command = KeyFlags::<AllKeys>::augment_args(Command::new("ndcrawl"));
            let matches = command.try_get_matches_from(typed).unwrap_or_else(|error| panic!("{error}"));
            let settings = merge(KeyFlags::<AllKeys>::from_arg_matches(&matches).unwrap().given).unwrap();
            let (shown, default) = (key.show(&settings), key.show(&merge(Vec::new()).unwrap()));
            assert_ne!(shown, default, "{}: {}", key.name, key.example.unwrap());
        }
    }
}
