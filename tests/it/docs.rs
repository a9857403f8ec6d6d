//! What the documentation says of files, functions, commands, flags, keys, fields and metrics is true.

mod markdown;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ndcrawl::model::{OutcomeKind, Reason};
use regex::Regex;

use crate::program::Place;
use markdown::{Markdown, spans};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files with this extension below a folder of the repository, relative to its root.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The files in which people read about the program, with what is in them.
fn pages() -> BTreeMap<PathBuf, Markdown> {
    let texts = files("", "md").into_iter().filter(|path| !path.starts_with("tests/data"));
    texts.map(|path| (path.clone(), Markdown::parse(&read(&path)))).collect()
}

fn sources() -> String {
    ["src", "crates", "tests", "benches"].iter().flat_map(|folder| files(folder, "rs")).map(read).collect()
}

/// Fails with all faults at once.
#[track_caller]
fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_relative_link_leads_somewhere() {
    let pages = pages();
    let mut faults = Vec::new();
    let mut count = 0;
    for (path, page) in &pages {
        for link in page.links().into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            if !root().join(&target).exists() {
                faults.push(format!("{}: {link} does not exist", path.display()));
            } else if !anchor.is_empty() && !Markdown::parse(&read(&target)).anchors().iter().any(|a| a == anchor) {
                faults.push(format!("{}: {link} has no such heading", path.display()));
            }
        }
    }
    assert!(count > 50, "{count} links");
    assert_none(faults);
}

#[test]
fn every_page_is_in_an_index() {
    let linked = |index: &str| {
        let folder = Path::new(index).parent().unwrap().to_owned();
        let links = Markdown::parse(&read(index)).links().into_iter();
        links.map(move |link| folder.join(link.split('#').next().unwrap_or_default())).collect::<Vec<_>>()
    };
    let listed: Vec<PathBuf> = ["docs/README.md", "docs/design/README.md"].into_iter().flat_map(linked).collect();
    let pages = files("docs", "md")
        .into_iter()
        .filter(|path| !matches!(path.to_str(), Some("docs/README.md" | "docs/SUMMARY.md")));
    assert_none(
        pages.filter(|path| !listed.contains(path)).map(|path| format!("{} is in no index", path.display())).collect(),
    );
}

#[test]
fn the_book_has_every_page_once_in_the_order_of_the_indexes() {
    let links = |path: &str| Markdown::parse(&read(path)).links();
    let of_design =
        links("docs/design/README.md").into_iter().filter(|link| link.ends_with(".md") && !link.contains('/'));
    let of_design: Vec<String> = of_design.map(|link| format!("design/{link}")).collect();
    let mut expected = vec!["README.md".to_owned()];
    for link in links("docs/README.md").into_iter().filter(|link| link.ends_with(".md") && !link.starts_with("..")) {
        expected.push(link.clone());
        expected.extend(of_design.iter().filter(|_| link == "design/README.md").cloned());
    }
    assert_eq!(links("docs/SUMMARY.md"), expected);
    let files = files("docs", "md").into_iter().filter(|path| path != Path::new("docs/SUMMARY.md"));
    let listed: BTreeSet<PathBuf> = expected.iter().map(|link| Path::new("docs").join(link)).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), listed);
    let book: toml::Table = read("docs/book.toml").parse().unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("."));
}

/// The book has the files below docs, and each page under its own name with another extension.
#[test]
fn no_link_of_the_book_leads_out_of_it() {
    let pages = pages();
    let book: Vec<_> = pages.iter().filter(|(path, _)| path.starts_with("docs")).collect();
    let listed: BTreeSet<PathBuf> =
        pages[Path::new("docs/SUMMARY.md")].links().iter().map(|link| Path::new("docs").join(link)).collect();
    let mut faults = Vec::new();
    for (path, page) in book {
        for link in page.links().into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let file = link.split('#').next().unwrap_or_default();
            let target = if file.is_empty() { path.clone() } else { within(&path.parent().unwrap().join(file)) };
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            let is_there = if is_page {
                listed.contains(&target) || target.ends_with("SUMMARY.md")
            } else {
                root().join(&target).is_file()
            };
            if !target.starts_with("docs") || !is_there {
                faults.push(format!("{}: {link} is not in the book", path.display()));
            }
        }
    }
    assert_none(faults);
    let settings: toml::Table = read("docs/book.toml").parse().unwrap();
    assert_eq!(settings["build"]["use-default-preprocessors"].as_bool(), Some(false), "links to README.md would break");
}

/// Resolves `..` in a path of this repository. One that leads out of it keeps them.
fn within(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir if whole.file_name().is_some() => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    whole
}

