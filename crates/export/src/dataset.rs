//! Exports rows as a data set folder: Parquet files and a card, as Hugging Face's `datasets` and its Hub read them.
//!
//! The layout is that of the Hub's documentation ("Structure your repository", "Dataset cards"): `data/train-*.parquet`,
//! and a `README.md` whose YAML front matter names files, columns, languages and size.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use ndcrawl_model::{LostWords, Permission, Usage, permission};
use ndcrawl_store::PageLines;

use super::columns::TextColumns;
use super::error::{ExportError, Result};
use super::folder_output::FolderOutput;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::parquet_schema;
use super::row::ExportRow;
use super::row_file::ShardFormat;
use super::row_reader::RowReader;
use super::shards::Shards;

/// Lines of a table of the card.
const MOST_LINES: usize = 30;

/// Writes the rows of [`parquet`](super::parquet) to `FOLDER/data/train-00000-of-00002.parquet` and so on, and a card to
/// `FOLDER/README.md`. A file is closed with the row group with which it reaches `shard_size` bytes. The folder must
/// not exist, or be empty; it has the name `FOLDER.open` until it is complete.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn dataset(source: ExportSource<'_>, columns: TextColumns, folder: &Path, shard_size: u64) -> Result<ExportCounts> {
    let target = FolderOutput::create(folder)?;
    let mut counts = ExportCounts::default();
    let mut rows = RowReader::learn(source, columns)?;
    let stem = target.path().join("data/train");
    let mut shards = Shards::create(stem, columns, ShardFormat::Parquet, shard_size)?;
    let mut content = DatasetContent::default();
    source.each(&mut counts, |line, counts| {
        let row = rows.read(line, counts)?;
        content.add(&row);
        shards.add(row)
    })?;
    counts.bytes = shards.finish()?;
    content.count_outcomes(source.folder)?;
    let features =
        parquet_schema::features(columns).map_err(|error| ExportError::at(folder, io::Error::other(error)))?;
    let card = content.card(&features, counts);
    let mut file = Output::file(&target.path().join("README.md"))?;
    file.write_all(card.as_bytes()).map_err(|source| file.error(source))?;
    counts.bytes += file.finish()?;
    target.finish()?;
    Ok(counts)
}

/// What the card says of the rows.
#[derive(Debug, Default)]
struct DatasetContent {
    rows: u64,
    characters: u64,
    languages: BTreeMap<String, u64>,
    licenses: BTreeMap<String, u64>,
    /// What is said of the uses of the rows.
    uses: BTreeMap<(Usage, Permission), u64>,
    /// Statements by form and place, and the rows that have such.
    statements: BTreeMap<String, u64>,
    hosts: BTreeSet<String>,
    /// Pages of the whole run, selected or not.
    outcomes: BTreeMap<String, u64>,
    detectors: BTreeSet<String>,
    /// What the near-duplicates of the whole run lose.
    lost: LostWords,
}

