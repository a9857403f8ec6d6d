//! `dedup --cluster`: several workers deduplicate the inputs of a manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::batch::{BatchEnding, BatchError, BatchOutput, BatchSettings, BatchWorker, KeptFormat, VerdictFormat};
use crate::cli::args::DedupArguments;
use crate::cli::cluster_access::connector;
use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::Choice;
use crate::cli::errors::{CliError, exit, worker_error};
use crate::cli::format::{counted, decided_again, span, thousands};
use crate::cli::helper::Helper;
use crate::cli::host::Host;
use crate::cli::run_crawl::runtime;
use crate::cli::setup;
use crate::cli::shared_dedup::{detector, plan, renderer};
use crate::cli::signals;
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::cluster::{ClusterError, ManifestFlags, RunDescription, RunnerSettings, connect_checked, init, resume};
use crate::dedup::{InputOptions, InputReader, SameUrl};
use crate::detect::Within;
use crate::fetch;
use crate::model::Normalizer;
use crate::objects::{Bucket, ObjectReader, ObjectUrl};
use crate::pipeline::Stop;

/// How long a run is tried to be begun while the database does not answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Works on the inputs of the manifest at this address. Returns the exit code.
pub(super) fn run(address: &str, settings: &Settings, arguments: &DedupArguments, host: &Host) -> Result<u8, CliError> {
    kept_format(arguments)?;
    if arguments.mark.is_some() {
        return Err(CliError::usage("--mark writes the rows of one run, and --cluster shares one")
            .with_hint("leave out --mark: --verdicts says what became of each row"));
    }
    let names = manifest(arguments)?;
    let flags = &arguments.shared.cluster_flags;
    if host.is_embedded() && flags.workers.get() > 1 {
        return Err(CliError::usage(
            "--workers starts this program, which is embedded here: start each worker by itself",
        ));
    }
    let plan = plan(settings, &flags.cluster_name, &arguments.shared.shape())?;
    let reader = reader(settings, arguments, plan.name.text())?;
    let PreparedOutput { place, mut output, _scratch } = prepare_output(&settings.out.dir, arguments)?;
    output.spare = settings.out.min_free.0.saturating_mul(2);
    let flags_of_files = manifest_flags(settings, arguments, &place);
    let (connector, runtime, began) = (connector(address)?, runtime()?, Instant::now());
    let crawl = runtime.block_on(async {
        let mut session = connect_checked(&connector, plan.one_copy).await?;
        let crawl = init(&mut session, &plan).await?;
        resume(&mut session).await?;
        Ok::<_, ClusterError>(crawl)
    });
    let crawl = crawl.map_err(|error| worker_error(&error))?;
    let helper = |number: usize| {
        Helper::start(number, |command| {
            command.args(std::env::args_os().skip(1)).args(["--workers", "1"]);
        })
    };
    let helpers = (2..=flags.workers.get()).map(helper).collect::<Result<Vec<_>, _>>()?;
    let runner = RunnerSettings {
        description: description(&place),
        options: detector(settings),
        ttl: flags.lease,
        patience: PATIENCE,
        scratch: output.local_folder().to_owned(),
    };
    let batch = BatchSettings { connector, crawl, runner, reader, names: names.clone(), flags: flags_of_files, output };
    let (stop, stopped) = watch::channel(Stop::Go);
    let (ending, signalled) = runtime.block_on(async {
        let signals = host.listen(stop, signals::OF_PAGES).map_err(anyhow::Error::from)?;
        let ending = async { BatchWorker::start(batch).await?.run(stopped).await }.await;
        Ok::<_, CliError>((ending.map_err(batch_error)?, signals.exit_code()))
    })?;
    // Inputs that were not read are told by this process, and those of a helper that failed were done by others.
    let codes = [exit::FINISHED, exit::NOTHING_FETCHED, exit::SOME_INPUT_UNREAD, exit::TERMINATED];
    for failed in helpers.into_iter().filter_map(|helper| helper.end(signalled.is_some(), &codes)) {
        write_stderr(&format!("warning: {failed}"));
    }
    warn(&ending);
    let within = settings.dedup.within;
    let summary = match arguments.json {
        true => json(&ending, &names, within),
        false => text(&ending, &names, began.elapsed(), within),
    };
    host.print_summary(&summary)?;
    Ok(signalled.unwrap_or_else(|| code(&ending)))
}

