//! Generates sentences from patterns and the words of a topic.

use ndcrawl_model::seeded::SeededRng;

use super::topics::Topic;

/// `{t}` and `{u}` are two different things, `{v}` and `{w}` two different actions, `{q}` a
/// quality, `{p}` a place, `{n}` a number; `{V}` is `{v}` with a capital.
const ENGLISH: &[&str] = &[
    "Before you {v} the {t}, look at the {u} near the {p}.",
    "The {t} must never be {q} when the {u} are in use.",
    "If the {t} seem {q}, {v} them and wait for a day.",
    "{V} the {t} first, then {w} the {u}.",
    "Keepers who {v} their {t} every month rarely find {q} {u}.",
    "Two {t} are enough for a small {p}; a wide one asks for four.",
    "Keep spare {t} in a dry box, apart from the {u}.",
    "Some {t} arrive {q} from the maker, so {v} them at once.",
    "Never {v} the {t} while somebody stands below the {p}.",
    "A {p} with {q} {t} is no place for beginners.",
    "It takes about {n} minutes to {v} the {t} and the {u}.",
    "Write down which {t} you {v}, and why.",
    "When in doubt, {v} the {u} and leave the {t} as they are.",
    "Old {t} turn {q} sooner than old {u}.",
    "Do not {w} the {u} until the {t} have settled.",
    "From the {p} you can see whether the {t} are {q}.",
    "There is no need to {v} the {t} after each tide.",
    "The {t} and the {u} by the {p} belong together.",
    "Once the {t} are {q}, nothing will help but to {v} them.",
    "Ask a friend to {w} the {t} while you {v} the {u}.",
    "{V} all {t} from the {p} outwards.",
    "Good {t} last for {n} years, {q} ones for barely one.",
    "Whoever has to {v} {q} {t} should put on gloves.",
    "Should the {u} fail, the {t} alone will do for {n} days.",
    "Mind the {p}: it makes {t} {q}.",
    "We {v} our own {t} in spring and {w} the {u} in autumn.",
    "Beware of {q} {t} behind the {p}.",
    "You may {v} up to {n} {t} without asking anybody.",
    "What the {t} are to the {p}, the {u} are to the {t}.",
    "Most {u} can do without {t}, but not the other way round.",
    "To {v} {t} well is harder than to {w} them.",
    "Some like their {t} {q}, others would rather {w} them.",
    "Put {n} of the {u} on each side of the {p}.",
    "No {t}, no {u}: that is the whole rule of the {p}.",
    "A wise keeper will {v} the {q} {t} and {w} the rest.",
    "Between the {t} and the {p} there should be room for {n} {u}.",
    "Many a {p} was lost because of {q} {u}.",
    "Children must not {v} {t}, however {q} they look.",
    "If you {v} the {u} at night, {w} the {t} by day.",
    "They say that {q} {t} bring luck to a {p}.",
];

/// As [`ENGLISH`]. Actions are infinitives, places feminine, things plural, which avoids inflection.
const GERMAN: &[&str] = &[
    "Bevor Sie die {t} {v}, sehen Sie sich bitte die {u} an.",
    "Die {t} dürfen nie {q} sein, wenn man die {u} braucht.",
    "Wenn die {t} {q} sind, muss man sie {v}.",
    "Zuerst die {t} {v}, danach die {u} {w}.",
    "An der {p} stehen meist {n} {t} und ebenso viele {u}.",
    "Es dauert etwa {n} Minuten, die {t} zu prüfen.",
    "Wer die {t} nicht selbst {v} kann, der bittet um Hilfe.",
    "Neben der {p} haben die {t} nichts verloren.",
    "Alte {t} werden früher {q} als alte {u}.",
    "Niemand sollte die {u} bei Nacht {v}.",
    "Von der {p} aus sieht man, ob die {t} {q} sind.",
    "Gute {t} halten {n} Jahre, sagt man an der {p}.",
    "Ohne {t} gibt es keine {u}, das ist die ganze Regel.",
    "Im Frühling {v} wir die {t}, im Herbst {w} wir die {u}.",
    "Hinter der {p} liegen noch {n} {t}, die {q} aussehen.",
    "Manche wollen die {t} lieber {w} als {v}.",
    "Bitte notieren Sie, welche {t} Sie {v} und warum.",
    "Sind die {u} einmal {q}, hilft nur noch Geduld.",
];

