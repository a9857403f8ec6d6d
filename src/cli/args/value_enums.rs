//! Values of flags and arguments that are one word out of a few.

use clap::ValueEnum;

/// In what form pages are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
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

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckKind {
    /// May this URL be asked for, by this robots.txt?
    Robots,
    /// How does this URL or reference read?
    Url,
    /// What does this page hold?
    Html,
    /// What does this sitemap name?
    Sitemap,
    /// May this address be connected to?
    Addr,
    /// What do these header lines and meta elements ask of us?
    Meta,
    /// How long does this Retry-After have us wait?
    RetryAfter,
    /// Does this URL look like a trap?
    Trap,
    /// Under what name is something of this page kept?
    Name,
    /// How does this text stand on a web page, on a terminal, in a spreadsheet?
    Escape,
}
