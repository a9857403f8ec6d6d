//! Conformance suites, most of them from other projects, run through `ndcrawl check`.
//!
//! [`KNOWN`] lists every failing case with the reason; a listed case that passes fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use ndcrawl::model::Normalizer;
use serde_json::{Value, json};

use crate::foreign::output;
use crate::needs::data;

/// Failing cases by file, and why they may fail.
const KNOWN: [(&str, &[&str], &str); 6] = [
    (
        "url_wpt.json",
        &["wpt-293", "wpt-294", "wpt-295", "wpt-296", "wpt-297", "wpt-298", "wpt-805"],
        "the URL library refuses labels that begin with xn-- and decode to nothing; they are no host names in the DNS",
    ),
    (
        "html_meta_refresh_base.json",
        &["w3html-66"],
        "of two attributes of one name the first counts, in the standard and in browsers",
    ),
    (
        "encoding_w3lib.json",
        &["w3enc-47", "w3enc-48", "w3enc-63", "w3enc-64"],
        "w3lib takes any attribute for http-equiv that sounds like it; the standard and browsers do not",
    ),
    ("encoding_w3lib.json", &["w3enc-2"], "the standard has no UTF-32"),
    ("encoding_w3lib.json", &["w3enc-34"], "of several media types the Fetch standard takes the last, w3lib the first"),
    ("encoding_w3lib.json", &["w3enc-118"], "nothing is declared, and a detector guesses from a single byte"),
];

/// Requirement level of a case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Must,
    Should,
    /// Behavior of other programs; only counted.
    Informative,
}

use Level::{Informative, Must, Should};

/// The cases of one file and their results.
struct Suite {
    file: &'static str,
    cases: Vec<Value>,
    passed: BTreeMap<Level, usize>,
    failed: Vec<(Level, String, String)>,
}

impl Suite {
    fn open(file: &'static str) -> Self {
        let text = fs::read_to_string(data("conformance").join(file)).unwrap();
        let mut whole: Value = serde_json::from_str(&text).unwrap();
        let cases: Vec<Value> = serde_json::from_value(whole["cases"].take()).unwrap();
        assert!(!cases.is_empty(), "{file}");
        Self { file, cases, passed: BTreeMap::new(), failed: Vec::new() }
    }

    /// Pairs each case with its answer.
    fn answers(&self, kind: &str, question: impl Fn(&Value) -> Value) -> Vec<(Value, Value)> {
        let questions: Vec<Value> = self.cases.iter().map(question).collect();
        self.cases.iter().cloned().zip(ask(kind, &questions)).collect()
    }

    fn tell(&mut self, level: Level, case: &Value, passes: bool, got: &Value) {
        if passes {
            *self.passed.entry(level).or_default() += 1;
        } else {
            self.failed.push((level, case["id"].as_str().unwrap().to_owned(), format!("got {got}, case {case}")));
        }
    }

    /// Prints the figures; fails if a case fails that is not known to, or passes that is.
    fn finish(self) {
        let known = KNOWN.iter().filter(|(file, _, _)| *file == self.file);
        let known: BTreeMap<&str, &str> = known.flat_map(|(_, ids, why)| ids.iter().map(|id| (*id, *why))).collect();
        for level in [Must, Should, Informative] {
            let failed = self.failed.iter().filter(|(of, _, _)| *of == level).count();
            let passed = self.passed.get(&level).copied().unwrap_or_default();
            if passed + failed > 0 {
                println!("{}: {level:?}: {passed} passed, {failed} failed", self.file);
            }
        }
        let (mut wrong, mut met) = (Vec::new(), BTreeSet::new());
        let (informative, binding): (Vec<_>, Vec<_>) =
            self.failed.iter().partition(|(level, _, _)| *level == Informative);
        if !informative.is_empty() {
            println!("  others differ: {}", informative.iter().map(|(_, id, _)| &**id).collect::<Vec<_>>().join(" "));
        }
        for (level, id, what) in binding {
            met.insert(id.as_str());
            match known.get(id.as_str()) {
                Some(reason) => println!("  {id}: {reason}: {what}"),
                None => wrong.push(format!("{}/{id} ({level:?}): {what}", self.file)),
            }
        }
        wrong.extend(known.keys().filter(|id| !met.contains(*id)).map(|id| format!("{}/{id} passes", self.file)));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Runs `ndcrawl check KIND` on the questions.
fn ask(kind: &str, questions: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("questions");
    fs::write(&path, questions.iter().map(|question| format!("{question}\n")).collect::<String>()).unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_ndcrawl"));
    let output = output(check.args(["check", kind]).stdin(File::open(&path).unwrap()));
    assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .split_terminator('\n')
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), questions.len(), "{kind}");
    answers
}

