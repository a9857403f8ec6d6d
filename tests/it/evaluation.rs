//! `eval` on labelled pages, synthetic and real.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::corpora::{corpora, sites};
use crate::needs::skip;
use crate::program::{Finished, Place};

/// Words of a page: `count` of them, from the `first` on.
fn words(first: usize, count: usize) -> String {
    (first..first + count).map(|number| format!("word{} ", letters(number))).collect()
}

/// A number in letters, since terms of digits could be treated otherwise.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(b'a' + (digit - b'0'))).collect()
}

/// Pages of a site: `a` and `b` share nine tenths of their words, `c` none, `d` has the bytes of `a`.
fn site() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("pages/site")).unwrap();
    let page = |text: String| format!("<html lang=\"en\"><body><p>{text}</p></body></html>");
    let pages = [
        ("a.html", page(words(100, 60))),
        ("b.html", page(words(106, 60))),
        ("c.html", page(words(500, 60))),
        ("d.html", page(words(100, 60))),
    ];
    for (name, text) in pages {
        place.write(&format!("pages/site/{name}"), &text);
    }
    place
}

fn url(name: &str) -> String {
    format!("http://site.localhost:8080/{name}")
}

fn pairs(rows: &[(&str, &str, &str, &str)]) -> String {
    let rows = rows.iter().map(|(a, b, label, kind)| format!("{}\t{}\t{label}\t{kind}\n", url(a), url(b)));
    format!("#url_a\turl_b\tlabel\tkind\n{}", rows.collect::<String>())
}

fn objects(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn numbers(object: &Value, names: &[&str]) -> Vec<f64> {
    names.iter().map(|name| object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))).collect()
}

const PAIRS: [(&str, &str, &str, &str); 6] = [
    ("a.html", "d.html", "dup", "copy"),
    ("a.html", "b.html", "near", "version"),
    ("b.html", "c.html", "distinct", "cross"),
    ("a.html", "b.html", "distinct", "cross"),
    ("a.html", "b.html", "grey", "cross"),
    ("a.html", "gone.html", "near", "version"),
];

#[test]
fn pairs_are_counted_by_kind_for_each_detector_and_threshold() {
    let place = site();
    place.write("pairs.tsv", &pairs(&PAIRS));
    let arguments = [
        "eval",
        "--detector-option",
        "second_check=none",
        "--pairs",
        "pairs.tsv",
        "--pages",
        "pages",
        "--json",
        "--detector",
        "all",
        "-t",
        "0.8",
        "-t",
        "1",
    ];
    let finished = place.run(arguments).finish().expect_code(0);
    assert!(finished.stderr.contains("1 of 5 pages missing"), "{}", finished.stderr);
    assert!(finished.stderr.contains("site/gone.html: no such file"), "{}", finished.stderr);
    let counts: BTreeMap<String, Vec<f64>> = objects(&finished)
        .iter()
        .map(|line| {
            let name = format!(
                "{} {} {}",
                line["detector"].as_str().unwrap(),
                line["threshold"],
                line["kind"].as_str().unwrap()
            );
            (name, numbers(line, &["tp", "fp", "fn", "tn"]))
        })
        .collect();
    let expected = [
        ("mwo 0.8 all", [2.0, 1.0, 0.0, 1.0]),
        ("mwo 0.8 copy", [1.0, 0.0, 0.0, 0.0]),
        ("mwo 0.8 version", [1.0, 0.0, 0.0, 0.0]),
        ("mwo 0.8 cross", [0.0, 1.0, 0.0, 1.0]),
        ("mwo 1.0 all", [1.0, 0.0, 1.0, 2.0]),
        ("none 0.8 all", [1.0, 0.0, 1.0, 2.0]),
    ];
    for (name, expected) in expected {
        assert_eq!(counts.get(name).map(Vec::as_slice), Some(&expected[..]), "{name} in {counts:?}");
    }
    let all = &objects(&finished)[0];
    assert_eq!(numbers(all, &["precision", "recall", "f1"]), [0.666667, 1.0, 0.8]);
    // The index holds nothing, then `a`, then `a`; `d` is an exact copy and makes no query.
    assert_eq!(numbers(&all["cost"], &["probes", "records_per_probe"]), [3.0, 0.666667]);
    let closest = &all["borderlines"][0];
    assert_eq!((closest["right"].as_bool(), closest["label"].as_str()), (Some(false), Some("distinct")));
}

/// Two hosts with one frame around all their pages, which are otherwise different.
#[test]
fn hosts_of_pairs_are_known_by_all_their_pages() {
    let place = Place::new();
    for (host, name) in ["one", "other"].iter().enumerate() {
        fs::create_dir_all(place.path(&format!("pages/{name}/sub"))).unwrap();
        for page in 0..20 {
            let text = format!("{} {}", words(100_000, 150), words(1000 * (20 * host + page + 1), 40));
            let file = if page == 0 { "first.html".to_owned() } else { format!("sub/{page}.html") };
            place.write(
                &format!("pages/{name}/{file}"),
                &format!("<html lang=\"en\"><body><p>{text}</p></body></html>"),
            );
        }
    }
    let first = "http://one.localhost:8080/first.html\thttp://other.localhost:8080/first.html\tdistinct\tframe\n";
    place.write("pairs.tsv", &format!("#url_a\turl_b\tlabel\tkind\n{first}"));
    let found = || {
        let arguments = ["eval", "--pairs", "pairs.tsv", "--pages", "pages", "--json"];
        numbers(&objects(&place.run(arguments).finish().expect_code(0))[0], &["fp", "tn"])
    };
    assert_eq!(found(), [0.0, 1.0]);
    // Of the two pages alone, nobody can tell the frame from the text.
    for name in ["one", "other"] {
        fs::remove_dir_all(place.path(&format!("pages/{name}/sub"))).unwrap();
    }
    assert_eq!(found(), [1.0, 0.0]);
}

