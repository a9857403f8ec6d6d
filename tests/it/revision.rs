//! Pages that look like duplicates until the site's template is known.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::invariants::{assert_folder_is_sound, lines};
use crate::program::{Place, Run, finish_under_kills};
use crate::web::{Answer, Content, Web};

const PAGES: usize = 60;

/// A manual: long pages of one template with little text of their own. The first few look like copies
/// of each other until the template is known. Each names a page that no other page names.
struct Manual;

impl Manual {
    fn page(number: usize, links: &str) -> Answer {
        let template: String = (0..800).map(|word| format!(" common{}", word * 7919 % 1009)).collect();
        let own: String = (0..22).map(|word| format!(" own{number}x{word}")).collect();
        Answer {
            delay: Duration::from_millis(5),
            ..Answer::html(format!(
                "<!doctype html><html lang=en><title>Page {number} - Manual</title><body><p>{template}<p>{own}<p>{links}</body></html>"
            ))
        }
    }
}

impl Content for Manual {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        if path.is_empty() {
            let links: String = (0..PAGES).map(|number| format!("<a href=/{number}>{number}</a> ")).collect();
            return Answer::html(format!("<title>Contents</title>{links}"));
        }
        match (path.parse::<usize>(), path.strip_prefix("behind").map(str::parse::<usize>)) {
            (Ok(number), _) => Self::page(number, &format!("<a href=/behind{number}>more</a>")),
            (_, Some(Ok(number))) => {
                Answer::text(&(0..40).map(|word| format!("behind{number}x{word} ")).collect::<String>())
            }
            _ => Answer::error(404),
        }
    }
}

fn crawl(place: &Place, web: &Web) -> Run {
    place
        .run(["-o", "out", "--allow-private", "--delay", "0", "--ip-delay", "0"])
        .args(["-c", "1", "--min-free", "0", "--progress", "none", "--json"])
        .args([format!("{}/", web.origins()[0])])
}

fn revised(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| !line["revised"].is_null()).collect()
}

fn assert_all_is_stored(place: &Place) {
    let lines = lines(&place.path("out"));
    let stored = lines.values().filter(|line| line["outcome"] == "stored").count();
    assert_eq!(stored, 1 + 2 * PAGES, "contents, pages, and the page behind each");
    assert_folder_is_sound(place);
}

#[test]
fn a_premature_duplicate_is_stored_later_with_the_pages_behind_it() {
    let web = Web::start(1, |_| Arc::new(Manual));
    let place = Place::new();
    let finished = crawl(&place, &web).finish().expect_code(0);
    assert_all_is_stored(&place);
    let pages = place.pages();
    let revised = revised(&pages);
    assert!(!revised.is_empty(), "the first pages look like copies");
    for line in &revised {
        assert_eq!(line["revised"]["outcome"], "near-duplicate", "{line}");
        assert!(line["revised"]["score"].as_f64().unwrap() >= 0.3, "{line}");
    }
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(summary["revised"], revised.len(), "{summary}");
    let asked_twice = web.asked().values().filter(|&&times| times == 2).count();
    assert_eq!(asked_twice, revised.len(), "each of them was asked for once more");
}

#[test]
fn a_kill_during_revision_resumes_the_revision() {
    let web = Web::start(1, |_| Arc::new(Manual));
    let place = Place::new();
    // Each page takes 5 ms: the pages are through after some 350, what is judged anew comes then.
    finish_under_kills(|| crawl(&place, &web), &[150, 250, 330, 380, 420, 460, 500, 550, 600]);
    assert_all_is_stored(&place);
    assert!(!revised(&place.pages()).is_empty());
}