/// Reads the manifest: an input a line. Empty lines and those that begin with # are passed over.
fn manifest(arguments: &DedupArguments) -> Result<Vec<String>, CliError> {
    let [path] = &arguments.inputs[..] else {
        let message = "--cluster takes one manifest: a file that names the inputs, one a line";
        return Err(CliError::usage(message).with_hint("write the names into a file, and give that file"));
    };
    let text = manifest_text(path).map_err(|error| {
        CliError::usage(format!("{}: {error}", path.display()))
            .with_hint("give a file that names the inputs, one a line")
    })?;
    let mut names: Vec<String> = Vec::new();
    for name in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if names.iter().any(|known| known == name) {
            return Err(CliError::usage(format!("{}: the input {name} is named twice", path.display())));
        }
        names.push(name.to_owned());
    }
    if names.is_empty() {
        return Err(CliError::usage(format!("{}: the manifest names no input", path.display())));
    }
    Ok(names)
}

/// Reads a manifest from a disk or a bucket.
fn manifest_text(path: &Path) -> io::Result<String> {
    let Some(url) = ObjectUrl::of(path) else { return fs::read_to_string(path) };
    let bucket = Bucket::open(&url)?;
    let found = bucket.find(&url)?.into_iter().find(|object| object.url == url);
    let found = found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the bucket holds no such object"))?;
    io::read_to_string(ObjectReader::new(&bucket, &found))
}

fn reader(settings: &Settings, arguments: &DedupArguments, crawl: &str) -> Result<InputReader, CliError> {
    let same_url = arguments.same_url;
    if same_url == SameUrl::Last {
        return Err(CliError::usage(
            "--same-url last reads all inputs twice, which several workers cannot do together",
        )
        .with_hint("use --same-url first or keep"));
    }
    let normalizer = Normalizer::new(settings.normalise_options());
    let accept_types = setup::accepted_types(settings);
    let keeps_records = formats(arguments).0 == KeptFormat::Warc;
    let options = InputOptions { keeps_records, ..super::input_options(settings, arguments, &normalizer)? };
    let readers = (renderer(settings)?, setup::document_options(settings)?);
    let accepts = Box::new(move |media_type: &str| fetch::accepts(&accept_types, media_type));
    let keep_text = setup::crawl_options(settings).keep_text;
    Ok(InputReader::new(crawl, options, readers, accepts, (same_url, keep_text)))
}

/// Returns the format of the kept pages that was asked for.
fn kept_format(arguments: &DedupArguments) -> Result<Option<KeptFormat>, CliError> {
    let Some(typed) = arguments.kept.as_ref().map(|format| format.to_string_lossy()) else { return Ok(None) };
    let format = KeptFormat::ALL.into_iter().find(|format| format.name() == typed);
    format.map(Some).ok_or_else(|| {
        CliError::usage(format!("--kept '{typed}': no such format"))
            .with_hint("with --cluster, --kept is jsonl, parquet or warc")
    })
}

/// Returns the formats of the kept pages and of the verdicts.
fn formats(arguments: &DedupArguments) -> (KeptFormat, VerdictFormat) {
    let kept = kept_format(arguments).ok().flatten().unwrap_or_default();
    let of_kept = if kept == KeptFormat::Parquet { VerdictFormat::Parquet } else { VerdictFormat::Jsonl };
    (kept, arguments.shared.verdicts.unwrap_or(of_kept))
}

/// Returns the flags on which the files of an input depend.
fn manifest_flags(settings: &Settings, arguments: &DedupArguments, place: &str) -> ManifestFlags {
    let (kept, verdicts) = formats(arguments);
    let flags = [
        ("-o", place.to_owned()),
        ("--kept", word(kept)),
        ("--verdicts", word(verdicts)),
        ("--same-url", word(arguments.same_url)),
        ("--base", arguments.base.clone().unwrap_or_default()),
        ("--url-field", arguments.url_field.clone()),
        ("--id-field", arguments.id_field.clone()),
        ("--html-field", arguments.html_field.clone()),
        ("--time-field", arguments.time_field.clone()),
        ("--text-field", arguments.text_field.join(",")),
        ("--keep-columns", arguments.keep_columns.join(",")),
        ("--pdf", settings.pdf.read.to_string()),
    ];
    flags.into_iter().map(|(flag, value)| (flag.to_owned(), value)).collect()
}

/// Returns the value of a flag as it is given.
fn word(choice: impl std::fmt::Debug) -> String {
    format!("{choice:?}").to_lowercase()
}

/// The output, and what it is called.
struct PreparedOutput {
    place: String,
    output: BatchOutput,
    /// Where files are made that are uploaded. It is deleted at the end.
    _scratch: Option<TempDir>,
}

