//! Both indexes against brute force.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Terms = Vec<(TermId, u32)>;

/// Returns whether `MWO(a, b) ≥ t`, by the definition.
fn matches(a: &Terms, b: &Terms, threshold: Threshold) -> bool {
    let total = |terms: &Terms| terms.iter().map(|&(_, weight)| u128::from(weight)).sum::<u128>();
    let (total_a, total_b) = (total(a), total(b));
    let other: BTreeMap<_, _> = b.iter().copied().collect();
    let common = |&(term, weight): &(TermId, u32)| {
        (u128::from(weight) * total_b).min(u128::from(other.get(&term).copied().unwrap_or(0)) * total_a)
    };
    let sum: u128 = a.iter().map(common).sum();
    sum > 0 && 1_000_000 * sum >= u128::from(threshold.millionths()) * total_a * total_b
}

fn threshold_of(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).unwrap()
}

fn any_threshold() -> impl Strategy<Value = Threshold> {
    prop_oneof![prop::sample::select(vec![0, 500_000, 700_000, 800_000, 900_000, 1_000_000]), 0u32..=1_000_000]
        .prop_map(|millionths| Threshold::from_millionths(millionths).unwrap())
}

/// Few terms and few weights, so that ties and near-ties happen; at times one weight towers.
fn any_terms() -> impl Strategy<Value = Terms> {
    let weight = prop_oneof![4 => (1u32..5).prop_map(|n| n * 100), 1 => 1u32..100_000, 1 => Just(u32::MAX)];
    prop::collection::btree_map(0u32..15, weight, 0..10)
        .prop_map(|terms| terms.into_iter().map(|(term, weight)| (TermId(term), weight)).collect())
}

/// Long lists with many classes: 200 records of a few words of a common stock, even and uneven.
fn many_records() -> impl Strategy<Value = Vec<Terms>> {
    let record = prop::collection::btree_map(0u32..30, 1u32..400, 1..25)
        .prop_map(|terms| terms.into_iter().map(|(term, weight)| (TermId(term), weight)).collect());
    prop::collection::vec(record, 60..200)
}

fn filled(filter: &mut dyn CandidateIndex, records: &[Terms]) {
    for (id, terms) in (0..).zip(records) {
        filter.insert(Sequence(id), terms);
    }
}

fn suspects_of(filter: &dyn CandidateIndex, probe: &Terms, threshold: Threshold) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    filter.probe(probe, threshold, &mut |candidate| {
        candidates.push(candidate);
        ControlFlow::Continue(threshold)
    });
    candidates
}

fn how_many_others() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(500), Just(5_000)]
}

fn matching(records: &[Terms], probe: &Terms, threshold: Threshold) -> Vec<Sequence> {
    let pairs = (0..).map(Sequence).zip(records);
    pairs.filter(|(_, terms)| matches(probe, terms, threshold)).map(|(id, _)| id).collect()
}

fn assert_nothing_is_lost(
    records: &[Terms],
    others: u32,
    probe: &Terms,
    threshold: Threshold,
) -> Result<(), TestCaseError> {
    let exact = index_among(others, records);
    let candidates = suspects_of(&exact, probe, threshold);
    for id in matching(records, probe, threshold) {
        let candidate = candidates.iter().find(|candidate| candidate.id == id);
        prop_assert!(candidate.is_some(), "{id} matches and is no candidate");
        let above = candidate.and_then(|candidate| Threshold::from_millionths(candidate.at_most.0 + 1));
        let exceeds = above.is_some_and(|above| matches(probe, &records[id.index()], above));
        prop_assert!(!exceeds, "{id} exceeds its bound");
    }
    let mut ids: Vec<_> = candidates.iter().map(|candidate| candidate.id).collect();
    ids.sort_unstable();
    prop_assert!(ids.is_sorted_by(|one, next| one < next), "one was shown twice");
    prop_assert!(candidates.is_sorted_by_key(|it| (std::cmp::Reverse(it.at_most), it.id)), "likely ones come first");
    prop_assert_eq!(suspects_of(&exact, probe, threshold), candidates);
    Ok(())
}

/// The records that match, as a user of the index finds them.
fn found(filter: &dyn CandidateIndex, records: &[Terms], probe: &Terms, threshold: Threshold) -> Vec<Sequence> {
    let candidates = suspects_of(filter, probe, threshold).into_iter().map(|candidate| candidate.id);
    let mut found: Vec<_> = candidates.filter(|id| matches(probe, &records[id.index()], threshold)).collect();
    found.sort_unstable();
    found
}

fn index_of(records: &[Terms]) -> InvertedIndex {
    index_among(0, records)
}

/// An index of these records and of others that share nothing with any.
fn index_among(others: u32, records: &[Terms]) -> InvertedIndex {
    let mut exact = InvertedIndex::default();
    (0..others).for_each(|other| exact.insert(Sequence(1 << 20 | other), &[(TermId(1 << 20 | other), 1)]));
    filled(&mut exact, records);
    exact
}