/// Those of the named members that the case has.
fn members(case: &Value, names: &[&str]) -> Value {
    let found = names.iter().filter_map(|name| Some(((*name).to_owned(), case.get(*name)?.clone())));
    Value::Object(found.collect())
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The canonical form, if the text is a URL.
fn canonical(text: &str) -> Option<String> {
    Normalizer::default().absolute(text).ok().map(|url| url.to_string())
}

#[test]
fn each_line_is_answered_before_the_next_is_asked() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ndcrawl"))
        .args(["check", "trap"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (question, expected) in [
        (r#"{"url":"http://h.test/a/a/a/"}"#, r#"{"reject":true,"why":"repeated-segments"}"#),
        ("no question", r#"{"error":"not JSON: "#),
        (r#"{"url":"http://h.test/"}"#, r#"{"reject":false,"why":""}"#),
    ] {
        writeln!(questions, "{question}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.starts_with(expected), "{question}: {answer}");
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}

#[test]
fn rules_of_robots() {
    let mut suite = Suite::open("robots.json");
    let checks: Vec<(Value, Value)> = suite
        .cases
        .iter()
        .flat_map(|case| {
            let checks = case["checks"].as_array().unwrap().iter();
            checks.map(|check| (case.clone(), check.clone())).collect::<Vec<_>>()
        })
        .collect();
    let questions: Vec<Value> = checks
        .iter()
        .map(|(case, check)| {
            let mut question = members(case, &["robots", "robots_b64"]);
            question["agent"] = check["agent"].clone();
            question["url"] = check["url"].clone();
            question
        })
        .collect();
    for ((case, check), answer) in checks.iter().zip(ask("robots", &questions)) {
        let level = if text(case, "level") == "google" { Should } else { Must };
        suite.tell(level, case, answer["allowed"] == check["allowed"], &json!([check, answer]));
    }
    suite.finish();
}

#[test]
fn crawl_delays() {
    let mut suite = Suite::open("crawl_delay.json");
    for (case, answer) in suite.answers("robots", |case| members(case, &["robots", "robots_b64", "agent"])) {
        let expected = &case["crawl_delay_s"];
        let passes = expected.is_string() || answer["crawl_delay_s"].as_f64() == expected.as_f64();
        suite.tell(Must, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn sitemaps_that_robots_name() {
    let mut suite = Suite::open("robots_sitemaps.json");
    for (case, answer) in suite.answers("robots", |case| members(case, &["robots", "robots_b64"])) {
        let passes =
            answer["error"].is_null() && (case["sitemaps"].is_string() || answer["sitemaps"] == case["sitemaps"]);
        suite.tell(Must, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn sitemaps() {
    let mut suite = Suite::open("sitemaps.json");
    for (case, answer) in suite.answers("sitemap", |case| members(case, &["url", "body", "body_b64"])) {
        let agrees = |name: &str| case[name].is_string() || answer[name] == case[name];
        suite.tell(Must, &case, answer["error"].is_null() && agrees("pages") && agrees("sitemaps"), &answer);
    }
    suite.finish();
}

#[test]
fn encodings_by_the_prescan() {
    let mut suite = Suite::open("encoding_prescan.json");
    for (case, answer) in suite.answers("html", |case| members(case, &["data_b64"])) {
        let level = if text(&case, "level") == "must" { Must } else { Informative };
        let same = text(&answer, "encoding").eq_ignore_ascii_case(text(&case, "encoding"));
        suite.tell(level, &case, same, &answer["encoding"]);
    }
    suite.finish();
}

/// The standard's name of a Python codec.
fn encoding_of_codec(codec: &str) -> String {
    let known = [("utf-16", "utf-8"), ("big5hkscs", "big5"), ("cp1252", "windows-1252"), ("cp949", "euc-kr")];
    let known = known.into_iter().find(|(name, _)| *name == codec).map(|(_, name)| name.to_owned());
    known.unwrap_or_else(|| codec.replace("iso8859", "iso-8859").replace("cp125", "windows-125"))
}

#[test]
fn encodings_as_w3lib_reads_them() {
    let mut suite = Suite::open("encoding_w3lib.json");
    let question = |case: &Value| {
        let input = &case["input"];
        match (text(case, "kind"), input["b64"].as_str()) {
            ("content-type", _) => {
                let line = input.as_str().unwrap_or_default();
                json!({ "data_b64": "", "content_type": line.strip_prefix("Content-Type: ").unwrap_or(line) })
            }
            (_, Some(packed)) => json!({ "data_b64": packed }),
            (_, None) => json!({ "html": input }),
        }
    };
    for (case, answer) in suite.answers("html", question) {
        // A byte order mark comes with its length.
        let expected = if case["out"].is_array() { &case["out"][0] } else { &case["out"] };
        let got = text(&answer, "encoding").to_ascii_lowercase();
        let passes = match expected.as_str() {
            Some(codec) => got == encoding_of_codec(codec),
            // No declaration: the default, a detector's guess, or no text.
            None => matches!(got.as_str(), "" | "windows-1252" | "utf-8"),
        };
        suite.tell(Should, &case, passes, &answer["encoding"]);
    }
    suite.finish();
}

#[test]
fn links() {
    let mut suite = Suite::open("link_extract.json");
    for (case, answer) in suite.answers("html", |case| members(case, &["html", "page_url"])) {
        let listed =
            |name: &str| -> BTreeSet<String> { texts(&case[name]).iter().filter_map(|url| canonical(url)).collect() };
        let (links, nofollow) = (texts(&answer["links"]), texts(&answer["nofollow"]));
        let allowed = &listed("links") | &listed("optional");
        let passes = listed("links").is_subset(&links) && links.is_subset(&allowed) && listed("nofollow") == nofollow;
        suite.tell(Must, &case, passes, &json!([links, nofollow]));
    }
    suite.finish();
}

#[test]
fn refreshes_and_bases() {
    let mut suite = Suite::open("html_meta_refresh_base.json");
    for (case, answer) in suite.answers("html", |case| members(case, &["html", "page_url"])) {
        let passes = match (text(&case, "kind"), &answer["refresh"]) {
            ("base-url", _) => text(&answer, "base").trim_end_matches('/') == text(&case, "out").trim_end_matches('/'),
            (_, Value::Null) => case["out"] == json!([null, null]),
            (_, refresh) => *refresh == case["out"],
        };
        suite.tell(Should, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn directives_of_pages() {
    let mut suite = Suite::open("meta_robots.json");
    for (case, answer) in suite.answers("meta", |case| members(case, &["headers", "meta", "agent"])) {
        let expected = case["expect"].as_object().unwrap().iter().filter(|(_, set)| **set == json!(true));
        let passes = expected.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>() == texts(&answer["directives"]);
        suite.tell(Should, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn public_addresses() {
    let mut suite = Suite::open("ip_public.json");
    for (case, answer) in suite.answers("addr", |case| members(case, &["ip"])) {
        suite.tell(Must, &case, answer["public"] == case["public"], &answer);
    }
    suite.finish();
}

#[test]
fn private_addresses_in_all_spellings() {
    let mut suite = Suite::open("ssrf_urls.json");
    for (case, answer) in suite.answers("addr", |case| members(case, &["url"])) {
        suite.tell(Must, &case, answer["public"] == json!(false), &answer);
    }
    suite.finish();
}

#[test]
fn odd_spellings_of_addresses() {
    let mut suite = Suite::open("url_funky_ipv4.json");
    let question = |case: &Value| json!({ "input": format!("http://{}/", text(case, "host")) });
    for (case, answer) in suite.answers("url", question) {
        let passes = match case["whatwg"].as_str() {
            Some(address) => text(&answer, "url") == format!("http://{address}/"),
            None => answer["error"].is_string(),
        };
        suite.tell(Must, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn retry_after_values() {
    let mut suite = Suite::open("retry_after.json");
    const MAX: u64 = 3600;
    let question = |case: &Value| json!({ "value": case["value"], "now": case["now"], "max": MAX });
    for (case, answer) in suite.answers("retry-after", question) {
        let passes = match case["seconds"].as_str() {
            Some("cap") => answer["seconds"] == json!(MAX),
            // Two answers are correct.
            Some(_) => answer["error"].is_null(),
            None => answer["seconds"] == case["seconds"] && answer["error"].is_null(),
        };
        suite.tell(Must, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn traps() {
    let mut suite = Suite::open("traps.json");
    for (case, answer) in suite.answers("trap", |case| members(case, &["url"])) {
        let reject = case["heritrix_pathological"] == json!(true) || case["segments_over_20"] == json!(true);
        suite.tell(Should, &case, answer["reject"] == json!(reject), &answer);
    }
    suite.finish();
}

#[test]
fn names_of_files() {
    let mut suite = Suite::open("file_names.json");
    let mut names = BTreeSet::new();
    for (case, answer) in suite.answers("name", |case| members(case, &["url"])) {
        let name = text(&answer, "file");
        let is_safe = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
        let is_plain = !name.is_empty() && name.len() <= 255 && !name.starts_with(['.', '-']);
        let is_new = names.insert(name.to_lowercase());
        suite.tell(Must, &case, is_safe && is_plain && is_new, &answer);
    }
    suite.finish();
}

#[test]
fn texts_of_pages_are_escaped() {
    let mut suite = Suite::open("report_strings.json");
    for (case, answer) in suite.answers("escape", |case| members(case, &["text"])) {
        let (html, terminal) = (text(&answer, "html"), text(&answer, "terminal"));
        let no_markup = !html.contains(['<', '>', '"', '\'']) && !html.chars().any(char::is_control);
        let no_control = !terminal.chars().any(char::is_control) && !terminal.contains(['\u{2028}', '\u{202e}']);
        let cell = text(&answer, "csv").trim_start_matches('"');
        let no_formula = !cell.starts_with(['=', '+', '-', '@']) && !cell.chars().any(char::is_control);
        suite.tell(Must, &case, no_markup && no_control && no_formula, &answer);
    }
    suite.finish();
}

#[test]
fn registrable_domains() {
    let mut suite = Suite::open("psl.json");
    for case in suite.cases.clone() {
        // An invalid host has no domain; a name without one is its own domain.
        let got = Normalizer::default().absolute(&format!("http://{}/", text(&case, "host"))).ok();
        let got = got.filter(|_| !text(&case, "host").starts_with('.'));
        let got = got.filter(|url| url.registrable_domain() != url.host() || !case["registrable"].is_null());
        let got = got.and_then(|url| canonical(&format!("http://{}/", url.registrable_domain())));
        let expected = case["registrable"].as_str().and_then(|domain| canonical(&format!("http://{domain}/")));
        suite.tell(Must, &case, got == expected, &json!(got));
    }
    suite.finish();
}

#[test]
fn urls_of_the_web_platform() {
    let mut suite = Suite::open("url_wpt.json");
    for (case, answer) in suite.answers("url", |case| members(case, &["input", "base"])) {
        let is_web = ["http:", "https:"].iter().any(|scheme| text(&case, "href").starts_with(scheme));
        let fails = case["failure"] == json!(true);
        let passes = if fails { answer["error"].is_string() } else { answer["url"] == case["href"] };
        suite.tell(if is_web || fails { Must } else { Informative }, &case, passes, &answer);
    }
    suite.finish();
}

#[test]
fn references() {
    let mut suite = Suite::open("url_rfc3986_resolve.json");
    for (case, answer) in suite.answers("url", |case| json!({ "input": case["ref"], "base": case["base"] })) {
        let target = text(&case, "target");
        let passes = [target.to_owned(), format!("{target}/")].contains(&text(&answer, "url").to_owned());
        suite.tell(Must, &case, passes, &answer);
    }
    suite.finish();
}

/// The canonical forms of URLs, by `ndcrawl check`.
fn normalised(inputs: impl Iterator<Item = Value>) -> Vec<Value> {
    ask("url", &inputs.map(|input| json!({ "input": input, "normalise": true })).collect::<Vec<_>>())
}

#[test]
fn canonical_urls() {
    let mut suite = Suite::open("url_normalise.json");
    let cases = suite.cases.clone();
    let answers = normalised(cases.iter().map(|case| case["input"].clone()));
    let expected = normalised(cases.iter().map(|case| json!(text(case, "expected"))));
    let again = normalised(answers.iter().map(|answer| json!(text(answer, "url"))));
    for (((case, answer), expected), again) in cases.iter().zip(&answers).zip(&expected).zip(&again) {
        let is_must = matches!(text(case, "level"), "whatwg" | "whatwg-nofragment" | "rfc3986-percent");
        let is_stable = answer["url"].is_null() || answer == again;
        // The expected form is not crawlable, so the canonical form must not be either.
        let agrees = answer["url"] == expected["url"];
        suite.tell(if is_must { Must } else { Informative }, case, agrees && is_stable, answer);
        assert!(is_stable, "{case}: {answer}, then {again}");
    }
    suite.finish();
}

#[test]
fn odd_urls_cause_no_panic_and_normalize_idempotently() {
    let mut suite = Suite::open("url_no_panic.json");
    let cases = suite.cases.clone();
    let answers = normalised(cases.iter().map(|case| case["input"].clone()));
    let again = normalised(answers.iter().map(|answer| json!(text(answer, "url"))));
    for ((case, answer), again) in cases.iter().zip(&answers).zip(&again) {
        suite.tell(Must, case, answer["error"].is_string() || answer == again, answer);
    }
    suite.finish();
}
