//! Exports that common tools of others read.

use std::fs::{self, File};
use std::process::Command;

use ndcrawl::export::surt;

use crate::corpora;
use crate::export::{demo, export};
use crate::foreign::run;
use crate::needs::{Program, PythonModule, has_all, has_for_part, skip, tool};
use crate::program::Place;

/// Python modules that the scripts of `tests/tools` import.
const TOOLS: [(&str, &str); 8] = [
    ("pyarrow", "pyarrow"),
    ("duckdb", "duckdb"),
    ("pandas", "pandas"),
    ("datasets", "datasets"),
    ("warcio", "warcio"),
    ("fastwarc", "fastwarc"),
    ("cdxj_indexer", "cdxj_indexer"),
    ("surt", "surt"),
];

pub fn script(name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(tool(name));
    // The network must not be used.
    command.env("HF_HUB_OFFLINE", "1").env("HF_DATASETS_OFFLINE", "1");
    command
}

/// A crawl of real sites if possible, otherwise of the demo.
fn crawled() -> Place {
    corpora::crawl().unwrap_or_else(|reason| {
        skip(&format!("real sites: {reason}; the demo's is taken"));
        demo()
    })
}

/// Unusual URLs with their sort-friendly keys (SURT).
fn keys() -> String {
    let urls = [
        "http://www.example.com/",
        "https://www2.example.co.uk:8443/A/B/?b=2&a=1&B",
        "http://[::1]:81/",
        "http://a.test//x///y/",
        "http://a.test/%7Euser/%25%32%35",
        "http://a.test/caf%C3%A9?q=%c3%a9+%26",
        "http://a.test/a;jsessionid=1?PHPSESSID=0123456789abcdef0123456789abcdef&x=1",
        "http://a.test/(S(0123456789abcdefghijklmn))/p.aspx",
        "http://a.test/?cfid=1&cftoken=2&a",
        "http://xn--bcher-kva.test/?%E4=%&&=x&a==",
        "http://a.test/..%2f/x?a=1?b#c",
        "http://www.www.test/?A=b;c|d\"'<>",
    ];
    urls.map(|url| format!("{url}\t{}\n", surt(url))).concat()
}

#[test]
fn common_tools_read_the_exports() {
    let found = TOOLS.iter().filter(|(module, _)| has_for_part(&[PythonModule(module)]));
    let found: Vec<&str> = found.map(|(_, tool)| *tool).collect();
    let place = crawled();
    fs::create_dir(place.path("exports")).unwrap();
    for (format, name, flags) in [
        ("parquet", "pages.parquet", &[][..]),
        ("parquet", "all.parquet", &["--outcome", "all", "--noarchive", "ignore", "--html"]),
        ("jsonl", "pages.jsonl", &[]),
        ("jsonl", "pages.jsonl.gz", &[]),
        ("jsonl", "pages.jsonl.zst", &[]),
        ("warc", "pages.warc.gz", &[]),
        ("cdxj", "index.cdxj", &[]),
        ("csv", "rates.csv", &[]),
    ] {
        let file = format!("exports/{name}");
        export(&place, &[&["--format", format, "-o", &file], flags].concat()).expect_code(0);
    }
    if has_for_part(&[Program("python3")]) {
        run(Command::new("python3").arg(tool("warc_check.py")).arg(place.path("exports/pages.warc.gz")));
    }
    if found.is_empty() {
        return;
    }
    let keys = File::open(place.write("keys", &keys())).unwrap();
    let mut read_back = script("read_back.py");
    read_back.arg(place.path("out")).arg(place.path("exports")).args(&found).stdin(keys);
    println!("{}", run(&mut read_back));
}

#[test]
#[cfg_attr(not(has_pywb), ignore = "needs pywb")]
fn pywb_replays_a_stored_page() {
    if !has_all(&[PythonModule("pywb"), Program("pywb")]) {
        return;
    }
    let place = crawled();
    export(&place, &["--format", "warc", "-o", "pages.warc.gz"]).expect_code(0);
    let mut replay = script("replay.py");
    replay.arg(place.path("")).arg("pages");
    // Without a browser the script requests the page over HTTP only.
    if has_for_part(&[Program("chromium")]) {
        replay.arg("chromium");
    }
    println!("{}", run(&mut replay));
    export(&place, &["-o", "pages.wacz"]).expect_code(0);
    println!("{}", run(script("replay.py").arg(place.path("")).arg("pages.wacz")));
}
