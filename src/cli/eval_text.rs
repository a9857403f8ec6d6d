//! Renders the results of an evaluation as text.

use std::fmt::Write as _;

use crate::cli::format::{byte_size, counted, percent, thousands};
use crate::cli::table::aligned;
use crate::cli::terminal_safe::terminal_safe;
use crate::eval::{
    CalledPairs, ClusterFigures, ClusterReport, Counts, DecisionCost, Estimate, EvalInput, JudgedPairs, PairReport,
    PairRun, SweepPoint, label_counts,
};

const WIDTH: usize = 140;
/// Missed and extra pages shown; the others are only counted.
const LISTED: usize = 10;

/// Renders a report on pairs.
pub fn pairs(report: &PairReport) -> String {
    let mut text = heading(&report.input);
    let [dup, near, distinct, grey] = label_counts(report.labels.pairs.iter()).map(|count| thousands(count as u64));
    let pairs = counted(report.labels.pairs.len() as u64, "pair", "pairs");
    push(&mut text, &format!("{pairs}: {dup} dup, {near} near, {distinct} distinct; {grey} grey, never counted\n"));
    push(&mut text, &kinds_table(report));
    push(&mut text, &best_table(&report.runs));
    if !report.levels.is_empty() {
        push(&mut text, &levels_table(report));
    }
    for run in &report.runs {
        run.judged.iter().for_each(|judged| push(&mut text, &borderlines(report, run, judged)));
    }
    push(&mut text, &pair_costs(report));
    text
}

/// Renders a report on clusters.
pub fn clusters(report: &ClusterReport) -> String {
    let mut text = heading(&report.input);
    let labels = &report.labels;
    let (paths, all) = (thousands(labels.members.len() as u64), thousands(labels.names.len() as u64));
    push(
        &mut text,
        &format!("{paths} pages in {all} clusters; {} thin pages left out\n", thousands(labels.thin as u64)),
    );
    push(&mut text, &figures_table(report));
    for figures in &report.figures {
        push(&mut text, &missed_list(report, figures));
        push(&mut text, &extra_list(report, figures));
    }
    let costs = report.figures.iter();
    let rows =
        costs.map(|figures| cost_row(label(&figures.detector, figures.threshold), None, &figures.cost)).collect();
    push(&mut text, &cost_table(&report.input, rows));
    text
}

/// Appends a part after a blank line.
fn push(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

fn heading(input: &EvalInput) -> String {
    let pages = counted(input.pages as u64, "page", "pages");
    let missing = match input.missing.len() {
        0 => String::new(),
        missing => format!(", {} of them missing", thousands(missing as u64)),
    };
    format!("{}: {pages}{missing}\n", terminal_safe(&input.file))
}

fn label(detector: &str, threshold: impl std::fmt::Display) -> String {
    format!("{detector} {threshold}")
}

/// Formats a value with its interval: `0.932 [0.915, 0.947]`.
fn estimate(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval) {
        (Some(value), Some((low, high))) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        _ => "-".to_owned(),
    }
}

fn counts_cells(counts: &Counts) -> Vec<String> {
    let numbers = [counts.tp, counts.fp, counts.missed, counts.tn].map(|count| thousands(count as u64));
    let estimates = [counts.precision(), counts.recall(), counts.f1()].map(estimate);
    numbers.into_iter().chain(estimates).collect()
}

/// Returns the counts and measures of each detector: all pairs first, then by kind.
pub fn kinds_table(report: &PairReport) -> String {
    let mut rows = Vec::new();
    for run in &report.runs {
        for judged in &run.judged {
            for kind in &judged.kinds {
                let mut row =
                    vec![label(&run.scores.detector, judged.threshold), terminal_safe(&kind.kind).into_owned()];
                row.extend(counts_cells(&kind.counts));
                rows.push(row);
            }
        }
    }
    let heading = ["detector", "kind", "tp", "fp", "fn", "tn", "precision", "recall", "F1"];
    aligned(&heading, &rows, WIDTH)
}

