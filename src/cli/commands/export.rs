//! The command `export`: writes pages or rates in another format.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use crate::cli::args::{ExportArguments, ExportFormat, NoarchiveChoice, Representative, TextKind, UsageChoice};
use crate::cli::clusters::Clusters;
use crate::cli::config::settings::Settings;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::ProgressMode;
use crate::cli::errors::{CliError, exit, export_error, export_in_use_error};
use crate::cli::format::{byte_size, counted};
use crate::cli::output_dir::expect_whole;
use crate::cli::progress::named_bar;
use crate::cli::startup::defaults_with_log;
use crate::cli::status_file::{RunState, StatusFile};
use crate::cli::terminal::{write_stderr, write_stdout};
use crate::cli::terminal_safe::terminal_safe;
use crate::export::{
    self, Compression, DisallowingClusters, ElectedPages, ExportCounts, ExportError, ExportSource, ObjectFolder,
    Output, Selection, ShardFormat, TextColumns,
};
use crate::model::{OutcomeKind, Permission, Usage};
use crate::objects::ObjectUrl;
use crate::store;

/// The value of `--outcome` for all outcomes.
const ALL: &str = "all";

/// When a file of a data set is closed, unless `--shard-size` says so.
const SHARD_SIZE: u64 = 512 * 1024 * 1024;

/// Returns the default file or folder in the output folder.
fn default_file(format: ExportFormat, is_sharded: bool) -> &'static str {
    match format {
        ExportFormat::Parquet if is_sharded => "export/parquet",
        ExportFormat::Jsonl if is_sharded => "export/jsonl",
        ExportFormat::Warc if is_sharded => "export/warc",
        ExportFormat::Parquet => "parquet/pages-00000.parquet",
        ExportFormat::Jsonl => "export/pages.jsonl",
        ExportFormat::Dataset => "dataset",
        ExportFormat::Markdown => "markdown",
        ExportFormat::Warc => "export/pages.warc.gz",
        ExportFormat::Wacz => "export/pages.wacz",
        ExportFormat::Cdxj => "export/index.cdxj",
        ExportFormat::Csv => "export/rates.csv",
    }
}

/// Returns whether a format may be a folder of files of a size.
fn can_be_sharded(format: ExportFormat) -> bool {
    matches!(format, ExportFormat::Dataset | ExportFormat::Parquet | ExportFormat::Jsonl | ExportFormat::Warc)
}

/// Returns whether a format covers all outcomes by default.
fn is_of_all(format: ExportFormat) -> bool {
    matches!(format, ExportFormat::Csv | ExportFormat::Cdxj)
}

/// Returns the format that is asked for: by `--format`, or else by the name of the file.
fn format_of(arguments: &ExportArguments) -> Result<ExportFormat, CliError> {
    let by_name = || ExportFormat::of_name(arguments.out.as_deref()?);
    arguments.format.or_else(by_name).ok_or_else(|| {
        let told =
            arguments.out.as_ref().map_or("there is neither --format nor a file's name (-o)".to_owned(), |file| {
                format!("the name '{}' tells no format", terminal_safe(&file.display().to_string()))
            });
        CliError::usage(told).with_hint("add --format parquet, jsonl, dataset, markdown, warc, wacz, cdxj or csv")
    })
}

