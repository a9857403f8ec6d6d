//! *Where should each page of an earlier site redirect?* The pages of one crawl, with the page of another crawl that says the
//! same.

use std::collections::HashMap;
use std::path::Path;

use super::ReportError;
use ndcrawl_engine::pipeline::Counterpart;
use ndcrawl_export::csv_cell;
use ndcrawl_model::{OutcomeKind, PageLine};
use ndcrawl_store::PageLines;

/// How a page was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchedBy {
    /// The other crawl has a page of this URL, so no redirect is needed.
    SameUrl,
    /// The other crawl has a page with the same bytes or the same text.
    SameText,
    /// The other crawl has a near-duplicate.
    Near,
    /// The other crawl has no such page.
    None,
}

impl MatchedBy {
    /// Returns the name in the CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameUrl => "same-url",
            Self::SameText => "same-text",
            Self::Near => "near",
            Self::None => "none",
        }
    }
}

/// A page of the earlier site, and its match.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedPage {
    /// Its URL.
    pub url: String,
    /// The URL of the match; empty without one.
    pub to: String,
    /// How it was matched.
    pub how: MatchedBy,
    /// The similarity, in [0, 1].
    pub score: Option<f64>,
    /// Words of its own that the match lacks.
    pub adds_words: Option<u32>,
    /// Words of its own that the match adds.
    pub lacks_words: Option<u32>,
}

/// All compared pages of an earlier site, in the order of the crawl.
#[derive(Clone, Debug, Default)]
pub struct RedirectMap(pub Vec<MappedPage>);

/// The compared pages of the later site: the kept page of each URL and of each digest.
struct LaterPages {
    urls: HashMap<String, String>,
    digests: HashMap<String, String>,
}

impl RedirectMap {
    /// Maps the compared pages of the crawl in `old` to those of the one in `new`. `near` are the near-duplicates of their
    /// stored pages. A duplicate that has no match of its own has that of the page which it repeats.
    ///
    /// # Errors
    /// If the lines of either can't be read.
    pub fn read(old: &Path, new: &Path, near: Vec<Counterpart>) -> Result<Self, ReportError> {
        let later = LaterPages::read(new)?;
        let near: HashMap<String, Counterpart> = near.into_iter().map(|one| (one.url.clone(), one)).collect();
        let (mut pages, mut repeated) = (Vec::new(), Vec::new());
        let mut places = HashMap::new();
        for line in PageLines::open(old)? {
            let line = line?;
            let Some(kept) = compared(&line) else { continue };
            if kept != line.url {
                repeated.push((pages.len(), kept.to_owned(), line.score));
            }
            places.insert(line.url.clone(), pages.len());
            pages.push(later.mapped(&line, near.get(&line.url)));
        }
        for (place, kept, score) in repeated {
            let Some(kept) = places.get(&kept).map(|place| pages[*place].clone()) else { continue };
            let page = &mut pages[place];
            if page.how == MatchedBy::None && kept.how != MatchedBy::None {
                // An exact copy says what the kept page says, a near-duplicate says nearly the same.
                let how =
                    if score.is_none() && kept.how != MatchedBy::Near { MatchedBy::SameText } else { MatchedBy::Near };
                let score = score.or(kept.score);
                *page = MappedPage { url: std::mem::take(&mut page.url), how, score, ..kept };
            }
        }
        Ok(Self(pages))
    }

    /// Returns the number of pages that were matched so.
    pub fn count(&self, how: MatchedBy) -> u64 {
        self.0.iter().filter(|page| page.how == how).count() as u64
    }

    /// Returns the map as CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let mut text = "old_url,new_url,score,adds_words,lacks_words,how\r\n".to_owned();
        let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
        for MappedPage { url, to, how, score, adds_words, lacks_words } in &self.0 {
            let score = score.map_or(String::new(), |score| score.to_string());
            let [adds, lacks] = [number(*adds_words), number(*lacks_words)];
            let cells = [url, to, &score, &adds, &lacks, how.name()].map(csv_cell);
            text += &(cells.join(",") + "\r\n");
        }
        text
    }
}

