//! Commands on damaged folders: none panics, each names the damage, and a crawl either resumes correctly or refuses.
//!
//! `NDCRAWL_CORRUPTION_ROUNDS` sets the number of rounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndcrawl::seeded::SeededRng;

use crate::graph::{Graph, Options, path};
use crate::invariants::{Lines, lines, outcome};
use crate::program::{Finished, Place, Run};
use crate::web::Web;

const ROUNDS: usize = 12;

fn rounds() -> usize {
    std::env::var("NDCRAWL_CORRUPTION_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

/// One damage to one file.
#[derive(Debug)]
struct Damage {
    file: String,
    kind: &'static str,
}

impl Damage {
    fn is_in(&self, part: &str) -> bool {
        self.file.starts_with(part)
    }
}

/// All files of an output folder that a command reads, by their names in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.retain(|name| !["ndcrawl.lock", "report.html"].contains(&name.as_str()));
    found.sort();
    found
}

pub fn copy_folder(from: &Path, to: &Path) {
    for name in files(from) {
        let target = to.join(&name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&name), target).unwrap();
    }
}

/// Flips bits, truncates, zeroes a part, or removes the file.
fn damage(folder: &Path, random: &mut SeededRng) -> Damage {
    // Reports are written again, whatever is in them.
    let all: Vec<String> = files(folder).into_iter().filter(|name| !name.starts_with("report_files/")).collect();
    // Most of the bytes are in the database, the archive and the lines.
    let large: Vec<&String> =
        all.iter().filter(|name| *name == "store/db" || *name == "pages.jsonl" || name.starts_with("warc/")).collect();
    let file = match random.below(2) {
        0 => large[random.below(large.len())].clone(),
        _ => all[random.below(all.len())].clone(),
    };
    let path = folder.join(&file);
    let mut bytes = fs::read(&path).unwrap();
    // The database preallocates space after its data.
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
    let kind = match random.below(8) {
        0 => "removed",
        1 => "cut",
        2 => "zeros",
        _ => "flipped",
    };
    match kind {
        "removed" => fs::remove_file(&path).unwrap(),
        "cut" => bytes.truncate(random.below(used)),
        "zeros" => {
            let begin = random.below(used);
            let end = bytes.len().min(begin + 1 + random.below(600));
            bytes[begin..end].fill(0);
        }
        _ => {
            for _ in 0..=random.below(4) {
                if let Some(byte) = bytes.get_mut(random.below(used)) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    if kind != "removed" {
        fs::write(&path, bytes).unwrap();
    }
    Damage { file, kind }
}

/// Checks that a command ends with one of these codes, and a failing one explains it in one line with the folder.
#[track_caller]
fn told(run: Run, codes: &[i32], damage: &Damage) -> Finished {
    let ended = run.finish();
    let all = format!("{damage:?}: {ended:#?}");
    assert!(ended.code.is_some_and(|code| codes.contains(&code)), "{all}");
    assert!(!ended.stderr.contains("internal error") && !ended.stderr.contains("panicked"), "{all}");
    match ended.code {
        Some(2 | 4 | 5) => {
            let errors = ended.errors();
            assert_eq!(errors.len(), 1, "{all}");
            let names = ["out", "tree '", "warc/", "row ", "pages.jsonl", "commit"];
            assert!(names.iter().any(|name| errors[0].contains(name)), "{all}");
            assert!(!errors[0].contains("backtrace"), "{all}");
        }
        _ => assert!(ended.errors().is_empty(), "{all}"),
    }
    ended
}

fn outcomes(lines: &Lines) -> BTreeMap<String, &str> {
    lines.iter().map(|(url, line)| (path(url).to_owned(), outcome(line))).collect()
}

/// Runs one round on a copy of a sound folder. Returns whether the damage was noticed and whether the crawl resumed.
fn round(place: &Place, graph: &Graph, sound: &Path, sought: &str, random: &mut SeededRng) -> (bool, bool) {
    let out = place.path("out");
    let _ = fs::remove_dir_all(&out);
    copy_folder(sound, &out);
    let damage = damage(&out, random);

    let verified = told(place.run(["verify", "out"]), &[0, 1, 4], &damage);
    let is_sound = verified.code == Some(0);
    // The report is short, even for damage in the middle of a long file.
    assert!(is_sound || verified.code == Some(4) || verified.stdout.contains("problem: "), "{verified:?}");
    let status = told(place.run(["status", "out"]), &[0, 2, 4], &damage);
    assert!(status.code == Some(0) || damage.is_in("status.json"), "{damage:?}: {status:?}");
    let clusters = told(place.run(["clusters", "out"]), &[0, 2, 4], &damage);
    assert!(clusters.code == Some(0) || damage.is_in("pages.jsonl"), "{damage:?}: {clusters:?}");
    told(place.run(["explain", "out", sought]), &[0, 2, 4], &damage);

    let resumed = told(place.crawl(&graph.seeds()).args(["--max-pages", "1000"]), &[0, 4, 5], &damage);
    let goes_on = resumed.code == Some(0);
    match resumed.code {
        Some(4) if damage.is_in("rules.jsonl") => goes_on_without_rules(place, graph, &damage),
        Some(4) => rebuilt_by_reindex(place, graph, &damage),
        _ => {}
    }
    let after = told(place.run(["verify", "out"]), &[0, 1, 4], &damage);
    // A resumed crawl does not read all earlier files again; `verify` does.
    let is_written = damage.is_in("warc/") || damage.is_in("pages.jsonl");
    if goes_on && (is_sound || !is_written) {
        assert_eq!(after.code, Some(0), "{damage:?}: {after:?}\n{resumed:?}");
    }
    if goes_on && after.code == Some(0) {
        assert_eq!(outcomes(&lines(&out)), expected(graph), "{damage:?}");
    }
    println!("{:>8} {:40} verify {:?}, resume {:?}", damage.kind, damage.file, verified.code, resumed.code);
    (!is_sound, goes_on)
}

/// Removes damaged rules, as the refusal says, and finishes the crawl.
fn goes_on_without_rules(place: &Place, graph: &Graph, damage: &Damage) {
    fs::remove_file(place.path("out/rules.jsonl")).unwrap();
    told(place.crawl(&graph.seeds()).args(["--max-pages", "1000"]), &[0], damage);
    told(place.run(["verify", "out"]), &[0], damage);
    assert_eq!(outcomes(&lines(&place.path("out"))), expected(graph), "{damage:?}");
}

/// Rebuilds a refused store from lines and archive and finishes the crawl correctly, unless these or the settings are
/// damaged.
fn rebuilt_by_reindex(place: &Place, graph: &Graph, damage: &Damage) {
    let rebuilt = told(place.run(["reindex", "out", "--force", "--json"]), &[0, 4], damage);
    if rebuilt.code == Some(4) {
        assert!(damage.is_in("crawl.json"), "{damage:?}: {rebuilt:?}");
        return;
    }
    let rebuilt = rebuilt.json();
    assert_eq!(rebuilt["rebuilt"], true, "{damage:?}: {rebuilt}");
    told(place.crawl(&graph.seeds()).args(["--max-pages", "1000"]), &[0], damage);
    // Unreadable parts of the archive stay in place.
    told(
        place.run(["verify", "out"]),
        if damage.is_in("warc/") || damage.is_in("pages.jsonl") { &[0, 1] } else { &[0] },
        damage,
    );
    let is_whole = rebuilt["unreadable_count"] == 0 && rebuilt["damaged_lines"] == 0;
    // A changed letter of a URL or reason can go unnoticed.
    if is_whole && !damage.is_in("pages.jsonl") {
        let lines = lines(&place.path("out"));
        let found = outcomes(&lines);
        // Pages that only duplicates link to are lost with those links.
        let mut expected = expected(graph);
        expected.retain(|path, _| !path.starts_with("/hidden/") || found.contains_key(path));
        assert_eq!(found, expected, "{damage:?}: {rebuilt}");
    }
    println!("{:8} {:40} rebuilt: {rebuilt}", "", "");
}

fn expected(graph: &Graph) -> BTreeMap<String, &'static str> {
    graph.expected(false).into_iter().map(|(url, expected)| (path(&url).to_owned(), expected.outcome)).collect()
}

#[test]
fn a_damaged_folder_is_refused_with_the_reason_or_its_crawl_ends_correctly() {
    let mut graph = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Graph::new(origins, Options { seed: 6, oddities: false, ..Options::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    let graph = graph.unwrap();
    let place = Place::new();
    // One finished crawl and one stopped midway.
    let sound: Vec<PathBuf> = [("half", "20"), ("whole", "1000")]
        .into_iter()
        .map(|(name, most)| {
            place.crawl(&graph.seeds()).args(["--max-pages", most]).finish().expect_code(0);
            fs::rename(place.path("out"), place.path(name)).unwrap();
            place.path(name)
        })
        .collect();
    let sought = graph.seeds()[0].clone();
    let mut random = SeededRng::new(11, "damage");
    let found: Vec<(bool, bool)> =
        (0..rounds()).map(|number| round(&place, &graph, &sound[number % 2], &sought, &mut random)).collect();
    let noticed = found.iter().filter(|(noticed, _)| *noticed).count();
    let went_on = found.iter().filter(|(_, went_on)| *went_on).count();
    println!("{} rounds: noticed in {noticed}, the crawl went on in {went_on}", found.len());
    assert!(noticed > 0 && went_on > 0 && went_on < found.len());
    drop(web);
}
