//! Clusters: the stored pages that have duplicates, the largest first, with a diff of the first ones.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::ReportError;
use super::csv_list::CsvList;
use super::line_stats::ClusterSize;
use super::page_text::{ArchivedAt, PageTexts};
use super::side_by_side::{DiffRow, side_by_side};
use super::term_table::{TablePage, TermTable};
use ndcrawl_model::{PageLine, PageRow, UrlId, shown_url};
use ndcrawl_store::{PageLines, StoreReader};
use neardup::detect::Options;
use neardup::similarity::Record;

/// Maximum number of clusters. Beyond it, the smallest are counted only.
const MOST_CLUSTERS: usize = 20_000;
/// Copies listed per cluster.
const LISTED: usize = 100;
/// Number of terms shown per page.
const TERMS: usize = 14;

/// A stored page and its duplicates.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// URL of the stored page.
    pub url: String,
    /// Title of the stored page.
    pub title: Option<String>,
    /// Number of duplicates.
    pub size: ClusterSize,
    /// The lowest score of a near-duplicate.
    pub lowest: Option<f64>,
    /// The first duplicates.
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
    /// The difference from the stored page; `None` if it was not computed.
    pub difference: Option<CopyDifference>,
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

/// The clusters of a crawl.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The largest ones, the largest first.
    pub list: Vec<Cluster>,
    /// All duplicates: copy, page kept, outcome, evidence, scores.
    pub duplicates: CsvList,
}

/// What the lines say of a cluster.
#[derive(Default)]
struct ClusterLines {
    title: Option<String>,
    stored: Option<ArchivedAt>,
    members: Vec<ClusterMember>,
    /// The least similar near-duplicate.
    farthest: Option<(String, f64, Option<ArchivedAt>)>,
}

impl ClusterLines {
    fn add_copy(&mut self, line: &PageLine) {
        if self.members.len() < LISTED {
            let decided_by = line.decided_by.clone().unwrap_or_default();
            self.members.push(ClusterMember { url: line.url.clone(), decided_by, score: line.score });
        }
        if let Some(score) = line.score
            && self.farthest.as_ref().is_none_or(|(_, than, _)| score < *than)
        {
            self.farthest = Some((line.url.clone(), score, ArchivedAt::of(line)));
        }
    }
}

/// Returns the clusters, with diffs of the first `diffs` that have near-duplicates.
///
/// # Errors
/// If page lines or logs cannot be read.
pub fn clusters(
    folder: &Path,
    reader: &StoreReader,
    options: &Options,
    sizes: &HashMap<String, ClusterSize>,
    diffs: usize,
) -> Result<Clusters, ReportError> {
    let mut ranked: Vec<(&String, ClusterSize)> = sizes.iter().map(|(url, size)| (url, *size)).collect();
    ranked.sort_by_key(|(url, size)| (std::cmp::Reverse(size.near + size.exact), *url));
    ranked.truncate(MOST_CLUSTERS);
    let mut found: HashMap<&str, ClusterLines> =
        ranked.iter().map(|(url, _)| (url.as_str(), ClusterLines::default())).collect();
    let heading =
        ["copy", "page_kept", "outcome", "decided_by", "score", "second_score", "adds_words", "lacks_words", "kept_in"];
    let mut duplicates = CsvList::new(&heading);
    for line in PageLines::open(folder)? {
        let line = line?;
        if line.rule.is_none()
            && let Some(of) = line.duplicate_of.as_deref()
        {
            duplicates.push(&row(&line, of).each_ref().map(String::as_str));
            if line.duplicate_in.is_none()
                && let Some(found) = found.get_mut(of)
            {
                found.add_copy(&line);
            }
        } else if line.is_kept()
            && let Some(found) = found.get_mut(line.url.as_str())
        {
            (found.title, found.stored) = (line.title.clone(), ArchivedAt::of(&line));
        }
    }
    let mut texts = PageTexts::new(folder);
    let mut left = diffs;
    let mut cluster = |(url, size): (&String, ClusterSize)| {
        let lines = found.remove(url.as_str()).unwrap_or_default();
        let mut shown = None;
        if let Some((copy, score, at)) = lines.farthest {
            let is_wanted = left > 0;
            left -= usize::from(is_wanted);
            let places = lines.stored.as_ref().zip(at.as_ref()).filter(|_| is_wanted);
            let both = places.and_then(|(one, other)| Some((texts.text(one)?, texts.text(other)?)));
            let difference = both.map(|(one, other)| {
                let (rows, more) = side_by_side(&one, &other);
                CopyDifference::Text(rows, more)
            });
            let difference = difference.or(is_wanted.then_some(CopyDifference::Unknown));
            shown = Some(ShownCopy { url: copy, score: Some(score), difference });
        }
        let lowest = shown.as_ref().and_then(|shown| shown.score);
        Cluster { url: url.clone(), title: lines.title, size, lowest, members: lines.members, shown }
    };
    let mut list: Vec<Cluster> = ranked.into_iter().map(&mut cluster).collect();
    add_terms(&mut list, reader, options)?;
    Ok(Clusters { list, duplicates })
}

