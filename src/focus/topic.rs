//! What is looked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Field, TermCounts};

/// A word of the title counts for so many of the text.
const TITLE: u32 = 5;
/// A word of a heading counts for so many of the text.
const HEADING: u32 = 3;
/// Terms kept of a long text: those that are most frequent in it.
const MOST_TERMS: usize = 1000;

/// A topic that has no words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the topic has no word that is more than a stop word: name what the pages are about")]
pub struct TopicError;

/// What is looked for, as terms and how often each was named. At least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    terms: Vec<(Box<str>, u32)>,
}

impl Topic {
    /// The topic of texts and pages together, each given by its terms. Of several, terms that many of them
    /// share count more.
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

    /// The terms and how often each was named, most frequent first.
    pub fn terms(&self) -> &[(Box<str>, u32)] {
        &self.terms
    }
}

/// How often a term stands in what a reader meets, in places of more weight counted several times.
pub(super) fn counted(term: &TermCounts) -> u32 {
    let counts = term.counts.0.iter().zip(Field::ALL);
    counts.fold(0, |sum, (count, field)| sum.saturating_add(count.saturating_mul(weight(field))))
}

fn weight(field: Field) -> u32 {
    match field {
        // What the address says is looked at for itself.
        Field::Url => 0,
        Field::Title => TITLE,
        Field::Heading => HEADING,
        // The text of links counts too: of the page that leads to all others of a topic it is all there is.
        Field::AnchorSameSite | Field::AnchorOtherSite | Field::Keywords | Field::Description | Field::Body => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pagetext::Renderer;

    #[test]
    fn a_topic_is_its_words_and_of_several_texts_what_they_share_first() {
        let renderer = Renderer::default();
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
