//! The short help: one screen with the flags that people use. `--help` has all of them.

/// What `-h` prints. It fits 80 columns and one screen.
pub const FRONT_HELP: &str = "\
A polite web crawler that stores each page once and detects near-duplicates

Usage: ndcrawl [crawl] [OPTIONS] [URL]...
       ndcrawl <COMMAND>

Examples:
  ndcrawl demo                                 try it without internet
  ndcrawl https://example.org/ --max-pages 99  then see ndcrawl-out/report.html

Options that people use most:
      --seeds <FILE>        Start from the URLs in FILE, one a line; - is stdin
  -d, --depth <N>           Follow links at most N steps from the seeds [5]
      --scope <WHERE>       host, domain, prefix (below the seeds) or any [host]
      --max-pages <N>       Stop after N pages [no limit]
      --max-time <TIME>     Stop after this time, for example 10m [no limit]
      --include <REGEX>     Crawl only URLs that match
      --exclude <REGEX>     Skip URLs that match
      --delay <TIME>        Time from one request to a host to the next [1s]
      --contact <URL|MAIL>  Where site owners can reach you
  -H, --header <LINE>       Send this header, for example 'Cookie: id=1'
  -t, --threshold <F>       How similar near-duplicates are, 0 to 1 [0.3]
  -o, --out <DIR>           Output folder [./ndcrawl-out]; repeat to resume
      --recrawl             Crawl a finished crawl again; fetch what has changed
      --dry-run             Print the plan; fetch and write nothing
      --dashboard <ADDR>    Show the crawl in the browser, for example at 9100

Commands:
  status   state of a crawl            explain   why a URL has its outcome
  report   plots, clusters, failures   clusters  which pages repeat which
  export   Parquet, JSONL, WARC, CSV   dedup     the same for pages in files
  worker   one more for a shared crawl           gather    its ordinary folder
  and audit, redirects, decontaminate, crawl, cluster, rules, demo, verify,
  reindex, eval, check, config, jwks, completions, man

--help lists all options by topic. ndcrawl COMMAND -h lists those of a command.
";

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
