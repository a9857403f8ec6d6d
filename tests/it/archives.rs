//! Archives of other programs, and damaged ones: what `dedup` reads of them, and what `export` makes of it.

use std::fs;
use std::io::Write;
use std::process::Command;

use serde_json::Value;

use crate::foreign::run;
use crate::invariants::{lines, outcome, text};
use crate::needs::{Program, PythonModule, has_all};
use crate::program::{Finished, Place, pages};

fn words(seed: usize, count: usize) -> String {
    (0..count).map(|word| format!("w{} ", (word * 7919 + seed * 104_729) % 99_991)).collect()
}

fn html(seed: usize) -> String {
    format!("<!DOCTYPE html><title>Page {seed}</title><p>{}", words(seed, 120))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A response of this URL, with more fields of the record.
fn record(url: &str, date: &str, body: &str, more: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{more}\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

const DATE: &str = "2026-01-02T03:04:05Z";

fn dedup(place: &Place, inputs: &[&str], out: &str) -> Finished {
    let started = place.run(["dedup", "-o", out, "--min-free", "0", "--json"]).args(inputs);
    started.finish()
}

fn export(place: &Place, out: &str, file: &str, more: &[&str]) -> Finished {
    place.run(["export", out, "-o", file, "--format"]).args(more).finish().expect_code(0)
}

#[test]
fn one_damaged_record_costs_one_page_and_is_named() {
    let place = Place::new();
    let members: Vec<Vec<u8>> =
        (0..6).map(|number| gzip(&record(&format!("http://a.test/{number}"), DATE, &html(number), ""))).collect();
    let mut flipped = members.clone();
    let middle = flipped[2].len() / 2;
    flipped[2][middle] ^= 0x10;
    let cut = [&members[..2].concat()[..], &members[2][..middle], &members[3..].concat()].concat();
    for (name, file) in [("flipped.warc.gz", flipped.concat()), ("cut.warc.gz", cut)] {
        fs::write(place.path(name), file).unwrap();
        let told = dedup(&place, &[name], name.trim_end_matches(".warc.gz")).expect_code(0);
        let summary: Value = serde_json::from_str(&told.stdout).unwrap();
        let stored = lines(&place.path(name.trim_end_matches(".warc.gz")));
        let urls: Vec<&str> = stored.keys().map(String::as_str).collect();
        let expected = [0, 1, 3, 4, 5].map(|number| format!("http://a.test/{number}"));
        assert_eq!(urls, expected, "{name}");
        assert!(summary["damaged"].as_u64() >= Some(1), "{summary}");
        assert!(told.stderr.contains(&format!("{name}, record 3: ")), "{}", told.stderr);
        place.run(["verify", name.trim_end_matches(".warc.gz")]).finish().expect_code(0);
    }
}

#[test]
fn a_wrong_digest_is_told_and_costs_no_page_where_a_checksum_speaks_for_it() {
    let place = Place::new();
    let wrong = "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n";
    let members: Vec<Vec<u8>> = ["", wrong, wrong, ""]
        .iter()
        .enumerate()
        .map(|(number, more)| gzip(&record(&format!("http://a.test/{number}"), DATE, &html(number), more)))
        .collect();
    fs::write(place.path("in.warc.gz"), members.concat()).unwrap();
    let told = dedup(&place, &["in.warc.gz"], "out").expect_code(0);
    let summary: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&summary["outcomes"]["stored"], &summary["damaged"]), (&4.into(), &0.into()), "{summary}");
    assert_eq!(summary["other_digests"], 2, "{summary}");
    let told = place.run(["dedup", "in.warc.gz", "-o", "again", "--min-free", "0"]).finish().expect_code(0);
    assert!(told.stdout.contains("2  digest differs"), "{}", told.stdout);
}

#[test]
fn an_archive_that_ends_inside_a_record_is_named_and_changes_the_exit_code() {
    let place = Place::new();
    let members: Vec<Vec<u8>> =
        (0..3).map(|number| gzip(&record(&format!("http://a.test/{number}"), DATE, &html(number), ""))).collect();
    let compressed = members.concat();
    let plain: Vec<u8> =
        (0..3).flat_map(|number| record(&format!("http://b.test/{number}"), DATE, &html(number), "")).collect();
    for (name, file) in
        [("half.warc.gz", &compressed[..compressed.len() - 40]), ("half.warc", &plain[..plain.len() - 40])]
    {
        fs::write(place.path(name), file).unwrap();
        let told = dedup(&place, &[name], &format!("out-{name}")).expect_code(8);
        let summary: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!((&summary["outcomes"]["stored"], &summary["damaged"]), (&2.into(), &1.into()), "{summary}");
        assert_eq!(
            (&summary["poor"][0]["file"], &summary["poor"][0]["breaks_off"]),
            (&name.into(), &true.into()),
            "{summary}"
        );
    }
}

