//! Gaps between requests to an address, which several processes share.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{ClusterError, GAP_MARGIN, reserve_starts};

use super::servers::LocalServers;
use super::{plan, session};

const GAP: Duration = Duration::from_millis(200);
const WORKERS: usize = 3;

fn ip(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

/// Has several workers reserve and use starts for a while, of crawls with these names. Returns the shortest gap between
/// two starts of one address.
async fn shortest_gap(crawls: [&'static str; WORKERS]) -> Duration {
    let began = Instant::now();
    let workers: Vec<_> = crawls
        .into_iter()
        .map(|name| {
            tokio::spawn(async move {
                let session = session(LocalServers::shared(), &plan(name, 1)).await;
                let mut starts = Vec::new();
                while began.elapsed() < Duration::from_secs(6) {
                    let wanted = [(ip(1), GAP), (ip(2), GAP), (ip(1), GAP)];
                    let reserved = match reserve_starts(&session, &wanted).await {
                        Ok(reserved) => reserved,
                        // On a busy machine; then no request is made.
                        Err(ClusterError::Slow(_)) => continue,
                        Err(error) => panic!("{error:?}"),
                    };
                    for (start, (ip, _)) in reserved.into_iter().zip(wanted) {
                        starts.push((ip, start));
                    }
                    let last = starts.iter().map(|(_, start)| *start).max();
                    tokio::time::sleep_until(last.unwrap_or(began).into()).await;
                }
                starts
            })
        })
        .collect();
    let mut starts = Vec::new();
    for worker in workers {
        starts.extend(worker.await.unwrap());
    }
    starts.sort_unstable();
    assert!(starts.len() > 30, "{} starts", starts.len());
    let gaps = starts.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1 - pair[0].1);
    gaps.min().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_keep_the_gaps_of_an_address_together() {
    let shortest = shortest_gap(["gaps"; WORKERS]).await;
    assert!(shortest >= GAP, "{shortest:?}");
    // The control: each with a table of its own.
    let shortest = shortest_gap(["gaps_a", "gaps_b", "gaps_c"]).await;
    assert!(shortest < GAP, "{shortest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn the_first_start_of_an_address_is_a_gap_away() {
    let session = session(LocalServers::shared(), &plan("gaps_anew", 1)).await;
    for _ in 0..2 {
        let before = Instant::now();
        let starts = reserve_starts(&session, &[(ip(9), GAP), (ip(9), GAP)]).await.unwrap();
        assert!(starts[0] >= before + GAP && starts[1] >= starts[0] + GAP);
        assert!(starts[1] <= Instant::now() + (GAP + GAP_MARGIN) * 2);
        // As a crash of the server leaves it.
        session.client().batch_execute("TRUNCATE address").await.unwrap();
    }
}
