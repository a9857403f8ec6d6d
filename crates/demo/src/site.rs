//! The plan of the site: paths, links and duplicates.

use std::collections::BTreeMap;

use ndcrawl_model::seeded::SeededRng;

use super::html::{Content, anchor};
use super::prose::{Article, Language};
use super::templates::{chapter, contents, front, print_page, simple};
use super::topics::{BEHIND_DUPLICATES, CHAPTERS, GERMAN, THREADS, Topic};

/// Sentences of a chapter.
const SENTENCES: usize = 24;
/// Maximum sentences that differ in the second version.
const REVISED: usize = 2;

/// The ground truth of a planted page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlantedKind {
    /// A page unlike all pages before it.
    Unique,
    /// A page with nearly the same text as another.
    NearDuplicate {
        /// The path of the original.
        of: String,
    },
    /// A page with the same bytes as another.
    ExactDuplicate {
        /// The path of the original.
        of: String,
    },
    /// A URL that answers 301.
    Redirect {
        /// The path of the target.
        to: String,
    },
    /// A linked URL that answers 404.
    Missing,
    /// A page disallowed by robots.txt.
    Forbidden,
    /// A `noindex` page.
    NoIndex,
}

/// A page of the site with its ground truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedPage {
    /// Path and query.
    pub path: String,
    /// The ground truth.
    pub kind: PlantedKind,
    /// Whether only near or exact duplicates link to it.
    pub behind_duplicates: bool,
}

/// The generated demo site.
#[derive(Debug)]
pub struct DemoSite {
    pages: Vec<PlantedPage>,
    bodies: BTreeMap<String, String>,
}

impl DemoSite {
    /// Generates the site of a seed.
    pub fn new(seed: u64) -> Self {
        let mut site = DemoSite { pages: Vec::new(), bodies: BTreeMap::new() };
        site.add_front_pages(seed);
        site.add_manual(seed);
        site.add_forum(seed);
        site.add_german_section(seed);
        site.add_oddities(seed);
        site
    }

    /// Returns every linked page, originals before their duplicates.
    pub fn pages(&self) -> &[PlantedPage] {
        &self.pages
    }

    /// Returns the HTML of the page at a path and query.
    pub fn body(&self, path: &str) -> Option<&str> {
        self.bodies.get(path).map(String::as_str)
    }