/// A path of this repository in a code span: it begins with one of its folders.
fn named_path(span: &str) -> Option<&str> {
    let path = Regex::new(r"^(\.ci|benches|config|crates|docs|seeds|src|tests)(/[\w.*-]+)+/?$").unwrap();
    (path.is_match(span) && !span.contains('*')).then_some(span)
}

#[test]
fn every_path_in_code_exists() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        for span in page.prose().iter().flat_map(|line| spans(line)) {
            if let Some(named) = named_path(&span) {
                count += 1;
                if !root().join(named).exists() {
                    faults.push(format!("{}: {named} does not exist", path.display()));
                }
            }
        }
    }
    assert!(count > 100, "{count} paths");
    assert_none(faults);
}

#[test]
fn every_function_of_the_map_stands_in_a_file_of_its_line() {
    let function = Regex::new(r"^\w+::(\w+)$").unwrap();
    let mut count = 0;
    for line in Markdown::parse(&read("ARCHITECTURE.md")).prose() {
        let spans = spans(line);
        let texts: String =
            spans.iter().filter_map(|span| named_path(span)).filter(|p| p.ends_with(".rs")).map(read).collect();
        for name in spans.iter().filter_map(|span| function.captures(span)) {
            count += 1;
            let declared = Regex::new(&format!(r"\bfn {}\b", &name[1])).unwrap();
            assert!(declared.is_match(&texts), "{} is in no file of this line: {line}", &name[0]);
        }
    }
    assert!(count >= 10, "{count} functions");
}

#[test]
fn every_test_that_security_names_exists() {
    let sources = sources();
    let name = Regex::new(r"^[a-z0-9]+(_[a-z0-9]+){2,}$").unwrap();
    let page = Markdown::parse(&read("SECURITY.md"));
    let named = || page.prose().iter().flat_map(|line| spans(line)).filter(|span| name.is_match(span));
    assert!(named().count() > 10);
    assert_none(named().filter(|name| !sources.contains(&format!("fn {name}("))).collect());
}

#[test]
fn the_readme_has_at_most_200_lines() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 200, "{lines} lines");
}

#[test]
fn the_readme_names_the_oldest_rust_that_is_tested() {
    let manifest = read("Cargo.toml");
    let version = Regex::new("rust-version = \"([0-9.]+)\"").unwrap();
    let version = &version.captures(&manifest).unwrap()[1];
    assert!(read("README.md").contains(&format!("Minimum Rust version: {version}.")), "{version}");
}

/// What the program's help knows: the flags of each command; of the program itself under "".
fn help() -> BTreeMap<String, BTreeSet<String>> {
    let place = Place::new();
    let help_of = |words: &[&str]| place.run(words).args(["--help"]).finish().expect_code(0).stdout;
    let flag = Regex::new(r"(?m)(?:^|[\s,])(--?[a-zA-Z][a-z0-9-]*)").unwrap();
    let command = Regex::new(r"(?m)^  ([a-z]+)  ").unwrap();
    let flags = |text: &str| flag.captures_iter(text).map(|flag| flag[1].to_owned()).collect::<BTreeSet<_>>();
    let main = help_of(&[]);
    let mut known = BTreeMap::from([(String::new(), flags(&main))]);
    let commands = main.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for name in command.captures_iter(commands).map(|name| name[1].to_owned()).filter(|name| name != "help") {
        let mut text = help_of(&[&name]);
        if name == "cluster" {
            for part in ["init", "stop", "resume", "drop"] {
                text.push_str(&help_of(&["cluster", part]));
            }
        }
        if name == "config" {
            text.push_str(&help_of(&["config", "show"]));
            text.push_str(&help_of(&["config", "init"]));
        }
        known.insert(name, flags(&text));
    }
    known
}

/// The arguments of this program in a piece of code; `None` if it calls another one.
fn arguments(code: &str) -> Option<&str> {
    let call = Regex::new(r"(?:^|\| )(?:ndcrawl|cargo run --release --)(?: |$)").unwrap();
    // Of another program: cargo's features.
    if code.starts_with("--features") {
        return None;
    }
    let rest = if code.starts_with('-') { code } else { &code[call.find(code)?.end()..] };
    [" | ", " > ", "  #", "\"$("].iter().filter_map(|end| rest.split(end).next()).min_by_key(|rest| rest.len())
}

