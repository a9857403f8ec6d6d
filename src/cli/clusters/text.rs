//! Renders clusters as text.

use std::fmt::Write as _;

use crate::cli::format::counted;
use crate::cli::terminal_safe::terminal_safe;
use crate::model::Threshold;

use super::{Cluster, ClusterPage, Clusters, Preferred};

/// Renders the clusters with a line for each page.
pub fn text(found: &Clusters, least: Option<Threshold>) -> String {
    let compared = counted(found.compared, "page", "pages");
    if found.clusters.is_empty() {
        let alike = least.map_or(String::new(), |least| format!(" with a similarity of {least} or more"));
        return format!("No clusters: no duplicate among {compared} compared{alike}\n");
    }
    let pages: usize = found.clusters.iter().map(|cluster| cluster.pages.len()).sum();
    let mut text = format!(
        "{} of {}; {compared} compared\n",
        counted(found.clusters.len() as u64, "cluster", "clusters"),
        counted(pages as u64, "page", "pages")
    );
    found.clusters.iter().for_each(|cluster| add(&mut text, cluster));
    text
}

fn add(text: &mut String, cluster: &Cluster) {
    // Writing to a String cannot fail, here and below.
    let _ = write!(text, "\n{}", terminal_safe(&cluster.representative));
    if let Some(folder) = &cluster.folder {
        let _ = write!(text, " of the earlier crawl in {}", terminal_safe(folder));
    }
    text.push('\n');
    let elected = cluster.elected.as_deref().unwrap_or("nobody");
    let elected = if elected == cluster.representative { "this page" } else { elected };
    let _ = writeln!(text, "  elected: {} ({})", terminal_safe(elected), terminal_safe(&cluster.why));
    if let Some(Preferred { url, why }) = &cluster.preferred {
        let _ =
            writeln!(text, "  better, but its body is not archived: {} ({})", terminal_safe(url), terminal_safe(why));
    }
    // A trust that all pages share tells nothing.
    let trusts: Vec<String> = cluster.pages.iter().map(|page| format!("{:.3}", page.trust.score)).collect();
    let is_telling = trusts.iter().any(|trust| *trust != trusts[0]);
    let _ =
        writeln!(text, "  {}score     detector      decided by   body  page", if is_telling { "trust  " } else { "" });
    for (page, trust) in cluster.pages.iter().zip(trusts) {
        let mark = if cluster.elected.as_ref() == Some(&page.url) { '*' } else { ' ' };
        let trust = if is_telling { trust + "  " } else { String::new() };
        let _ = writeln!(text, "{mark} {trust}{}", row(page));
    }
}

fn row(page: &ClusterPage) -> String {
    let score = page.score.map_or("-".to_owned(), |score| score.to_string());
    let decided_by = page.decided_by.as_deref().unwrap_or(page.outcome.name());
    format!(
        "{score:<8}  {:<12}  {:<11}  {:<4}  {}",
        terminal_safe(page.detector.as_deref().unwrap_or("-")),
        terminal_safe(decided_by),
        if page.archived { "kept" } else { "-" },
        terminal_safe(&page.url)
    )
}
