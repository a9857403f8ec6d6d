//! The command `export`: which pages, in which format, and where to.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::arguments::ExportArguments;
use super::clusters::Clusters;
use super::error::{CliError, exit};
use super::format::{byte_size, counted};
use super::output_dir::{Phase, expect_whole, store_error};
use super::settings::Settings;
use super::status::{RunState, StatusFile};
use super::terminal::{stderr_can_draw, terminal_safe, write_stderr, write_stdout};
use super::value_enums::ProgressMode;
use crate::export::{self, By, Compression, Elected, ExportError, Output, Selection, Source, Tally};
use crate::model::OutcomeKind;
use crate::store;

/// What stands for all outcomes.
const ALL: &str = "all";

/// In what form pages are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A row a page, with its text
    Parquet,
    /// The same rows as lines of JSON; .gz and .zst in FILE compress
    Jsonl,
    /// The archived records, and FILE.cdxj, their index
    Warc,
    /// An index of the crawl's own WARC files
    Cdxj,
    /// Duplicate rates, a line a host
    Csv,
}

impl Format {
    /// Where the export goes if nothing else is said, within the output folder of the crawl.
    fn default_file(self) -> &'static str {
        match self {
            Format::Parquet => "parquet/pages-00000.parquet",
            Format::Jsonl => "export/pages.jsonl",
            Format::Warc => "export/pages.warc.gz",
            Format::Cdxj => "export/index.cdxj",
            Format::Csv => "export/rates.csv",
        }
    }

    /// Whether all outcomes are meant if none is named: of rates, and of an index of all there is.
    fn is_of_all(self) -> bool {
        matches!(self, Format::Csv | Format::Cdxj)
    }
}

/// What duplicate rates are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum CountBy {
    Host,
    Domain,
    Lang,
    Type,
}

/// Which page stands for a cluster of duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Representative {
    /// The one that was judged first
    Stored,
    /// The one its provenance speaks for, as clusters tells it, if its body is archived
    Elected,
}

/// What becomes of pages that ask not to be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum NoarchiveChoice {
    Obey,
    Ignore,
}

/// Does what `export` was asked for.
pub fn run(settings: &Settings, arguments: &ExportArguments) -> Result<u8, CliError> {
    let mut selection = selection(arguments)?;
    expect_whole(&arguments.dir)?;
    // Before the lock is taken, which would leave a file in somebody else's folder.
    if !arguments.dir.join("pages.jsonl").is_file() {
        return Err(CliError::usage(format!("{}: it holds no crawl", arguments.dir.display()))
            .with_hint("give the output folder of a crawl: ndcrawl export DIR --format parquet"));
    }
    let _held = store::hold(&arguments.dir).map_err(held)?;
    warn_of_unfinished(&arguments.dir);
    if arguments.representative == Representative::Elected {
        let clusters = Clusters::read(&arguments.dir, None)?.clusters.into_iter();
        let pairs = clusters.filter_map(|cluster| Some((cluster.representative, cluster.elected?)));
        selection.elected = Elected::new(pairs);
    }
    let file = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(arguments.format.default_file()));
    match written(settings, arguments, &selection, &file) {
        Ok(tally) => tell(settings, arguments, &file, tally),
        // A reader that has gone away (`| head`) is no error.
        Err(error) if is_stdout(&file) && error.write_kind() == Some(ErrorKind::BrokenPipe) => Ok(exit::FINISHED),
        Err(error) => Err(told(error)),
    }
}

fn selection(arguments: &ExportArguments) -> Result<Selection, CliError> {
    let names: BTreeSet<String> = arguments.outcome.iter().cloned().collect();
    if let Some(name) =
        names.iter().find(|name| *name != ALL && OutcomeKind::ALL.iter().all(|known| known.name() != **name))
    {
        let known = OutcomeKind::ALL.map(OutcomeKind::name).join(", ");
        return Err(CliError::usage(format!("--outcome: '{name}' is none of {known}, {ALL}")));
    }
    let lower = |texts: &[String]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
    Ok(Selection {
        outcomes: match names.is_empty() {
            _ if names.contains(ALL) => BTreeSet::new(),
            true if arguments.format.is_of_all() => BTreeSet::new(),
            true => Selection::default().outcomes,
            false => names,
        },
        hosts: lower(&arguments.host),
        languages: lower(&arguments.lang),
        elected: Elected::default(),
        // A page that is only counted is not passed on.
        ignore_noarchive: arguments.noarchive == NoarchiveChoice::Ignore || arguments.format == Format::Csv,
    })
}

