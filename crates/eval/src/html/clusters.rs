//! The HTML page on labeled clusters.

use super::{costs, opening, thousands};
use crate::clusters::{ClusterFigures, ExtraPage, MissedPage};
use crate::report::ClusterReport;
use ndcrawl_html_writer::plot::{self, Bar};
use ndcrawl_html_writer::{TableCell, TableRow, card, escaped, folded, page, table, words};

/// Longer lists are collapsed.
const OPEN: usize = 12;
/// Maximum pages listed.
const LISTED: usize = 500;
/// Possible ends of an axis of shares.
const ENDS: [f64; 8] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// Returns a report on clusters as one HTML page.
pub fn clusters(report: &ClusterReport) -> String {
    let labels = &report.labels;
    let what = format!(
        "{} pages in {} clusters; {} thin pages left out",
        thousands(labels.members.len()),
        thousands(labels.names.len()),
        thousands(labels.thin)
    );
    let mut html = opening("Clusters", &report.input, &what);
    html += &cards(report);
    html += "<h2>Pages kept</h2>\n<p>The detector decided the pages one by one, in the order of the file. It should store exactly one \
             page of each clear cluster. A cluster without a stored page is <i>missed</i>; a stored page beyond the first is \
             <i>extra</i>. Clusters with a grey neighbor are counted separately, since storing or dropping their pages can both \
             be right.</p>\n";
    html += &bars(report);
    let heading = words(&[
        "detector",
        "clear clusters",
        "kept",
        "missed",
        "unseen",
        "stored",
        "extra",
        "extra rate",
        "grey stored",
    ]);
    html += &table("Clusters and pages", &heading, 1, &report.figures.iter().map(row).collect::<Vec<_>>());
    html += "<h2>Missed</h2>\n<p>Every page of a missed cluster, and the stored page that its verdict names.</p>\n";
    html += &report.figures.iter().map(|figures| missed(report, figures)).collect::<String>();
    html += "<h2>Extra</h2>\n<p>Every stored page beyond the first of its cluster, and that first page.</p>\n";
    html += &report.figures.iter().map(|figures| extra(report, figures)).collect::<String>();
    html += "<h2>Cost</h2>\n";
    html += &costs::clusters(report);
    page(&format!("Clusters: {}", report.input.file), &html)
}

fn label(figures: &ClusterFigures) -> String {
    format!("{} {}", figures.detector, figures.threshold)
}

fn cards(report: &ClusterReport) -> String {
    let mut html = "<div class=\"cards\">".to_owned();
    for figures in &report.figures {
        html += &card(
            &thousands(figures.missed),
            &format!("missed of {}, {}", thousands(figures.clusters), label(figures)),
        );
        html +=
            &card(&thousands(figures.extra), &format!("extra of {}, {}", thousands(figures.stored), label(figures)));
    }
    html + "</div>\n"
}

/// Draws the shares of missed clusters and extra pages, scaled to the largest.
fn bars(report: &ClusterReport) -> String {
    let missed = |figures: &ClusterFigures| figures.missed as f64 / (figures.clusters - figures.unseen).max(1) as f64;
    let shares = report.figures.iter().flat_map(|figures| [missed(figures), figures.extra_rate()]);
    let most = shares.fold(0.0, f64::max);
    let Some(end) = ENDS.into_iter().find(|end| *end >= most).filter(|_| most > 0.0) else { return String::new() };
    let bar = |name: &str, share: f64, style| Bar {
        name: name.to_owned(),
        value: share,
        whisker: None,
        style,
        label: format!("{:.2} %", share * 100.0),
    };
    let group = |figures: &ClusterFigures| {
        let bars = vec![bar("missed", missed(figures), 1), bar("extra", figures.extra_rate(), 0)];
        (label(figures), bars)
    };
    let svg = plot::bars(
        "Share of missed clusters, and share of extra pages among stored pages",
        &report.figures.iter().map(group).collect::<Vec<_>>(),
        end,
    );
    format!(
        "<div class=\"plots\"><figure><figcaption><span style=\"color:var(--c1)\">■</span> missed, share of clear \
         clusters <span style=\"color:var(--c0)\">■</span> extra, share of their stored pages</figcaption>{svg}</figure></div>\n"
    )
}

fn row(figures: &ClusterFigures) -> TableRow {
    let numbers = [figures.clusters, figures.kept, figures.missed, figures.unseen, figures.stored, figures.extra];
    let mut cells = vec![TableCell::Name(label(figures))];
    cells.extend(numbers.map(|number| TableCell::Figure(thousands(number))));
    cells.push(TableCell::Figure(format!("{:.2} %", figures.extra_rate() * 100.0)));
    cells.push(TableCell::Figure(thousands(figures.grey_stored)));
    cells.into()
}

fn missed(report: &ClusterReport, figures: &ClusterFigures) -> String {
    let row = |missed: &MissedPage| -> TableRow {
        let score = missed.repeats.map(|repeated| format!("{:.6}", repeated.score.as_f64()));
        let decided_by = missed.repeats.map(|repeated| repeated.decided_by.name().to_owned());
        let pages = [Some(missed.member), missed.repeats.map(|repeated| repeated.of)];
        vec![
            TableCell::Name(cluster(report, missed.member)),
            TableCell::Figure(score.unwrap_or_default()),
            TableCell::Text(decided_by.unwrap_or_default()),
            TableCell::Urls(pages.into_iter().flatten().map(|member| report.url(member).to_owned()).collect()),
        ]
        .into()
    };
    let rows: Vec<TableRow> = figures.missed_pages.iter().take(LISTED).map(row).collect();
    list(
        figures,
        &words(&["cluster", "score", "decided by", "page, and the stored page named"]),
        &rows,
        figures.missed_pages.len(),
    )
}

fn extra(report: &ClusterReport, figures: &ClusterFigures) -> String {
    let row = |extra: &ExtraPage| -> TableRow {
        let urls = vec![report.url(extra.member).to_owned(), report.url(extra.first).to_owned()];
        vec![TableCell::Name(cluster(report, extra.member)), TableCell::Urls(urls)].into()
    };
    let rows: Vec<TableRow> = figures.extra_pages.iter().take(LISTED).map(row).collect();
    list(
        figures,
        &words(&["cluster", "page, and the first stored page of its cluster"]),
        &rows,
        figures.extra_pages.len(),
    )
}

fn cluster(report: &ClusterReport, member: usize) -> String {
    report.labels.names[report.labels.members[member].cluster].clone()
}

fn list(figures: &ClusterFigures, heading: &[String], rows: &[TableRow], all: usize) -> String {
    let caption = match all {
        0 => format!("{}: none", label(figures)),
        _ if all > rows.len() => format!("{}: {} of {} pages", label(figures), thousands(rows.len()), thousands(all)),
        1 => format!("{}: 1 page", label(figures)),
        _ => format!("{}: {} pages", label(figures), thousands(all)),
    };
    match rows.len() {
        0 => format!("<p>{}</p>\n", escaped(&caption)),
        few if few <= OPEN => table(&caption, heading, heading.len(), rows),
        _ => folded(&caption, &table(&caption, heading, heading.len(), rows)),
    }
}
