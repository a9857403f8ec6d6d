//! Documents of tables and of JSON: which are read, how they are named, and what is said of those that are not.

use serde_json::{Value, json};

use crate::foreign::run;
use crate::needs::{PythonModule, has_all, tool};
use crate::program::{Finished, Place, pages};

/// A text that shares hardly a word with the texts of other numbers.
fn text(number: usize) -> String {
    (0..60).map(|word| format!("word{number}x{word} ")).collect()
}

fn dedup(place: &Place, inputs: &[&str], flags: &[&str]) -> Finished {
    place
        .run(["dedup"])
        .args(inputs)
        .args(["-o", "out", "--min-free", "0", "--no-report", "--json", "--fresh", "--force"])
        .args(flags)
        .finish()
}

/// URL, outcome and original of each line, in order.
fn told(place: &Place) -> Vec<(String, String, Option<String>)> {
    let field = |line: &Value, name: &str| line[name].as_str().map(str::to_owned);
    let line =
        |line: &Value| (field(line, "url").unwrap(), field(line, "outcome").unwrap(), field(line, "duplicate_of"));
    place.pages().iter().map(line).collect()
}

fn stored(url: &str) -> (String, String, Option<String>) {
    (url.to_owned(), "stored".to_owned(), None)
}

fn copy(url: &str, of: &str) -> (String, String, Option<String>) {
    (url.to_owned(), "exact-duplicate".to_owned(), Some(of.to_owned()))
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn documents_without_url_are_known_by_their_id_or_by_file_and_line() {
    let place = Place::new();
    place.write(
        "a.jsonl",
        &lines(&[
            json!({"id": 0, "text": text(0)}),
            json!({"id": "urn:isbn:1", "text": text(1)}),
            json!({"text": text(0)}),
            json!({"id": 0, "text": text(2)}),
            json!({"url": "docs/3.md", "id": "three", "text": text(3)}),
        ]),
    );
    place.write(
        "b.jsonl",
        &lines(&[
            json!({"id": 0, "text": text(4)}),
            json!({"id": 1, "text": text(2)}),
            json!({"url": "http://a.test/", "id": "page", "text": text(5)}),
        ]),
    );
    let summary = dedup(&place, &["a.jsonl", "b.jsonl"], &[]).expect_code(0).json();
    let expected = [
        stored("0"),
        stored("urn:isbn:1"),
        copy("a.jsonl#3", "0"),
        stored("a.jsonl#4"),
        stored("docs/3.md"),
        stored("b.jsonl#1"),
        copy("1", "a.jsonl#4"),
        stored("http://a.test/"),
    ];
    assert_eq!(told(&place), expected);
    assert_eq!((&summary["without_url"], &summary["renamed"]), (&json!(7), &json!(2)), "{summary}");
    let ids: Vec<Value> = place.pages().iter().map(|line| json!([line["file"], line["line"], line["id"]])).collect();
    assert_eq!(ids[0], json!(["a.jsonl", 1, "0"]));
    assert_eq!(ids[2], json!(["a.jsonl", 3, null]));
    assert_eq!(ids[3], json!(["a.jsonl", 4, "0"]));
    assert_eq!(ids[4], json!(["a.jsonl", 5, "three"]));
    assert_eq!(ids[7], json!(["b.jsonl", 3, "page"]));
    assert_eq!(place.pages()[6]["duplicate_file"], "a.jsonl");

    // All else that reads the folder.
    place.run(["verify", "out"]).finish().expect_code(0);
    let clusters = place.run(["clusters", "out", "--json"]).finish().expect_code(0).stdout;
    assert!(clusters.contains("a.jsonl#4"), "{clusters}");
    let explained = place.run(["explain", "out", "a.jsonl#3"]).finish().expect_code(0).stdout;
    assert!(explained.contains("read from a.jsonl, line or row 3"), "{explained}");
    assert!(!explained.contains("row://"), "{explained}");
    let compared = place.run(["explain", "out", "0", "docs/3.md"]).finish().expect_code(0).stdout;
    assert!(compared.contains("docs/3.md"), "{compared}");
    place.run(["report", "out", "-o", "r.html"]).finish().expect_code(0);
    let report = std::fs::read_to_string(place.path("r.html")).unwrap();
    assert!(report.contains("b.jsonl") && !report.contains("row://"), "{report}");

    place.run(["export", "out", "--format", "jsonl", "-o", "x.jsonl"]).finish().expect_code(0);
    let exported = std::fs::read_to_string(place.path("x.jsonl")).unwrap();
    let exported: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |url: &str| exported.iter().find(|row| row["url"] == url).unwrap();
    assert_eq!(row("b.jsonl#1")["text"].as_str().map(str::trim), Some(text(4).trim()));
    assert_eq!((&row("b.jsonl#1")["id"], &row("http://a.test/")["id"]), (&json!("0"), &json!("page")));
    place.run(["export", "out", "--format", "parquet", "-o", "x.parquet"]).finish().expect_code(0);
    place.run(["export", "out", "--format", "warc", "-o", "x.warc.gz"]).finish().expect_code(0);
    let mut warc = String::new();
    let file = std::fs::File::open(place.path("x.warc.gz")).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut warc).unwrap();
    assert!(warc.contains("Row-Id: urn:isbn:1\r\n") && warc.contains("Row-File: b.jsonl\r\n"), "{warc}");
    assert!(warc.contains("WARC-Target-URI: row://a.jsonl?id=urn%3Aisbn%3A1\r\n"), "{warc}");

    // The rows of the export keep their names.
    let again = place.run(["dedup", "x.parquet", "-o", "again", "--min-free", "0", "--json"]).finish().expect_code(0);
    assert_eq!(again.json()["outcomes"]["stored"], 6, "{}", again.stdout);
    let names: Vec<Value> = pages(&place.path("again")).iter().map(|line| line["url"].clone()).collect();
    assert_eq!(names[..2], [json!("0"), json!("urn:isbn:1")]);
}

