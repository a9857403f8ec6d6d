//! *Which changes on a site would spare most duplicates?*
//!
//! A change is a redirect, or lines of robots.txt, and meets the URLs of one [`Pattern`]. It is *safe* if each page that it
//! takes away repeats one that stays. Of all safe changes the one that takes most pages comes first, then the one that
//! takes most of the rest, and so on; so no page counts twice. What no safe change meets needs canonical tags: by the
//! pattern that most of these pages have in common, with the unique pages that have it, too.
//!
//! Memory and time grow with the pages, times at most [`MAX_PATTERNS`].

mod marks;
mod pattern;

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use super::FoundPage;
use marks::{marks, split};
use pattern::Pattern;

/// The fewest pages of a pattern.
const MIN_PAGES: usize = 3;
/// Patterns that are looked at, those of most pages.
const MAX_PATTERNS: usize = 300;
/// Plainer URLs of its text with which each kept page is compared.
const MAX_COPIES: usize = 8;

/// What takes the pages of a pattern away from crawlers, or tells them which page counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Mend {
    /// Lines of the robots.txt of an origin.
    Robots {
        /// The origin.
        origin: String,
        /// The lines below `User-agent: *`.
        lines: Vec<String>,
    },
    /// A permanent redirect.
    Redirect {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// A canonical tag on each page, which names the page that it repeats.
    Canonical,
}

/// A change on a site, and what it spares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteChange {
    /// The URLs that it meets.
    pub pattern: String,
    /// Pages that it spares: each repeats one that stays.
    pub pages: u64,
    /// Requests for URLs that it meets, whatever came of them.
    pub requests: u64,
    /// Further URLs that it meets and that were not fetched, since they are expected to repeat others.
    pub left_out: u64,
    /// What to change.
    pub mend: Mend,
    /// Such a page, and the page of its text that stays.
    pub example: FoundPage,
    /// Texts that only pages of the pattern have. With any, only canonical tags are safe.
    pub unique: u64,
    /// The first page with such a text.
    pub unique_example: Option<String>,
}

/// The compared pages once the redirects and the lines of robots.txt are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PagesLeft {
    /// Pages compared.
    pub compared: u64,
    /// Of these, duplicates.
    pub duplicates: u64,
}

/// A URL of the crawl.
pub(super) struct CrawledUrl<'a> {
    pub url: &'a str,
    /// The kept page of its text, if it was compared.
    pub kept: Option<&'a str>,
    pub requests: u32,
    /// Whether it was not fetched since it is expected to repeat another one.
    pub is_left_out: bool,
}

/// Returns the changes, those that spare most URLs first, and what the safe ones leave.
pub(super) fn changes(urls: &[CrawledUrl<'_>]) -> (Vec<SiteChange>, PagesLeft) {
    let mut pages = Pages::of(urls);
    let mut candidates = pages.candidates();
    let mut changes = Vec::new();
    while let Some(best) = pages.best(&mut candidates, true) {
        let candidate = candidates.swap_remove(best);
        changes.push(pages.change(&candidate, urls, true));
    }
    let left = pages.left();
    while let Some(best) = pages.best(&mut candidates, false) {
        let candidate = candidates.swap_remove(best);
        changes.push(pages.change(&candidate, urls, false));
    }
    changes.extend(pages.others());
    changes.sort_by_key(|change| Reverse(change.pages + change.left_out));
    (changes, left)
}

/// A compared page.
struct Page<'a> {
    url: &'a str,
    origin: &'a str,
    rest: &'a str,
    text: usize,
    is_kept: bool,
    /// Whether a change takes it away.
    is_taken: bool,
    /// Whether a canonical tag is proposed for it.
    is_tagged: bool,
}

/// A pattern, and the pages that it meets.
struct Candidate {
    pattern: Pattern,
    pages: Vec<usize>,
    /// Pages of another text than that to which the redirect leads.
    misled: Vec<usize>,
    /// Whether it takes away all pages of a text.
    is_unsafe: bool,
}

/// All compared pages, by text.
struct Pages<'a> {
    pages: Vec<Page<'a>>,
    /// Pages of each text.
    texts: Vec<Vec<usize>>,
    by_url: HashMap<&'a str, usize>,
}

