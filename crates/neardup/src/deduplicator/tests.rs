use proptest::prelude::*;

use super::*;
use crate::detect::Mode;
use crate::model::{Detector, MostLost, PageInput, WantedOrder};
use crate::similarity;
use crate::text::{LanguageRules, TokenizedText, Tokenizer, TokenizerOptions};

const FIRST: &str = "The sun rose over the quiet hills and the birds began to sing in the tall old trees beside a river, \
    while farmers walked slowly to their fields carrying baskets, tools, bread and water for another long working day.";

fn near(text: &str) -> String {
    text.replace("sing", "call").replace("bread", "cheese")
}

fn deduplicator() -> Deduplicator<&'static str> {
    Deduplicator::builder().min_terms(5).build().unwrap()
}

#[test]
fn verdicts_name_the_kept_document_and_the_score() {
    let mut documents = deduplicator();
    assert_eq!(documents.insert("a", FIRST).unwrap(), Verdict::Unique);
    assert_eq!(
        documents.insert("b", "Rain fell on the town all day and nobody went to market.").unwrap(),
        Verdict::Unique
    );
    let spaced = FIRST.replace(' ', "  ");
    assert_eq!(documents.insert("c", &spaced).unwrap(), Verdict::ExactDuplicate { of: "a" });
    let Verdict::NearDuplicate { of: "a", score, difference } = documents.insert("d", &near(FIRST)).unwrap() else {
        panic!()
    };
    let explanation = documents.explain(&"a", &"d").unwrap();
    assert_eq!(explanation.score, score);
    assert!(!explanation.is_exact && documents.explain(&"a", &"c").unwrap().is_exact);
    assert_eq!(documents.verdict(&"d"), Some(Verdict::NearDuplicate { of: "a", score, difference }));
    assert_eq!((documents.len(), documents.verdict(&"x")), (4, None));
}

#[test]
fn an_explanation_adds_up_to_the_score() {
    let mut documents = deduplicator();
    documents.insert("a", FIRST).unwrap();
    documents.insert("d", &near(FIRST)).unwrap();
    let explanation = documents.explain(&"a", &"d").unwrap();
    let sum: f64 = explanation.terms.iter().map(TermShare::shared).sum();
    assert!((sum - explanation.score.as_f64()).abs() < 2e-6, "{sum} {}", explanation.score);
    let total = |side: fn(&TermShare) -> f64| explanation.terms.iter().map(side).sum::<f64>();
    assert!((total(|term| term.first) - 1.0).abs() < 1e-9 && (total(|term| term.second) - 1.0).abs() < 1e-9);
    let alone: Vec<_> = explanation.terms.iter().filter(|term| term.shared() == 0.0).map(|term| &*term.term).collect();
    assert_eq!(alone, ["bread", "call", "chees", "sing"]);
}

#[test]
fn short_documents_are_compared_exactly_only() {
    let mut documents: Deduplicator<u32> = Deduplicator::builder().build().unwrap();
    assert_eq!(documents.insert(1, "one two three").unwrap(), Verdict::Unique);
    assert_eq!(documents.insert(2, "one two four").unwrap(), Verdict::Unique);
    assert_eq!(documents.insert(3, " one  two three\n").unwrap(), Verdict::ExactDuplicate { of: 1 });
    assert_eq!(documents.insert(4, "").unwrap(), Verdict::Unique);
    assert_eq!(documents.insert(5, " ").unwrap(), Verdict::ExactDuplicate { of: 4 });
}

#[test]
fn weights_count_in_hundredths_and_by_their_shares() {
    let mut documents: Deduplicator<u32> =
        Deduplicator::builder().own_words(false).min_terms(1).threshold(0.5).build().unwrap();
    let near = |score| Verdict::NearDuplicate { of: 1, score: Score(score), difference: None };
    let halves: &[(&str, f64)] = &[("a", 0.5), ("b", 0.5)];
    let scaled: &[(&str, f64)] = &[("b", 150.0), ("a", 100.0), ("a", 50.0)];
    let third: &[(&str, f64)] = &[("a", 1.23), ("c", 0.77), ("d", 0.004)];
    documents.insert(1, halves).unwrap();
    assert_eq!(documents.insert(2, scaled).unwrap(), near(1_000_000));
    assert_eq!(documents.insert(3, third).unwrap(), near(500_000));
    assert_eq!(documents.insert(4, &third[..2]).unwrap(), near(500_000));
    assert_eq!(documents.explain(&3, &4).unwrap().score, Score(1_000_000));
    for weight in [-1.0, f64::NAN, f64::INFINITY, 5e7] {
        let error = documents.insert(9, &[("a", weight)][..]).unwrap_err();
        assert!(error.to_string().starts_with("term 'a' weighs "), "{error}");
    }
}