impl LaterPages {
    fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut later = Self { urls: HashMap::new(), digests: HashMap::new() };
        for line in PageLines::open(folder)? {
            let line = line?;
            let Some(kept) = compared(&line) else { continue };
            for digest in digests(&line) {
                later.digests.entry(digest.to_owned()).or_insert_with(|| kept.to_owned());
            }
            later.urls.insert(line.url.clone(), kept.to_owned());
        }
        Ok(later)
    }

    fn mapped(&self, line: &PageLine, near: Option<&Counterpart>) -> MappedPage {
        let matched = |to: &str, how, score| MappedPage {
            url: line.url.clone(),
            to: to.to_owned(),
            how,
            score,
            adds_words: None,
            lacks_words: None,
        };
        if self.urls.contains_key(&line.url) {
            return matched(&line.url, MatchedBy::SameUrl, None);
        }
        if let Some(to) = digests(line).find_map(|digest| self.digests.get(digest)) {
            return matched(to, MatchedBy::SameText, Some(1.0));
        }
        let Some(near) = near else { return matched("", MatchedBy::None, None) };
        MappedPage {
            adds_words: near.difference.map(|difference| difference.adds),
            lacks_words: near.difference.map(|difference| difference.lacks),
            ..matched(&near.of, MatchedBy::Near, Some(near.score.as_f64()))
        }
    }
}

/// Returns the kept page whose text a compared page has; `None` for other URLs.
fn compared(line: &PageLine) -> Option<&str> {
    let is_copy = matches!(line.outcome, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
    if line.is_kept() { Some(&line.url) } else { line.duplicate_of.as_deref().filter(|_| is_copy) }
}

fn digests(line: &PageLine) -> impl Iterator<Item = &str> {
    [&line.text_digest, &line.digest].into_iter().flatten().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{Difference, Score};

    fn folder(lines: &[(&str, &str, Option<&str>)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let line = |(url, text, of): &(&str, &str, Option<&str>)| {
            let line = PageLine {
                url: format!("http://{url}"),
                outcome: if of.is_some() { OutcomeKind::NearDuplicate } else { OutcomeKind::Stored },
                text_digest: Some((*text).to_owned()),
                duplicate_of: of.map(|of| format!("http://{of}")),
                score: of.map(|_| 0.8),
                ..PageLine::default()
            };
            serde_json::to_string(&line).unwrap() + "\n"
        };
        std::fs::write(folder.path().join("pages.jsonl"), lines.iter().map(line).collect::<String>()).unwrap();
        folder
    }

    #[test]
    fn each_page_has_its_best_match() {
        let old = folder(&[
            ("a.test/stays", "1", None),
            ("a.test/moved", "2", None),
            ("a.test/edited", "3", None),
            ("a.test/edited?print", "3b", Some("a.test/edited")),
            ("a.test/gone", "4", None),
            ("a.test/=1", "5", None),
        ]);
        let new = folder(&[
            ("a.test/stays", "1 and more", None),
            ("a.test/new", "2", None),
            ("a.test/copy", "5", Some("a.test/new")),
            ("a.test/revised", "6", None),
        ]);
        let near = Counterpart {
            url: "http://a.test/edited".to_owned(),
            of: "http://a.test/revised".to_owned(),
            score: Score(900_000),
            difference: Some(Difference { adds: 2, lacks: 3, words: 40, loses: 2, has_own_subject: false }),
        };
        let map = RedirectMap::read(old.path(), new.path(), vec![near]).unwrap();
        let lines: Vec<String> = map.csv().replace("http://a.test", "").lines().map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                "old_url,new_url,score,adds_words,lacks_words,how",
                "/stays,/stays,,,,same-url",
                "/moved,/new,1,,,same-text",
                "/edited,/revised,0.9,2,3,near",
                "/edited?print,/revised,0.8,2,3,near",
                "/gone,,,,,none",
                "/=1,/new,1,,,same-text",
            ]
        );
        assert_eq!([MatchedBy::SameUrl, MatchedBy::None].map(|how| map.count(how)), [1, 1]);
    }
}
