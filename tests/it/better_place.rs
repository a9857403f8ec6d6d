//! Of a post and a list that holds it, the post is kept, whichever came first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::invariants::{assert_folder_is_sound, lines};
use crate::program::{Place, Run, finish_under_kills, pages};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

const POSTS: u64 = 8;

/// A blog whose front page leads to tags. Each tag has a page with its only post in full, which links to the post.
struct Blog;

fn text(post: u64) -> String {
    words_of(20 + post, "post", 300).join(" ")
}

fn post(number: u64) -> String {
    format!(
        "<!doctype html><title>Post {number} - Blog</title><meta property=og:type content=article>\
         <h1>Post {number}</h1><p>{}<p><a href=/behind/{number}>Next</a>",
        text(number)
    )
}

fn tag(number: u64) -> String {
    format!(
        "<!doctype html><title>Tag {number} - Blog</title><h2><a href=/post/{number}>Post {number}</a></h2><p>{}",
        text(number)
    )
}

impl Content for Blog {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let html = match path.split_once('/').map(|(kind, number)| (kind, number.parse())) {
            None => (0..POSTS).map(|number| format!("<a href=/tag/{number}>Tag {number}</a> ")).collect(),
            Some(("tag", Ok(number))) => tag(number),
            Some(("post", Ok(number))) => post(number),
            Some(("behind", Ok(number))) => words_of(60 + number, "behind", 80).join(" "),
            _ => return Answer::error(404),
        };
        Answer { delay: Duration::from_millis(4), ..Answer::html(html) }
    }
}

fn crawl(place: &Place, web: &Web) -> Run {
    place
        .run(["-o", "out", "--allow-private", "--delay", "0", "--ip-delay", "0"])
        .args(["-c", "1", "--min-free", "0", "--progress", "none", "--json"])
        .args([format!("{}/", web.origins()[0])])
}

fn assert_posts_are_kept(place: &Place, origin: &str) {
    let lines = lines(&place.path("out"));
    for number in 0..POSTS {
        let (post, tag) = (format!("{origin}/post/{number}"), format!("{origin}/tag/{number}"));
        assert_eq!(lines[&post]["outcome"], "stored", "{}", lines[&post]);
        assert_eq!(lines[&post]["revised"]["reason"], "better-place");
        assert_eq!(lines[&post]["revised"]["duplicate_of"], tag);
        let line = &lines[&tag];
        assert_eq!((&line["outcome"], &line["duplicate_of"]), (&json!("near-duplicate"), &json!(post)), "{line}");
        assert_eq!(line["revised"], json!({ "outcome": "stored", "reason": "displaced" }));
        assert_eq!(line["title"], format!("Tag {number} - Blog"), "the rest of the line is as it was");
        assert_eq!(lines[&format!("{origin}/behind/{number}")]["outcome"], "stored", "the links of the post count");
    }
    assert_folder_is_sound(place);
}

#[test]
fn a_post_takes_the_place_of_the_list_that_came_first() {
    let web = Web::start(1, |_| Arc::new(Blog));
    let place = Place::new();
    let finished = crawl(&place, &web).finish().expect_code(0);
    let origin = web.origins()[0].clone();
    assert_posts_are_kept(&place, &origin);
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(summary["revised"], 2 * POSTS, "{summary}");
    assert_eq!(summary["stored"], 1 + 2 * POSTS, "{summary}");
    let tags_asked = |web: &Web| web.asked().iter().filter(|(url, times)| url.contains("/tag/") && **times > 1).count();
    assert_eq!(tags_asked(&web), 0, "what is archived is not fetched again");

    let explain = |url: String| place.run(["explain", "out", &url]).finish().expect_code(0).stdout;
    let of_post = explain(format!("{origin}/post/3"));
    assert!(of_post.contains("is a better place for the same text and took its place"), "{of_post}");
    let of_tag = explain(format!("{origin}/tag/3"));
    assert!(of_tag.contains("stored first; a page that is a better place"), "{of_tag}");
    assert!(of_tag.contains(&format!("{origin}/post/3")), "{of_tag}");

    // All that reads the folder sees the posts, not the tags.
    place.run(["export", "out", "-o", "pages.jsonl"]).finish().expect_code(0);
    let export = std::fs::read_to_string(place.path("pages.jsonl")).unwrap();
    let urls: Vec<String> = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["url"].as_str().unwrap().to_owned())
        .collect();
    let exported = |kind: &str| urls.iter().filter(|url| url.contains(&format!("/{kind}/"))).count();
    assert_eq!((exported("post"), exported("tag")), (POSTS as usize, 0), "{urls:?}");
    place.run(["report", "out", "-o", "report.html"]).finish().expect_code(0);
    place.run(["clusters", "out"]).finish().expect_code(0);

    // A second crawl compares with the posts only.
    let second = place
        .run([
            "-o",
            "second",
            "--against",
            "out",
            "--duplicate-links",
            "follow",
            "--allow-private",
            "--delay",
            "0",
            "--ip-delay",
            "0",
        ])
        .args(["--min-free", "0", "--progress", "none", &format!("{origin}/")]);
    second.finish().expect_code(0);
    for line in pages(&place.path("second")).iter().filter(|line| line["url"].as_str().unwrap().contains("/tag/")) {
        assert!(line["duplicate_of"].as_str().is_some_and(|of| of.contains("/post/")), "{line}");
    }
}

