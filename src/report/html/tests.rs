//! Tests of the HTML of made-up reports: content, safety and length.

use scraper::{Html, Selector};

use super::*;
use crate::crawl::DuplicateLinks;
use crate::detect::Options;
use crate::model::{HostRow, PageLine, Threshold};
use crate::report::{
    ClusterMember, ClusterSize, CopyDifference, CrawlFacts, CurvePoint, DecisionSettings, DiffRow, LargestCluster,
    LineStats, ShownCopy, SkipCost, ThresholdCurve, VerdictCounts,
};

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
    let stored = PageLine { url: text.into(), outcome: "stored".into(), requests: 1, ..PageLine::default() };
    lines.add(&stored);
    for (place, outcome) in ["near-duplicate", "exact-duplicate", "failed", "excluded", "deferred"].iter().enumerate() {
        let of = (place < 2).then(|| text.to_owned());
        lines.add(&PageLine {
            url: format!("http://h{place}.test/{text}"),
            outcome: (*outcome).to_owned(),
            requests: 1,
            title: Some(text.to_owned()),
            fetched_at: Some("2026-01-01T00:00:00.000Z".into()),
            score: of.as_ref().map(|_| 0.9),
            decided_by: Some("similarity".into()),
            duplicate_of: of,
            reason: Some(text.to_owned()),
            ..PageLine::default()
        });
    }
    let pieces = Some(vec![(true, text.to_owned()), (false, text.to_owned())]);
    let shown = |difference| ShownCopy { url: text.to_owned(), score: Some(0.9), difference };
    let cluster = |difference| LargestCluster {
        url: text.to_owned(),
        title: Some(text.to_owned()),
        size: ClusterSize { near: 1, exact: 1 },
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
        totals: crate::model::Totals::default(),
        hosts: vec![HostRow { origin: text.to_owned(), requests: 2, ..HostRow::default() }],
        curve: ThresholdCurve { points: vec![point(500_000), point(800_000)], pages: 5, of: 6 },
        skip_cost: SkipCost::default(),
        largest: vec![
            cluster(CopyDifference::Text(vec![DiffRow::Same(2), DiffRow::Changed([pieces.clone(), pieces])], 3)),
            cluster(CopyDifference::Terms([terms.clone(), terms])),
            cluster(CopyDifference::Unknown),
        ],
    }
}

/// The elements that a report may contain.
const ELEMENTS: &str = "html head meta title style body main header nav section article h1 h2 h3 p a div b span table caption thead \
    tbody tr th td br figure figcaption svg line text rect path polyline details summary dl dt dd ul li code del ins i";

fn assert_harmless(html: &str) {
    let page = Html::parse_document(html);
    let allowed: Vec<&str> = ELEMENTS.split_whitespace().collect();
    for element in page.select(&Selector::parse("*").unwrap()) {
        let element = element.value();
        assert!(allowed.contains(&element.name()), "{element:?}");
        for (name, value) in element.attrs() {
            assert!(!name.starts_with("on") && name != "src", "{element:?}");
            assert!(name != "href" || value.starts_with('#'), "{element:?}");
        }
    }
    assert_eq!(page.select(&Selector::parse("style").unwrap()).count(), 1);
    assert!(!html.chars().any(|c| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c))));
    assert!(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

#[test]
fn what_pages_say_is_text_wherever_it_stands() {
    for text in HOSTILE {
        let html = report(text).html();
        assert_harmless(&html);
        assert!(html.contains(&escaped(text)), "{text}: it can be read all the same");
    }
}

#[test]
fn sections_have_headings_and_the_contents_lead_to_them() {
    let page = Html::parse_document(&report("http://a.test/").html());
    let attributes = |selector: &str, name: &str| -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).filter_map(|element| element.attr(name)).map(str::to_owned).collect()
    };
    let (links, headings) = (attributes("nav a", "href"), attributes("section > h2", "id"));
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
            outcome: if copy { "near-duplicate" } else { "stored" }.to_owned(),
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
    let html = report.html();
    assert!(html.len() < 3 << 20, "{} bytes", html.len());
    assert!(html.contains("… and 2,900 more hosts"));
    assert!(!html.contains(&long[..MOST_TITLE + 40]));
}

#[test]
fn a_crawl_that_compared_nothing_has_a_report_too() {
    let mut report = report("http://a.test/");
    report.lines = LineStats::new();
    (report.curve, report.largest, report.hosts) = (ThresholdCurve::default(), Vec::new(), Vec::new());
    let html = report.html();
    assert_harmless(&html);
    assert!(html.contains("No page was compared") && html.contains("no pages"), "{html}");
}

#[test]
fn figures_of_bytes_and_times_are_short() {
    assert_eq!([0, 1023, 1536, 1 << 30].map(byte_size), ["0 B", "1023 B", "1.5 KiB", "1.0 GiB"]);
    assert_eq!([120, 1234, 123_000, 3_900_000].map(span), ["120 ms", "1.2 s", "2 min 3 s", "1 h 5 min"]);
}
