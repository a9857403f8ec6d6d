//! What becomes of a URL, and of what it names.

use std::sync::{Arc, OnceLock};

use tempfile::tempdir;

use crate::pipeline::StopReason;

use super::super::{CrawlEnding, DuplicateLinks};
use super::site::{Answer, Site, http, missing, page, page_with, redirect, xml};
use super::{assert_asked_once, assert_outcomes, crawl, lines, outcomes, setup};

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_ends_when_nothing_is_left_and_every_url_has_one_outcome() {
    let site = Site::new(|path, _| match path {
        "/" => page(0, &["/a", "/b", "/missing", "http://elsewhere.test/x"]),
        "/a" => page(1, &["/", "/b"]),
        "/b" => page(2, &["/picture", "/a"]),
        "/picture" => http("200 OK", "Content-Type: image/png\r\n", "png"),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    let ending = crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_eq!((ending.reason, ending.failed_seeds.len()), (StopReason::Finished, 0));
    assert_outcomes(
        folder.path(),
        &[
            ("/", "stored"),
            ("/a", "stored"),
            ("/b", "stored"),
            ("/missing", "failed http"),
            ("/picture", "excluded type"),
            ("/x", "excluded scope"),
        ],
    );
    assert_asked_once(&site);
    assert_eq!(ending.totals.requests, site.requests() as u64);
    let lines = lines(folder.path());
    assert_eq!((&lines["/a"]["requests"], &lines["/x"]["requests"]), (&1.into(), &0.into()));
    assert!(lines["/a"]["digest"].as_str().unwrap().starts_with("sha1:"));
}

/// `/copy` is a copy of `/original` and alone names `/behind`.
async fn crawl_with_duplicate(links: DuplicateLinks) -> (Site, CrawlEnding, String) {
    let site = Site::new(|path, _| match path {
        "/" => page(0, &["/original", "/copy", "/late"]),
        "/original" => page(1, &[]),
        "/copy" => page(1, &["/behind"]),
        "/late" => page(2, &["/later"]),
        "/later" => page(3, &[]),
        "/behind" => page(4, &[]),
        _ => missing(),
    })
    .await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
    setup.crawl.duplicate_links = links;
    let ending = crawl(folder.path(), setup).await;
    let lines = lines(folder.path());
    assert_eq!(lines["/copy"]["outcome"], "near-duplicate");
    assert_eq!(lines["/copy"]["duplicate_of"], lines["/original"]["url"]);
    let behind = outcomes(folder.path())["/behind"].clone();
    (site, ending, behind)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_duplicate_names_is_not_fetched_and_counts_as_saved() {
    for policy in [DuplicateLinks::Skip, "sample:0".parse().unwrap()] {
        let (site, ending, behind) = crawl_with_duplicate(policy).await;
        assert_eq!((behind.as_str(), site.times("/behind")), ("deferred duplicate-link", 0));
        assert_eq!(ending.saved, [("127.0.0.1".to_owned(), 1)].into());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_duplicate_names_is_fetched_in_turn_or_last_if_that_is_the_policy() {
    for (policy, last) in [
        (DuplicateLinks::Follow, "/later"),
        ("sample:1".parse().unwrap(), "/later"),
        (DuplicateLinks::Defer, "/behind"),
    ] {
        let (site, ending, behind) = crawl_with_duplicate(policy).await;
        assert_eq!((behind.as_str(), site.asked().pop().as_deref()), ("stored", Some(last)), "{policy}");
        assert!(ending.saved.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_not_to_be_indexed_gives_its_links_and_no_verdict() {
    let site = Site::new(|path, _| match path {
        "/" => page_with("<meta name=robots content=noindex>", 1, "<a href=/same>on</a>"),
        "/same" => page(1, &[]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(folder.path(), &[("/", "excluded noindex"), ("/same", "stored")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nofollow_is_obeyed_of_links_and_pages_unless_it_is_to_be_ignored() {
    for (obeyed, expected) in [(true, "deferred nofollow"), (false, "stored")] {
        let site = Site::new(|path, _| match path {
            "/" => page_with("", 0, "<a href=/link rel=nofollow>on</a> <a href=/page>on</a>"),
            "/page" => page_with("<meta name=robots content=nofollow>", 1, "<a href=/of-page>on</a>"),
            "/link" => page(2, &[]),
            "/of-page" => page(3, &[]),
            _ => missing(),
        })
        .await;
        let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
        setup.crawl.obey_nofollow = obeyed;
        crawl(folder.path(), setup).await;
        assert_outcomes(
            folder.path(),
            &[("/", "stored"), ("/page", "stored"), ("/link", expected), ("/of-page", expected)],
        );
    }
}

/// `/` names a chain of three redirects to `/end`.
async fn chain() -> Site {
    Site::new(|path, _| match path {
        "/" => page(0, &["/1"]),
        "/1" => redirect("/2"),
        "/2" => redirect("/3"),
        "/3" => redirect("/end"),
        "/end" => page(1, &[]),
        _ => missing(),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hop_of_a_redirect_has_an_outcome_and_the_last_allowed_one_counts() {
    for (most, third) in [(3, "redirected"), (2, "failed redirect")] {
        let site = chain().await;
        let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
        setup.crawl.max_redirects = most;
        crawl(folder.path(), setup).await;
        let mut expected = vec![("/", "stored"), ("/1", "redirected"), ("/2", "redirected"), ("/3", third)];
        expected.extend((most == 3).then_some(("/end", "stored")));
        assert_outcomes(folder.path(), &expected);
        let lines = lines(folder.path());
        assert_eq!(lines["/1"]["final_url"], lines["/2"]["url"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_without_scheme_is_had_by_http_if_https_fails() {
    let site = Site::new(|path, _| if path == "/" { page(0, &[]) } else { missing() }).await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url_by("https", "/")]));
    setup.seeds[0].fallback = Some(site.url("/"));
    let ending = crawl(folder.path(), setup).await;
    assert_outcomes(folder.path(), &[("https:/", "failed tls"), ("/", "stored")]);
    assert!(ending.failed_seeds.is_empty(), "{:?}", ending.failed_seeds);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_fails_with_what_it_redirects_to() {
    let site = Site::new(|path, _| match path {
        "/gone" => redirect("/away"),
        "/out" => redirect("http://elsewhere.test/x"),
        "/good" => page(0, &["/dead-link"]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    let ending = crawl(folder.path(), setup(&[site.url("/gone"), site.url("/out"), site.url("/good")])).await;
    let mut failed = ending.failed_seeds;
    failed.sort();
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(failed[0].0.ends_with("/gone") && failed[0].1.contains("status 404"), "{failed:?}");
    assert!(failed[1].0.ends_with("/out") && failed[1].1.ends_with("scope"), "{failed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_asked_for_again_as_often_as_allowed_and_all_requests_are_counted() {
    let later = || http("503 Busy", "Retry-After: 0\r\n", "");
    let site = Site::new(move |path, times| match (path, times) {
        ("/", _) => page(0, &["/busy-once", "/busy"]),
        ("/busy-once", 1) => page(1, &[]),
        ("/busy-once" | "/busy", _) => later(),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    let ending = crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(folder.path(), &[("/", "stored"), ("/busy-once", "stored"), ("/busy", "failed http")]);
    let lines = lines(folder.path());
    for (path, requests) in [("/busy-once", 2), ("/busy", 3)] {
        assert_eq!((&lines[path]["requests"], site.times(path)), (&requests.into(), requests), "{path}");
    }
    assert_eq!(ending.totals.requests, site.requests() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_behind_a_redirect_is_read_as_one_and_a_chain_of_them_ends() {
    // A sitemap names whole URLs, and the site's address is known only when it is there.
    let root = Arc::new(OnceLock::<String>::new());
    let known = root.clone();
    let site = Site::new(move |path, _| match path {
        "/robots.txt" => http("200 OK", "", "Sitemap: /sitemap.xml\nUser-agent: *\nDisallow: /secret\n"),
        "/sitemap.xml" => redirect("/map?0"),
        "/map?0" => index(known.get().unwrap(), "/map?1"),
        "/map?1" => index(known.get().unwrap(), "/map?2"),
        "/" => page(0, &["/secret"]),
        _ => missing(),
    })
    .await;
    root.set(site.url("/").to_string()).unwrap();
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
    setup.frontier.depth = 1;
    crawl(folder.path(), setup).await;
    assert_outcomes(
        folder.path(),
        &[
            ("/", "stored"),
            ("/secret", "excluded robots"),
            ("/sitemap.xml", "redirected"),
            ("/map?0", "excluded sitemap"),
            ("/map?1", "excluded sitemap"),
            ("/map?2", "deferred depth"),
        ],
    );
    assert_eq!(site.times("/secret"), 0);
}

fn index(root: &str, names: &str) -> Answer {
    let names = names.trim_start_matches('/');
    xml(&format!(
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
         <sitemap><loc>{root}{names}</loc></sitemap></sitemapindex>"
    ))
}