#[test]
fn wrong_settings_and_keys_are_errors_with_a_remedy() {
    let settings = Deduplicator::builder;
    for threshold in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(settings().threshold(threshold).build::<u8>(), Err(Error::Threshold(_))));
    }
    assert!(matches!(settings().language(Some("tlh")).build::<u8>(), Err(Error::Language(_))));
    let mut documents = deduplicator();
    documents.insert("a", FIRST).unwrap();
    let twice = documents.insert_all([("b", FIRST), ("a", FIRST)]).unwrap_err();
    assert_eq!(twice.to_string(), "key \"a\" was inserted before: keys name one document each");
    assert_eq!(documents.len(), 1, "nothing of a refused batch is taken in");
    assert_eq!(documents.explain(&"a", &"z").unwrap_err().to_string(), "no document has the key \"z\"");
}

#[test]
fn what_another_counter_counted_is_compared_by_its_words() {
    let mut other = deduplicator();
    other.insert("rain", "Rain fell on the town all day and nobody went to market.").unwrap();
    other.insert("sun", FIRST).unwrap();
    let counted = other.counter().count(FIRST).unwrap();
    assert!(!counted.known.is_empty());
    let mut documents = deduplicator();
    documents.insert("a", &near(FIRST)).unwrap();
    assert_eq!(documents.matches_counted(&counted, 0.5).unwrap(), documents.matches(FIRST, 0.5).unwrap());
    let verdict = documents.insert_counted([("b", counted)]).unwrap();
    assert!(matches!(verdict[..], [Verdict::NearDuplicate { of: "a", .. }]), "{verdict:?}");
    let terms: Vec<_> = documents.explain(&"b", &"b").unwrap().terms.into_iter().map(|term| term.term).collect();
    assert!(terms.contains(&"bread".to_owned()) && !terms.contains(&"market".to_owned()), "{terms:?}");
}

#[test]
fn queries_are_shared_by_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let mut documents = deduplicator();
    documents.insert("a", FIRST).unwrap();
    is_shared(&documents);
    let text = near(FIRST);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(documents.matches(&text, 0.7).unwrap()[0].key, "a"));
        }
    });
}

#[test]
fn damaged_bytes_are_refused() {
    let mut documents: Deduplicator<String> = Deduplicator::builder().min_terms(5).build().unwrap();
    documents.insert("a".to_owned(), FIRST).unwrap();
    let mut bytes = Vec::new();
    documents.save(&mut bytes).unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(matches!(Deduplicator::<String>::load(&mut &damaged[..]), Err(Error::Format(_))), "byte {place}");
    }
    for length in 0..bytes.len() {
        assert!(Deduplicator::<String>::load(&mut &bytes[..length]).is_err(), "{length} bytes");
    }
}

/// Words that stand nowhere else.
fn own(document: usize, words: std::ops::Range<usize>) -> String {
    words.map(|word| format!("w{document}x{word} ")).collect()
}

#[test]
fn a_form_that_is_filled_in_otherwise_is_another_document() {
    let form = own(1000, 0..300);
    let forms = || (0..60).map(|number| (number, format!("{form}{}", own(number, 0..60))));
    let kept = |own_words| -> Vec<usize> {
        let mut documents: Deduplicator<usize> = Deduplicator::builder().own_words(own_words).build().unwrap();
        let kept = forms().filter(|(key, text)| documents.insert(*key, text).unwrap().is_unique());
        kept.map(|(key, _)| key).collect()
    };
    // Before the form is known, it is the documents' own: what was learned is taken in at every sixteenth.
    let known = kept(true).into_iter().filter(|key| *key >= 16);
    assert_eq!(known.collect::<Vec<_>>(), Vec::from_iter(16..60));
    assert_eq!(kept(false), [0]);
}

