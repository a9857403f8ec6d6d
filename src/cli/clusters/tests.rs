//! Clusters of small files.

use super::*;
use crate::model::Source;

/// The line of a decided page.
fn line(url: &str, of: Option<(&str, Option<f64>)>) -> PageLine {
    let provenance =
        Provenance { place: Some("a.test".into()), how: Some("text/html".into()), ..Provenance::default() };
    let (outcome, decided_by) = match of {
        None => (OutcomeKind::Stored, None),
        Some((_, Some(_))) => (OutcomeKind::NearDuplicate, Some("similarity".to_owned())),
        Some((_, None)) => (OutcomeKind::ExactDuplicate, Some("body-digest".to_owned())),
    };
    PageLine {
        url: url.into(),
        outcome,
        fetched_at: Some("2026-01-01T00:00:00.000Z".into()),
        duplicate_of: of.map(|(of, _)| of.to_owned()),
        score: of.and_then(|(_, score)| score),
        detector: of.and_then(|(_, score)| score).map(|_| "mwo".to_owned()),
        decided_by,
        provenance: Some(provenance),
        warc_file: Some("warc/a.warc.gz".into()),
        warc_offset: Some(0),
        ..PageLine::default()
    }
}

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pages.jsonl"), text).unwrap();
    folder
}

fn written(lines: &[PageLine]) -> tempfile::TempDir {
    folder(&lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect::<String>())
}

fn lines() -> Vec<PageLine> {
    let mut dated = line("https://a.test/1", None);
    dated.provenance = Some(Provenance {
        who: Some("Jane".into()),
        who_from: Some(Source::Copyright),
        when: Some("2025-01-01".into()),
        when_from: Some(Source::Header),
        ..Provenance::default()
    });
    vec![
        line("http://a.test/0", None),
        line("http://a.test/0?copy", Some(("http://a.test/0", None))),
        dated,
        line("http://a.test/1a", Some(("https://a.test/1", Some(0.9)))),
        line("http://a.test/1b", Some(("https://a.test/1", Some(0.8)))),
        line("http://a.test/2", None),
        PageLine { url: "http://a.test/x".into(), outcome: OutcomeKind::Failed, ..PageLine::default() },
    ]
}

fn least(text: &str) -> Option<Threshold> {
    Some(text.parse().unwrap())
}