#[test]
fn truncated_bodies_are_marked_in_every_export_and_equal_no_other() {
    let place = Place::new();
    let body = html(1);
    let file = [
        record("http://a.test/cut", DATE, &body, "WARC-Truncated: disconnect\r\n"),
        record("http://a.test/cut-too", DATE, &body, "WARC-Truncated: length\r\n"),
        record("http://a.test/whole", DATE, &body, ""),
        record("http://a.test/copy", DATE, &body, ""),
    ];
    fs::write(place.path("a.warc"), file.concat()).unwrap();
    dedup(&place, &["a.warc", "--keep-duplicates"], "out").expect_code(0);
    let told = lines(&place.path("out"));
    assert_eq!(outcome(&told["http://a.test/cut"]), "stored");
    for url in ["http://a.test/cut-too", "http://a.test/whole"] {
        assert_eq!(outcome(&told[url]), "near-duplicate", "{url}");
    }
    for (url, line) in &told {
        assert_eq!(line["truncated"] == true, url.contains("cut"), "{line}");
        assert_eq!(line["text_digest"].is_null(), url.contains("cut"), "{line}");
    }
    place.run(["verify", "out"]).finish().expect_code(0);

    let all = ["--outcome", "all"];
    export(&place, "out", "x.warc", &[&["warc"], &all[..]].concat());
    let archive = String::from_utf8_lossy(&fs::read(place.path("x.warc")).unwrap()).into_owned();
    assert_eq!(archive.matches("\r\nWARC-Truncated: length\r\n").count(), 2, "{archive}");
    let index = fs::read_to_string(place.path("x.warc.cdxj")).unwrap();
    assert_eq!(index.matches("\"truncated\": \"length\"").count(), 2, "{index}");
    export(&place, "out", "x.jsonl", &[&["jsonl"], &all[..]].concat());
    let rows = fs::read_to_string(place.path("x.jsonl")).unwrap();
    assert_eq!(rows.matches("\"truncated\":true").count(), 2, "{rows}");
    // What was exported is told as it was.
    dedup(&place, &["x.warc"], "again").expect_code(0);
    assert!(lines(&place.path("again")).iter().all(|(url, line)| (line["truncated"] == true) == url.contains("cut")));
}

#[test]
fn documents_with_the_same_beginning_are_not_the_same_bytes() {
    let place = Place::new();
    let beginning = words(1, 2000);
    let row = |name: &str, end: usize| {
        let text = format!("{beginning} {}", words(end, 6000));
        format!("{}\n", serde_json::json!({"url": format!("http://a.test/{name}"), "text": text}))
    };
    place.write("long.jsonl", &[row("a", 2), row("b", 3), row("c", 3)].concat());
    let most = (beginning.len() - 100).to_string();
    dedup(&place, &["long.jsonl", "--max-body", &most], "cut").expect_code(0);
    let told = lines(&place.path("cut"));
    assert!(told.values().all(|line| line["truncated"] == true && outcome(line) != "exact-duplicate"), "{told:?}");
    place.run(["verify", "cut"]).finish().expect_code(0);
    dedup(&place, &["long.jsonl"], "whole").expect_code(0);
    let told = lines(&place.path("whole"));
    assert_eq!(
        ["a", "b", "c"].map(|name| outcome(&told[&format!("http://a.test/{name}")])),
        ["stored", "stored", "exact-duplicate"]
    );
}

/// Outcome, capture and original of each line, with the URL's last letters.
fn captures(place: &Place, out: &str) -> Vec<String> {
    let tell = |line: &Value| {
        let number = |field: &str| line[field].as_u64().map_or(String::new(), |number| format!("#{number}"));
        let of = line["duplicate_of"].as_str().map_or(String::new(), |of| {
            format!(" of {}{}", of.trim_start_matches("http://a.test/"), number("duplicate_of_capture"))
        });
        format!("{}{} {}{of}", text(line, "url").trim_start_matches("http://a.test/"), number("capture"), outcome(line))
    };
    pages(&place.path(out)).iter().map(tell).collect()
}

