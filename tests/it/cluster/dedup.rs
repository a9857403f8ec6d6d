//! `dedup` by several workers, by the program: the verdicts are those of one decider, whoever dies.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use ndcrawl::cluster::{Connector, RunId, pages_of, read_arrivals};
use ndcrawl::detect::{Decider, Mode, Options, Settling};
use ndcrawl::index::FilterKind;
use ndcrawl::model::{Detector, PageInput, Verdict, shown_url};
use ndcrawl::seeded::SeededRng;
use serde_json::{Value, json};

use super::servers::LocalServers;
use crate::program::{Finished, Place, Run};

const TURN: usize = 64;
/// Pages of an input.
pub const PAGES: usize = 90;
/// A lease that runs out within a test.
pub const LEASE: &str = "1500ms";

/// The words of a page: those of its family, a few of which are changed.
pub fn page(input: usize, number: usize) -> String {
    let family = if number.is_multiple_of(3) { number } else { 1000 * (input + 1) + number };
    let mut random = SeededRng::new(family as u64, "families of pages");
    let mut words: Vec<String> = (0..120).map(|_| format!("word{}", random.below(4000))).collect();
    let mut changed = SeededRng::new((input * PAGES + number) as u64, "changed words");
    for _ in 0..changed.below(9) {
        let at = changed.below(120);
        words[at] = format!("changed{}", changed.below(1 << 20));
    }
    format!(
        "<!DOCTYPE html><html lang=en><title>Page {number}</title><main><p>{}</p></main></html>",
        words.chunks(12).map(|line| line.join(" ")).collect::<Vec<_>>().join(".</p><p>")
    )
}

pub fn record(input: usize, number: usize) -> String {
    write_record(&format!("http://h{input}.test/{number}"), input, number, &page(input, number))
}

/// Writes a page as a WARC record, whose ID tells the input and the number.
pub fn write_record(url: &str, input: usize, number: usize, body: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-{input:04}-{number:012}>\r\n\
         WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// Writes an input: WARC, a folder of pages, or rows.
fn write_input(place: &Place, input: usize) -> String {
    let name = format!("in{input}");
    match input % 3 {
        0 => {
            let records: String = (0..PAGES).map(|number| record(input, number)).collect();
            place.write(&format!("{name}.warc"), &records);
            format!("{name}.warc")
        }
        1 => {
            fs::create_dir(place.path(&name)).unwrap();
            for number in 0..PAGES {
                place.write(&format!("{name}/{input}-{number:04}.html"), &page(input, number));
            }
            name
        }
        _ => {
            let row = |number| json!({ "id": format!("{number}"), "html": page(input, number) }).to_string() + "\n";
            let rows: String = (0..PAGES).map(row).collect();
            place.write(&format!("{name}.jsonl"), &rows);
            format!("{name}.jsonl")
        }
    }
}

/// A place with so many inputs, and the manifest of them.
pub fn place(inputs: usize) -> Place {
    let place = Place::new();
    let names: Vec<String> = (0..inputs).map(|input| write_input(&place, input)).collect();
    place.write("manifest", &format!("# the inputs\n\n{}\n", names.join("\n")));
    place
}

pub fn dedup(place: &Place, crawl: &str, out: &str, manifest: &str, workers: usize) -> Run {
    let (url, workers) = (LocalServers::shared().url(), workers.to_string());
    place
        .run(["dedup", "--cluster", &url, "--cluster-name", crawl, "--workers", &workers, manifest, "-o", out])
        .args(["--lease", LEASE])
}

/// The files of the output, by name, and what killed workers have left.
pub fn files(folder: &Path) -> BTreeMap<String, String> {
    let text = |path: PathBuf| match path.is_dir() {
        true => "a folder".to_owned(),
        false => String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
    };
    let read = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), text(entry.path()));
    fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect()
}

