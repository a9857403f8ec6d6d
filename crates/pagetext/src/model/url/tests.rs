use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn normalise(text: &str) -> Result<String, UrlError> {
    Normalizer::default().absolute(text).map(|url| url.as_str().to_owned())
}

/// A normalizer that only normalises: long URLs are kept, no parameter is dropped.
fn plain() -> Normalizer {
    Normalizer::new(NormalizeOptions { strip_params: Vec::new(), max_url_length: usize::MAX })
}

/// The cases of a file of the shared conformance data, which lies beside the project's folder or
/// beside one that it is in.
fn conformance(file: &str) -> Vec<Value> {
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = project.ancestors().skip(1).map(|above| above.join("shared/conformance")).find(|path| path.is_dir());
    let Some(folder) = folder else {
        eprintln!("skipped: no ../shared/conformance beside {}", project.display());
        return Vec::new();
    };
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut whole: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(whole["cases"].take()).unwrap()
}

fn assert_none_fails(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn what_names_the_same_page_gets_the_same_name() {
    for (text, expected) in [
        ("HTTP://Example.COM:80/%7euser/./a/../b", "http://example.com/~user/b"),
        ("https://example.com:443", "https://example.com/"),
        ("http://user:secret@example.com:8080/", "http://example.com:8080/"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/?#top", "http://example.com/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://intranet./", "http://intranet./"),
        ("http://example.com/a//b/", "http://example.com/a//b/"),
        ("http://example.com/?b=2&a=1&UTM_Medium=x", "http://example.com/?b=2&a=1"),
        ("http://example.com/?utm%5Fsource=x", "http://example.com/"),
        ("http://example.com/a;jsessionid=A1B2?b", "http://example.com/a?b"),
        ("http://example.com/%%32%65%%32%65/a", "http://example.com/a"),
        ("http://ex\u{e4}mple.com/\u{e4}", "http://xn--exmple-cua.com/%C3%A4"),
    ] {
        assert_eq!(normalise(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_crawled_is_refused_with_the_reason() {
    assert_eq!(normalise("ftp://example.com/"), Err(UrlError::Scheme("ftp".into())));
    assert!(matches!(normalise("no url"), Err(UrlError::Parse(_))));
    assert_eq!(normalise(&format!("http://a/{}", "b".repeat(2048))), Err(UrlError::TooLong(2048)));
    assert!(normalise(&format!("http://a/?utm_x={}", "b".repeat(2048))).is_ok(), "what is dropped does not count");
}

#[test]
fn the_log_can_hand_back_only_canonical_texts() {
    assert!(CanonicalUrl::from_canonical("http://example.com/?a").is_ok());
    for text in ["http://example.com", "http://example.com/#a", "ftp://example.com/", "example.com"] {
        assert!(CanonicalUrl::from_canonical(text).is_err(), "{text}");
    }
}

#[test]
fn the_canonical_forms_of_other_crawlers_are_met_where_they_are_a_must() {
    let plain = plain();
    let mut failures = Vec::new();
    for case in conformance("url_normalise.json") {
        let (input, expected) = (case["input"].as_str().unwrap(), case["expected"].as_str());
        let got = plain.absolute(input);
        if let Ok(url) = &got {
            assert_eq!(plain.absolute(url.as_str()).as_ref(), Ok(url), "not idempotent");
        }
        let is_must = matches!(case["level"].as_str(), Some("whatwg" | "whatwg-nofragment" | "rfc3986-percent"));
        let wanted = expected.map(|text| plain.absolute(text));
        let is_web = wanted.as_ref().is_some_and(Result::is_ok);
        if is_must && is_web && wanted.as_ref() != Some(&got) {
            failures.push(format!("url_normalise/{}: {input}: got {got:?}, expected {wanted:?}", case["id"]));
        }
    }
    assert_none_fails(failures);
}

#[test]
fn odd_inputs_do_not_panic_and_normalise_to_themselves() {
    for case in conformance("url_no_panic.json") {
        if let Ok(once) = normalise(case["input"].as_str().unwrap()) {
            assert_eq!(normalise(&once), Ok(once));
        }
    }
}

#[test]
fn a_file_has_a_safe_name_of_its_own_whatever_the_url() {
    let urls =
        ["http://h.test/a", "http://h.test/A", "https://h.test/a", "http://h.test:81/a", "http://h.test/..%2f..%2fetc"];
    let odd = [
        "http://../x",
        "http://-rf.test/",
        "http://[::1]/",
        "http://con/",
        "http://h.test/%00",
        "http://h.test/\u{e4}",
    ];
    let long = [format!("http://{}test/", "a.".repeat(100)), format!("http://h.test/{}", "a".repeat(5000))];
    let urls = urls.into_iter().chain(odd).map(str::to_owned).chain(long);
    let names: Vec<String> = urls.map(|url| plain().absolute(&url).unwrap().file_name()).collect();
    for name in &names {
        assert!(name.len() <= 98 && !name.starts_with(['.', '-']), "{name}");
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_')), "{name}");
    }
    assert_eq!(names.iter().collect::<std::collections::HashSet<_>>().len(), names.len());
}

#[test]
fn a_site_speaks_for_its_own_host_alone() {
    let page = plain().absolute("http://h.test/sitemap.xml").unwrap();
    let named =
        ["http://h.test/1", "http://H.TEST:80/1", "/rel", "http://o.test/", "https://h.test:8/2", "ftp://h.test/"];
    let urls = plain().on_host(&page, named.into_iter());
    assert_eq!(urls.iter().map(CanonicalUrl::as_str).collect::<Vec<_>>(), ["http://h.test/1", "https://h.test:8/2"]);
}

/// A case that the parser gets wrong and the normalizer right.
fn is_folded(case: &Value) -> bool {
    case["input"].as_str().is_some_and(|input| input.starts_with("///"))
}

#[test]
fn references_resolve_as_rfc_3986_and_whatwg_say() {
    let plain = plain();
    let mut failures = Vec::new();
    for (file, input, target) in [("url_wpt.json", "input", "href"), ("url_rfc3986_resolve.json", "ref", "target")] {
        for case in conformance(file).iter().filter(|case| case["known"].is_null() || is_folded(case)) {
            let reference = case[input].as_str().unwrap();
            let got = match case["base"].as_str().map(Url::parse) {
                Some(base) => base.map_err(UrlError::from).and_then(|base| plain.resolve(&base, reference)),
                None => plain.absolute(reference),
            };
            let wanted = case[target].as_str().map(|text| plain.absolute(text));
            let agrees = match wanted {
                Some(Ok(wanted)) => got.as_ref() == Ok(&wanted),
                // Other schemes, and what does not parse: nothing to crawl.
                Some(Err(_)) | None => got.is_err(),
            };
            if !agrees {
                failures.push(format!("{file}/{}: {reference}: got {got:?}, expected {}", case["id"], case[target]));
            }
        }
    }
    assert_none_fails(failures);
}

#[test]
fn registrable_domains_follow_the_public_suffix_list() {
    let mut failures = Vec::new();
    for case in conformance("psl.json").iter().filter(|case| !case["host"].as_str().unwrap_or(".").starts_with('.')) {
        let host = case["host"].as_str().unwrap_or_default();
        let Ok(url) = normalise(&format!("http://{host}/")).and_then(|url| CanonicalUrl::from_canonical(&url)) else {
            continue;
        };
        // A name without registrable domain stands for itself.
        let wanted = case["registrable"].as_str().unwrap_or(url.host());
        let wanted = normalise(&format!("http://{wanted}/")).unwrap();
        let got = url.registrable_domain();
        if wanted != format!("http://{got}/") {
            failures.push(format!("psl/{}: {host}: got {got}, expected {wanted}", case["id"]));
        }
    }
    assert_none_fails(failures);
}

proptest! {
    #[test]
    fn normalising_twice_is_normalising_once(
        host in "[a-zA-Z0-9.\u{e4}%-]{1,12}",
        rest in "([/?;&=#%.~:@a-f0-9A-F+\\\\ \u{e4}]|%2[eEfF5]|%[0-7][0-9a-f]|/\\.\\./|;sid=|utm_|;){0,24}",
    ) {
        let options = NormalizeOptions {
            strip_params: ["utm_*", "sid", "a*"].map(str::to_owned).to_vec(),
            ..NormalizeOptions::default()
        };
        let normalizer = Normalizer::new(options);
        if let Ok(once) = normalizer.absolute(&format!("http://{host}/{rest}")) {
            prop_assert_eq!(normalizer.absolute(once.as_str()), Ok(once.clone()));
            prop_assert!(CanonicalUrl::from_canonical(once.as_str()).is_ok());
        }
    }

    #[test]
    fn no_text_makes_the_normaliser_panic(text in "\\PC{0,40}") {
        let _ = normalise(&text);
        let _ = normalise(&format!("http:{text}"));
    }
}
