//! One table of cases for all detectors. What only one of them guarantees is tested in its own file.

use super::*;
use crate::model::{PageInput, TermOrder};

/// A page of these terms, each once, in one sentence.
pub(super) fn page(terms: &[u32]) -> Page {
    of_sentences(&[terms])
}

/// A page of these sentences; a term weighs as often as it occurs in them.
pub(super) fn of_sentences(sentences: &[&[u32]]) -> Page {
    let sentences: Vec<Vec<u32>> = sentences.iter().map(|sentence| sentence.to_vec()).collect();
    let record = Record::new(sentences.iter().flatten().map(|&term| (TermId(term), 100)).collect());
    let order = TermOrder { sentence_count: sentences.len() as u32, sentences, ..TermOrder::default() };
    Page { group: 0, record, order }
}

/// A text: each word is a term, each line a sentence.
fn of_text(text: &str) -> Page {
    let mut known = Vec::new();
    let mut number = |word: &'static str| {
        let place = known.iter().position(|known| *known == word);
        place.unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        }) as u32
    };
    // All words of all cases come first, so that a word has one number in every page.
    for case in CASES {
        for word in case.a.split_whitespace().chain(case.b.split_whitespace()) {
            number(word);
        }
    }
    let find = |word: &str| known.iter().position(|known| *known == word).map(|place| place as u32);
    let sentences: Vec<Vec<u32>> =
        text.lines().map(|line| line.split_whitespace().filter_map(find).collect()).collect();
    of_sentences(&sentences.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Two pages, and what every detector has to say of them by its default options.
struct Case {
    name: &'static str,
    a: &'static str,
    b: &'static str,
    is_near_duplicate: bool,
    /// Whether the score has to be 1.
    is_same: bool,
}

const ABBEY: &str = "the abbey church was built on an island in the lake\n\
    monks kept bees there and sold honey at the market of the town\n\
    a fire burnt the roof and two bells fell from the tower\n\
    today visitors reach the island by a wooden bridge";

const CASES: &[Case] = &[
    Case { name: "identical", a: ABBEY, b: ABBEY, is_near_duplicate: true, is_same: true },
    Case {
        name: "disjoint",
        a: ABBEY,
        b: "interest rates rose again this quarter\nbanks expect slower growth next year",
        is_near_duplicate: false,
        is_same: false,
    },
    Case {
        name: "one word of many differs",
        a: ABBEY,
        b: "the abbey church was built on an island in the lake\n\
            monks kept bees there and sold honey at the market of the town\n\
            a fire burnt the roof and two bells fell from the tower\n\
            today visitors reach the island by a narrow bridge",
        is_near_duplicate: true,
        is_same: false,
    },
    Case {
        name: "sentences in another order",
        a: ABBEY,
        b: "today visitors reach the island by a wooden bridge\n\
            a fire burnt the roof and two bells fell from the tower\n\
            the abbey church was built on an island in the lake\n\
            monks kept bees there and sold honey at the market of the town",
        is_near_duplicate: true,
        is_same: true,
    },
    Case {
        name: "a quarter of the other",
        a: ABBEY,
        b: "the abbey church was built on an island in the lake",
        is_near_duplicate: false,
        is_same: false,
    },
    Case {
        name: "a short page in a long one",
        a: "the abbey church was built on an island",
        b: "the abbey church was built on an island in the lake where monks kept bees and sold honey at the market \
            until fire burnt roof bells tower so that today visitors reach it by wooden bridge",
        is_near_duplicate: false,
        is_same: false,
    },
    Case {
        name: "the same frame around another text",
        a: "home news contact imprint\nmonks kept bees there and sold honey at the market of the town",
        b: "home news contact imprint\na fire burnt roof tiles while two bells fell from our tower",
        is_near_duplicate: false,
        is_same: false,
    },
    Case { name: "one is empty", a: ABBEY, b: "", is_near_duplicate: false, is_same: false },
    Case { name: "both are empty", a: "", b: "", is_near_duplicate: false, is_same: false },
];

/// The detectors that compare pages by their terms and sentences alone.
const DETECTORS: [Detector; 3] = [Detector::Mwo, Detector::Dd, Detector::Fuzzy];

/// The detector by its default options, and its threshold.
fn default(detector: Detector) -> (Box<dyn Measure>, Threshold) {
    let threshold = Options::default_threshold(detector, false);
    (build(&Options { detector, threshold, ..Options::default() }).unwrap(), threshold)
}

#[test]
fn every_detector_judges_the_cases() {
    for detector in DETECTORS {
        let (measure, threshold) = default(detector);
        for case in CASES {
            let found = measure.compare(&of_text(case.a), &of_text(case.b), threshold);
            let name = format!("{}: {}", detector.name(), case.name);
            assert_eq!(found.is_some(), case.is_near_duplicate, "{name}");
            if let Some(found) = found {
                assert!(found.score == Score(Threshold::ONE) || !case.is_same, "{name}");
                assert!(found.score.0 >= threshold.millionths(), "{name}");
            }
        }
    }
}

#[test]
fn it_does_not_matter_which_page_came_first() {
    for detector in DETECTORS {
        let (measure, threshold) = default(detector);
        for case in CASES {
            let (a, b) = (of_text(case.a), of_text(case.b));
            let name = format!("{}: {}", detector.name(), case.name);
            assert_eq!(measure.compare(&a, &b, threshold), measure.compare(&b, &a, threshold), "{name}");
        }
    }
}

#[test]
fn what_matches_reaches_the_floor_in_the_filter() {
    for detector in DETECTORS {
        let (measure, threshold) = default(detector);
        for case in CASES.iter().filter(|case| case.is_near_duplicate) {
            let [a, b] = [case.a, case.b].map(|text| Record::new(measure.filtered(&of_text(text)).into_owned()));
            let name = format!("{}: {}", detector.name(), case.name);
            assert!(crate::similarity::reaches(&a, &b, measure.lower_bound(threshold)), "{name}");
        }
    }
}

#[test]
fn a_higher_bar_hides_a_match_and_changes_no_score() {
    for detector in DETECTORS {
        let (measure, threshold) = default(detector);
        for case in CASES.iter().filter(|case| case.is_near_duplicate) {
            let (a, b) = (of_text(case.a), of_text(case.b));
            let name = format!("{}: {}", detector.name(), case.name);
            let found = measure.compare(&a, &b, threshold);
            let bar = found.map_or(0, |found| found.score.0);
            assert_eq!(measure.compare(&a, &b, Threshold::from_millionths(bar).unwrap()), found, "{name}");
            if let Some(higher) = Threshold::from_millionths(bar + 1) {
                assert_eq!(measure.compare(&a, &b, higher), None, "{name}");
            }
        }
    }
}

/// A page on its way to the decider, without a digest in common with any other.
pub(super) fn candidate(number: u32, terms: &[&str], sentences: &[&[u32]]) -> PageInput {
    let counts = crate::model::FieldCounts([0, 0, 0, 0, 0, 0, 0, 1]);
    let terms = terms.iter().map(|&term| crate::model::TermCounts { term: term.into(), counts });
    let sentences: Vec<Vec<u32>> = sentences.iter().map(|sentence| sentence.to_vec()).collect();
    PageInput {
        page: crate::model::PageId::new("test", "", number),
        group: 0,
        body_digest: crate::model::Digest::of(&number.to_le_bytes()),
        text_digest: None,
        terms: terms.collect(),
        order: TermOrder { sentence_count: sentences.len() as u32, sentences, ..TermOrder::default() },
        renews: None,
        rank: 0,
    }
}
