//! Flags, exit codes and streams.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::foreign::{output, run};
use crate::graph::{Graph, Options};
use crate::needs::{Program, has_for_part};
use crate::program::{Finished, Place};
use crate::web::Web;

const SEED: &str = "http://127.0.0.1:9/";
/// The beginnings of log lines, which must not be on stdout.
const LOG_LINE: &str = r"(?m)^(\d{4}-\d\d-\d\dT|\s*(TRACE|DEBUG|INFO|WARN|ERROR)\b)";

fn small_web() -> Web {
    Web::start(1, |origins| Arc::new(Graph::new(origins, Options { pages: 12, ..Options::default() })))
}

#[test]
fn version_is_a_name_and_three_numbers() {
    let version = Place::new().run(["-V"]).finish().expect_code(0);
    assert!(Regex::new(r"^ndcrawl \d+\.\d+\.\d+").unwrap().is_match(&version.stdout), "{}", version.stdout);
}

#[test]
fn a_closed_pipe_causes_no_panic() {
    let line = format!("set -o pipefail; {} --help | head -1", env!("CARGO_BIN_EXE_ndcrawl"));
    let output = output(Command::new("bash").args(["-c", &line]));
    assert!(output.status.success(), "{output:?}");
    assert!(!output.stdout.is_empty());
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// Checks that a mistake ends the program with 2 and one line that names it, before anything is written.
#[track_caller]
fn assert_refused(arguments: &[&str], files: &[(&str, &str)], named: &str) {
    let mut last = None;
    // The machine may be busy with other tests: one quick run of three suffices.
    for _ in 0..3 {
        let place = Place::new();
        files.iter().for_each(|(name, text)| drop(place.write(name, text)));
        let finished = place.run(arguments).finish().expect_code(2);
        assert_eq!(finished.errors().len(), 1, "{}\n{}", finished.line, finished.stderr);
        assert!(finished.stderr.contains(named), "'{named}' is not named: {}", finished.stderr);
        assert!(finished.stdout.is_empty(), "{}", finished.stdout);
        assert_eq!(place.names().len(), files.len(), "something was written: {:?}", place.names());
        if finished.elapsed < Duration::from_secs(1) {
            return;
        }
        last = Some(finished);
    }
    panic!("too slow: {last:?}");
}

#[test]
fn a_bad_flag_is_refused() {
    assert_refused(&["--no-such-flag", SEED], &[], "--no-such-flag");
}

#[test]
fn a_bad_value_is_refused() {
    assert_refused(&["--depth=-1", SEED], &[], "depth");
    assert_refused(&["--depth", "-1", SEED], &[], "-1");
    assert_refused(&["--threshold", "1.5", SEED], &[], "1.5");
    assert_refused(&["--delay", "soon", SEED], &[], "soon");
    assert_refused(&["--duplicate-links", "perhaps", SEED], &[], "perhaps");
}

#[test]
fn a_bad_regular_expression_is_refused() {
    assert_refused(&["--exclude", "(", SEED], &[], "exclude");
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let file = ("wrong.toml", "[politeness]\ndelai = \"1s\"\n");
    assert_refused(&["--config", "wrong.toml", SEED], &[file], "delai");
    assert_refused(&["--config", "wrong.toml", SEED], &[file], "wrong.toml");
}

#[test]
fn an_unlimited_crawl_of_any_host_is_refused() {
    assert_refused(&["--scope", "any", SEED], &[], "--max-pages");
}

#[test]
fn unusable_seeds_are_refused() {
    assert_refused(&["--seeds", "empty.txt"], &[("empty.txt", "\u{feff}# nothing yet\r\n\r\n")], "empty.txt");
    assert_refused(&["--seeds", "absent.txt"], &[], "absent.txt");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    assert_refused(&["-o", "file/out", SEED], &[("file", "not a folder")], "file/out");
}

#[test]
fn one_usable_seed_suffices() {
    let place = Place::new();
    place.write("seeds.txt", "http://[::1\n# a comment\n\nhttp://127.0.0.1:9/\r\n");
    let finished = place.run(["--seeds", "seeds.txt", "--dry-run", "--json"]).finish().expect_code(0);
    assert!(finished.stderr.contains('1'), "the number of the bad line is not told: {}", finished.stderr);
}

/// The delay in seconds in the plan of a dry run.
fn planned_delay(place: &Place, arguments: &[&str], environment: &[(&str, &str)]) -> f64 {
    let mut run = place.run(["--dry-run", "--json", "-o", "out", SEED]).args(arguments);
    for (name, value) in environment {
        run = run.env(name, value);
    }
    let plan = run.finish().expect_code(0).json();
    let setting = &plan["settings"]["politeness.delay"];
    seconds(setting.get("value").unwrap_or(setting)).unwrap_or_else(|| panic!("no politeness.delay in {plan}"))
}

fn seconds(value: &Value) -> Option<f64> {
    let Value::String(text) = value else { return value.as_f64() };
    let (number, factor) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.trim_end_matches('s'), 1.0),
    };
    number.trim().parse::<f64>().ok().map(|number| number * factor)
}

