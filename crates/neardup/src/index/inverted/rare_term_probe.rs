//! A short cut for duplicates: records that share rare terms with the probe.
//!
//! A near-duplicate shares most of its original's rare terms, and their lists are short. So before planning, the
//! records in the shortest lists are counted, and the few most frequent are compared. On a crawl half the pages are
//! near-duplicates, and most are decided here. For others it costs some hundred nanoseconds. It only finds matches
//! sooner: the plan finds all the others.

use super::impact_classes::record_of;
use super::postings::{InvertedLists, List};
use super::tuning::Tuning;
use crate::model::TermId;

/// Replaces `likely` by the records that share most rare terms with the probe, most first.
pub(super) fn find(shares: &[(TermId, u16)], lists: &InvertedLists, likely: &mut Vec<u32>) {
    likely.clear();
    // The newest terms are the rarest.
    for &(term, _) in shares.iter().rev() {
        if lists.len_of(term) <= Tuning::RARE_LIST_LONGEST
            && let List::Small(postings) = lists.get(term)
        {
            likely.extend(postings.iter().map(|&posting| record_of(posting)));
            if likely.len() >= Tuning::RARE_POSTINGS {
                break;
            }
        }
    }
    likely.sort_unstable();
    let mut counted: Vec<(usize, u32)> = likely.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
    counted.sort_unstable_by_key(|&(count, record)| (std::cmp::Reverse(count), record));
    likely.clear();
    likely.extend(counted.iter().take(Tuning::RARE_RECORDS).map(|&(_, record)| record));
}
