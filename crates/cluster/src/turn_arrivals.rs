//! Reads what turns are about.

use super::arrivals::read_arrivals;
use super::arriving::{Arriving, arrivals_of};
use super::connection::Session;
use super::error::ClusterError;
use super::turn_log::ArrivalRange;

/// Chunks of arrivals that are read at once.
const CHUNKS: i64 = 64;

/// Reads these arrivals, in order, with what duplicates need of a page.
pub(super) async fn arriving_of(session: &Session, ranges: &[ArrivalRange]) -> Result<Vec<Arriving>, ClusterError> {
    let mut pages = Vec::new();
    for range in ranges {
        let (mut next, end) = (range.first, range.first + i64::from(range.count));
        while next < end {
            let before = next;
            for chunk in read_arrivals(session, range.run, next, CHUNKS).await? {
                let numbered =
                    (chunk.first..).zip(arrivals_of(&chunk)?).filter(|(number, _)| (before..end).contains(number));
                pages.extend(numbered.map(|(_, page)| page));
                next = (chunk.first + i64::from(chunk.count)).min(end);
                if next == end {
                    break;
                }
            }
            if next == before {
                return Err(ClusterError::Damaged(format!("run {} has no arrival {next}", range.run.0)));
            }
        }
    }
    Ok(pages)
}