/// Exports a crawl and returns the exit code.
pub(super) fn run(arguments: &ExportArguments) -> Result<u8, CliError> {
    let settings = &defaults_with_log(arguments.verbosity)?;
    let format = format_of(arguments)?;
    let mut selection = selection(arguments, format)?;
    expect_whole(&arguments.dir)?;
    // Before locking, which would create a file in a folder that holds no crawl.
    if !arguments.dir.join("pages.jsonl").is_file() {
        return Err(CliError::usage(format!("{}: the folder holds no crawl", arguments.dir.display()))
            .with_hint("give the output folder of a crawl: ndcrawl export DIR --format parquet"));
    }
    let _held = store::hold(&arguments.dir).map_err(export_in_use_error)?;
    warn_of_unfinished(&arguments.dir);
    if arguments.representative == Representative::Elected {
        let clusters = Clusters::read(&arguments.dir, None)?.clusters.into_iter();
        let pairs = clusters.filter_map(|cluster| Some((cluster.representative, cluster.elected?)));
        selection.elected = ElectedPages::new(pairs);
    }
    if arguments.usage_of_copies {
        let uses = selection.uses.keys().copied();
        selection.disallowing = DisallowingClusters::read(&arguments.dir, uses).map_err(export_error)?;
    }
    let file = arguments
        .out
        .clone()
        .unwrap_or_else(|| arguments.dir.join(default_file(format, arguments.shard_size.is_some())));
    if format == ExportFormat::Warc && arguments.shard_size.is_none() && !is_stdout(&file) {
        expect_own_index(&file)?;
    }
    if format == ExportFormat::Wacz && is_stdout(&file) {
        return Err(CliError::usage("--format wacz writes a file, not standard output").with_hint("give -o a file"));
    }
    if arguments.shard_size.is_some() && !can_be_sharded(format) {
        return Err(CliError::usage("--shard-size is for --format dataset, parquet, jsonl and warc")
            .with_hint("leave it out, or export --format warc: the files of a WACZ belong together"));
    }
    if matches!(format, ExportFormat::Dataset | ExportFormat::Markdown) || arguments.shard_size.is_some() {
        expect_free_folder(format, &file)?;
    }
    let index = match (format, arguments.shard_size) {
        (ExportFormat::Warc, None) => Some(index_of(&file)),
        (ExportFormat::Warc, Some(_)) => Some(file.join("pages.cdxj")),
        _ => None,
    };
    match written(settings, arguments, format, &selection, &file) {
        Ok(tally) => print_tally(settings, format, (&file, index.as_deref()), tally),
        // A reader that has closed the pipe (`
        // head`) is not an error.
        Err(error) if is_stdout(&file) && error.write_kind() == Some(ErrorKind::BrokenPipe) => Ok(exit::FINISHED),
        Err(error) => Err(export_error(error)),
    }
}

fn selection(arguments: &ExportArguments, format: ExportFormat) -> Result<Selection, CliError> {
    let (all, names): (Vec<&String>, Vec<&String>) = arguments.outcome.iter().partition(|name| *name == ALL);
    let outcome = |name: &&String| {
        OutcomeKind::ALL.into_iter().find(|kind| kind.name() == *name).ok_or_else(|| {
            let known = OutcomeKind::ALL.map(OutcomeKind::name).join(", ");
            CliError::usage(format!("--outcome: '{name}' is none of {known}, {ALL}"))
        })
    };
    let named = names.iter().map(outcome).collect::<Result<BTreeSet<_>, _>>()?;
    let lower = |texts: &[String]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
    Ok(Selection {
        outcomes: match named.is_empty() {
            _ if !all.is_empty() => BTreeSet::new(),
            true if is_of_all(format) => BTreeSet::new(),
            true => Selection::default().outcomes,
            false => named,
        },
        hosts: lower(&arguments.host),
        languages: lower(&arguments.lang),
        uses: uses(&arguments.usage)?,
        elected: ElectedPages::default(),
        disallowing: DisallowingClusters::default(),
        // Counting a page does not pass it on.
        ignore_noarchive: arguments.noarchive == NoarchiveChoice::Ignore || format == ExportFormat::Csv,
    })
}

/// Returns what must be said of each use.
fn uses(choices: &[UsageChoice]) -> Result<BTreeMap<Usage, BTreeSet<Permission>>, CliError> {
    let mut uses = BTreeMap::new();
    for UsageChoice { usage, said } in choices {
        if uses.insert(*usage, said.iter().copied().collect()).is_some() {
            return Err(CliError::usage(format!("--usage: {} stands there twice", usage.name()))
                .with_hint(format!("join what may be said by +: --usage {}=y+unknown", usage.name())));
        }
    }
    Ok(uses)
}

/// Says how many pages were left out for what is said of their use.
fn left_out_for_use(tally: ExportCounts) -> Option<String> {
    let count: u64 = tally.other_use.iter().sum();
    let by = Permission::ALL.iter().zip(tally.other_use).filter(|(_, count)| *count > 0);
    let by = by.map(|(said, count)| format!("{} {count}", said.name())).collect::<Vec<_>>().join(", ");
    (count > 0).then(|| format!("note: {} left out by --usage: {by}", counted(count, "page", "pages")))
}

