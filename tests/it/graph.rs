//! A synthetic web from a seed, with the truth about each URL.
//!
//! A copy is linked only from the page it repeats (and from its own kind), so that every crawl
//! judges the original first: which pages are stored does not depend on the order of arrival.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ndcrawl::seeded::SeededRng;

use crate::web::{Answer, Content, Web};
use crate::words::{sentences, word, words};

/// A web of this many hosts, and the plan of its pages that it follows.
pub fn planned_web(hosts: usize, options: Options) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(hosts, |origins| {
        let planned = Arc::new(Graph::new(origins, options));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

/// The truth about a URL.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    Unique,
    /// Repeats `of` but for this share of its words.
    Near {
        of: String,
        replaced: f64,
    },
    Exact {
        of: String,
    },
    Redirect {
        to: String,
    },
    NoIndex,
    Missing,
    Forbidden,
    OutOfScope,
}

/// The expected outcome of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub outcome: &'static str,
    pub reason: Option<&'static str>,
}

/// What to plant.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    /// Unique pages in the tree that all other pages hang on.
    pub pages: usize,
    /// Every so many pages have a near-duplicate, an exact copy, a redirect chain ...
    pub copies_every: usize,
    /// Whether dead links, flaky pages, loops and pages under robots rules are planted.
    pub oddities: bool,
    /// Bounds of each page's response time.
    pub delay: (Duration, Duration),
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, pages: 60, copies_every: 5, oddities: true, delay: (Duration::ZERO, Duration::ZERO) }
    }
}

#[derive(Clone, Debug)]
struct Page {
    truth: Truth,
    links: Vec<String>,
    /// Title, then description, then heading, then body.
    words: Vec<String>,
    html: String,
    delay: Duration,
    flaky: bool,
    gzip: bool,
}

/// The plan of a web.
pub struct Graph {
    options: Options,
    origins: Vec<String>,
    pages: BTreeMap<String, Page>,
}

const TITLE: usize = 3;
const DESCRIPTION: usize = 8;
const HEADING: usize = 4;
const BODY: usize = 170;
const REPLACED: [f64; 3] = [0.02, 0.05, 0.10];

impl Graph {
    pub fn new(origins: &[String], options: Options) -> Self {
        let mut graph = Self { options, origins: origins.to_vec(), pages: BTreeMap::new() };
        graph.plant_tree();
        for number in 0..graph.options.pages {
            graph.plant_around(number);
        }
        if graph.options.oddities {
            graph.plant_loop();
        }
        graph.write();
        graph
    }

    /// The front page of each host.
    pub fn seeds(&self) -> Vec<String> {
        (0..self.origins.len()).map(|host| self.url(host)).collect()
    }

    pub fn truths(&self) -> impl Iterator<Item = (&str, &Truth)> {
        self.pages.iter().map(|(url, page)| (url.as_str(), &page.truth))
    }

    pub fn html(&self, url: &str) -> &str {
        &self.pages[url].html
    }

    pub fn is_flaky(&self, url: &str) -> bool {
        self.pages[url].flaky
    }

    /// The original of this page.
    pub fn original<'a>(&'a self, url: &'a str) -> &'a str {
        match &self.pages[url].truth {
            Truth::Near { of, .. } | Truth::Exact { of } => of,
            _ => url,
        }
    }

    /// The expected outcome of each URL in a crawl without limits.
    pub fn expected(&self, follow_duplicates: bool) -> BTreeMap<String, Expected> {
        let mut expected = BTreeMap::new();
        let mut behind_duplicates = Vec::new();
        let mut queue: VecDeque<String> = self.seeds().into();
        while let Some(url) = queue.pop_front() {
            let page = &self.pages[&url];
            if expected.insert(url, page.truth.expected()).is_some() {
                continue;
            }
            let duplicate = matches!(page.truth, Truth::Near { .. } | Truth::Exact { .. });
            match &page.truth {
                Truth::Redirect { to } => queue.push_back(to.clone()),
                _ if duplicate && !follow_duplicates => behind_duplicates.extend(page.links.iter().cloned()),
                _ => queue.extend(page.links.iter().cloned()),
            }
        }
        for url in behind_duplicates {
            expected.entry(url).or_insert(Expected { outcome: "deferred", reason: Some("duplicate-link") });
        }
        expected
    }

    fn url(&self, number: usize) -> String {
        let hosts = self.origins.len();
        match number {
            front if front < hosts => format!("{}/", self.origins[front]),
            _ => self.beside(number, "page"),
        }
    }

    /// A URL that belongs to page `number`, on its host.
    fn beside(&self, number: usize, folder: &str) -> String {
        format!("{}/{folder}/{number}", self.origins[number % self.origins.len()])
    }

