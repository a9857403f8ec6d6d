//! Tests of the HTML of made-up reports: content, safety and length.

use scraper::{Html, Selector};

use super::*;
use crate::{
    AlikePages, Audit, Cluster, ClusterMember, ClusterSize, Clusters, CopyDifference, CrawlFacts, CurvePoint,
    DecisionSettings, DiffRow, FindingKind, FoundPage, LineStats, Mend, PageFrame, PagesLeft, ShownCopy, SiteChange,
    SkipCost, ThresholdCurve, VerdictCounts,
};
use ndcrawl_engine::crawl::DuplicateLinks;
use ndcrawl_model::{Deferral, Exclusion, FailureClass, HostRow, PageLine, Reason, Threshold};
use neardup::detect::Options;

/// Hostile texts of pages and servers.
const HOSTILE: [&str; 8] = [
    "</title><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!--",
    "]]></style><style>@import 'http://x'",
    "javascript:alert(1)",
    "\u{202e}cod.exe\u{0}\u{1b}[2J\r\nlevel=error",
    "&lt;b&gt;{{7*7}}%s%n",
];

/// Returns a report in which every text from outside is `text`.
fn report(text: &str) -> Report {
    let mut lines = LineStats::new();
    let stored = PageLine { url: text.into(), outcome: OutcomeKind::Stored, requests: 1, ..PageLine::default() };
    lines.add(&stored);
    let copies = [OutcomeKind::NearDuplicate, OutcomeKind::ExactDuplicate].map(|kind| (kind, None));
    let others = [
        Reason::Failed(FailureClass::Http),
        Reason::Excluded(Exclusion::Scope),
        Reason::Deferred(Deferral::DuplicateLink),
    ];
    let outcomes = copies.into_iter().chain(others.map(|reason| (reason.outcome(), Some(reason))));
    for (place, (outcome, reason)) in outcomes.enumerate() {
        let of = (place < 2).then(|| text.to_owned());
        lines.add(&PageLine {
            url: format!("http://h{place}.test/{text}"),
            outcome,
            requests: 1,
            title: Some(text.to_owned()),
            fetched_at: Some("2026-01-01T00:00:00.000Z".into()),
            score: of.as_ref().map(|_| 0.9),
            decided_by: Some("similarity".into()),
            duplicate_of: of,
            reason,
            ..PageLine::default()
        });
    }
    let pieces = Some(vec![(true, text.to_owned()), (false, text.to_owned())]);
    lines.predicted.insert((text.to_owned(), text.to_owned(), 990_000), 7);
    let shown = |difference| ShownCopy { url: text.to_owned(), score: Some(0.9), difference };
    let cluster = |difference| Cluster {
        url: text.to_owned(),
        title: Some(text.to_owned()),
        size: ClusterSize { near: 1, exact: 1 },
        lowest: Some(0.9),
        members: vec![ClusterMember { url: text.to_owned(), decided_by: text.to_owned(), score: None }],
        shown: Some(shown(difference)),
    };
    let terms = vec![(text.to_owned(), true), (text.to_owned(), false)];
    let point = |millionths| CurvePoint {
        threshold: Threshold::from_millionths(millionths).unwrap(),
        counts: VerdictCounts { stored: 3, near: 1, exact: 1 },
    };
    Report {
        facts: CrawlFacts {
            version: text.to_owned(),
            seeds: vec![text.to_owned()],
            inputs: None,
            started: Some(text.to_owned()),
            ended: Some(text.to_owned()),
            stopped: Some(text.to_owned()),
            settings: vec![(text.to_owned(), text.to_owned())],
        },
        settings: DecisionSettings { detect: Options::default(), links: DuplicateLinks::Skip },
        lines,
        totals: ndcrawl_model::Totals::default(),
        hosts: vec![HostRow { origin: text.to_owned(), requests: 2, ..HostRow::default() }],
        curve: ThresholdCurve { points: vec![point(500_000), point(800_000)], pages: 5, of: 6 },
        skip_cost: SkipCost::default(),
        clusters: Clusters {
            list: vec![
                cluster(Some(CopyDifference::Text(
                    vec![DiffRow::Same(2), DiffRow::Changed([pieces.clone(), pieces])],
                    3,
                ))),
                cluster(Some(CopyDifference::Terms([terms.clone(), terms]))),
                cluster(Some(CopyDifference::Unknown)),
                cluster(None),
            ],
            ..Clusters::default()
        },
        audit: Audit {
            compared: 5,
            duplicates: 2,
            changes: vec![SiteChange {
                pattern: text.to_owned(),
                pages: 2,
                requests: 3,
                left_out: 1,
                mend: Mend::Robots { origin: text.to_owned(), lines: vec![text.to_owned()] },
                example: FoundPage { url: text.to_owned(), ..FoundPage::default() },
                unique: 1,
                unique_example: Some(text.to_owned()),
            }],
            left: PagesLeft { compared: 3, duplicates: 0 },
            findings: FindingKind::ALL
                .map(|kind| {
                    (
                        kind,
                        vec![FoundPage {
                            url: text.to_owned(),
                            other: text.to_owned(),
                            hops: vec![text.to_owned()],
                            count: Some(7),
                        }],
                    )
                })
                .into(),
            alike: vec![AlikePages { pattern: text.to_owned(), pages: 20, alike: 0.96, example: text.to_owned() }],
            frames: vec![PageFrame { url: text.to_owned(), words: 9, frame_words: 3 }],
        },
    }
}

