//! The largest clusters, each with a diff between the stored page and one copy.
//!
//! The archive holds the text of stored pages. It holds the text of copies only with `--keep-duplicates`. Without the
//! text, the diff compares terms: the log has the terms of every judged page.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use similar::{ChangeTag, DiffTag, TextDiff};

use super::ReportError;
use super::line_stats::ClusterSize;
use super::term_table::{TablePage, TermTable};
use crate::detect::Options;
use crate::model::{Fetched, Normalizer, PageLine, PageRow, UrlId, shown_url};
use crate::pagetext::{self, PageReader};
use crate::similarity::Record;
use crate::store::{ArchiveReader, PageLines, StoreReader};

/// Number of clusters shown: the largest overall, and the largest with near-duplicates.
const SHOWN: usize = 4;
/// Number of copies listed per cluster.
const LISTED: usize = 5;
/// Maximum rows of a diff.
const ROWS: usize = 40;
/// Maximum characters of a line in a diff.
const LINE: usize = 400;
/// Maximum lines of a page that are compared. Bounds the time for long pages with nothing in common.
const LINES: usize = 4_000;
/// Number of terms shown per page.
const TERMS: usize = 14;

/// A stored page and its duplicates.
#[derive(Clone, Debug)]
pub struct LargestCluster {
    /// URL of the stored page.
    pub url: String,
    /// Title of the stored page.
    pub title: Option<String>,
    /// Number of duplicates.
    pub size: ClusterSize,
    /// The first few duplicates.
    pub members: Vec<ClusterMember>,
    /// The copy shown beside the stored page: the least similar near-duplicate.
    pub shown: Option<ShownCopy>,
}

/// A duplicate of a stored page.
#[derive(Clone, Debug)]
pub struct ClusterMember {
    /// URL of the duplicate.
    pub url: String,
    /// The evidence that decided.
    pub decided_by: String,
    /// The similarity; `None` for an exact copy.
    pub score: Option<f64>,
}

/// A copy shown beside the stored page.
#[derive(Clone, Debug)]
pub struct ShownCopy {
    /// URL of the copy.
    pub url: String,
    /// The similarity.
    pub score: Option<f64>,
    /// The difference from the stored page.
    pub difference: CopyDifference,
}

/// The difference between a copy and the stored page.
#[derive(Clone, Debug)]
pub enum CopyDifference {
    /// Rows of a line diff, and the number of rows not shown.
    Text(Vec<DiffRow>, usize),
    /// Terms that weigh more on the stored page, and on the copy. The flag marks terms that the other page lacks.
    Terms([Vec<(String, bool)>; 2]),
    /// Neither texts nor terms are available.
    Unknown,
}

/// A row of a side-by-side diff: stored page, copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// A number of equal lines.
    Same(usize),
    /// The pieces of each side's line, flagged if only that side has them. `None` if the side has no line.
    Changed([Option<Vec<(bool, String)>>; 2]),
}

/// Returns the largest clusters.
///
/// # Errors
/// If page lines or logs cannot be read.
pub fn largest_clusters(
    folder: &Path,
    reader: &StoreReader,
    options: &Options,
    clusters: &HashMap<String, ClusterSize>,
) -> Result<Vec<LargestCluster>, ReportError> {
    let mut ranked: Vec<(&String, ClusterSize)> = clusters.iter().map(|(url, size)| (url, *size)).collect();
    ranked.sort_by_key(|(url, size)| (std::cmp::Reverse(size.near + size.exact), *url));
    let mut with_near = 0;
    let mut place = 0;
    ranked.retain(|(_, size)| {
        place += 1;
        with_near += usize::from(size.near > 0);
        place <= SHOWN || (size.near > 0 && with_near <= SHOWN)
    });
    let mut found: HashMap<&str, ClusterLines> =
        ranked.iter().map(|(url, _)| (url.as_str(), ClusterLines::default())).collect();
    for line in PageLines::open(folder)? {
        let line = line?;
        let is_stored = line.is_kept();
        let is_fetched = line.duplicate_in.is_none() && line.rule.is_none();
        let of = line.duplicate_of.as_deref().filter(|_| is_fetched);
        if let Some(found) = of.and_then(|of| found.get_mut(of)) {
            found.add_copy(line);
        } else if let Some(found) = found.get_mut(line.url.as_str()).filter(|_| is_stored) {
            found.stored = Some(line);
        }
    }
    let mut comparer = PageComparer::new(folder, reader, options, found.values())?;
    ranked
        .into_iter()
        .map(|(url, size)| {
            let found = found.remove(url.as_str()).unwrap_or_default();
            let title = found.stored.as_ref().and_then(|line| line.title.clone());
            let shown = found.shown(&mut comparer)?;
            Ok(LargestCluster { url: url.clone(), title, size, members: found.members, shown })
        })
        .collect()
}

