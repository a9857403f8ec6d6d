//! The short help: one screen with the flags that people use. `--help` has all of them.

/// What `-h` prints. It fits 80 columns and one screen.
pub const FRONT_HELP: &str = include_str!("help/front.txt");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Arguments;

    #[test]
    fn it_fits_one_screen() {
        assert!(FRONT_HELP.lines().count() <= 40, "{}", FRONT_HELP.lines().count());
        assert!(FRONT_HELP.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn its_fifteen_options_and_all_commands_exist() {
        let command = Arguments::command();
        let options = FRONT_HELP.lines().filter_map(|line| {
            let (short, long) = line.get(2..)?.split_once("--").filter(|(short, _)| short.len() == 4)?;
            Some((short.chars().nth(1).filter(|c| c.is_alphabetic()), long.split(' ').next()?.to_owned()))
        });
        let options: Vec<(Option<char>, String)> = options.collect();
        assert_eq!(options.len(), 15, "{options:?}");
        for (short, long) in &options {
            let argument = command.get_arguments().find(|argument| argument.get_long() == Some(long));
            assert_eq!(argument.map(clap::Arg::get_short), Some(*short), "--{long}");
        }
        let words: BTreeSet<&str> =
            FRONT_HELP.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        for name in shown.map(clap::Command::get_name).filter(|name| *name != "help") {
            assert!(words.contains(name), "{name}");
        }
    }
}