fn prepare_output(out: &Path, arguments: &DedupArguments) -> Result<PreparedOutput, CliError> {
    let formats = formats(arguments);
    let Some(url) = ObjectUrl::of(out) else {
        let folder = output_folder(out)?;
        let (place, output) = (folder.display().to_string(), BatchOutput::folder(&folder, formats));
        return Ok(PreparedOutput { place, output, _scratch: None });
    };
    let failed = |error: io::Error| CliError::usage(format!("{url}: {error}"));
    // Better told now than after the first input.
    Bucket::open(&url).and_then(|bucket| bucket.below(&url)).map_err(failed)?;
    let scratch = tempfile::tempdir().map_err(failed)?;
    let (place, output) = (url.to_string(), BatchOutput::objects(url, scratch.path(), formats));
    Ok(PreparedOutput { place, output, _scratch: Some(scratch) })
}

fn output_folder(folder: &Path) -> Result<PathBuf, CliError> {
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    if folder.join("store").exists() {
        let message = format!("{}: the folder holds a crawl of one process", folder.display());
        return Err(CliError::new(exit::NOT_RESUMABLE, message).with_hint("choose another folder with -o DIR"));
    }
    folder.canonicalize().map_err(failed)
}

fn description(place: &str) -> RunDescription {
    let (machine, process) = (setup::system_name(), std::process::id());
    RunDescription {
        name: format!("{machine}:{process}"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // Workers of one machine share the folder: the files of an input are its worker's alone.
        archive: format!("{machine}:{place}#{process}"),
    }
}

fn batch_error(error: BatchError) -> CliError {
    match error {
        BatchError::Cluster(error) => worker_error(&error),
        error @ BatchError::Output { .. } => CliError::new(exit::DISK_FULL, error.to_string()),
        error @ BatchError::OtherInput(_) => CliError::new(exit::CORRUPT, error.to_string()),
    }
}

fn warn(ending: &BatchEnding) {
    for (name, report) in ending.inputs.iter().filter(|(_, report)| !report.is_good) {
        let why = report.why.as_deref().unwrap_or("it gave no page");
        write_stderr(&terminal_safe(&format!("warning: input {name}: {why}")));
    }
}

fn code(ending: &BatchEnding) -> u8 {
    if !ending.is_complete {
        return exit::TERMINATED;
    }
    let fruitful = ending.inputs.iter().any(|(_, report)| report.answers > 0);
    match (fruitful, ending.inputs.iter().all(|(_, report)| report.is_good)) {
        (false, _) => exit::NOTHING_FETCHED,
        (true, true) => exit::FINISHED,
        (true, false) => exit::SOME_INPUT_UNREAD,
    }
}

fn outcomes(ending: &BatchEnding) -> BTreeMap<&str, u64> {
    let mut outcomes = BTreeMap::new();
    for (outcome, count) in ending.inputs.iter().flat_map(|(_, report)| &report.outcomes) {
        *outcomes.entry(outcome.as_str()).or_default() += count;
    }
    outcomes
}

fn revised(ending: &BatchEnding) -> u64 {
    ending.inputs.iter().map(|(_, report)| report.revised).sum()
}

fn json(ending: &BatchEnding, names: &[String], within: Within) -> String {
    let inputs: Vec<_> =
        ending.inputs.iter().map(|(name, report)| json!({ "input": name, "report": report })).collect();
    let all = json!({
        "inputs": names.len(),
        "done": ending.inputs.len(),
        "complete": ending.is_complete,
        "within": within.word(),
        "outcomes": outcomes(ending),
        "revised": revised(ending),
        "reports": inputs,
    });
    format!("{all}\n")
}

fn text(ending: &BatchEnding, names: &[String], elapsed: Duration, within: Within) -> String {
    let pages: u64 = ending.inputs.iter().map(|(_, report)| report.pages).sum();
    let repeated: u64 = ending.inputs.iter().map(|(_, report)| report.repeated).sum();
    let done = thousands(ending.inputs.len() as u64);
    let mut text = format!(
        "{done} of {} done in {}\n{} decided\n\n",
        counted(names.len() as u64, "input", "inputs"),
        span(elapsed),
        counted(pages, "page", "pages")
    );
    for (outcome, count) in outcomes(ending) {
        text.push_str(&format!("{outcome:<17}{:>10}\n", thousands(count)));
    }
    if repeated > 0 {
        text.push_str(&format!("{:<17}{:>10}\n", "repeated", thousands(repeated)));
    }
    if revised(ending) > 0 {
        text += &decided_again(revised(ending));
    }
    text += super::summary::what_was_compared(within);
    if within == Within::Host {
        text += "Pages were decided once, without a second look.\n";
    }
    if !ending.is_complete {
        text += "Stopped before the end: the same command goes on.\n";
        if within != Within::Host {
            text += "Until it has ended, a second look may change these files.\n";
        }
    }
    text
}