/// The page lines of a cluster.
#[derive(Default)]
struct ClusterLines {
    stored: Option<PageLine>,
    members: Vec<ClusterMember>,
    /// The least similar near-duplicate.
    farthest: Option<PageLine>,
}

impl ClusterLines {
    fn add_copy(&mut self, line: PageLine) {
        if self.members.len() < LISTED {
            let decided_by = line.decided_by.clone().unwrap_or_default();
            self.members.push(ClusterMember { url: line.url.clone(), decided_by, score: line.score });
        }
        let is_farther = |than: &PageLine| line.score < than.score;
        if line.score.is_some() && self.farthest.as_ref().is_none_or(is_farther) {
            self.farthest = Some(line);
        }
    }

    fn shown(&self, comparer: &mut PageComparer<'_>) -> Result<Option<ShownCopy>, ReportError> {
        let (Some(stored), Some(copy)) = (&self.stored, &self.farthest) else { return Ok(None) };
        let difference = comparer.difference(stored, copy)?;
        Ok(Some(ShownCopy { url: copy.url.clone(), score: copy.score, difference }))
    }
}

/// Compares two pages by text or by terms.
struct PageComparer<'a> {
    archive: ArchiveReader,
    renderer: PageReader,
    reader: &'a StoreReader,
    options: &'a Options,
    rows: HashMap<String, PageRow>,
}

impl<'a> PageComparer<'a> {
    /// Reads the log rows of the pages to show.
    fn new<'f>(
        folder: &Path,
        reader: &'a StoreReader,
        options: &'a Options,
        clusters: impl Iterator<Item = &'f ClusterLines>,
    ) -> Result<Self, ReportError> {
        let urls: HashSet<&str> = clusters
            .flat_map(|cluster| [&cluster.stored, &cluster.farthest])
            .flatten()
            .map(|line| line.url.as_str())
            .collect();
        let mut ids: HashMap<UrlId, String> = HashMap::new();
        if !urls.is_empty() {
            for row in reader.all_urls()? {
                let (id, row) = row?;
                let shown = shown_url(&row.url);
                if urls.contains(shown.as_ref()) {
                    ids.insert(id, shown.into_owned());
                }
            }
        }
        let mut rows = HashMap::new();
        if !ids.is_empty() {
            for row in reader.all_pages()? {
                let (_, row) = row?;
                if let Some(url) = ids.remove(&row.url) {
                    rows.insert(url, row);
                }
            }
        }
        let renderer = PageReader::new(pagetext::Options::default(), Normalizer::default());
        Ok(Self { archive: ArchiveReader::new(folder), renderer, reader, options, rows })
    }

    fn difference(&mut self, stored: &PageLine, copy: &PageLine) -> Result<CopyDifference, ReportError> {
        if let (Some(one), Some(other)) = (self.text(stored), self.text(copy)) {
            let (rows, more) = side_by_side(&one, &other);
            return Ok(CopyDifference::Text(rows, more));
        }
        let (Some(one), Some(other)) = (self.rows.get(&stored.url), self.rows.get(&copy.url)) else {
            return Ok(CopyDifference::Unknown);
        };
        let records = [one, other]
            .map(|row| Record::from_counts(&row.terms, &self.options.weights).without_lighter(row.least_weight));
        let pages = [(one, &records[0]), (other, &records[1])];
        let pages = pages.map(|(row, record)| TablePage { counts: &row.terms, record });
        let name = |term| -> Result<String, ReportError> {
            Ok(self.reader.terms(term, 1)?.into_iter().next().map_or_else(String::new, String::from))
        };
        let table = TermTable::new(pages, name)?;
        let more = |page: usize| {
            let terms = table.more_on(page).take(TERMS);
            terms.map(|term| (term.term.clone(), term.weights[1 - page] == 0.0)).collect()
        };
        Ok(CopyDifference::Terms([more(0), more(1)]))
    }

    /// Returns the lines of the main text of an archived page.
    fn text(&mut self, line: &PageLine) -> Option<Vec<String>> {
        let record = self.archive.record(line.warc_file.as_deref()?, line.warc_offset?).ok()?;
        let body = (record.kind() == "response").then(|| record.http_body())??;
        let (kind, charset) = (line.media_type.as_deref()?, line.charset.as_deref().unwrap_or("utf-8"));
        let page = Fetched {
            url: line.address()?,
            spelling: None,
            status: 200,
            version: "HTTP/1.1",
            reason: String::new(),
            headers: vec![("content-type".to_owned(), format!("{kind}; charset={charset}").into_bytes())],
            request_headers: Vec::new(),
            body: body.to_vec(),
            truncated: false,
            address: None,
            started_at: None,
            elapsed: Duration::ZERO,
        };
        let reading = self.renderer.reading(&page)?;
        let lines = reading.text.lines().take(LINES).map(str::to_owned).collect();
        Some(lines)
    }
}