/// The page and the parts beside it, by name.
fn pages(report: &Report) -> (String, Vec<(String, String)>) {
    let mut parts = Vec::new();
    let page = report.html("report.html", "report_files", &mut |name, text| {
        parts.push((name.to_owned(), text.to_owned()));
        Ok(())
    });
    (page.unwrap(), parts)
}

/// The elements that a report may contain.
const ELEMENTS: &str = "html head meta title style body main header nav section article h1 h2 h3 p a div b span table caption thead \
    tbody tr th td br figure figcaption svg line text rect path polyline details summary dl dt dd ul li code del ins i script";

fn assert_harmless(html: &str) {
    let page = Html::parse_document(html);
    let allowed: Vec<&str> = ELEMENTS.split_whitespace().collect();
    for element in page.select(&Selector::parse("*").unwrap()) {
        let element = element.value();
        assert!(allowed.contains(&element.name()), "{element:?}");
        for (name, value) in element.attrs() {
            assert!(!name.starts_with("on") && name != "src", "{element:?}");
            assert!(name != "href" || is_harmless(value), "{element:?}");
        }
    }
    let scripts: Vec<String> =
        page.select(&Selector::parse("script").unwrap()).map(|script| script.text().collect()).collect();
    assert_eq!(scripts, [TABLES_SCRIPT]);
    assert_eq!(page.select(&Selector::parse("style").unwrap()).count(), 1);
    assert!(!html.chars().any(|c| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c))));
    assert!(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
}

/// Whether a link leads into the page, to a part, back to the report, or to a web address.
fn is_harmless(href: &str) -> bool {
    let is_part = |name: &str| {
        name.split('#').next().is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)))
    };
    href.starts_with('#')
        || href.starts_with("http://")
        || href == "../report.html"
        || is_part(href)
        || href.strip_prefix("report_files/").is_some_and(is_part)
}

#[test]
fn what_pages_say_is_text_wherever_it_stands() {
    for text in HOSTILE {
        let (html, parts) = pages(&report(text));
        assert_harmless(&html);
        assert!(html.contains(&escaped(text)), "{text}: it can be read all the same");
        for (name, part) in parts {
            if name.ends_with(".html") {
                assert_harmless(&part);
                assert!(part.contains(&escaped(text)), "{text}");
            } else {
                let is_formula = |line: &str| line.split(',').any(|cell| cell.starts_with(['=', '+', '-', '@']));
                assert!(name.ends_with(".csv") && !part.lines().any(is_formula), "{name}: {part}");
                assert!(!part.chars().any(|c| c.is_control() && !"\r\n".contains(c)), "{name}: {part}");
            }
        }
    }
}

#[test]
fn sections_have_headings_and_the_contents_lead_to_them() {
    let page = Html::parse_document(&pages(&report("http://a.test/")).0);
    let attributes = |selector: &str, name: &str| -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).filter_map(|element| element.attr(name)).map(str::to_owned).collect()
    };
    let (links, headings) = (attributes("nav[aria-label=Contents] a", "href"), attributes("section > h2", "id"));
    assert_eq!(links, headings.iter().map(|id| format!("#{id}")).collect::<Vec<_>>());
    assert_eq!(attributes("section", "aria-labelledby"), headings);
    assert!(headings.len() >= 9, "{headings:?}");
    let count = |selector: &str| page.select(&Selector::parse(selector).unwrap()).count();
    assert_eq!((count("main"), count("h1"), count("th:not([scope])")), (1, 1, 0));
    assert_eq!(count("svg[role=img] > title"), count("svg"));
}

