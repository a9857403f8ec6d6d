//! The largest clusters, each with a copy beside the page that it repeats.

use super::{MOST_TITLE, MOST_URL, and_more, url};
use crate::html_writer::{Cell, Row, counted, escaped, folded, shortened, table, thousands, words};
use crate::report::{DiffRow, Difference, Largest, Member, Report, Shown};

/// The clusters.
pub(super) fn section(report: &Report) -> String {
    if report.largest.is_empty() {
        return String::new();
    }
    let all = report.gathered.clusters.len();
    let mut html = format!(
        "<p>{} repeated by others. These are the largest clusters, and the largest with near-duplicates among them. The copy that is least similar is shown beside the page \
         kept: <del>what only that has</del> and <ins>what only the copy has</ins>. <code>ndcrawl clusters</code> lists all, \
         <code>ndcrawl explain</code> tells of any two pages.</p>\n",
        counted(all as u64, "page kept is", "pages kept are")
    );
    report.largest.iter().for_each(|cluster| html += &article(cluster));
    html + &and_more(all, report.largest.len(), "clusters")
}

fn article(cluster: &Largest) -> String {
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
        None => "<p>All of them have the same bytes or the same text.</p>\n".to_owned(),
    };
    html + "</article>\n"
}

fn members(cluster: &Largest) -> String {
    let row = |member: &Member| -> Row {
        vec![
            Cell::Urls(vec![shortened(&member.url, MOST_URL)]),
            Cell::Text(member.decided_by.clone()),
            Cell::Figure(member.score.map_or("–".to_owned(), |score| score.to_string())),
        ]
        .into()
    };
    let rows: Vec<Row> = cluster.members.iter().map(row).collect();
    let all = usize::try_from(cluster.size.near + cluster.size.exact).unwrap_or(usize::MAX);
    let caption = format!("Copies of {}", shortened(&cluster.url, MOST_URL));
    let listed = table(&caption, &words(&["copy", "decided by", "score"]), 2, &rows);
    folded(&counted(all as u64, "copy", "copies"), &(listed + &and_more(all, rows.len(), "copies")))
}

fn beside(cluster: &Largest, shown: &Shown) -> String {
    let score = shown.score.map_or(String::new(), |score| format!(", score {score}"));
    let head = format!("<p>Least similar{score}: <span class=\"mono\">{}</span></p>\n", url(&shown.url));
    head + &match &shown.difference {
        Difference::Text(rows, more) => text(cluster, shown, rows, *more),
        Difference::Terms(terms) => words_that_differ(terms),
        Difference::Unknown => {
            "<p class=\"soft\">Neither text nor record of both is there to compare.</p>\n".to_owned()
        }
    }
}

fn text(cluster: &Largest, shown: &Shown, rows: &[DiffRow], more: usize) -> String {
    let row = |row: &DiffRow| match row {
        DiffRow::Same(lines) => {
            format!(
                "<tr><td colspan=\"2\" class=\"same\">{} the same</td></tr>\n",
                counted(*lines as u64, "line", "lines")
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

fn words_that_differ(terms: &[Vec<(String, bool)>; 2]) -> String {
    let list = |terms: &[(String, bool)], mark: &str| {
        let word = |(term, is_own): &(String, bool)| {
            let term = escaped(&shortened(term, MOST_TITLE));
            if *is_own { format!("<{mark}>{term}</{mark}>") } else { term }
        };
        let words: Vec<String> = terms.iter().map(word).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    };
    format!(
        "<dl><dt>more on the page kept</dt><dd>{}</dd><dt>more on the copy</dt><dd>{}</dd></dl>\n\
         <p class=\"soft\">By their terms, since the body of the copy was not kept (<code>--keep-duplicates</code>). Marked: terms that \
         the other does not have.</p>\n",
        list(&terms[0], "del"),
        list(&terms[1], "ins")
    )
}
