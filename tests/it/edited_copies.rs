//! Texts on hosts of which little is known: copies are found, and pages of one template stay apart.

use serde_json::json;

use crate::program::{Place, pages};
use crate::words::words_of;

/// Deduplicates texts, each at the host that stands before it; returns the outcomes in the order of the texts.
fn outcomes(texts: &[(String, String)]) -> Vec<String> {
    let place = Place::new();
    let rows = texts.iter().enumerate().map(|(number, (host, text))| {
        json!({ "url": format!("http://{host}.test/{number}"), "text": text }).to_string() + "\n"
    });
    place.write("rows.jsonl", &rows.collect::<String>());
    place.run(["dedup", "rows.jsonl", "-o", "out", "--min-free", "0", "--quiet"]).finish().expect_code(0);
    let found = pages(&place.path("out"));
    (0..texts.len())
        .map(|number| {
            let is_it = |line: &&serde_json::Value| line["url"].as_str().unwrap().ends_with(&format!("/{number}"));
            found.iter().rfind(is_it).unwrap()["outcome"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// A text of this length, and its edited copy on another host or the same: the outcome is one.
fn outcome_of_copy(length: usize, edit: impl Fn(&mut Vec<String>)) -> String {
    let original = words_of(11, "press", length);
    let mut copy = original.clone();
    edit(&mut copy);
    let [here, there] = ["a", "b"]
        .map(|host| outcomes(&[("a".to_owned(), original.join(" ")), (host.to_owned(), copy.join(" "))]).remove(1));
    assert_eq!(here, there, "the host makes no difference");
    there
}

#[test]
fn an_edited_copy_is_found_on_any_host_and_another_text_is_not() {
    for length in [150, 300, 600] {
        let every_33rd =
            |words: &mut Vec<String>| (5..length).step_by(33).for_each(|at| words[at] = format!("changed{at}"));
        let cut = |words: &mut Vec<String>| words.truncate(length * 4 / 5);
        let lead = |words: &mut Vec<String>| {
            words.splice(..length / 10, words_of(12, "lead", length / 10)).for_each(drop);
        };
        let framed = |words: &mut Vec<String>| {
            words.splice(..0, words_of(13, "read more", 6)).for_each(drop);
            words.extend(words_of(14, "share this", 8));
        };
        assert_eq!(outcome_of_copy(length, every_33rd), "near-duplicate", "{length} words, 3 in a hundred changed");
        assert_eq!(outcome_of_copy(length, cut), "near-duplicate", "{length} words, the last fifth missing");
        assert_eq!(outcome_of_copy(length, lead), "near-duplicate", "{length} words, another beginning");
        assert_eq!(outcome_of_copy(length, framed), "near-duplicate", "{length} words in another frame");
        let half = |words: &mut Vec<String>| {
            words.splice(length / 2.., words_of(15, "other half", length / 2)).for_each(drop);
        };
        assert_eq!(outcome_of_copy(length, half), "stored", "{length} words, half of them others");
    }
}

#[test]
fn a_text_on_many_mirrors_is_kept_once() {
    let original = words_of(16, "manual", 400);
    let mirrors: Vec<(String, String)> = (0..8)
        .map(|mirror| {
            let mut words = original.clone();
            words.extend(words_of(mirror, "mirror of the manual", 12));
            (format!("mirror{mirror}"), words.join(" "))
        })
        .collect();
    let mut found = outcomes(&mirrors);
    assert_eq!(found.remove(0), "stored");
    assert!(found.iter().all(|outcome| outcome == "near-duplicate"), "{found:?}");
}

#[test]
fn pages_of_one_template_that_state_other_facts_stay_apart_on_every_host() {
    // Twelve facts in a text of 84 words.
    let template = words_of(17, "template", 72);
    let page = |number: u64| {
        let facts = words_of(number, "facts", 12);
        template
            .chunks(6)
            .zip(facts)
            .map(|(words, fact)| format!("{} {fact}{number}", words.join(" ")))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let of_numbers = |number: u64| {
        let fact = |at: usize| (number * 7919 + at as u64 * 104_729) % 9973;
        template
            .chunks(6)
            .enumerate()
            .map(|(at, words)| format!("{} {}", words.join(" "), fact(at)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for hosts in [1, 20] {
        for text in [&page as &dyn Fn(u64) -> String, &of_numbers] {
            let texts: Vec<_> = (0..20).map(|number| (format!("h{}", number % hosts), text(number))).collect();
            let kept = outcomes(&texts).iter().filter(|outcome| *outcome == "stored").count();
            assert_eq!(kept, 20, "{hosts} hosts");
        }
    }
}