proptest! {
    #[test]
    fn the_exact_filter_loses_no_match_among_small_records(
        records in prop::collection::vec(any_terms(), 0..80),
        others in how_many_others(),
        probe in any_terms(),
        threshold in any_threshold(),
    ) {
        assert_nothing_is_lost(&records, others, &probe, threshold)?;
    }

    #[test]
    fn a_stored_record_probed_again_is_its_own_suspect(
        records in prop::collection::vec(any_terms(), 1..80),
        which in any::<prop::sample::Index>(),
        threshold in any_threshold(),
    ) {
        assert_nothing_is_lost(&records, 0, which.get(&records), threshold)?;
    }

    #[test]
    fn the_paper_filter_names_only_records_that_share_a_term(
        records in prop::collection::vec(any_terms(), 0..60),
        probe in any_terms(),
        threshold in any_threshold(),
    ) {
        let mut paper = PrefixFilter::default();
        filled(&mut paper, &records);
        let candidates = suspects_of(&paper, &probe, threshold);
        let zero = Threshold::from_millionths(0).unwrap();
        let sharing = matching(&records, &probe, zero);
        prop_assert!(candidates.iter().all(|candidate| sharing.contains(&candidate.id)));
        prop_assert_eq!(&suspects_of(&paper, &probe, threshold), &candidates);
        if threshold == zero {
            prop_assert_eq!(candidates.iter().map(|candidate| candidate.id).collect::<Vec<_>>(), sharing);
        }
    }
}