pub fn verdict_lines(files: &BTreeMap<String, String>) -> Vec<Value> {
    let verdicts = files.iter().filter(|(name, _)| name.ends_with(".verdicts.jsonl"));
    verdicts.flat_map(|(_, text)| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The pages of a crawl's inputs as they arrived, input by input.
async fn arrived(crawl: &str, inputs: i32) -> Vec<Vec<(PageInput, String)>> {
    let session = Connector::new(LocalServers::shared().address()).connect().await.unwrap();
    session.client().batch_execute(&format!("SET search_path = nd_{crawl}")).await.unwrap();
    let mut all = Vec::new();
    for input in 0..inputs {
        let chunks = read_arrivals(&session, RunId(-1 - input), 0, i64::MAX).await.unwrap();
        let pages = chunks.iter().flat_map(|chunk| pages_of(chunk).unwrap());
        all.push(pages.map(|page| (page.input, page.facts.url)).collect());
    }
    all
}

/// Outcome, URL of the original, and score.
type Told = (String, Option<String>, Option<f64>);

/// What one decider says of these pages, in turns.
fn decided_by_one<'a>(pages: impl IntoIterator<Item = &'a (PageInput, String)>) -> Vec<Told> {
    decided_with(Options::of(Detector::Mwo), pages)
}

/// As [`decided_by_one`], with another detector.
fn decided_with<'a>(options: Options, pages: impl IntoIterator<Item = &'a (PageInput, String)>) -> Vec<Told> {
    let mut decider = Decider::in_memory(Options { settling: Settling::AtMarks, ..options });
    let pages: Vec<_> = pages.into_iter().collect();
    let mut told = Vec::new();
    for turn in pages.chunks(TURN) {
        for judged in decider.decide(turn.iter().map(|(page, _)| page.clone()).collect()).unwrap() {
            let url = judged.verdict.duplicate_of().map(|of| shown_url(&pages[of.index()].1).into_owned());
            told.push(match judged.verdict {
                Verdict::Unique => ("stored".to_owned(), None, None),
                Verdict::NearDuplicate { score, .. } => ("near-duplicate".to_owned(), url, Some(score.as_f64())),
                Verdict::ExactDuplicate { .. } => ("exact-duplicate".to_owned(), url, None),
            });
        }
        decider.settle().unwrap();
    }
    told
}

fn told(line: &Value) -> Told {
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    (text("outcome").unwrap(), text("duplicate_of"), line["score"].as_f64())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_write_the_verdicts_of_one_decider() {
    let inputs = 7;
    let place = place(inputs);
    for workers in 1..=3 {
        let crawl = format!("dedup_by_{workers}");
        let finished = dedup(&place, &crawl, &format!("out{workers}"), "manifest", workers).finish().expect_code(0);
        assert!(finished.stdout.starts_with("7 of 7 inputs done in"), "{}", finished.stdout);
        assert!(finished.stdout.contains(&format!("{} pages decided", inputs * PAGES)), "{}", finished.stdout);
    }
    let written = files(&place.path("out1"));
    assert_eq!(written.len(), 2 * inputs, "{:?}", written.keys());
    for workers in 2..=3 {
        assert_eq!(files(&place.path(&format!("out{workers}"))), written, "{workers} workers");
    }
    let lines = verdict_lines(&written);
    let arrived = arrived("dedup_by_3", inputs as i32).await;
    let expected = decided_by_one(arrived.iter().flatten());
    assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), expected);
    let near = lines.iter().filter(|line| line["outcome"] == "near-duplicate").count();
    assert!(near > PAGES / 2, "{near} near-duplicates");
    // The control: in the order in which workers may send them, other pages are kept.
    let turned = decided_by_one(arrived.iter().rev().flatten());
    assert_ne!(turned.chunks(PAGES).rev().flatten().cloned().collect::<Vec<_>>(), expected);

    // Records are named, and kept pages have their text.
    assert_eq!(lines[5]["record_id"], "<urn:uuid:00000000-0000-0000-0000-000000000005>");
    let kept: usize =
        written.iter().filter(|(name, _)| name.ends_with(".kept.jsonl")).map(|(_, text)| text.lines().count()).sum();
    assert_eq!(kept, lines.iter().filter(|line| line["outcome"] == "stored").count());
    let first: Value = serde_json::from_str(written["000000.kept.jsonl"].lines().next().unwrap()).unwrap();
    assert!(first["text"].as_str().unwrap().contains("word") && first["url"] == "http://h0.test/0", "{first}");

    // The same manifest again has nothing to do; a further one is compared with all before.
    let again = dedup(&place, "dedup_by_3", "out3", "manifest", 1).finish().expect_code(0).stdout;
    assert!(again.starts_with("7 of 7 inputs done"), "{again}");
    assert_eq!(files(&place.path("out3")), written);
    fs::rename(place.path("in0.warc"), place.path("later.warc")).unwrap();
    place.write("further", "later.warc\n");
    let further =
        dedup(&place, "dedup_by_3", "further-out", "further", 2).args(["--json"]).finish().expect_code(0).json();
    // Its URLs came before.
    assert_eq!((&further["reports"][0]["report"]["repeated"], &further["done"]), (&json!(PAGES), &json!(1)));
    let rows: String = (0..PAGES).map(|number| json!({ "html": page(0, number) }).to_string() + "\n").collect();
    place.write("rows.jsonl", &rows);
    place.write("third", "rows.jsonl\n");
    let third = dedup(&place, "dedup_by_3", "third-out", "third", 1).args(["--json"]).finish().expect_code(0).json();
    assert_eq!(third["outcomes"].get("stored"), None, "{third}");
}