#[test]
fn every_command_and_flag_is_in_the_help() {
    let help = help();
    let all: BTreeSet<&String> = help.values().flatten().collect();
    let word = Regex::new(r"^[a-z]+$").unwrap();
    let flag = Regex::new(r"^--?[a-zA-Z][a-zA-Z0-9-]*").unwrap();
    let mut faults = Vec::new();
    let mut count = 0;
    for (path, page) in
        pages().into_iter().filter(|(path, _)| !path.starts_with("crates") && !path.starts_with("tests"))
    {
        for code in page.code() {
            let Some(rest) = arguments(&code) else { continue };
            let first = rest.split_whitespace().next().unwrap_or_default();
            let command = if word.is_match(first) { first } else { "" };
            if !help.contains_key(command) {
                faults.push(format!("{}: no command '{command}' in: {code}", path.display()));
                continue;
            }
            for flag in rest.split_whitespace().filter_map(|word| flag.find(word)) {
                count += 1;
                let is_known = if code.starts_with('-') {
                    all.contains(&flag.as_str().to_owned())
                } else {
                    help[command].contains(flag.as_str())
                };
                if !is_known {
                    faults.push(format!("{}: no flag {} in: {code}", path.display(), flag.as_str()));
                }
            }
        }
    }
    assert!(count > 100, "{count} flags");
    assert_none(faults);
}