#[test]
fn a_kill_during_the_exchange_loses_neither_page() {
    let web = Web::start(1, |_| Arc::new(Blog));
    let place = Place::new();
    finish_under_kills(|| crawl(&place, &web), &[60, 120, 160, 190, 220, 250, 280, 320, 400]);
    assert_posts_are_kept(&place, &web.origins()[0]);
}

#[test]
fn dedup_names_the_post_whichever_comes_first() {
    let place = Place::new();
    let row = |kind: &str, number: u64| {
        let html = if kind == "post" { post(number) } else { tag(number) };
        json!({ "url": format!("http://blog.test/{kind}/{number}"), "html": html }).to_string() + "\n"
    };
    let all = |kind: &str| (0..POSTS).map(|number| row(kind, number)).collect::<String>();
    for order in [["tag", "post"], ["post", "tag"]] {
        place.write("rows.jsonl", &order.map(all).concat());
        place.run(["dedup", "rows.jsonl", "-o", "out", "--min-free", "0", "--quiet"]).finish().expect_code(0);
        let lines = lines(&place.path("out"));
        for number in 0..POSTS {
            let (post, tag) = (format!("http://blog.test/post/{number}"), format!("http://blog.test/tag/{number}"));
            assert_eq!(lines[&post]["outcome"], "stored", "{order:?}: {}", lines[&post]);
            assert_eq!(lines[&tag]["duplicate_of"], post, "{order:?}: {}", lines[&tag]);
        }
        assert_folder_is_sound(&place);
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

/// A list that holds a post, the post, and a page that is like the list and not like the post, at [`LIKE`].
pub fn list_post_and_page_like_the_list(number: u64) -> [(String, String); 3] {
    let (post, other) = (words_of(200 + number, "post", 100), words_of(300 + number, "listed", 6));
    let named = |kind: &str, head: &str, words: &[&[String]]| {
        let html = format!("<!doctype html><title>Page</title>{head}<p>{}", words.concat().join(" "));
        (format!("http://blog.test/{kind}/{number}"), html)
    };
    let collection = r#"<script type="application/ld+json">{"@type":"CollectionPage"}</script>"#;
    [
        named("several", collection, &[&post, &other[..3]]),
        named("full", "<meta property=og:type content=article>", &[&post]),
        named("like", "", &[&post[..99], &other]),
    ]
}

/// The threshold of these pages.
pub const LIKE: &str = "--threshold=0.95";

/// Checks the outcomes of such pages.
pub fn assert_all_but_the_list_are_kept(lines: &BTreeMap<String, Value>, number: u64) {
    let line = |kind: &str| &lines[&format!("http://blog.test/{kind}/{number}")];
    assert_eq!(line("several")["duplicate_of"], line("full")["url"], "{}", line("several"));
    assert_eq!((&line("full")["outcome"], &line("like")["outcome"]), (&json!("stored"), &json!("stored")));
    let earlier = &line("like")["revised"]["duplicate_of"];
    assert_eq!(*earlier, line("several")["url"], "it was like the list when it came");
}

#[test]
fn dedup_keeps_what_was_like_the_list_only() {
    let place = Place::new();
    let pages = (0..POSTS).flat_map(list_post_and_page_like_the_list);
    let rows: String = pages.map(|(url, html)| json!({ "url": url, "html": html }).to_string() + "\n").collect();
    place.write("rows.jsonl", &rows);
    place.run(["dedup", "rows.jsonl", "-o", "out", "--min-free", "0", "--quiet", LIKE]).finish().expect_code(0);
    let lines = lines(&place.path("out")).into_iter().collect();
    (0..POSTS).for_each(|number| assert_all_but_the_list_are_kept(&lines, number));
    assert_folder_is_sound(&place);
}
