//! *How fast is the exact index, and how fast are others?*
//!
//! `cargo bench --bench index -- [OPTIONS]`; `--help` tells the options.
//!
//! | part | task | what is asked |
//! |---|---|---|
//! | real pages (`--pages OUT`) | look up, take in if unique, in the order of a crawl | whichever match is found first |
//! | synthetic sets (`--synthetic 10k,100k,1m`) | look up in a store of that size | all matches |
//! | worst cases (`--worst`) | the same, in sets made to defeat filters | all matches |
//! | threads (`--threads`) | the same in a synthetic set, by one thread and by all cores | all matches |
//! | reopen (`--reopen`) | a synthetic set in a store on disk | the whole index in memory again |
//!
//! Times are those of the thread, not of the clock, so that other work on the machine counts for
//! little; yet compare figures of one run only. What is counted (postings, candidates, sketches,
//! records compared) is the same on every machine. Figures are means; the ends of the tables tell
//! ratios. Nothing is judged here: what must hold of correctness is held by the tests, though
//! decisions and matches are audited and told.

use std::path::Path;
use std::process::ExitCode;

use ndcrawl::similarity::Record;

use crate::settings::{HELP, Settings};
use crate::table::Printer;

mod base;
mod brute;
mod clock;
mod contender;
mod growing;
#[allow(dead_code, clippy::unwrap_used)] // more is used by other benches and tests
#[path = "../../tests/it/judged.rs"]
mod judged;
mod lsh;
mod ours;
mod pages;
mod prefix;
mod reopen;
mod sets;
mod settings;
mod sketch;
mod statistics;
mod synthetic;
mod table;
mod threads;
mod worst;

fn main() -> ExitCode {
    // `cargo test --benches` is no occasion for measuring.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match Settings::parse(arguments).and_then(|settings| run(&settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            ExitCode::FAILURE
        }
    }
}

fn run(settings: &Settings) -> Result<(), String> {
    let printer = Printer { json: settings.json };
    let read = |out: &Path| pages::read(out).map_err(|error| error.to_string());
    if let Some(out) = &settings.pages {
        pages::run(settings, printer, &read(out)?);
    }
    if !settings.synthetic.is_empty() {
        let crawl: Option<Vec<Record>> = settings.base.as_deref().map(read).transpose()?;
        growing::run(settings, printer, crawl.as_deref())?;
    }
    if settings.worst {
        worst::run(settings, printer);
    }
    Ok(())
}
