//! Which terms can the words of a query become?

use std::collections::BTreeSet;

use super::folding;
use super::languages::LANGUAGES;
use super::stem::TermRules;
use super::tokens;
use crate::model::Term;

/// Returns the terms that the words of a query become on pages of any language, ascending.
///
/// The language of a page is unknown before it is read. So the result covers all languages, and each word itself: it
/// may be a stop word or unstemmed somewhere.
pub fn query_terms(query: &str) -> Vec<Term> {
    let languages: Vec<TermRules> =
        LANGUAGES.iter().map(|language| TermRules::of(Some(language), true, true)).collect();
    let mut terms = BTreeSet::new();
    let mut lower = String::new();
    let query = folding::folded(query);
    tokens::for_each(&query, |start, end| {
        tokens::lower(&query[start..end], &mut lower);
        terms.insert(Term::from(&*lower));
        let is_term = |language: &&TermRules| !language.is_stop_word(&lower);
        terms.extend(languages.iter().filter(is_term).map(|language| Term::from(&*language.stem(&lower))));
    });
    terms.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_stands_for_its_words_and_their_stems() {
        let terms = query_terms("crawling 搜索引擎");
        for term in ["crawling", "crawl", "搜索", "索引", "引擎"] {
            assert!(terms.iter().any(|found| &**found == term), "{term}: {terms:?}");
        }
        assert!(query_terms(" -- ").is_empty());
    }
}
