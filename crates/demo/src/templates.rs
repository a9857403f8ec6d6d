//! Templates of the kinds of pages.

use super::html::{Anchor, Content, anchor};
use super::prose::{Article, Language};
use super::topics::{BEHIND_DUPLICATES, CHAPTERS, Topic};

const PRODUCT: &str = "Tidewatch";
const ABOUT_CHAPTERS: &str = "A manual for people who keep a tide gauge, from the first bolt to the last visitor.";

/// Returns a page of a few fixed sentences and a list of links.
pub(super) fn front(title: &str, description: &str, sentences: &[&str], list: Vec<Anchor>, noindex: bool) -> String {
    let sentences: Vec<String> = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
    let navigation = if title == PRODUCT { Vec::new() } else { vec![anchor("/", "Home")] };
    let content = Content {
        language: Language::English,
        title: title.to_owned(),
        heading: title,
        description,
        navigation,
        sentences: &sentences,
        list,
        footer: "Tidewatch society",
        noindex,
    };
    content.html()
}

/// Returns the contents of a version; the newer version has one more chapter.
pub(super) fn contents(version: &str, newer: bool) -> String {
    let sentences = CHAPTERS.iter().map(|topic| format!("{}: {}", topic.title, topic.summary)).collect::<Vec<_>>();
    let extra = newer.then(|| &BEHIND_DUPLICATES[0]);
    let chapters = CHAPTERS.iter().chain(extra);
    let content = Content {
        language: Language::English,
        title: format!("{PRODUCT} {version}: Contents"),
        heading: "Contents of the manual",
        description: ABOUT_CHAPTERS,
        navigation: vec![anchor("/", "Home")],
        sentences: &sentences,
        list: chapters.map(|topic| anchor(format!("{}.html", topic.slug), topic.title)).collect(),
        footer: "",
        noindex: false,
    };
    content.html()
}

/// Returns a chapter with links to its neighbors, to the other version and to the print variant.
///
/// Links are relative, so that they work on the mirror too.
pub(super) fn chapter(version: &str, number: usize, article: &Article, more: Vec<Anchor>) -> String {
    let topic = &CHAPTERS[number];
    let mut navigation = vec![anchor("index.html", "Contents")];
    if let Some(next) = CHAPTERS.get(number + 1) {
        navigation.push(anchor(format!("{}.html", next.slug), "Next"));
    }
    if version == "1.0" {
        navigation.push(anchor(format!("../1.1/{}.html", topic.slug), "Newer version"));
        navigation.push(anchor(format!("../print/{}.html", topic.slug), "Print"));
    }
    navigation.extend(more);
    let content = Content {
        language: Language::English,
        title: format!("{PRODUCT} {version}: {}", topic.title),
        heading: topic.title,
        description: topic.summary,
        navigation,
        sentences: &article.sentences,
        list: Vec::new(),
        footer: PRODUCT,
        noindex: false,
    };
    content.html()
}

/// Returns a chapter without navigation.
pub(super) fn print_page(topic: &Topic, article: &Article) -> String {
    let content = Content {
        language: Language::English,
        title: format!("{PRODUCT} 1.0: {}", topic.title),
        heading: topic.title,
        description: topic.summary,
        navigation: Vec::new(),
        sentences: &article.sentences,
        list: Vec::new(),
        footer: "Printed for use in the rain",
        noindex: false,
    };
    content.html()
}

/// Returns an article on a page of its own.
pub(super) fn simple(
    topic: &Topic,
    language: Language,
    article: &Article,
    navigation: Vec<Anchor>,
    list: Vec<Anchor>,
) -> String {
    let content = Content {
        language,
        title: topic.title.to_owned(),
        heading: topic.title,
        description: topic.summary,
        navigation,
        sentences: &article.sentences,
        list,
        footer: "",
        noindex: false,
    };
    content.html()
}