#[test]
fn a_near_duplicate_tells_the_words_by_which_it_differs() {
    let mut documents: Deduplicator<&str> = Deduplicator::builder().build().unwrap();
    documents.insert("a", &own(1, 0..200)).unwrap();
    let edited = format!("{}{}", own(1, 0..190), own(2, 0..4));
    let verdict = documents.insert("b", &edited).unwrap();
    let difference = WordDifference { adds_words: 4, lacks_words: 10, words: 194, loses_words: 4 };
    assert!(matches!(verdict, Verdict::NearDuplicate { of: "a", difference: Some(told), .. } if told == difference));
    assert!(verdict.to_string().ends_with(", adds 4 words, lacks 10)"), "{verdict}");
    assert_eq!(documents.matches(&edited, 0.3).unwrap()[0].key, "a");
    assert_eq!(documents.insert("c", &own(1, 0..100)).unwrap(), Verdict::Unique, "half is missing");
}

#[test]
fn a_document_that_would_lose_more_words_is_kept() {
    let kept = |most: MostLost| -> Vec<&str> {
        let mut documents: Deduplicator<&str> = Deduplicator::builder().lose_at_most(most).build().unwrap();
        let cut = own(1, 0..190);
        let texts = [
            ("whole", own(1, 0..200)),
            ("cut", cut.clone()),
            ("one word", format!("{cut}{}", own(2, 0..1))),
            ("four words", format!("{cut}{}", own(2, 0..4))),
        ];
        texts
            .into_iter()
            .filter(|(key, text)| documents.insert(key, text).unwrap().is_unique())
            .map(|(key, _)| key)
            .collect()
    };
    let share = |millionths| MostLost::Share(model::Threshold::from_millionths(millionths).unwrap());
    assert_eq!(kept(MostLost::Words(0)), ["whole", "one word", "four words"]);
    assert_eq!(kept(MostLost::Words(3)), ["whole", "four words"]);
    assert_eq!(kept(share(5_000)), ["whole", "one word", "four words"]);
    assert_eq!(kept(share(10_000)), ["whole", "four words"]);
    assert_eq!(kept(share(25_000)), ["whole"]);
}

#[test]
fn a_bound_on_lost_words_needs_words() {
    let builder = || Deduplicator::builder().lose_at_most(MostLost::Words(9));
    assert!(matches!(builder().own_words(false).build::<u8>(), Err(Error::NoOwnWords)));
    let mut documents: Deduplicator<u8> = builder().build().unwrap();
    let terms: Vec<(String, f64)> = (0..50).map(|number| (number.to_string(), 1.0)).collect();
    let terms: Vec<(&str, f64)> = terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect();
    documents.insert(1, &terms[..]).unwrap();
    assert_eq!(documents.insert(2, &terms[..49]).unwrap(), Verdict::Unique);
    assert_eq!(documents.insert(3, &terms[..]).unwrap(), Verdict::ExactDuplicate { of: 1 });
}

#[test]
fn weighted_terms_repeat_no_text() {
    let mut documents: Deduplicator<&str> = Deduplicator::builder().build().unwrap();
    let words: Vec<String> = own(1, 0..50).split_whitespace().map(str::to_owned).collect();
    let terms: Vec<(&str, f64)> = words.iter().map(|word| (word.as_str(), 1.0)).collect();
    documents.insert("text", &own(1, 0..50)).unwrap();
    assert_eq!(documents.insert("terms", &terms[..]).unwrap(), Verdict::Unique);
    let near = documents.insert("fewer", &terms[..41]).unwrap();
    assert!(matches!(near, Verdict::NearDuplicate { of: "terms", difference: None, .. }), "{near:?}");
    assert_eq!(documents.insert("half", &terms[..25]).unwrap(), Verdict::Unique);
}

/// Documents of few words, so that many are similar.
fn drafts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0u8..12, 0..12), 1..40)
}

fn text(words: &[u8]) -> String {
    words.iter().map(|word| format!("word{} ", char::from(b'a' + word))).collect()
}

fn record(words: &[u8]) -> Record {
    Record::new(words.iter().map(|word| (model::TermId(u32::from(*word)), 100)).collect())
}

