//! PDF: what becomes text, and what a broken one may cost.
//!
//! The documents in `tests/data/pdf` have the same text, and each is of another maker's program.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;

use crate::needs::data;
use crate::program::{Finished, Place, Run};
use crate::web::{Answer, Content, Web};

const PDF: &str = "application/pdf";

/// A site of files, each with its type.
struct Files(BTreeMap<String, (String, Vec<u8>)>);

impl Files {
    fn of(files: Vec<(&str, &str, Vec<u8>)>) -> Self {
        let files = files.into_iter().map(|(name, kind, body)| (format!("/{name}"), (kind.to_owned(), body)));
        Self(files.collect())
    }
}

impl Content for Files {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).map_or("/".to_owned(), |path| format!("/{path}"));
        if path == "/" {
            let links: String = self.0.keys().map(|name| format!("<a href=\"{name}\">{name}</a> ")).collect();
            return Answer::html(format!("<title>Files</title>{links}"));
        }
        match self.0.get(&path) {
            Some((kind, body)) => {
                Answer { headers: vec![("content-type", kind.clone())], ..Answer::html(body.clone()) }
            }
            None => Answer::error(404),
        }
    }
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(data("pdf").join(name)).unwrap()
}

fn crawl(place: &Place, files: Vec<(&str, &str, Vec<u8>)>, flags: &[&str]) -> (Finished, BTreeMap<String, Value>) {
    let web = Web::start(1, |_| Arc::new(Files::of(files)));
    let finished = run(place, &web, flags).finish().expect_code(0);
    (finished, lines(place))
}

fn run(place: &Place, web: &Web, flags: &[&str]) -> Run {
    place.crawl(&[format!("{}/", web.origins()[0])]).args(flags)
}

/// The lines by the names of the files.
fn lines(place: &Place) -> BTreeMap<String, Value> {
    let named = |line: Value| (line["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(), line);
    place.pages().into_iter().map(named).collect()
}

/// A document whose pages have this content, and these further objects from number 5 on.
fn document(content: &[u8], filter: &str, others: &[String]) -> Vec<u8> {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /F0 5 0 R >> \
          /Font << /T << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
            .to_vec(),
        [format!("<< {filter} /Length {} >>\nstream\n", content.len()).as_bytes(), content, b"\nendstream"].concat(),
    ];
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (object, number) in objects.into_iter().chain(others.iter().map(|other| other.clone().into_bytes())).zip(1..) {
        places.push(file.len());
        file.extend([format!("{number} 0 obj\n").as_bytes(), &object, b"\nendobj\n"].concat());
    }
    let start = file.len();
    let rows: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    let size = places.len() + 1;
    let trailer = format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.extend(format!("xref\n0 {size}\n0000000000 65535 f \n{rows}{trailer}").into_bytes());
    file
}

/// A document of some KiB that decompresses to `gib` GiB of drawing instructions.
fn bomb(gib: usize) -> Vec<u8> {
    let deflated = |mebibytes: usize, block: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        (0..mebibytes).for_each(|_| encoder.write_all(block).unwrap());
        encoder.finish().unwrap()
    };
    let inner = deflated(gib * 1024, &vec![b' '; 1 << 20]);
    let outer = deflated(1, &inner);
    document(&outer, "/Filter [/FlateDecode /FlateDecode]", &["<<>>".to_owned()])
}

/// A document of some KiB whose forms draw each other ten times, level by level: it takes years.
fn endless() -> Vec<u8> {
    let form = |level: usize| {
        let calls = "/F0 Do ".repeat(10);
        format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F0 {} 0 R >> >> /Length {} >>\n\
             stream\n{calls}\nendstream",
            level + 6,
            calls.len()
        )
    };
    let mut forms: Vec<String> = (0..20).map(form).collect();
    forms.push("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream".to_owned());
    document(b"/F0 Do", "", &forms)
}

