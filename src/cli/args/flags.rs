//! Generates the clap flags of all keys that have one.

use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use crate::cli::config::schema::{self, Key, Shape};
use crate::cli::config::source::{GivenValue, Source};

/// The values that flags set, in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct KeyFlags {
    /// One entry for each flag given.
    pub given: Vec<GivenValue>,
}

impl Args for KeyFlags {
    fn augment_args(command: Command) -> Command {
        let mut in_order: Vec<&'static Key> = schema::all().collect();
        in_order.sort_by_key(|key| place_in_help(key));
        in_order.into_iter().filter_map(argument).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KeyFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: schema::all().filter_map(|key| given(key, matches)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given.extend(Self::from_arg_matches(matches)?.given);
        Ok(())
    }
}

/// Keys of near-duplicates that `eval` has no use for, or has flags of its own for.
const NOT_OF_EVAL: [&str; 8] = [
    "dedup.detector",
    "dedup.threshold",
    "dedup.memory",
    "dedup.against",
    "dedup.keep",
    "dedup.keep_text",
    "dedup.links",
    "random_seed",
];

/// The values that flags of `eval` set, in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct ComparingFlags {
    /// One entry for each flag given.
    pub given: Vec<GivenValue>,
}

fn comparing() -> impl Iterator<Item = &'static Key> {
    schema::all().filter(|key| key.heading == schema::NEAR_DUPLICATES && !NOT_OF_EVAL.contains(&key.name))
}

impl Args for ComparingFlags {
    fn augment_args(command: Command) -> Command {
        comparing().filter_map(argument).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ComparingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: comparing().filter_map(|key| given(key, matches)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given.extend(Self::from_arg_matches(matches)?.given);
        Ok(())
    }
}

/// Returns the keys of `dedup`, which fetches nothing: decisions and output.
fn judging() -> impl Iterator<Item = &'static Key> {
    const BESIDE: [&str; 2] = ["http.max_body", "http.accept_types"];
    let is_wanted = |key: &&Key| {
        let is_of_judging = key.heading == schema::NEAR_DUPLICATES && key.name != "dedup.links";
        is_of_judging || key.name.starts_with("out.") || key.name.starts_with("log.") || BESIDE.contains(&key.name)
    };
    schema::all().filter(move |key| is_wanted(key) && key.name != "log.level")
}

/// The values that flags of `dedup` set, in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct JudgingFlags {
    /// One entry for each flag given.
    pub given: Vec<GivenValue>,
}

impl Args for JudgingFlags {
    fn augment_args(command: Command) -> Command {
        judging().filter_map(argument).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for JudgingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: judging().filter_map(|key| given(key, matches)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given.extend(Self::from_arg_matches(matches)?.given);
        Ok(())
    }
}

/// Returns the rank of a key in the help: by heading, keys without a table last.
fn place_in_help(key: &Key) -> (usize, bool) {
    let heading = schema::HEADINGS.iter().position(|heading| *heading == key.heading);
    (heading.unwrap_or(schema::HEADINGS.len()), !key.name.contains('.'))
}

fn given(key: &'static Key, matches: &ArgMatches) -> Option<GivenValue> {
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
    let mut argument = Arg::new(key.name).long(key.flag?).help_heading(key.heading).help(help_text(key));
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
    match (key.shape, key.default_note.unwrap_or(key.default)) {
        (Shape::Switch(_), _) | (_, "") => help.to_owned(),
        (_, default) => format!("{help} [default: {default}]"),
    }
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
    fn eval_takes_what_settles_how_pages_are_compared() {
        let flags: Vec<&str> = comparing().filter_map(|key| key.flag).collect();
        for flag in ["second-check", "threshold2", "filter", "min-terms", "field-weights", "parser"] {
            assert!(flags.contains(&flag), "{flag} in {flags:?}");
        }
        assert!(NOT_OF_EVAL.iter().all(|name| schema::find(name).is_some()), "a key that is left out has another name");
    }

    #[test]
    fn the_former_spelling_of_a_flag_means_the_same() {
        let typed = |arguments: &[&str]| {
            let command = KeyFlags::augment_args(Command::new("ndcrawl"));
            let matches = command.try_get_matches_from([&["ndcrawl"], arguments].concat()).unwrap();
            let settings = merge(KeyFlags::from_arg_matches(&matches).unwrap().given).unwrap();
            (settings.to_stored_json(), settings.fingerprint())
        };
        for (now, former) in [("template", "host"), ("none", "paper")] {
            let expected = typed(&["--second-check", now]);
            assert_eq!(expected.0["dedup.weights"], former);
            for flags in [["--second-check", former], ["--weights", now], ["--weights", former]] {
                assert_eq!(typed(&flags), expected, "{flags:?}");
            }
        }
        assert_ne!(typed(&["--second-check", "template"]), typed(&["--second-check", "none"]));
    }

    #[test]
    fn the_former_spelling_is_not_in_the_help() {
        let mut command = KeyFlags::augment_args(Command::new("ndcrawl"));
        let help = command.render_long_help().to_string();
        assert!(help.contains("--second-check <template|none>") && !help.contains("--weights "), "{help}");
    }
}
