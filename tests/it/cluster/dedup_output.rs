//! The outputs of `dedup` by several workers: in each format, on a disk and in a bucket, the same pages.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use super::dedup::{PAGES, dedup, place, record};
use super::servers::LocalServers;
use crate::needs::{Program, PythonModule, first_missing, has_for_part, reason, say};
use crate::program::Place;

/// The files of an output, by name.
type Files = BTreeMap<String, Vec<u8>>;

fn files(folder: &Path) -> Files {
    // A killed worker leaves a folder.
    let bytes = |path: PathBuf| if path.is_dir() { Vec::new() } else { fs::read(path).unwrap() };
    let read = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), bytes(entry.path()));
    fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect()
}

/// Two WARC files of one maker, and the manifest of them.
fn archives() -> Place {
    let place = place(1);
    place.write("in1.warc", &(0..PAGES).map(|number| record(1, number)).collect::<String>());
    place.write("manifest", "in0.warc\nin1.warc\n");
    place
}

/// Runs with these flags, and returns the files.
fn output(place: &Place, crawl: &str, workers: usize, flags: &[&str]) -> Files {
    dedup(place, crawl, crawl, "manifest", workers).args(flags).finish().expect_code(0);
    files(&place.path(crawl))
}

/// The lines of a kind of file, in the order of inputs.
fn lines(files: &Files, kind: &str) -> Vec<Value> {
    let of_kind = files.iter().filter(|(name, _)| name.ends_with(&format!(".{kind}.jsonl")));
    let text = of_kind.map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap()).collect::<String>();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(files: &Files) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn warc_output_has_the_records_of_kept_pages_as_they_were() {
    let place = archives();
    let plain = output(&place, "out_plain", 1, &[]);
    let kept = output(&place, "out_warc", 2, &["--kept", "warc"]);
    assert_eq!(
        names(&kept),
        ["000000.kept.warc.gz", "000000.verdicts.jsonl", "000001.kept.warc.gz", "000001.verdicts.jsonl"]
    );
    assert_eq!(lines(&kept, "verdicts"), lines(&plain, "verdicts"));
    for input in 0..2 {
        let mut copied = String::new();
        MultiGzDecoder::new(&kept[&format!("00000{input}.kept.warc.gz")][..]).read_to_string(&mut copied).unwrap();
        let verdicts = String::from_utf8(plain[&format!("00000{input}.verdicts.jsonl")].clone()).unwrap();
        let stored = |line: &str| serde_json::from_str::<Value>(line).unwrap()["outcome"] == "stored";
        let expected: String =
            verdicts.lines().enumerate().filter(|(_, line)| stored(line)).map(|(at, _)| record(input, at)).collect();
        assert!(copied == expected && !copied.is_empty(), "input {input}");
    }
    // What was written can be read, and holds no duplicate: all of it is kept again.
    place.write("again", "out_warc/000000.kept.warc.gz\nout_warc/000001.kept.warc.gz\n");
    let again = dedup(&place, "out_again", "again-out", "again", 1).args(["--json"]).finish().expect_code(0).json();
    assert_eq!(again["outcomes"], json!({ "stored": lines(&plain, "kept").len() }));

    // A worker that is killed between two files is replaced, and the bytes are the same.
    let killed = dedup(&place, "out_killed", "out_killed", "manifest", 1).args(["--kept", "warc"]);
    assert_eq!(killed.env("TEST_NDCRAWL_ABORT_AT", "kept").finish().signal, Some(6));
    assert!(files(&place.path("out_killed")).len() > 1);
    assert!(output(&place, "out_killed", 2, &["--kept", "warc"]) == kept);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn inputs_without_records_to_copy_are_refused_and_the_others_go_on() {
    let place = place(3);
    let finished = dedup(&place, "out_foreign", "out", "manifest", 2).args(["--kept", "warc"]).finish().expect_code(8);
    for input in ["in1", "in2.jsonl"] {
        let told = format!(
            "warning: input {input}: it is not WARC, so it has no records to copy: use --kept jsonl or parquet"
        );
        assert!(finished.stderr.contains(&told), "{}", finished.stderr);
    }
    assert_eq!(lines(&files(&place.path("out")), "verdicts").len(), PAGES);
}

const JOIN: &str = "
import json, sys, pyarrow.parquet as pq
for kind, columns in (('verdicts', ['record_id', 'url', 'outcome', 'duplicate_of', 'score', 'text']), ('kept', ['record_id', 'text'])):
    for number in range(2):
        for row in pq.read_table(f'{sys.argv[1]}/{number:06}.{kind}.parquet').select(columns).to_pylist():
            print(json.dumps({'kind': kind} | row))
";

const SPARK: &str = "
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()
verdicts, kept = (spark.read.parquet(f'{sys.argv[1]}/*.{kind}.parquet') for kind in ('verdicts', 'kept'))
print(verdicts.count(), verdicts.filter(\"outcome = 'stored'\").join(kept, 'record_id').count(), kept.count())
";

fn python(script: &str, folder: &Path) -> String {
    let output = Command::new("python3").args(["-c", script]).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn parquet_output_joins_by_the_id_of_the_record() {
    let place = archives();
    let plain = output(&place, "out_lines", 1, &[]);
    let tables = output(&place, "out_tables", 2, &["--kept", "parquet"]);
    assert_eq!(
        names(&tables),
        ["000000.kept.parquet", "000000.verdicts.parquet", "000001.kept.parquet", "000001.verdicts.parquet"]
    );
    assert!(output(&place, "out_tables_by_one", 1, &["--kept", "parquet"]) == tables);
    let (verdicts, kept) = (lines(&plain, "verdicts"), lines(&plain, "kept"));
    if has_for_part(&[PythonModule("pyarrow")]) {
        let field = |line: &Value, name: &str| line.get(name).cloned().unwrap_or_default();
        let verdict = |line: &Value| {
            let fields = ["record_id", "url", "outcome", "duplicate_of", "score"].map(|name| (name, field(line, name)));
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<serde_json::Map<_, _>>()
        };
        let rows = python(JOIN, &place.path("out_tables"));
        let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (of_verdicts, of_kept): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["kind"] == "verdicts");
        assert_eq!(
            of_verdicts.iter().map(|row| verdict(row)).collect::<Vec<_>>(),
            verdicts.iter().map(verdict).collect::<Vec<_>>()
        );
        assert!(of_verdicts.iter().all(|row| row["text"].is_null() && !row["record_id"].is_null()));
        let text = |row: &Value| (row["record_id"].clone(), row["text"].clone());
        assert_eq!(of_kept.iter().map(|row| text(row)).collect::<Vec<_>>(), kept.iter().map(text).collect::<Vec<_>>());
    }
    // Half a gigabyte and a Java beside it: not even CI has to have it.
    if let Some(need) = first_missing(&[PythonModule("pyspark"), Program("java")]) {
        say(&format!("the part with Spark skipped: {}", reason(need)));
    } else {
        let counts = python(SPARK, &place.path("out_tables"));
        assert_eq!(counts.trim(), format!("{} {} {}", verdicts.len(), kept.len(), kept.len()));
    }
}

#[cfg(feature = "s3")]
#[test]
#[cfg_attr(not(all(has_postgres, has_moto)), ignore = "needs postgresql and moto")]
fn a_bucket_holds_manifest_inputs_and_outputs() {
    let (place, store) = (archives(), crate::s3::Store::start());
    let expected = output(&place, "out_disk", 1, &["--kept", "warc"]);
    for name in ["in0.warc", "in1.warc"] {
        store.curl(&format!("pages/in/{name}"), &["-T", place.path(name).to_str().unwrap()]);
    }
    place.write("manifest", "s3://pages/in/in0.warc\ns3://pages/in/in1.warc\n");
    store.curl("pages/manifest", &["-T", place.path("manifest").to_str().unwrap()]);
    let url = LocalServers::shared().url();
    let run = |crawl: &'static str, manifest: &'static str, out: &'static str| {
        let shared = ["dedup", "--cluster", &url, "--cluster-name", crawl, "--kept", "warc", "--lease", "1500ms"];
        store.run(&place, shared.into_iter().chain(["--workers", "2", manifest, "-o", out]))
    };
    run("out_bucket", "s3://pages/manifest", "s3://pages/out").finish().expect_code(0);
    let written: Files = store.below("out/").into_iter().collect();
    // The names of inputs are no part of the output of WARC files.
    assert!(written == expected, "{:?}", written.keys());

    let killed = run("out_bucket_killed", "manifest", "s3://pages/killed").args(["--workers", "1"]);
    assert_eq!(killed.env("TEST_NDCRAWL_ABORT_AT", "kept").finish().signal, Some(6));
    assert!(store.below("killed/").keys().all(|name| name.ends_with(".kept.warc.gz")));
    run("out_bucket_killed", "manifest", "s3://pages/killed").finish().expect_code(0);
    assert!(store.below("killed/").into_iter().collect::<Files>() == expected);

    place.write("some", "s3://pages/in/in0.warc\ns3://pages/in/gone.warc\n");
    let gone = run("out_bucket_gone", "some", "s3://pages/gone").finish().expect_code(8);
    assert!(gone.stderr.contains("warning: input s3://pages/in/gone.warc: "), "{}", gone.stderr);

    let missing = run("out_bucket_none", "s3://pages/none", "s3://pages/none-out").finish().expect_code(2);
    assert!(missing.stderr.contains("s3://pages/none: "), "{}", missing.stderr);
    let nowhere = run("out_bucket_nowhere", "manifest", "s3://nowhere/out").finish().expect_code(2);
    assert!(nowhere.stderr.contains("s3://nowhere/out: "), "{}", nowhere.stderr);
}