#[test]
fn pdfs_of_several_makers_are_read_compared_stored_and_exported_like_pages() {
    let place = Place::new();
    let names = ["chromium.pdf", "fpdf2.pdf", "reportlab.pdf", "typst.pdf"];
    let files = names.iter().map(|name| (*name, PDF, sample(name))).collect();
    let (finished, lines) = crawl(&place, files, &["--pdf"]);
    for name in names {
        let line = &lines[name];
        assert_eq!(line["text_from"], "pdf", "{line}");
        assert_eq!((&line["title"], &line["lang"]), (&"Tide tables of the harbour".into(), &"en".into()), "{line}");
        assert!(line["text_error"].is_null() && line["charset"].is_null(), "{line}");
    }
    let provenance = &lines["typst.pdf"]["provenance"];
    assert_eq!((&provenance["who"], &provenance["when"]), (&"Ada Keeper".into(), &"2026-03-01T00:00:00Z".into()));
    let count = |outcome: &str| names.iter().filter(|name| lines[**name]["outcome"] == outcome).count();
    assert_eq!((count("stored"), count("near-duplicate") + count("exact-duplicate")), (1, 3), "{lines:#?}");
    assert!(finished.stdout.contains("4 PDFs read, 0 without text\n"), "{}", finished.stdout);

    let exported = place.run(["export", "out", "--format", "jsonl", "-o", "-"]).finish().expect_code(0).stdout;
    let rows = exported.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let row = rows.into_iter().find(|row| row["type"] == PDF).unwrap();
    let text = row["text"].as_str().unwrap();
    assert!(text.contains("An efficient keeper writes down every high water"), "{text}");
    assert!(text.contains("before the evening bell rings"), "{text}");
    place.run(["verify", "out"]).finish().expect_code(0);

    let stored = names.iter().find(|name| lines[**name]["outcome"] == "stored").unwrap();
    let url = lines[*stored]["url"].as_str().unwrap().to_owned();
    let explained = place.run(["explain", "out", &url]).finish().expect_code(0).stdout;
    assert!(explained.contains("text read from PDF"), "{explained}");
}

#[test]
fn a_pdf_without_text_is_archived_as_it_is_and_the_reason_is_told() {
    let place = Place::new();
    let whole = sample("chromium.pdf");
    let files = vec![
        ("encrypted.pdf", PDF, sample("encrypted.pdf")),
        ("scanned.pdf", PDF, sample("scanned.pdf")),
        ("cut.pdf", PDF, whole[..whole.len() / 8].to_vec()),
        ("noise.pdf", PDF, [b"%PDF-1.7\n".to_vec(), whole.iter().rev().copied().collect()].concat()),
        ("html.pdf", PDF, b"<!DOCTYPE html><title>Sign in</title><p>Please sign in.".to_vec()),
        ("pdf.html", "text/html", whole.clone()),
    ];
    let (finished, lines) = crawl(&place, files, &["--pdf", "-v"]);
    for (name, error) in [
        ("encrypted.pdf", "encrypted"),
        ("scanned.pdf", "empty"),
        ("cut.pdf", "damaged"),
        ("noise.pdf", "damaged"),
        ("html.pdf", "not-pdf"),
    ] {
        let line = &lines[name];
        assert_eq!((&line["outcome"], &line["text_error"]), (&"stored".into(), &error.into()), "{line}");
        assert!(line["text_from"].is_null() && line["warc_offset"].is_u64(), "{line}");
        let explained = place.run(["explain", "out", line["url"].as_str().unwrap()]).finish().expect_code(0).stdout;
        assert!(explained.contains("without text: "), "{explained}");
    }
    // What the server calls it does not matter, if the bytes tell.
    assert_eq!(lines["pdf.html"]["text_from"], "pdf", "{}", lines["pdf.html"]);
    assert!(finished.stdout.contains("1 PDF read, 5 without text"), "{}", finished.stdout);
    assert!(finished.stderr.contains("PDF has no text: encrypted: it needs a password"), "{}", finished.stderr);
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn a_bomb_and_an_endless_pdf_cost_their_own_text_and_nothing_else() {
    let place = Place::new();
    let files =
        vec![("bomb.pdf", PDF, bomb(4)), ("endless.pdf", PDF, endless()), ("typst.pdf", PDF, sample("typst.pdf"))];
    let web = Web::start(1, |_| Arc::new(Files::of(files)));
    let begun = Instant::now();
    let run = run(&place, &web, &["--pdf"]).env("NDCRAWL_PDF_TIMEOUT", "2s").env("NDCRAWL_PDF_MEMORY", "256M");
    let finished = run.finish().expect_code(0);
    let lines = lines(&place);
    for (name, error) in [("bomb.pdf", "memory"), ("endless.pdf", "time")] {
        assert_eq!((&lines[name]["outcome"], &lines[name]["text_error"]), (&"stored".into(), &error.into()));
        assert!(finished.stderr.contains(&format!("PDF has no text: {error}: ")), "{}", finished.stderr);
    }
    assert_eq!(lines["typst.pdf"]["text_from"], "pdf");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(finished.stdout.contains("1 PDF read, 2 without text (1 memory, 1 time)"), "{}", finished.stdout);
}

#[test]
fn a_reader_that_is_killed_costs_one_document_its_text() {
    let place = Place::new();
    let files = vec![("endless.pdf", PDF, endless()), ("typst.pdf", PDF, sample("typst.pdf"))];
    let web = Web::start(1, |_| Arc::new(Files::of(files)));
    let running = run(&place, &web, &["--pdf"]).env("NDCRAWL_PDF_TIMEOUT", "10m").start();
    let reader = || readers(running.id()).into_iter().find(|reader| busy_ticks(*reader) > 20);
    let mut found = None;
    let begun = Instant::now();
    while found.is_none() && begun.elapsed() < Duration::from_secs(60) {
        found = reader();
        std::thread::sleep(Duration::from_millis(20));
    }
    let reader = found.expect("a reader at work");
    assert!(Command::new("kill").args(["-9", &reader.to_string()]).status().unwrap().success());
    let finished = running.finish().expect_code(0);
    let lines = lines(&place);
    assert_eq!(
        (&lines["endless.pdf"]["outcome"], &lines["endless.pdf"]["text_error"]),
        (&"stored".into(), &"crashed".into())
    );
    assert_eq!(lines["typst.pdf"]["text_from"], "pdf");
    assert!(finished.stderr.contains("signal: 9"), "{}", finished.stderr);
}

#[test]
fn a_killed_crawl_leaves_no_reader_behind() {
    let place = Place::new();
    let web = Web::start(1, |_| Arc::new(Files::of(vec![("endless.pdf", PDF, endless())])));
    let mut running = run(&place, &web, &["--pdf"]).env("NDCRAWL_PDF_TIMEOUT", "3s").start();
    let crawler = running.id();
    assert!(running.wait_until(|| !readers(crawler).is_empty()));
    let left = readers(crawler);
    running.kill();
    let begun = Instant::now();
    // The reader is in the middle of a document: its processor time ends it.
    while left.iter().any(|reader| Path::new(&format!("/proc/{reader}/exe")).exists()) {
        assert!(begun.elapsed() < Duration::from_secs(40), "{left:?} still run");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The reader processes of a crawl.
fn readers(crawler: u32) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_reader = |process: &u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)).map(str::to_owned);
        let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        parent == Some(crawler.to_string()) && line.contains("read-document")
    };
    numbers.filter(is_reader).collect()
}