impl DatasetContent {
    fn add(&mut self, row: &ExportRow) {
        self.rows += 1;
        self.characters += row.text.as_ref().map_or(0, |text| text.chars().count() as u64);
        let language = row.lang_detected.as_deref().or(row.lang.as_deref()).and_then(|lang| lang.split('-').next());
        let language = language.map(str::to_ascii_lowercase).filter(|code| (2..=3).contains(&code.len()));
        *self.languages.entry(language.unwrap_or_default()).or_default() += 1;
        *self.licenses.entry(row.license.clone().unwrap_or_default()).or_default() += 1;
        for usage in Usage::ALL {
            *self.uses.entry((usage, permission(&row.preferences, usage))).or_default() += 1;
        }
        let statements = row.preferences.iter().map(|said| format!("{} ({})", said.form.name(), said.from.name()));
        for statement in statements.collect::<BTreeSet<_>>() {
            *self.statements.entry(statement).or_default() += 1;
        }
        let host = url::Url::parse(&row.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        self.hosts.extend(host);
    }

    fn count_outcomes(&mut self, folder: &Path) -> Result<()> {
        for line in PageLines::open(folder)? {
            let line = line?;
            self.lost.add(&line);
            *self.outcomes.entry(line.outcome.name().to_owned()).or_default() += 1;
            self.detectors.extend(line.detector);
        }
        Ok(())
    }

    fn card(&self, features: &str, counts: ExportCounts) -> String {
        let mut card = format!("---\n{}---\n\n", self.front_matter(features, counts));
        let _ = write!(
            card,
            "# Pages of {}\n\n{} rows, one a page, with {} characters of text. ndcrawl {} made them; pages that repeat another \
             were left out.\n\n```python\nfrom datasets import load_dataset\n\npages = load_dataset(\"FOLDER\", split=\"train\")\n```\n",
            if self.hosts.len() == 1 { "1 host".to_owned() } else { format!("{} hosts", self.hosts.len()) },
            self.rows,
            self.characters,
            env!("CARGO_PKG_VERSION"),
        );
        let detectors = self.detectors.iter().cloned().collect::<Vec<_>>().join(", ");
        let found_by = if detectors.is_empty() { String::new() } else { format!(" Detector: {detectors}.") };
        let _ = write!(
            card,
            "\n## How it was made\n\nAll pages of the run by their outcome; rows are those of the selected outcomes.{found_by} \
             Left out because they ask for it (`noarchive`, `noindex`): {}.\n",
            counts.held_back
        );
        table(&mut card, "outcome", &self.outcomes);
        card += &self.loss();
        card += "\n## Languages\n\nOf the main text by its letters, or else as declared.\n";
        table(&mut card, "language", &self.languages);
        card += "\n## Licenses\n\nWhat the pages name as their license. A page without one is not free by that: all rights of its author \
                 hold.\n";
        table(&mut card, "license", &self.licenses);
        card + &self.preferences(counts)
    }

    /// Says what pages and sites say of the use of the pages.
    fn preferences(&self, counts: ExportCounts) -> String {
        let mut text = "\n## Preferences of use\n\nWhat pages, headers and files of the sites said of the use of these rows when they were \
            fetched, as evidence; it is no advice on law. `unclear`: it contradicts itself or could not be read. `unknown`: nothing was \
            said.\n\n| use | y | n | unclear | unknown |\n|---|---|---|---|---|\n"
            .to_owned();
        for usage in Usage::ALL {
            let count = |said| self.uses.get(&(usage, said)).copied().unwrap_or_default().to_string();
            let _ = writeln!(text, "| {} | {} |", usage.name(), Permission::ALL.map(count).join(" | "));
        }
        let left_out: u64 = counts.other_use.iter().sum();
        if left_out > 0 {
            let by =
                Permission::ALL.iter().zip(counts.other_use).map(|(said, count)| format!("{} {count}", said.name()));
            let _ = writeln!(
                text,
                "\nLeft out for what is said of their use: {left_out} ({}).",
                by.collect::<Vec<_>>().join(", ")
            );
        }
        if !self.statements.is_empty() {
            table(&mut text, "statement", &self.statements);
        }
        text
    }

    /// Says what is lost with the pages that were left out.
    fn loss(&self) -> String {
        let LostWords { words, lost } = self.lost;
        let counted = match self.lost.share() {
            None => "No words of near-duplicates were counted.".to_owned(),
            Some(share) => format!(
                "The near-duplicates of the run have {words} words. {lost} of them ({:.2}%) stand in no run of four words \
                 that the page kept in their place has; they may stand in another one.",
                share * 100.0
            ),
        };
        format!("\n## What is lost\n\n{counted} Exact duplicates lose nothing.\n")
    }

    fn front_matter(&self, features: &str, counts: ExportCounts) -> String {
        let mut text = String::from(
            "configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*.parquet\n",
        );
        let languages: Vec<&String> = self.languages.keys().filter(|code| !code.is_empty()).collect();
        if !languages.is_empty() {
            text += "language:\n";
            // Some codes are words of YAML: `no` is false.
            languages.iter().for_each(|code| text += &format!("- \"{code}\"\n"));
        }
        text += &format!("size_categories:\n- {}\ntags:\n- web\n- deduplicated\n", size_category(self.rows));
        text += "dataset_info:\n  features:\n";
        text += features;
        text + &format!(
            "  splits:\n  - name: train\n    num_bytes: {}\n    num_examples: {}\n  download_size: {}\n  dataset_size: {}\n",
            counts.bytes, self.rows, counts.bytes, counts.bytes
        )
    }
}

/// Returns the name that the Hub has for so many rows.
fn size_category(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "n>1B",
    }
}

/// Writes counts as a table, the most frequent first.
fn table(card: &mut String, heading: &str, counts: &BTreeMap<String, u64>) {
    let mut lines: Vec<_> = counts.iter().collect();
    lines.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let _ = write!(card, "\n| {heading} | pages |\n|---|---|\n");
    for (name, count) in lines.iter().take(MOST_LINES) {
        let name: String = if name.is_empty() { "(none)".to_owned() } else { in_cell(name) };
        let _ = writeln!(card, "| {name} | {count} |");
    }
    if let Some(others) = lines.get(MOST_LINES..).filter(|others| !others.is_empty()) {
        let pages: u64 = others.iter().map(|(_, count)| **count).sum();
        let _ = writeln!(card, "| {} others | {pages} |", others.len());
    }
}

/// Makes a text of a page harmless in a cell of Markdown.
fn in_cell(text: &str) -> String {
    let text: String = text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('[', "\\[").replace('`', "\\`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pages_say_stays_in_its_cell() {
        let content = DatasetContent {
            licenses: BTreeMap::from([("a | b\n# c <script> [x](y) `z`".to_owned(), 2), (String::new(), 1)]),
            ..DatasetContent::default()
        };
        let card = content.card("", ExportCounts::default());
        assert!(card.contains("| a \\| b # c &lt;script> \\[x](y) \\`z\\` | 2 |\n| (none) | 1 |\n"), "{card}");
    }

    #[test]
    fn codes_of_languages_are_quoted_and_long_tables_cut() {
        let languages = (0..40_u64).map(|number| (format!("l{}", char::from(b'a' + (number % 26) as u8)), number));
        let mut content = DatasetContent { languages: languages.collect(), ..DatasetContent::default() };
        content.languages.insert("no".to_owned(), 1);
        assert!(content.front_matter("", ExportCounts::default()).contains("- \"no\"\n"));
        let mut card = String::new();
        table(&mut card, "x", &(0..40_u64).map(|number| (number.to_string(), number)).collect());
        assert!(card.ends_with("| 10 others | 45 |\n"), "{card}");
    }
}