#[test]
fn a_run_with_more_files_names_documents_as_one_run_would() {
    let place = Place::new();
    let shard =
        |shard: usize| lines(&(0..3).map(|row| json!({"id": row, "text": text(shard * 10 + row)})).collect::<Vec<_>>());
    place.write("a.jsonl", &shard(0));
    place.write("b.jsonl", &shard(1));
    let dedup = |inputs: &[&str]| {
        let run = place.run(["dedup"]).args(inputs).args(["-o", "out", "--min-free", "0", "--json"]);
        run.finish().expect_code(0).json()
    };
    dedup(&["a.jsonl"]);
    let second = dedup(&["b.jsonl"]);
    assert_eq!((&second["known"], &second["answers"]), (&json!(0), &json!(3)));
    for inputs in [&["b.jsonl"][..], &["a.jsonl", "./b.jsonl"], &["b.jsonl", "a.jsonl"]] {
        let again = dedup(inputs);
        assert_eq!(again["known"], again["answers"], "{inputs:?}: {again}");
    }
    let expected = ["0", "1", "2", "b.jsonl#1", "b.jsonl#2", "b.jsonl#3"].map(stored);
    assert_eq!(told(&place), expected);
}

#[test]
fn rows_are_read_leniently_and_fields_by_path() {
    let place = Place::new();
    let row = |end: &str, other: &str| {
        format!("{{\"m\": {{\"url\": \"http://a.test/{end}\"}}, {other}, \"text\": \"{}\"}}", text(end.len()))
    };
    let rows = [
        row("1", "\"score\": NaN"),
        row("22", "\"score\": [-Infinity, 1e999]"),
        row("333", "\"title\": \"\\ud83d\""),
        row("4444", &format!("\"deep\": {}1{}", "[".repeat(3000), "]".repeat(3000))),
        row("55555", "\"text\": \"first\""),
    ];
    place.write("a.jsonl", &rows.join("\n"));
    let summary =
        dedup(&place, &["a.jsonl"], &["--url-field", "m.url", "--keep-columns", "score,m.url"]).expect_code(0);
    assert_eq!(summary.json()["damaged"], 0, "{}", summary.stderr);
    let ends = ["1", "22", "333", "4444", "55555"];
    assert_eq!(told(&place), ends.map(|end| stored(&format!("http://a.test/{end}"))));
    assert_eq!(place.pages()[0]["columns"], json!({"score": "NaN", "m.url": "http://a.test/1"}));
    place.run(["export", "out", "--format", "jsonl", "-o", "x.jsonl"]).finish().expect_code(0);
    assert!(std::fs::read_to_string(place.path("x.jsonl")).unwrap().contains("\"columns\":{\"m.url\":"));
}