proptest! {
    #[test]
    fn ties_at_the_threshold_are_found_and_one_unit_below_is_not(
        shared in prop::collection::btree_map(0u32..40, 1u32..50_000, 1..20),
        t in prop::sample::select(vec![500_000u32, 700_000, 800_000, 900_000]),
        off in -1i32..=1,
    ) {
        // Both weigh a million; what they share weighs t, one more or one less.
        let wanted = t.saturating_add_signed(off);
        let given: u32 = shared.values().sum();
        let mut shared: Terms = shared.into_iter().map(|(term, weight)| (TermId(term), weight)).collect();
        prop_assume!(given < wanted);
        shared.push((TermId(50), wanted - given));
        let with_rest = |rest: u32| [&shared[..], &[(TermId(rest), 1_000_000 - wanted)]].concat();
        let records = [with_rest(60)];
        let is_found = !found(&index_of(&records), &records, &with_rest(61), threshold_of(t)).is_empty();
        prop_assert_eq!(is_found, off >= 0);
    }

    #[test]
    fn numbering_order_and_strangers_change_nothing(
        records in prop::collection::vec(any_terms(), 1..60),
        probe in any_terms(),
        threshold in any_threshold(),
        strangers in prop::collection::vec(any_terms(), 0..60),
    ) {
        let expected = found(&index_of(&records), &records, &probe, threshold);
        prop_assert_eq!(&expected, &matching(&records, &probe, threshold));
        // Terms numbered the other way round, and each record's in another order.
        let renumbered = |terms: &Terms| terms.iter().rev().map(|&(term, w)| (TermId(100 - term.0), w)).collect::<Terms>();
        let turned: Vec<Terms> = records.iter().map(renumbered).collect();
        prop_assert_eq!(&found(&index_of(&turned), &turned, &renumbered(&probe), threshold), &expected);
        // Lists of other lengths: records that hold each term and enough else to match nothing.
        let heavy = |terms: &Terms| [&terms[..], &[(TermId(99), u32::MAX)]].concat();
        let mixed: Vec<Terms> = records.iter().cloned().chain(strangers.iter().map(heavy)).collect();
        let among: Vec<_> = found(&index_of(&mixed), &mixed, &probe, threshold)
            .into_iter()
            .filter(|id| id.index() < records.len())
            .collect();
        prop_assert_eq!(among, expected);
    }

    #[test]
    fn a_snapshot_shows_what_the_index_showed(
        records in prop::collection::vec(any_terms(), 1..80),
        probe in any_terms(),
        threshold in any_threshold(),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = index_of(&records);
        let cut = cut.index(records.len());
        let mut bytes = Vec::new();
        index_of(&records[..cut]).save(&mut bytes).unwrap();
        let mut loaded = InvertedIndex::default();
        loaded.load(&mut &bytes[..]).unwrap();
        prop_assert_eq!(loaded.len(), cut);
        for (id, terms) in (0..).map(Sequence).zip(&records).skip(cut) {
            loaded.insert(id, terms);
        }
        prop_assert_eq!(suspects_of(&loaded, &probe, threshold), suspects_of(&whole, &probe, threshold));
        prop_assert_eq!(loaded.len(), whole.len());
    }

    #[test]
    fn whoever_raises_the_threshold_is_shown_what_reaches_it(
        records in prop::collection::vec(any_terms(), 1..80),
        probe in any_terms(),
        thresholds in (any_threshold(), any_threshold()),
    ) {
        let (low, high) = (thresholds.0.min(thresholds.1), thresholds.0.max(thresholds.1));
        let mut shown = Vec::new();
        index_of(&records).probe(&probe, low, &mut |candidate| {
            shown.push(candidate.id);
            ControlFlow::Continue(high)
        });
        prop_assert!(matching(&records, &probe, high).iter().all(|id| shown.contains(id)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_exact_filter_loses_no_match_in_long_lists(
        records in many_records(),
        others in how_many_others(),
        which in any::<prop::sample::Index>(),
        drift in prop::collection::vec((0u32..30, 1u32..50), 0..4),
        threshold in any_threshold(),
    ) {
        let mut probe: BTreeMap<_, _> = which.get(&records).iter().copied().collect();
        for (term, weight) in drift {
            *probe.entry(TermId(term)).or_default() += weight;
        }
        assert_nothing_is_lost(&records, others, &probe.into_iter().collect(), threshold)?;
    }
}

/// Three quarters of each record are a template. Of the rest most is rarely shared, and what is shared often is expensive
/// to read.
#[test]
fn where_all_are_alike_in_most_of_their_mass_what_is_shown_is_narrowed_down_to_little_but_matches() {
    const RECORDS: u32 = 3_000;
    let lot = |record: u32, place: u32| (record * 64 + place).wrapping_mul(2_654_435_761) >> 12;
    let record = |record: u32| {
        let template = (0..50).map(|term| (TermId(term), 60));
        let rare =
            (0..40).map(|place| (TermId(100 + place * 10 + lot(record, place) % 10), 20 + lot(record, place) % 3));
        let often = (0..25).filter(|term| lot(record, 64 + term) % 5 < 3).map(|term| (TermId(50 + term), 11));
        template.chain(often).chain(rare).collect::<Terms>()
    };
    let records: Vec<Terms> = (0..RECORDS).map(record).collect();
    let exact = index_of(&records);
    let (mut matched, mut shown) = (0, 0);
    for probe in (0..RECORDS).step_by(300) {
        for millionths in [810_000, 820_000] {
            let (threshold, probe) = (threshold_of(millionths), &records[probe as usize]);
            let candidates: Vec<_> = suspects_of(&exact, probe, threshold).iter().map(|it| it.id).collect();
            let matches = matching(&records, probe, threshold);
            assert_eq!(matches.iter().find(|id| !candidates.contains(id)), None);
            (matched, shown) = (matched + matches.len(), shown + candidates.len());
        }
    }
    assert!(shown - matched < matched / 6, "{shown} were shown for {matched} matches");
}

#[test]
fn any_page_can_be_probed() {
    let common: Terms = (0..10_000).map(|term| (TermId(term), 1 + term % 7)).collect();
    let records: Vec<Terms> =
        (0..300).map(|n| common[n * 30..n * 30 + 1_000].to_vec()).chain([common.clone()]).collect();
    let new: Terms = (20_000..20_500).map(|term| (TermId(term), 1)).collect();
    for probe in [vec![], vec![(TermId(5), 1)], new, common.clone(), common[..40].to_vec()] {
        for millionths in [0, 1, 500_000, 999_999, 1_000_000] {
            assert_nothing_is_lost(&records, 0, &probe, threshold_of(millionths)).unwrap();
        }
    }
}

#[test]
fn who_has_seen_enough_is_shown_no_more() {
    let page: Terms = (0..30).map(|term| (TermId(term), 100)).collect();
    let mut shown = 0;
    index_of(&vec![page.clone(); 40]).probe(&page, threshold_of(800_000), &mut |_| {
        shown += 1;
        if shown < 3 { ControlFlow::Continue(threshold_of(1_000_000)) } else { ControlFlow::Break(()) }
    });
    assert_eq!(shown, 3);
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut bytes = Vec::new();
    index_of(&[vec![(TermId(0), 1), (TermId(3), 2)]]).save(&mut bytes).unwrap();
    for end in 0..bytes.len() {
        assert!(InvertedIndex::default().load(&mut &bytes[..end]).is_err(), "{end} bytes of {}", bytes.len());
    }
}

#[test]
fn a_probe_without_terms_has_no_suspects() {
    for kind in [FilterKind::Exact, FilterKind::Paper] {
        let mut filter = kind.build();
        filter.insert(Sequence(0), &[]);
        filter.insert(Sequence(1), &[(TermId(0), 1)]);
        for t in [0, 1_000_000] {
            let threshold = Threshold::from_millionths(t).unwrap();
            assert_eq!(suspects_of(filter.as_ref(), &vec![], threshold), []);
        }
        assert_eq!(filter.len(), 2);
    }
}

#[test]
fn the_exact_filter_drops_what_cannot_match() {
    let mut exact = InvertedIndex::default();
    let page = |from: u32| (from..from + 50).map(|term| (TermId(term), 100)).collect::<Terms>();
    filled(&mut exact, &(0..100).map(|n| page(n * 25)).collect::<Vec<_>>());
    let threshold = Threshold::from_millionths(800_000).unwrap();
    let candidates = suspects_of(&exact, &page(1000), threshold);
    assert_eq!(candidates.iter().map(|candidate| candidate.id).collect::<Vec<_>>(), [Sequence(40)]);
}
