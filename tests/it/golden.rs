//! Golden outputs: verdicts and texts of the program, compared with those kept in `tests/golden`.
//!
//! A change of verdicts must be deliberate; texts change with every reworded help or message.
//! `NDCRAWL_GOLDEN=write cargo test --test it golden` renews the files, and `NDCRAWL_GOLDEN_PROGRAM=PATH`
//! names another build of the program to take the outputs from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use crate::corpora::{fetch_sites, is_as_listed};
use crate::needs::{say, skip};
use crate::program::{Place, Run, pages};
use crate::web::{Answer, Content, Web};

/// The commands whose `--help` is kept; the empty one is the program itself.
const COMMANDS: [&str; 29] = [
    "",
    "audit",
    "crawl",
    "cluster",
    "cluster init",
    "cluster stop",
    "cluster resume",
    "cluster drop",
    "cluster local",
    "status",
    "clusters",
    "dedup",
    "decontaminate",
    "export",
    "explain",
    "rules",
    "rules list",
    "redirects",
    "report",
    "demo",
    "verify",
    "reindex",
    "eval",
    "check",
    "config",
    "config init",
    "jwks",
    "completions",
    "man",
];

/// Command lines that fail, each in a folder of its own that holds [`FILES`].
const MISTAKES: [&str; 37] = [
    "",
    "not-a-command",
    "ftp://h.test/",
    "--dept 3 http://h.test/",
    "--delay 5x http://h.test/",
    "-t 1.5 http://h.test/",
    "--include ( http://h.test/",
    "--resolve bad http://h.test/",
    "--proxy ftp://h.test http://h.test/",
    "--seeds missing.txt",
    "--rules missing.jsonl http://h.test/",
    "--config missing.toml http://h.test/",
    "--config unknown.toml http://h.test/",
    "--config wrong.toml http://h.test/",
    "--config broken.toml http://h.test/",
    "--resume http://h.test/",
    "--fresh -o full http://h.test/",
    "dedup missing",
    "decontaminate missing --against missing",
    "export missing",
    "export missing --format jsonl",
    "explain missing http://h.test/",
    "audit missing",
    "redirects missing missing",
    "clusters missing",
    "verify missing",
    "report missing",
    "status missing",
    "rules list missing",
    "reindex missing",
    "jwks missing.pem",
    "--sign missing.pem http://h.test/",
    "check bogus",
    "eval --pairs missing.tsv",
    "cluster init postgres://me:secret@db.test/crawls",
    "cluster drop postgres://me@db.test/crawls",
    "status mysql://db.test/crawls",
];

const FILES: [(&str, &str); 4] = [
    ("unknown.toml", "[scope]\ndept = 3\n"),
    ("wrong.toml", "[scope]\ndepth = \"x\"\n"),
    ("broken.toml", "no key"),
    ("full/file", ""),
];

/// One request at a time, so that the order of the pages is always the same.
const ONE_BY_ONE: [&str; 14] = [
    "--concurrency",
    "1",
    "--host-concurrency",
    "1",
    "--delay",
    "0",
    "--ip-delay",
    "0",
    "--allow-private",
    "--depth",
    "50",
    "--no-warc",
    "--no-report",
    "--quiet",
];

/// Sites of the corpora that are served on loopback, each below its name.
struct Sites {
    root: PathBuf,
    origin: String,
}

impl Content for Sites {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap_or_default().trim_start_matches('/');
        let mut file = self.root.join(path);
        if path.ends_with('/') {
            file.push("index.html");
        }
        match (fs::read(&file), file.extension().and_then(|extension| extension.to_str())) {
            (Ok(body), Some("html")) => Answer::html(body),
            (Ok(body), _) => Answer { body, ..Answer::text("") },
            (Err(_), _) => Answer::error(404),
        }
    }
}

/// A place with the program named `ndcrawl`, so that help texts are independent of its path.
struct Stage {
    place: Place,
}

impl Stage {
    fn new() -> Self {
        let place = Place::new();
        let program = std::env::var_os("NDCRAWL_GOLDEN_PROGRAM");
        let program = program.map_or_else(|| env!("CARGO_BIN_EXE_ndcrawl").into(), PathBuf::from);
        fs::create_dir_all(place.path("bin")).unwrap();
        std::os::unix::fs::symlink(program, place.path("bin/ndcrawl")).unwrap();
        for (name, text) in FILES {
            fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
            place.write(name, text);
        }
        Self { place }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::new(&self.place.path("bin/ndcrawl"), &self.place.path("")).args(arguments)
    }

    /// The verdicts of the run in the folder `out`.
    fn verdicts(&self) -> Vec<String> {
        pages(&self.place.path("out")).iter().map(verdict).collect()
    }
}

/// The fields of a line that depend on the decisions alone, separated by tabs.
fn verdict(line: &Value) -> String {
    let port = Regex::new(r"//127\.0\.0\.1:\d+/").unwrap();
    let fields = ["outcome", "url", "reason", "duplicate_of", "score", "decided_by"].map(|field| match &line[field] {
        Value::Null => "-".to_owned(),
        Value::String(text) => port.replace_all(text, "//127.0.0.1/").into_owned(),
        other => other.to_string(),
    });
    fields.join("\t")
}

