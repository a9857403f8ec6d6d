//! The user's own files: which are read, what of them comes through, and how rows are given back.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::needs::{PythonModule, has_all};
use crate::program::{Finished, Place};

/// A text that shares hardly a word with the texts of other numbers.
fn text(number: usize) -> String {
    (0..60).map(|word| format!("word{number}x{word} ")).collect()
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn dedup(place: &Place, inputs: &[&str], flags: &[&str]) -> Finished {
    let run = place.run(["dedup"]).args(inputs);
    run.args(["-o", "out", "--min-free", "0", "--no-report", "--json", "--fresh", "--force"]).args(flags).finish()
}

fn stored(finished: &Finished) -> Value {
    finished.json()["outcomes"]["stored"].clone()
}

/// Rows of which the third repeats the first, and the fourth has another line end, form and mark than the second.
fn rows() -> Vec<Value> {
    vec![
        json!({"id": "a", "text": text(1), "n": 1, "deep": {"k": [1, null]}}),
        json!({"id": "b", "text": "Café\nau port", "n": 2}),
        json!({"id": "c", "text": text(1), "n": 3}),
        json!({"id": "d", "text": "\u{feff}Cafe\u{301}\r\nau port", "n": 4}),
        json!({"id": "e", "text": format!("  {}\r\n", text(5)), "n": 5}),
    ]
}

#[test]
fn files_of_one_name_in_two_folders_are_two_documents_in_any_run() {
    let place = Place::new();
    for folder in ["2023", "2024"] {
        fs::create_dir(place.path(folder)).unwrap();
        for number in 1..=3 {
            place.write(
                &format!("{folder}/{number}.txt"),
                &text(number * folder.len() * if folder == "2023" { 1 } else { 7 }),
            );
        }
    }
    assert_eq!(stored(&dedup(&place, &["2023", "2024"], &[]).expect_code(0)), 6);
    for input in ["2023", "./2024", "2023/1.txt"] {
        let later = place.run(["dedup", input, "-o", "later", "--min-free", "0", "--json"]).finish().expect_code(0);
        assert_eq!(later.json()["outcomes"]["stored"], if input == "2023" { 3 } else { 6 }, "{input}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_utf_8_and_links_are_files_like_others() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    for (number, name) in [&b"\xff.txt"[..], b"\xfe.txt", b"caf\xe9.txt", "caf\u{e9}.txt".as_bytes()].iter().enumerate()
    {
        fs::write(place.path("in").join(std::ffi::OsStr::from_bytes(name)), text(number)).unwrap();
    }
    place.write("blob", &text(9));
    std::os::unix::fs::symlink(place.path("blob"), place.path("in/link.txt")).unwrap();
    assert_eq!(stored(&dedup(&place, &["in", "blob"], &[]).expect_code(0)), 5);
}

#[cfg(unix)]
#[test]
fn what_can_be_read_once_gives_what_a_file_gives() {
    let place = Place::new();
    place.write("a.jsonl", &lines(&rows()));
    assert!(Command::new("mkfifo").arg(place.path("fifo")).status().unwrap().success());
    let (from, to) = (place.path("a.jsonl"), place.path("fifo"));
    let writer = std::thread::spawn(move || fs::copy(from, to).map(drop));
    let finished = dedup(&place, &["fifo"], &["--kept", "kept.jsonl"]).expect_code(0);
    writer.join().unwrap().unwrap();
    assert_eq!(stored(&finished), 3);
    let kept = fs::read_to_string(place.path("kept.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 3, "{kept}");
}

#[test]
fn rows_are_given_back_as_they_came() {
    let place = Place::new();
    place.write("a.jsonl", &lines(&rows()));
    dedup(&place, &["a.jsonl"], &["--kept", "kept.jsonl"]).expect_code(0);
    let kept = fs::read_to_string(place.path("kept.jsonl")).unwrap();
    let expected: Vec<Value> = [0, 1, 4].iter().map(|row| rows()[*row].clone()).collect();
    assert_eq!(kept, lines(&expected));

    let marked = dedup(&place, &["a.jsonl"], &["--mark", "-"]).expect_code(0).stdout;
    let marked: Vec<Value> = marked.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcomes: Vec<&Value> = marked.iter().map(|row| &row["dedup_outcome"]).collect();
    assert_eq!(outcomes, ["stored", "stored", "exact-duplicate", "exact-duplicate", "stored"]);
    assert_eq!((&marked[2]["dedup_of"], &marked[2]["n"]), (&json!("a"), &json!(3)));

    place.write(
        "holes.jsonl",
        &lines(&[json!({"id": 1, "text": text(1)}), json!({"id": 2, "text": null}), json!({"id": 3})]),
    );
    let marked = dedup(&place, &["holes.jsonl"], &["--mark", "-"]).expect_code(0);
    let outcomes =
        marked.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["dedup_outcome"].clone());
    assert_eq!(outcomes.collect::<Vec<_>>(), ["stored", "no-text", "no-text"]);
    assert!(marked.stderr.contains("holes.jsonl, line 3: no text"), "{}", marked.stderr);

    place.write("t.csv", &format!("id,text,note\n1,\"{0}\",\"x, y\"\n2,\"{0}\",z\n3,{1},\n", text(1), text(2)));
    dedup(&place, &["t.csv"], &["--kept", "kept.csv"]).expect_code(0);
    let kept = fs::read_to_string(place.path("kept.csv")).unwrap();
    assert_eq!(kept, format!("id,text,note\n1,{},\"x, y\"\n3,{},\n", text(1), text(2)));

    let of_a_spreadsheet = format!("\u{feff}id;text;note\r\n1;{0};\"x;y\"\r\n2;{0};z\r\n", text(1));
    place.write("x.csv", &of_a_spreadsheet);
    dedup(&place, &["x.csv"], &["--kept", "kept.csv"]).expect_code(0);
    let (kept, expected) = (fs::read_to_string(place.path("kept.csv")).unwrap(), of_a_spreadsheet.split_once("2;"));
    assert_eq!(kept, expected.unwrap().0);

    for (name, array) in [
        ("array.json", serde_json::to_string_pretty(&rows()).unwrap()),
        ("data.json", json!({"version": 1, "data": rows()}).to_string()),
    ] {
        place.write(name, &array);
        dedup(&place, &[name], &["--kept", "kept.json"]).expect_code(0);
        let kept: Vec<Value> = serde_json::from_slice(&fs::read(place.path("kept.json")).unwrap()).unwrap();
        let expected: Vec<Value> = [0, 1, 4].iter().map(|row| rows()[*row].clone()).collect();
        assert_eq!(kept, expected, "{name}");
        let marked = dedup(&place, &[name], &["--mark", "-"]).expect_code(0).stdout;
        assert_eq!(serde_json::from_str::<Vec<Value>>(&marked).unwrap()[2]["dedup_outcome"], "exact-duplicate");
    }

    // Lists of two kinds are no one file, and pages are no rows.
    dedup(&place, &["a.jsonl", "t.csv"], &["--kept", "both"]).expect_code(2);
    // What could not be written at the end is refused at the beginning.
    for (name, why) in
        [("none/kept.jsonl", "none is no folder"), ("k.jsonl.xz", ".xz is not written"), ("./a.jsonl", "an input")]
    {
        let refused = dedup(&place, &["a.jsonl"], &["--kept", name]).expect_code(2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    place.write("page.txt", &text(8));
    let said = dedup(&place, &["a.jsonl", "page.txt"], &["--kept", "kept.jsonl"]).expect_code(8).stderr;
    assert!(said.contains("1 document is no rows of a table"), "{said}");
}

#[test]
fn a_text_is_exported_as_it_was_given() {
    let place = Place::new();
    place.write("a.jsonl", &lines(&rows()));
    dedup(&place, &["a.jsonl"], &[]).expect_code(0);
    place.run(["export", "out", "--format", "jsonl", "-o", "x.jsonl", "--text", "full"]).finish().expect_code(0);
    let exported = fs::read_to_string(place.path("x.jsonl")).unwrap();
    for row in exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let given = rows().into_iter().find(|given| given["id"] == row["id"]).unwrap();
        assert_eq!(row["text"], given["text"]);
    }
}

#[test]
fn rows_are_not_asked_what_pages_of_the_web_are_asked() {
    let place = Place::new();
    let html = format!("<meta name=robots content='noindex, noarchive'><p>{}", text(1));
    place.write(
        "a.jsonl",
        &lines(&[
            json!({"id": 1, "html": html}),
            json!({"id": 2, "text": format!("%PDF-1.7 {}", text(2))}),
            json!({"id": 3, "text": format!("GIF89a {}", text(3))}),
            json!({"id": 4, "text": text(4).repeat(20_000)}),
        ]),
    );
    assert_eq!(stored(&dedup(&place, &["a.jsonl"], &[]).expect_code(0)), 4);
    assert!(place.pages().iter().all(|line| line["truncated"] != true), "no limit cuts the user's own rows");
    place.run(["export", "out", "--format", "jsonl", "-o", "x.jsonl"]).finish().expect_code(0);
    assert_eq!(fs::read_to_string(place.path("x.jsonl")).unwrap().lines().count(), 4);
    dedup(&place, &["a.jsonl"], &["--max-body", "1MiB"]).expect_code(0);
    assert!(place.pages().iter().any(|line| line["truncated"] == true), "unless one is asked for");
}

#[test]
fn fields_are_found_in_lists_joined_and_in_paths() {
    let place = Place::new();
    let talk = |n: usize| json!({"id": n, "messages": [{"content": text(n)}, {"role": "x"}, {"content": "end"}]});
    place.write("talk.jsonl", &lines(&[talk(1), talk(2), talk(1)]));
    let told = dedup(&place, &["talk.jsonl"], &["--text-field", "messages[].content"]).expect_code(0);
    assert_eq!(stored(&told), 2);
    place.write("two.jsonl", &lines(&[json!({"q": text(1), "a": "x"}), json!({"q": text(1), "a": text(2)})]));
    assert_eq!(stored(&dedup(&place, &["two.jsonl"], &["--text-field", "q,a"]).expect_code(0)), 2);

    fs::create_dir_all(place.path("set/lang=de/year=2023")).unwrap();
    place.write("set/lang=de/year=2023/part-0.jsonl", &lines(&[json!({"id": 1, "text": text(1)})]));
    dedup(&place, &["set"], &["--keep-columns", "lang,year"]).expect_code(0);
    assert_eq!(place.pages()[0]["columns"], json!({"lang": "de", "year": "2023"}));
    for flag in ["--keep-columns", "--text-field", "--url-field", "--time-field", "--html-field"] {
        let said = dedup(&place, &["talk.jsonl", "set"], &[flag, "lnag"]).stderr;
        assert!(
            said.contains(&format!("no row has the field 'lnag' ({flag}); there are: id, messages, text")),
            "{said}"
        );
    }
    let wrapped = json!({"version": 1, "data": [talk(1), talk(2)], "about": {"x": [1]}, "more": [talk(3)]});
    for (name, file) in
        [("one.json", wrapped.to_string()), ("pretty.json", serde_json::to_string_pretty(&wrapped).unwrap())]
    {
        place.write(name, &file);
        let told = dedup(&place, &[name], &["--text-field", "messages[].content"]).expect_code(0);
        assert_eq!(stored(&told), 3, "{name}");
    }
}

#[test]
fn what_a_folder_should_hold_and_does_not_changes_the_exit_code() {
    let place = Place::new();
    fs::create_dir_all(place.path("set/_temporary/0")).unwrap();
    place.write("set/a.jsonl", &lines(&rows()));
    place.write("set/notes.md", &text(7));
    place.write("set/code.py", "def f():\n    return 1\n");
    place.write("set/_SUCCESS", "");
    place.write("set/.hidden.jsonl", &lines(&[json!({"text": text(8)})]));
    place.write("set/_temporary/0/part.jsonl", "{}");
    let finished = dedup(&place, &["set"], &[]).expect_code(8);
    assert_eq!(stored(&finished), 5, "{}", finished.stdout);
    assert!(finished.stderr.contains("has not committed"), "{}", finished.stderr);
    fs::remove_dir_all(place.path("set/_temporary")).unwrap();
    dedup(&place, &["set"], &[]).expect_code(0);
    place.write("set/lost.parquet", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    assert!(dedup(&place, &["set"], &[]).expect_code(8).stderr.contains("Git LFS"));
    // What the program writes below its input is no input.
    fs::remove_file(place.path("set/lost.parquet")).unwrap();
    for _ in 0..2 {
        let run = place.run(["dedup", "set", "-o", "set/out", "--kept", "set/kept.jsonl", "--min-free", "0", "--json"]);
        assert_eq!(run.finish().json()["outcomes"]["stored"], 5);
    }
}

#[test]
fn quotes_that_nothing_closes_are_part_of_tab_separated_text() {
    let place = Place::new();
    let lone = format!("id\ttext\n1\t\"Never, {}\n2\t5\" and 3\" {}\n3\t{}\n", text(1), text(2), text(3));
    place.write("lone.tsv", &lone);
    assert_eq!(stored(&dedup(&place, &["lone.tsv"], &["--kept", "kept.tsv"]).expect_code(0)), 3);
    assert_eq!(fs::read_to_string(place.path("kept.tsv")).unwrap(), lone);
    place.write("quoted.tsv", &format!("id\ttext\n1\t\"one\ntwo {}\"\n2\t{}\n", text(1), text(2)));
    assert_eq!(stored(&dedup(&place, &["quoted.tsv"], &[]).expect_code(0)), 2);
}

#[test]
fn tables_of_arrow_and_parquet_keep_their_types() {
    if !has_all(&[PythonModule("pyarrow")]) {
        return;
    }
    let place = Place::new();
    place.write("rows.jsonl", &lines(&rows()));
    let python = |script: &str| {
        let done = Command::new("python3").arg("-c").arg(script).current_dir(place.path("")).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    python(
        "import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as f, json, decimal\n\
         rows = [json.loads(line) for line in open('rows.jsonl')]\n\
         t = pa.table({'id': [r['id'] for r in rows], 'text': [r['text'] for r in rows],\n\
           'at': pa.array(range(5), pa.timestamp('ns', 'UTC')), 'price': pa.array([decimal.Decimal('1.50')] * 5, pa.decimal128(9, 2)),\n\
           'tags': [['x'], None, [], ['y', None], ['z']], 'deep': [{'k': i} if i % 2 else None for i in range(5)]})\n\
         pq.write_table(t, 'a.parquet', row_group_size=2); f.write_feather(t, 'a.feather')\n\
         with pa.ipc.new_stream('a.arrow', t.schema) as w: w.write_table(t)\n",
    );
    for name in ["parquet", "feather", "arrow"] {
        let (input, output) = (format!("a.{name}"), format!("kept.{name}"));
        assert_eq!(stored(&dedup(&place, &[&input], &["--kept", &output]).expect_code(0)), 3, "{name}");
        dedup(&place, &[&input], &["--mark", &format!("mark.{name}")]).expect_code(0);
    }
    python(
        r#"
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as f
readers = {'parquet': pq.read_table, 'feather': f.read_table, 'arrow': lambda n: pa.ipc.open_stream(n).read_all()}
for name, read in readers.items():
    a, kept, mark = read('a.' + name), read('kept.' + name), read('mark.' + name)
    assert kept.schema == a.schema, (kept.schema, a.schema)
    assert kept.to_pylist() == a.take([0, 1, 4]).to_pylist(), name
    assert mark.num_rows == 5 and mark.column('dedup_outcome').to_pylist()[2] == 'exact-duplicate', name
    for column in ('at', 'price', 'tags', 'deep'):
        assert mark.column(column).type == a.column(column).type, (name, column)
        assert mark.column(column).to_pylist() == a.column(column).to_pylist(), (name, column)
"#,
    );
    // Also from a pipe, where the directory at the end of a table comes last.
    for name in ["parquet", "arrow"] {
        let run = place.run(["dedup", "-", "-o", "piped", "--fresh", "--force", "--min-free", "0", "--json"]);
        run.reading(&place.path(&format!("a.{name}"))).finish().expect_code(0);
    }
}

#[test]
fn in_how_many_files_rows_come_changes_no_verdict() {
    let place = Place::new();
    let edited = |n: usize| text(n).replace(&format!("word{n}x3 "), "other ").replace(&format!("word{n}x40 "), "more ");
    let rows: Vec<Value> =
        (0..20).flat_map(|n| [json!({"id": n, "text": text(n)}), json!({"id": n + 100, "text": edited(n)})]).collect();
    let verdicts = |files: usize| -> Vec<Value> {
        let folder = format!("in-{files}");
        fs::create_dir(place.path(&folder)).unwrap();
        for (number, rows) in rows.chunks(rows.len() / files).enumerate() {
            place.write(&format!("{folder}/{number:02}.jsonl"), &lines(rows));
        }
        dedup(&place, &[&folder], &[]).expect_code(0);
        place.pages().iter().map(|line| json!([line["url"], line["outcome"], line["duplicate_of"]])).collect()
    };
    let of_one = verdicts(1);
    assert!(of_one.iter().any(|row| row[1] == "near-duplicate") && of_one.iter().any(|row| row[1] == "stored"));
    for files in [5, 40] {
        assert_eq!(verdicts(files), of_one, "{files} files");
    }
}

#[test]
fn texts_that_differ_in_line_ends_are_sound_in_the_archive() {
    let place = Place::new();
    let row = |id: usize, text: &str| json!({"id": id, "text": text});
    let text = text(1);
    let rows = [row(1, &format!("{text}\r\nend")), row(2, &format!("{text}\nend")), row(3, "short"), row(4, "short\n")];
    place.write("a.jsonl", &lines(&rows));
    let finished = dedup(&place, &["a.jsonl"], &[]).expect_code(0);
    assert_eq!((stored(&finished), finished.json()["outcomes"]["exact-duplicate"].clone()), (json!(2), json!(2)));
    place.run(["verify", "out"]).finish().expect_code(0);
    // Files of text are the user's own, too.
    for (name, text) in [("a.py", "def f():\n    return 1\n"), ("b.py", "def f():\r\n    return 1")] {
        place.write(name, text);
    }
    assert_eq!(stored(&dedup(&place, &["a.py", "b.py"], &[]).expect_code(0)), 1);
    place.run(["verify", "out"]).finish().expect_code(0);
    dedup(&place, &["a.jsonl"], &[]).expect_code(0);
    // A record that refers to another says that both have the same bytes.
    place.run(["export", "out", "--format", "warc", "-o", "x.warc"]).finish().expect_code(0);
    let archive = String::from_utf8_lossy(&fs::read(place.path("x.warc")).unwrap()).into_owned();
    assert!(archive.contains("WARC-Type: response") && !archive.contains("WARC-Type: revisit"), "{archive}");
}