fn best_table(runs: &[PairRun]) -> String {
    let row = |run: &PairRun| {
        let SweepPoint { threshold, counts } = run.best?;
        let mut row = vec![format!("{}, best F1 at {threshold}", run.scores.detector)];
        row.extend(counts_cells(&counts));
        Some(row)
    };
    let rows: Vec<_> = runs.iter().filter_map(row).collect();
    aligned(&["sweep 0.50 to 0.95", "tp", "fp", "fn", "tn", "precision", "recall", "F1"], &rows, WIDTH)
}

/// Returns the share of pairs that each detector calls duplicates, by the change made to the pages.
fn levels_table(report: &PairReport) -> String {
    let judged = || report.runs.iter().flat_map(|run| run.judged.iter().map(move |judged| (run, judged)));
    let mut heading = ["called duplicates", "level", "label", "pairs"].map(str::to_owned).to_vec();
    heading.extend(judged().map(|(run, judged)| label(&run.scores.detector, judged.threshold)));
    let rows: Vec<Vec<String>> = report
        .levels
        .iter()
        .map(|level| {
            let (label, pairs) = (level.label.name().to_owned(), thousands(level.pairs.len() as u64));
            let mut row = vec![level.kind.clone(), level.level.clone(), label, pairs];
            row.iter_mut().for_each(|cell| *cell = terminal_safe(cell).into_owned());
            row.extend(judged().map(|(run, judged)| share(run.scores.called(level, judged.threshold))));
            row
        })
        .collect();
    aligned(&heading.iter().map(String::as_str).collect::<Vec<_>>(), &rows, WIDTH)
}

fn share(called: CalledPairs) -> String {
    if called.of == 0 { "-".to_owned() } else { percent(called.called as f64 / called.of as f64) }
}

fn borderlines(report: &PairReport, run: &PairRun, judged: &JudgedPairs) -> String {
    if judged.borderlines.is_empty() {
        return String::new();
    }
    let mut text = format!("closest to {}:\n", label(&run.scores.detector, judged.threshold));
    for line in &judged.borderlines {
        let pair = &report.labels.pairs[line.pair];
        let url = |page: usize| terminal_safe(report.labels.pages[page].url.as_str());
        let answer = if line.is_right { "right" } else { "wrong" };
        let kind = terminal_safe(&pair.kind);
        let (score, label) = (line.score.as_f64(), pair.label.name());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {answer} {score:.6} {label:<8} {kind}\n    {}\n    {}", url(pair.a), url(pair.b));
    }
    text
}

/// Returns what each detector stores of the clusters.
pub fn figures_table(report: &ClusterReport) -> String {
    let row = |figures: &ClusterFigures| {
        let counts = [figures.clusters, figures.kept, figures.missed, figures.unseen, figures.stored, figures.extra];
        let mut row = vec![label(&figures.detector, figures.threshold)];
        row.extend(counts.map(|count| thousands(count as u64)));
        row.extend([percent(figures.extra_rate()), thousands(figures.grey_stored as u64)]);
        row
    };
    let rows: Vec<_> = report.figures.iter().map(row).collect();
    let heading =
        ["detector", "clear clusters", "kept", "missed", "unseen", "stored", "extra", "extra rate", "grey stored"];
    aligned(&heading, &rows, WIDTH)
}

fn missed_list(report: &ClusterReport, figures: &ClusterFigures) -> String {
    let lines = figures.missed_pages.iter().map(|missed| {
        let url = terminal_safe(report.url(missed.member));
        let repeated = missed.repeats.map_or(String::new(), |repeated| {
            let (score, by, of) = (repeated.score.as_f64(), repeated.decided_by.name(), report.url(repeated.of));
            format!("    {score:.6} by {by}: {}\n", terminal_safe(of))
        });
        format!("  {url}\n{repeated}")
    });
    listed(
        &format!(
            "missed by {}: the page, and the page it was matched with",
            label(&figures.detector, figures.threshold)
        ),
        lines.collect(),
    )
}

fn extra_list(report: &ClusterReport, figures: &ClusterFigures) -> String {
    let lines = figures.extra_pages.iter().map(|extra| {
        let (url, first) = (report.url(extra.member), report.url(extra.first));
        format!("  {}\n    {}\n", terminal_safe(url), terminal_safe(first))
    });
    listed(
        &format!(
            "extra with {}: the page, and the first stored of its cluster",
            label(&figures.detector, figures.threshold)
        ),
        lines.collect(),
    )
}

