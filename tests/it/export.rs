//! Exports of a crawl: rows, texts, rates and what is selected.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::export_tools::script;
use crate::foreign::{output, run};
use crate::needs::{Program, PythonModule, has_for_part};
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};

/// The folder of a crawl of the demo site.
pub fn demo() -> Place {
    let place = Place::new();
    place.run(["demo", "-q", "-o", "out"]).finish().expect_code(0);
    place
}

pub fn export(place: &Place, flags: &[&str]) -> Finished {
    place.run(["export", "out"]).args(flags).finish()
}

/// The lines with one of these outcomes.
pub fn lines_of(place: &Place, outcomes: &[&str]) -> Vec<Value> {
    let is_wanted = |line: &Value| outcomes.contains(&line["outcome"].as_str().unwrap());
    place.pages().into_iter().filter(is_wanted).collect()
}

pub fn objects(text: &str) -> Vec<Value> {
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
        assert_eq!(row.as_object().unwrap().len(), 35);
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
        .args(["--detector-option", "second_check=none", "-t", "0.8", "--min-free", "0"])
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
