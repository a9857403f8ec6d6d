//! Deciders that go on from a log, from a snapshot, or from the pages of earlier crawls.

use std::sync::Arc;

use proptest::prelude::*;

use super::test_rows::{LogRow, log_of};
use super::test_streams::{Log, THRESHOLDS, any_stream, committed_and_reopened, options, oracle, page, told};
use super::*;
use crate::index::FilterKind;
use crate::model::{DecidedBy, Digest, FieldCounts, Judged, PageId, PageInput, PageTerms, Sequence, TermId, Verdict};

proptest! {
    #[test]
    fn a_reopened_decider_goes_on_as_if_nothing_had_happened(
        pages in any_stream(),
        cut in any::<prop::sample::Index>(),
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
        thresholding in prop::sample::select(vec![Thresholding::Off, Thresholding::Paper]),
    ) {
        let (cut, options) = (cut.index(pages.len()), Options { within, thresholding, ..options(700_000, 3) });
        let log = Log::default();
        let mut whole = Decider::new(options.clone(), log.clone());
        let first = whole.decide(pages[..cut].to_vec()).unwrap();
        let mut reopened = committed_and_reopened(options, &pages[..cut], &first, log);
        whole.committed(Sequence(u32::try_from(cut).unwrap()));
        let (expected, found) = (whole.decide(pages[cut..].to_vec()), reopened.decide(pages[cut..].to_vec()));
        prop_assert_eq!(told(&found.unwrap()), told(&expected.unwrap()));
        let again = reopened.decide(pages.clone()).unwrap();
        prop_assert!(again.iter().all(|judged| judged.redelivered));
        prop_assert_eq!(reopened.stats().judged, whole.stats().judged);
        prop_assert_eq!(reopened.stats().indexed, whole.stats().indexed);
    }

    #[test]
    fn a_snapshot_and_what_came_after_it_are_the_whole_log(
        pages in any_stream(),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        filter in prop::sample::select(vec![FilterKind::Exact, FilterKind::Paper]),
    ) {
        let (first, second) = (cuts.0.index(pages.len()), cuts.1.index(pages.len()));
        let (saved, killed) = (first.min(second), first.max(second));
        let options = Options { filter, thresholding: Thresholding::Paper, mode: Mode::Any, ..options(700_000, 3) };
        let log = Log::default();
        let mut whole = Decider::new(options.clone(), log.clone());
        let mut judged = whole.decide(pages[..saved].to_vec()).unwrap();
        let mut snapshot = Vec::new();
        whole.save(&mut snapshot).unwrap();
        judged.extend(whole.decide(pages[saved..killed].to_vec()).unwrap());

        let rows = log_of(&pages, &judged);
        log.0.lock().unwrap().extend(rows.iter().cloned());
        let mut reopened = Decider::new(options, log);
        reopened.load(&mut &snapshot[..]).unwrap();
        for term in judged[saved..].iter().flat_map(|judged| &judged.new_terms) {
            reopened.restore_term(term).unwrap();
        }
        for (row, judged) in rows.iter().zip(&judged).skip(saved) {
            reopened.restore_page(judged.sequence, 0, &row.judged()).unwrap();
        }
        whole.committed(Sequence(u32::try_from(killed).unwrap()));
        let (expected, found) = (whole.decide(pages[killed..].to_vec()), reopened.decide(pages[killed..].to_vec()));
        prop_assert_eq!(told(&found.unwrap()), told(&expected.unwrap()));
    }
}

#[test]
fn an_unreadable_record_breaks_the_decider_until_it_is_restored() {
    let mut decider = Decider::new(options(800_000, 1), Log::default());
    decider.decide(vec![page(0, &[(0, 1)])]).unwrap();
    decider.committed(Sequence(1));
    // A restored page is in no memory, so it is read from the log.
    let mut restored = Decider::new(options(800_000, 1), Log::default());
    restored.restore_term("w0").unwrap();
    let judged = Decider::in_memory(options(800_000, 1)).decide(vec![page(0, &[(0, 1)])]).unwrap();
    restored.restore_page(Sequence(0), 0, &LogRow::new(&page(0, &[(0, 1)]), &judged[0]).judged()).unwrap();
    let error = restored.decide(vec![page(1, &[(0, 1)])]).unwrap_err();
    assert!(matches!(error, DetectError::Source { sequence: Sequence(0), .. }), "{error}");
    assert!(matches!(restored.decide(vec![page(2, &[(5, 1)])]), Err(DetectError::Broken)));
    assert!(decider.decide(vec![page(1, &[(0, 1)])]).is_ok());
}

#[test]
fn a_damaged_log_is_refused() {
    let mut decider = Decider::in_memory(options(800_000, 1));
    decider.restore_term("w0").unwrap();
    assert!(matches!(decider.restore_term("w0"), Err(DetectError::RepeatedTerm { first: TermId(0), .. })));
    let judged = Decider::in_memory(options(800_000, 1)).decide(vec![page(0, &[(0, 1)])]).unwrap();
    let good = LogRow::new(&page(0, &[(0, 1)]), &judged[0]);
    let out_of_order = decider.restore_page(Sequence(1), 0, &good.judged());
    assert!(matches!(out_of_order, Err(DetectError::OutOfOrder { expected: Sequence(0), .. })));
    let unknown = LogRow { terms: PageTerms::new(vec![(TermId(1), FieldCounts::default())]), ..good.clone() };
    assert!(matches!(decider.restore_page(Sequence(0), 0, &unknown.judged()), Err(DetectError::UnknownTerm { .. })));
    let verdict = Verdict::ExactDuplicate { of: Sequence(0), decided_by: DecidedBy::BodyDigest };
    let own_copy = LogRow { verdict, ..good };
    let restored = decider.restore_page(Sequence(0), 0, &own_copy.judged());
    assert!(matches!(restored, Err(DetectError::UnknownOriginal { .. })));
}