#[test]
fn flags_beat_the_environment_which_beats_files_which_beat_defaults() {
    let place = Place::new();
    assert_eq!(planned_delay(&place, &[], &[]), 1.0);
    place.write("ndcrawl.toml", "[politeness]\ndelay = \"2s\"\n");
    assert_eq!(planned_delay(&place, &[], &[]), 2.0);
    place.write("other.toml", "[politeness]\ndelay = \"2500ms\"\n");
    assert_eq!(planned_delay(&place, &["--config", "other.toml"], &[]), 2.5);
    let environment = [("NDCRAWL_POLITENESS_DELAY", "3s")];
    assert_eq!(planned_delay(&place, &[], &environment), 3.0);
    assert_eq!(planned_delay(&place, &["--config", "other.toml"], &environment), 3.0);
    assert_eq!(planned_delay(&place, &["--delay", "4"], &environment), 4.0);
    assert_eq!(planned_delay(&place, &["--no-config"], &[]), 1.0);
    assert!(!place.path("out").exists());
}

#[test]
fn completions_and_manual_are_printed() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(["completions", shell]).finish().expect_code(0).stdout;
        assert!(script.contains("ndcrawl"), "{shell}");
        if shell == "bash" {
            let path = place.write("completions.bash", &script);
            run(Command::new("bash").arg("-n").arg(path));
        }
    }
    let manual = place.run(["man"]).finish().expect_code(0).stdout;
    assert!(manual.contains(".TH"), "{manual}");
    if has_for_part(&[Program("man")]) {
        let path = place.write("ndcrawl.1", &manual);
        run(Command::new("man").arg("-l").arg(path));
    }
}

#[test]
fn the_manual_refers_to_pages_that_are_written() {
    let place = Place::new();
    place.run(["man", "--out", "man1"]).finish().expect_code(0);
    let pages: Vec<String> = std::fs::read_dir(place.path("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let main = std::fs::read_to_string(place.path("man1/ndcrawl.1")).unwrap().replace('\\', "");
    let reference = Regex::new(r"(?m)^(ndcrawl-[a-z-]+)\(1\)").unwrap();
    let named: Vec<String> = reference.captures_iter(&main).map(|name| format!("{}.1", &name[1])).collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        assert!(pages.contains(&name), "{name} is not among {pages:?}");
    }
    place.write("file", "");
    let failed = place.run(["man", "--out", "file"]).finish().expect_code(2);
    assert!(failed.stderr.contains("file: the manual pages cannot be written"), "{}", failed.stderr);
}

fn assert_plain(finished: &Finished) {
    assert!(!Regex::new(LOG_LINE).unwrap().is_match(&finished.stdout), "{}", finished.stdout);
    for stream in [&finished.stdout, &finished.stderr] {
        assert!(!stream.contains('\u{1b}'), "an escape sequence: {stream:?}");
    }
}

#[test]
fn stdout_holds_a_short_summary_and_no_log() {
    let web = small_web();
    let place = Place::new();
    let finished = place.crawl(&[&web.origins()[0]]).args(["-v"]).finish().expect_code(0);
    assert_plain(&finished);
    let summary = finished.stdout.lines().count();
    assert!((1..=40).contains(&summary), "{}", finished.stdout);
}

#[test]
fn with_json_stdout_is_one_object() {
    let web = small_web();
    let place = Place::new();
    let finished = place.crawl(&[&web.origins()[0]]).args(["--json"]).finish().expect_code(0);
    assert_plain(&finished);
    finished.json();
    let quiet = place.run(["status", "out", "--json"]).finish().expect_code(0);
    quiet.json();
}

#[test]
fn settings_are_shown_with_their_origin() {
    let shown = Place::new().run(["config", "show"]).env("NDCRAWL_POLITENESS_DELAY", "3s").finish().expect_code(0);
    assert!(shown.stdout.contains("delay"), "{}", shown.stdout);
    assert!(shown.stdout.contains("3s"), "{}", shown.stdout);
}
