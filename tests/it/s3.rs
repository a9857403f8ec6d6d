//! Exports to a bucket, and inputs from there: moto's server, behind a proxy that cuts connections.
//!
//! moto is a store of S3's protocol that pip installs for everybody, with uploads in parts and ranges.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::foreign::{Foreign, run};
use crate::needs::{Program, PythonModule, has_all, has_for_part};
use crate::program::{Finished, Place, Run};
use crate::words::words_of;

const KEY: &str = "AKIAQUAYSIDE";
const SECRET: &str = "wharf-and-quay";

/// A running server with the bucket `pages`.
pub struct Store {
    address: String,
    _server: Foreign,
}

impl Store {
    pub fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Foreign::start(Command::new("moto_server").args(["-H", "127.0.0.1", "-p", &port.to_string()]));
        let address = format!("127.0.0.1:{port}");
        while TcpStream::connect(&address).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let store = Self { address, _server: server };
        store.curl("pages", &["-X", "PUT"]);
        store
    }

    pub fn curl(&self, path: &str, arguments: &[&str]) -> Vec<u8> {
        let url = format!("http://{}/{path}", self.address);
        let mut curl = Command::new("curl");
        curl.args(["-s", "-f", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", &format!("{KEY}:{SECRET}")]);
        let output = curl.args(arguments).arg(&url).output().unwrap();
        assert!(output.status.success(), "{url}: {:?}", output.status);
        output.stdout
    }

    fn object(&self, key: &str) -> Vec<u8> {
        self.curl(&format!("pages/{key}"), &[])
    }

    fn keys(&self) -> Vec<String> {
        let listed = String::from_utf8(self.curl("pages?list-type=2", &[])).unwrap();
        listed.split("<Key>").skip(1).map(|part| part.split('<').next().unwrap().to_owned()).collect()
    }

    /// The objects below a prefix, by their names below it.
    pub fn below(&self, prefix: &str) -> BTreeMap<String, Vec<u8>> {
        let keys = self.keys();
        let names = keys.iter().filter_map(|key| key.strip_prefix(prefix));
        names.map(|name| (name.to_owned(), self.object(&format!("{prefix}{name}")))).collect()
    }

    pub fn run<'a>(&self, place: &Place, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        at(&self.address, place, arguments)
    }

    fn export(&self, place: &Place, flags: &[&str]) -> Finished {
        self.run(place, ["export", "out"].iter().chain(flags).copied()).finish()
    }
}

fn at<'a>(address: &str, place: &Place, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    place
        .run(arguments)
        .env("AWS_ENDPOINT_URL", &format!("http://{address}"))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_REGION", "us-east-1")
}

/// A proxy in front of a server.
struct Proxy {
    address: SocketAddr,
    /// Bytes that clients may still send; then nothing goes through any more.
    upward: Arc<AtomicI64>,
    /// Answers that are still to be cut in the middle.
    cuts: Arc<AtomicU64>,
}

impl Proxy {
    /// `cuts` answers end after 100,000 bytes with their connection.
    fn start(store: &Store, upward: i64, cuts: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            upward: Arc::new(AtomicI64::new(upward)),
            cuts: Arc::new(AtomicU64::new(cuts)),
        };
        let (upward, cuts, target) = (proxy.upward.clone(), proxy.cuts.clone(), store.address.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&target) else { return };
                let (upward, cuts) = (upward.clone(), cuts.clone());
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || {
                    pump(from, to, |read| {
                        while upward.fetch_sub(read as i64, Ordering::SeqCst) < 0 {
                            std::thread::sleep(Duration::from_millis(50));
                        }
                        true
                    });
                });
                std::thread::spawn(move || {
                    let mut sent = 0;
                    pump(server, client, |read| {
                        sent += read;
                        let take = |left: u64| left.checked_sub(1);
                        sent < 100_000 || cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err()
                    });
                });
            }
        });
        proxy
    }

    fn is_used_up(&self) -> bool {
        self.upward.load(Ordering::SeqCst) < 0
    }
}

