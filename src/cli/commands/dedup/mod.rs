//! The command `dedup`: decides on pages that are read from files.

mod monitor;
#[cfg(feature = "cluster")]
mod shared;
mod summary;

use std::time::Instant;

use crate::cli::args::{DedupArguments, SameUrlChoice};
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, crawl_error, exit, opening_error};
use crate::cli::host::Host;
use crate::cli::log;
use crate::cli::output_dir::{self, CrawlFile};
use crate::cli::reference_crawls;
use crate::cli::report_file;
use crate::cli::seeds::Seeds;
use crate::cli::setup;
use crate::cli::startup::load_settings;
#[cfg(feature = "cluster")]
use crate::cli::startup::load_settings_for_any_output;
use crate::cli::terminal::write_stderr;
use crate::dedup::{Dedup, DedupSetup, InputOptions, InputReports, Inputs, SameUrl};
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
    let PreparedDedup { dedup, mut file, bytes } = prepare(settings, arguments)?;
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
    let (stopped, mut code) = match ending.reason {
        StopReason::Finished => (None, code_of_inputs(&ending.tally.inputs)),
        StopReason::DiskFull => (Some("disk"), exit::DISK_FULL),
        _ => (Some("signal"), signal_code.unwrap_or(exit::INTERRUPTED)),
    };
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
        same_url: same_url(arguments),
        elapsed,
        report: report.path.as_deref(),
    };
    summary.warn();
    host.print_summary(&if arguments.json { summary.json() } else { summary.text() })?;
    Ok(code)
}

/// Returns the exit code of a run that read all inputs.
fn code_of_inputs(inputs: &InputReports) -> u8 {
    match (inputs.fruitful, inputs.poor) {
        (0, _) => exit::NOTHING_FETCHED,
        (_, 0) => exit::FINISHED,
        _ => exit::SOME_INPUT_UNREAD,
    }
}

/// A run that is ready to start.
struct PreparedDedup {
    dedup: Dedup,
    file: CrawlFile,
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
    if arguments.same_url == SameUrlChoice::Last && !inputs.can_be_read_again() {
        return Err(CliError::usage("--same-url last reads the input twice, and stdin can be read once")
            .with_hint("give files, or --same-url first or keep"));
    }
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
    let bytes = inputs.bytes;
    let setup = DedupSetup {
        input,
        detect,
        against,
        renderer,
        documents,
        accepts: Box::new(move |media_type| fetch::accepts(&accept_types, media_type)),
        index_memory: options.index_memory,
        snapshot_after: options.snapshot_after,
        obey_noarchive: options.obey_noarchive,
        keep_duplicates: options.keep_duplicates,
        keep_text: options.keep_text,
        same_url: same_url(arguments),
        inputs,
    };
    let dedup = Dedup::open(setup, store, &opened.identity).map_err(crawl_error)?;
    let file = CrawlFile::begin(settings, &Seeds::default(), &opened.identity.crawl, started.as_deref())?
        .mark_dedup(&arguments.inputs)?;
    Ok(PreparedDedup { dedup, file, bytes })
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
        id_field: arguments.id_field.clone(),
        html_field: arguments.html_field.clone(),
        text_field: arguments.text_field.clone(),
        keep_columns: arguments.keep_columns.clone(),
        max_body: usize::try_from(settings.http.max_body.0).unwrap_or(usize::MAX),
        reads_pdf: settings.pdf.read,
        keeps_records: false,
        normalizer: normalizer.clone(),
    })
}

fn same_url(arguments: &DedupArguments) -> SameUrl {
    match arguments.same_url {
        SameUrlChoice::Keep => SameUrl::Keep,
        SameUrlChoice::First => SameUrl::First,
        SameUrlChoice::Last => SameUrl::Last,
    }
}