impl<'a> Pages<'a> {
    fn of(urls: &[CrawledUrl<'a>]) -> Self {
        let mut all = Self { pages: Vec::new(), texts: Vec::new(), by_url: HashMap::new() };
        let mut numbers = HashMap::new();
        for CrawledUrl { url, kept, .. } in urls {
            let (Some(kept), Some((origin, rest))) = (*kept, split(url)) else { continue };
            let text = *numbers.entry(kept).or_insert(all.texts.len());
            if text == all.texts.len() {
                all.texts.push(Vec::new());
            }
            let page = all.pages.len();
            all.texts[text].push(page);
            all.by_url.insert(url, page);
            all.pages.push(Page { url, origin, rest, text, is_kept: kept == *url, is_taken: false, is_tagged: false });
        }
        all
    }

    /// Returns the patterns by which pages of one text differ, with the pages that they meet.
    fn candidates(&self) -> Vec<Candidate> {
        let mut counts: HashMap<Pattern, usize> = HashMap::new();
        for text in &self.texts {
            let Some(kept) = text.iter().find(|page| self.pages[**page].is_kept).map(|page| self.pages[*page].url)
            else {
                continue;
            };
            let copies = text.iter().map(|page| self.pages[*page].url).filter(|url| *url != kept);
            for (number, copy) in copies.enumerate() {
                let mut own = marks(copy, kept);
                // The crawl may have met the plainer one of both later.
                if own.is_empty() && number < MAX_COPIES {
                    own = marks(kept, copy);
                }
                own.into_iter().for_each(|mark| *counts.entry(mark).or_default() += 1);
            }
        }
        let mut patterns: Vec<(Pattern, usize)> = counts.into_iter().collect();
        patterns.sort_by_cached_key(|(pattern, count)| (Reverse(*count), pattern.to_string()));
        patterns.truncate(MAX_PATTERNS);
        patterns
            .into_iter()
            .map(|(pattern, _)| self.candidate(pattern))
            .filter(|one| one.pages.len() >= MIN_PAGES)
            .collect()
    }

    fn candidate(&self, pattern: Pattern) -> Candidate {
        let (mut pages, mut misled) = (Vec::new(), Vec::new());
        let own = self.pages.iter().enumerate().filter(|(_, page)| page.origin == pattern.origin());
        for (number, page) in own.filter(|(_, page)| pattern.meets(page.rest)) {
            let target = pattern.target(page.rest).and_then(|url| self.by_url.get(&*url));
            let is_spelling = matches!(pattern, Pattern::Spelling { .. });
            match target {
                Some(target) if self.pages[*target].text != page.text => misled.push(number),
                // Only URLs whose other spelling is there are redirected.
                None if is_spelling => {}
                _ => pages.push(number),
            }
        }
        Candidate { pattern, pages, misled, is_unsafe: false }
    }

    /// Returns the candidate that spares most pages, of safe ones only if that is asked for.
    fn best(&self, candidates: &mut [Candidate], is_safe: bool) -> Option<usize> {
        let mut ranked = Vec::new();
        for (place, candidate) in candidates.iter().enumerate().filter(|(_, one)| !is_safe || !one.is_unsafe) {
            let (spared, kept) = self.spared(candidate, is_safe);
            if spared >= MIN_PAGES {
                let is_redirect = candidate.pattern.redirect().is_some();
                let others = if is_safe { kept } else { candidate.pages.len() };
                // Of two that spare the same the narrower one.
                let width = Reverse(candidate.pattern.to_string().len());
                ranked.push((Reverse(spared), others, !is_redirect, width, place));
            }
        }
        ranked.sort_unstable();
        ranked.into_iter().map(|(.., place)| place).find(|place| {
            let candidate = &mut candidates[*place];
            // What takes a text away does so after any other change, too.
            candidate.is_unsafe = candidate.is_unsafe || !self.lost(candidate).is_empty();
            !is_safe || !candidate.is_unsafe
        })
    }

    /// Returns how many pages a change spares that no other one has spared, and how many of these were kept. A kept page
    /// needs no canonical tag.
    fn spared(&self, candidate: &Candidate, is_safe: bool) -> (usize, usize) {
        let new = candidate.pages.iter().map(|page| &self.pages[*page]).filter(|page| page.is_open());
        let (kept, copies): (Vec<&Page<'_>>, Vec<&Page<'_>>) = new.partition(|page| page.is_kept);
        if is_safe { (copies.len() + kept.len(), kept.len()) } else { (copies.len(), 0) }
    }

    /// Returns the first page of each text that a change would take away altogether.
    fn lost(&self, candidate: &Candidate) -> Vec<usize> {
        let mut left: HashMap<usize, usize> = HashMap::new();
        for page in candidate.pages.iter().filter(|page| !self.pages[**page].is_taken) {
            let text = self.pages[*page].text;
            let staying = || self.texts[text].iter().filter(|page| !self.pages[**page].is_taken).count();
            *left.entry(text).or_insert_with(staying) -= 1;
        }
        let is_lost = |page: &&usize| left.remove_entry(&self.pages[**page].text).is_some_and(|(_, left)| left == 0);
        let mut lost: Vec<usize> = candidate.pages.iter().filter(is_lost).copied().collect();
        lost.extend(&candidate.misled);
        lost
    }

    /// Makes a change: marks its pages as taken, or as tagged.
    fn change(&mut self, candidate: &Candidate, urls: &[CrawledUrl<'_>], is_safe: bool) -> SiteChange {
        let lost = self.lost(candidate);
        let (pages, _) = self.spared(candidate, is_safe);
        let open: Vec<usize> = candidate.pages.iter().filter(|page| self.pages[**page].is_open()).copied().collect();
        for page in &candidate.pages {
            let page = &mut self.pages[*page];
            if is_safe { page.is_taken = true } else { page.is_tagged = true }
        }
        if is_safe {
            let mut texts: Vec<usize> = candidate.pages.iter().map(|page| self.pages[*page].text).collect();
            texts.sort_unstable();
            texts.dedup();
            texts.into_iter().for_each(|text| self.keep_another(text));
        }
        let pattern = self.used(&candidate.pattern, &candidate.pages);
        let met = urls.iter().filter(|url| {
            split(url.url).is_some_and(|(origin, rest)| origin == pattern.origin() && pattern.meets(rest))
        });
        let (mut requests, mut left_out) = (0, 0);
        for url in met {
            requests += u64::from(url.requests);
            left_out += u64::from(url.is_left_out);
        }
        let copy = open.into_iter().find(|page| is_safe || !self.pages[*page].is_kept);
        SiteChange {
            pattern: pattern.to_string(),
            pages: pages as u64,
            requests,
            left_out,
            mend: if is_safe { mend(&pattern) } else { Mend::Canonical },
            example: copy.map(|page| self.example(page)).unwrap_or_default(),
            unique: lost.len() as u64,
            unique_example: lost.first().map(|page| self.pages[*page].url.to_owned()),
        }
    }

    /// Lets the plainest page of a text that stays be the kept one, if that was taken away.
    fn keep_another(&mut self, text: usize) {
        let staying = || self.texts[text].iter().filter(|page| !self.pages[**page].is_taken);
        if staying().any(|page| self.pages[*page].is_kept) {
            return;
        }
        if let Some(best) = staying().min_by_key(|page| self.pages[**page].plainness()).copied() {
            self.pages[best].is_kept = true;
        }
    }

    /// Returns the pattern without the paths that match no page.
    fn used(&self, pattern: &Pattern, pages: &[usize]) -> Pattern {
        let Pattern::Paths { origin, paths } = pattern else { return pattern.clone() };
        let alone = |path: &String| Pattern::Paths { origin: origin.clone(), paths: vec![path.clone()] };
        let is_used = |path: &&String| pages.iter().any(|page| alone(path).meets(self.pages[*page].rest));
        Pattern::Paths { origin: origin.clone(), paths: paths.iter().filter(is_used).cloned().collect() }
    }

    /// Returns a page with the plainest other page of its text, one that stays if there is any.
    fn example(&self, page: usize) -> FoundPage {
        let Page { url, text, .. } = self.pages[page];
        let others = self.texts[text].iter().map(|page| &self.pages[*page]).filter(|other| other.url != url);
        let best = others.min_by_key(|page| (page.is_taken, page.plainness()));
        FoundPage {
            url: url.to_owned(),
            other: best.map_or(String::new(), |page| page.url.to_owned()),
            ..FoundPage::default()
        }
    }

    /// Returns what is left of the compared pages.
    fn left(&self) -> PagesLeft {
        let taken = self.pages.iter().filter(|page| page.is_taken).count();
        PagesLeft {
            compared: (self.pages.len() - taken) as u64,
            duplicates: (self.pages.len() - taken - self.texts.len()) as u64,
        }
    }

    /// Returns the duplicates that no pattern meets, by origin.
    fn others(&self) -> Vec<SiteChange> {
        let mut origins: HashMap<&str, Vec<usize>> = HashMap::new();
        let open = self.pages.iter().enumerate().filter(|(_, page)| page.is_open() && !page.is_kept);
        open.for_each(|(number, page)| origins.entry(page.origin).or_default().push(number));
        let mut origins: Vec<(&str, Vec<usize>)> = origins.into_iter().collect();
        origins.sort_unstable();
        let change = |(origin, pages): (&str, Vec<usize>)| SiteChange {
            pattern: format!("{origin}/*, no pattern in common"),
            pages: pages.len() as u64,
            requests: pages.len() as u64,
            left_out: 0,
            mend: Mend::Canonical,
            example: self.example(pages[0]),
            unique: 0,
            unique_example: None,
        };
        origins.into_iter().map(change).collect()
    }
}

impl Page<'_> {
    /// Orders the URLs of a text, the plainest first.
    fn plainness(&self) -> (bool, usize, &str) {
        (self.rest.contains('?'), self.url.len(), self.url)
    }

    /// Whether no change meets it yet.
    fn is_open(&self) -> bool {
        !self.is_taken && !self.is_tagged
    }
}

fn mend(pattern: &Pattern) -> Mend {
    match pattern {
        Pattern::Paths { origin, paths } => {
            let line = |path: &String| format!("Disallow: {path}");
            Mend::Robots { origin: origin.clone(), lines: paths.iter().map(line).collect() }
        }
        Pattern::Origin { .. } | Pattern::Spelling { .. } => {
            let (from, to) = pattern.redirect().unwrap_or_default();
            Mend::Redirect { from, to }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crawl of these URLs, each with the kept page of its text.
    fn told(urls: &[(String, String)]) -> (Vec<SiteChange>, PagesLeft) {
        // A crawl has one line of each URL.
        let mut known = std::collections::HashSet::new();
        let urls = urls.iter().filter(|(url, _)| known.insert(url));
        let urls: Vec<CrawledUrl<'_>> =
            urls.map(|(url, kept)| CrawledUrl { url, kept: Some(kept), requests: 1, is_left_out: false }).collect();
        changes(&urls)
    }

    fn pairs(count: usize, pair: impl Fn(usize) -> [String; 2]) -> Vec<(String, String)> {
        let both = |[copy, kept]: [String; 2]| [(kept.clone(), kept.clone()), (copy, kept)];
        (0..count).flat_map(|number| both(pair(number))).collect()
    }

    fn lines(change: &SiteChange) -> Vec<String> {
        match &change.mend {
            Mend::Robots { lines, .. } => lines.clone(),
            Mend::Redirect { from, to } => vec![from.clone(), to.clone()],
            Mend::Canonical => Vec::new(),
        }
    }

    #[test]
    fn each_pattern_has_its_change_and_no_page_counts_twice() {
        let mut urls = pairs(9, |n| [format!("http://www.a.test/{n}"), format!("http://a.test/{n}")]);
        urls.extend(pairs(5, |n| [format!("http://a.test/p{n}?s=7"), format!("http://a.test/p{n}")]));
        urls.extend(pairs(4, |n| [format!("http://a.test/print/q{n}?s=7"), format!("http://a.test/q{n}")]));
        urls.extend(pairs(3, |n| [format!("http://a.test/r{n}/"), format!("http://a.test/r{n}")]));
        let (changes, left) = told(&urls);
        let told: Vec<_> = changes.iter().map(|change| (change.pages, lines(change))).collect();
        assert_eq!(
            told,
            [
                (9, vec!["http://www.a.test/*".to_owned(), "http://a.test/*".to_owned()]),
                (9, vec!["Disallow: /*?s=".to_owned()]),
                (3, vec!["http://a.test/*/".to_owned(), "http://a.test/*".to_owned()]),
            ]
        );
        assert_eq!(left, PagesLeft { compared: 21, duplicates: 0 });
        assert_eq!(changes[1].example.other, "http://a.test/p0");
    }

    #[test]
    fn a_kept_page_may_go_if_a_copy_of_it_stays() {
        let (changes, left) = told(&pairs(4, |n| [format!("http://a.test/{n}"), format!("http://a.test/{n}?sid=1")]));
        assert_eq!((changes.len(), lines(&changes[0])), (1, vec!["Disallow: /*?sid=".to_owned()]));
        assert_eq!(
            (&*changes[0].example.url, &*changes[0].example.other),
            ("http://a.test/0?sid=1", "http://a.test/0")
        );
        assert_eq!(left, PagesLeft { compared: 4, duplicates: 0 });
    }

    #[test]
    fn where_a_unique_page_has_the_pattern_canonical_tags_are_proposed() {
        let mut urls = pairs(5, |n| [format!("http://a.test/list?sort={n}"), "http://a.test/list".to_owned()]);
        urls.extend(pairs(4, |n| [format!("http://a.test/item?sort={n}"), format!("http://a.test/item?n={n}")]));
        let safe = lines(&told(&urls).0[0]);
        assert_eq!(safe, ["Disallow: /*?sort="]);
        urls.push(("http://a.test/item?sort=own".to_owned(), "http://a.test/item?sort=own".to_owned()));
        let (changes, left) = told(&urls);
        let told: Vec<_> = changes.iter().map(|change| (change.pages, change.unique, lines(change))).collect();
        assert_eq!(told, [(5, 0, vec!["Disallow: /list?sort=".to_owned()]), (4, 1, Vec::new())]);
        assert_eq!(changes[1].unique_example.as_deref(), Some("http://a.test/item?sort=own"));
        assert_eq!((changes[1].mend.clone(), left.duplicates), (Mend::Canonical, 4));
    }

    #[test]
    fn a_redirect_that_leads_to_another_text_is_none() {
        let mut urls = pairs(5, |n| [format!("http://www.a.test/{n}"), format!("http://a.test/{n}")]);
        for url in ["http://www.a.test/x", "http://a.test/x"] {
            urls.push((url.to_owned(), url.to_owned()));
        }
        let (changes, _) = told(&urls);
        assert_eq!((&changes[0].mend, changes[0].pages, changes[0].unique), (&Mend::Canonical, 5, 1));
    }

    #[test]
    fn urls_that_were_left_out_count_for_the_pattern_and_others_have_none() {
        let urls = pairs(3, |n| [format!("http://a.test/{n}?s=1"), format!("http://a.test/{n}")]);
        let mut urls: Vec<CrawledUrl<'_>> = urls
            .iter()
            .map(|(url, kept)| CrawledUrl { url, kept: Some(kept), requests: 2, is_left_out: false })
            .collect();
        let unasked = |url, is_left_out| CrawledUrl { url, kept: None, requests: 0, is_left_out };
        urls.extend([unasked("http://a.test/9?s=1", true), unasked("http://a.test/8?s=1", false)]);
        urls.push(CrawledUrl {
            url: "http://a.test/one",
            kept: Some("http://a.test/0"),
            requests: 1,
            is_left_out: false,
        });
        let (changes, left) = changes(&urls);
        assert_eq!((changes[0].pages, changes[0].requests, changes[0].left_out), (3, 6, 1));
        assert_eq!((changes[1].pages, &*changes[1].example.url), (1, "http://a.test/one"));
        assert_eq!(left, PagesLeft { compared: 4, duplicates: 1 });
    }
}