    /// The URL with its host's number, which does not depend on the port.
    fn key(&self, url: &str) -> String {
        let host = self.origins.iter().position(|origin| url.starts_with(origin.as_str()));
        format!("{host:?} {}", path(url))
    }

    fn random(&self, purpose: &str) -> SeededRng {
        SeededRng::new(self.options.seed, purpose)
    }

    fn plant(&mut self, url: &str, truth: Truth, words: Vec<String>, links: Vec<String>) {
        let mut random = self.random(&format!("manners of {}", self.key(url)));
        let (least, most) = self.options.delay;
        let spread = most.saturating_sub(least).as_millis() as usize;
        let delay = least + Duration::from_millis(random.below(spread + 1) as u64);
        let gzip = random.below(3) == 0;
        let page = Page { truth, links, words, html: String::new(), delay, flaky: false, gzip };
        self.pages.insert(url.to_owned(), page);
    }

    fn plant_unique(&mut self, url: &str) {
        let words =
            words(&mut self.random(&format!("words of {}", self.key(url))), TITLE + DESCRIPTION + HEADING + BODY);
        self.plant(url, Truth::Unique, words, Vec::new());
    }

    fn plant_bare(&mut self, url: &str, truth: Truth) {
        self.plant(url, truth, Vec::new(), Vec::new());
    }

    fn link(&mut self, from: &str, to: &str) {
        self.pages.get_mut(from).unwrap().links.push(to.to_owned());
    }

    fn plant_tree(&mut self) {
        let (hosts, pages) = (self.origins.len(), self.options.pages);
        let mut random = self.random("tree");
        for number in 0..pages {
            self.plant_unique(&self.url(number));
        }
        for number in hosts..pages {
            let parent = number / 5 + random.below(number / 4 + 1);
            self.link(&self.url(parent.min(number - 1)), &self.url(number));
        }
        for number in 0..pages {
            for _ in 0..3 {
                self.link(&self.url(number), &self.url(random.below(pages)));
            }
        }
    }

    /// What hangs on page `number`. Of its neighbours each kind has another one to hang on.
    fn plant_around(&mut self, number: usize) {
        let every = self.options.copies_every;
        match number % every {
            1 => self.plant_near(number),
            2 => self.plant_exact(number),
            3 => self.plant_redirects(number),
            _ => {}
        }
        if !self.options.oddities {
            return;
        }
        let url = self.url(number);
        match number % 12 {
            4 => self.plant_partly_alike(number),
            5 => self.plant_noindex(number),
            6 => self.plant_linked(&url, &self.beside(number, "missing"), Truth::Missing),
            7 => self.plant_linked(&url, &self.beside(number, "private"), Truth::Forbidden),
            8 => self.pages.get_mut(&url).unwrap().flaky = true,
            9 => self.plant_linked(&url, "http://127.0.0.77:9/elsewhere", Truth::OutOfScope),
            _ => {}
        }
    }

    fn plant_linked(&mut self, from: &str, url: &str, truth: Truth) {
        self.plant_bare(url, truth);
        self.link(from, url);
    }

    /// A near-duplicate, and a unique page to which only the near-duplicate links.
    fn plant_near(&mut self, number: usize) {
        let (of, url, hidden) = (self.url(number), self.beside(number, "near"), self.beside(number, "hidden"));
        let replaced = REPLACED[number / self.options.copies_every % REPLACED.len()];
        let words = self.reworded(&of, replaced, &url);
        self.plant_unique(&hidden);
        self.link(&of, &url);
        let mut links = self.pages[&of].links.clone();
        links.push(hidden);
        self.plant(&url, Truth::Near { of, replaced }, words, links);
    }

    fn plant_exact(&mut self, number: usize) {
        let (of, url) = (self.url(number), self.beside(number, "copy"));
        self.link(&of, &url);
        self.plant_bare(&url, Truth::Exact { of });
    }

    /// Two redirects to a page that nothing else links to.
    fn plant_redirects(&mut self, number: usize) {
        let (url, target) = (self.url(number), self.beside(number, "target"));
        let hops = [self.beside(number, "moved"), self.beside(number, "moved-again")];
        self.plant_unique(&target);
        self.plant_linked(&url, &hops[0], Truth::Redirect { to: hops[1].clone() });
        self.plant_bare(&hops[1], Truth::Redirect { to: target });
    }

    /// A page with the title of another one and less than half of its words: no duplicate.
    fn plant_partly_alike(&mut self, number: usize) {
        let (of, url) = (self.url(number), self.beside(number, "partly"));
        let words = self.reworded(&of, 0.6, &url);
        self.plant(&url, Truth::Unique, words, Vec::new());
        self.link(&of, &url);
    }

