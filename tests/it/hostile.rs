//! Manners towards a server that misbehaves on purpose.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::Place;
use crate::shared::{missing, run, shared, skipped};

/// The origins that are crawled, by their distance from the first port.
const ORIGINS: [(&str, u16); 7] = [
    ("robots-500", 1),
    ("robots-403", 2),
    ("robots-redirect", 3),
    ("robots-huge", 4),
    ("crawl-delay", 5),
    ("polite", 6),
    ("slow", 7),
];
/// The server takes so many ports from the first one on.
const PORTS: u16 = 41;

/// The server; dropping it ends it.
struct Hostile {
    child: Child,
    port: u16,
}

impl Hostile {
    fn start(script: &Path, place: &Place) -> Self {
        let port = free_ports();
        let child = Command::new("python3")
            .arg(script)
            .args(["--port", &port.to_string(), "--log"])
            .arg(place.path("log.jsonl"))
            .arg("--ready-file")
            .arg(place.path("ready"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while !place.path("ready").exists() {
            assert!(started.elapsed() < Duration::from_secs(20), "the hostile server does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, port }
    }

    fn seeds(&self) -> String {
        ORIGINS.iter().map(|(_, step)| format!("http://127.0.0.1:{}/\n", self.port + step)).collect()
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first of a row of free ports.
fn free_ports() -> u16 {
    let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = 20_000 + (std::process::id() % 100) as u16 * 50;
    (0..100)
        .map(|step| start + step * PORTS)
        .find(|&first| (first..first + PORTS).all(free))
        .expect("no row of free ports")
}

#[test]
fn robots_gaps_and_crawl_delays_are_kept() {
    let scripts = (shared("hostile/hostile_server.py"), shared("hostile/check_politeness.py"));
    let (Some(server), Some(checker)) = scripts else { return skipped("no hostile server beside the checkout") };
    if let Some(program) = missing(&["python3"]) {
        return skipped(&format!("no {program}"));
    }
    let place = Place::new();
    let hostile = Hostile::start(&server, &place);
    place.write("seeds.txt", &hostile.seeds());
    let manners =
        ["--delay", "1s", "--ip-delay", "0", "--host-concurrency", "1", "--timeout", "3s", "--max-time", "30s"];
    place
        .run(["--seeds", "seeds.txt", "-o", "out", "--allow-net", "127.0.0.1/32"])
        .args(manners)
        .patience(Duration::from_secs(90))
        .finish()
        .expect_code(0);
    drop(hostile);
    let judgement = run(Command::new("python3").arg(checker).arg(place.path("log.jsonl")).args([
        "--min-gap",
        "1",
        "--max-conc",
        "1",
        "--key",
        "origin",
        "--max-repeat",
        "1",
        "--origin-gap",
        "crawl-delay=2",
        "--ua-regex",
        r"^ndcrawl/[0-9.]+ \(\+https?://",
    ]));
    println!("{judgement}");
}