#[test]
fn a_report_on_a_hundred_thousand_pages_of_many_hosts_stays_short() {
    let mut report = report("http://a.test/");
    report.lines = LineStats::new();
    let long = "x".repeat(1500);
    for number in 0..100_000u32 {
        let host = number % 3000;
        let url = format!("http://host-with-a-long-name-{host}.example.org/{number}/{long}");
        let copy = number % 2 == 1;
        report.lines.add(&PageLine {
            outcome: if copy { OutcomeKind::NearDuplicate } else { OutcomeKind::Stored },
            duplicate_of: copy.then(|| format!("http://host-{}.example.org/{}/{long}", host / 2, number / 20)),
            score: copy.then_some(0.7 + f64::from(number % 300) / 1000.0),
            decided_by: Some("similarity".into()),
            title: Some(long.clone()),
            requests: 1,
            url,
            ..PageLine::default()
        });
    }
    report.hosts = (0..3000)
        .map(|host| HostRow {
            origin: format!("http://host-with-a-long-name-{host}.example.org:80"),
            requests: 3,
            ..HostRow::default()
        })
        .collect();
    let cluster = |number: usize| Cluster {
        url: format!("http://host-{number}.example.org/{long}"),
        title: Some(long.clone()),
        size: ClusterSize { near: 5, exact: 0 },
        lowest: Some(0.7),
        members: vec![
            ClusterMember {
                url: format!("http://host.example.org/{long}"),
                decided_by: "similarity".into(),
                score: Some(0.7)
            };
            5
        ],
        shown: None,
    };
    report.clusters.list = (0..500).map(cluster).collect();
    let (html, parts) = pages(&report);
    assert!(html.len() < 5 << 20, "{} bytes", html.len());
    assert!(html.contains("… and 2,900 more hosts"));
    // An address may be long; what is shown is not.
    let shown = Html::parse_document(&html).root_element().text().collect::<String>();
    assert!(!shown.contains(&long[..MOST_URL + 40]));
    let clusters = parts.iter().filter(|(name, _)| name.starts_with("clusters-"));
    assert_eq!(clusters.inspect(|(name, part)| assert!(part.len() < 5 << 20, "{name}")).count(), 10);
}

#[test]
fn the_pages_of_clusters_lead_to_each_other_and_back() {
    let mut report = report("http://a.test/");
    let one = report.clusters.list[0].clone();
    report.clusters.list = vec![one; 170];
    let (html, parts) = pages(&report);
    assert!(html.contains("href=\"report_files/clusters-1.html#c0\"") && html.contains("#c99\""));
    let hrefs = |name: &str| -> Vec<String> {
        let (_, part) = parts.iter().find(|(part, _)| part == name).unwrap();
        let page = Html::parse_document(part);
        assert_eq!(
            page.select(&Selector::parse("table.diff ins").unwrap()).count(),
            page.select(&Selector::parse("article").unwrap()).count()
        );
        let links = Selector::parse("nav:first-of-type a, header a").unwrap();
        page.select(&links).filter_map(|link| link.attr("href")).map(str::to_owned).collect()
    };
    let expected = ["../report.html", "clusters-1.html", "clusters-3.html", "clusters-4.html"];
    assert_eq!(hrefs("clusters-2.html")[..4], expected);
    assert!(parts.iter().any(|(name, part)| name == "clusters-4.html" && part.contains("id=\"c169\"")));
}

#[test]
fn the_answer_comes_first_and_rules_are_words() {
    let mut report = report("http://a.test/");
    report.lines.predicted.clear();
    report.lines.predicted.insert(("http://a.test/de/* -> http://a.test/en/*".into(), "unlinked".into(), 995_000), 9);
    *report.lines.outcomes.entry(OutcomeKind::PredictedDuplicate).or_default() = 9;
    let (html, parts) = pages(&report);
    let answer = html.find("class=\"answer\"").unwrap();
    assert!(answer < html.find("<section").unwrap());
    assert!(
        html[answer..].starts_with("class=\"answer\">At least two thirds (66.7 %) of the 3 pages compared on"),
        "{}",
        &html[answer..answer + 200]
    );
    assert!(html.contains("/de/ repeats /en/, unless the page kept links to both"));
    assert!(html.contains("99.5 %"));
    for name in
        ["hosts.csv", "directories.csv", "clusters.csv", "duplicates.csv", "failures.csv", "left-out.csv", "rules.csv"]
    {
        assert!(parts.iter().any(|(part, _)| part == name), "{name}");
    }
}

#[test]
fn a_crawl_that_compared_nothing_has_a_report_too() {
    let mut report = report("http://a.test/");
    report.lines = LineStats::new();
    (report.curve, report.clusters, report.hosts) = (ThresholdCurve::default(), Clusters::default(), Vec::new());
    let (html, _) = pages(&report);
    assert_harmless(&html);
    assert!(html.contains("No page was compared") && html.contains("no pages"), "{html}");
}
