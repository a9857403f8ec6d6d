//! Redirects: to other spellings of a URL, in circles, and by refresh.

use tempfile::tempdir;
use tokio::sync::watch;

use crate::pipeline::Stop;
use ndcrawl_frontier::ScopeKind;

use super::site::{Answer, Site, http, missing, page, page_with, redirect, xml};
use super::{assert_outcomes, crawl, crawl_until, lines, setup};

/// Each path redirects to another spelling of itself, which the server insists on.
const SPELLINGS: [(&str, &str); 8] = [
    ("/shop", "/shop;jsessionid=0A1B"),
    ("/news", "/news?utm_source=front&utm_medium=x"),
    ("/cart?id=3", "/cart;JSESSIONID=1?id=3"),
    ("/q", "/q?"),
    ("/~user", "/%7Euser"),
    ("/%C3%A9", "/%c3%a9"),
    ("/a-b", "/a%2Db#top"),
    ("/forum", "/forum?PHPSESSID=77"),
];

fn sent(spelling: &str) -> &str {
    spelling.split('#').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_spelling_of_a_url_is_asked_for_once_and_its_page_is_the_urls() {
    let site = Site::new(|path, _| match path {
        "/" => page(0, &SPELLINGS.map(|(path, _)| path)),
        path => match SPELLINGS.iter().position(|(canonical, _)| *canonical == path) {
            Some(at) => redirect(SPELLINGS[at].1),
            None => match SPELLINGS.iter().position(|(_, spelling)| sent(spelling) == path) {
                Some(at) => page(1 + at as u32, &[]),
                None => missing(),
            },
        },
    })
    .await;
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/")])).await;
    let mut expected = vec![("/", "stored")];
    expected.extend(SPELLINGS.map(|(path, _)| (path, "stored")));
    assert_outcomes(folder.path(), &expected);
    let lines = lines(folder.path());
    for (path, spelling) in SPELLINGS {
        let address = lines[path]["final_url"].as_str().unwrap();
        assert!(address.ends_with(sent(spelling)), "{path}: {address}");
        assert_eq!((site.times(path), site.times(sent(spelling))), (1, 1), "{path}");
        assert_eq!(lines[path]["requests"], 2, "{path}");
    }
    assert!(lines["/"]["final_url"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn several_spellings_in_a_row_are_followed_as_far_as_redirects_are() {
    for (most, outcome) in [(3, "stored"), (2, "failed redirect")] {
        let site = Site::new(|path, _| match path {
            "/" => redirect("/?"),
            "/?" => redirect("/;jsessionid=1"),
            "/;jsessionid=1" => redirect("/;jsessionid=1?utm_x=2"),
            "/;jsessionid=1?utm_x=2" => page(0, &[]),
            _ => missing(),
        })
        .await;
        let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
        setup.crawl.max_redirects = most;
        crawl(folder.path(), setup).await;
        assert_outcomes(folder.path(), &[("/", outcome)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_that_ends_where_the_chain_has_been_is_a_failure() {
    let site = Site::new(|path, _| match path {
        // To itself, to a spelling that leads back, by way of others, and to each other.
        "/self" | "/x" => redirect("/self"),
        "/back" => redirect("/back?"),
        "/back?" => redirect("/back"),
        "/1" => redirect("/2"),
        "/2" => redirect("/3;jsessionid=1"),
        "/3" => redirect("/1?utm_x=1"),
        "/fine" => page(0, &["/a", "/b"]),
        "/a" => redirect("/b"),
        "/b" => redirect("/a"),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    let seeds = ["/self", "/back", "/1", "/fine"].map(|path| site.url(path));
    let ending = crawl(folder.path(), setup(&seeds)).await;
    let lines = lines(folder.path());
    let outcome = |path: &str| (lines[path]["outcome"].as_str().unwrap(), lines[path]["reason"].as_str());
    for path in ["/self", "/back", "/3"] {
        assert_eq!(outcome(path), ("failed", Some("redirect")), "{path}");
    }
    for path in ["/1", "/2"] {
        assert_eq!(outcome(path), ("redirected", None), "{path}");
    }
    let both = [outcome("/a").0, outcome("/b").0];
    assert!(both == ["redirected", "failed"] || both == ["failed", "redirected"], "{both:?}");
    let mut failed: Vec<_> =
        ending.failed_seeds.iter().map(|(seed, why)| (seed.rsplit('/').next().unwrap(), why)).collect();
    failed.sort();
    assert_eq!(failed.iter().map(|(path, _)| *path).collect::<Vec<_>>(), ["1", "back", "self"]);
    assert!(failed[0].1.contains("in a circle") && failed[1].1.contains("in a circle"), "{failed:?}");
    assert!(failed[2].1.contains("redirects to itself"), "{failed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scope_and_robots_hold_for_the_spelling_that_is_asked_for() {
    let site = Site::new(|path, _| match path {
        "/robots.txt" => http("200 OK", "", "User-agent: *\nDisallow: /*PHPSESSID\n"),
        "/" => page(0, &["/barred", "/left-out"]),
        "/barred" => redirect("/barred?PHPSESSID=1"),
        "/left-out" => redirect("/left-out?utm_secret=1"),
        _ => missing(),
    })
    .await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/"), site.url("/left-out")]));
    setup.frontier.exclude = vec![regex::Regex::new("secret").unwrap()];
    let ending = crawl(folder.path(), setup).await;
    assert_outcomes(
        folder.path(),
        &[("/", "stored"), ("/barred", "excluded robots"), ("/left-out", "excluded exclude")],
    );
    assert_eq!(site.asked(), ["/", "/left-out", "/barred"]);
    assert!(ending.failed_seeds[0].1.contains("excluded URL"), "{:?}", ending.failed_seeds);
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_and_sitemaps_are_had_in_the_servers_spelling_too() {
    let site = Site::new(|path, _| match path {
        "/robots.txt" => redirect("/robots.txt?"),
        "/robots.txt?" => http("200 OK", "", "Sitemap: /map.xml\nUser-agent: *\nDisallow: /private\n"),
        "/map.xml" => redirect("/map.xml;jsessionid=1"),
        "/map.xml;jsessionid=1" => xml("<urlset><url><loc>http://elsewhere.test/</loc></url></urlset>"),
        "/" => page(0, &["/private"]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(
        folder.path(),
        &[("/", "stored"), ("/private", "excluded robots"), ("/map.xml", "excluded sitemap")],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ends_between_the_two_requests_begins_again_with_the_first() {
    let (stop, _) = watch::channel(Stop::Go);
    let sender = stop.clone();
    let site = Site::new(move |path, times| match (path, times) {
        ("/", _) => redirect(&format!("/;jsessionid={times}")),
        ("/;jsessionid=0", _) => {
            sender.send_replace(Stop::Now);
            Answer::Silence
        }
        ("/;jsessionid=1", _) => page(0, &[]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    crawl_until(folder.path(), setup(&[site.url("/")]), stop).await;
    crawl(folder.path(), setup(&[])).await;
    assert_outcomes(folder.path(), &[("/", "stored")]);
    assert_eq!(site.asked(), ["/", "/;jsessionid=0", "/", "/;jsessionid=1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_circle_is_known_in_the_next_run() {
    let (stop, _) = watch::channel(Stop::Go);
    let sender = stop.clone();
    let site = Site::new(move |path, times| match (path, times) {
        ("/1", _) => redirect("/2"),
        ("/2", 0) => {
            sender.send_replace(Stop::Now);
            Answer::Silence
        }
        ("/2", _) => redirect("/1"),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    crawl_until(folder.path(), setup(&[site.url("/1")]), stop).await;
    let ending = crawl(folder.path(), setup(&[])).await;
    assert_outcomes(folder.path(), &[("/1", "redirected"), ("/2", "failed redirect")]);
    assert_eq!(ending.failed_seeds.len(), 1);
}

fn refresh(value: &str) -> Answer {
    http("200 OK", &format!("Content-Type: text/html\r\nRefresh: {value}\r\n"), "<p>You are sent on.")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instant_refresh_is_a_redirect_and_a_later_one_a_link() {
    let site = Site::new(|path, _| match path {
        "/" => page(
            0,
            &["/header", "/quoted", "/meta", "/file", "/itself", "/named", "/later", "/meta-later", "/respelled"],
        ),
        "/header" => refresh("0; url=/to/1"),
        "/quoted" => refresh("0;URL='/to/2'"),
        "/meta" => page_with("<meta http-equiv=refresh content='0; url=to/3'>", 1, "<a href='/never'>x</a>"),
        "/file" => http("200 OK", "Content-Type: application/pdf\r\nRefresh: 0, /to/4\r\n", "%PDF"),
        "/itself" => http("200 OK", "Content-Type: text/html\r\nRefresh: 0\r\n", "<p>One page that loads itself."),
        "/named" => page_with("<meta http-equiv=refresh content='0; url=/named#top'>", 2, ""),
        "/later" => http("200 OK", "Content-Type: text/html\r\nRefresh: 5; url=/to/5\r\n", "<p>Wait a bit here."),
        "/meta-later" => page_with("<meta http-equiv=refresh content='30; url=/to/6'>", 3, ""),
        "/respelled" => refresh("0; url=/respelled?utm_source=x"),
        "/respelled?utm_source=x" => page(4, &[]),
        path => match path.strip_prefix("/to/") {
            Some(number) => page(10 + number.parse::<u32>().unwrap(), &[]),
            None => missing(),
        },
    })
    .await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
    setup.frontier.depth = 1;
    crawl(folder.path(), setup).await;
    assert_outcomes(
        folder.path(),
        &[
            ("/", "stored"),
            ("/header", "redirected"),
            ("/quoted", "redirected"),
            ("/meta", "redirected"),
            ("/file", "redirected"),
            ("/itself", "stored"),
            ("/named", "stored"),
            ("/later", "stored"),
            ("/meta-later", "stored"),
            ("/respelled", "stored"),
            // A redirect is no step deeper, a link is.
            ("/to/1", "stored"),
            ("/to/2", "stored"),
            ("/to/3", "stored"),
            ("/to/4", "stored"),
            ("/to/5", "deferred depth"),
            ("/to/6", "deferred depth"),
        ],
    );
    let lines = lines(folder.path());
    assert_eq!((&lines["/meta"]["final_url"], &lines["/meta"]["status"]), (&lines["/to/3"]["url"], &200.into()));
    assert!(lines["/respelled"]["final_url"].as_str().unwrap().ends_with("?utm_source=x"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_refreshes_brings_its_target_into_scope_and_fails_in_a_circle() {
    let site = Site::new(|path, _| match path {
        "/old/" => refresh("0; url=/new/"),
        "/new/" => page(0, &["/new/more", "/elsewhere"]),
        "/new/more" => page(1, &[]),
        "/loop" => refresh("0; url=/pool"),
        "/pool" => redirect("/loop"),
        _ => missing(),
    })
    .await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/old/"), site.url("/loop")]));
    setup.frontier.scope = ScopeKind::Prefix;
    setup.seeds.truncate(1);
    crawl(folder.path(), setup).await;
    assert_outcomes(
        folder.path(),
        &[("/old/", "redirected"), ("/new/", "stored"), ("/new/more", "stored"), ("/elsewhere", "excluded scope")],
    );
    let folder = tempdir().unwrap();
    let ending = crawl(folder.path(), super::setup(&[site.url("/loop")])).await;
    assert_outcomes(folder.path(), &[("/loop", "redirected"), ("/pool", "failed redirect")]);
    assert_eq!(ending.failed_seeds.len(), 1);
}