const NUMBERS: &[&str] = &["three", "five", "six", "seven", "nine", "ten", "twelve", "fifteen"];
const GERMAN_NUMBERS: &[&str] = &["drei", "fünf", "sechs", "sieben", "neun", "zehn", "zwölf", "fünfzehn"];

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
}

impl Language {
    /// The value of the `lang` attribute.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
        }
    }

    fn patterns(self) -> &'static [&'static str] {
        match self {
            Language::English => ENGLISH,
            Language::German => GERMAN,
        }
    }

    fn numbers(self) -> &'static [&'static str] {
        match self {
            Language::English => NUMBERS,
            Language::German => GERMAN_NUMBERS,
        }
    }
}

/// Sentences about a topic, each pattern once, with spare sentences for a revision.
#[derive(Clone)]
pub(super) struct Article {
    pub(super) sentences: Vec<String>,
    spare: Vec<String>,
}

impl Article {
    /// Writes `count` sentences about `topic`, or as many as there are patterns for.
    pub(super) fn write(topic: &Topic, language: Language, count: usize, random: &mut SeededRng) -> Self {
        let mut patterns = language.patterns().to_vec();
        random.shuffle(&mut patterns);
        let mut sentences: Vec<String> =
            patterns.iter().map(|pattern| fill(pattern, topic, language, random)).collect();
        let spare = sentences.split_off(count.min(sentences.len()));
        Self { sentences, spare }
    }

    /// The article of a later version, in which `count` sentences have been replaced.
    pub(super) fn revised(&self, count: usize, random: &mut SeededRng) -> Self {
        let mut revised = self.clone();
        for sentence in revised.spare.drain(..).take(count) {
            let place = random.below(revised.sentences.len());
            revised.sentences[place] = sentence;
        }
        revised
    }
}

fn fill(pattern: &str, topic: &Topic, language: Language, random: &mut SeededRng) -> String {
    let (thing, other_thing) = two_of(topic.things, random);
    let (action, other_action) = two_of(topic.actions, random);
    pattern
        .replace("{t}", thing)
        .replace("{u}", other_thing)
        .replace("{v}", action)
        .replace("{w}", other_action)
        .replace("{V}", &capitalised(action))
        .replace("{q}", one_of(topic.qualities, random))
        .replace("{p}", one_of(topic.places, random))
        .replace("{n}", one_of(language.numbers(), random))
}

fn one_of<'a>(words: &[&'a str], random: &mut SeededRng) -> &'a str {
    words[random.below(words.len())]
}

fn two_of<'a>(words: &[&'a str], random: &mut SeededRng) -> (&'a str, &'a str) {
    let first = random.below(words.len());
    let second = (first + 1 + random.below(words.len() - 1)) % words.len();
    (words[first], words[second])
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::topics::{BEHIND_DUPLICATES, CHAPTERS, GERMAN as GERMAN_TOPICS, THREADS};
    use super::*;

    #[test]
    fn every_slot_of_every_pattern_is_filled() {
        for topic in CHAPTERS.iter().chain(BEHIND_DUPLICATES).chain(THREADS) {
            let article = Article::write(topic, Language::English, ENGLISH.len(), &mut SeededRng::new(1, topic.slug));
            assert!(article.sentences.iter().all(|sentence| !sentence.contains(['{', '}'])), "{}", topic.slug);
        }
        for topic in GERMAN_TOPICS {
            let article = Article::write(topic, Language::German, GERMAN.len(), &mut SeededRng::new(1, topic.slug));
            assert!(article.sentences.iter().all(|sentence| !sentence.contains(['{', '}'])), "{}", topic.slug);
        }
    }

    #[test]
    fn a_revision_changes_at_most_as_many_sentences_as_asked() {
        let article = Article::write(&CHAPTERS[0], Language::English, 20, &mut SeededRng::new(1, "first"));
        let revised = article.revised(2, &mut SeededRng::new(1, "second"));
        let changed = article.sentences.iter().zip(&revised.sentences).filter(|(a, b)| a != b).count();
        assert!((1..=2).contains(&changed), "{changed}");
    }
}
