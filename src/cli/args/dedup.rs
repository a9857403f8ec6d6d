//! The arguments of `dedup`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::common::{ConfigSource, Verbosity};
use super::crawl::RunFlags;
use super::flags::KeyFlags;
use super::key_sets::JudgingKeys;
use super::value_enums::named;
use crate::dedup::SameUrl;

/// The arguments of `dedup`.
#[derive(Debug, Args)]
pub struct DedupArguments {
    /// Files (WARC, WACZ, ARC, WET, Parquet, Arrow, JSON, CSV, HTML, text), folders of these, s3://BUCKET/NAME, or - for stdin
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,
    /// Folders: a page has its path in the folder, appended to URL, as its URL; otherwise its whole path
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub base: Option<String>,
    /// Tables: field with the URL, by name or path (metadata.url)
    #[arg(long, value_name = "NAME", default_value = "url")]
    pub url_field: String,
    /// Tables: field with the document's own id, which names it if it has no URL
    #[arg(long, value_name = "NAME", default_value = "id")]
    pub id_field: String,
    /// Tables: field with the source of the page
    #[arg(long, value_name = "NAME", default_value = "html")]
    pub html_field: String,
    /// Tables: field with the text of the page, if it has no source; a path goes into lists (messages[].content), and
    /// several are joined
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "text")]
    pub text_field: Vec<String>,
    /// Tables: field with the time at which the page was fetched
    #[arg(long, value_name = "NAME", default_value = "fetched_at")]
    pub time_field: String,
    /// Tables: other fields to carry through to pages.jsonl and exports
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub keep_columns: Vec<String>,
    /// Several captures of one URL: keep each as a document, or the first or the last in the input
    #[arg(long, value_name = "WHICH", value_parser = named(&SameUrl::ALL, |which| which.name().into()), default_value = "first")]
    pub same_url: SameUrl,
    /// Write the rows that are kept, as they came, to FILE or - for stdout; with --cluster: the format of kept pages (jsonl,
    /// parquet, warc)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "mark")]
    pub kept: Option<PathBuf>,
    /// Write all rows, each with its verdict in the columns dedup_outcome, dedup_of, dedup_score, dedup_loses_words and
    /// dedup_copies, to FILE or -
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mark: Option<PathBuf>,
    /// Start over; fail if the output folder is not empty
    #[arg(long)]
    pub fresh: bool,
    /// With --fresh: delete the earlier run in the output folder first
    #[arg(long, requires = "fresh")]
    pub force: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Flags of a run that several workers share.
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub shared: super::cluster::SharedDedupFlags,
    /// The flags of `crawl` that concern decisions and output.
    #[command(flatten)]
    pub keys: KeyFlags<JudgingKeys>,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

impl DedupArguments {
    /// Returns the flags that say how to treat the output folder.
    pub fn run_flags(&self) -> RunFlags {
        RunFlags { fresh: self.fresh, force: self.force, json: self.json, ..RunFlags::default() }
    }
}
