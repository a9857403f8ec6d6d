//! The reference pages in `docs/reference`: their tables are made from the code.
//!
//! All that is said of flags and configuration keys comes from the code. In other tables the last column of a row is prose: it is kept as it
//! stands in the page, and a new row begins with what the code says.
//! `NDCRAWL_GOLDEN=write cargo test --lib cli::reference` writes the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Arg, CommandFactory};
use regex::Regex;

use crate::cli::args::Arguments;
use crate::cli::config::schema::{self, Key, Shape};
use crate::cli::dashboard::metrics_of;
use crate::cli::status_file::{StatusFile, WaitingOrigin};

/// Where the generated part of a page begins and ends.
const BEGIN: &str = "<!-- generated from the code -->\n";
const BEGIN_WITH_PROSE: &str = "<!-- generated from the code; the last column is kept -->\n";
const END: &str = "<!-- end -->\n";

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The last cells of the rows of a page, by what stands in the first one.
fn prose_of(page: &str) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (first, _) = cells.split_once(" | ")?;
        let (_, last) = cells.rsplit_once(" | ")?;
        Some((first.to_owned(), last.to_owned()))
    };
    page.lines().filter_map(row).collect()
}

/// Compares the generated part of a page with `render`, which gets the prose of its rows; or writes it.
#[track_caller]
fn check(page: &str, render: impl FnOnce(&BTreeMap<String, String>) -> String) {
    let path = repository(page);
    let text = fs::read_to_string(&path).unwrap();
    let begin = [BEGIN, BEGIN_WITH_PROSE].into_iter().find(|begin| text.contains(begin));
    let begin = begin.unwrap_or_else(|| panic!("{page}: no generated part"));
    let (before, rest) = text.split_once(begin).unwrap();
    let (shown, after) = rest.split_once(END).unwrap_or_else(|| panic!("{page}: its generated part has no end"));
    let made = render(&prose_of(shown));
    if std::env::var("NDCRAWL_GOLDEN").is_ok_and(|value| value == "write") {
        fs::write(&path, format!("{before}{begin}{made}{END}{after}")).unwrap();
    } else if let Some((old, new)) = shown.lines().zip(made.lines()).find(|(old, new)| old != new) {
        panic!("{page} is stale: run NDCRAWL_GOLDEN=write cargo test --lib cli::reference\n-{old}\n+{new}");
    } else {
        assert_eq!(shown, made, "{page} is stale: run NDCRAWL_GOLDEN=write cargo test --lib cli::reference");
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// What a table can hold: no bar would end its cell.
fn cell(text: &str) -> String {
    if text.is_empty() { "–".to_owned() } else { text.replace('|', "\\|").replace("<", "&lt;") }
}

fn flags(key: &Key) -> String {
    match (key.name, key.short, key.flag) {
        ("seeds", ..) => "URL arguments".to_owned(),
        ("log.level", ..) => "`-q`, `-v`, `-vv`, `-vvv`".to_owned(),
        _ if key.option_name().is_some() => {
            code(&format!("--detector-option {}=…", key.option_name().unwrap_or_default()))
        }
        (_, Some(short), Some(long)) => format!("`-{short}`, `--{long}`"),
        (_, None, Some(long)) => code(&format!("--{long}")),
        _ => "–".to_owned(),
    }
}

/// Says which words a value may be, if the description does not name all of them.
fn values(key: &Key) -> String {
    let Shape::Choice(words) = key.shape else { return String::new() };
    let words: Vec<&str> = words.split('|').collect();
    if words.iter().all(|word| key.help().contains(word)) {
        return String::new();
    }
    format!("; one of {}", words.iter().map(|word| code(word)).collect::<Vec<_>>().join(", "))
}

/// Names the other spelling of a key that works.
fn other_name(key: &Key) -> String {
    key.alias.map(|alias| format!(" {} at the top level of a file means the same.", code(alias))).unwrap_or_default()
}

#[test]
fn configuration_keys() {
    check("docs/reference/configuration.md", |_| {
        let mut page = String::new();
        let mut table = None;
        for key in schema::all() {
            let of = key.name.rsplit_once('.').map_or("", |(table, _)| table);
            if table != Some(of) {
                let title = if of.is_empty() { "Start and end".to_owned() } else { format!("`[{of}]`") };
                // Writing to a String cannot fail, here and below.
                let _ = write!(page, "\n## {title}\n\n| key | flag | default | meaning |\n|---|---|---|---|\n");
                table = Some(of);
            }
            let meaning = format!("{}{}. {}{}", cell(key.help()), values(key), cell(&key.because()), other_name(key));
            let default = cell(key.shown_default());
            let fixed = if key.fixed { " **Fixed.**" } else { "" };
            let _ = writeln!(page, "| {} | {} | {default} | {meaning}{fixed} |", code(key.name), flags(key));
        }
        page + "\n"
    });
}

/// What the help of a flag says.
struct FlagText {
    flag: String,
    default: String,
    meaning: String,
    example: String,
}

impl FlagText {
    fn new(argument: &Arg) -> Self {
        let shown = argument.to_string();
        let short = argument.get_short().filter(|_| argument.get_long().is_some());
        let flag = short.map_or(shown.clone(), |short| format!("-{short}, {shown}"));
        let text = |help: Option<&StyledStr>| help.map(ToString::to_string).unwrap_or_default();
        let (help, long) = (text(argument.get_help()), text(argument.get_long_help()));
        // The help says a default that clap does not know.
        let (help, told) = match help.strip_suffix(']').and_then(|help| help.split_once(" [default: ")) {
            Some((help, default)) => (help.to_owned(), default.to_owned()),
            None => (help, String::new()),
        };
        let known = argument.get_default_values().iter().map(|value| value.to_string_lossy());
        let known: Vec<_> = known.filter(|value| value != "false").collect();
        let example = long.rsplit_once("Example: ").map_or(String::new(), |(_, example)| code(example.trim()));
        // The reasons for the defaults of keys stand in the list of keys.
        let has_key = schema::find(argument.get_id().as_str()).is_some() || example.contains("detector-option");
        let reason = long.split_once("\n\n").map(|(_, more)| more.split("Example: ").next().unwrap_or_default());
        let reason = reason.filter(|_| !has_key).map_or(String::new(), |reason| format!(". {}", reason.trim()));
        Self {
            flag,
            default: if told.is_empty() { known.join(", ") } else { told },
            meaning: format!("{help}{reason}").replace('\n', " "),
            example,
        }
    }

    fn row(&self, with_example: bool) -> String {
        let flag = code(&self.flag.replace('|', "\\|"));
        let example = if with_example { format!(" {} |", cell(&self.example)) } else { String::new() };
        format!("| {flag} | {} | {} |{example}\n", cell(&self.default), cell(&self.meaning))
    }
}

/// The table of a command. What `ndcrawl crawl` has, too, is named only.
fn flag_table(title: &str, arguments: &[&Arg], of_crawl: &BTreeSet<(String, String)>) -> String {
    let texts: Vec<FlagText> = arguments.iter().map(|argument| FlagText::new(argument)).collect();
    let (shared, own): (Vec<_>, Vec<_>) =
        texts.iter().partition(|text| of_crawl.contains(&(text.flag.clone(), text.meaning.clone())));
    let has_example = own.iter().any(|text| !text.example.is_empty());
    let mut page = format!("## {title}\n\n");
    if !own.is_empty() {
        page += if has_example {
            "| flag | default | meaning | example |\n|---|---|---|---|\n"
        } else {
            "| flag | default | meaning |\n|---|---|---|\n"
        };
        page.extend(own.iter().map(|text| text.row(has_example)));
        page.push('\n');
    }
    if !shared.is_empty() {
        let names: Vec<String> = shared.iter().map(|text| code(&text.flag.replace('|', "\\|"))).collect();
        page += &format!("As in `ndcrawl crawl`: {}.\n\n", names.join(", "));
    }
    page
}

#[test]
fn flags_of_all_commands() {
    check("docs/reference/flags.md", |_| {
        let mut program = Arguments::command();
        program.build();
        let mut page = String::from("\n");
        let mut of_crawl = BTreeSet::new();
        let mut commands = vec![(String::new(), program)];
        while let Some((name, command)) = commands.pop() {
            let is_listed =
                |argument: &&Arg| !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version");
            let arguments: Vec<&Arg> = command.get_arguments().filter(is_listed).collect();
            // A crawl has the flags of the program itself.
            if !arguments.is_empty() && name != "crawl" {
                let title = if name.is_empty() {
                    "`ndcrawl` and `ndcrawl crawl`".to_owned()
                } else {
                    code(&format!("ndcrawl {name}"))
                };
                page += &flag_table(&title, &arguments, &of_crawl);
                if name.is_empty() {
                    let texts = arguments.iter().map(|argument| FlagText::new(argument));
                    of_crawl = texts.map(|text| (text.flag, text.meaning)).collect();
                }
            }
            let mut inner: Vec<_> = command
                .get_subcommands()
                .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
                .map(|inner| (format!("{name} {}", inner.get_name()).trim().to_owned(), inner.clone()))
                .collect();
            inner.reverse();
            commands.append(&mut inner);
        }
        page
    });
}

#[test]
fn metrics() {
    let status =
        StatusFile { duplicate_rate: Some(0.5), waiting: vec![WaitingOrigin::default()], ..StatusFile::default() };
    let status = StatusFile { outcomes: [("stored".to_owned(), 1)].into(), ..status };
    let text = metrics_of(&status);
    check("docs/reference/metrics.md", |prose| {
        let mut page = String::from("\n| metric | type | meaning |\n|---|---|---|\n");
        let family = Regex::new(r"(?m)^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n(.*)$").unwrap();
        let label = Regex::new(r#"(\w+)=""#).unwrap();
        for found in family.captures_iter(&text) {
            let labels: Vec<&str> = label.captures_iter(&found[4]).map(|name| name.get(1).unwrap().as_str()).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let name = code(&format!("{}{labels}", &found[1]));
            let meaning = prose.get(&name).cloned().unwrap_or_else(|| cell(&found[2]));
            let _ = writeln!(page, "| {name} | {} | {meaning} |", &found[3]);
        }
        page + "\n"
    });
}

#[test]
fn exit_codes() {
    let source = fs::read_to_string(repository("src/cli/errors.rs")).unwrap();
    let source = source.split("pub mod exit {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let constant = Regex::new(r"/// (.*)\n    pub const \w+: u8 = (\d+);").unwrap();
    check("docs/reference/exit-codes.md", |prose| {
        let mut page = String::from("\n| code | meaning |\n|---|---|\n");
        for found in constant.captures_iter(source) {
            let meaning = prose.get(&found[2]).cloned().unwrap_or_else(|| cell(&found[1]));
            let _ = writeln!(page, "| {} | {meaning} |", &found[2]);
        }
        page + "\n"
    });
}

#[test]
fn fields_of_a_page_line() {
    let source = fs::read_to_string(repository("crates/model/src/page_line.rs")).unwrap();
    let source = source.split("pub struct PageLine {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let field = Regex::new(r"    /// (.*)\n(?:    ///.*\n)*(?:    #\[.*\n)*    pub (\w+): (.*),\n").unwrap();
    check("docs/reference/output.md", |prose| {
        let mut page = String::from("\n| field | type | meaning |\n|---|---|---|\n");
        for found in field.captures_iter(&format!("{source}\n")) {
            let name = code(if &found[2] == "media_type" { "type" } else { &found[2] });
            let inner = found[3].trim_start_matches("Option<").trim_end_matches('>');
            let kind = match inner {
                "String" | "OutcomeKind" | "Reason" | "TextError" => "string",
                "bool" => "boolean",
                _ if inner.starts_with("Vec<") => "array",
                "u16" | "u32" | "u64" | "f64" => "number",
                _ => "object",
            };
            let meaning = prose.get(&name).cloned().unwrap_or_else(|| cell(&found[1]));
            let _ = writeln!(page, "| {name} | {kind} | {meaning} |");
        }
        page + "\n"
    });
}
