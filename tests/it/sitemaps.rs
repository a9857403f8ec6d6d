//! Crawls of what sitemaps list, and nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A site whose robots.txt names an index of sitemaps, and another one whose robots.txt names none.
struct Listed(Vec<String>);

impl Listed {
    fn xml(&self, root: &str, entry: &str, paths: &[&str]) -> Answer {
        let origin = &self.0[0];
        let entries: String =
            paths.iter().map(|path| format!("<{entry}><loc>{origin}{path}</loc></{entry}>")).collect();
        let headers = vec![("content-type", "application/xml".to_owned())];
        Answer { headers, ..Answer::html(format!("<{root}>{entries}</{root}>")) }
    }
}

impl Content for Listed {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let page = |path: &str, links: &str| {
            Answer::html(format!("<title>{path}</title><p>{}</p>{links}", sentences(&words_of(1, path, 120))))
        };
        match url.strip_prefix(&self.0[0]) {
            Some("/robots.txt") => Answer::text(&format!("Sitemap: {}/maps.xml", self.0[0])),
            Some("/maps.xml") => self.xml("sitemapindex", "sitemap", &["/map.xml"]),
            Some("/map.xml") => self.xml("urlset", "url", &["/a", "/b", "/moved"]),
            Some("/") => page("/", "<a href=/a>a</a><a href=/unlisted>u</a>"),
            Some("/a") => page("/a", "<a href=/b>b</a><a href=/unlisted>u</a><a href=/deep>d</a>"),
            Some("/moved") => Answer::redirect("/target"),
            Some(path @ ("/b" | "/target")) => page(path, "<a href=/deep>d</a>"),
            Some(_) => Answer::error(500),
            None if url.ends_with("/robots.txt") => Answer::error(404),
            None => page("elsewhere", "<a href=/more>m</a>"),
        }
    }
}

fn web() -> Web {
    Web::start(2, |origins| Arc::new(Listed(origins.to_vec())))
}

fn only(place: &Place, seed: &str) -> Run {
    place.crawl(&[seed]).args(["--sitemaps", "only"])
}

/// The paths of the lines with this outcome and reason.
fn paths(place: &Place, outcome: &str, reason: Option<&str>) -> BTreeSet<String> {
    let pages = place.pages();
    let wanted = pages.iter().filter(|line| line["outcome"] == outcome && line["reason"].as_str() == reason);
    wanted.map(|line| format!("/{}", line["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap())).collect()
}

#[test]
fn a_crawl_of_sitemaps_fetches_what_they_list() {
    for engine in ["frontier", "spider"] {
        let (web, place) = (web(), Place::new());
        let seed = format!("{}/", web.origins()[0]);
        let run = only(&place, &seed).args(["--engine", engine]).finish().expect_code(0);
        assert!(!run.stderr.contains("no more pages were fetched"), "{}", run.stderr);
        let fetched = ["/", "/a", "/b", "/target"].map(str::to_owned);
        assert_eq!(paths(&place, "stored", None), fetched.into(), "{engine}");
        let left = ["/deep", "/unlisted"].map(str::to_owned);
        assert_eq!(paths(&place, "deferred", Some("not-in-sitemap")), left.clone().into(), "{engine}");
        assert!(left.iter().all(|path| !web.asked().contains_key(&format!("{}{path}", web.origins()[0]))));
        let told = place.run(["explain", "out", &format!("{}/unlisted", web.origins()[0])]).finish().expect_code(0);
        assert!(told.stdout.contains("no sitemap lists it"), "{}", told.stdout);
    }
}

#[test]
fn a_sitemap_as_the_seed_is_enough() {
    let (web, place) = (web(), Place::new());
    only(&place, &format!("{}/map.xml", web.origins()[0])).args(["--ignore-robots"]).finish().expect_code(0);
    assert_eq!(paths(&place, "stored", None), ["/a", "/b", "/target"].map(str::to_owned).into());
    assert_eq!(paths(&place, "deferred", Some("not-in-sitemap")), ["/deep", "/unlisted"].map(str::to_owned).into());
}

#[test]
fn a_site_without_a_sitemap_is_told_of() {
    let (web, place) = (web(), Place::new());
    let run = only(&place, &format!("{}/", web.origins()[1])).finish().expect_code(0);
    assert!(run.stderr.contains("hint: no more pages were fetched than there are seeds"), "{}", run.stderr);
    let refused = only(&place, &format!("{}/", web.origins()[1])).args(["--depth", "0"]).finish().expect_code(2);
    assert!(refused.stderr.contains("one step away"), "{}", refused.stderr);
}