proptest! {
    /// Every verdict is that of a comparison with every kept document.
    #[test]
    fn verdicts_are_those_of_brute_force(drafts in drafts(), threshold in 0u32..=10) {
        let t = f64::from(threshold) / 10.0;
        let mut documents: Deduplicator<usize> = Deduplicator::builder().own_words(false).min_terms(2).threshold(t).build().unwrap();
        let mut kept: Vec<usize> = Vec::new();
        for (number, words) in drafts.iter().enumerate() {
            let verdict = documents.insert(number, &text(words)).unwrap();
            let is_long = |words: &[u8]| record(words).len() >= 2;
            let best = kept.iter().filter(|_| is_long(words)).filter(|of| is_long(&drafts[**of])).map(|of| {
                (similarity::score(&record(words), &record(&drafts[*of])), std::cmp::Reverse(*of))
            }).filter(|(score, _)| score.0 >= (threshold * 100_000).max(1)).max();
            match verdict {
                Verdict::ExactDuplicate { of } => prop_assert_eq!(&drafts[of], words),
                Verdict::NearDuplicate { of, score, .. } => {
                    let inherited = drafts[..number].contains(words);
                    prop_assert!(inherited || best == Some((score, std::cmp::Reverse(of))), "{:?} {:?}", best, of);
                }
                Verdict::Unique => {
                    prop_assert_eq!(best, None);
                    kept.push(number);
                }
            }
        }
    }

    /// Texts are decided as pages of a crawl with the same words are.
    #[test]
    fn own_words_are_compared_as_in_a_crawl(drafts in framed_drafts()) {
        let mut documents: Deduplicator<usize> = Deduplicator::builder().min_terms(2).build().unwrap();
        let options = Options { min_terms: 2, mode: Mode::Best, weights: WEIGHTS, ..Options::of(Detector::Mwo) };
        let mut decider = Decider::in_memory(options);
        let rules = LanguageRules::OfLanguage;
        let tokenizer = Tokenizer::new(TokenizerOptions { rules, ..TokenizerOptions::default() });
        for (number, draft) in drafts.into_iter().enumerate() {
            let text = framed(draft);
            let wanted = WantedOrder { text: true, ..WantedOrder::default() };
            let TokenizedText { terms, order, digest } = tokenizer.tokenize(&text, Some("en"), wanted);
            let (page, body_digest) = (PageId::new("", "", number as u32), digest.unwrap());
            let page =
                PageInput { page, group: 0, body_digest, text_digest: None, terms, order, renews: None, rank: 0 };
            let expected = decider.decide(vec![page]).unwrap().remove(0).verdict;
            let verdict = documents.insert(number, &text).unwrap();
            prop_assert_eq!(verdict, documents.told(expected));
        }
    }

    /// What was saved goes on as if it had not been, and queries see what verdicts saw.
    #[test]
    fn a_loaded_deduplicator_goes_on(drafts in drafts(), cut in 0usize..40, own_words in any::<bool>()) {
        let settings = || Deduplicator::builder().own_words(own_words).min_terms(2).threshold(0.6);
        let keyed = |range: std::ops::Range<usize>| -> Vec<(String, String)> {
            range.map(|number| (number.to_string(), text(&drafts[number]))).collect()
        };
        let mut whole: Deduplicator<String> = settings().build().unwrap();
        let expected: Vec<_> = keyed(0..drafts.len()).iter().map(|(key, text)| whole.insert(key.clone(), text).unwrap()).collect();
        let cut = cut.min(drafts.len());
        let mut first: Deduplicator<String> = settings().build().unwrap();
        let (before, after) = (keyed(0..cut), keyed(cut..drafts.len()));
        let mut verdicts = first.insert_all(before.iter().map(|(key, text)| (key.clone(), text))).unwrap();
        let mut bytes = Vec::new();
        first.save(&mut bytes).unwrap();
        let mut loaded = Deduplicator::<String>::load(&mut &bytes[..]).unwrap();
        verdicts.extend(loaded.insert_all(after.iter().map(|(key, text)| (key.clone(), text))).unwrap());
        prop_assert_eq!(&verdicts, &expected);
        for (key, text) in keyed(0..drafts.len()) {
            let shown = |documents: &Deduplicator<String>| documents.matches(&text, 0.6).unwrap();
            prop_assert_eq!(shown(&loaded), shown(&whole));
            prop_assert_eq!(loaded.verdict(&key), whole.verdict(&key));
        }
    }

    /// What was removed was never there: not for verdicts, nor for queries, nor for what comes later.
    #[test]
    fn who_removed_documents_never_had_them(
        drafts in framed_drafts(),
        removed in prop::collection::vec(0usize..60, 0..8),
        own_words in any::<bool>(),
    ) {
        let settings = || Deduplicator::builder().own_words(own_words).min_terms(2);
        let (before, later) = drafts.split_at(drafts.len() * 3 / 4);
        let removed: Vec<usize> = removed.into_iter().filter(|number| *number < before.len()).collect();
        let mut documents: Deduplicator<usize> = settings().build().unwrap();
        let mut never: Deduplicator<usize> = settings().build().unwrap();
        let mut earlier = HashMap::new();
        for (number, draft) in before.iter().enumerate() {
            earlier.insert(number, documents.insert(number, &framed(*draft)).unwrap());
            if !removed.contains(&number) {
                never.insert(number, &framed(*draft)).unwrap();
            }
        }
        let changed = documents.remove(&removed).unwrap();
        let expected: Vec<_> = never.keys().map(|key| (*key, never.verdict(key).unwrap())).collect();
        let expected: Vec<_> = expected.into_iter().filter(|(key, verdict)| earlier[key] != *verdict).collect();
        prop_assert_eq!(changed, expected);
        for (number, draft) in (before.len()..).zip(later) {
            let text = framed(*draft);
            prop_assert_eq!(documents.matches(&text, 0.2).unwrap(), never.matches(&text, 0.2).unwrap());
            prop_assert_eq!(documents.insert(number, &text).unwrap(), never.insert(number, &text).unwrap());
        }
        prop_assert_eq!(Vec::from_iter(documents.keys()), Vec::from_iter(never.keys()));
        prop_assert!(documents.keys().all(|key| documents.verdict(key) == never.verdict(key)));
    }

    /// At another threshold all is decided as by one that was built with it, below and above the first.
    #[test]
    fn another_threshold_decides_as_a_fresh_one(drafts in framed_drafts(), own_words in any::<bool>(), thresholds in (0u32..=10, 0u32..=10)) {
        let settings = |tenths: u32| Deduplicator::builder().own_words(own_words).min_terms(2).threshold(f64::from(tenths) / 10.0);
        let texts = || drafts.iter().map(|draft| framed(*draft)).enumerate();
        let mut documents: Deduplicator<usize> = settings(thresholds.0).build().unwrap();
        let mut fresh: Deduplicator<usize> = settings(thresholds.1).build().unwrap();
        for (number, text) in texts() {
            documents.insert(number, &text).unwrap();
            fresh.insert(number, &text).unwrap();
        }
        let again = documents.rethreshold(fresh.threshold()).unwrap();
        prop_assert_eq!(again.threshold(), fresh.threshold());
        for (number, text) in texts() {
            prop_assert_eq!(again.verdict(&number), fresh.verdict(&number));
            prop_assert_eq!(again.matches(&text, 0.2).unwrap(), fresh.matches(&text, 0.2).unwrap());
        }
    }

    /// A pair is judged as insertions decide, given what is known by then.
    #[test]
    fn a_pair_is_judged_as_an_insertion_is(drafts in framed_drafts(), own_words in any::<bool>()) {
        let settings = || Deduplicator::builder().own_words(own_words).min_terms(2);
        let mut documents: Deduplicator<usize> = settings().build().unwrap();
        let of_pair = |pair: &PairVerdict, of: usize| match (pair.is_exact, pair.is_duplicate) {
            (true, _) => Verdict::ExactDuplicate { of },
            (false, true) => Verdict::NearDuplicate { of, score: pair.score, difference: pair.difference },
            (false, false) => Verdict::Unique,
        };
        for (number, draft) in drafts.iter().enumerate() {
            let (text, kept) = (framed(*draft), framed(drafts[number / 2]));
            let mut two: Deduplicator<usize> = settings().build().unwrap();
            two.insert(0, &kept).unwrap();
            let counter = two.counter();
            let pair = two.judge_counted(&counter.count(&kept).unwrap(), &counter.count(&text).unwrap());
            prop_assert_eq!(of_pair(&pair, 0), two.insert(1, &text).unwrap());
            prop_assert_eq!(two.judge(&0, &1).unwrap(), pair);
            prop_assert_eq!(two.explain(&0, &1).unwrap().score, pair.score);
            let counter = documents.counter();
            if number % 16 == 0 {
                // What is known grows before this one.
                documents.insert(number, &text).unwrap();
                continue;
            }
            let judged: Vec<_> = (0..number)
                .map(|of| documents.judge_counted(&counter.count(&framed(drafts[of])).unwrap(), &counter.count(&text).unwrap()))
                .collect();
            let verdict = documents.insert(number, &text).unwrap();
            match verdict.duplicate_of() {
                Some(of) if !(0..number).any(|of| judged[of].is_exact) => prop_assert_eq!(of_pair(&judged[*of], *of), verdict),
                Some(_) => {}
                None => prop_assert!((0..number).all(|of| !judged[of].is_duplicate || !documents.verdict(&of).unwrap().is_unique())),
            }
        }
    }
}

