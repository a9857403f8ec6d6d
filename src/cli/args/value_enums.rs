//! Values of arguments that set no key: one word out of a few.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::model::{Permission, Usage};

/// An export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One row per page, with its text
    Parquet,
    /// The same rows as JSON lines; compressed if FILE ends in .gz or .zst
    Jsonl,
    /// A folder of Parquet files with a card, as Hugging Face's datasets reads it
    Dataset,
    /// A folder with a file of Markdown per page: its main text, with its metadata in front
    Markdown,
    /// The archived records: in gzip, in zstd if FILE ends in .zst, plain if in .warc; their index beside them as .cdxj
    Warc,
    /// The archived records, their index and the list of pages in one file
    Wacz,
    /// Index of the WARC files in the output folder
    Cdxj,
    /// Duplicate rates, one line per host
    Csv,
}

impl ExportFormat {
    /// Returns the format that the name of a file tells, compressed or not.
    pub fn of_name(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        Some(match name.rsplit_once('.')?.1 {
            "parquet" => Self::Parquet,
            "jsonl" | "ndjson" => Self::Jsonl,
            "warc" => Self::Warc,
            "wacz" => Self::Wacz,
            "cdxj" => Self::Cdxj,
            "csv" => Self::Csv,
            _ => return None,
        })
    }
}

/// Which clusters come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClusterOrder {
    /// Those of most pages
    #[default]
    Size,
    /// Those with the least similar page: where a wrong verdict is likeliest
    Score,
    /// By the URL of the stored page
    Url,
}

/// What must be said of a use, as in `train-ai=y+unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageChoice {
    /// The use.
    pub usage: Usage,
    /// What may be said of it.
    pub said: Vec<Permission>,
}

impl std::str::FromStr for UsageChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (usage, said) = text.split_once('=').ok_or("write it as train-ai=y")?;
        let uses = Usage::ALL.map(Usage::name).join(", ");
        let usage = Usage::ALL.into_iter().find(|known| known.name() == usage).ok_or(format!("the uses are {uses}"))?;
        let answers = Permission::ALL.map(Permission::name).join(", ");
        let known = |said: &str| Permission::ALL.into_iter().find(|known| known.name() == said);
        let said: Option<Vec<Permission>> = said.split('+').map(known).collect();
        Ok(Self { usage, said: said.ok_or(format!("what may be said is {answers}, joined by +"))? })
    }
}

/// A text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextKind {
    /// What the page is about: without navigation, advertisements and the like
    Main,
    /// All visible text
    Full,
    /// The main text as Markdown, as the field markdown
    Markdown,
}

/// Reads a value of a crate that knows nothing of clap by its name. `what` gives each name and maybe what it means.
pub fn named<T>(values: &'static [T], what: impl Fn(T) -> PossibleValue) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync,
{
    let names: Vec<PossibleValue> = values.iter().map(|value| what(*value)).collect();
    let known: Vec<String> = names.iter().map(|name| name.get_name().to_owned()).collect();
    PossibleValuesParser::new(names).map(move |text| {
        let place = known.iter().position(|name| *name == text);
        values[place.expect("the parser before lets names alone pass")]
    })
}

/// The page that represents a cluster of duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Representative {
    /// The page that was decided first
    Stored,
    /// The page with the best provenance (see clusters), if its body is archived
    Elected,
}

/// The treatment of pages marked noarchive or noindex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum NoarchiveChoice {
    Obey,
    Ignore,
}

/// A parser or rule that `check` queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckKind {
    /// Does this robots.txt allow the URL?
    Robots,
    /// What is the canonical form of this URL or reference?
    Url,
    /// Which text, links and metadata does this page have?
    Html,
    /// Which URLs does this sitemap list?
    Sitemap,
    /// May the crawler connect to this address?
    Addr,
    /// Which directives do these header fields and meta elements give?
    Meta,
    /// How long is the wait that this Retry-After asks for?
    RetryAfter,
    /// Does this URL look like a crawler trap?
    Trap,
    /// What is the file name derived from this URL?
    Name,
    /// How is this text escaped for HTML, a terminal and CSV?
    Escape,
}

/// What the servers of `cluster local` are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LocalAction {
    /// Make the servers if need be, start them, and print their address
    Start,
    /// Print their address
    Url,
    /// Stop them; the data stays
    Stop,
    /// Kill the primary, as a crash does
    KillPrimary,
    /// Make the standby the primary, which then has no standby
    Promote,
    /// Stop the standby: no commit ends
    StopStandby,
    /// Start the standby again
    StartStandby,
}