fn written(
    settings: &Settings,
    arguments: &ExportArguments,
    format: ExportFormat,
    selection: &Selection,
    file: &Path,
) -> Result<ExportCounts, ExportError> {
    let template = "{msg} {wide_bar} {percent:>3}% {eta:>4}";
    let bar = named_bar(settings.progress_mode(), "exporting", 0, template);
    let watch = |read, length| {
        bar.set_length(length);
        bar.set_position(read);
    };
    let source = ExportSource { folder: &arguments.dir, selection, watch: &watch };
    let shards =
        |format, size: Size| folder(file, |folder| export::shards(source, columns(arguments), format, folder, size.0));
    let tally = match format {
        ExportFormat::Parquet => match arguments.shard_size {
            Some(size) => shards(ShardFormat::Parquet, size),
            None => export::parquet(source, columns(arguments), output(file)?),
        },
        ExportFormat::Jsonl => match arguments.shard_size {
            Some(size) => shards(ShardFormat::Jsonl(compression(file)), size),
            None => export::jsonl(source, columns(arguments), compression(file), output(file)?),
        },
        ExportFormat::Dataset => {
            let size = arguments.shard_size.map_or(SHARD_SIZE, |size| size.0);
            folder(file, |folder| export::dataset(source, columns(arguments), folder, size))
        }
        ExportFormat::Markdown => folder(file, |folder| export::markdown(source, folder)),
        ExportFormat::Warc if let Some(size) = arguments.shard_size => {
            folder(file, |folder| export::warc_shards(source, archive_compression(file), folder, size.0))
        }
        ExportFormat::Warc => {
            let index = if is_stdout(file) { None } else { Some(output(&index_of(file))?) };
            export::warc(source, archive_compression(file), output(file)?, index)
        }
        ExportFormat::Wacz => match ObjectUrl::of(file) {
            Some(_) => export::in_scratch_folder(
                "pages.wacz",
                |packed| export::wacz(source, packed),
                |packed| output(file)?.copy_of(packed),
            ),
            None => export::wacz(source, file),
        },
        ExportFormat::Cdxj => export::cdxj(source, output(file)?),
        ExportFormat::Csv => export::rates(source, arguments.by, output(file)?),
    };
    bar.finish_and_clear();
    tally
}

fn columns(arguments: &ExportArguments) -> TextColumns {
    let has = |kind: TextKind| arguments.text.contains(&kind);
    // Markdown is a column of its own, beside a text.
    TextColumns {
        main: has(TextKind::Main) || !has(TextKind::Full),
        full: has(TextKind::Full),
        markdown: has(TextKind::Markdown),
        html: arguments.html,
        record_id: false,
    }
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn output(file: &Path) -> Result<Output, ExportError> {
    match ObjectUrl::of(file) {
        Some(url) => Output::object(&url),
        None if is_stdout(file) => Ok(Output::stream("standard output", io::stdout())),
        None => Output::file(file),
    }
}

/// Writes a folder, be it on a disk or in a bucket.
fn folder(
    target: &Path,
    write: impl FnOnce(&Path) -> Result<ExportCounts, ExportError>,
) -> Result<ExportCounts, ExportError> {
    let Some(url) = ObjectUrl::of(target) else { return write(target) };
    let objects = ObjectFolder::begin(&url)?;
    export::in_scratch_folder("export", write, |folder| objects.upload(folder))
}

/// Returns the compression for the name of a file.
fn compression(file: &Path) -> Compression {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Compression::Gzip,
        Some("zst") => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Returns the compression of an archive of this name: that of our own archives, unless the name says otherwise.
fn archive_compression(file: &Path) -> Compression {
    let extension = file.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("warc") => Compression::None,
        Some("zst") => Compression::Zstd,
        _ => Compression::Gzip,
    }
}

/// Returns `pages.cdxj` for `pages.warc.gz`. Other archives have the index of their full name: `pages.warc.cdxj`.
fn index_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".warc.gz").unwrap_or(&name);
    file.with_file_name(format!("{stem}.cdxj"))
}

/// Refuses a folder that has files, or that is no folder.
fn expect_free_folder(format: ExportFormat, folder: &Path) -> Result<(), CliError> {
    if is_stdout(folder) {
        let (name, other) = match format {
            ExportFormat::Markdown => ("--format markdown", "--format jsonl --text markdown -o -"),
            ExportFormat::Dataset => ("--format dataset", "--format jsonl -o -"),
            _ => ("--shard-size", "-o - without --shard-size"),
        };
        return Err(CliError::usage(format!("{name} writes a folder, not standard output"))
            .with_hint(format!("give -o a folder, or use {other}")));
    }
    if ObjectUrl::of(folder).is_some() {
        // Whoever begins to upload looks.
        return Ok(());
    }
    let is_taken = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    if is_taken {
        return Err(CliError::usage(format!("{}: there is something already", folder.display()))
            .with_hint("give -o a folder that does not exist or is empty"));
    }
    Ok(())
}

