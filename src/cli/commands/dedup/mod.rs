//! The command `dedup`: decides on pages that are read from files.

mod monitor;

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::args::DedupArguments;
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, crawl_error, exit, opening_error};
use crate::cli::format::{byte_size, counted, duplicate_rate, percent, thousands};
use crate::cli::log;
use crate::cli::output_dir::{self, CrawlFile};
use crate::cli::reference_crawls;
use crate::cli::report_file;
use crate::cli::seeds::Seeds;
use crate::cli::setup;
use crate::cli::startup::load_settings;
use crate::cli::terminal::{write_stderr, write_stdout};
use crate::cli::terminal_safe::terminal_safe;
use crate::dedup::{Dedup, DedupEnding, DedupSetup, InputOptions, Inputs};
use crate::fetch;
use crate::model::{Normalizer, OutcomeKind};
use crate::pagetext::PageReader;
use crate::pipeline::StopReason;
use crate::store::{Identity, Store};

/// Reads the inputs, decides on their pages and prints the summary.
pub(super) fn run(arguments: &DedupArguments) -> Result<u8, CliError> {
    let given = arguments.keys.given.iter().cloned().chain(arguments.verbosity.given());
    let settings = &load_settings(given.collect(), &arguments.config)?;
    log::begin(settings)?;
    let PreparedDedup { dedup, mut file, ignored, bytes } = prepare(settings, arguments)?;
    let began = Instant::now();
    let (ended, signal_code) = monitor::run(settings, dedup, bytes)?;
    let ending = match ended {
        Ok(ending) => ending,
        Err(error) => {
            let error = crawl_error(error);
            // On a full disk this fails too. The first error is the one to report.
            let _ = file.end(Some("failed"), error.code);
            return Err(error);
        }
    };
    let (stopped, mut code) = match ending.reason {
        StopReason::Finished => (None, exit::FINISHED),
        StopReason::DiskFull => (Some("disk"), exit::DISK_FULL),
        _ => (Some("signal"), signal_code.unwrap_or(exit::INTERRUPTED)),
    };
    file.end(stopped, code)?;
    let elapsed = began.elapsed();
    let report = report_file::at_end(settings);
    if report.is_damaged && code == exit::FINISHED {
        code = exit::CORRUPT;
        file.end(stopped, code)?;
    }
    print_summary(settings, arguments, &ending, ignored, elapsed, report.path.as_deref())?;
    Ok(code)
}

/// A run that is ready to start.
struct PreparedDedup {
    dedup: Dedup,
    file: CrawlFile,
    /// Files that hold no pages by their names.
    ignored: u64,
    /// Bytes of the input; `None` for a stream.
    bytes: Option<u64>,
}

/// Prepares the folder, opens its store and the inputs.
fn prepare(settings: &Settings, arguments: &DedupArguments) -> Result<PreparedDedup, CliError> {
    let normalizer = Normalizer::new(settings.normalise_options());
    let input = input_options(settings, arguments, &normalizer)?;
    let inputs = Inputs::find(&arguments.inputs).map_err(|error| {
        CliError::usage(error.to_string()).with_hint("give WARC, Parquet or JSON lines files, folders, or -")
    })?;
    output_dir::prepare(&settings.out.dir, arguments.run_flags())?;
    let started = output_dir::expect_dedup(&settings.out.dir)?;
    let detect = setup::detect_options(settings);
    let renderer = PageReader::new(setup::render_options(settings, &detect)?, normalizer);
    let rendering = format!("{}, weights {:?}", renderer.signature(), detect.weights.0);
    let against = reference_crawls::read(settings, &rendering)?;
    let wanted = Identity::new(rendering, settings.fingerprint() + &reference_crawls::line(against.as_deref()));
    let opened = Store::open(&settings.out.dir, setup::store_options(settings), &wanted);
    let (store, opened) = opened.map_err(opening_error)?;
    output_dir::compare(settings, &opened, against.as_deref())?;
    let options = setup::crawl_options(settings);
    let accept_types = settings.http.accept_types.clone();
    let (ignored, bytes) = (inputs.ignored, inputs.bytes);
    let setup = DedupSetup {
        input,
        detect,
        against,
        renderer,
        accepts: Box::new(move |media_type| fetch::accepts(&accept_types, media_type)),
        index_memory: options.index_memory,
        snapshot_after: options.snapshot_after,
        obey_noarchive: options.obey_noarchive,
        keep_duplicates: options.keep_duplicates,
        inputs,
    };
    let dedup = Dedup::open(setup, store, &opened.identity).map_err(crawl_error)?;
    let file = CrawlFile::begin(settings, &Seeds::default(), &opened.identity.crawl, started.as_deref())?
        .mark_dedup(&arguments.inputs)?;
    Ok(PreparedDedup { dedup, file, ignored, bytes })
}

