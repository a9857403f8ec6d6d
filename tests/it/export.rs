//! Exports of a crawl, read back, also by common tools.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ndcrawl::export::surt;
use ndcrawl::store::{WarcReader, WarcRecord};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::corpora;
use crate::foreign::{output, run};
use crate::needs::{Program, PythonModule, has_all, has_for_part, skip, tool};
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};

/// The folder of a crawl of the demo site.
fn demo() -> Place {
    let place = Place::new();
    place.run(["demo", "-q", "-o", "out"]).finish().expect_code(0);
    place
}

fn export(place: &Place, flags: &[&str]) -> Finished {
    place.run(["export", "out"]).args(flags).finish()
}

/// The lines with one of these outcomes.
fn lines_of(place: &Place, outcomes: &[&str]) -> Vec<Value> {
    let is_wanted = |line: &Value| outcomes.contains(&line["outcome"].as_str().unwrap());
    place.pages().into_iter().filter(is_wanted).collect()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_are_the_stored_pages_with_their_text() {
    let place = demo();
    let told = export(&place, &["--format", "jsonl", "-o", "pages.jsonl"]).expect_code(0);
    let rows = objects(&fs::read_to_string(place.path("pages.jsonl")).unwrap());
    let stored = lines_of(&place, &["stored"]);
    assert!(told.stdout.starts_with(&format!("{} pages, ", stored.len())), "{}", told.stdout);
    assert_eq!(rows.len(), stored.len());
    for (row, line) in rows.iter().zip(&stored) {
        for field in ["url", "digest", "title", "lang", "charset", "type", "fetched_at", "warc_offset"] {
            assert_eq!(row[field], line[field], "{field}");
        }
        assert!(row["text"].as_str().is_some_and(|text| text.len() > 100), "{row}");
        assert_eq!(row.as_object().unwrap().len(), 31);
        assert_eq!(row["final_url"], Value::Null);
    }
    // The name tells the format, or what is missing is said.
    export(&place, &["-o", "named.JSONL.gz", "-q"]).expect_code(0);
    let refused = export(&place, &["-o", "pages.docx"]).expect_code(2);
    assert!(refused.stderr.contains("the name 'pages.docx' tells no format"), "{}", refused.stderr);
    let refused = export(&place, &[]).expect_code(2);
    assert!(refused.stderr.contains("add --format parquet"), "{}", refused.stderr);
    let printed = export(&place, &["--format", "jsonl", "-o", "-", "-q"]).expect_code(0);
    assert_eq!(printed.stdout, fs::read_to_string(place.path("pages.jsonl")).unwrap());
    assert!(printed.stderr.is_empty(), "{}", printed.stderr);
}

#[test]
fn compressed_lines_are_the_same_lines() {
    let place = demo();
    for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"] {
        export(&place, &["--format", "jsonl", "--html", "-o", name]).expect_code(0);
    }
    let plain = fs::read_to_string(place.path("a.jsonl")).unwrap();
    let mut gzip = String::new();
    flate2::read::GzDecoder::new(File::open(place.path("a.jsonl.gz")).unwrap()).read_to_string(&mut gzip).unwrap();
    let zstd = zstd::decode_all(File::open(place.path("a.jsonl.zst")).unwrap()).unwrap();
    assert!(gzip == plain && zstd == plain.as_bytes());
    assert!(objects(&plain).iter().all(|row| row["html"].as_str().is_some_and(|html| html.contains("<html"))));
}

