//! The section on clusters, and the pages of all clusters beside the report.

use super::listing::{Cell, Listing, Parts};
use super::{MOST_TITLE, MOST_URL, frame};
use crate::{Cluster, ClusterMember, CopyDifference, DiffRow, Report, ShownCopy};
use ndcrawl_html_writer::{DataTable, TableCell, TableRow, counted, escaped, folded, link, shortened, thousands};

/// Clusters of one page.
const PER_PAGE: usize = 50;
/// Rows of the table in the report.
const ROWS: usize = 100;

/// Returns the table of the largest clusters, and writes the pages of all.
///
/// `home` is the file name of the report, to which these pages lead back.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>, home: &str) -> String {
    let list = &report.clusters.list;
    if list.is_empty() {
        return String::new();
    }
    write_pages(report, parts, home);
    let row = |(place, cluster): (usize, &Cluster)| {
        vec![
            Cell::NameLink {
                text: title(cluster).to_owned(),
                link: format!("{}#c{place}", parts.address(&page_name(place / PER_PAGE))),
            },
            Cell::Urls(vec![cluster.url.clone()]),
            Cell::Count(cluster.size.near),
            Cell::Count(cluster.size.exact),
            Cell::Score(cluster.lowest),
        ]
    };
    let listing = Listing {
        file: "clusters",
        caption: "Clusters, the largest first",
        heading: &["title", "page kept", "near-duplicates", "exact copies", "lowest score"],
        rows: list.iter().enumerate().map(row).collect(),
        most: ROWS,
        what: "clusters",
    };
    let all = report.lines.clusters.len();
    let duplicates = parts.add("duplicates.csv", report.clusters.duplicates.text());
    let missing = match report.clusters.duplicates.left_out() {
        0 => String::new(),
        more => format!(" (without the last {}; <code>pages.jsonl</code> has all)", thousands(more)),
    };
    let listed = match all.saturating_sub(list.len()) {
        0 => String::new(),
        more => {
            format!(" {} smaller ones are not shown; <code>ndcrawl clusters</code> lists all.", thousands(more as u64))
        }
    };
    format!(
        "<p>{} duplicates. Each page of clusters shows the copies, and the text of the least similar one beside the page kept.{listed} \
         All duplicates with the page that each repeats: <a href=\"{}\">duplicates.csv</a>{missing}.</p>\n{}{}",
        counted(all as u64, "page kept has", "pages kept have"),
        escaped(&duplicates),
        page_links(list.len(), None, |page| parts.address(&page_name(page))),
        listing.html(parts)
    )
}

fn title(cluster: &Cluster) -> &str {
    cluster.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&cluster.url)
}

/// The file name of a page of clusters, by its place from 0.
fn page_name(page: usize) -> String {
    format!("clusters-{}.html", page + 1)
}

/// Returns links to the pages of clusters, all of them or those around `current` and the ends.
fn page_links(clusters: usize, current: Option<usize>, address: impl Fn(usize) -> String) -> String {
    const AROUND: usize = 4;
    let pages = clusters.div_ceil(PER_PAGE);
    if pages < 2 && current.is_some() {
        return String::new();
    }
    let middle = current.unwrap_or(0);
    let is_near = |page: usize| page == 0 || page + 1 == pages || page.abs_diff(middle) <= AROUND;
    let mut items = Vec::new();
    for page in (0..pages).filter(|page| is_near(*page)) {
        let (first, last) = (page * PER_PAGE + 1, ((page + 1) * PER_PAGE).min(clusters));
        let range = format!("{} to {}", thousands(first as u64), thousands(last as u64));
        items.push(match current == Some(page) {
            true => format!("<b aria-current=\"page\">{range}</b>"),
            false => format!("<a href=\"{}\">{range}</a>", escaped(&address(page))),
        });
        if page + 1 < pages && !is_near(page + 1) {
            items.push("…".to_owned());
        }
    }
    format!("<nav class=\"pages\" aria-label=\"Pages of clusters\"><span>Clusters</span> {}</nav>\n", items.join(" "))
}

