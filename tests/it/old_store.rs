//! Stores of earlier versions: the program opens them, or refuses them and says what to do.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::needs::data;
use crate::program::{Finished, Place, pages};

/// What a refusal names as the remedy.
const REMEDY: &str = "use the version of ndcrawl that made it";

/// Copies a kept folder to where the program may write; files that end in `.gz` beside an archive are unpacked.
fn unpack(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            unpack(&path, &to.join(name));
        } else if let Some(stem) = name.strip_suffix(".gz").filter(|_| !name.ends_with(".warc.gz")) {
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(fs::File::open(&path).unwrap()).read_to_end(&mut bytes).unwrap();
            fs::write(to.join(stem), bytes).unwrap();
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

fn kept(version: &str) -> Place {
    let place = Place::new();
    unpack(&data(&format!("store-{version}")), &place.path("out"));
    // Git keeps no empty folder.
    fs::create_dir_all(place.path("out/store/blobs")).unwrap();
    place
}

/// Whether this version still reads the format of the kept folder.
fn is_current(place: &Place) -> bool {
    let file: Value = serde_json::from_str(&fs::read_to_string(place.path("out/crawl.json")).unwrap()).unwrap();
    file["format"] == ndcrawl::store::FORMAT
}

/// Whether a command read the folder; if not, it must be another format, and the refusal must name the remedy.
#[track_caller]
fn is_read(place: &Place, finished: &Finished) -> bool {
    if finished.code == Some(0) {
        return true;
    }
    assert!(!is_current(place) && finished.stderr.contains(REMEDY), "{finished:?}");
    false
}

#[test]
fn a_store_of_0_1_0_is_read_or_refused_with_the_remedy() {
    let place = kept("0.1.0");
    let lines = pages(&place.path("out"));
    let url = lines.iter().find(|line| line["outcome"] == "near-duplicate").unwrap()["url"].as_str().unwrap();

    is_read(&place, &place.run(["verify", "out"]).finish());
    let explained = place.run(["explain", "out", url]).finish();
    if is_read(&place, &explained) {
        assert!(explained.stdout.contains("near-duplicate"), "{}", explained.stdout);
    }
    let exported = place.run(["export", "out", "--format", "jsonl", "-o", "pages.jsonl"]).finish();
    if is_read(&place, &exported) {
        let stored = lines.iter().filter(|line| line["outcome"] == "stored").count();
        assert_eq!(fs::read_to_string(place.path("pages.jsonl")).unwrap().lines().count(), stored);
    }
}