/// The log of a crawl, and what earlier ones have stored.
#[derive(Clone)]
struct SeededLog(Log, Arc<Vec<LoggedPage>>);

impl RecordSource for SeededLog {
    type Error = std::fmt::Error;

    fn page(&self, page: Sequence) -> Result<LoggedPage, std::fmt::Error> {
        match page.as_earlier() {
            Some(number) => self.1.get(number as usize).cloned().ok_or(std::fmt::Error),
            None => self.0.page(page),
        }
    }
}

/// A decider that was seeded with these pages, in this order.
fn seeded(options: &Options, stored: &[PageInput], log: &Log) -> Decider<SeededLog> {
    let (source, vocabulary) = seeded_source(stored, log);
    let logged = source.1.to_vec();
    let mut decider = Decider::new(options.clone(), source);
    for id in 0..vocabulary.len() {
        decider.restore_term(vocabulary.term(TermId(id as u32)).unwrap()).unwrap();
    }
    for (number, (page, logged)) in (0..).zip(stored.iter().zip(logged)) {
        let told = decider.seed(page.page, page.body_digest, page.text_digest, logged).unwrap();
        assert_eq!(told, Sequence::of_earlier(number));
    }
    decider
}

proptest! {
    #[test]
    fn pages_that_earlier_crawls_have_stored_count_as_if_they_had_come_first(
        earlier in any_stream(),
        pages in any_stream(),
        min_terms in 0usize..5,
        t in prop::sample::select(THRESHOLDS.to_vec()),
        within in prop::sample::select(vec![Within::Crawl, Within::Host]),
        cut in any::<prop::sample::Index>(),
    ) {
        let options = Options { within, ..options(t, min_terms) };
        let judged = Decider::in_memory(options.clone()).decide(earlier.clone()).unwrap();
        let stored: Vec<PageInput> = earlier
            .into_iter()
            .zip(&judged)
            .filter(|(_, judged)| judged.verdict.is_unique())
            .map(|(page, judged)| PageInput { page: PageId::new("earlier", "", judged.sequence.0), ..page })
            .collect();
        let all: Vec<PageInput> = stored.iter().chain(&pages).cloned().collect();
        let expected = oracle(options.clone(), &all);
        prop_assert!(expected[..stored.len()].iter().all(Verdict::is_unique));
        let seeds = stored.len() as u32;
        let inside = |page: Sequence| page.as_earlier().map_or(Sequence(page.0 + seeds), Sequence);
        let verdicts = |judged: &[Judged]| -> Vec<Verdict> {
            judged.iter().map(|judged| judged.verdict.renumbered(inside)).collect()
        };

        let mut whole = seeded(&options, &stored, &Log::default());
        let judged = whole.decide(pages.clone()).unwrap();
        prop_assert_eq!(&verdicts(&judged), &expected[stored.len()..]);
        prop_assert!((0..).map(Sequence).zip(&judged).all(|(number, judged)| judged.sequence == number));
        prop_assert_eq!(whole.stats().judged, pages.len() as u64);
        for judged in &judged {
            prop_assert_eq!(whole.verdict(judged.sequence), Some(judged.verdict));
        }

        // Restored from the log, and loaded from a snapshot, in the middle.
        let cut = cut.index(pages.len() + 1);
        let log = Log::default();
        let mut first = seeded(&options, &stored, &log);
        let begun = first.decide(pages[..cut].to_vec()).unwrap();
        log.0.lock().unwrap().extend(log_of(&pages, &begun));
        let mut snapshot = Vec::new();
        first.save(&mut snapshot).unwrap();
        let mut restored = seeded(&options, &stored, &log);
        for term in begun.iter().flat_map(|judged| &judged.new_terms) {
            restored.restore_term(term).unwrap();
        }
        for (number, row) in (0..).map(Sequence).zip(log.0.lock().unwrap().iter()) {
            restored.restore_page(number, row.group, &row.judged()).unwrap();
        }
        let mut loaded = Decider::new(options.clone(), seeded_source(&stored, &log).0);
        loaded.assume_seeds(seeds);
        loaded.load(&mut &snapshot[..]).unwrap();
        for mut decider in [restored, loaded] {
            decider.committed(Sequence(cut as u32));
            let rest = decider.decide(pages[cut..].to_vec()).unwrap();
            prop_assert_eq!(&verdicts(&rest), &expected[stored.len() + cut..]);
        }
    }
}

/// Where records come from, and the terms of those that others have stored.
fn seeded_source(stored: &[PageInput], log: &Log) -> (SeededLog, Vocabulary) {
    let mut vocabulary = Vocabulary::default();
    let logged: Vec<LoggedPage> = stored
        .iter()
        .map(|page| {
            let (terms, _, order) = vocabulary.intern_page(page.terms.clone(), page.order.clone()).unwrap();
            LoggedPage { group: page.group, terms, least_weight: 0, order }
        })
        .collect();
    (SeededLog(log.clone(), Arc::new(logged)), vocabulary)
}

#[test]
fn pages_of_others_come_before_all_judged_ones() {
    let options = options(800_000, 2);
    let mut decider = seeded(&options, &[page(1, &[(0, 1), (1, 1)])], &Log::default());
    assert_eq!(decider.last_page(), None);
    decider.decide(vec![page(2, &[(5, 1), (6, 1)])]).unwrap();
    let late = decider.seed(PageId(7), Digest::of(b"x"), None, LoggedPage::default());
    assert!(matches!(late, Err(DetectError::OutOfOrder { .. })));
    assert_eq!(decider.last_page(), Some(page(2, &[]).page));
}
