//! The topic of a focused crawl.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use ndcrawl_model::{Field, TermCounts};

/// Weight of a word in the title, relative to the body.
const TITLE: u32 = 5;
/// Weight of a word in a heading, relative to the body.
const HEADING: u32 = 3;
/// Maximum terms of a topic; the most frequent are kept.
const MOST_TERMS: usize = 1000;

/// The error of a topic without words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the topic has only stop words: add words that describe the pages to find")]
pub struct TopicError;

/// A topic: terms with their counts, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    terms: Vec<(Box<str>, u32)>,
}

impl Topic {
    /// Builds a topic from the terms of texts and pages. Terms shared by several of them count more.
    ///
    /// # Errors
    /// [`TopicError`] if there is no term.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a [TermCounts]>) -> Result<Self, TopicError> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for term in texts.into_iter().flatten() {
            let count = counted(term);
            if count > 0 {
                let sum = counts.entry(&term.term).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let mut terms: Vec<(Box<str>, u32)> = counts.into_iter().map(|(term, count)| (term.into(), count)).collect();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms.truncate(MOST_TERMS);
        if terms.is_empty() { Err(TopicError) } else { Ok(Self { terms }) }
    }

    /// Returns the terms and their counts, most frequent first.
    pub fn terms(&self) -> &[(Box<str>, u32)] {
        &self.terms
    }
}

/// Returns the count of a term in visible text, weighted by field.
pub(super) fn counted(term: &TermCounts) -> u32 {
    let counts = term.counts.0.iter().zip(Field::ALL);
    counts.fold(0, |sum, (count, field)| sum.saturating_add(count.saturating_mul(weight(field))))
}

fn weight(field: Field) -> u32 {
    match field {
        // URLs are compared separately.
        Field::Url => 0,
        Field::Title => TITLE,
        Field::Heading => HEADING,
        // Anchors count too: a hub page of a topic may have no other text.
        Field::AnchorSameSite | Field::AnchorOtherSite | Field::Keywords | Field::Description | Field::Body => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetext::PageReader;

    #[test]
    fn a_topic_is_its_words_and_of_several_texts_what_they_share_first() {
        let renderer = PageReader::default();
        let texts =
            ["The sockets of networks", "Networking with sockets", "networks"].map(|text| renderer.terms_of(text));
        let topic = Topic::of(texts.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(topic.terms(), [("network".into(), 3), ("socket".into(), 2)]);
        assert_eq!(Topic::of([&*renderer.terms_of("of the -- ")]), Err(TopicError));
        let compound = Topic::of([&*renderer.terms_of_words("mod_rewrite, rewriting")]).unwrap();
        let names: Vec<&str> = compound.terms().iter().map(|(term, _)| &**term).collect();
        assert_eq!(names, ["mod_rewrit", "rewrit"]);
    }
}