#[test]
fn arrays_pretty_objects_and_csv_are_read() {
    let place = Place::new();
    let rows: Vec<Value> = (0..3).map(|row| json!({"id": format!("d{row}"), "text": text(row)})).collect();
    place.write("array.json", &Value::from(rows.clone()).to_string());
    place.write("pretty.json", &serde_json::to_string_pretty(&rows).unwrap());
    let pretty: Vec<String> = rows.iter().map(|row| serde_json::to_string_pretty(row).unwrap()).collect();
    place.write("one-by-one.json", &pretty.join("\n"));
    let cells: Vec<String> = (0..3).map(|row| format!("d{row},\"{}\"\r\n", text(row))).collect();
    place.write("table.csv", &format!("id,text\r\n{}", cells.concat()));
    place.write("table.unknown", &format!("id\ttext\n{}", cells.concat().replace(',', "\t")));
    for name in ["array.json", "pretty.json", "one-by-one.json", "table.csv", "table.unknown"] {
        dedup(&place, &[name], &[]).expect_code(0);
        assert_eq!(told(&place), ["d0", "d1", "d2"].map(stored), "{name}");
    }
}

#[test]
fn an_unknown_time_is_null_and_a_known_one_is_read() {
    let place = Place::new();
    let times = [
        (json!(null), None),
        (json!("yesterday"), None),
        (json!(0), None),
        (json!("2016-09"), Some("2016-09-01T00:00:00.000Z")),
        (json!("2016-09-19 17:20:24"), Some("2016-09-19T17:20:24.000Z")),
        (json!(1_474_305_624), Some("2016-09-19T17:20:24.000Z")),
        (json!(1_474_305_624_500u64), Some("2016-09-19T17:20:24.500Z")),
    ];
    let rows = times.iter().enumerate().map(|(row, (time, _))| json!({"text": text(row), "fetched_at": time}));
    place.write("a.jsonl", &lines(&rows.collect::<Vec<_>>()));
    dedup(&place, &["a.jsonl"], &[]).expect_code(0);
    let read: Vec<Option<String>> =
        place.pages().iter().map(|line| line["fetched_at"].as_str().map(str::to_owned)).collect();
    assert_eq!(read, times.map(|(_, expected)| expected.map(str::to_owned)));
    place.run(["export", "out", "--format", "jsonl", "-o", "x.jsonl"]).finish().expect_code(0);
    let exported = std::fs::read_to_string(place.path("x.jsonl")).unwrap();
    assert!(exported.contains("\"fetched_at\":null") && !exported.contains("1970"), "{exported}");
    place.run(["export", "out", "--format", "warc", "-o", "x.warc"]).finish().expect_code(0);
    assert!(!std::fs::read_to_string(place.path("x.cdxj")).unwrap_or_default().contains(" 1970"));
}

#[test]
fn an_input_that_gives_nothing_is_named_and_changes_the_exit_code() {
    let place = Place::new();
    let row = |row: usize| json!({"id": row, "text": text(row)});
    place.write("good.jsonl", &lines(&[row(0), row(1)]));
    place.write("damaged.jsonl", &format!("{}nonsense\n", lines(&[row(2)])));
    place.write("empty.jsonl", "");
    place.write("textless.jsonl", &lines(&[json!({"id": 1, "body": "x"}), json!({"id": 2})]));
    place.write("cut.json", &format!("[{}, {{\"id\": 4", row(3)));
    place.write("strange.bin", "\u{1}\u{2}");
    std::fs::create_dir(place.path("folder")).unwrap();
    place.write("folder/a.xyz", "SQLite format 3\0");
    place.write("folder/b.xyz", "SQLite format 3\0");

    // One damaged row is no input without pages.
    dedup(&place, &["good.jsonl", "damaged.jsonl"], &[]).expect_code(0);
    for (inputs, code) in [
        (&["good.jsonl", "empty.jsonl"][..], 8),
        (&["good.jsonl", "textless.jsonl"], 8),
        (&["cut.json"], 8),
        (&["empty.jsonl"], 1),
        (&["textless.jsonl", "strange.bin"], 1),
        (&["folder"], 1),
    ] {
        let finished = dedup(&place, inputs, &[]).expect_code(code);
        let said = finished.stderr.contains("no input gave a page");
        assert_eq!(said, code == 1, "{inputs:?}: {}", finished.stderr);
    }

    let summary =
        dedup(&place, &["good.jsonl", "textless.jsonl", "cut.json", "strange.bin"], &[]).expect_code(8).json();
    assert_eq!(
        (&summary["inputs"], &summary["inputs_with_pages"], &summary["poor_inputs"]),
        (&json!(4), &json!(2), &json!(3)),
        "{summary}"
    );
    let poor =
        |at: usize, fields: &[&str]| fields.iter().map(|name| summary["poor"][at][name].clone()).collect::<Vec<_>>();
    let fields = ["file", "format", "pages", "damaged", "breaks_off"];
    assert_eq!(poor(0, &fields), [json!("textless.jsonl"), json!("JSON"), json!(0), json!(2), json!(false)]);
    assert_eq!(poor(1, &fields), [json!("cut.json"), json!("JSON"), json!(1), json!(1), json!(true)]);
    assert_eq!(poor(2, &fields)[..2], [json!("strange.bin"), json!("unknown format")]);

    let text = place
        .run(["dedup", "folder", "good.jsonl", "textless.jsonl", "-o", "text", "--min-free", "0"])
        .finish()
        .expect_code(8)
        .stdout;
    assert!(text.contains("files ignored     2 .xyz (not read: a database of SQLite)"), "{text}");
    assert!(text.contains("textless.jsonl (JSON): no page, 2 damaged: no text in 'html'"), "{text}");
    // A run that has nothing new to read has read it all the same.
    place.run(["dedup", "good.jsonl", "-o", "text", "--min-free", "0"]).finish().expect_code(0);
}

