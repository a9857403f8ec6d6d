//! A rule alone: learned from two URLs, applied, written and read.

use proptest::prelude::*;

use super::*;

#[test]
fn a_rule_has_a_short_text() {
    for (url, original, text) in [
        ("http://m.test/a/b.html", "http://s.test/a/b.html", "http://m.test/* -> http://s.test/*"),
        ("http://s.test/", "https://www.s.test/", "http://s.test/* -> https://www.s.test/*"),
        ("http://s.test/print/a/b", "http://s.test/a/b", "http://s.test/print/* -> http://s.test/*"),
        (
            "http://s.test/docs/15/x/y",
            "http://s.test/docs/16/x/y",
            "http://s.test/docs/15/* -> http://s.test/docs/16/*",
        ),
        ("http://s.test/a/index.html", "http://s.test/a/", "http://s.test/*index.html -> http://s.test/*"),
        ("http://s.test/a.html.de", "http://s.test/a.html", "http://s.test/*.html.de -> http://s.test/*.html"),
        ("http://s.test/a.en.html", "http://s.test/a.html", "http://s.test/*.en.html -> http://s.test/*.html"),
        ("http://s.test/a?id=1&sid=7", "http://s.test/a?id=1", "http://s.test/*?sid= -> http://s.test/*"),
        ("http://s.test/a?sid=7", "http://s.test/a?sid=8", "http://s.test/*?sid= -> http://s.test/*"),
        ("http://s.test/sid/a.html?sid=7", "http://m.test/a.html", "http://s.test/sid/*?sid= -> http://m.test/*"),
        (
            "http://s.test/print.php?id=3",
            "http://s.test/show.php?id=3",
            "http://s.test/print.php* -> http://s.test/show.php*",
        ),
    ] {
        assert_eq!(rule(url, original).to_string(), text);
    }
}

#[test]
fn a_difference_of_stems_is_no_rule() {
    for (url, original) in [
        ("http://s.test/a.html", "http://s.test/b.html"),
        ("http://s.test/a.html", "http://m.test/b.html"),
        ("http://s.test/a.html", "http://s.test/"),
        ("http://s.test/a?id=1", "http://s.test/b?id=2"),
        ("http://s.test/a", "http://s.test/a"),
        ("http://s.test/a?b=1&c=2", "http://s.test/a?c=2&b=1"),
        ("http://s.test/1/2/3/4/5/x", "http://s.test/6/7/8/9/0/x"),
        ("no url", "http://s.test/"),
    ] {
        let found = infer_rule(url, original).filter(|rule| rule.end.is_none());
        assert_eq!(found, None, "{url} and {original}");
    }
}

#[test]
fn a_rule_applies_to_whole_names_only() {
    let index = rule("http://s.test/a/index.html", "http://s.test/a/");
    assert_eq!(index.apply("http://s.test/b/index.html?x").as_deref(), Some("http://s.test/b/?x"));
    assert_eq!(index.apply("http://s.test/b/myindex.html"), None);
    let language = rule("http://s.test/a.de.html", "http://s.test/a.html");
    assert_eq!(language.apply("http://s.test/x/guide.de.html").as_deref(), Some("http://s.test/x/guide.html"));
    assert_eq!(language.apply("http://s.test/x/.de.html"), None);
    let version = rule("http://s.test/15/a", "http://s.test/16/a");
    assert_eq!(version.apply("http://s.test/150/a"), None);
    assert_eq!(version.apply("http://s.test:81/15/a"), None);
}

fn url() -> impl Strategy<Value = String> {
    let text = "https?://[ab]\\.test(:81)?(/(en|de|print|[a-c])){0,3}/([a-d]{0,2}(\\.(en|de))?(\\.html|\\.php)?)?\
                (\\?(id|sid|x)=[0-3](&(id|sid|x)=[0-3])?)?";
    proptest::string::string_regex(text).unwrap()
}

proptest! {
    #[test]
    fn a_rule_learned_from_two_urls_makes_one_of_the_other(url in url(), original in url()) {
        let Some(rule) = infer_rule(&url, &original) else { return Ok(()) };
        let made = rule.apply(&url).unwrap();
        prop_assert_ne!(&made, &url);
        prop_assert_eq!(Some(made.clone()), rule.apply(&url));
        // The original may have other values of the dropped parameters: without them both URLs are equal.
        let left = if rule.dropped.is_empty() { original.clone() } else { without(&original, &rule.dropped) };
        prop_assert_eq!(made, left);
    }

    #[test]
    fn no_text_is_too_strange(url in ".{0,40}", original in ".{0,40}", known in url()) {
        for (from, to) in [(&url, &original), (&known, &original), (&url, &known)] {
            if let Some(rule) = infer_rule(from, to) {
                prop_assert_ne!(rule.apply(from), Some(from.clone()));
            }
        }
        let rule = rule("http://s.test/print/a.de.html?sid=1", "http://m.test/a.html");
        prop_assert_ne!(rule.apply(&url), Some(url));
    }

    #[test]
    fn a_rule_is_the_same_after_it_was_written_and_read(url in url(), original in url()) {
        let Some(rule) = infer_rule(&url, &original) else { return Ok(()) };
        let text = serde_json::to_string(&rule).unwrap();
        prop_assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), rule);
    }
}

/// A URL without some of its parameters.
fn without(url: &str, names: &[String]) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let is_kept = |pair: &&str| !pair.is_empty() && !names.iter().any(|name| pair.split('=').next() == Some(name));
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}