fn row(line: &PageLine, of: &str) -> [String; 9] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    [
        line.url.clone(),
        of.to_owned(),
        line.outcome.name().to_owned(),
        line.decided_by.clone().unwrap_or_default(),
        number(line.score),
        number(line.second_score),
        number(line.adds_words.map(f64::from)),
        number(line.lacks_words.map(f64::from)),
        line.duplicate_in.clone().unwrap_or_default(),
    ]
}

/// Compares terms where there is no text. Reads all URLs and pages of the log once, if there is such a pair.
fn add_terms(list: &mut [Cluster], reader: &StoreReader, options: &Options) -> Result<(), ReportError> {
    let lacks_text = |cluster: &Cluster| {
        let shown = cluster.shown.as_ref()?;
        matches!(shown.difference, Some(CopyDifference::Unknown)).then(|| [cluster.url.clone(), shown.url.clone()])
    };
    let urls: HashSet<String> = list.iter().filter_map(lacks_text).flatten().collect();
    if urls.is_empty() {
        return Ok(());
    }
    let rows = rows(reader, &urls)?;
    for cluster in list {
        let Some([one, other]) = lacks_text(cluster) else { continue };
        if let (Some(one), Some(other), Some(shown)) = (rows.get(&one), rows.get(&other), &mut cluster.shown) {
            shown.difference = Some(differing_terms(reader, options, [one, other])?);
        }
    }
    Ok(())
}

/// Returns the log rows of these URLs.
fn rows(reader: &StoreReader, urls: &HashSet<String>) -> Result<HashMap<String, PageRow>, ReportError> {
    let mut ids: HashMap<UrlId, String> = HashMap::new();
    for row in reader.all_urls()? {
        let (id, row) = row?;
        let shown = shown_url(&row.url);
        if urls.contains(shown.as_ref()) {
            ids.insert(id, shown.into_owned());
        }
    }
    let mut rows = HashMap::new();
    for row in reader.all_pages()? {
        let (_, row) = row?;
        if let Some(url) = ids.remove(&row.url) {
            rows.insert(url, row);
        }
    }
    Ok(rows)
}

fn differing_terms(
    reader: &StoreReader,
    options: &Options,
    pages: [&PageRow; 2],
) -> Result<CopyDifference, ReportError> {
    let records = pages.map(|row| Record::from_counts(&row.terms, &options.weights).without_lighter(row.least_weight));
    let pages = [(pages[0], &records[0]), (pages[1], &records[1])];
    let pages = pages.map(|(row, record)| TablePage { counts: &row.terms, record });
    let name = |term| -> Result<String, ReportError> {
        Ok(reader.terms(term, 1)?.into_iter().next().map_or_else(String::new, String::from))
    };
    let table = TermTable::new(pages, name)?;
    let more = |page: usize| {
        let terms = table.more_on(page).take(TERMS);
        terms.map(|term| (term.term.clone(), term.weights[1 - page] == 0.0)).collect()
    };
    Ok(CopyDifference::Terms([more(0), more(1)]))
}
