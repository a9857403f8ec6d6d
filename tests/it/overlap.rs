//! A simple similarity, independent of the program: the overlap of weighted bags of words.

use std::collections::BTreeMap;

const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "do", "for", "from", "if", "in", "is", "it", "of", "on",
    "or", "that", "the", "them", "then", "they", "this", "to", "we", "when", "who", "with", "you", "die", "der", "und",
    "sie", "an", "man", "wenn", "den", "das", "sind", "zu",
];

/// The sum over all words of the smaller of both shares, in [0, 1].
pub fn overlap(html: &str, other: &str) -> f64 {
    let (mine, theirs) = (shares(html), shares(other));
    mine.iter().map(|(word, share)| share.min(*theirs.get(word).unwrap_or(&0.0))).sum()
}

fn shares(html: &str) -> BTreeMap<String, f64> {
    let bag = weighted_words(html);
    let total: f64 = bag.values().sum();
    bag.into_iter().map(|(word, weight)| (word, weight / total)).collect()
}

/// Titles and headings count twice, descriptions three times.
fn weighted_words(html: &str) -> BTreeMap<String, f64> {
    let mut bag = BTreeMap::new();
    let mut weight = 1.0;
    for piece in html.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        weight = match tag.split_whitespace().next().unwrap_or_default() {
            "title" | "h1" | "h2" => 2.0,
            "/title" | "/h1" | "/h2" => 1.0,
            _ => weight,
        };
        add(&mut bag, text, weight);
        if let Some((_, description)) = tag.split_once("name=\"description\" content=\"") {
            add(&mut bag, description, 3.0);
        }
    }
    bag
}

fn add(bag: &mut BTreeMap<String, f64>, text: &str, weight: f64) {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.map(str::to_lowercase).filter(|word| !STOP_WORDS.contains(&word.as_str())) {
        *bag.entry(word).or_default() += weight;
    }
}

#[test]
fn overlap_is_the_share_that_two_pages_have_in_common() {
    let page = |text: &str| format!("<p>{text}</p>");
    assert_eq!(overlap(&page("red green"), &page("green red")), 1.0);
    assert_eq!(overlap(&page("red green"), &page("red blue")), 0.5);
    assert_eq!(overlap(&page("red"), &page("blue")), 0.0);
    assert_eq!(overlap("<title>red</title><p>green green", "<p>red"), 0.5);
}