fn write_pages(report: &Report, parts: &mut Parts<'_>, home: &str) {
    let list = &report.clusters.list;
    for (page, clusters) in list.chunks(PER_PAGE).enumerate() {
        let links = page_links(list.len(), Some(page), page_name);
        let last = page * PER_PAGE + clusters.len();
        let title = format!("Clusters {} to {} of {}", page * PER_PAGE + 1, last, thousands(list.len() as u64));
        let mut body = format!(
            "<header><h1>{title}</h1>\n<p><a href=\"../{}\">Back to the report</a></p></header>\n{links}\
             <p>A cluster is a page kept and its duplicates. The least similar copy stands beside the page kept: \
             <del>text only on the page kept</del>, <ins>text only on the copy</ins>. <code>ndcrawl explain</code> compares any two \
             pages.</p>\n",
            escaped(home)
        );
        for (place, cluster) in clusters.iter().enumerate() {
            body += &article(page * PER_PAGE + place, cluster);
        }
        body += &links;
        parts.add(&page_name(page), &frame(&title, &body));
    }
}

fn article(place: usize, cluster: &Cluster) -> String {
    let size = cluster.size;
    let mut html = format!(
        "<article id=\"c{place}\"><h2>{}</h2>\n<p class=\"mono\">{}</p>\n<p class=\"soft\">{}, {}</p>\n",
        escaped(&shortened(title(cluster), MOST_TITLE)),
        link(&cluster.url),
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

fn members(cluster: &Cluster) -> String {
    let row = |member: &ClusterMember| -> TableRow {
        vec![
            TableCell::Urls(vec![member.url.clone()]),
            TableCell::Text(member.decided_by.clone()),
            TableCell::Figure(member.score.map_or("–".to_owned(), |score| score.to_string())),
        ]
        .into()
    };
    let rows: Vec<TableRow> = cluster.members.iter().map(row).collect();
    let all = cluster.size.near + cluster.size.exact;
    let caption = format!("Copies of {}", shortened(&cluster.url, MOST_URL));
    let heading = ["copy", "decided by", "score"];
    let table = DataTable { caption: &caption, heading: &heading, rows: &rows, csv: None };
    let more = match all.saturating_sub(rows.len() as u64) {
        0 => String::new(),
        more => format!("<p class=\"soft\">… and {} more copies in duplicates.csv</p>\n", thousands(more)),
    };
    folded(&counted(all, "copy", "copies"), &(table.html() + &more))
}

fn beside(cluster: &Cluster, shown: &ShownCopy) -> String {
    let score = shown.score.map_or(String::new(), |score| format!(", score {score}"));
    let head = format!("<p>Least similar{score}: <span class=\"mono\">{}</span></p>\n", link(&shown.url));
    head + &match &shown.difference {
        Some(CopyDifference::Text(rows, more)) => text(cluster, shown, rows, *more),
        Some(CopyDifference::Terms(terms)) => differing_terms(terms),
        Some(CopyDifference::Unknown) => {
            "<p class=\"soft\">No diff: neither the texts nor the terms of both pages are available.</p>\n".to_owned()
        }
        None => "<p class=\"soft\">No diff: only the largest clusters have one; <code>ndcrawl report --diffs N</code> makes \
                 more.</p>\n"
            .to_owned(),
    }
}

fn text(cluster: &Cluster, shown: &ShownCopy, rows: &[DiffRow], more: usize) -> String {
    if rows.iter().all(|row| matches!(row, DiffRow::Same(_))) {
        return "<p class=\"soft\">The main text of both pages is the same; they differ in what surrounds it.</p>\n"
            .to_owned();
    }
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
    format!("<details open><summary>Text side by side</summary>\n{table}{more}</details>\n")
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
         <p class=\"soft\">Stemmed terms, since the crawl kept no text of the copy; <code>--keep-text on</code> keeps it. Terms missing \
         on the other page are highlighted.</p>\n",
        list(&terms[0], "del"),
        list(&terms[1], "ins")
    )
}
