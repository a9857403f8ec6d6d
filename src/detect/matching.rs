//! From suspects to matches: the exact comparison.

use super::DetectError;
use super::records::{RecordSource, Records};
use crate::filter::Suspect;
use crate::record::{Score, Sequence, Threshold};
use crate::verify::{Record, score_reaching};

/// A stored page that reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The stored page.
    pub of: Sequence,
    /// How similar it is.
    pub score: Score,
}

/// How many matches are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One, whichever is found first; which one depends on the filter, but not on chance. Cheapest.
    Any,
    /// The most similar one; of equal scores the page that was first. It depends on nothing but the
    /// stored records, so every exact filter gives the same. Costs one comparison for each suspect
    /// whose bound is no lower than the best score: in a store without near-duplicates, few.
    #[default]
    Best,
    /// All, ranked by falling score, then by rising number: the paper's optimal set.
    All,
}

/// Compares suspects, which come by falling bound. Returns the matches and the number of records
/// compared.
pub(super) fn find<S: RecordSource>(
    mode: Mode,
    probe: &Record,
    threshold: Threshold,
    suspects: &[Suspect],
    records: &mut Records<S>,
) -> Result<(Vec<Match>, u64), DetectError> {
    let mut verifications = 0;
    let mut matches: Vec<Match> = Vec::new();
    // With `Best`, a suspect has to reach the best score so far.
    let mut bar = threshold;
    for suspect in suspects {
        match (mode, matches.first()) {
            (Mode::Any, Some(_)) => break,
            (Mode::Best, Some(best)) if suspect.at_most < best.score => break,
            (Mode::Best, Some(best)) if suspect.at_most == best.score && suspect.id > best.of => continue,
            _ => {}
        }
        verifications += 1;
        let Some(score) = score_reaching(probe, records.get(suspect.id)?.as_ref(), bar) else { continue };
        let found = Match { of: suspect.id, score };
        match (mode, matches.first()) {
            (Mode::Best, Some(best)) if rank(best) < rank(&found) => continue,
            (Mode::Best, _) => {
                matches = vec![found];
                bar = Threshold::from_millionths(score.0).unwrap_or(bar);
            }
            (Mode::Any | Mode::All, _) => matches.push(found),
        }
    }
    matches.sort_unstable_by_key(rank);
    Ok((matches, verifications))
}

fn rank(found: &Match) -> (std::cmp::Reverse<Score>, Sequence) {
    (std::cmp::Reverse(found.score), found.of)
}

#[cfg(test)]
mod tests {
    use super::super::records::InMemory;
    use super::*;
    use crate::record::{FieldWeights, TermId};

    /// Pages that share 70, 90, 80, 90 of 100 hundredths with the probe; and bounds.
    fn setting() -> (Record, Records<InMemory>, Vec<Suspect>) {
        let page = |shared: u32| Record::new(vec![(TermId(0), shared), (TermId(1), 100 - shared)]);
        let mut records = Records::new(InMemory, FieldWeights::default());
        for (id, shared) in (0..).zip([70, 90, 80, 90]) {
            records.insert(Sequence(id), page(shared));
        }
        let suspect = |(id, at_most)| Suspect { id: Sequence(id), at_most: Score(at_most) };
        let suspects = [(2, 980_000), (0, 950_000), (3, 900_000), (1, 900_000)].map(suspect);
        (Record::new(vec![(TermId(0), 100)]), records, suspects.to_vec())
    }

    fn found(mode: Mode) -> (Vec<(u32, u32)>, u64) {
        let (probe, mut records, suspects) = setting();
        let threshold = Threshold::from_millionths(750_000).unwrap();
        let (matches, verifications) = find(mode, &probe, threshold, &suspects, &mut records).unwrap();
        (matches.iter().map(|found| (found.of.0, found.score.0)).collect(), verifications)
    }

    #[test]
    fn any_stops_at_the_first_match() {
        assert_eq!(found(Mode::Any), (vec![(2, 800_000)], 1));
    }

    #[test]
    fn best_finds_the_highest_score_and_of_equals_the_first_page() {
        assert_eq!(found(Mode::Best), (vec![(1, 900_000)], 4));
    }

    #[test]
    fn all_finds_every_match_ranked() {
        assert_eq!(found(Mode::All).0, [(1, 900_000), (3, 900_000), (2, 800_000)]);
    }

    #[test]
    fn best_does_not_compare_what_cannot_be_better() {
        let (probe, mut records, mut suspects) = setting();
        suspects.rotate_right(1);
        let threshold = Threshold::from_millionths(0).unwrap();
        suspects[0].at_most = Score(1_000_000);
        suspects[3].at_most = Score(899_999);
        let (matches, verifications) = find(Mode::Best, &probe, threshold, &suspects, &mut records).unwrap();
        assert_eq!(matches[0].of, Sequence(1));
        assert_eq!(verifications, 3, "the last one's bound is below the best score");
    }
}