/// Whoever has all turns has what any detector learns, so that it decides as one process does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_decide_with_every_detector_as_one_decider_does() {
    let inputs = 3;
    let place = place(inputs);
    let mwo = decided_by_one(arrived_pages(&place, "with_mwo", inputs, &[]).await.iter().flatten());
    let others = [
        (Detector::Dd, FilterKind::Exact, Mode::Any),
        (Detector::Dd, FilterKind::Paper, Mode::Best),
        (Detector::Fuzzy, FilterKind::Exact, Mode::Best),
        (Detector::Mwo, FilterKind::Paper, Mode::Best),
    ];
    for (number, (detector, filter, mode)) in others.into_iter().enumerate() {
        let crawl = format!("with_other_{number}");
        let flags = [
            "--detector",
            detector.name(),
            "--filter",
            if filter == FilterKind::Paper { "paper" } else { "exact" },
            "--matching",
            if mode == Mode::Any { "any" } else { "best" },
        ];
        let pages = arrived_pages(&place, &crawl, inputs, &flags).await;
        let options = Options { filter, mode, ..Options::of(detector) };
        let expected = decided_with(options, pages.iter().flatten());
        let written = files(&place.path(&crawl));
        assert_eq!(verdict_lines(&written).iter().map(told).collect::<Vec<_>>(), expected, "{flags:?}");
        assert!(detector == Detector::Mwo || expected != mwo, "the control: {detector:?} decides otherwise");
        let url = LocalServers::shared().url();
        let verified = place.run(["verify", &url, "--cluster-name", &crawl]).finish().expect_code(0);
        assert!(verified.stdout.contains("is intact"), "{}", verified.stdout);
    }
}

