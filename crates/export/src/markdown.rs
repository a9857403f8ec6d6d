//! Exports the main text of each page as a file of Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use url::Url;

use ndcrawl_model::Digest;

use super::columns::TextColumns;
use super::error::Result;
use super::folder_output::FolderOutput;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::row::ExportRow;
use super::row_reader::RowReader;

/// Bytes of the longest name of a file or folder, without extension.
const LONGEST_NAME: usize = 100;
/// Folders of the deepest path.
const MOST_FOLDERS: usize = 16;

/// Writes one file per page with a text: `HOST/PATH.md`, its metadata in front in YAML. The folder must not exist, or
/// be empty; it has the name `FOLDER.open` until it is complete.
///
/// # Errors
/// [`ExportError`](super::ExportError).
pub fn markdown(source: ExportSource<'_>, folder: &Path) -> Result<ExportCounts> {
    let mut target = Target { folder: FolderOutput::create(folder)?, names: BTreeSet::new() };
    let mut counts = ExportCounts::default();
    let columns = TextColumns { main: false, markdown: true, ..TextColumns::default() };
    let mut rows = RowReader::learn(source, columns)?;
    source.each(&mut counts, |line, counts| {
        let mut row = rows.read(line, counts)?;
        match row.markdown.take().flatten() {
            Some(text) => target.write(&row, &text, counts),
            None => Ok(()),
        }
    })?;
    target.folder.finish()?;
    Ok(counts)
}

/// The folder while it is written.
struct Target {
    folder: FolderOutput,
    /// The names that are taken, in lower case: some systems do not tell case apart.
    names: BTreeSet<PathBuf>,
}

impl Target {
    fn write(&mut self, row: &ExportRow, text: &str, counts: &mut ExportCounts) -> Result<()> {
        let name = self.free_name(row);
        let mut file = Output::file(&self.folder.path().join(name))?;
        let written = file.write_all(front_matter(row).as_bytes()).and_then(|()| writeln!(file, "{text}"));
        written.map_err(|source| file.error(source))?;
        counts.bytes += file.finish_unsynced()?;
        Ok(())
    }

    /// Returns the name of a page's file; that of a page whose name is taken has a digest of its URL.
    fn free_name(&mut self, row: &ExportRow) -> PathBuf {
        let name = file_name(&row.url, None);
        let lower = |name: &Path| PathBuf::from(name.to_string_lossy().to_lowercase());
        if self.names.insert(lower(&name)) {
            return name;
        }
        let name = file_name(
            &row.url,
            Some(&Digest::of(format!("{:?}{:?}{}", row.file, row.line, row.url).as_bytes()).to_string()),
        );
        self.names.insert(lower(&name));
        name
    }
}

/// Returns the file of a URL: host, path, and the query if there is one.
fn file_name(url: &str, digest: Option<&str>) -> PathBuf {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or("documents");
    let port = parsed.as_ref().and_then(Url::port).map(|port| format!("_{port}")).unwrap_or_default();
    let path = parsed.as_ref().map_or(url, Url::path);
    let mut parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(safe_name).collect();
    if path.ends_with('/') || parts.is_empty() {
        parts.push("index".to_owned());
    }
    if parts.len() > MOST_FOLDERS {
        parts.drain(MOST_FOLDERS - 1..parts.len() - 1);
    }
    let mut file = parts.pop().unwrap_or_default();
    for extension in [".html", ".htm", ".xhtml"] {
        if let Some(stem) = file.strip_suffix(extension).filter(|stem| !stem.is_empty()) {
            file = stem.to_owned();
            break;
        }
    }
    if let Some(query) = parsed.as_ref().and_then(Url::query) {
        file = safe_name(&format!("{file}_{query}"));
    }
    if let Some(digest) = digest {
        file = format!("{file}-{digest}");
    }
    let mut name = PathBuf::from(format!("{}{port}", safe_name(host)));
    name.extend(parts);
    name.push(format!("{file}.md"));
    name
}

/// Replaces the characters that some file system takes for something else, and cuts long names.
fn safe_name(part: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.%+,=~@".contains(c);
    let mut name: String = part.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    if name.len() > LONGEST_NAME {
        name.truncate(LONGEST_NAME - 17);
        let _ = write!(name, "-{}", &Digest::of(part.as_bytes()).to_string()[..16]);
    }
    // Hidden, or the folder itself or the one above; and no system likes a dot at the end.
    if name.starts_with('.') || name.ends_with('.') { format!("_{}_", name.trim_matches('.')) } else { name }
}

/// Returns the metadata of a page as YAML. Strings are written as those of JSON, which YAML reads.
fn front_matter(row: &ExportRow) -> String {
    let provenance = row.provenance.clone().unwrap_or_default();
    let fields = [
        ("url", Some(row.url.clone())),
        ("title", row.title.clone()),
        ("author", provenance.who),
        ("date", provenance.when),
        ("date_from", provenance.when_from.map(str::to_owned)),
        ("lang", row.lang.clone().or(row.lang_detected.clone())),
        ("license", row.license.clone()),
        ("fetched_at", row.fetched_at.clone()),
        ("cluster", row.cluster.clone()),
        ("first_seen", row.first_seen.clone()),
    ];
    let texts = fields.into_iter().filter_map(|(key, value)| Some((key, serde_json::Value::from(value?))));
    let counts = [("copies", row.copies), ("copy_hosts", row.copy_hosts)];
    let counts = counts.into_iter().filter_map(|(key, value)| Some((key, serde_json::Value::from(value?))));
    let lines = texts.chain(counts).map(|(key, value)| format!("{key}: {value}\n"));
    format!("---\n{}---\n\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_urls_and_stay_in_the_folder() {
        for (url, expected) in [
            ("http://a.test/", "a.test/index.md"),
            ("http://a.test:8080/b/c.html", "a.test_8080/b/c.md"),
            ("http://a.test/b/", "a.test/b/index.md"),
            ("http://a.test/b?x=1&y=/../2", "a.test/b_x=1_y=_.._2.md"),
            ("http://a.test/%2e%2e%2f..%2fetc", "a.test/%2e%2e%2f..%2fetc.md"),
            ("http://a.test/.git/x.", "a.test/_git_/_x_.md"),
            ("no url/..", "documents/no_url/__.md"),
        ] {
            assert_eq!(file_name(url, None), Path::new(expected), "{url}");
        }
        let long = file_name(&format!("http://a.test/{}?{}", "x/".repeat(99), "y".repeat(999)), None);
        assert!(long.components().count() <= MOST_FOLDERS + 1 && long.to_string_lossy().len() < 300, "{long:?}");
    }

    #[test]
    fn metadata_is_quoted() {
        let row = ExportRow {
            url: "http://a.test/".to_owned(),
            title: Some("a: \"b\"\n---".to_owned()),
            ..ExportRow::default()
        };
        assert_eq!(front_matter(&row), "---\nurl: \"http://a.test/\"\ntitle: \"a: \\\"b\\\"\\n---\"\n---\n\n");
    }
}
