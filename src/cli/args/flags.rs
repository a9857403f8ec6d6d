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

/// Returns the flag of a key. The first option of a detector brings that of them all.
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
    let mut argument = Arg::new(key.name).long(key.flag?).help_heading(key.heading());
    argument = argument.help(help_text(key)).long_help(long_help(key));
    if let Some(letter) = key.short {
        argument = argument.short(letter);
    }
    Some(match key.shape {
        Shape::Switch(_) => argument.action(ArgAction::SetTrue),
        Shape::Choice(words) => argument.value_name(words).value_parser(choices(words)).hide_possible_values(true),
        // The key rejects a negative number with a better message than clap.
        Shape::Value(name) => argument.value_name(name).allow_negative_numbers(true).value_hint(hint(name)),
        Shape::List(name) | Shape::CommaList(name) => {
            argument.value_name(name).action(ArgAction::Append).value_hint(hint(name))
        }
    })
}

fn choices(words: &'static str) -> Vec<PossibleValue> {
    words.split('|').map(PossibleValue::new).collect()
}

fn help_text(key: &Key) -> String {
    let help = key.flag_help.unwrap_or(key.help());
    match (key.shape, key.shown_default()) {
        (Shape::Switch(_), _) | (_, "") => help.to_owned(),
        (_, default) => format!("{help} [default: {default}]"),
    }
}

/// Returns the description with the reason for the default and an example.
fn long_help(key: &Key) -> String {
    let example = key.example().map_or(String::new(), |example| format!("\nExample: {example}"));
    format!("{}\n\n{}{example}", help_text(key), key.because())
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
    fn what_one_detector_has_is_no_flag_of_its_own() {
        let mut command = KeyFlags::<AllKeys>::augment_args(Command::new("ndcrawl"));
        let help = command.render_help().to_string();
        assert!(help.contains("--detector-option <KEY=VALUE>"), "{help}");
        assert_eq!(schema::all().filter(|key| !key.detectors.is_empty()).find_map(|key| key.flag), None);
        for (option, key) in [("second-check=none", "dedup.second_check"), ("query=a", "dedup.query")] {
            let settings = |arguments: &[&str]| {
                let matches = command.clone().try_get_matches_from([&["ndcrawl"], arguments].concat()).unwrap();
                merge(KeyFlags::<AllKeys>::from_arg_matches(&matches).unwrap().given).unwrap().to_json()
            };
            assert_ne!(settings(&["--detector-option", option])[key], settings(&[])[key]);
        }
    }

    #[test]
    fn every_example_is_a_command_line() {
        let words = |text: &str| -> Vec<String> {
            let parts = text.split('\'').enumerate();
            let quoted = parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { part.replace(' ', "\0") });
            quoted.collect::<String>().split(' ').map(|word| word.replace('\0', " ")).collect()
        };
        for key in schema::all().filter(|key| key.example().is_some()) {
            let typed = [vec!["ndcrawl".to_owned()], words(key.example().unwrap())].concat();
            let command = KeyFlags::<AllKeys>::augment_args(Command::new("ndcrawl"));
            let matches = command.try_get_matches_from(typed).unwrap_or_else(|error| panic!("{error}"));
            let settings = merge(KeyFlags::<AllKeys>::from_arg_matches(&matches).unwrap().given).unwrap();
            let (shown, default) = (key.show(&settings), key.show(&merge(Vec::new()).unwrap()));
            assert_ne!(shown, default, "{}: {}", key.name, key.example().unwrap());
        }
    }
}