fn written(
    settings: &Settings,
    arguments: &ExportArguments,
    selection: &Selection,
    file: &Path,
) -> Result<Tally, ExportError> {
    let bar = bar(settings);
    let watch = |read, length| {
        bar.set_length(length);
        bar.set_position(read);
    };
    let source = Source { folder: &arguments.dir, selection, watch: &watch };
    let output = output(file)?;
    let tally = match arguments.format {
        Format::Parquet => export::parquet(source, arguments.html, output),
        Format::Jsonl => export::jsonl(source, arguments.html, compression(file), output),
        Format::Warc => {
            let index = if is_stdout(file) { None } else { Some(Output::file(&index_of(file))?) };
            export::warc(source, output, index)
        }
        Format::Cdxj => export::cdxj(source, output),
        Format::Csv => {
            let by = match arguments.by {
                CountBy::Host => By::Host,
                CountBy::Domain => By::Domain,
                CountBy::Lang => By::Language,
                CountBy::Type => By::Type,
            };
            export::rates(source, by, output)
        }
    };
    bar.finish_and_clear();
    tally
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn output(file: &Path) -> Result<Output, ExportError> {
    if is_stdout(file) { Ok(Output::stream("standard output", io::stdout())) } else { Output::file(file) }
}

/// As the file's name has it.
fn compression(file: &Path) -> Compression {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Compression::Gzip,
        Some("zst") => Compression::Zstd,
        _ => Compression::None,
    }
}

/// `pages.cdxj` for `pages.warc.gz`.
fn index_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".warc").unwrap_or(stem);
    file.with_file_name(format!("{stem}.cdxj"))
}

/// Shows how far the export is; nothing where nobody watches.
fn bar(settings: &Settings) -> ProgressBar {
    let wanted = !matches!(settings.progress_mode(), ProgressMode::None) && stderr_can_draw();
    let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3}% {eta:>4}");
    let bar = ProgressBar::with_draw_target(Some(0), target);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message("exporting");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Tells what was written: on stdout, unless that has the data.
fn tell(settings: &Settings, arguments: &ExportArguments, file: &Path, tally: Tally) -> Result<u8, CliError> {
    let quiet = settings.progress_mode() == ProgressMode::None;
    let warn = |count: u64, what: &str| {
        if count > 0 && !quiet {
            write_stderr(&format!("note: {} {what}", counted(count, "page", "pages")));
        }
    };
    warn(tally.held_back, "left out: noarchive or noindex (--noarchive ignore exports them)");
    if arguments.format != Format::Csv {
        warn(tally.without_body, "stored without a body: the crawl kept none (--no-warc, noarchive)");
    }
    let what = if arguments.format == Format::Csv { "URL" } else { "page" };
    let count = counted(tally.pages, what, &format!("{what}s"));
    let name = terminal_safe(&file.display().to_string()).into_owned();
    if is_stdout(file) {
        if !quiet {
            write_stderr(&format!("{count}, {}", byte_size(tally.bytes)));
        }
        return Ok(exit::FINISHED);
    }
    let mut text = format!("{count}, {}: {name}\n", byte_size(tally.bytes));
    if arguments.format == Format::Warc {
        text += &format!("index: {}\n", terminal_safe(&index_of(file).display().to_string()));
    }
    write_stdout(&text).map(|()| exit::FINISHED)
}

/// What is there of a crawl that can go on is exported, but its reader should know.
fn warn_of_unfinished(folder: &Path) {
    if let Ok(status) = StatusFile::read(folder)
        && status.state != RunState::Finished
    {
        write_stderr("warning: the crawl was stopped before its end; what it has so far is exported");
    }
}

fn held(error: store::Error) -> CliError {
    match &error {
        store::Error::InUse { folder, pid } => {
            CliError::new(exit::IN_USE, format!("{}: a crawl is at work there (process {pid})", folder.display()))
                .with_hint("wait until it has ended, or stop it with Ctrl-C; it can be resumed after the export")
        }
        _ => store_error(error, Phase::Opening),
    }
}

fn told(error: ExportError) -> CliError {
    match error {
        ExportError::Crawl(error) => store_error(error, Phase::Opening),
        ExportError::Write { .. } => {
            let full = matches!(error.write_kind(), Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
            let code = if full { exit::DISK_FULL } else { exit::USAGE };
            CliError::new(code, error.to_string()).with_hint("-o FILE writes elsewhere")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_stands_beside_the_archive_and_the_name_tells_the_compression() {
        assert_eq!(index_of(Path::new("a/b.warc.gz")), Path::new("a/b.cdxj"));
        assert_eq!(index_of(Path::new("b")), Path::new("b.cdxj"));
        assert_eq!(compression(Path::new("a.jsonl.zst")), Compression::Zstd);
        assert_eq!(compression(Path::new("a.gz")), Compression::Gzip);
        assert_eq!(compression(Path::new("-")), Compression::None);
    }
}