fn listed(what: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let more = lines.len().saturating_sub(LISTED);
    let mut text = format!("{what}\n{}", lines.iter().take(LISTED).map(String::as_str).collect::<String>());
    if more > 0 {
        let _ = writeln!(text, "  and {more} more (--json lists all)");
    }
    text
}

fn pair_costs(report: &PairReport) -> String {
    let mut rows = Vec::new();
    for run in &report.runs {
        let comparing = per(run.scores.comparing.as_secs_f64(), run.scores.compared() as u64);
        for judged in &run.judged {
            let cost = judged.cost.unwrap_or_default();
            rows.push(cost_row(label(&run.scores.detector, judged.threshold), Some(comparing.clone()), &cost));
        }
    }
    cost_table(&report.input, rows)
}

fn cost_row(label: String, comparing: Option<String>, cost: &DecisionCost) -> Vec<String> {
    let seconds = cost.thread_time.as_secs_f64();
    let rate =
        if seconds > 0.0 && cost.pages > 0 { thousands((cost.pages as f64 / seconds) as u64) } else { "-".to_owned() };
    let per_probe = |sum| cost.per_probe(sum).map_or("-".to_owned(), |mean| format!("{mean:.1}"));
    let counters = cost.counters;
    let sums = [cost.records, counters.candidates, counters.mezzanine, counters.verifications];
    let mut row = vec![label, comparing.unwrap_or_else(|| "-".to_owned()), per(seconds, cost.pages as u64), rate];
    row.push(thousands(cost.probes));
    row.extend(sums.map(per_probe));
    row
}

/// Returns mean times per page or pair, and mean set sizes per decision.
fn cost_table(input: &EvalInput, rows: Vec<Vec<String>>) -> String {
    let heading =
        ["cost", "µs/pair", "µs/page", "pages/s", "probes", "records/probe", "C/probe", "M/probe", "compared/probe"];
    let rendering = &input.rendering;
    let time = per(rendering.thread_time.as_secs_f64(), rendering.pages as u64);
    let seconds = rendering.thread_time.as_secs_f64();
    let rate = if seconds > 0.0 { thousands((rendering.pages as f64 / seconds) as u64) } else { "-".to_owned() };
    format!(
        "{}rendering: {time} µs a page of {} in the mean, {rate} pages/s and thread; {:.1} s on {} with reading\n",
        aligned(&heading, &rows, WIDTH),
        byte_size(rendering.bytes as u64 / (rendering.pages as u64).max(1)),
        rendering.elapsed.as_secs_f64(),
        counted(rendering.threads as u64, "thread", "threads"),
    )
}

