use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::{Archive, ArchiveReader, Error, Options, Store, WarcReader, WarcRecord};
use super::support::{fetched, identity, open, options, put};
use ndcrawl_model::{DecidedBy, Detector, Score, Sequence, Verdict};

const SAME_BYTES: Verdict = Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::BodyDigest };
const NEAR: Verdict = Verdict::NearDuplicate {
    of: Sequence(0),
    score: Score(831_000),
    second: None,
    difference: None,
    detector: Detector::Mwo,
    decided_by: DecidedBy::Similarity,
};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("warc")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn records(folder: &Path) -> Vec<WarcRecord> {
    let read = |path| WarcReader::new(std::fs::File::open(path).unwrap(), 0).map(Result::unwrap);
    files(folder).into_iter().flat_map(read).collect()
}

/// Every kind of page, awkward ones among them.
fn put_all(archive: &Archive) {
    let original = fetched("http://a.test/", b"<p>the page</p>");
    let mut awkward = fetched("http://[::1]:8080/p?q=%20x&y", &[0, 159, 146, 150, 13, 10, 13, 10]);
    awkward.version = "HTTP/2";
    awkward.status = 404;
    awkward.reason = String::new();
    awkward.truncated = true;
    awkward.headers.push(("X-Latin".into(), vec![b'a', 0xe9, 0, b'\r', b'\n', b'b']));
    awkward.request_headers.push(("Authorization".into(), b"secret".to_vec()));
    let empty = fetched("http://a.test/empty", b"");
    let mut kept = put(6, fetched("http://a.test/kept", b"<p>the pages</p>"), NEAR, Some(&original));
    kept.keep_body = true;
    let mut near = put(3, fetched("http://a.test/near", b"<p>the pages</p>"), NEAR, Some(&original));
    near.text = Some("the pages\nWARC/1.1\r\n\r\n".to_owned());
    let pages = [
        put(1, original.clone(), Verdict::Unique, None),
        put(2, fetched("http://a.test/copy", b"<p>the page</p>"), SAME_BYTES, Some(&original)),
        near,
        put(4, awkward, Verdict::Unique, None),
        put(5, empty, Verdict::Unique, None),
        kept,
        put(7, fetched("http://a.test/other", b"other bytes"), SAME_BYTES, Some(&original)),
    ];
    for page in &pages {
        archive.put_page(page).unwrap();
    }
}

#[test]
fn each_page_gets_the_records_that_suit_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(folder.path(), Options::default(), &identity()).unwrap();
    put_all(&store.archive());
    drop(store);
    let records = records(folder.path());
    let kinds: Vec<&str> = records.iter().map(WarcRecord::kind).collect();
    let unique = ["response", "request"];
    let expected = [
        &["warcinfo"][..],
        &unique,
        &["revisit", "metadata", "metadata"],
        &unique,
        &unique,
        &unique,
        &["metadata", "metadata"],
    ];
    assert_eq!(kinds, expected.concat());

    let [response, revisit] = [&records[1], &records[3]];
    assert_eq!(revisit.field("WARC-Refers-To"), response.field("WARC-Record-ID"));
    assert_eq!(revisit.field("WARC-Refers-To-Target-URI"), Some("http://a.test/"));
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some("2027-01-15T08:00:00.123Z"));
    assert_eq!(revisit.field("WARC-Payload-Digest"), response.field("WARC-Payload-Digest"));
    let near = "duplicate-of: http://a.test/\r\nscore: 0.831\r\nmethod: mwo\r\ndecided-by: similarity\r\n";
    assert_eq!(String::from_utf8_lossy(&records[4].block), near);
    let awkward = &records[6];
    assert_eq!((awkward.field("WARC-Truncated"), awkward.field("WARC-Protocol")), (Some("length"), Some("h2")));
    assert!(awkward.block.starts_with(b"HTTP/1.1 404 \r\n"));
    assert!(!String::from_utf8_lossy(&records[7].block).contains("secret"));
}

#[test]
fn the_text_of_a_duplicate_comes_back_if_it_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    let archive = store.archive();
    let original = fetched("http://a.test/", b"<p>the page</p>");
    let place = |archive: &Archive, number: u128, text: Option<&str>| {
        let mut page = put(number, fetched("http://a.test/near", b"<p>the pages</p>"), NEAR, Some(&original));
        page.text = text.map(str::to_owned);
        let place = archive.put_page(&page).unwrap().unwrap();
        (archive.file_name(place.file).unwrap(), place.offset)
    };
    let kept = place(&archive, 1, Some("the pages\n\u{e4}"));
    let without = place(&archive, 2, None);
    let behind = place(&archive, 3, Some("other"));
    store.commit(Default::default()).unwrap();
    store.close().unwrap();
    let mut reader = ArchiveReader::new(folder.path());
    let mut text = |(file, offset): &(String, u64)| reader.kept_text(file, *offset).unwrap();
    let texts = [&kept, &without, &behind].map(&mut text);
    assert_eq!(texts, [Some("the pages\n\u{e4}".to_owned()), None, Some("other".to_owned())]);
}

#[test]
fn bodies_come_back_and_a_page_put_twice_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    let archive = store.archive();
    let body: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    let page = put(1, fetched("http://a.test/", &body), Verdict::Unique, None);
    let places = [(); 2].map(|()| archive.put_page(&page).unwrap());
    assert_eq!(places[0], places[1]);
    store.commit(Default::default()).unwrap();
    assert_eq!(archive.put_page(&page).unwrap(), places[0]);
    let place = places[0].unwrap();
    assert_eq!(archive.body(place).unwrap(), body);
    assert!(archive.file_name(place.file).unwrap().ends_with("-00000-localhost.warc.gz"));

    let copy = put(2, fetched("http://a.test/b", &body), SAME_BYTES, Some(&page.fetched));
    let revisit = archive.put_page(&copy).unwrap().unwrap();
    // The file was full, so the revisit is in the next.
    assert_eq!(revisit.file, 1);
    assert!(matches!(archive.body(revisit), Err(Error::NoBody { kind, .. }) if kind == "revisit"));
    let beside = ndcrawl_model::WarcLocation { offset: place.offset + 1, ..place };
    assert!(matches!(archive.body(beside), Err(Error::Corrupt { .. })));
}

#[test]
fn without_an_archive_there_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(folder.path(), Options { warc: false, ..options() }, &identity()).unwrap();
    let page = put(1, fetched("http://a.test/", b"x"), Verdict::Unique, None);
    assert_eq!(store.archive().put_page(&page).unwrap(), None);
    assert!(!folder.path().join("warc").exists());
}

#[test]
fn other_programs_find_no_fault_with_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open(folder.path()).unwrap();
    put_all(&store.archive());
    store.commit(Default::default()).unwrap();
    store.close().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = root.ancestors().map(|folder| folder.join("shared/conformance/warc_check.py"));
    let checker = beside.skip(1).find(|path| path.exists()).unwrap_or_default();
    let programs: [(&str, Vec<&str>); 3] =
        [("python3", vec![checker.to_str().unwrap()]), ("warcio", vec!["check"]), ("fastwarc", vec!["check"])];
    for (program, arguments) in programs {
        let there = Command::new(program).arg("--help").output().is_ok_and(|output| output.status.success());
        if !there || (program == "python3" && checker.as_os_str().is_empty()) {
            eprintln!("skipped: {program} {arguments:?} is not installed");
            continue;
        }
        for file in files(folder.path()) {
            let output = Command::new(program).args(&arguments).arg(&file).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program} {}: {said}", file.display());
            assert!(!said.contains("warn "), "{said}");
        }
    }
}
