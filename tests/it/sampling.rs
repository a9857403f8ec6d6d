//! The estimate of what skipping links of duplicates loses, against the true loss.

use std::sync::Arc;

use ndcrawl::seeded::SeededRng;
use serde_json::Value;

use crate::program::Place;
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// The number of crawls, and the least number of 95% intervals that must hold the truth. Sampling goes by URL, and
/// ports differ from run to run: correct intervals hold fewer than 90 of 100 in about one run of 80, and fewer than
/// 85 in one of thousands.
const CRAWLS: usize = 100;
const LEAST: usize = 85;
/// The largest mean width of the intervals, in pages for a thousand requests.
const WIDEST: f64 = 500.0;

const ORIGINALS: usize = 20;
const DUPLICATES: usize = 40;
/// Gates that each duplicate names.
const GATES: usize = 2;
/// The longest chain of pages behind a gate.
const BEHIND: usize = 6;

/// A start page that names originals and copies of them. Each copy names gates, behind each of which lies a row
/// of pages: some say what nobody else says, others repeat an original, and these lead to a gate again.
struct Site {
    origin: String,
    seed: u64,
}

impl Site {
    fn random(&self, purpose: &str) -> SeededRng {
        SeededRng::new(self.seed, purpose)
    }

    fn page(&self, path: &str) -> Option<Answer> {
        let mut parts = path.trim_matches('/').split('/');
        let (kind, number) = (parts.next()?, parts.next());
        let number = || number?.parse::<usize>().ok();
        match kind {
            "" => {
                let originals = (0..ORIGINALS).map(|number| format!("/original/{number}"));
                let duplicates = (0..DUPLICATES).map(|number| format!("/copy/{number}"));
                Some(html(&text("start"), originals.chain(duplicates)))
            }
            "original" => Some(html(&text(&format!("original {}", number()?)), [])),
            "copy" => {
                let gates = (0..GATES).map(|gate| format!("/behind/{}.{gate}/0", number().unwrap_or(0)));
                Some(html(&text(&format!("original {}", number()? % ORIGINALS)), gates))
            }
            // A few gates have much behind them, and some of them only copies.
            "behind" => {
                let gate = path.trim_start_matches("/behind/").split('/').next()?;
                let place: usize = parts.next()?.parse().ok()?;
                let length = 1 + self.random(&format!("length {gate}")).below(BEHIND);
                let is_rich = self.random(&format!("rich {gate}")).below(3) == 0;
                let is_unique = self.random(&format!("{gate} {place}")).below(10) < if is_rich { 8 } else { 2 };
                let next = (place + 1 < length).then(|| format!("/behind/{gate}/{}", place + 1));
                let said = if is_unique {
                    format!("{gate} {place}")
                } else {
                    format!("original {}", self.random(&format!("which {gate} {place}")).below(ORIGINALS))
                };
                Some(html(&text(&said), next))
            }
            _ => None,
        }
    }
}

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap_or_default();
        if path == "/robots.txt" {
            return Answer::error(404);
        }
        self.page(path).unwrap_or_else(|| Answer::error(404))
    }

    fn is_logged(&self) -> bool {
        false
    }
}

fn text(purpose: &str) -> String {
    sentences(&words_of(11, purpose, 40))
}

/// The links have no text, so that equal pages can have different links.
fn html(said: &str, links: impl IntoIterator<Item = String>) -> Answer {
    let links: String = links.into_iter().map(|link| format!("<a href=\"{link}\"></a>")).collect();
    Answer::html(format!(
        "<!DOCTYPE html><html lang=\"en\"><title>page</title><body><p>{said}</p>{links}</body></html>"
    ))
}

fn skipping(web: &Web, policy: &str, seed: usize) -> Value {
    let place = Place::new();
    let run = place.crawl(&[format!("{}/", web.origins()[0])]);
    let run = run.args(["--duplicate-links", policy, "--random-seed", &seed.to_string(), "--soft-404", "off"]);
    let run = run.args(["--trap-guard", "off", "--no-report", "--no-warc", "--json"]);
    run.finish().expect_code(0).json()["skipping"].clone()
}

#[test]
fn intervals_of_the_sampling_estimate_cover_the_true_loss() {
    let (mut held, mut widths) = (0, 0.0);
    for site in 0..4 {
        let web = Web::start(1, |origins| Arc::new(Site { origin: origins[0].clone(), seed: site }));
        let all = skipping(&web, "follow", 0);
        let truth = all["lost_per_1000"].as_f64().unwrap();
        assert_eq!(all["interval"], serde_json::json!([truth, truth]), "what was looked at whole is certain");
        let exact = all["unique"].as_f64().unwrap() * 1000.0 / all["requests"].as_f64().unwrap();
        assert!((truth - exact).abs() < 0.001, "{truth} {exact}");
        for seed in 0..CRAWLS / 4 {
            let share = ["sample:0.2", "sample:0.4"][seed % 2];
            let estimate = skipping(&web, share, seed);
            let [low, high] = [0, 1].map(|end| estimate["interval"][end].as_f64().unwrap());
            held += usize::from((low..=high).contains(&truth));
            widths += high - low;
        }
    }
    let width = widths / CRAWLS as f64;
    println!("{held} of {CRAWLS} intervals hold the truth; they are {width:.0} pages of a thousand wide");
    assert!(width < WIDEST, "{width}");
    assert!(held >= LEAST, "{held} of {CRAWLS}");
}
