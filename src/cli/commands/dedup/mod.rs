//! The command `dedup`: decides on pages that are read from files.

mod monitor;
#[cfg(feature = "cluster")]
mod shared;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cli::args::DedupArguments;
use crate::cli::config::settings::Settings;
use crate::cli::counts::OutcomeCounts;
use crate::cli::errors::{CliError, crawl_error, exit, opening_error};
use crate::cli::format::counted;
use crate::cli::gates;
use crate::cli::host::Host;
use crate::cli::log;
use crate::cli::output_dir::{self, CrawlFile};
use crate::cli::reference_crawls;
use crate::cli::report_file;
use crate::cli::setup;
use crate::cli::startup::load_settings;
#[cfg(feature = "cluster")]
use crate::cli::startup::load_settings_for_any_output;
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::dedup::{Dedup, DedupSetup, InputOptions, InputReports, Inputs, SeenFields};
use crate::dedup::{OwnRows, OwnRowsError, give_rows_back};
use crate::detect::Within;
use crate::fetch;
use crate::model::Normalizer;
use crate::pagetext::PageReader;
use crate::pipeline::StopReason;
use crate::store::{Identity, Store};

use summary::DedupSummary;

/// Reads the inputs, decides on their pages and prints the summary.
pub(super) fn run(arguments: &DedupArguments, host: &Host) -> Result<u8, CliError> {
    let given = arguments.keys.given.iter().cloned().chain(arguments.verbosity.given());
    #[cfg(feature = "cluster")]
    if let Some(address) = &arguments.shared.cluster {
        let settings = &load_settings_for_any_output(given.collect(), &arguments.config)?;
        log::begin(settings)?;
        return shared::run(address, settings, arguments, host);
    }
    let settings = &load_settings(given.collect(), &arguments.config)?;
    log::begin(settings)?;
    let PreparedDedup { dedup, mut file, bytes, inputs, input } = prepare(settings, arguments)?;
    let began = Instant::now();
    let (ended, signal_code) = monitor::run(settings, dedup, bytes, host)?;
    let ending = match ended {
        Ok(ending) => ending,
        Err(error) => {
            let error = crawl_error(error);
            // On a full disk this fails too. The first error is the one to report.
            let _ = file.end(Some("failed"), error.code);
            return Err(error);
        }
    };
    let seen = &input.seen;
    let is_any_missing = !seen.missing().is_empty();
    let (stopped, mut code) = match ending.reason {
        StopReason::Finished if is_any_missing => (None, exit::SOME_INPUT_UNREAD),
        StopReason::Finished => (None, code_of_inputs(&ending.tally.inputs)),
        StopReason::DiskFull => (Some("disk"), exit::DISK_FULL),
        _ => (Some("signal"), signal_code.unwrap_or(exit::INTERRUPTED)),
    };
    let rows = arguments.kept.clone().map(OwnRows::Kept).or_else(|| arguments.mark.clone().map(OwnRows::Marked));
    if let (Some(rows), None) = (&rows, stopped) {
        let given = give_rows_back(rows, &settings.out.dir, &inputs, &input).map_err(|error| {
            own_rows_error(error)
                .with_hint("the verdicts are in the output folder; the same command writes the rows again")
        })?;
        if given.others > 0 {
            write_stderr(&format!(
                "warning: {} no rows of a table: 'ndcrawl export' writes them",
                counted(given.others, "document is", "documents are")
            ));
            code = code.max(exit::SOME_INPUT_UNREAD);
        }
    }
    let counts = OutcomeCounts::from(&ending.totals.outcomes);
    let limit = gates::exceeded(settings, counts).filter(|_| code == exit::FINISHED);
    code = limit.as_ref().map_or(code, |limit| limit.code);
    file.end(stopped, code)?;
    let elapsed = began.elapsed();
    let report = report_file::at_end(settings);
    if report.is_damaged && ending.reason == StopReason::Finished {
        code = exit::CORRUPT;
        file.end(stopped, code)?;
    }
    let summary = DedupSummary {
        settings,
        ending: &ending,
        same_url: arguments.same_url,
        elapsed,
        lost: report_file::lost_words(settings, counts.near_duplicates),
        report: report.path.as_deref(),
    };
    warn_of_damage(&ending.tally.inputs);
    summary.warn();
    if let Some(limit) = limit {
        write_stderr(&format!("error: {}", limit.message));
    }
    warn_of_missing_fields(seen);
    let text = if arguments.json { summary.json() } else { summary.text() };
    // Standard output is for the rows then.
    match rows {
        Some(OwnRows::Kept(path) | OwnRows::Marked(path)) if path.as_os_str() == "-" => write_stderr(text.trim_end()),
        _ => host.print_summary(&text)?,
    }
    Ok(code)
}

pub(super) fn own_rows_error(error: OwnRowsError) -> CliError {
    let code = if matches!(error, OwnRowsError::Mixed(_)) { exit::USAGE } else { exit::DISK_FULL };
    CliError::new(code, error.to_string())
}

/// Names the places that could not be read.
pub(super) fn warn_of_damage(inputs: &InputReports) {
    for damage in &inputs.damages {
        write_stderr(&terminal_safe(&format!("warning: {}: {}", damage.place, damage.why)));
    }
    if let Some(more @ 1..) = inputs.damaged.checked_sub(inputs.damages.len() as u64) {
        write_stderr(&format!("warning: {more} more places could not be read"));
    }
}

/// Names fields that no row has. Returns whether there are any.
pub(super) fn warn_of_missing_fields(seen: &SeenFields) -> bool {
    let missing = seen.missing();
    for (flag, field) in &missing {
        let there = seen.there();
        write_stderr(&terminal_safe(&format!("error: no row has the field '{field}' ({flag}); there are: {there}")));
    }
    !missing.is_empty()
}

