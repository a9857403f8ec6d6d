//! What names of files tell: the kind of what is text, and what the files of a folder say of each other.

use std::path::Path;

/// Endings of names of tables: what begins like text has no other format then.
const TABLES: [&str; 11] =
    ["csv", "tsv", "tab", "psv", "json", "jsonl", "ndjson", "parquet", "arrow", "feather", "warc"];

/// Endings of tables that make a folder a data set.
const DATA: [&str; 6] = ["arrow", "feather", "jsonl", "ndjson", "parquet", "warc"];
/// How the names of texts begin that are about the data beside them.
const ABOUT: [&str; 2] = ["readme", "license"];
/// What such files are.
pub(super) const ABOUT_DATA: &str = "about a data set";

/// Endings that name a compression.
const COMPRESSED: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".lz4"];

/// Endings of names of pages that begin with nothing but words, and their media types.
const PAGES: [(&str, &str); 7] = [
    ("html", "text/html"),
    ("htm", "text/html"),
    ("shtml", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("xht", "application/xhtml+xml"),
    ("txt", "text/plain"),
    ("text", "text/plain"),
];

/// What a text is that begins like nothing known: a table by its ending, whatever else it holds; or, found in a folder or
/// named with an ending, a document, such as Markdown and code.
pub(super) fn is_document(name: &Path, is_named: bool) -> bool {
    match ending(name) {
        Some(ending) => !TABLES.contains(&ending.as_str()),
        None => !is_named,
    }
}

/// What the files of a folder say of each other by their names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Company {
    has_pages: bool,
    has_tables: bool,
}

impl Company {
    /// Looks at the names of all files of a folder and below it.
    pub(super) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut company = Self::default();
        for ending in names.into_iter().filter_map(|name| ending(Path::new(name))) {
            company.has_pages |= PAGES.contains(&(ending.as_str(), "text/html"));
            company.has_tables |= DATA.contains(&ending.as_str());
        }
        company
    }

    /// Whether a file, or a folder above it, has a name that begins with `_`, as files about data have: `_SUCCESS`,
    /// `_delta_log/`. Web pages have such folders, too: `_modules/index.html`.
    pub(super) fn hides(self, below: &str) -> bool {
        let is_page = self.has_pages && media_type(Path::new(below)) == Some("text/html");
        !is_page && below.split('/').any(|name| name.starts_with('_'))
    }

    /// Says what a text is a part of, so that it is no document: beside web pages style sheets and scripts are parts of
    /// these, and a README at the top of tables is about them.
    pub(super) fn part(self, below: &str) -> Option<&'static str> {
        let ending = ending(Path::new(below));
        let is_about = |name: &&str| below.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
        match ending.as_deref() {
            Some("css" | "js" | "mjs") if self.has_pages => Some("part of web pages"),
            _ if self.has_tables && !below.contains('/') && ABOUT.iter().any(is_about) => Some(ABOUT_DATA),
            _ => None,
        }
    }
}

/// Returns the media type of a page by the ending of its name. Mirrors put the query behind it: `index.html?page=2`.
pub(super) fn media_type(name: &Path) -> Option<&'static str> {
    let ending = ending(name)?;
    PAGES.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
}

/// Returns the ending of a name, without that of a compression.
fn ending(name: &Path) -> Option<String> {
    let name = name.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = COMPRESSED.iter().fold(name.as_str(), |name, ending| name.trim_end_matches(ending));
    let name = name.split(['?', '@']).next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, ending)| ending.to_owned())
}
