//! The section on the largest clusters, each with a diff.

use super::{MOST_TITLE, MOST_URL, and_more, url};
use crate::html_writer::{TableCell, TableRow, counted, escaped, folded, shortened, table, thousands, words};
use crate::report::{ClusterMember, CopyDifference, DiffRow, LargestCluster, Report, ShownCopy};

/// Returns the largest clusters.
pub(super) fn section(report: &Report) -> String {
    if report.largest.is_empty() {
        return String::new();
    }
    let all = report.lines.clusters.len();
    let mut html = format!(
        "<p>{} duplicates. Below are the largest clusters and the largest clusters with near-duplicates. Each shows the least similar \
         copy beside the page kept: <del>text only on the page kept</del>, <ins>text only on the copy</ins>. \
         <code>ndcrawl clusters</code> lists all clusters; <code>ndcrawl explain</code> compares any two pages.</p>\n",
        counted(all as u64, "page kept has", "pages kept have")
    );
    report.largest.iter().for_each(|cluster| html += &article(cluster));
    html + &and_more(all, report.largest.len(), "clusters")
}

fn article(cluster: &LargestCluster) -> String {
    let size = cluster.size;
    let title = cluster.title.as_deref().unwrap_or(&cluster.url);
    let mut html = format!(
        "<article><h3>{}</h3>\n<p class=\"mono\">{}</p>\n<p class=\"soft\">{}, {}</p>\n",
        escaped(&shortened(title, MOST_TITLE)),
        url(&cluster.url),
        counted(size.near, "near-duplicate", "near-duplicates"),
        counted(size.exact, "exact copy", "exact copies")
    );
    html += &members(cluster);
    html += &match &cluster.shown {
        Some(shown) => beside(cluster, shown),
        None => "<p>All copies have the same bytes or the same text.</p>\n".to_owned(),
    };
    html + "</article>\n"
}

fn members(cluster: &LargestCluster) -> String {
    let row = |member: &ClusterMember| -> TableRow {
        vec![
            TableCell::Urls(vec![shortened(&member.url, MOST_URL)]),
            TableCell::Text(member.decided_by.clone()),
            TableCell::Figure(member.score.map_or("–".to_owned(), |score| score.to_string())),
        ]
        .into()
    };
    let rows: Vec<TableRow> = cluster.members.iter().map(row).collect();
    let all = usize::try_from(cluster.size.near + cluster.size.exact).unwrap_or(usize::MAX);
    let caption = format!("Copies of {}", shortened(&cluster.url, MOST_URL));
    let listed = table(&caption, &words(&["copy", "decided by", "score"]), 2, &rows);
    folded(&counted(all as u64, "copy", "copies"), &(listed + &and_more(all, rows.len(), "copies")))
}

fn beside(cluster: &LargestCluster, shown: &ShownCopy) -> String {
    let score = shown.score.map_or(String::new(), |score| format!(", score {score}"));
    let head = format!("<p>Least similar{score}: <span class=\"mono\">{}</span></p>\n", url(&shown.url));
    head + &match &shown.difference {
        CopyDifference::Text(rows, more) => text(cluster, shown, rows, *more),
        CopyDifference::Terms(terms) => differing_terms(terms),
        CopyDifference::Unknown => {
            "<p class=\"soft\">No diff: neither the texts nor the terms of both pages are available.</p>\n".to_owned()
        }
    }
}

fn text(cluster: &LargestCluster, shown: &ShownCopy, rows: &[DiffRow], more: usize) -> String {
    let row = |row: &DiffRow| match row {
        DiffRow::Same(lines) => {
            format!(
                "<tr><td colspan=\"2\" class=\"same\">{}</td></tr>\n",
                counted(*lines as u64, "equal line", "equal lines")
            )
        }
        DiffRow::Changed([one, other]) => {
            format!("<tr>{}{}</tr>\n", side(one.as_deref(), "del"), side(other.as_deref(), "ins"))
        }
    };
    let rows: String = rows.iter().map(row).collect();
    let more = if more > 0 {
        format!("<p class=\"soft\">… and {} more lines</p>\n", thousands(more as u64))
    } else {
        String::new()
    };
    let label = format!("Text of {} and of {}", shortened(&cluster.url, MOST_URL), shortened(&shown.url, MOST_URL));
    let label = escaped(&label);
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\"><table class=\"diff\"><caption>{label}</caption>\
         <thead><tr><th scope=\"col\">page kept</th><th scope=\"col\">copy</th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    );
    folded("Text side by side", &(table + &more))
}

fn side(pieces: Option<&[(bool, String)]>, mark: &str) -> String {
    let piece = |(is_own, text): &(bool, String)| {
        let text = escaped(text);
        if *is_own { format!("<{mark}>{text}</{mark}>") } else { text }
    };
    format!("<td>{}</td>", pieces.unwrap_or_default().iter().map(piece).collect::<String>())
}

fn differing_terms(terms: &[Vec<(String, bool)>; 2]) -> String {
    let list = |terms: &[(String, bool)], mark: &str| {
        let word = |(term, is_own): &(String, bool)| {
            let term = escaped(&shortened(term, MOST_TITLE));
            if *is_own { format!("<{mark}>{term}</{mark}>") } else { term }
        };
        let words: Vec<String> = terms.iter().map(word).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    };
    format!(
        "<dl><dt>heavier on the page kept</dt><dd>{}</dd><dt>heavier on the copy</dt><dd>{}</dd></dl>\n\
         <p class=\"soft\">Stemmed terms, since the crawl did not keep the body of the copy; <code>--keep-duplicates</code> keeps it. \
         Terms missing on the other page are highlighted.</p>\n",
        list(&terms[0], "del"),
        list(&terms[1], "ins")
    )
}
