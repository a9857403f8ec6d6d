//! What the workers of a crawl tell Prometheus, and what the dashboard over all of them asks for.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use regex::Regex;

use super::crawl::{SharedCrawl, slow};
use crate::program::Running;

/// Returns the metrics of a worker: names and sums of their values.
fn metrics(worker: &Running) -> Option<Vec<(String, f64)>> {
    let told = worker.stderr();
    let url = told.lines().find_map(|line| line.strip_prefix("dashboard: http://"))?;
    let (address, _) = url.split_once('/')?;
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let samples = answer.lines().filter(|line| line.starts_with("ndcrawl_"));
    let samples = samples.filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        Some((series.split('{').next()?.to_owned(), value.parse().ok()?))
    });
    Some(samples.collect())
}

/// The metrics that the dashboard asks for.
fn asked_by_the_dashboard() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config/cluster/grafana.json");
    let dashboard: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let name = Regex::new(r"\bndcrawl_[a-z_]+").unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    queries.flat_map(|query| name.find_iter(&query).map(|name| name.as_str().to_owned()).collect::<Vec<_>>()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn each_worker_has_the_metrics_that_the_dashboard_asks_for() {
    let crawl = SharedCrawl::new("metrics", slow(46, 160));
    let mut workers: Vec<Running> =
        (1..=2).map(|number| crawl.worker(number, &["--dashboard", "127.0.0.1:0"])).collect();
    let asked = asked_by_the_dashboard();
    assert!(asked.len() >= 5, "{asked:?}");
    let value_of = |samples: &[(String, f64)], name: &str| -> f64 {
        samples.iter().filter(|(sample, _)| sample == name).map(|(_, value)| value).sum()
    };
    for worker in &mut workers {
        let (mut missing, mut requests) = (asked.clone(), 0.0);
        while !missing.is_empty() || requests == 0.0 {
            assert!(!worker.has_ended(), "{missing:?} missing, {requests} requests: {}", worker.stderr());
            std::thread::sleep(Duration::from_millis(50));
            let Some(samples) = metrics(worker) else { continue };
            let there = samples.iter().map(|(name, _)| name.clone()).collect();
            missing = asked.difference(&there).cloned().collect();
            requests = value_of(&samples, "ndcrawl_requests_total");
        }
    }
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
}