fn per(seconds: f64, count: u64) -> String {
    if count == 0 { "-".to_owned() } else { format!("{:.1}", seconds * 1e6 / count as f64) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::detect::Comparison;
    use crate::eval::{MemberOutcome, Pages, PairScores, RepeatedPage, read_clusters, read_pairs};
    use crate::model::{DecidedBy, Score, Threshold};

    fn threshold() -> Threshold {
        Threshold::from_millionths(800_000).unwrap()
    }

    /// Writes a file into a temporary folder and reads it.
    fn read<T>(text: &str, read: impl Fn(&std::path::Path) -> Result<T, crate::eval::LabelError>) -> T {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("labels.tsv");
        std::fs::write(&file, text).unwrap();
        read(&file).unwrap()
    }

    #[test]
    fn pairs_are_told_in_tables() {
        let page = |name: &str| format!("http://a.localhost/{name}.html");
        let made = [
            ("dup", "same", "0", 1_000_000),
            ("near", "cut", "10", 790_000),
            ("near", "cut", "10", 900_000),
            ("distinct", "cut", "60", 810_000),
            ("grey", "cut", "30", 850_000),
        ];
        let lines = made.map(|(label, kind, level, score)| {
            format!("{}\t{}\t{label}\t{kind}\t{level}\n", page("a"), page(&score.to_string()))
        });
        let mut labels = read(&format!("#url_a\turl_b\tlabel\tmutation\tlevel\n{}", lines.concat()), read_pairs);
        labels.file = "labels.tsv".into();
        let mut report = PairReport::new(labels, &Pages::default());
        let comparisons = made.map(|(_, _, _, score)| Some(Comparison::by_score(Score(score), threshold()))).to_vec();
        let scores = PairScores { detector: "mwo".to_owned(), comparisons, comparing: Duration::from_micros(50) };
        report.add_scores(scores, &[threshold()]);
        insta::assert_snapshot!(pairs(&report), @r"
        labels.tsv: 0 pages

        5 pairs: 1 dup, 2 near, 1 distinct; 1 grey, never counted

        detector  kind  tp  fp  fn  tn             precision                recall                    F1
        mwo 0.8    all   2   1   1   0  0.667 [0.208, 0.939]  0.667 [0.208, 0.939]  0.667 [0.261, 0.919]
        mwo 0.8   same   1   0   0   0  1.000 [0.207, 1.000]  1.000 [0.207, 1.000]  1.000 [0.342, 1.000]
        mwo 0.8    cut   1   1   1   0  0.500 [0.095, 0.905]  0.500 [0.095, 0.905]  0.500 [0.116, 0.884]

        sweep 0.50 to 0.95    tp  fp  fn  tn             precision                recall                    F1
        mwo, best F1 at 0.79   3   1   0   0  0.750 [0.301, 0.954]  1.000 [0.439, 1.000]  0.857 [0.462, 0.977]

        called duplicates  level     label  pairs  mwo 0.8
        same                   0       dup      1   100.0%
        cut                   10      near      2    50.0%
        cut                   30      grey      1   100.0%
        cut                   60  distinct      1   100.0%

        closest to mwo 0.8:
          wrong 0.790000 near     cut
            http://a.localhost/a.html
            http://a.localhost/790000.html
          wrong 0.810000 distinct cut
            http://a.localhost/a.html
            http://a.localhost/810000.html
          right 0.900000 near     cut
            http://a.localhost/a.html
            http://a.localhost/900000.html
          right 1.000000 dup      same
            http://a.localhost/a.html
            http://a.localhost/1000000.html

        cost     µs/pair  µs/page  pages/s  probes  records/probe  C/probe  M/probe  compared/probe
        mwo 0.8     10.0        -        -       0              -        -        -               -
        rendering: - µs a page of 0 B in the mean, - pages/s and thread; 0.0 s on 0 threads with reading
        ");
    }

    #[test]
    fn clusters_are_told_in_tables() {
        let line = |(name, cluster): (&str, u32)| format!("http://a.localhost/{name}\t{cluster}\tpage\t0\n");
        let lines = [("a", 0), ("b", 0), ("c", 1)].map(line).concat();
        let mut labels = read(&format!("#url\tcluster\tkind\tgrey\n{lines}"), read_clusters);
        labels.file = "labels.tsv".into();
        let repeated = RepeatedPage { of: 0, score: Score(850_000), decided_by: DecidedBy::Similarity };
        let outcomes = [MemberOutcome::Stored, MemberOutcome::Stored, MemberOutcome::Dropped(Some(repeated))];
        let figures = ClusterFigures::count(&labels, "mwo", threshold(), &|member| outcomes[member]);
        let mut report = ClusterReport::new(labels, &Pages::default());
        report.figures.push(figures);
        insta::assert_snapshot!(clusters(&report), @r"
        labels.tsv: 0 pages

        3 pages in 2 clusters; 0 thin pages left out

        detector  clear clusters  kept  missed  unseen  stored  extra  extra rate  grey stored
        mwo 0.8                2     1       1       0       2      1       50.0%            0

        missed by mwo 0.8: the page, and the page it was matched with
          http://a.localhost/c
            0.850000 by similarity: http://a.localhost/a

        extra with mwo 0.8: the page, and the first stored of its cluster
          http://a.localhost/b
            http://a.localhost/a

        cost     µs/pair  µs/page  pages/s  probes  records/probe  C/probe  M/probe  compared/probe
        mwo 0.8        -        -        -       0              -        -        -               -
        rendering: - µs a page of 0 B in the mean, - pages/s and thread; 0.0 s on 0 threads with reading
        ");
    }
}
