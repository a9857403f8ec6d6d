//! Requests that are signed as Web Bot Auth wants it, verified by a program of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::foreign;
use crate::needs::{Program, PythonModule, has_all, tool};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const AGENT: &str = "https://bot.example/.well-known/http-message-signatures-directory";
/// The key of RFC 9421, appendix B.1.4.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
    -----END PRIVATE KEY-----\n";
const SECRET: &str = "J+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";

/// Two hosts; a page of the first redirects to the second.
struct Watching {
    origins: Vec<String>,
    /// The headers that came, by URL.
    got: Mutex<Vec<(String, BTreeMap<String, String>)>>,
}

impl Content for Watching {
    fn answer(&self, url: &str, _: usize) -> Answer {
        panic!("{url}: asked without headers");
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        self.got.lock().unwrap().push((url.to_owned(), headers.collect()));
        let words = |of: &str| sentences(&words_of(5, of, 120));
        match url::Url::parse(url).unwrap().path() {
            "/" => Answer::html(format!("<title>a</title><a href=/away>b</a><a href='/two?b=c'>c</a>{}", words(url))),
            "/away" => Answer::redirect(&format!("{}/here", self.origins[1])),
            "/here" | "/two" => Answer::html(format!("<title>{url}</title>{}", words(url))),
            _ => Answer::error(404),
        }
    }
}

fn watching() -> (Web, Arc<Watching>) {
    let mut watching = None;
    let web = Web::start(2, |origins| {
        let site = Arc::new(Watching { origins: origins.to_vec(), got: Mutex::default() });
        watching = Some(Arc::clone(&site));
        site
    });
    (web, watching.unwrap())
}

fn place_with_key() -> Place {
    let place = Place::new();
    place.write("key.pem", KEY);
    fs::set_permissions(place.path("key.pem"), Permissions::from_mode(0o600)).unwrap();
    place
}

fn crawl(place: &Place, web: &Web, flags: &[&str]) -> Run {
    let seed = format!("{}/", web.origins()[0]);
    place.crawl(&[seed]).args(["--scope", "any", "--max-pages", "20", "--soft-404", "off", "--preferences"]).args(flags)
}

fn signed(place: &Place, web: &Web, flags: &[&str]) -> Run {
    crawl(place, web, flags).args(["--sign", "key.pem", "--signature-agent", AGENT])
}

fn directory(place: &Place) -> Value {
    serde_json::from_str(&place.run(["jwks", "key.pem"]).finish().expect_code(0).stdout).unwrap()
}

#[test]
fn a_verifier_of_others_accepts_each_request_and_nothing_else() {
    if !has_all(&[PythonModule("http_message_signatures")]) {
        return;
    }
    for engine in ["frontier", "spider"] {
        let (web, site) = watching();
        let place = place_with_key();
        let run = signed(&place, &web, &["--engine", engine]).finish().expect_code(0);
        assert!(!run.stderr.contains("private key"), "{}", run.stderr);
        let got = site.got.lock().unwrap();
        let urls: BTreeSet<&str> = got.iter().map(|(url, _)| url.as_str()).collect();
        for (host, path) in [(0, "/robots.txt"), (0, "/"), (0, "/ai.txt"), (0, "/two?b=c"), (0, "/away")]
            .into_iter()
            .chain([(1, "/robots.txt"), (1, "/.well-known/tdmrep.json"), (1, "/here")])
        {
            assert!(urls.contains(format!("{}{path}", web.origins()[host]).as_str()), "{engine}: {path}: {urls:?}");
        }
        let requests: Vec<_> = got.iter().map(|(url, headers)| json!({ "url": url, "headers": headers })).collect();
        place.write("work.json", &json!({ "directory": directory(&place), "requests": requests }).to_string());
        let mut verify = Command::new("python3");
        verify.arg(tool("verify_signatures.py")).stdin(File::open(place.path("work.json")).unwrap());
        let verdicts = foreign::run(&mut verify);
        assert_eq!(verdicts.lines().count(), requests.len());
        for (verdict, (url, headers)) in verdicts.lines().zip(got.iter()) {
            assert_eq!(verdict, r#"["valid", "invalid", "invalid", "invalid", "invalid"]"#, "{engine}: {url}");
            assert_eq!(headers["signature-agent"], format!("sig1=\"{AGENT}\""));
        }
        let signatures: BTreeSet<_> = got.iter().map(|(_, headers)| &headers["signature"]).collect();
        assert_eq!(signatures.len(), got.len(), "each request has its own");
        assert!(!run.stderr.contains(SECRET) && !run.stdout.contains(SECRET));
    }
}

#[test]
fn nothing_is_signed_by_default() {
    let (web, site) = watching();
    let place = Place::new();
    crawl(&place, &web, &[]).finish().expect_code(0);
    let got = site.got.lock().unwrap();
    assert!(!got.is_empty() && got.iter().all(|(_, headers)| !headers.keys().any(|name| name.contains("signature"))));
}

#[test]
fn a_key_of_openssl_is_read_and_its_directory_shows_the_public_part() {
    if !has_all(&[Program("openssl")]) {
        return;
    }
    let place = Place::new();
    let openssl =
        |arguments: &[&str]| foreign::run(Command::new("openssl").args(arguments).current_dir(place.path("")));
    openssl(&["genpkey", "-algorithm", "ed25519", "-out", "key.pem"]);
    openssl(&["pkey", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "public.der"]);
    let public = fs::read(place.path("public.der")).unwrap();
    let expected = data_encoding::BASE64URL_NOPAD.encode(&public[public.len() - 32..]);
    let key = directory(&place)["keys"][0].clone();
    assert_eq!((&key["kty"], &key["crv"], &key["x"]), (&json!("OKP"), &json!("Ed25519"), &json!(expected)));
    assert!(key.get("d").is_none(), "{key}");
}

#[test]
fn a_key_that_cannot_be_used_is_refused_before_anything_is_asked_for() {
    let (web, site) = watching();
    let place = place_with_key();
    for (flags, told) in [
        (
            &["--sign", "key.pem"][..],
            "--sign: --signature-agent is missing: sites could not find the key\nhint: publish",
        ),
        (&["--signature-agent", AGENT], "--signature-agent: --sign is missing: without a key, no request is signed"),
        (&["--sign", "none.pem", "--signature-agent", AGENT], "--sign: none.pem: No such file"),
        (&["--sign", "key.pem", "--signature-agent", "http://bot.example/"], "https://HOST/PATH"),
    ] {
        for dry in [&[][..], &["--dry-run"]] {
            let run = crawl(&place, &web, flags).args(dry).finish().expect_code(2);
            assert!(run.stderr.contains(told), "{}", run.stderr);
        }
    }
    place.write("key.pem", &KEY.replace("PRIVATE", "PUBLIC"));
    let run = signed(&place, &web, &[]).finish().expect_code(2);
    let told =
        "--sign: key.pem: a PEM without a private key in PKCS#8 (BEGIN PRIVATE KEY)\nhint: it takes a private key";
    assert!(run.stderr.contains(told) && !run.stderr.contains(SECRET), "{}", run.stderr);
    assert!(!place.path("out").exists() && site.got.lock().unwrap().is_empty());

    place.write("key.pem", KEY);
    fs::set_permissions(place.path("key.pem"), Permissions::from_mode(0o644)).unwrap();
    let run = signed(&place, &web, &["--dry-run"]).finish().expect_code(0);
    let told = "warning: --sign: key.pem: other users can read the private key; allow its owner alone to (chmod 600)";
    assert!(run.stderr.contains(told) && !run.stderr.contains(SECRET), "{}", run.stderr);
}
