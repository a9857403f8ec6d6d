//! The flags of other crawlers that people type most. `docs/guide/coming-from.md` has more of them.

/// Spellings, of wget first, and what to do instead.
const FLAGS: [(&[&str], &str); 5] = [
    (&["-r", "--recursive", "-m", "--mirror"], "a crawl always follows links; -d N says how far, -d 0 not at all"),
    (&["-l", "--level"], "-d N says how many links away from the seeds"),
    (&["-w", "--wait", "-rl", "-rate-limit"], "--delay DURATION is the time between two requests to a host"),
    (&["-np", "--no-parent"], "--scope prefix stays below the folders of the seeds"),
    (&["-i", "--input-file", "-list"], "--seeds FILE reads URLs, one per line"),
];

/// Returns what to use instead of a flag of another program, as typed: `--wait`, `--level=3`, `-np`.
pub fn instead_of(typed: &str) -> Option<String> {
    let flag = typed.split('=').next().unwrap_or(typed);
    let (_, instead) = FLAGS.iter().find(|(spellings, _)| spellings.contains(&flag))?;
    Some(format!("{flag} of another crawler: {instead}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Arguments;

    #[test]
    fn what_is_named_instead_exists_and_what_is_foreign_does_not() {
        let command = Arguments::command();
        let own: BTreeSet<String> = command
            .get_arguments()
            .flat_map(|argument| {
                let long = argument.get_long().map(|long| format!("--{long}"));
                long.into_iter().chain(argument.get_short().map(|short| format!("-{short}")))
            })
            .collect();
        for (spellings, instead) in FLAGS {
            let words = instead.split([' ', ';', ',']).filter(|word| word.len() > 1 && word.starts_with('-'));
            assert!(words.clone().count() > 0 && words.into_iter().all(|word| own.contains(word)), "{instead}");
            assert!(!spellings.iter().any(|flag| own.contains(*flag)), "{spellings:?}");
        }
    }
}
