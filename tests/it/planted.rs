//! Checks planted distances by a similarity that is not the program's.

use std::collections::BTreeSet;
use std::sync::Arc;

use ndcrawl::demo::{DemoSite, PlantedKind};

use crate::graph::{Graph, Options, Truth};
use crate::overlap::overlap;

const CLEARLY_ALIKE: f64 = 0.85;
const CLEARLY_DIFFERENT: f64 = 0.7;

fn graph() -> Graph {
    Graph::new(&["http://127.0.0.1:1".to_owned(), "http://127.0.0.2:1".to_owned()], Options::default())
}

fn assert_all_different(pages: &[(&str, &str)]) {
    let mut likest = 0.0f64;
    for (number, (path, body)) in pages.iter().enumerate() {
        for (other, other_body) in &pages[..number] {
            let likeness = overlap(body, other_body);
            assert!(likeness < CLEARLY_DIFFERENT, "{path} and {other}: {likeness:.3}");
            likest = likest.max(likeness);
        }
    }
    println!("likest of {} unique pages: {likest:.3}", pages.len());
}

#[test]
fn near_duplicates_of_the_demo_are_similar_and_its_unique_pages_are_not() {
    for seed in 0..5 {
        let site = DemoSite::new(seed);
        let mut unique = Vec::new();
        for page in site.pages() {
            match &page.kind {
                PlantedKind::NearDuplicate { of } => {
                    let likeness = overlap(site.body(&page.path).unwrap(), site.body(of).unwrap());
                    assert!((CLEARLY_ALIKE..1.0).contains(&likeness), "{} and {of}: {likeness:.3}", page.path);
                }
                PlantedKind::Unique => unique.push((page.path.as_str(), site.body(&page.path).unwrap())),
                _ => {}
            }
        }
        assert_all_different(&unique);
    }
}

#[test]
fn every_link_of_the_demo_leads_to_a_planted_page() {
    let site = DemoSite::new(0);
    let planted: BTreeSet<&str> = site.pages().iter().map(|page| page.path.as_str()).collect();
    let base = url::Url::parse("http://127.0.0.1").unwrap();
    let mut linked = BTreeSet::from(["/".to_owned(), "/1.1/index.html".to_owned()]);
    for page in site.pages() {
        let here = base.join(&page.path).unwrap();
        for reference in site.body(&page.path).unwrap_or_default().split("href=\"").skip(1) {
            let target = here.join(reference.split('"').next().unwrap()).unwrap();
            let path = target[url::Position::BeforePath..].to_owned();
            assert!(planted.contains(path.as_str()), "{} links to {path}", page.path);
            linked.insert(path);
        }
    }
    let unlinked: Vec<_> = planted.iter().filter(|path| !linked.contains(**path)).collect();
    assert!(unlinked.is_empty(), "{unlinked:?}");
}

#[test]
fn near_duplicates_of_the_graph_are_as_far_from_their_originals_as_planted() {
    let graph = graph();
    let mut unique = Vec::new();
    let mut near = 0;
    for (url, truth) in graph.truths() {
        match truth {
            Truth::Near { of, replaced } => {
                near += 1;
                let likeness = overlap(graph.html(url), graph.html(of));
                assert!((CLEARLY_ALIKE..1.0).contains(&likeness), "{url}: {likeness:.3}");
                assert!((1.0 - likeness - replaced).abs() < 0.05, "{url}: {replaced} planted, {likeness:.3}");
            }
            Truth::Exact { of } => assert_eq!(graph.html(url), graph.html(of)),
            Truth::Unique => unique.push((url, graph.html(url))),
            _ => {}
        }
    }
    assert!(near >= 10, "{near}");
    assert_all_different(&unique);
}

#[test]
fn the_graph_depends_on_its_seed_and_not_on_the_port() {
    let paths = |port: u16| {
        let origin = format!("http://127.0.0.1:{port}");
        let graph = Graph::new(std::slice::from_ref(&origin), Options::default());
        let replaced = |url: &str| graph.html(url).replace(&origin, "");
        graph.truths().map(|(url, _)| (url.replace(&origin, ""), replaced(url))).collect::<Vec<_>>()
    };
    assert_eq!(paths(1), paths(2));
}

#[test]
fn every_page_of_the_graph_is_expected_and_only_hidden_ones_are_deferred() {
    let graph = graph();
    let (skip, follow) = (graph.expected(false), graph.expected(true));
    assert_eq!(skip.len(), graph.truths().count());
    assert_eq!(follow.len(), skip.len());
    let deferred: Vec<_> = skip.iter().filter(|(_, expected)| expected.outcome == "deferred").collect();
    assert!(!deferred.is_empty());
    assert!(deferred.iter().all(|(url, _)| url.contains("/hidden/")), "{deferred:?}");
    assert!(deferred.iter().all(|(url, _)| follow[*url].outcome == "stored"));
}

#[test]
fn the_web_answers_and_logs_what_was_planned() {
    let mut graph = None;
    let web = crate::web::Web::start(2, |origins| {
        let planned = Arc::new(Graph::new(origins, Options::default()));
        graph = Some(Arc::clone(&planned));
        planned
    });
    let seeds = graph.unwrap().seeds();
    assert_eq!(seeds.len(), 2);
    for seed in &seeds {
        assert!(ask(seed).starts_with("HTTP/1.1 200"));
    }
    assert!(ask(&format!("{}/no-such-page", web.origins()[0])).starts_with("HTTP/1.1 404"));
    assert!(ask(&format!("{}/loop/a", web.origins()[0])).contains("/loop/b"));
    assert_eq!(web.pages_asked(), 4);
    assert_eq!(web.requests().len(), 4);
    assert_eq!(web.peak(), 1);
}

fn ask(url: &str) -> String {
    use std::io::{Read, Write};
    let url = url::Url::parse(url).unwrap();
    let mut stream = std::net::TcpStream::connect(url.socket_addrs(|| None).unwrap()[0]).unwrap();
    write!(stream, "GET {} HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n", url.path()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}