/// Copies of six texts in three frames, each with a changed part.
type FramedDraft = (usize, usize, usize);

fn framed_drafts() -> impl Strategy<Value = Vec<FramedDraft>> {
    prop::collection::vec((0usize..6, 0usize..30, 0usize..4), 1..60)
}

fn framed((text, part, frame): FramedDraft) -> String {
    format!("{}\n{}{}", own(100 + frame, 0..40), own(text, 0..60), own(200 + part, 0..part))
}

#[test]
fn nothing_of_a_removed_document_is_saved() {
    let mut documents: Deduplicator<String> = Deduplicator::builder().min_terms(2).build().unwrap();
    let secret = format!("{} zanzibar quicksilver", own(7, 0..40));
    let texts = [("stays", own(1, 0..40)), ("secret-key", secret.clone()), ("edited", format!("{secret} amended"))];
    for (key, text) in &texts {
        documents.insert((*key).to_owned(), text).unwrap();
    }
    let saved = |documents: &Deduplicator<String>| {
        let mut bytes = Vec::new();
        documents.save(&mut bytes).unwrap();
        bytes
    };
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let counted = documents.counter().count(&secret).unwrap();
    let words: Vec<[u8; 4]> = counted.text.words.iter().map(|word| word.to_le_bytes()).collect();
    let traces = ["secret-key".as_bytes(), b"zanzibar", b"quicksilv", &counted.digest.0, &words.concat()];
    let before = saved(&documents);
    assert!(traces[..4].iter().all(|part| has(&before, part)));

    let changed = documents.remove(&["secret-key".to_owned()]).unwrap();
    assert_eq!(changed, [("edited".to_owned(), Verdict::Unique)], "its duplicate stays, and is decided again");
    let after = saved(&documents);
    assert!(!has(&after, b"secret-key") && !has(&after, &counted.digest.0));
    assert!(has(&after, b"zanzibar"), "what the other document says, too, stays");

    documents.remove(&["edited".to_owned()]).unwrap();
    let after = saved(&documents);
    assert!(traces.iter().all(|part| !has(&after, part)));
    let mut never: Deduplicator<String> = Deduplicator::builder().min_terms(2).build().unwrap();
    never.insert("stays".to_owned(), &texts[0].1).unwrap();
    assert_eq!(after, saved(&never));
}

#[test]
fn who_removes_what_is_not_there_removes_nothing() {
    let mut documents = deduplicator();
    documents.insert("a", FIRST).unwrap();
    assert_eq!(documents.remove(&["a", "z"]).unwrap_err().to_string(), "no document has the key \"z\"");
    assert_eq!(documents.len(), 1);
    let stale = documents.counter();
    documents.remove(&["a"]).unwrap();
    assert!(documents.is_empty() && documents.matches(FIRST, 0.0).unwrap().is_empty());
    // Counters from before still serve.
    let counted = stale.count(FIRST).unwrap();
    assert_eq!(documents.insert_counted([("a", counted)]).unwrap(), [Verdict::Unique]);
    assert_eq!(documents.insert("b", &near(FIRST)).unwrap().duplicate_of(), Some(&"a"));
}