#[test]
fn a_parquet_file_has_the_rows_of_the_selected_outcomes() {
    let place = demo();
    export(&place, &["--format", "parquet", "--outcome", "all", "--noarchive", "ignore"]).expect_code(0);
    let file = File::open(place.path("out/parquet/pages-00000.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let lines = place.pages();
    let mut clusters = BTreeMap::new();
    let mut rows = 0;
    for (row, line) in reader.get_row_iter(None).unwrap().zip(&lines) {
        let row = row.unwrap();
        let names: Vec<&String> = row.get_column_iter().map(|(name, _)| name).collect();
        let at = |name: &str| names.iter().position(|found| *found == name).unwrap();
        assert_eq!(row.get_string(at("url")).unwrap(), line["url"].as_str().unwrap());
        assert_eq!(row.get_string(at("outcome")).unwrap(), line["outcome"].as_str().unwrap());
        assert_eq!(row.get_string(at("digest")).ok().map(String::as_str), line["digest"].as_str());
        assert_eq!(row.get_double(at("score")).ok(), line["score"].as_f64());
        let millis = line["fetched_at"].as_str().map(|time| time.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        assert_eq!(row.get_timestamp_millis(at("fetched_at")).ok(), millis);
        if let Ok(cluster) = row.get_string(at("cluster")) {
            let of = line["duplicate_of"].as_str().or(line["url"].as_str()).unwrap();
            assert_eq!(clusters.entry(of.to_owned()).or_insert(cluster.clone()), cluster);
        }
        rows += 1;
    }
    assert_eq!(rows, lines.len());
    assert_eq!(clusters.len(), lines_of(&place, &["stored"]).len());
}

#[test]
fn the_elected_page_replaces_its_cluster_on_request() {
    let place = Place::new();
    let words = |from: usize| (from..from + 60).map(|word| format!("word{word} ")).collect::<String>();
    let page = |author: &str, year: u32, text: &str| {
        format!(
            "<title>Tides</title><meta name=author content='{author}'>\
             <meta property='article:published_time' content='{year}-05-01'><p>{text}"
        )
    };
    fs::create_dir(place.path("site")).unwrap();
    place.write("site/a.html", &page("Ann", 2024, &words(0)));
    place.write("site/b.html", &page("Ben", 2020, &words(1)));
    place.write("site/c.html", &page("Cem", 2022, &words(500)));
    place
        .run(["dedup", "site", "--base", "http://a.test/", "-o", "out", "--keep-duplicates"])
        .args(["--weights", "paper", "-t", "0.8", "--min-free", "0"])
        .finish()
        .expect_code(0);
    let urls = |flags: &[&str]| -> Vec<String> {
        let printed = export(&place, &[&["--format", "jsonl", "-o", "-", "-q"], flags].concat()).expect_code(0);
        objects(&printed.stdout).iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(urls(&[]), ["http://a.test/a.html", "http://a.test/c.html"]);
    assert_eq!(urls(&["--representative", "elected"]), ["http://a.test/b.html", "http://a.test/c.html"]);
    let clusters = objects(&place.run(["clusters", "out", "--json"]).finish().expect_code(0).stdout);
    assert_eq!(clusters[0]["elected"], "http://a.test/b.html");
}

/// The folder of a run over a manual page with navigation around its text.
fn manual() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("site/guide")).unwrap();
    let prose = "A pump moves water from a low place to a high one, and a valve keeps it there. ".repeat(4);
    let page = format!(
        "<title>Pumps</title><nav><a href=/>Home</a> Menu</nav><main><h1>Pumps</h1><p>{prose}\
         <pre><code class=language-c>int f() {{\n  return 1;\n}}</code></pre>\
         <table><tr><th>Name<th>Price<tr><td>Hand pump<td>3</table><p>See <a href=valve.html>valves</a>.</main>\
         <footer>Imprint</footer>"
    );
    place.write("site/guide/pump.html", &page);
    place.run(["dedup", "site", "--base", "http://a.test/", "-o", "out", "--min-free", "0"]).finish().expect_code(0);
    place
}

#[test]
fn the_text_is_the_main_text_and_other_texts_are_columns_on_request() {
    let place = manual();
    let row = |flags: &[&str]| {
        let printed = export(&place, &[&["--format", "jsonl", "-o", "-", "-q"], flags].concat()).expect_code(0);
        objects(&printed.stdout).remove(0)
    };
    let main = row(&[]);
    let text = main["text"].as_str().unwrap();
    assert!(text.starts_with("Pumps\nA pump moves") && !text.contains("Menu") && !text.contains("Imprint"), "{text}");
    assert!(text.contains("\nint f() {\n  return 1;\n}\n"), "{text}");
    assert!(text.contains("\nName\tPrice\nHand pump\t3\n"), "{text}");
    assert!(!main.as_object().unwrap().contains_key("full_text"));

    let full = row(&["--text", "full"]);
    let all = full["text"].as_str().unwrap();
    assert!(all.starts_with("Home Menu") && all.ends_with("Imprint"), "{all}");
    assert!(!full.as_object().unwrap().contains_key("full_text"));

    let both = row(&["--text", "markdown,full,main", "--html"]);
    assert_eq!(both["text"], main["text"]);
    assert_eq!(both["full_text"], full["text"]);
    assert_eq!(both.as_object().unwrap().len(), main.as_object().unwrap().len() + 3);
    let markdown = both["markdown"].as_str().unwrap();
    for part in [
        "# Pumps\n\n",
        "```c\nint f() {\n  return 1;\n}\n```",
        "| Name | Price |\n| --- | --- |\n| Hand pump | 3 |",
        "[valves](http://a.test/guide/valve.html)",
    ] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }

    export(&place, &["--format", "parquet", "--text", "main,full,markdown", "-o", "a.parquet"]).expect_code(0);
    let reader = SerializedFileReader::new(File::open(place.path("a.parquet")).unwrap()).unwrap();
    let read = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    for (name, value) in read.get_column_iter() {
        if ["text", "full_text", "markdown"].contains(&name.as_str()) {
            assert_eq!(value.to_json_value(), both[name], "{name}");
        }
    }
}

#[test]
fn what_the_pages_of_a_host_repeat_is_no_main_text() {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    let about = "<div><b>About us</b> We have made pumps for farms and mines since the year of the flood.</div>";
    for (number, name) in ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple"].into_iter().enumerate() {
        let words = format!("The {name} is a tree that we know well by its {name} leaves. ").repeat(3 + number);
        place
            .write(&format!("site/{name}.html"), &format!("<title>{name}</title><h1>{name}</h1><p>{words}</p>{about}"));
    }
    place.run(["dedup", "site", "--base", "http://a.test/", "-o", "out", "--min-free", "0"]).finish().expect_code(0);
    let printed = export(&place, &["--format", "jsonl", "--text", "main,full", "-o", "-", "-q"]).expect_code(0);
    let rows = objects(&printed.stdout);
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert!(!row["text"].as_str().unwrap().contains("About us"), "{row}");
        assert!(row["full_text"].as_str().unwrap().contains("About us"), "{row}");
    }
}

