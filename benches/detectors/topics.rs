//! Evaluates detectors on search results of topics, as the papers do.
//!
//! In the papers, the first result is the query, and the others are near-duplicates of it or not. The first result has
//! few near-duplicates, so this bench also compares every result with the results before it.

use std::collections::HashMap;
use std::path::Path;

use ndcrawl::detect::{Comparer, Options};
use ndcrawl::eval::{ClusterLabels, Counts, Estimate, Pages, read_clusters};
use ndcrawl::model::WantedOrder;
use ndcrawl::pagetext::query_terms;

/// Maximum results per topic, as in the papers.
const FOUND: [usize; 2] = [50, 100];

/// Prints precision and recall of each detector over all topics.
pub fn table(topics: &Path, clusters: &Path, folder: &Path) {
    let labels = read_clusters(clusters).unwrap();
    let order = WantedOrder { sentence_count: true, sentences: true, text: true };
    let pages = Pages::render(folder, &labels.pages, &crate::renderer(order), &|| ());
    let search = Search::new(&labels, &pages);
    let titles = titles(topics);
    println!(
        "{} topics of {}, {} labeled pages of {}",
        titles.len(),
        crate::name_of(topics),
        pages.found(),
        crate::name_of(clusters)
    );
    for found in FOUND {
        let lists: Vec<Vec<usize>> = titles.iter().map(|title| search.best(title, found)).collect();
        let lists: Vec<Vec<usize>> = lists.into_iter().filter(|list| list.len() > 1).collect();
        println!("\nat most {found} results per topic, {} topics with results", lists.len());
        println!("{:<22}{:>34}{:>38}", "", "against the first result", "each against earlier results");
        println!(
            "{:<22}{:>10}{:>9}{:>7}{:>8}{:>14}{:>9}{:>7}{:>8}",
            "detector", "precision", "recall", "right", "of", "precision", "recall", "right", "of"
        );
        for (name, options) in crate::detectors() {
            let (first, all) = counts(&labels, &pages, &options, &lists);
            let cells = |counts: &Counts| {
                let share = |of: Estimate| of.value.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
                let (precision, recall) = (counts.precision(), counts.recall());
                format!("{:>10}{:>9}{:>7}{:>8}", share(precision), share(recall), counts.tp, counts.tp + counts.missed)
            };
            println!("{name:<22}{}    {}", cells(&first), cells(&all));
        }
    }
}

fn titles(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let column = lines.next().unwrap().split('\t').position(|name| name == "title").unwrap();
    lines.filter_map(|line| line.split('\t').nth(column)).map(str::to_owned).collect()
}

/// Counts the answers of a detector on the results of each topic.
fn counts(labels: &ClusterLabels, pages: &Pages, options: &Options, lists: &[Vec<usize>]) -> (Counts, Counts) {
    let mut comparer = Comparer::new(options.clone());
    let handles: Vec<Option<usize>> = pages
        .pages
        .iter()
        .map(|page| page.as_ref().map(|page| comparer.learn(page.candidate.clone()).unwrap()))
        .collect();
    let (mut first, mut all) = (Counts::default(), Counts::default());
    let mut known: HashMap<(usize, usize), bool> = HashMap::new();
    for list in lists {
        for (place, &later) in list.iter().enumerate().skip(1) {
            for (number, &earlier) in list[..place].iter().enumerate() {
                let (a, b) = (&labels.members[earlier], &labels.members[later]);
                // If a page might belong to another cluster, either answer is right.
                if a.grey + b.grey > 0 && a.cluster != b.cluster {
                    continue;
                }
                let (Some(one), Some(other)) = (handles[a.page], handles[b.page]) else { continue };
                let expected = a.cluster == b.cluster;
                if number == 0 {
                    first.add(expected, comparer.compare(one, other).is_match);
                }
                // A pair that occurs in several topics counts once.
                let pair = (earlier.min(later), earlier.max(later));
                if known.insert(pair, expected).is_none() {
                    all.add(expected, comparer.compare(one, other).is_match);
                }
            }
        }
    }
    (first, all)
}

/// Searches pages by the words of a topic, ranked by tf-idf.
struct Search<'a> {
    /// For each term, the members that contain it with its share of their weight.
    holders: HashMap<&'a str, Vec<(usize, f64)>>,
    pages: usize,
}

impl<'a> Search<'a> {
    fn new(labels: &ClusterLabels, pages: &'a Pages) -> Self {
        let weights = Options::default().weights;
        let mut holders: HashMap<&str, Vec<(usize, f64)>> = HashMap::new();
        for (number, member) in labels.members.iter().enumerate() {
            let Some(page) = &pages.pages[member.page] else { continue };
            let weighed = page.candidate.terms.iter().map(|term| (&*term.term, weights.weigh(&term.counts) as f64));
            let total: f64 = weighed.clone().map(|(_, weight)| weight).sum();
            for (term, weight) in weighed {
                holders.entry(term).or_default().push((number, weight / total));
            }
        }
        Self { holders, pages: pages.found() }
    }

    /// Returns the members found for a topic, best first.
    fn best(&self, title: &str, most: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for term in query_terms(title) {
            let Some(holders) = self.holders.get(&*term) else { continue };
            let rarity = (self.pages as f64 / holders.len() as f64).ln();
            for (member, share) in holders {
                *scores.entry(*member).or_default() += share.sqrt() * rarity;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.into_iter().take(most).map(|(member, _)| member).collect()
    }
}