/// Diffs two texts by lines. Returns the rows, and the number of rows cut off.
fn side_by_side(one: &[String], other: &[String]) -> (Vec<DiffRow>, usize) {
    let [own, others] = [one, other].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_slices(&own, &others);
    let mut rows = Vec::new();
    for operation in diff.ops() {
        let (tag, left, right) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            rows.push(DiffRow::Same(left.len()));
            continue;
        }
        for place in 0..left.len().max(right.len()) {
            let one = own[left.clone()].get(place).copied();
            let other = others[right.clone()].get(place).copied();
            rows.push(DiffRow::Changed(changed(one, other)));
        }
    }
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    (rows, more)
}

/// Diffs two lines by words.
fn changed(one: Option<&str>, other: Option<&str>) -> [Option<Vec<(bool, String)>>; 2] {
    let cut = |line: &str| line.chars().take(LINE).collect::<String>();
    let (Some(one), Some(other)) = (one, other) else {
        return [one, other].map(|line| line.map(|line| vec![(true, cut(line))]));
    };
    let (one, other) = (cut(one), cut(other));
    let diff = TextDiff::from_words(&one, &other);
    let mut sides = [Vec::new(), Vec::new()];
    for change in diff.iter_all_changes() {
        let places: &[usize] = match change.tag() {
            ChangeTag::Equal => &[0, 1],
            ChangeTag::Delete => &[0],
            ChangeTag::Insert => &[1],
        };
        for place in places {
            push(&mut sides[*place], change.tag() != ChangeTag::Equal, change.value());
        }
    }
    sides.map(Some)
}

fn push(side: &mut Vec<(bool, String)>, is_own: bool, text: &str) {
    match side.last_mut().filter(|(own, _)| *own == is_own) {
        Some((_, piece)) => piece.push_str(text),
        None => side.push((is_own, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn lines_stand_beside_those_that_they_became() {
        let (rows, more) = side_by_side(&lines("same/a b c/left/same too"), &lines("same/a x c/same too/new"));
        let own = |text: &str| (true, text.to_owned());
        let both = |text: &str| (false, text.to_owned());
        let expected = [
            DiffRow::Same(1),
            DiffRow::Changed([
                Some(vec![both("a "), own("b"), both(" c")]),
                Some(vec![both("a "), own("x"), both(" c")]),
            ]),
            DiffRow::Changed([Some(vec![own("left")]), None]),
            DiffRow::Same(1),
            DiffRow::Changed([None, Some(vec![own("new")])]),
        ];
        assert_eq!((rows, more), (expected.to_vec(), 0));
    }

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let many: Vec<String> = (0..100).map(|number| format!("{number}{}", "x".repeat(LINE))).collect();
        let (rows, more) = side_by_side(&many, &[]);
        assert_eq!((rows.len(), more), (ROWS, 100 - ROWS));
        let DiffRow::Changed([Some(pieces), None]) = &rows[0] else { panic!("{:?}", rows[0]) };
        assert_eq!(pieces[0].1.len(), LINE);
    }
}