#[test]
fn a_folder_of_markdown_has_a_file_for_each_page() {
    let place = manual();
    let told = export(&place, &["--format", "markdown", "-o", "pages"]).expect_code(0);
    assert!(told.stdout.starts_with("1 page, "), "{}", told.stdout);
    let file = fs::read_to_string(place.path("pages/a.test/guide/pump.md")).unwrap();
    assert!(file.starts_with("---\nurl: \"http://a.test/guide/pump.html\"\ntitle: \"Pumps\"\n"), "{file}");
    assert!(file.contains("---\n\n# Pumps\n\nA pump moves water") && file.ends_with("valve.html).\n"), "{file}");
    assert!(!place.path("pages.open").exists());
    let refused = export(&place, &["--format", "markdown", "-o", "pages"]).expect_code(2);
    assert!(refused.stderr.contains("pages: there is something already"), "{}", refused.stderr);
    let refused = export(&place, &["--format", "markdown", "-o", "-"]).expect_code(2);
    assert!(refused.stderr.contains("--text markdown"), "{}", refused.stderr);
}

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
    // The texts of near-duplicates are the crawl's own.
    let is_text = |record: &WarcRecord| record.kind() == "metadata" && record.block.starts_with(b"text: ");
    let count = |path: &Path| {
        let records = WarcReader::new(File::open(path).unwrap(), 0).map(Result::unwrap);
        records.filter(|record| !is_text(record)).count()
    };
    let own = fs::read_dir(place.path("out/warc")).unwrap().map(|file| count(&file.unwrap().path())).sum::<usize>();
    assert_eq!(count(&place.path("all.warc.gz")), own);
}

