//! Exports that are archives, and folders of files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;

use ndcrawl::store::{WarcReader, WarcRecord};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::export::{demo, export, lines_of, objects};
use crate::export_tools::script;
use crate::foreign::run;
use crate::needs::{Program, PythonModule, has_for_part};
use crate::program::Place;

#[test]
fn a_warc_file_has_the_records_of_the_selected_pages_and_an_index_that_finds_them() {
    let place = demo();
    export(&place, &["--format", "warc", "-o", "a.warc.gz"]).expect_code(0);
    let records: Vec<_> =
        WarcReader::new(File::open(place.path("a.warc.gz")).unwrap(), 0).map(Result::unwrap).collect();
    let kinds = |kind: &str| records.iter().filter(|record| record.kind() == kind).count();
    let stored = lines_of(&place, &["stored"]);
    assert_eq!((records[0].kind(), kinds("warcinfo")), ("warcinfo", 1));
    assert_eq!(
        (kinds("response"), kinds("request"), records.len()),
        (stored.len(), stored.len(), stored.len() * 2 + 1)
    );
    let digests: Vec<_> = records.iter().filter_map(|record| record.field("WARC-Payload-Digest")).collect();
    assert_eq!(digests, stored.iter().map(|line| line["digest"].as_str().unwrap()).collect::<Vec<_>>());

    let index = fs::read_to_string(place.path("a.cdxj")).unwrap();
    assert!(index.lines().is_sorted());
    assert_eq!(index.lines().count(), stored.len());
    for line in index.lines() {
        let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let offset: u64 = fields["offset"].as_str().unwrap().parse().unwrap();
        let record = records.iter().find(|record| record.offset == offset).unwrap();
        assert_eq!(record.field("WARC-Target-URI"), fields["url"].as_str());
        assert_eq!(record.length.to_string(), fields["length"].as_str().unwrap());
    }

    export(&place, &["--format", "warc", "--outcome", "all", "-o", "all.warc.gz"]).expect_code(0);
    // The texts of near-duplicates and the files of the site are the crawl's own.
    let is_text = |record: &WarcRecord| record.kind() == "metadata" && record.block.starts_with(b"text: ");
    let is_own = |record: &WarcRecord| is_text(record) || record.field("Site-File").is_some();
    let count = |path: &Path| {
        let records = WarcReader::new(File::open(path).unwrap(), 0).map(Result::unwrap);
        records.filter(|record| !is_own(record)).count()
    };
    let own = fs::read_dir(place.path("out/warc")).unwrap().map(|file| count(&file.unwrap().path())).sum::<usize>();
    assert_eq!(count(&place.path("all.warc.gz")), own);
}

#[test]
fn a_wacz_file_is_valid_and_holds_the_pages() {
    let place = demo();
    let told = export(&place, &["-o", "pages.wacz"]).expect_code(0);
    let stored = lines_of(&place, &["stored"]);
    assert!(told.stdout.starts_with(&format!("{} pages, ", stored.len())), "{}", told.stdout);
    assert!(!place.path("pages.wacz.parts.open").exists());
    let refused = export(&place, &["--format", "wacz", "-o", "-"]).expect_code(2);
    assert!(refused.stderr.contains("not standard output"), "{}", refused.stderr);
    // Our own reader finds the pages of its archive.
    place.run(["dedup", "pages.wacz", "-o", "again", "--min-free", "0", "-q"]).finish().expect_code(0);
    assert_eq!(crate::program::pages(&place.path("again")).len(), stored.len());
    if has_for_part(&[Program("wacz")]) {
        println!("{}", run(Command::new("wacz").args(["validate", "-f"]).arg(place.path("pages.wacz"))));
    }
}