#[test]
fn clusters_are_decided_in_the_order_of_the_file() {
    let place = site();
    let rows = [
        ("c.html", 0, "page"),
        ("gone.html", 9, "page"),
        ("a.html", 1, "page"),
        ("b.html", 2, "page"),
        ("d.html", 1, "copy"),
        ("c.html", 7, "thin"),
    ];
    let rows = rows.map(|(name, cluster, kind)| format!("{}\t{cluster}\t{kind}\t60\t0\n", url(name)));
    place.write("clusters.tsv", &format!("#url\tcluster\tkind\twords\tgrey\n{}", rows.concat()));
    let arguments = [
        "eval",
        "--detector-option",
        "second_check=none",
        "--clusters",
        "clusters.tsv",
        "--pages",
        "pages",
        "--json",
        "-t",
        "0.8",
        "-t",
        "0.95",
    ];
    let finished = place.run(arguments).finish().expect_code(0);
    let lines = objects(&finished);
    let names = ["clusters", "kept", "missed", "unseen", "stored", "extra", "extra_rate"];
    assert_eq!(numbers(&lines[0], &names), [4.0, 2.0, 1.0, 1.0, 2.0, 0.0, 0.0]);
    assert_eq!(numbers(&lines[1], &names), [4.0, 3.0, 0.0, 1.0, 3.0, 0.0, 0.0]);
    let missed = &lines[0]["missed_pages"][0];
    assert_eq!((missed["url"].as_str(), missed["of"].as_str()), (Some(&*url("b.html")), Some(&*url("a.html"))));
    assert_eq!(missed["decided_by"], "similarity");
    assert!(missed["score"].as_f64().is_some_and(|score| (0.8..0.95).contains(&score)), "{missed}");
}

#[test]
fn tables_are_readable_and_the_page_loads_nothing() {
    let place = site();
    place.write("pairs.tsv", &pairs(&PAIRS));
    let finished = place
        .run([
            "eval",
            "--detector-option",
            "second_check=none",
            "--pairs",
            "pairs.tsv",
            "--pages",
            "pages",
            "--html",
            "eval.html",
        ])
        .finish()
        .expect_code(0);
    for part in ["precision", "version", "wrong 0.8", "C/probe", "best F1"] {
        assert!(finished.stdout.contains(part), "{part} in {}", finished.stdout);
    }
    let page = fs::read_to_string(place.path("eval.html")).unwrap();
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
    assert!(page.contains("<svg") && page.contains("site.localhost:8080/b.html"));
    for part in ["<script", "<link", "<img", "src=", "NaN"] {
        assert!(!page.contains(part), "{part}");
    }
    let linked = page.split("href=").skip(1).filter(|rest| !rest.starts_with("\"http://site.localhost:8080/"));
    assert_eq!(linked.collect::<Vec<_>>(), Vec::<&str>::new(), "links lead to the pages compared, and load nothing");
}

/// Checks that a mistake ends the program with this code and one line that names it.
#[track_caller]
fn assert_refused(place: &Place, arguments: &[&str], code: i32, named: &str) {
    let finished = place.run([&["eval"], arguments].concat()).finish().expect_code(code);
    assert!(finished.stderr.contains(named), "'{named}' is not named: {}", finished.stderr);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
}

#[test]
fn senseless_arguments_are_refused_by_name() {
    let place = site();
    place.write("bad.tsv", &(pairs(&PAIRS[..1]) + "http://site.localhost:8080/a.html\tb\tnear\tx\n"));
    place.write("good.tsv", &pairs(&PAIRS));
    place.write("gone.tsv", &pairs(&[("x.html", "y.html", "dup", "copy")]));
    assert_refused(&place, &["--pairs", "bad.tsv", "--pages", "pages"], 2, "bad.tsv:3: 'b'");
    assert_refused(&place, &["--pairs", "none.tsv", "--pages", "pages"], 2, "none.tsv");
    assert_refused(&place, &["--pairs", "good.tsv", "--pages", "nowhere"], 2, "nowhere: no such folder");
    assert_refused(&place, &["--pairs", "good.tsv", "--pages", "pages", "--detector", "best"], 2, "'best'");
    assert_refused(&place, &["--pairs", "good.tsv", "--pages", "pages", "-t", "1.5"], 2, "1.5");
    assert_refused(&place, &["--pages", "pages"], 2, "--pairs");
    assert_refused(&place, &["--pairs", "gone.tsv", "--pages", "pages"], 1, "no pages found");
}

/// Three of the nine labelled sites.
#[test]
#[cfg_attr(not(can_fetch_sites), ignore = "needs shared/corpora beside the checkout, and apt-get")]
fn few_clusters_of_real_sites_are_missed() {
    let found = corpora().and_then(|corpora| Ok((sites()?, corpora)));
    let (pages, corpora) = match found {
        Ok(found) => found,
        Err(reason) => return skip(&reason),
    };
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let labels = path(&corpora.join("clusters-public.tsv"));
    let place = Place::new();
    let finished =
        place.run(["eval", "--clusters", &labels, "--pages", &path(&pages), "--json"]).finish().expect_code(0);
    let figures = &objects(&finished)[0];
    let [missed, extra_rate, decided] = numbers(figures, &["missed", "extra_rate", "decided"])[..] else { panic!() };
    assert!(decided > 100.0, "{figures}");
    assert!(missed <= 1.0 && extra_rate <= 0.05, "{figures}");
}