#[test]
fn rates_add_up_to_the_crawl() {
    let place = demo();
    let told = export(&place, &["--format", "csv", "-o", "-"]).expect_code(0);
    let rows: Vec<Vec<&str>> = told.stdout.lines().map(|line| line.split(',').collect()).collect();
    let count = |outcome: &str| lines_of(&place, &[outcome]).len().to_string();
    let (stored, near, exact) = (count("stored"), count("near-duplicate"), count("exact-duplicate"));
    assert_eq!(rows[0][..6], ["host", "pages", "stored", "near_duplicate", "exact_duplicate", "duplicate_rate"]);
    assert_eq!(rows[1][..1], ["127.0.0.1"]);
    assert_eq!(rows[1][2..5], [&stored, &near, &exact].map(String::as_str));
    assert_eq!(rows.len(), 2);
    let by_type = export(&place, &["--format", "csv", "--by", "type", "-o", "-"]).expect_code(0).stdout;
    assert!(by_type.starts_with("type,pages,") && by_type.contains("text/html,"), "{by_type}");
}

/// Pages in two languages, one of them marked noarchive, one in another charset.
struct Tongues;

impl Content for Tongues {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let page = |lang: &str, head: &str, text: &str| {
            let text = text.repeat(30);
            format!("<!doctype html><html lang={lang}><head><title>T</title>{head}</head><body><p>{text}</body></html>")
        };
        match url.splitn(4, '/').nth(3).unwrap_or_default() {
            "" => Answer::html(page("en", "", "Here is <a href=/de>one</a>, <a href=/private>two</a>. ")),
            "de" => {
                let body = page("de", "", "Über Größe läßt sich reden. ");
                let body = body.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>();
                Answer {
                    headers: vec![("content-type", "text/html; charset=iso-8859-1".to_owned())],
                    ..Answer::html(body)
                }
            }
            "private" => {
                Answer::html(page("en", "<meta name=robots content=noarchive>", "Not to be kept by anybody. "))
            }
            _ => Answer::error(404),
        }
    }
}

#[test]
fn pages_are_selected_by_language_and_host_without_noarchive_pages() {
    let web = Web::start(1, |_| Arc::new(Tongues));
    let place = Place::new();
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["--noarchive", "record"]).finish().expect_code(0);
    let rows = |flags: &[&str]| {
        let told = export(&place, &[&["--format", "jsonl", "-o", "-"], flags].concat()).expect_code(0);
        (objects(&told.stdout), told.stderr)
    };
    let (german, _) = rows(&["--lang", "DE"]);
    assert_eq!(german.len(), 1);
    assert!(german[0]["text"].as_str().unwrap().starts_with("Über Größe läßt sich reden."), "{}", german[0]);
    assert_eq!(german[0]["charset"], "windows-1252");
    let (all, told) = rows(&[]);
    assert_eq!(all.len(), 2);
    assert!(told.contains("1 page left out"), "{told}");
    assert_eq!(rows(&["--noarchive", "ignore", "--host", "127.0.0.1"]).0.len(), 3);
    assert_eq!(rows(&["--host", "other.test"]).0.len(), 0);
}