/// The clock ticks for which a process ran.
fn busy_ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(11)?.parse().ok()).unwrap_or_default()
}

#[test]
fn dedup_of_the_archive_and_of_a_folder_gives_the_verdicts_of_the_crawl() {
    let place = Place::new();
    let names = ["chromium.pdf", "encrypted.pdf", "fpdf2.pdf", "reportlab.pdf", "scanned.pdf", "typst.pdf"];
    let files = names.iter().map(|name| (*name, PDF, sample(name))).collect();
    let (_, crawled) =
        crawl(&place, files, &["--pdf", "--host-concurrency", "1", "--concurrency", "1", "--keep-duplicates"]);
    let verdicts = |lines: &BTreeMap<String, Value>| -> Vec<String> {
        let told = |name: &str| {
            let line = &lines[name];
            let of = line["duplicate_of"].as_str().and_then(|of| of.rsplit('/').next()).unwrap_or_default();
            format!("{name}: {} {of} {} {}", line["outcome"], line["score"], line["text_error"])
        };
        names.iter().map(|name| told(name)).collect()
    };
    let expected = verdicts(&crawled);
    assert!(expected.iter().any(|verdict| verdict.contains("near-duplicate")), "{expected:?}");

    let dedup = |input: &str, out: &str| {
        let flags = ["--pdf", "-o", out, "--detector-option", "second_check=none"];
        place.run(["dedup", input]).args(flags).finish().expect_code(0);
        let lines = crate::program::pages(&place.path(out)).into_iter();
        lines.map(|line| (line["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(), line)).collect()
    };
    let of_archive: BTreeMap<String, Value> = dedup("out/warc", "from-warc");
    assert_eq!(verdicts(&of_archive), expected);

    fs::create_dir(place.path("files")).unwrap();
    for name in names {
        fs::write(place.path("files").join(name), sample(name)).unwrap();
    }
    let of_folder: BTreeMap<String, Value> = dedup("files", "from-folder");
    let without_scores = |verdicts: Vec<String>| -> Vec<String> {
        verdicts.into_iter().map(|verdict| verdict.split(" 0.").next().unwrap().to_owned()).collect()
    };
    assert_eq!(without_scores(verdicts(&of_folder)), without_scores(expected));
}

#[test]
fn without_the_flag_a_pdf_is_no_page_and_accepted_ones_are_archived_without_text() {
    let place = Place::new();
    let files = || vec![("typst.pdf", PDF, sample("typst.pdf"))];
    let (_, lines) = crawl(&place, files(), &[]);
    assert_eq!((&lines["typst.pdf"]["outcome"], &lines["typst.pdf"]["reason"]), (&"excluded".into(), &"type".into()));
    let place = Place::new();
    let (finished, lines) = crawl(&place, files(), &["--accept-type", "text/html", "--accept-type", PDF]);
    let line = &lines["typst.pdf"];
    assert_eq!(line["outcome"], "stored");
    assert!(line["text_from"].is_null() && line["text_error"].is_null() && line["text_digest"].is_null(), "{line}");
    assert!(!finished.stdout.contains("PDF"), "{}", finished.stdout);
}
