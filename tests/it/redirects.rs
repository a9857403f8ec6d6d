//! A redirect map between two crawls of a site, before and after a move.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::program::Place;
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// Pages of the earlier site; the last one has no successor.
const PAGES: usize = 30;

/// The earlier site at the first origin, the later one at the second, with other paths and another frame.
struct Moved(Vec<String>);

impl Content for Moved {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let is_later = url.starts_with(&self.0[1]);
        let path = &url[self.0[usize::from(is_later)].len()..];
        let folder = if is_later { "/articles" } else { "/old" };
        let frame = sentences(&words_of(9, folder, 60));
        let page = |title: &str, text: &str, links: &str| {
            Answer::html(format!(
                "<title>{title}</title><div>{frame}</div><main><h1>{title}</h1><p>{text}</p></main>{links}"
            ))
        };
        if path == "/" {
            let links: String = (0..=PAGES).map(|number| format!("<a href={folder}/{number}>{number}</a> ")).collect();
            return page("Start", &sentences(&words_of(1, folder, 100)), &links);
        }
        let number = path.strip_prefix(folder).and_then(|number| number.strip_prefix('/')?.parse::<usize>().ok());
        match (number, is_later) {
            (Some(number @ 0), _) => Answer::text(&sentences(&words_of(2, &number.to_string(), 150))),
            (Some(number), false) if number < PAGES => {
                page(&format!("Page {number}"), &sentences(&words_of(2, &number.to_string(), 150)), "")
            }
            (Some(number), true) if number < PAGES - 1 => {
                let mut words = words_of(2, &number.to_string(), 150);
                words.truncate(148);
                page(&format!("Page {number}"), &sentences(&words), "")
            }
            _ => Answer::error(404),
        }
    }
}

#[test]
fn pages_of_an_earlier_site_are_mapped_by_what_they_say() {
    let web = Web::start(2, |origins| Arc::new(Moved(origins.to_vec())));
    let place = Place::new();
    for (out, origin) in ["old", "new"].into_iter().zip(web.origins()) {
        let flags = ["--delay", "0", "--ip-delay", "0", "--allow-private", "--predicted", "fetch", "--no-report"];
        place.run([&*format!("{origin}/"), "-o", out]).args(flags).finish().expect_code(0);
    }
    let told = place.run(["redirects", "old", "new"]).finish().expect_code(10);
    let mut lines = told.stdout.lines();
    assert_eq!(lines.next(), Some("old_url,new_url,score,adds_words,lacks_words,how"));
    let mut map = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), 6, "{line}");
        map.insert(cells[0].to_owned(), (cells[1].to_owned(), cells[5].to_owned()));
    }
    let [old, new] = [0, 1].map(|place| &web.origins()[place]);
    let mut expected = BTreeMap::from([(format!("{old}/"), (String::new(), "none".to_owned()))]);
    for number in 0..PAGES {
        let (to, how) = match number {
            0 => (format!("{new}/articles/0"), "same-text"),
            _ if number < PAGES - 1 => (format!("{new}/articles/{number}"), "near"),
            _ => (String::new(), "none"),
        };
        expected.insert(format!("{old}/old/{number}"), (to, how.to_owned()));
    }
    assert_eq!(map, expected);
    assert!(
        told.stderr.starts_with("31 pages: 0 with the same URL, 1 with the same text elsewhere,\n"),
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("28 with nearly the same, 2 without a match"), "{}", told.stderr);
    let told = place.run(["redirects", "new", "new", "-o", "map.csv"]).finish().expect_code(0);
    assert!(told.stdout.is_empty(), "{}", told.stdout);
    let map = std::fs::read_to_string(place.path("map.csv")).unwrap();
    assert!(map.lines().skip(1).all(|line| line.ends_with(",same-url")), "{map}");
}
