//! Sitemaps: as seeds, on other hosts, behind links, and cut ones.

use std::sync::{Arc, OnceLock};

use tempfile::tempdir;

use super::site::{Answer, Site, http, missing, page, redirect, xml};
use super::{assert_outcomes, crawl, lines, setup};
use ndcrawl_model::CanonicalUrl;

/// Sites that learn each other's addresses once all are there.
type Known = Arc<OnceLock<Vec<String>>>;

fn root(sites: &Known, number: usize) -> &str {
    sites.get().unwrap()[number].trim_end_matches('/')
}

fn urlset(urls: &[String]) -> Answer {
    let urls: String = urls.iter().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
    xml(&format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>"))
}

fn index(url: &str) -> Answer {
    xml(&format!("<sitemapindex><sitemap><loc>{url}</loc></sitemap></sitemapindex>"))
}

/// The URL of a site on another address of loopback.
fn at(host: &str, site: &Site, path: &str) -> CanonicalUrl {
    let url = site.url(path).to_string().replace("127.0.0.1", host);
    ndcrawl_model::Normalizer::default().absolute(&url).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_as_a_seed_is_read_as_one() {
    let sites = Known::default();
    let known = sites.clone();
    let site = Site::new(move |path, _| match path {
        "/map.xml" => urlset(&[format!("{}/a", root(&known, 0)), "http://elsewhere.test/x".to_owned()]),
        "/index" => index(&format!("{}/list", root(&known, 0))),
        "/list" => http("200 OK", "Content-Type: text/plain\r\n", &format!("{0}/b\n{0}/c\n", root(&known, 0))),
        "/moved" => redirect("/list.txt"),
        "/list.txt" => http("200 OK", "Content-Type: text/plain\r\n", &format!("{}/d\n", root(&known, 0))),
        "/empty.xml" => urlset(&[]),
        "/a" => page(1, &["/e"]),
        "/b" => page(2, &[]),
        "/c" => page(3, &[]),
        "/d" => page(4, &[]),
        _ => missing(),
    })
    .await;
    sites.set(vec![site.url("/").to_string()]).unwrap();
    let seeds = ["/map.xml", "/index", "/moved", "/empty.xml"].map(|path| site.url(path));
    let (folder, mut setup) = (tempdir().unwrap(), setup(&seeds));
    setup.crawl.sitemaps = false;
    setup.frontier.depth = 1;
    let ending = crawl(folder.path(), setup).await;
    assert_outcomes(
        folder.path(),
        &[
            ("/map.xml", "excluded sitemap"),
            ("/index", "excluded sitemap"),
            ("/list", "excluded sitemap"),
            ("/moved", "redirected"),
            ("/list.txt", "excluded sitemap"),
            ("/empty.xml", "excluded sitemap"),
            ("/a", "stored"),
            ("/b", "stored"),
            ("/c", "stored"),
            ("/d", "stored"),
            ("/e", "deferred depth"),
            ("/x", "excluded scope"),
        ],
    );
    assert_eq!(ending.failed_seeds.len(), 1);
    assert!(ending.failed_seeds[0].1.contains("names no URL"), "{:?}", ending.failed_seeds);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_elsewhere_is_read_for_the_host_whose_robots_names_it() {
    let sites = Known::default();
    let (known, robots) = (sites.clone(), sites.clone());
    let cdn = Site::on("127.0.0.2", move |path, _| match path {
        "/robots.txt" => http("200 OK", "", "Sitemap: /own.xml\n"),
        "/map.xml" => index(&format!("{}/part.xml", root(&known, 1))),
        "/part.xml" => urlset(&[
            format!("{}/listed", root(&known, 0)),
            format!("{}/foreign", root(&known, 1)),
            "http://elsewhere.test/x".to_owned(),
        ]),
        _ => missing(),
    })
    .await;
    let site = Site::new(move |path, _| match path {
        "/robots.txt" => http("200 OK", "", &format!("Sitemap: {}/map.xml\n", root(&robots, 1))),
        "/" => page(0, &[]),
        "/listed" => page(1, &[]),
        _ => missing(),
    })
    .await;
    sites.set(vec![site.url("/").to_string(), at("127.0.0.2", &cdn, "/").to_string()]).unwrap();
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(
        folder.path(),
        &[("/", "stored"), ("/listed", "stored"), ("/map.xml", "excluded sitemap"), ("/part.xml", "excluded sitemap")],
    );
    // The host that only has the sitemap is not crawled.
    assert_eq!(cdn.asked(), ["/map.xml", "/part.xml"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_redirects_to_another_host_is_read_for_the_first() {
    let sites = Known::default();
    let (known, robots) = (sites.clone(), sites.clone());
    let cdn = Site::on("127.0.0.2", move |path, _| match path {
        "/map.xml" => urlset(&[format!("{}/listed", root(&known, 0)), format!("{}/foreign", root(&known, 1))]),
        _ => missing(),
    })
    .await;
    let site = Site::new(move |path, _| match path {
        "/robots.txt" => http("200 OK", "", "Sitemap: /sitemap.xml\n"),
        "/sitemap.xml" => redirect(&format!("{}/map.xml", root(&robots, 1))),
        "/" => page(0, &[]),
        "/listed" => page(1, &[]),
        _ => missing(),
    })
    .await;
    sites.set(vec![site.url("/").to_string(), at("127.0.0.2", &cdn, "/").to_string()]).unwrap();
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(
        folder.path(),
        &[("/", "stored"), ("/listed", "stored"), ("/sitemap.xml", "redirected"), ("/map.xml", "excluded sitemap")],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_may_be_larger_than_a_page_and_a_page_may_not() {
    let sites = Known::default();
    let known = sites.clone();
    let site = Site::new(move |path, _| {
        let padding = " ".repeat(3000);
        match path {
            "/robots.txt" => http("200 OK", "", "Sitemap: /map.xml\n"),
            "/map.xml" => xml(&format!("<urlset><!--{padding}--><url><loc>{}/a</loc></url></urlset>", root(&known, 0))),
            "/seed.xml" => {
                xml(&format!("<urlset><!--{padding}--><url><loc>{}/b</loc></url></urlset>", root(&known, 0)))
            }
            "/page.xml" => xml(&format!("<p>word {padding} <a href='/never'>x</a></p>")),
            "/" => page(0, &[]),
            "/a" => page(1, &[]),
            "/b" => page(2, &[]),
            _ => missing(),
        }
    })
    .await;
    sites.set(vec![site.url("/").to_string()]).unwrap();
    let (folder, mut setup) = (tempdir().unwrap(), setup(&["/", "/seed.xml", "/page.xml"].map(|path| site.url(path))));
    setup.fetch.max_body = 2000;
    crawl(folder.path(), setup).await;
    let lines = lines(folder.path());
    for path in ["/a", "/b", "/page.xml"] {
        assert_eq!(lines[path]["outcome"], "stored", "{path}");
    }
    assert_eq!((&lines["/page.xml"]["truncated"], &lines["/page.xml"]["bytes"]), (&true.into(), &2000.into()));
    assert!(lines["/map.xml"]["truncated"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_is_a_page_whose_entries_are_links() {
    let site = Site::new(|path, _| match path {
        "/feed" => http(
            "200 OK",
            "Content-Type: application/rss+xml\r\n",
            "<rss><channel><title>News of the day</title><item><title>One thing</title><link>/one</link></item></channel></rss>",
        ),
        "/atom" => http(
            "200 OK",
            "Content-Type: text/html\r\n",
            "<?xml version='1.0'?><feed xml:base='/two/'><title>Notes</title><entry><link href='page'/></entry></feed>",
        ),
        "/one" => page(1, &[]),
        "/two/page" => page(2, &[]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/feed"), site.url("/atom")])).await;
    assert_outcomes(
        folder.path(),
        &[("/feed", "stored"), ("/atom", "stored"), ("/one", "stored"), ("/two/page", "stored")],
    );
}