#[test]
fn a_running_crawl_a_missing_folder_and_a_damaged_archive_have_their_own_errors() {
    let place = Place::new();
    let nothing = export(&place, &["--format", "parquet"]).expect_code(2);
    assert!(
        nothing.errors()[0].contains("the folder holds no crawl") && nothing.stderr.contains("hint: "),
        "{}",
        nothing.stderr
    );
    fs::create_dir(place.path("out")).unwrap();
    export(&place, &["--format", "csv"]).expect_code(2);
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 0);
    place.run(["export", "out"]).finish().expect_code(2);

    let place = demo();
    let unknown = export(&place, &["--format", "csv", "--outcome", "kept"]).expect_code(2);
    assert!(unknown.errors()[0].contains("'kept' is none of stored, "), "{}", unknown.stderr);
    let archive = fs::read_dir(place.path("out/warc")).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&archive).unwrap();
    fs::write(&archive, &bytes[..bytes.len() / 4]).unwrap();
    for format in ["parquet", "jsonl", "warc", "cdxj"] {
        let broken = export(&place, &["--format", format, "-o", "new"]).expect_code(4);
        assert!(broken.errors()[0].contains("is damaged"), "{}", broken.stderr);
        assert!(place.names().iter().all(|name| !name.starts_with("new")), "{:?}", place.names());
    }
}

/// An endless site.
struct Slow;

impl Content for Slow {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let next = url.len();
        Answer { delay: Duration::from_millis(50), ..Answer::html(format!("<a href='{url}x'>{next}</a>")) }
    }
}

#[test]
fn a_running_crawl_is_not_exported_and_a_stopped_one_is_marked() {
    let web = Web::start(1, |_| Arc::new(Slow));
    let place = Place::new();
    let mut running = place.crawl(&[format!("{}/", web.origins()[0])]).start();
    assert!(
        running.wait_until(|| fs::read_to_string(place.path("out/pages.jsonl")).is_ok_and(|text| text.contains('\n')))
    );
    let refused = export(&place, &["--format", "csv", "-o", "-"]).expect_code(6);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("hint: wait until"), "{}", refused.stderr);
    running.signal("INT");
    running.finish().expect_code(130);
    let told = export(&place, &["--format", "csv", "-o", "-"]).expect_code(0);
    assert!(told.stderr.contains("the crawl is unfinished"), "{}", told.stderr);
}

#[test]
fn a_reader_may_leave_early() {
    let place = demo();
    let program = env!("CARGO_BIN_EXE_ndcrawl");
    let line = format!("set -o pipefail; {program} export out --format jsonl --html --outcome all -q -o - | head -1");
    let output = output(Command::new("bash").args(["-c", &line]).current_dir(place.path("")));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
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
        (["--format", "warc", "--shard-size", "8K", "-o", "x"], "--shard-size is for"),
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

#[test]
fn an_export_without_rows_is_a_table_with_its_columns() {
    let place = demo();
    let row = objects(&export(&place, &["--format", "jsonl", "-o", "-", "-q"]).expect_code(0).stdout).remove(0);
    let columns: Vec<&String> = row.as_object().unwrap().keys().collect();
    for name in ["none.parquet", "none.jsonl", "none.warc.gz", "none.csv"] {
        let told = export(&place, &["-o", name, "--host", "nowhere.test"]).expect_code(0);
        assert!(told.stdout.starts_with("0 "), "{name}: {}", told.stdout);
    }
    assert_eq!(fs::read_to_string(place.path("none.jsonl")).unwrap(), "");
    assert_eq!(fs::read_to_string(place.path("none.csv")).unwrap().lines().count(), 1, "the heading");
    let readers = ["pyarrow", "pandas", "polars", "duckdb"];
    let readers: Vec<&str> = readers.into_iter().filter(|reader| has_for_part(&[PythonModule(reader)])).collect();
    if readers.is_empty() {
        return;
    }
    let found = run(script("no_rows.py").arg(place.path("none.parquet")).args(&readers));
    let found: Value = serde_json::from_str(&found).unwrap();
    for reader in readers {
        let mut seen: Vec<&str> = found[reader].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, columns, "{reader}");
    }
    if has_for_part(&[Program("warcio")]) {
        run(Command::new("warcio").arg("check").arg(place.path("none.warc.gz")));
    }
}

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

fn script(name: &str) -> Command {
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