    /// Returns the text of robots.txt.
    pub fn robots(&self) -> &'static str {
        "User-agent: *\nDisallow: /private/\n"
    }

    fn add(&mut self, path: impl Into<String>, kind: PlantedKind, body: String) {
        let path = path.into();
        self.bodies.insert(path.clone(), body);
        self.add_without_body(path, kind);
    }

    fn add_without_body(&mut self, path: impl Into<String>, kind: PlantedKind) {
        self.pages.push(PlantedPage { path: path.into(), kind, behind_duplicates: false });
    }

    fn add_front_pages(&mut self, seed: u64) {
        let home = [
            "This is the home of Tidewatch, the tide gauge that you can mend with a spoon.",
            "It was drawn by three harbour masters on a rainy afternoon and has been measuring ever since.",
            "Nothing on these pages is for sale, and no such gauge was ever built: the site exists to be crawled.",
            "Start with the manual, ask in the forum, or read the German summary.",
        ];
        let links = vec![
            anchor("/1.0/index.html", "Manual"),
            anchor("/forum/index.html", "Forum"),
            anchor("/de/index.html", "Deutsch"),
            anchor("/about.html", "About us"),
        ];
        self.add(
            "/",
            PlantedKind::Unique,
            front("Tidewatch", "A tide gauge that is not for sale.", &home, links, false),
        );

        let about = [
            "We are a handful of retired pilots, one baker and somebody's niece who understands computers.",
            "Our society meets on the first Thursday of a month above the old sail loft, and newcomers pay with cake.",
            "The library, the workshop and the telescope belong to all members, the dog belongs to himself.",
            "Letters reach us by the harbour post, which is emptied whenever the ferry remembers to stop.",
        ];
        let links = vec![
            anchor("/manual", "Latest manual"),
            anchor("/status.html", "State of the mirror"),
            anchor("/search.html", "Search"),
            anchor("/lost.html", "A page that got lost"),
            anchor("/private/accounts.html", "Accounts of the society"),
        ];
        self.add("/about.html", PlantedKind::Unique, front("About the society", "Who we are.", &about, links, false));

        let status = [
            "A second copy of the manual is kept on an elderly computer under the stairs, in case the first gets wet.",
            "Copying happens nightly at a quarter past two, unless there is a power cut, a holiday or a full moon.",
            "If you notice a difference between original and copy, please tell us; there ought to be none whatsoever.",
        ];
        let mirrored = std::iter::once("index").chain(CHAPTERS.iter().map(|topic| topic.slug));
        let links = mirrored.map(|slug| anchor(format!("/mirror/{slug}.html"), format!("{slug}, copied"))).collect();
        self.add(
            "/status.html",
            PlantedKind::Unique,
            front("Mirror", "What is copied, and when.", &status, links, false),
        );

        let mut random = SeededRng::new(seed, "search");
        let finds = ["anchors", "herons", "ladders", "pancakes", "sextants", "umbrellas"];
        let search = [
            "Type a word and press the button; answers are drawn from a hat.".to_owned(),
            format!("Today most people were looking for {}.", random.pick(&finds)),
            "Robots are asked to leave this form out of their indexes, though they may follow what it links to."
                .to_owned(),
        ];
        let search: Vec<&str> = search.iter().map(String::as_str).collect();
        let links = vec![anchor("/", "Home")];
        self.add("/search.html", PlantedKind::NoIndex, front("Search", "Find a word.", &search, links, true));
    }

    fn add_manual(&mut self, seed: u64) {
        let first: Vec<Article> =
            CHAPTERS.iter().map(|topic| article(topic, Language::English, SENTENCES, seed)).collect();
        self.add("/1.0/index.html", PlantedKind::Unique, contents("1.0", false));
        for (number, topic) in CHAPTERS.iter().enumerate() {
            let page = chapter("1.0", number, &first[number], Vec::new());
            self.add(format!("/1.0/{}.html", topic.slug), PlantedKind::Unique, page);
        }
        self.add("/1.1/index.html", near("/1.0/index.html"), contents("1.1", true));
        for (number, topic) in CHAPTERS.iter().enumerate() {
            let mut random = SeededRng::new(seed, &format!("revision of {}", topic.slug));
            let count = 1 + random.below(REVISED);
            let second = first[number].revised(count, &mut random);
            let note =
                BEHIND_DUPLICATES.get(number + 1).map(|note| anchor(format!("../notes/{}.html", note.slug), "Note"));
            let page = chapter("1.1", number, &second, note.into_iter().collect());
            self.add(format!("/1.1/{}.html", topic.slug), near(&format!("/1.0/{}.html", topic.slug)), page);
        }
        for (number, topic) in CHAPTERS.iter().enumerate() {
            let of = format!("/1.0/{}.html", topic.slug);
            self.add(format!("/print/{}.html", topic.slug), near(&of), print_page(topic, &first[number]));
        }
        self.add_mirror();
        self.add_behind_duplicates(seed);
    }

    fn add_mirror(&mut self) {
        let originals: Vec<String> = self.bodies.keys().filter(|path| path.starts_with("/1.0/")).cloned().collect();
        for of in originals {
            let body = self.bodies[&of].clone();
            self.add(of.replace("/1.0/", "/mirror/"), PlantedKind::ExactDuplicate { of }, body);
        }
    }

    fn add_behind_duplicates(&mut self, seed: u64) {
        for (number, topic) in BEHIND_DUPLICATES.iter().enumerate() {
            let folder = if number == 0 { "1.1" } else { "notes" };
            let article = article(topic, Language::English, SENTENCES, seed);
            let body =
                simple(topic, Language::English, &article, vec![anchor("../1.1/index.html", "Contents")], Vec::new());
            self.add(format!("/{folder}/{}.html", topic.slug), PlantedKind::Unique, body);
            if let Some(page) = self.pages.last_mut() {
                page.behind_duplicates = true;
            }
        }
    }

    fn add_forum(&mut self, seed: u64) {
        let welcome = [
            "Keepers talk here about what no handbook mentions.",
            "Be brief, be kind, and do not sell boats to each other before breakfast.",
            "Every visitor receives a session number, which makes our links look longer than they are.",
        ];
        let links = THREADS.iter().map(|topic| anchor(format!("{}.html", topic.slug), topic.title)).collect();
        self.add(
            "/forum/index.html",
            PlantedKind::Unique,
            front("Forum", "Questions and answers.", &welcome, links, false),
        );
        for (number, topic) in THREADS.iter().enumerate() {
            let mut random = SeededRng::new(seed, &format!("session of {}", topic.slug));
            let article = article(topic, Language::English, SENTENCES, seed);
            let following = [1, 2].map(|step| &THREADS[(number + step) % THREADS.len()]);
            let others: Vec<(String, &Topic)> = following
                .map(|other| (format!("{}.html?sid={:08x}", other.slug, random.below(u32::MAX as usize)), other))
                .into();
            let links = others.iter().map(|(target, other)| anchor(target.clone(), other.title)).collect();
            let body = simple(topic, Language::English, &article, vec![anchor("index.html", "Forum")], links);
            self.add(format!("/forum/{}.html", topic.slug), PlantedKind::Unique, body);
            for (target, other) in others {
                let of = format!("/forum/{}.html", other.slug);
                self.add_without_body(format!("/forum/{target}"), PlantedKind::ExactDuplicate { of });
            }
        }
        self.fill_sessions();
    }

    /// Gives the pages of all sessions the same bytes.
    fn fill_sessions(&mut self) {
        for page in &self.pages {
            if let PlantedKind::ExactDuplicate { of } = &page.kind {
                let body = self.bodies[of].clone();
                self.bodies.insert(page.path.clone(), body);
            }
        }
    }

    fn add_german_section(&mut self, seed: u64) {
        let welcome = [
            "Hier finden Sie eine kurze Zusammenfassung des Handbuchs in deutscher Sprache.",
            "Übersetzt hat sie ein Lotse aus Cuxhaven, der dafür einen Monat lang freien Kaffee bekam.",
            "Wer Fehler entdeckt, darf sie behalten oder uns bei Gelegenheit davon erzählen.",
        ];
        let content = Content {
            language: Language::German,
            title: "Tidewatch auf Deutsch".to_owned(),
            heading: "Tidewatch auf Deutsch",
            description: "Ein Pegel, den man mit dem Löffel reparieren kann.",
            navigation: vec![anchor("/", "Startseite")],
            sentences: &welcome.map(str::to_owned),
            list: GERMAN.iter().map(|topic| anchor(format!("{}.html", topic.slug), topic.title)).collect(),
            footer: "",
            noindex: false,
        };
        self.add("/de/index.html", PlantedKind::Unique, content.html());
        for topic in GERMAN {
            let article = article(topic, Language::German, SENTENCES, seed);
            let body = simple(topic, Language::German, &article, vec![anchor("index.html", "Übersicht")], Vec::new());
            self.add(format!("/de/{}.html", topic.slug), PlantedKind::Unique, body);
        }
    }

    fn add_oddities(&mut self, seed: u64) {
        self.add_without_body("/manual", PlantedKind::Redirect { to: "/1.1/index.html".to_owned() });
        self.add_without_body("/lost.html", PlantedKind::Missing);
        let secret = article(&THREADS[0], Language::English, 6, seed ^ 1);
        let body = simple(&THREADS[0], Language::English, &secret, Vec::new(), Vec::new());
        self.add("/private/accounts.html", PlantedKind::Forbidden, body);
    }
}

