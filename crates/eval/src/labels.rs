//! Labels of pages, by people or by a generator.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::address::Address;
use super::tsv::{self, LabelError, TsvColumn, TsvRow, TsvTable};
use ndcrawl_model::{Normalizer, named};

named! {
    /// The label of a pair of pages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Label {
        /// The same visible words.
        Dup = "dup",
        /// Nearly the same.
        Near = "near",
        /// Not the same.
        Distinct = "distinct",
        /// Either answer is right: never counted.
        Grey = "grey",
    }
}

impl Label {
    /// Returns whether the pair is a duplicate; `None` if either answer is right.
    pub fn expected(self) -> Option<bool> {
        match self {
            Self::Dup | Self::Near => Some(true),
            Self::Distinct => Some(false),
            Self::Grey => None,
        }
    }
}

/// A labeled pair. Pages are indices into [`PairLabels::pages`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledPair {
    /// The first page.
    pub a: usize,
    /// The second page.
    pub b: usize,
    /// The label.
    pub label: Label,
    /// How the pair was found, or the edit that made `b`.
    pub kind: String,
    /// The amount of the edit, for generated pairs.
    pub level: Option<String>,
}

/// A file of labeled pairs.
#[derive(Clone, Debug)]
pub struct PairLabels {
    /// The file.
    pub file: PathBuf,
    /// Every page once, in order of first appearance.
    pub pages: Vec<Address>,
    /// The pairs, in the order of the file.
    pub pairs: Vec<LabeledPair>,
}

/// A page and its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledMember {
    /// Index into [`ClusterLabels::pages`].
    pub page: usize,
    /// The cluster's number, from 0 in order of appearance.
    pub cluster: usize,
    /// Number of pages outside the cluster that might belong to it.
    pub grey: u64,
}

/// A file of labeled clusters, without thin pages, whose few words allow no judgement.
#[derive(Clone, Debug)]
pub struct ClusterLabels {
    /// The file.
    pub file: PathBuf,
    /// Every page once, in order of first appearance.
    pub pages: Vec<Address>,
    /// One entry per line, in the order of the file.
    pub members: Vec<LabeledMember>,
    /// The names of the clusters.
    pub names: Vec<String>,
    /// Number of thin pages left out.
    pub thin: usize,
}

/// Reads a file of pairs: columns `url_a`, `url_b`, `label`, and `kind`, or `mutation` and `level`.
///
/// # Errors
/// If the file cannot be read, or at the first malformed line.
pub fn read_pairs(file: &Path) -> Result<PairLabels, LabelError> {
    parse_pairs(file, &tsv::read(file)?)
}

/// Reads a file of clusters: columns `url`, `cluster`, `kind` and `grey`.
///
/// # Errors
/// If the file cannot be read, or at the first malformed line.
pub fn read_clusters(file: &Path) -> Result<ClusterLabels, LabelError> {
    parse_clusters(file, &tsv::read(file)?)
}

fn parse_pairs(file: &Path, text: &str) -> Result<PairLabels, LabelError> {
    let name = file.display().to_string();
    let table = TsvTable::parse(&name, text)?;
    let (url_a, url_b, label) = (table.column("url_a")?, table.column("url_b")?, table.column("label")?);
    let kind = table.optional("mutation").map_or_else(|| table.column("kind"), Ok)?;
    let level = table.optional("level");
    let mut set = PageSet::default();
    let mut pairs = Vec::with_capacity(table.rows().len());
    for row in table.rows() {
        let (a, b) = (set.page(&table, row, url_a)?, set.page(&table, row, url_b)?);
        let label = parse_label(&table, row, label)?;
        let level = level.map(|level| row.get(level).to_owned());
        pairs.push(LabeledPair { a, b, label, kind: row.get(kind).to_owned(), level });
    }
    Ok(PairLabels { file: file.to_owned(), pages: set.pages, pairs })
}

fn parse_clusters(file: &Path, text: &str) -> Result<ClusterLabels, LabelError> {
    let name = file.display().to_string();
    let table = TsvTable::parse(&name, text)?;
    let (url, cluster) = (table.column("url")?, table.column("cluster")?);
    let (kind, grey) = (table.column("kind")?, table.column("grey")?);
    let mut set = PageSet::default();
    let (mut members, mut names, mut thin) = (Vec::new(), Vec::<String>::new(), 0);
    let mut numbers = HashMap::<&str, usize>::new();
    for row in table.rows() {
        let grey = row.get(grey);
        let grey = grey.trim().parse().map_err(|_| table.error(row.line, format!("grey: '{grey}' is not a number")))?;
        let page = Address::parse(row.get(url), &set.normalizer).map_err(|why| table.error(row.line, why))?;
        if row.get(kind) == "thin" {
            thin += 1;
            continue;
        }
        let number = *numbers.entry(row.get(cluster)).or_insert(names.len());
        if number == names.len() {
            names.push(row.get(cluster).to_owned());
        }
        members.push(LabeledMember { page: set.number(page), cluster: number, grey });
    }
    Ok(ClusterLabels { file: file.to_owned(), pages: set.pages, members, names, thin })
}