/// Refuses to overwrite the index of another archive that is there.
fn expect_own_index(file: &Path) -> Result<(), CliError> {
    let (index, name) = (index_of(file), file.file_name().unwrap_or_default().to_string_lossy());
    let mut first = String::new();
    if std::fs::File::open(&index).and_then(|file| io::BufReader::new(file).read_line(&mut first)).is_err() {
        return Ok(());
    }
    let fields = first.splitn(3, ' ').nth(2).unwrap_or_default();
    let fields: serde_json::Value = serde_json::from_str(fields).unwrap_or_default();
    match fields["filename"].as_str() {
        Some(other) if other != name && file.with_file_name(other).is_file() => {
            Err(CliError::usage(format!("{} is the index of {}", index.display(), terminal_safe(other)))
                .with_hint("give -o another name, for example one that ends in .warc"))
        }
        _ => Ok(()),
    }
}

/// Prints what was written: on stdout, unless the data is there.
fn print_tally(
    settings: &Settings,
    format: ExportFormat,
    (file, index): (&Path, Option<&Path>),
    tally: ExportCounts,
) -> Result<u8, CliError> {
    let quiet = settings.progress_mode() == ProgressMode::None;
    let warn = |count: u64, what: &str| {
        if count > 0 && !quiet {
            write_stderr(&format!("note: {} {what}", counted(count, "page", "pages")));
        }
    };
    warn(tally.held_back, "left out: noarchive or noindex (--noarchive ignore exports them)");
    if let Some(note) = left_out_for_use(tally).filter(|_| !quiet) {
        write_stderr(&note);
    }
    if format != ExportFormat::Csv {
        warn(tally.without_body, "stored without a body: the crawl archived none (--no-warc, noarchive)");
    }
    if tally.pages == 0 && format == ExportFormat::Dataset && !quiet {
        write_stderr("note: no page was selected; datasets refuses a data set without rows");
    }
    let what = if format == ExportFormat::Csv { "URL" } else { "page" };
    let count = counted(tally.pages, what, &format!("{what}s"));
    let name = terminal_safe(&file.display().to_string()).into_owned();
    if is_stdout(file) {
        if !quiet {
            write_stderr(&format!("{count}, {}", byte_size(tally.bytes)));
        }
        return Ok(exit::FINISHED);
    }
    let mut text = format!("{count}, {}: {name}\n", byte_size(tally.bytes));
    if let Some(index) = index {
        text += &format!("index: {}\n", terminal_safe(&index.display().to_string()));
    }
    write_stdout(&text).map(|()| exit::FINISHED)
}

/// Warns that the crawl is unfinished.
fn warn_of_unfinished(folder: &Path) {
    if let Ok(status) = StatusFile::read(folder)
        && status.state != RunState::Finished
    {
        write_stderr("warning: the crawl is unfinished; exporting its pages so far");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_stands_beside_the_archive_and_the_name_tells_the_compression() {
        assert_eq!(index_of(Path::new("a/b.warc.gz")), Path::new("a/b.cdxj"));
        assert_eq!(index_of(Path::new("a/b.warc")), Path::new("a/b.warc.cdxj"));
        assert_eq!(index_of(Path::new("b.warc.zst")), Path::new("b.warc.zst.cdxj"));
        assert_eq!(index_of(Path::new("b")), Path::new("b.cdxj"));
        assert_eq!(archive_compression(Path::new("b.WARC")), Compression::None);
        assert_eq!(archive_compression(Path::new("b.warc.zst")), Compression::Zstd);
        assert_eq!(archive_compression(Path::new("b.warc.gz")), Compression::Gzip);
        assert_eq!(archive_compression(Path::new("-")), Compression::Gzip);
        assert_eq!(compression(Path::new("a.jsonl.zst")), Compression::Zstd);
        assert_eq!(compression(Path::new("a.gz")), Compression::Gzip);
        assert_eq!(compression(Path::new("-")), Compression::None);
    }
}
