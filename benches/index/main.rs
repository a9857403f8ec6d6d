//! *How fast is the exact index, and how fast are others?*
//!
//! `cargo bench --bench index -- [OPTIONS]`; `--help` lists the options.
//!
//! | part | task | result |
//! |---|---|---|
//! | real pages (`--pages OUT`) | look up, insert if unique, in crawl order | first match found |
//! | synthetic sets (`--synthetic 10k,100k,1m`) | look up in a store of that size | all matches |
//! | worst cases (`--worst`) | the same, in sets made to defeat filters | all matches |
//! | threads (`--threads`) | the same in a synthetic set, by one thread and by all cores | all matches |
//! | reopen (`--reopen`) | a synthetic set in a store on disk | the whole index in memory |
//!
//! Times are CPU times of the thread, so other work on the machine matters little. Still, compare only figures of one
//! run. Counts (postings, candidates, sketches, records compared) are the same on every machine. Figures are means; the
//! tables end with ratios. The tests guarantee correctness; this bench only audits and prints it.

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
#[allow(dead_code, clippy::unwrap_used)] // other benches and tests use the rest
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
    // `cargo test --benches` must not measure.
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