#[test]
fn clusters_are_told_largest_first_with_the_page_that_should_stay() {
    let folder = written(&lines());
    let found = Clusters::read(folder.path(), None).unwrap();
    insta::assert_snapshot!(text(&found, None), @r"
    2 clusters of 5 pages; 6 pages compared

    https://a.test/1
      elected: this page (only one whose body is archived)
      trust  score     detector      decided by   body  page
    * 0.556  -         -             stored       kept  https://a.test/1
      0.111  0.9       mwo           similarity   -     http://a.test/1a
      0.111  0.8       mwo           similarity   -     http://a.test/1b

    http://a.test/0
      elected: this page (only one whose body is archived)
      score     detector      decided by   body  page
    * -         -             stored       kept  http://a.test/0
      -         -             body-digest  -     http://a.test/0?copy
    ");
}

#[test]
fn pages_below_the_similarity_are_left_out() {
    let folder = written(&lines());
    let sizes = |least| {
        let found = Clusters::read(folder.path(), least).unwrap();
        found.clusters.iter().map(|cluster| cluster.pages.len()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(least("0.8")), [3, 2]);
    assert_eq!(sizes(least("0.800001")), [2, 2]);
    assert_eq!(sizes(least("1")), [2]);
}

#[test]
fn clusters_come_in_the_order_that_is_asked_for() {
    let mut lines = lines();
    lines.push(line("http://a.test/2a", Some(("http://a.test/2", Some(0.7)))));
    let folder = written(&lines);
    let order = |order| {
        let mut found = Clusters::read(folder.path(), None).unwrap();
        found.sort(order);
        found.clusters.into_iter().map(|cluster| cluster.representative).collect::<Vec<_>>()
    };
    let [exact, near, least] = ["http://a.test/0", "https://a.test/1", "http://a.test/2"];
    assert_eq!(order(ClusterOrder::Size), [near, exact, least]);
    assert_eq!(order(ClusterOrder::Score), [least, near, exact]);
    assert_eq!(order(ClusterOrder::Url), [exact, least, near]);
}

#[test]
fn that_there_is_none_is_said() {
    let folder = written(&[line("http://a.test/0", None)]);
    let found = Clusters::read(folder.path(), None).unwrap();
    assert_eq!(text(&found, None), "No clusters: no duplicate among 1 page compared\n");
    assert!(text(&found, least("0.9")).contains("with a similarity of 0.9 or more"));
    assert_eq!(found.json_lines().unwrap(), "");
}

#[test]
fn each_cluster_is_an_object() {
    let found = Clusters::read(written(&lines()).path(), least("1")).unwrap();
    let page = |fields: &str, archived: bool| {
        let trust = r#"{"score":0.111,"accountability":0.0,"maintainability":0.0,"authority":0.333}"#;
        let provenance = r#"{"where":"a.test","how":"text/html"}"#;
        format!(r#"{{{fields},"archived":{archived},"trust":{trust},"provenance":{provenance}}}"#)
    };
    let stored = page(r#""url":"http://a.test/0","outcome":"stored""#, true);
    let copy = page(r#""url":"http://a.test/0?copy","outcome":"exact-duplicate","decided_by":"body-digest""#, false);
    let why = "only one whose body is archived";
    assert_eq!(
        found.json_lines().unwrap(),
        format!(
            r#"{{"representative":"http://a.test/0","elected":"http://a.test/0","why":"{why}","pages":[{stored},{copy}]}}"#
        ) + "\n"
    );
}

#[test]
fn the_canonical_page_is_in_the_better_place() {
    let mut lines = vec![line("https://a.test/1", None), line("http://a.test/2", Some(("https://a.test/1", None)))];
    let authority = |lines: &[PageLine], at: usize| {
        let page = |(sequence, line): (usize, &PageLine)| (sequence as u64, line.clone());
        let group =
            Group { representative: String::new(), folder: None, lines: lines.iter().enumerate().map(page).collect() };
        let cluster = Cluster::new(group, &mut Bodies::new(Path::new("/nowhere")));
        cluster.pages.iter().find(|page| page.url == lines[at].url).map(|page| page.trust.authority)
    };
    assert_eq!((authority(&lines, 0), authority(&lines, 1)), (Some(0.667), Some(0.333)));
    lines[0].canonical = Some("http://a.test/2".into());
    assert_eq!((authority(&lines, 0), authority(&lines, 1)), (Some(0.333), Some(0.667)));
}

#[test]
fn a_line_that_cannot_be_read_is_named_unless_it_is_still_written() {
    let one = serde_json::to_string(&lines()[0]).unwrap();
    let error = Clusters::read(folder(&format!("{one}\n{{\"url\":\n{one}\n")).path(), None).unwrap_err();
    assert_eq!(error.code, 4);
    assert!(error.message.contains("pages.jsonl, line 2 is damaged: "), "{error}");
    let found = Clusters::read(folder(&format!("{one}\n{{\"url\":")).path(), None).unwrap();
    assert_eq!(found.compared, 1);
    let binary = folder("");
    std::fs::write(binary.path().join("pages.jsonl"), b"\xff\xfe\n").unwrap();
    assert_eq!(Clusters::read(binary.path(), None).unwrap_err().code, 4);
}

#[test]
fn a_folder_without_pages_is_a_clear_error() {
    let empty = tempfile::tempdir().unwrap();
    let error = Clusters::read(empty.path(), None).unwrap_err();
    assert!(error.message.contains("holds no crawl") && error.hint.is_some() && error.code == 2, "{error}");
}