/// Returns the exit code of a run that read all inputs.
pub(super) fn code_of_inputs(inputs: &InputReports) -> u8 {
    match (inputs.fruitful, inputs.poor) {
        (0, _) => exit::NOTHING_FETCHED,
        (_, 0) if inputs.lost == 0 => exit::FINISHED,
        _ => exit::SOME_INPUT_UNREAD,
    }
}

/// A run that is ready to start.
struct PreparedDedup {
    dedup: Dedup,
    file: CrawlFile,
    /// Bytes of the input; `None` for a stream.
    bytes: Option<u64>,
    /// For the rows that are given back.
    inputs: Inputs,
    input: InputOptions,
}

/// Prepares the folder, opens its store and the inputs.
fn prepare(settings: &Settings, arguments: &DedupArguments) -> Result<PreparedDedup, CliError> {
    let normalizer = Normalizer::new(settings.normalise_options());
    let input = input_options(settings, arguments, &normalizer)?;
    check_rows_file(arguments.kept.as_deref().or(arguments.mark.as_deref()), &arguments.inputs)?;
    let outputs = arguments.kept.iter().chain(&arguments.mark).cloned();
    let ours: Vec<_> = outputs.chain([settings.out.dir.clone()]).collect();
    let inputs = Inputs::find(&arguments.inputs, &ours).map_err(|error| {
        CliError::usage(error.to_string()).with_hint("give WARC, Parquet or JSON lines files, folders, or -")
    })?;
    for warning in setup::detector_warnings(settings) {
        write_stderr(&format!("warning: {warning}"));
    }
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
    let accept_types = setup::accepted_types(settings);
    let documents = setup::document_options(settings)?;
    let (bytes, own) = (inputs.bytes, (inputs.clone(), input.clone()));
    let setup = DedupSetup {
        input,
        detect,
        against,
        renderer,
        documents,
        accepts: Box::new(move |media_type| fetch::accepts(&accept_types, media_type)),
        snapshot_after: options.snapshot_after,
        obey_noarchive: options.obey_noarchive,
        keep_duplicates: options.keep_duplicates,
        keep_rule: options.keep_rule,
        keep_text: options.keep_text,
        same_url: arguments.same_url,
        inputs,
    };
    let dedup = Dedup::open(setup, store, &opened.identity).map_err(crawl_error)?;
    let file = CrawlFile::begin_dedup(settings, &arguments.inputs, &opened.identity.crawl, started.as_deref())?;
    Ok(PreparedDedup { dedup, file, bytes, inputs: own.0, input: own.1 })
}

/// Refuses a file for rows that could not be written when all is decided, or would take the place of an input.
pub(super) fn check_rows_file(rows: Option<&Path>, inputs: &[PathBuf]) -> Result<(), CliError> {
    let Some(path) = rows.filter(|path| path.as_os_str() != "-") else { return Ok(()) };
    let refuse = |why: String, hint: &str| Err(CliError::usage(format!("{}: {why}", path.display())).with_hint(hint));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return refuse(format!("{} is no folder", folder.display()), "make it first: the rows are written at the end");
    }
    if let Some(ending @ ("bz2" | "xz" | "lz4")) = path.extension().and_then(|ending| ending.to_str()) {
        return refuse(format!(".{ending} is not written"), "rows are compressed in files that end in .gz or .zst");
    }
    let same = |input: &PathBuf| path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|it| it == path));
    match inputs.iter().any(same) {
        true => refuse("it is an input".to_owned(), "write the rows to another file"),
        false => Ok(()),
    }
}

fn input_options(
    settings: &Settings,
    arguments: &DedupArguments,
    normalizer: &Normalizer,
) -> Result<InputOptions, CliError> {
    let base = arguments
        .base
        .as_ref()
        .map(|base| normalizer.absolute(base).map_err(|error| CliError::usage(format!("--base '{base}': {error}"))));
    // Names that the user gave must be there. The usual ones need not.
    let named = [
        ("--url-field", &arguments.url_field, "url"),
        ("--id-field", &arguments.id_field, "id"),
        ("--html-field", &arguments.html_field, "html"),
        ("--time-field", &arguments.time_field, "fetched_at"),
    ];
    let named = named.into_iter().filter(|(_, field, usual)| field != usual).map(|(flag, field, _)| (flag, field));
    let texts = arguments.text_field.iter().filter(|field| *field != "text").map(|field| ("--text-field", field));
    let kept = arguments.keep_columns.iter().map(|field| ("--keep-columns", field));
    let wanted = named.chain(texts).chain(kept).map(|(flag, field)| (flag, field.clone()));
    let max_body = usize::try_from(settings.http.max_body.0).unwrap_or(usize::MAX);
    let is_limited = arguments.keys.given.iter().any(|given| given.key.name == "http.max_body");
    Ok(InputOptions {
        base: base.transpose()?,
        url_field: arguments.url_field.clone(),
        id_field: arguments.id_field.clone(),
        html_field: arguments.html_field.clone(),
        text_fields: arguments.text_field.clone(),
        time_field: arguments.time_field.clone(),
        keep_columns: arguments.keep_columns.clone(),
        max_body,
        max_text: if is_limited { max_body } else { usize::MAX },
        reads_pdf: settings.pdf.read,
        keeps_records: false,
        keeps_rows: false,
        within_files: settings.dedup.within == Within::Host,
        seen: std::sync::Arc::new(SeenFields::new(wanted)),
        normalizer: normalizer.clone(),
    })
}