/// The first cells of a page's table rows, without backticks and without what stands in braces.
fn first_cells(page: &str) -> BTreeSet<String> {
    let cell = Regex::new(r"^\| (`[^|]+`) \|").unwrap();
    let rows = read(page);
    let cells = rows.lines().filter_map(|line| cell.captures(line)).flat_map(|cell| spans(&cell[1]));
    cells.map(|name| name.split('{').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_reference_has_every_command_and_no_other() {
    let commands: BTreeSet<String> = help().into_keys().filter(|name| !name.is_empty()).collect();
    assert_eq!(first_cells("docs/reference/commands.md"), commands);
}

#[test]
fn the_reference_has_every_configuration_key_and_no_other() {
    let plan = Place::new().run(["--dry-run", "--json", "http://127.0.0.1:9/"]).finish().expect_code(0).json();
    let keys: BTreeSet<String> = plan["settings"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(first_cells("docs/reference/configuration.md"), keys);
}

#[test]
fn the_glossary_has_every_outcome() {
    let listed = first_cells("docs/concepts/glossary.md");
    let readme = read("README.md");
    for outcome in OutcomeKind::ALL {
        assert!(listed.contains(outcome.name()), "{} is not in the glossary", outcome.name());
        assert!(readme.contains(&format!("| `{}` |", outcome.name())), "{} is not in the README", outcome.name());
    }
}

#[test]
fn the_glossary_has_every_reason() {
    let listed = first_cells("docs/concepts/glossary.md");
    assert_none(Reason::all().map(|reason| reason.name().to_owned()).filter(|name| !listed.contains(name)).collect());
}

#[test]
fn the_reference_has_every_field_of_a_line() {
    let source = read("crates/model/src/page_line.rs");
    let fields = source.split("pub struct PageLine {").nth(1).unwrap().split("\n}").next().unwrap();
    let field = Regex::new(r"(?m)^    pub (?:r#)?(\w+):").unwrap();
    let listed = first_cells("docs/reference/output.md");
    let fields: BTreeSet<&str> = field.captures_iter(fields).map(|field| field.get(1).unwrap().as_str()).collect();
    assert!(fields.len() > 30, "{fields:?}");
    let written = |name| if name == "media_type" { "type" } else { name };
    assert_none(fields.into_iter().map(written).filter(|name| !listed.contains(*name)).map(str::to_owned).collect());
}

#[test]
fn the_dashboard_over_all_workers_asks_for_metrics_that_exist() {
    let dashboard: serde_json::Value = serde_json::from_str(&read("config/cluster/grafana.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let name = Regex::new(r"\bndcrawl_[a-z_]+").unwrap();
    let asked: BTreeSet<String> = targets
        .flat_map(|target| {
            let query = target["expr"].as_str().unwrap();
            name.find_iter(query).map(|found| found.as_str().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert!(asked.len() >= 5);
    let unknown: Vec<String> = asked.difference(&first_cells("docs/reference/metrics.md")).cloned().collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn the_reference_has_every_metric() {
    let listed = first_cells("docs/reference/metrics.md");
    let sample = Regex::new(r"(?m)^\s*(ndcrawl_[a-z_]+)(?:\{|\s)").unwrap();
    let source = read("src/cli/dashboard/metrics.rs");
    let sampled: BTreeSet<String> = sample.captures_iter(&source).map(|name| name[1].to_owned()).collect();
    let documented: BTreeSet<String> = listed.into_iter().filter(|name| name.starts_with("ndcrawl_")).collect();
    assert_eq!(documented, sampled);
}

#[test]
fn every_test_module_and_benchmark_exists() {
    let manifests = read("Cargo.toml") + &files("crates", "toml").iter().map(read).collect::<String>();
    let sources = sources();
    let test = Regex::new(r"--test it ([a-z_0-9]+)").unwrap();
    let bench = Regex::new(r"--bench ([a-z_]+)").unwrap();
    let mut faults = Vec::new();
    for (path, code) in
        pages().into_iter().flat_map(|(path, page)| page.code().into_iter().map(move |code| (path.clone(), code)))
    {
        for name in test.captures_iter(&code).map(|name| name[1].to_owned()) {
            let exists =
                sources.contains(&format!("fn {name}(")) || root().join(format!("tests/it/{name}.rs")).exists();
            faults.extend((!exists).then(|| format!("{}: no test {name}", path.display())));
        }
        for name in bench.captures_iter(&code).map(|name| name[1].to_owned()) {
            let exists = manifests.contains(&format!("[[bench]]\nname = \"{name}\""));
            faults.extend((!exists).then(|| format!("{}: no benchmark {name}", path.display())));
        }
    }
    assert_none(faults);
}

/// Without what differs from run to run.
fn normalize(text: &str) -> String {
    let changes = [
        (r"after (\d+ min )?[\d.]+ m?s", "after TIME"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"NDCRAWL-\S+\.warc\.gz, offset \d+", "FILE, offset N"),
        (r"[\d.]+ KiB", "SIZE"),
    ];
    changes.iter().fold(text.to_owned(), |text, (pattern, with)| {
        Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned()
    })
}

/// The shown calls of this program, each with the output that is shown.
fn transcripts(page: &Path) -> Vec<(String, String)> {
    let text = read(page);
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let calls = blocks.flat_map(|block| block.strip_prefix("$ ").unwrap().split("\n$ "));
    let parted = calls.map(|call| call.split_once('\n').unwrap_or((call, "")));
    parted
        .filter(|(call, _)| call.contains("ndcrawl "))
        .map(|(call, shown)| (call.to_owned(), shown.to_owned()))
        .collect()
}

#[test]
fn commands_print_what_the_documentation_shows() {
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_ndcrawl"));
    let demo = place.run(["demo"]).finish().expect_code(0).stdout;
    let urls = crate::program::pages(&place.path("demo-out"));
    let port = Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    let host = port.find(urls[0]["url"].as_str().unwrap()).unwrap().as_str().to_owned();
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages().into_keys().filter(|page| page.starts_with("docs") || page == Path::new("README.md")) {
        // The cookbook has sites of its own.
        for (call, shown) in transcripts(&page).into_iter().filter(|_| !page.ends_with("cookbook.md")) {
            count += 1;
            let line = port.replace_all(&call, host.as_str()).replace("ndcrawl ", &format!("{} ", program.display()));
            let printed = match call.as_str() {
                "ndcrawl demo" => demo.clone(),
                _ => crate::foreign::run(
                    std::process::Command::new("bash")
                        .args(["-c", &format!("{line} 2>&1")])
                        .current_dir(place.path(".")),
                ),
            };
            let (printed, shown) = (normalize(&printed), normalize(&shown));
            let missing =
                shown.lines().filter(|line| *line != "..." && !printed.lines().any(|printed| printed == *line));
            faults.extend(missing.map(|line| format!("{}: {call} does not print: {line}", page.display())));
        }
    }
    assert!(count >= 8, "{count} calls");
    assert_none(faults);
    let fields = first_cells("docs/reference/output.md");
    let unknown = urls.iter().flat_map(|line| line.as_object().unwrap().keys()).filter(|key| !fields.contains(*key));
    assert_none(unknown.map(|key| format!("{key} is not in the reference")).collect());
}

/// The sample of the library guide. What it prints is gathered.
mod library_sample {
    use std::cell::RefCell;

    thread_local! {
        static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
    }

    macro_rules! println {
        ($($argument:tt)*) => {
            PRINTED.with_borrow_mut(|printed| {
                printed.push_str(&format!($($argument)*));
                printed.push('\n');
            })
        };
    }

    include!("docs/library_sample.rs");

    pub fn output() -> String {
        main().unwrap();
        PRINTED.take()
    }
}

#[test]
fn the_sample_of_the_library_guide_is_compiled_and_prints_what_it_says() {
    let guide = read("docs/guide/library.md");
    assert!(guide.contains(&read("tests/it/docs/library_sample.rs")), "the guide shows another sample");
    let printed = library_sample::output();
    assert!(guide.contains(&format!("```text\n{printed}```")), "{printed}");
}