fn input_options(
    settings: &Settings,
    arguments: &DedupArguments,
    normalizer: &Normalizer,
) -> Result<InputOptions, CliError> {
    let base = normalizer.absolute(&arguments.base);
    Ok(InputOptions {
        base: base.map_err(|error| CliError::usage(format!("--base '{}': {error}", arguments.base)))?,
        url_field: arguments.url_field.clone(),
        html_field: arguments.html_field.clone(),
        text_field: arguments.text_field.clone(),
        max_body: usize::try_from(settings.http.max_body.0).unwrap_or(usize::MAX),
        normalizer: normalizer.clone(),
    })
}

fn warn_of_damage(ending: &DedupEnding) {
    let tally = &ending.tally;
    for damage in &tally.damages {
        write_stderr(&terminal_safe(&format!("warning: {}: {}", damage.place, damage.why)));
    }
    if let Some(more @ 1..) = tally.damaged.checked_sub(tally.damages.len() as u64) {
        write_stderr(&format!("warning: {more} more places could not be read"));
    }
    if ending.not_revised > 0 {
        let pages = counted(ending.not_revised, "near-duplicate", "near-duplicates");
        write_stderr(&format!("warning: {pages} would be unique by now; stdin cannot be read again to store them"));
    }
}

fn print_summary(
    settings: &Settings,
    arguments: &DedupArguments,
    ending: &DedupEnding,
    ignored: u64,
    elapsed: Duration,
    report: Option<&str>,
) -> Result<(), CliError> {
    warn_of_damage(ending);
    let tally = &ending.tally;
    let is_stopped = ending.reason != StopReason::Finished;
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let fresh = tally.answers - tally.known;
    let rate = (fresh as f64 / seconds, tally.bytes as f64 / 1e6 / seconds);
    if arguments.json {
        let object = json!({
            "answers": tally.answers, "known": tally.known, "repeated": tally.repeated, "passed": tally.passed,
            "damaged": tally.damaged, "ignored_files": ignored, "bytes": tally.bytes, "stopped": is_stopped,
            "outcomes": ending.outcomes(), "revised": ending.totals.revised, "seconds": seconds,
            "pages_per_second": rate.0, "megabytes_per_second": rate.1, "out": settings.out.dir,
            "report": report,
        });
        return write_stdout(&format!("{object}\n"));
    }
    let report = report.map_or(String::new(), |path| format!("Report:  {}\n", terminal_safe(path)));
    if ending.reason == StopReason::DiskFull {
        write_stderr("hint: free some disk space (see --min-free), then resume with the same command");
    }
    write_stdout(&(text(settings, ending, ignored, elapsed, rate) + &report))
}

fn text(settings: &Settings, ending: &DedupEnding, ignored: u64, elapsed: Duration, rate: (f64, f64)) -> String {
    let (tally, outcome) = (&ending.tally, |kind| ending.totals.outcomes.get(&kind).copied().unwrap_or(0));
    let (stored, near) = (outcome(OutcomeKind::Stored), outcome(OutcomeKind::NearDuplicate));
    let exact = outcome(OutcomeKind::ExactDuplicate);
    let how = if ending.reason == StopReason::Finished { "Finished" } else { "Stopped" };
    let mut text = format!(
        "{how} after {:.1} s: {}, {}; {:.0} pages/s, {:.1} MB/s\n\n",
        elapsed.as_secs_f64(),
        counted(tally.answers, "page read", "pages read"),
        byte_size(tally.bytes),
        rate.0,
        rate.1
    );
    let rows = [
        (stored, "stored", "unique pages"),
        (near, "near-duplicates", "of a stored page"),
        (exact, "exact duplicates", "same bytes or same text"),
        (outcome(OutcomeKind::Redirected), "redirected", ""),
        (outcome(OutcomeKind::Excluded), "excluded", "not a page by its type, or marked noindex"),
        (outcome(OutcomeKind::Failed), "failed", "error responses"),
        (tally.known, "known", "of these, from an earlier run"),
        (tally.repeated, "repeated", "the same URL again"),
        (tally.passed, "passed over", "records that are no responses"),
        (tally.damaged, "damaged", "could not be read"),
        (ignored, "files ignored", "not pages by their names"),
    ];
    for (count, name, note) in rows.into_iter().filter(|(count, name, _)| *count > 0 || *name == "stored") {
        text += format!("  {:>9}  {name:<18}{note}", thousands(count)).trim_end();
        text.push('\n');
    }
    if let Some(rate) = duplicate_rate(stored, near, exact) {
        let judged = counted(stored + near + exact, "page", "pages");
        text += &format!("\n{} of {judged} compared are duplicates\n", percent(rate));
    }
    if ending.totals.revised > 0 {
        let pages = counted(ending.totals.revised, "page", "pages");
        text += &format!("{pages} decided again after more of their host was known\n");
    }
    let out = settings.out.dir.display().to_string();
    text + &format!("\nResults: {}\n", terminal_safe(&out))
}