    fn plant_noindex(&mut self, number: usize) {
        let (from, url, behind) =
            (self.url(number), self.beside(number, "noindex"), self.beside(number, "behind-noindex"));
        self.plant_unique(&behind);
        let words =
            words(&mut self.random(&format!("words of {}", self.key(&url))), TITLE + DESCRIPTION + HEADING + BODY);
        self.plant(&url, Truth::NoIndex, words, vec![behind]);
        self.link(&from, &url);
    }

    fn plant_loop(&mut self) {
        let [front, a, b] = ["/", "/loop/a", "/loop/b"].map(|path| format!("{}{path}", self.origins[0]));
        self.plant_linked(&front, &a, Truth::Redirect { to: b.clone() });
        self.plant_bare(&b, Truth::Redirect { to: a });
    }

    /// The words of a page with this share of them replaced, those of the body only.
    fn reworded(&self, of: &str, share: f64, purpose: &str) -> Vec<String> {
        let mut random = self.random(&format!("rewording of {}", self.key(purpose)));
        let mut words = self.pages[of].words.clone();
        let body = &mut words[TITLE + DESCRIPTION + HEADING..];
        let count = (body.len() as f64 * share).round() as usize;
        let start = random.below(body.len());
        let stride = (body.len() / count.max(1)).max(1);
        for step in 0..count {
            let place = (start + step * stride) % body.len();
            body[place] = word(&mut random);
        }
        words
    }

    /// Writes the pages when all links are known; exact copies last.
    fn write(&mut self) {
        for page in self.pages.values_mut() {
            page.html = html(page);
        }
        let copies: Vec<(String, String)> = self
            .pages
            .iter()
            .filter_map(|(url, page)| match &page.truth {
                Truth::Exact { of } => Some((url.clone(), of.clone())),
                _ => None,
            })
            .collect();
        for (url, of) in copies {
            let (html, links) = (self.pages[&of].html.clone(), self.pages[&of].links.clone());
            let copy = self.pages.get_mut(&url).unwrap();
            (copy.html, copy.links) = (html, links);
        }
    }
}

impl Truth {
    fn expected(&self) -> Expected {
        let (outcome, reason) = match self {
            Truth::Unique => ("stored", None),
            Truth::Near { .. } => ("near-duplicate", None),
            Truth::Exact { .. } => ("exact-duplicate", None),
            Truth::Redirect { .. } => ("redirected", None),
            Truth::NoIndex => ("excluded", Some("noindex")),
            Truth::Missing => ("failed", None),
            Truth::Forbidden => ("excluded", Some("robots")),
            Truth::OutOfScope => ("excluded", Some("scope")),
        };
        Expected { outcome, reason }
    }
}

impl Content for Graph {
    fn answer(&self, url: &str, before: usize) -> Answer {
        if url.ends_with("/robots.txt") {
            return Answer::text("User-agent: *\nDisallow: /private/\n");
        }
        let Some(page) = self.pages.get(url) else { return Answer::error(404) };
        let answer = match &page.truth {
            Truth::Redirect { to } => Answer::redirect(to),
            Truth::Missing => Answer::error(404),
            _ if page.flaky && before == 0 => Answer::error(500),
            _ => Answer { gzip: page.gzip, ..Answer::html(page.html.as_str()) },
        };
        Answer { delay: page.delay, ..answer }
    }
}

/// The path of a URL, which does not depend on the port.
pub fn path(url: &str) -> &str {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    url[after_scheme..].find('/').map_or("/", |at| &url[after_scheme + at..])
}

fn html(page: &Page) -> String {
    if page.words.is_empty() {
        return "<!DOCTYPE html><title>bare</title><p>Nothing to see.".to_owned();
    }
    let (title, rest) = page.words.split_at(TITLE);
    let (description, rest) = rest.split_at(DESCRIPTION);
    let (heading, body) = rest.split_at(HEADING);
    let robots = if page.truth == Truth::NoIndex { "<meta name=\"robots\" content=\"noindex\">" } else { "" };
    let paragraphs: String = body.chunks(36).map(|words| format!("<p>{}</p>\n", sentences(words))).collect();
    let links: String = page.links.iter().map(|url| format!("<li><a href=\"{url}\">more</a></li>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>\n\
         <meta name=\"description\" content=\"{}\">{robots}</head>\n\
         <body><h1>{}</h1>\n{paragraphs}<ul>\n{links}</ul></body>\n</html>\n",
        title.join(" "),
        description.join(" "),
        heading.join(" ")
    )
}