/// Copies until one end is closed, or `goes_on` says no. Then both are.
fn pump(mut from: TcpStream, mut to: TcpStream, mut goes_on: impl FnMut(usize) -> bool) {
    let mut buffer = [0; 32 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !goes_on(read) || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

fn demo() -> Place {
    let place = Place::new();
    place.run(["demo", "-q", "-o", "out"]).finish().expect_code(0);
    place
}

/// A run of as many pages as make 60 MB of JSON lines. Each has a few words of its own, in random order.
fn large() -> Place {
    let place = Place::new();
    let mut file = fs::File::create(place.path("pages.jsonl")).unwrap();
    let mut state = 1_u64;
    for page in 0..60 {
        let words = words_of(page, "quay", 50);
        let mut text = String::with_capacity(1_100_000);
        while text.len() < 1_000_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += &words[(state >> 33) as usize % words.len()];
            text.push(' ');
        }
        writeln!(file, "{}", serde_json::json!({"url": format!("http://a.test/{page}"), "text": text})).unwrap();
    }
    drop(file);
    place.run(["dedup", "pages.jsonl", "-q", "-o", "out"]).finish().expect_code(0);
    place
}

/// The files of a folder, by their names below it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// The verdict of each document.
fn verdicts(place: &Place, out: &str) -> Vec<(String, String)> {
    let pages = crate::program::pages(&place.path(out));
    let text = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    pages.iter().map(|line| (text(line, "url"), text(line, "outcome"))).collect()
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server")]
fn a_bucket_gets_the_bytes_that_a_disk_gets_and_they_are_read_back() {
    if !has_all(&[Program("moto_server"), Program("curl")]) {
        return;
    }
    let (place, store) = (demo(), Store::start());
    for name in ["pages.jsonl", "pages.jsonl.zst", "pages.parquet", "pages.warc.gz", "index.cdxj", "rates.csv"] {
        let told = store.export(&place, &["-o", &format!("s3://pages/in/{name}")]).expect_code(0);
        assert!(told.stdout.contains(&format!(": s3://pages/in/{name}\n")), "{}", told.stdout);
        store.export(&place, &["-o", &format!("local/{name}")]).expect_code(0);
    }
    let (remote, local) = (store.below("in/"), files(&place.path("local")));
    assert_eq!(remote.keys().collect::<Vec<_>>(), local.keys().collect::<Vec<_>>(), "with the index of the archive");
    for (name, content) in &local {
        // The first record of an archive has a date and an ID of its own.
        assert!(remote[name] == *content || name.starts_with("pages.warc") || name == "pages.cdxj", "{name}");
    }
    for format in ["dataset", "markdown"] {
        let to = format!("s3://pages/{format}/");
        store.export(&place, &["--format", format, "-o", &to]).expect_code(0);
        store.export(&place, &["--format", format, "-o", format]).expect_code(0);
        assert!(store.below(&format!("{format}/")) == files(&place.path(format)), "{format}");
        let again = store.export(&place, &["--format", format, "-o", &to]).expect_code(2);
        assert!(again.stderr.contains("hint: something is there already"), "{}", again.stderr);
    }
    store.export(&place, &["-o", "s3://pages/pages.wacz"]).expect_code(0);
    let stored = store.run(&place, ["dedup", "local/pages.jsonl", "-q", "-o", "of-disk"]);
    stored.finish().expect_code(0);
    for (number, input) in
        ["in/pages.jsonl", "in/pages.jsonl.zst", "in/pages.parquet", "in/pages.warc.gz", "pages.wacz", "dataset"]
            .iter()
            .enumerate()
    {
        let (input, out) = (format!("s3://pages/{input}"), format!("of-{number}"));
        store.run(&place, ["dedup", &input, "-q", "-o", &out]).finish().expect_code(0);
        assert_eq!(verdicts(&place, &out), verdicts(&place, "of-disk"), "{input}");
    }
    if has_for_part(&[PythonModule("pyarrow")]) {
        let script = "import sys, pyarrow.fs, pyarrow.parquet\n\
                      address, key, secret = sys.argv[1:]\n\
                      store = pyarrow.fs.S3FileSystem(access_key=key, secret_key=secret, region='us-east-1', \
                      endpoint_override=address, scheme='http')\n\
                      for path in ['pages/in/pages.parquet', 'pages/dataset/data']:\n    \
                      print(pyarrow.parquet.read_table(path, filesystem=store).num_rows)\n";
        let rows = run(Command::new("python3").args(["-c", script, &store.address, KEY, SECRET]));
        let count = verdicts(&place, "of-disk").len();
        assert_eq!(rows.lines().collect::<Vec<_>>(), [count.to_string(), count.to_string()]);
    }
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server")]
fn a_killed_export_leaves_no_object_and_the_next_one_succeeds() {
    if !has_all(&[Program("moto_server"), Program("curl")]) {
        return;
    }
    let (place, store) = (large(), Store::start());
    store.export(&place, &["-o", "pages.jsonl"]).expect_code(0);
    let local = fs::read(place.path("pages.jsonl")).unwrap();
    assert!(local.len() > 50_000_000);
    for round in 0..2 {
        let proxy = Proxy::start(&store, 25_000_000, 0);
        let address = proxy.address.to_string();
        let mut export = at(&address, &place, ["export", "out", "-o", "s3://pages/pages.jsonl"]).start();
        assert!(export.wait_until(|| proxy.is_used_up()), "the export ended too early");
        export.kill();
        // In the second round, the object of the first one stays.
        assert_eq!(store.keys().len(), round);
        store.export(&place, &["-o", "s3://pages/pages.jsonl"]).expect_code(0);
        assert!(store.object("pages.jsonl") == local, "round {round}");
    }
    let flags = ["--format", "dataset", "--shard-size", "1M", "-o"];
    let proxy = Proxy::start(&store, 3_000_000, 0);
    let address = proxy.address.to_string();
    let arguments = ["export", "out"].into_iter().chain(flags).chain(["s3://pages/data"]);
    let mut export = at(&address, &place, arguments).start();
    assert!(export.wait_until(|| proxy.is_used_up()), "the export ended too early");
    export.kill();
    let left = store.below("data/");
    assert!(left.contains_key("_INCOMPLETE") && !left.contains_key("README.md"), "{:?}", left.keys());
    store.export(&place, &[&flags[..], &["s3://pages/data"]].concat()).expect_code(0);
    store.export(&place, &[&flags[..], &["data"]].concat()).expect_code(0);
    assert!(store.below("data/") == files(&place.path("data")));
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server")]
fn a_connection_that_breaks_off_while_it_is_read_from_is_made_again() {
    if !has_all(&[Program("moto_server"), Program("curl")]) {
        return;
    }
    let (place, store) = (large(), Store::start());
    store.export(&place, &["-o", "s3://pages/a.jsonl"]).expect_code(0);
    let proxy = Proxy::start(&store, i64::MAX, 3);
    let address = proxy.address.to_string();
    at(&address, &place, ["dedup", "s3://pages/a.jsonl", "-q", "-o", "again"]).finish().expect_code(0);
    assert_eq!(proxy.cuts.load(Ordering::SeqCst), 0);
    assert_eq!(verdicts(&place, "again"), verdicts(&place, "out"));
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server")]
fn what_cannot_be_reached_is_named_without_credentials() {
    if !has_all(&[Program("moto_server"), Program("curl")]) {
        return;
    }
    let (place, store) = (demo(), Store::start());
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let exported = |to: &'static str| ["export", "out", "-v", "-o", to];
    for (run, told) in [
        (store.run(&place, exported("s3://none/a.jsonl")), "s3://none/a.jsonl: no such bucket"),
        (store.run(&place, exported("s3://pages/a.jsonl")).env("AWS_ALLOW_HTTP", ""), "set AWS_ALLOW_HTTP=true"),
        (store.run(&place, exported("s3:///a.jsonl")), "it names no bucket"),
        (store.run(&place, ["dedup", "s3://pages/a", "-o", "x"]), "s3://pages/a: the bucket holds no such object"),
        (store.run(&place, ["dedup", "a", "-o", "s3://pages/a"]), "an output folder has to be on a disk"),
        (at(&dead, &place, exported("s3://pages/a.jsonl")), "can't write s3://pages/a.jsonl"),
    ] {
        let run = run.finish().expect_code(2);
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
        assert!(!run.stderr.contains(SECRET) && !run.stderr.contains(KEY), "{}", run.stderr);
    }
    assert!(store.keys().is_empty() && !place.path("s3:").exists());
}