fn near(of: &str) -> PlantedKind {
    PlantedKind::NearDuplicate { of: of.to_owned() }
}

fn article(topic: &Topic, language: Language, count: usize, seed: u64) -> Article {
    Article::write(topic, language, count, &mut SeededRng::new(seed, &format!("{} {}", language.tag(), topic.slug)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_settles_the_site() {
        assert_eq!(DemoSite::new(3).bodies, DemoSite::new(3).bodies);
        assert_ne!(DemoSite::new(3).bodies, DemoSite::new(4).bodies);
    }

    #[test]
    fn every_planted_page_has_its_own_path_and_a_planted_original() {
        let site = DemoSite::new(0);
        let paths: std::collections::BTreeSet<&str> = site.pages().iter().map(|page| page.path.as_str()).collect();
        assert_eq!(paths.len(), site.pages().len());
        assert!((60..=100).contains(&paths.len()), "{}", paths.len());
        for page in site.pages() {
            match &page.kind {
                PlantedKind::NearDuplicate { of } => assert!(paths.contains(of.as_str()), "{of}"),
                PlantedKind::ExactDuplicate { of } => assert_eq!(site.body(&page.path), site.body(of), "{of}"),
                PlantedKind::Redirect { to } => assert!(paths.contains(to.as_str()), "{to}"),
                _ => {}
            }
        }
    }
}