fn parse_label(table: &TsvTable<'_>, row: &TsvRow<'_>, column: TsvColumn) -> Result<Label, LabelError> {
    let word = row.get(column);
    let found = Label::ALL.into_iter().find(|label| label.name() == word);
    let names = Label::ALL.map(Label::name).join(", ");
    found.ok_or_else(|| table.error(row.line, format!("unknown label '{word}': the labels are {names}")))
}

/// The pages read so far, each once.
#[derive(Default)]
struct PageSet {
    normalizer: Normalizer,
    pages: Vec<Address>,
    numbers: HashMap<String, usize>,
}

impl PageSet {
    fn page(&mut self, table: &TsvTable<'_>, row: &TsvRow<'_>, column: TsvColumn) -> Result<usize, LabelError> {
        let text = row.get(column);
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let address = Address::parse(text, &self.normalizer).map_err(|why| table.error(row.line, why))?;
        let number = self.number(address);
        self.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    fn number(&mut self, address: Address) -> usize {
        let next = self.pages.len();
        let number = *self.numbers.entry(address.url.as_str().to_owned()).or_insert(next);
        if number == next {
            self.pages.push(address);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "http://a.localhost:8080/a.html";
    const B: &str = "http://a.localhost:8080/b.html";

    #[test]
    fn pairs_have_kinds_and_share_pages() {
        let text = format!("#label\turl_b\turl_a\tkind\nnear\t{A}\t{B}\tversion\ngrey\t{B}\t{A}\tcross\n");
        let labels = parse_pairs(Path::new("p"), &text).unwrap();
        let pages: Vec<_> = labels.pages.iter().map(|page| page.url.as_str()).collect();
        assert_eq!(pages, [B, A]);
        let first = LabeledPair { a: 0, b: 1, label: Label::Near, kind: "version".to_owned(), level: None };
        assert_eq!(labels.pairs[0], first);
        assert_eq!((labels.pairs[1].a, labels.pairs[1].label), (1, Label::Grey));
    }

    #[test]
    fn pairs_that_were_made_have_a_mutation_and_a_level() {
        let text = format!("#url_a\turl_b\tlabel\tmutation\tlevel\n{A}\t{B}\tdup\tcharset\tutf-16\n");
        let pair = &parse_pairs(Path::new("p"), &text).unwrap().pairs[0];
        assert_eq!((pair.kind.as_str(), pair.level.as_deref()), ("charset", Some("utf-16")));
    }

    #[test]
    fn clusters_are_numbered_and_thin_pages_left_out() {
        let text = format!(
            "#url\tcluster\tkind\twords\tgrey\n{A}\t7\tthin\t3\t0\n{B}\t9\tpage\t300\t2\n{A}\t9\tcopy\t300\t0\n"
        );
        let labels = parse_clusters(Path::new("c"), &text).unwrap();
        assert_eq!((labels.thin, labels.names), (1, vec!["9".to_owned()]));
        assert_eq!(labels.members[0], LabeledMember { page: 0, cluster: 0, grey: 2 });
        assert_eq!(labels.members[1], LabeledMember { page: 1, cluster: 0, grey: 0 });
    }

    #[track_caller]
    fn assert_refused(result: Result<impl std::fmt::Debug, LabelError>, expected: &str) {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }

    #[test]
    fn bad_lines_are_named() {
        let pairs = |line: &str| parse_pairs(Path::new("p"), &format!("#url_a\turl_b\tlabel\tkind\n{line}\n"));
        assert_refused(
            pairs(&format!("{A}\t{B}\tsame\tx")),
            "p:2: unknown label 'same': the labels are dup, near, distinct, grey",
        );
        assert_refused(
            pairs(&format!("{A}\thttp://example.com/\tdup\tx")),
            "p:2: 'http://example.com/' is not http://SITE.localhost:8080/PATH",
        );
        let clusters = parse_clusters(Path::new("c"), &format!("#url\tcluster\tkind\tgrey\n{A}\t0\tpage\tmany\n"));
        assert_refused(clusters, "c:2: grey: 'many' is not a number");
        assert_refused(parse_pairs(Path::new("p"), "#url_a\turl_b\tlabel\n"), "p:1: the heading has no column 'kind'");
    }
}