#[test]
fn several_captures_of_a_url_are_one_document_or_several() {
    let place = Place::new();
    let file = [
        record("http://a.test/x", "2026-01-01T00:00:00Z", &html(1), ""),
        record("http://a.test/y", "2026-01-01T00:00:00Z", &html(2), ""),
        record("http://a.test/x", "2026-01-02T00:00:00Z", &html(3), ""),
        record("http://a.test/x", "2026-01-03T00:00:00Z", &html(1), ""),
        record("http://a.test/z", "2026-01-04T00:00:00Z", &html(3), ""),
    ];
    let revisit = String::from_utf8(record("http://a.test/y", DATE, "", ""))
        .unwrap()
        .replace("response\r\nWARC-T", "revisit\r\nWARC-T");
    fs::write(place.path("a.warc"), [&file.concat()[..], revisit.as_bytes()].concat()).unwrap();
    let told = |rule: &str| -> (Vec<String>, Value) {
        let finished = dedup(&place, &["a.warc", "--same-url", rule], rule).expect_code(0);
        place.run(["verify", rule]).finish().expect_code(0);
        let again = dedup(&place, &["a.warc", "--same-url", rule], rule).expect_code(0);
        let again: Value = serde_json::from_str(&again.stdout).unwrap();
        let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
        // A second run has nothing left to do.
        assert_eq!(
            (&again["known"], &again["repeated"]),
            (
                &summary["outcomes"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>().into(),
                &summary["repeated"]
            )
        );
        place.run(["verify", rule]).finish().expect_code(0);
        (captures(&place, rule), summary)
    };
    let (first, summary) = told("first");
    assert_eq!(first, ["x stored", "y stored", "z stored"]);
    assert_eq!(
        (&summary["repeated"], &summary["same_url"], &summary["passed"]),
        (&2.into(), &"first".into(), &1.into())
    );
    let (last, summary) = told("last");
    assert_eq!(last, ["y stored", "x stored", "z stored"]);
    assert_eq!((&summary["repeated"], &summary["same_url"]), (&2.into(), &"last".into()));
    let (kept, summary) = told("keep");
    let expected = ["x stored", "y stored", "x#2 stored", "x#3 exact-duplicate of x", "z exact-duplicate of x#2"];
    assert_eq!(kept, expected);
    assert_eq!(&summary["repeated"], &0);
    let dates: Vec<Value> = pages(&place.path("keep")).iter().map(|line| line["fetched_at"].clone()).collect();
    assert_eq!(dates[2], "2026-01-02T00:00:00.000Z", "{dates:?}");

    // The summary for people names the rule.
    let finished = place.run(["dedup", "a.warc", "-o", "people", "--min-free", "0"]).finish().expect_code(0);
    assert!(finished.stdout.contains("--same-url first"), "{}", finished.stdout);
    export(&place, "keep", "kept.warc.gz", &["warc"]);
    assert_eq!(fs::read_to_string(place.path("kept.cdxj")).unwrap().lines().count(), 3);
    export(&place, "keep", "kept.jsonl", &["jsonl", "--outcome", "stored,exact-duplicate"]);
    let rows = fs::read_to_string(place.path("kept.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!((&rows[0]["cluster"], &rows[2]["cluster"]), (&rows[3]["cluster"], &rows[4]["cluster"]));
    assert_ne!(rows[0]["cluster"], rows[2]["cluster"]);
    let clusters = place.run(["clusters", "keep", "--json"]).finish().expect_code(0).stdout;
    assert_eq!(clusters.lines().count(), 2, "{clusters}");
}

#[test]
fn more_files_add_further_captures() {
    let place = Place::new();
    for (name, numbers) in [("one.warc", [1, 2]), ("two.warc", [3, 4])] {
        let records = numbers.map(|number| record("http://a.test/x", DATE, &html(number), ""));
        fs::write(place.path(name), records.concat()).unwrap();
    }
    dedup(&place, &["one.warc", "--same-url", "keep"], "out").expect_code(0);
    dedup(&place, &["one.warc", "two.warc", "--same-url", "keep"], "out").expect_code(0);
    assert_eq!(captures(&place, "out"), ["x stored", "x#2 stored", "x#3 stored", "x#4 stored"]);
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn an_exported_archive_is_compressed_as_its_name_says_and_has_an_index_of_its_own() {
    let place = Place::new();
    let records: Vec<Vec<u8>> =
        (0..4).map(|number| record(&format!("http://a.test/{number}"), DATE, &html(number), "")).collect();
    fs::write(place.path("a.warc"), records.concat()).unwrap();
    dedup(&place, &["a.warc"], "out").expect_code(0);
    let mut archives = Vec::new();
    for (name, index) in [("x.warc", "x.warc.cdxj"), ("x.warc.gz", "x.cdxj"), ("x.warc.zst", "x.warc.zst.cdxj")] {
        let told = export(&place, "out", name, &["warc"]);
        assert!(told.stdout.contains(&format!("index: {index}")), "{}", told.stdout);
        archives.push((fs::read(place.path(name)).unwrap(), fs::read_to_string(place.path(index)).unwrap(), name));
        dedup(&place, &[name], &format!("again-{name}")).expect_code(0);
        assert_eq!(captures(&place, &format!("again-{name}")), captures(&place, "out"), "{name}");
    }
    let begins = [&b"WARC/1.1\r\n"[..], &[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    for ((archive, index, name), begin) in archives.iter().zip(begins) {
        assert!(archive.starts_with(begin), "{name}");
        assert_eq!(index.lines().count(), 4, "{name}");
        for line in index.lines() {
            let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
            let number = |field: &str| fields[field].as_str().unwrap().parse::<usize>().unwrap();
            let part = &archive[number("offset")..][..number("length")];
            let part = match *name {
                "x.warc" => part.to_vec(),
                "x.warc.gz" => {
                    let mut text = Vec::new();
                    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(part), &mut text).unwrap();
                    text
                }
                _ => zstd::decode_all(part).unwrap(),
            };
            let part = String::from_utf8(part).unwrap();
            assert!(part.starts_with("WARC/1.1\r\nWARC-Type: response\r\n"), "{name}: {part}");
            assert!(part.contains(&format!("WARC-Target-URI: {}\r\n", fields["url"].as_str().unwrap())), "{part}");
            assert_eq!(fields["filename"], *name);
        }
    }
    // The index of another archive is not overwritten.
    place.run(["export", "out", "--format", "warc", "-o", "x"]).finish().expect_code(2);
    assert_eq!(fs::read_to_string(place.path("x.cdxj")).unwrap(), archives[1].1);
}

#[test]
fn a_mirror_is_read_by_what_its_files_hold() {
    let place = Place::new();
    let mirror = place.path("mirror");
    fs::create_dir_all(mirror.join("sub")).unwrap();
    let write = |name: &str, content: &[u8]| fs::write(mirror.join(name), content).unwrap();
    let mut number = 0;
    let mut next = || {
        number += 1;
        html(number).into_bytes()
    };
    for name in
        ["index.html", "view.php?id=3", "index.html@page=4", "news.cgi", "article", "old.html.orig", "sub/A.HTM"]
    {
        write(name, &next());
    }
    write("packed.html.gz", &gzip(&next()));
    write("BIG.WARC", &record("http://w.test/1", DATE, &html(50), ""));
    write("x.WARC.GZ", &gzip(&record("http://w.test/2", DATE, &html(51), "")));
    write("logo.png", b"\x89PNG\r\n\x1a\n");
    write("style.css", b"body { margin: 0 }");
    write("app.js", b"'use strict';");
    write("feed", b"<?xml version='1.0'?><rss/>");
    let finished = dedup(&place, &["mirror", "--base", "http://m.test/"], "out");
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
    let urls: Vec<String> = lines(&place.path("out")).into_keys().collect();
    let expected = [
        "http://m.test/",
        "http://m.test/article",
        "http://m.test/index.html@page=4",
        "http://m.test/news.cgi",
        "http://m.test/old.html.orig",
        "http://m.test/packed.html.gz",
        "http://m.test/sub/A.HTM",
        "http://m.test/view.php%3Fid=3",
        "http://w.test/1",
        "http://w.test/2",
    ];
    assert_eq!(urls, expected);
    assert_eq!(summary["ignored_files"], 4, "{summary}");
    let kinds: Vec<&String> = summary["ignored"].as_object().unwrap().keys().collect();
    let part = "part of web pages";
    assert_eq!(
        kinds,
        [&format!(".css ({part})"), &format!(".js ({part})"), ".png (image/png)", "no ending (not read: XML)"]
    );
}

#[test]
fn archives_of_other_makers_are_read_whole() {
    if !has_all(&[Program("python3"), PythonModule("warcio"), PythonModule("fastwarc"), PythonModule("zstandard")]) {
        return;
    }
    let place = Place::new();
    place.write("make.py", MAKERS);
    run(Command::new("python3").current_dir(place.path("")).arg("make.py"));
    let mut names: Vec<String> = place.names().into_iter().filter(|name| name.contains(".warc")).collect();
    names.sort();
    assert_eq!(names.len(), 9, "{names:?}");
    for name in names {
        let finished = dedup(&place, &[&name], &format!("out-{name}"));
        let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(summary["damaged"], 0, "{name}: {}", finished.stderr);
        assert_eq!(summary["outcomes"]["stored"], 5, "{name}: {summary}");
    }
}

#[test]
fn a_wacz_file_of_its_own_maker_is_read() {
    if !has_all(&[Program("wacz"), PythonModule("warcio"), PythonModule("fastwarc"), PythonModule("zstandard")]) {
        return;
    }
    let place = Place::new();
    place.write("make.py", MAKERS);
    run(Command::new("python3").current_dir(place.path("")).arg("make.py"));
    run(Command::new("wacz").current_dir(place.path("")).args(["create", "-o", "made.wacz", "warcio.warc.gz"]));
    fs::create_dir(place.path("folder")).unwrap();
    fs::rename(place.path("made.wacz"), place.path("folder/MADE.WACZ")).unwrap();
    let finished = dedup(&place, &["folder"], "out").expect_code(0);
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(summary["damaged"], 0, "{summary}");
    // What is in it beside the archive is named.
    assert!(finished.stderr.contains("MADE.WACZ: datapackage.json"), "{}", finished.stderr);
    assert_eq!(summary["outcomes"]["stored"], 5, "{summary}");
}

/// Writes five pages by the makers that are there, with their dictionaries, checksums and digests.
const MAKERS: &str = r#"
import io, struct, zstandard
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
from fastwarc.warc import ArchiveIterator
from fastwarc import stream_io

def body(number):
    words = " ".join(f"w{(word * 7919 + number * 104729) % 99991}" for word in range(120))
    return f"<!DOCTYPE html><title>Page {number}</title><p>{words}".encode()

def records(gzip, version="WARC/1.1"):
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=gzip, warc_version=version)
    writer.write_record(writer.create_warcinfo_record("x", {"software": "a test"}))
    ends = [out.tell()]
    for number in range(5):
        http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(f"http://a.test/{number}", "response", payload=io.BytesIO(body(number)), http_headers=http))
        ends.append(out.tell())
    data = out.getvalue()
    return data, [data[begin:end] for begin, end in zip([0] + ends, ends)]

plain, parts = records(False)
open("warcio.warc", "wb").write(plain)
open("warcio.warc.gz", "wb").write(records(True)[0])
open("warcio-1.0.warc.gz", "wb").write(records(True, "WARC/1.0")[0])

for name, writer in [("fastwarc.warc.gz", stream_io.GzipWriter), ("fastwarc.warc.zst", stream_io.ZstdWriter)]:
    with open(name, "wb") as out:
        target = writer(out)
        for record in ArchiveIterator(open("warcio.warc", "rb"), parse_http=False):
            record.write(target, checksum_data=True)
        target.close()

samples = [part + str(number).encode() for part in parts for number in range(60)]
trained = zstandard.train_dictionary(2048, samples)
compressor = zstandard.ZstdCompressor(dict_data=trained, write_checksum=True)
frames = b"".join(compressor.compress(part) for part in parts)
skippable = lambda kind, content: struct.pack("<II", kind, len(content)) + content
raw = trained.as_bytes()
open("dictionary.warc.zst", "wb").write(skippable(0x184D2A5D, raw) + frames)
open("packed-dictionary.warc.zst", "wb").write(skippable(0x184D2A5D, zstandard.ZstdCompressor().compress(raw)) + frames)
one = zstandard.ZstdCompressor(write_checksum=True)
open("frames.warc.zst", "wb").write(b"".join(skippable(0x184D2A50, b"seek") + one.compress(part) for part in parts))
open("whole.warc.zst", "wb").write(one.compress(plain) + skippable(0x184D2A5E, b"a table at the end"))
"#;