#[test]
fn rows_may_be_cut_into_files_of_a_size() {
    let place = demo();
    let whole = export(&place, &["--format", "jsonl", "-o", "-", "-q"]).expect_code(0).stdout;
    for (format, folder, ending) in
        [("jsonl", "lines", "jsonl"), ("jsonl", "packed.jsonl.gz", "jsonl.gz"), ("parquet", "tables", "parquet")]
    {
        let flags = ["--format", format, "-o", folder, "--shard-size", "8K"];
        let told = export(&place, &flags).expect_code(0);
        assert!(told.stdout.starts_with(&format!("{} pages, ", whole.lines().count())), "{}", told.stdout);
        let mut paths: Vec<_> = fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let names = paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
        let expected = (0..paths.len()).map(|shard| format!("pages-{shard:05}-of-{:05}.{ending}", paths.len()));
        assert_eq!(names.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        // A compression holds more back than the demo has.
        assert!(paths.len() > 1 || ending == "jsonl.gz", "{paths:?}");
        match ending {
            "parquet" => {
                let rows = |path| {
                    SerializedFileReader::new(File::open(path).unwrap()).unwrap().get_row_iter(None).unwrap().count()
                };
                assert_eq!(paths.iter().map(rows).sum::<usize>(), whole.lines().count());
            }
            "jsonl" => {
                let read = |path| fs::read_to_string(path).unwrap();
                assert!(paths.iter().map(read).collect::<String>() == whole);
            }
            _ => {
                let mut text = String::new();
                for path in &paths {
                    flate2::read::GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
                }
                assert!(text == whole);
            }
        }
        let refused = export(&place, &flags).expect_code(2);
        assert!(refused.stderr.contains("there is something already"), "{}", refused.stderr);
    }
    for (flags, told) in [
        (["--format", "wacz", "--shard-size", "8K", "-o", "x"], "--shard-size is for"),
        (["--format", "jsonl", "--shard-size", "8K", "-o", "-"], "--shard-size writes a folder"),
    ] {
        let refused = export(&place, &flags).expect_code(2);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

/// Loads a data set folder with `datasets`.
fn loaded(place: &Place, folder: &str) -> Value {
    let mut load = script("dataset.py");
    serde_json::from_str(&run(load.arg(place.path(folder)).arg(place.path("cache")))).unwrap()
}

#[test]
fn a_data_set_folder_has_a_card_and_is_loaded_as_it_says() {
    let place = demo();
    let rows = export(&place, &["--format", "jsonl", "-o", "-", "-q"]).expect_code(0).stdout;
    let rows = objects(&rows);
    let told = export(&place, &["--format", "dataset", "-o", "set", "--shard-size", "4K"]).expect_code(0);
    assert!(told.stdout.starts_with(&format!("{} pages, ", rows.len())), "{}", told.stdout);
    let mut names: Vec<String> = fs::read_dir(place.path("set/data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = (0..names.len()).map(|shard| format!("train-{shard:05}-of-{:05}.parquet", names.len()));
    assert_eq!(names, expected.collect::<Vec<_>>());
    assert!(names.len() > 2, "{names:?}");
    let card = fs::read_to_string(place.path("set/README.md")).unwrap();
    for part in [
        "---\nconfigs:",
        "language:\n- \"de\"\n- \"en\"\n",
        "- n<1K\n",
        "| stored | ",
        "| near-duplicate | ",
        "| (none) | ",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(!place.path("set.open").exists());
    let refused = export(&place, &["--format", "dataset", "-o", "set"]).expect_code(2);
    assert!(refused.stderr.contains("set: there is something already"), "{}", refused.stderr);
    let none = export(&place, &["--format", "dataset", "-o", "none", "--host", "nowhere.test"]).expect_code(0);
    assert!(none.stderr.contains("note: no page was selected"), "{}", none.stderr);
    assert!(place.path("none/data/train-00000-of-00001.parquet").exists());
    export(&place, &["--format", "dataset", "-o", "texts", "--text", "main,full,markdown", "--html"]).expect_code(0);
    if !has_for_part(&[PythonModule("datasets")]) {
        return;
    }
    let found = loaded(&place, "set");
    assert_eq!(found["rows"], rows.len());
    assert_eq!((&found["told"], &found["as_told"]), (&found["rows"], &Value::from(true)), "{found}");
    assert_eq!(found["urls"], rows.iter().map(|row| row["url"].clone()).collect::<Value>());
    let texts: usize = rows.iter().filter_map(|row| row["text"].as_str()).map(|text| text.chars().count()).sum();
    assert_eq!(found["texts"], texts);
    assert_eq!(loaded(&place, "texts")["rows"], rows.len());
}

/// The records of a WARC file, without `warcinfo`.
fn records(bytes: &[u8]) -> Vec<WarcRecord> {
    let records = WarcReader::new(bytes, 0).map(Result::unwrap);
    records.filter(|record| record.kind() != "warcinfo").collect()
}

#[test]
fn an_archive_may_be_cut_into_files_of_a_size_with_one_index() {
    let place = demo();
    export(&place, &["--format", "warc", "-o", "whole.warc.gz"]).expect_code(0);
    let whole = records(&fs::read(place.path("whole.warc.gz")).unwrap());
    let told = export(&place, &["--format", "warc", "-o", "parts", "--shard-size", "16K"]).expect_code(0);
    assert!(told.stdout.contains("index: parts/pages.cdxj"), "{}", told.stdout);
    let mut names: Vec<String> = fs::read_dir(place.path("parts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "pages.cdxj")
        .collect();
    names.sort();
    let expected: Vec<String> = (0..names.len()).map(|shard| format!("pages-{shard:05}.warc.gz")).collect();
    assert!(names.len() > 2 && names == expected, "{names:?}");

    let id = |record: &WarcRecord| record.field("WARC-Record-ID").unwrap().to_owned();
    let mut found = Vec::new();
    for name in &names {
        let bytes = fs::read(place.path("parts").join(name)).unwrap();
        let first = WarcReader::new(&bytes[..], 0).next().unwrap().unwrap();
        assert_eq!((first.kind(), first.field("WARC-Filename")), ("warcinfo", Some(name.as_str())));
        let of_file = records(&bytes);
        // A file is closed with the page with which it reaches the size.
        let last_page = of_file.iter().rposition(|record| record.kind() == "response").unwrap();
        assert!(of_file[last_page].offset < 16 * 1024, "{name}");
        found.extend(of_file.iter().map(id));
    }
    assert_eq!(found, whole.iter().map(id).collect::<Vec<_>>());

    let index = fs::read_to_string(place.path("parts/pages.cdxj")).unwrap();
    assert!(index.lines().is_sorted());
    assert_eq!(index.lines().count(), whole.iter().filter(|record| record.kind() == "response").count());
    for line in index.lines() {
        let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let bytes = fs::read(place.path("parts").join(fields["filename"].as_str().unwrap())).unwrap();
        let offset: usize = fields["offset"].as_str().unwrap().parse().unwrap();
        let record = WarcReader::new(&bytes[offset..], 0).next().unwrap().unwrap();
        assert_eq!(record.field("WARC-Target-URI"), fields["url"].as_str());
    }
    place.run(["dedup", "parts", "-o", "again", "--min-free", "0", "-q"]).finish().expect_code(0);
    assert_eq!(crate::program::pages(&place.path("again")).len(), lines_of(&place, &["stored"]).len());
    export(&place, &["--format", "warc", "-o", "plain.warc", "--shard-size", "1G"]).expect_code(0);
    assert!(fs::read(place.path("plain.warc/pages-00000.warc")).unwrap().starts_with(b"WARC/1.1\r\n"));
}