/// Compares with the kept file, or renews it.
#[track_caller]
fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("NDCRAWL_GOLDEN").is_some_and(|action| action == "write") {
        fs::write(&path, found).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if kept == found {
        return;
    }
    let (kept, found): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), found.lines().collect());
    let at = kept.iter().zip(&found).take_while(|(kept, found)| kept == found).count();
    panic!(
        "{name} differs from line {} on ({} lines kept, {} found)\nkept:  {}\nfound: {}\n\
         if that is meant: NDCRAWL_GOLDEN=write cargo test --test it golden",
        at + 1,
        kept.len(),
        found.len(),
        kept.get(at).unwrap_or(&"(end)"),
        found.get(at).unwrap_or(&"(end)"),
    );
}

/// These sites, laid out below one folder, if they can be fetched in the versions that were kept.
fn layout(sites: &[&str]) -> Option<PathBuf> {
    let folder = fetch_sites("golden-sites", sites).map_err(|reason| skip(&reason)).ok()?;
    let other = sites.iter().find(|site| !is_as_listed(&folder, site));
    // The distribution updates its packages, which is no fault of the machine.
    other.into_iter().for_each(|site| say(&format!("{site} has a newer version: its verdicts are not compared")));
    other.is_none().then_some(folder)
}

/// The verdicts of a crawl that begins at these paths, in the order of the decisions.
fn crawl_of(root: PathBuf, paths: &[&str], arguments: &[&str]) -> Vec<String> {
    let web = Web::start(1, |origins| Arc::new(Sites { root, origin: origins[0].clone() }));
    let seeds: Vec<String> = paths.iter().map(|path| format!("{}/{path}/", web.origins()[0])).collect();
    let stage = Stage::new();
    let run = stage.run(&["--out", "out"]).args(ONE_BY_ONE).args(seeds).args(arguments);
    run.finish().expect_code(0);
    stage.verdicts()
}

/// The same, sorted: for runs in which the order depends on time, and the verdicts do not.
fn sorted(mut verdicts: Vec<String>) -> Vec<String> {
    verdicts.sort();
    verdicts
}

/// Copies the pages of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "html") {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

fn text_of(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

#[test]
fn verdicts_of_the_demo_are_unchanged() {
    let stage = Stage::new();
    stage.run(&["demo", "--quiet", "--out", "out"]).finish().expect_code(0);
    // The demo has several requests in flight, which end in any order.
    assert_golden("demo.tsv", &text_of(sorted(stage.verdicts())));
}

#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn verdicts_of_a_crawl_of_three_sites_are_unchanged() {
    let sites = ["maint-guide", "debfaq", "gtk2"];
    let Some(root) = layout(&sites) else { return };
    let arguments = ["--detector-option", "second_check=none", "--threshold", "0.5", "--duplicate-links", "defer"];
    assert_golden("crawl-three-sites.tsv", &text_of(crawl_of(root, &sites, &arguments)));
}

#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn verdicts_of_a_crawl_of_two_editions_are_unchanged() {
    let Some(root) = layout(&["inst-amd64", "inst-arm64"]) else { return };
    let paths = ["inst-amd64/en", "inst-arm64/en", "inst-amd64/de", "inst-arm64/de"];
    // Which URLs a rule predicts, and when, depends on how far the judge has come.
    let verdicts = crawl_of(root, &paths, &["--predicted", "fetch"]);
    assert_golden("crawl-two-editions.tsv", &text_of(sorted(verdicts)));
}

#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn verdicts_of_a_dedup_of_two_editions_are_unchanged() {
    let Some(root) = layout(&["inst-amd64", "inst-arm64"]) else { return };
    let stage = Stage::new();
    for path in ["inst-amd64/en", "inst-amd64/fr", "inst-arm64/en", "inst-arm64/fr"] {
        copy(&root.join(path), &stage.place.path("pages").join(path));
    }
    let run = stage.run(&["dedup", "pages", "--out", "out", "--no-warc", "--no-report", "--quiet"]);
    run.finish().expect_code(0);
    assert_golden("dedup-two-editions.tsv", &text_of(stage.verdicts()));
}

#[test]
fn help_texts_are_unchanged() {
    let stage = Stage::new();
    let mut text = String::new();
    for command in COMMANDS {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        let help = stage.run(&arguments).finish().expect_code(0).stdout;
        text.push_str(&format!("$ ndcrawl {}\n{help}\n", arguments.join(" ")));
    }
    assert_golden("help.txt", &text);
}

#[test]
fn settings_are_unchanged() {
    let stage = Stage::new();
    let mut text = stage.run(&["config", "show"]).finish().expect_code(0).stdout;
    text.push_str("$ ndcrawl config init\n");
    stage.run(&["config", "init", "written.toml"]).finish().expect_code(0);
    text.push_str(&fs::read_to_string(stage.place.path("written.toml")).unwrap());
    assert_golden("config.txt", &text);
}

#[test]
fn error_messages_are_unchanged() {
    let mut text = String::new();
    for line in MISTAKES {
        let stage = Stage::new();
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let finished = stage.run(&arguments).finish();
        assert!(finished.code.is_some_and(|code| code != 0), "{line}: {finished:?}");
        let code = finished.code.unwrap_or_default();
        text.push_str(&format!("$ ndcrawl {line}\n{}{}= {code}\n\n", finished.stdout, finished.stderr));
    }
    assert_golden("errors.txt", &text);
}