/// Has two workers decide with these flags into the folder of the crawl's name. Returns the pages as they arrived.
async fn arrived_pages(place: &Place, crawl: &str, inputs: usize, flags: &[&str]) -> Vec<Vec<(PageInput, String)>> {
    dedup(place, crawl, crawl, "manifest", 2).args(flags).finish().expect_code(0);
    arrived(crawl, inputs as i32).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_killed_worker_is_replaced_and_the_files_are_the_same() {
    let place = place(3);
    dedup(&place, "dedup_whole", "whole", "manifest", 1).finish().expect_code(0);
    let whole = files(&place.path("whole"));
    for point in
        ["leased", "chunk", "arrival", "sent", "deciding", "entered", "decided", "rename", "kept", "renamed", "done"]
    {
        let (crawl, out) = (format!("dedup_killed_at_{point}"), format!("out-{point}"));
        let killed = dedup(&place, &crawl, &out, "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", point).finish();
        assert_eq!(killed.signal, Some(6), "{point}: {}", killed.stderr);
        assert_ne!(files(&place.path(&out)), whole, "{point}");
        dedup(&place, &crawl, &out, "manifest", 2).finish().expect_code(0);
        assert_eq!(files(&place.path(&out)), whole, "{point}");
    }
}

/// Inputs of so many pages each, and the manifest of them.
fn place_of_sizes(sizes: &[usize]) -> Place {
    let place = Place::new();
    let mut names = String::new();
    for (input, size) in sizes.iter().enumerate() {
        let records: String = (0..*size).map(|number| record(input, number)).collect();
        place.write(&format!("in{input}.warc"), &records);
        names += &format!("in{input}.warc\n");
    }
    place.write("manifest", &names);
    place
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn inputs_of_few_pages_do_not_wait_for_each_other() {
    let (single, mut first_larger) = (vec![1; TURN + 9], vec![1; 40]);
    first_larger[0] = TURN + 6;
    for (name, sizes) in [("single", single), ("first_larger", first_larger), ("middling", vec![13; 12])] {
        let place = place_of_sizes(&sizes);
        for workers in 1..=2 {
            let (crawl, out) = (format!("{name}_{workers}"), format!("out{workers}"));
            let told = dedup(&place, &crawl, &out, "manifest", workers).finish().expect_code(0).stdout;
            assert!(told.starts_with(&format!("{0} of {0} inputs done", sizes.len())), "{told}");
        }
        assert_eq!(files(&place.path("out1")), files(&place.path("out2")), "{name}");
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn inputs_of_the_dead_are_taken_by_workers_that_wait_for_them() {
    let place = place_of_sizes(&[PAGES; 8]);
    // The dead have the first two inputs, and the second one is free later.
    for _ in 0..2 {
        let killed = dedup(&place, "few_left", "out", "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", "leased").finish();
        assert_eq!(killed.signal, Some(6), "{}", killed.stderr);
    }
    dedup(&place, "few_left", "out", "manifest", 1).finish().expect_code(0);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn workers_of_one_manifest_write_the_same_files() {
    let place = place(4);
    let killed = dedup(&place, "alike", "out", "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", "entered:3").finish();
    assert_eq!(killed.code, None, "{killed:?}");
    let refused = |out: &str, flags: &[&str], says: &str| {
        let refused = dedup(&place, "alike", out, "manifest", 1).args(flags).finish();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(says), "{says}: {refused:?}");
    };
    refused("out", &["--kept", "parquet"], "have --kept jsonl, and this one has --kept parquet");
    refused("out", &["--verdicts", "parquet"], "have --verdicts jsonl, and this one has --verdicts parquet");
    refused("out", &["--text-field", "body"], "have --text-field text, and this one has --text-field body");
    refused("elsewhere", &[], "elsewhere: start all of them alike");
    dedup(&place, "alike", "out", "manifest", 1).finish().expect_code(0);
    // What is done is not written again, and another manifest has its own flags.
    dedup(&place, "alike", "elsewhere", "manifest", 1).finish().expect_code(0);
    place.write("more.jsonl", &(json!({ "id": "1", "html": page(9, 1) }).to_string() + "\n"));
    place.write("more", "more.jsonl\n");
    dedup(&place, "alike", "elsewhere", "more", 1).args(["--kept", "parquet"]).finish().expect_code(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn inputs_that_cannot_be_read_are_told_and_the_others_go_on() {
    let place = place(1);
    place.write("foreign.bin", "\u{0}\u{1}\u{2} no pages");
    let cut = record(7, 1) + &record(7, 2)[..400];
    place.write("cut.warc", &cut);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all((3..9).map(|number| record(8, number)).collect::<String>().as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(place.path("cut.warc.gz"), &packed[..packed.len() / 2]).unwrap();
    fs::write(place.path("cut.zip"), b"PK\x03\x04 and no more").unwrap();
    fs::write(place.path("cut.parquet"), b"PAR1 and no more").unwrap();
    place.write("torn.jsonl", "{\"html\": \"<p>one two three four five six\"}\n{\"html\": \n");
    fs::create_dir(place.path("nothing")).unwrap();
    let poor = ["missing.warc", "foreign.bin", "cut.warc", "cut.warc.gz", "cut.zip", "cut.parquet", "nothing"];
    place.write("some", &format!("{}\nin0.warc\ntorn.jsonl\n", poor.join("\n")));
    let Finished { stdout, stderr, .. } = dedup(&place, "dedup_poor", "out", "some", 2).finish().expect_code(8);
    assert!(stdout.starts_with("9 of 9 inputs done"), "{stdout}");
    for input in poor {
        assert!(stderr.contains(&format!("warning: input {input}: ")), "{input}: {stderr}");
    }
    assert!(!stderr.contains("in0.warc"), "{stderr}");
    let written = files(&place.path("out"));
    let pages = |input: usize| written[&format!("{input:06}.verdicts.jsonl")].lines().count();
    assert_eq!((pages(2), pages(7), pages(8)), (1, PAGES, 1));
    assert!(pages(3) > 0, "what stands before the cut is read");
    place.write("none", "missing-too.warc\n");
    dedup(&place, "dedup_none", "none-out", "none", 1).finish().expect_code(1);

    for (arguments, message) in [
        (&["some", "none"][..], "--cluster takes one manifest"),
        (&["nowhere"], "nowhere: "),
        (&["twice"], "the input in0.warc is named twice"),
        (&["empty"], "the manifest names no input"),
        (&["some", "--same-url", "last"], "--same-url last reads all inputs twice"),
        (&["some", "--keep", "longest"], "--keep cannot be shared by several processes"),
    ] {
        place.write("twice", "in0.warc\nin0.warc\n");
        place.write("empty", "# nothing\n");
        let url = LocalServers::shared().url();
        let refused = place.run(["dedup", "--cluster", &url, "-o", "refused"]).args(arguments).finish().expect_code(2);
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
}