#[test]
fn a_damaged_member_of_compressed_lines_costs_its_rows() {
    let place = Place::new();
    let member = |row: usize| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let line = lines(&[json!({"id": row, "text": text(row)})]);
        std::io::Write::write_all(&mut encoder, line.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let mut members: Vec<Vec<u8>> = (0..5).map(member).collect();
    let middle = members[2].len() / 2;
    members[2][middle] ^= 0xff;
    std::fs::write(place.path("rows.jsonl.gz"), members.concat()).unwrap();
    dedup(&place, &["rows.jsonl.gz"], &[]).expect_code(0);
    let names: Vec<Value> = place.pages().iter().map(|line| line["url"].clone()).collect();
    assert_eq!(names, [json!("0"), json!("1"), json!("3"), json!("4")]);
    // One that is cut is told, and what came before is kept.
    std::fs::write(place.path("cut.jsonl.gz"), &members[..2].concat()[..members[0].len() + middle]).unwrap();
    dedup(&place, &["cut.jsonl.gz"], &[]).expect_code(8);
    assert_eq!(place.pages().len(), 1);
}

#[test]
fn rates_of_a_dedup_have_a_line_for_each_host_or_file() {
    let place = Place::new();
    let rows: Vec<Value> =
        (0..8).map(|row| json!({"url": format!("http://h{}.test/{row}", row % 2), "text": text(row / 2)})).collect();
    place.write("a.jsonl", &lines(&rows));
    place.write("b.jsonl", &lines(&[json!({"text": text(0)}), json!({"text": text(9)})]));
    dedup(&place, &["a.jsonl", "b.jsonl"], &[]).expect_code(0);
    let rates = |by: &str| {
        let run = place.run(["export", "out", "--format", "csv", "--by", by, "-o", "-", "-q"]);
        run.finish().expect_code(0).stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let host = rates("host");
    assert!(host[1].starts_with("b.jsonl,2,1,0,1,0.500000"), "{host:?}");
    assert!(host[2].starts_with("h0.test,4,4,0,0,0.000000"), "{host:?}");
    assert!(host[3].starts_with("h1.test,4,0,0,4,1.000000"), "{host:?}");
    for by in ["domain", "lang", "type"] {
        assert!(rates(by).len() > 1, "{by}");
    }
    // The report draws the growth of unique pages by the responses that were read.
    place.run(["report", "out", "-o", "r.html"]).finish().expect_code(0);
    let report = std::fs::read_to_string(place.path("r.html")).unwrap();
    assert!(report.contains("10 responses yielded 5 unique pages"), "{report}");
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn tables_of_each_maker_are_read() {
    for maker in ["pyarrow", "pandas", "polars", "duckdb"] {
        if !has_all(&[PythonModule(maker)]) {
            continue;
        }
        let place = Place::new();
        std::fs::create_dir(place.path("t")).unwrap();
        let mut python = std::process::Command::new("python3");
        run(python.arg(tool("make-tables.py")).arg(maker).arg(place.path("t")));
        let mut names: Vec<String> = std::fs::read_dir(place.path("t"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let input = format!("t/{name}");
            let flags = if name.starts_with("struct") { &["--url-field", "metadata.url"][..] } else { &[] };
            let finished = dedup(&place, &[&input], flags).expect_code(0);
            let expected: Vec<_> = (0..4).map(|row| stored(&format!("http://t.test/{row}"))).collect();
            assert_eq!(told(&place), expected, "{maker}: {name}: {}", finished.stderr);
            let has_time =
                !["large-string", "dictionary", "struct", "string-view"].iter().any(|kind| name.starts_with(kind));
            for line in place.pages().iter().filter(|_| has_time) {
                let time = line["fetched_at"].as_str().unwrap_or_default();
                assert!(time.starts_with("2016-09-19"), "{maker}: {name}: {line}");
            }
        }
    }
}
