//! The order of `dedup`: turns take the pages of the inputs in the order of their numbers, and are full.
//!
//! So the verdicts depend neither on the number of workers nor on how fast they are. Only the last turn of a manifest may
//! be shorter. Behind a manifest may come its second look, of which each chunk is a turn.

use super::connection::Session;
use super::error::ClusterError;
use super::inputs::stream_of;
use super::lease::RunId;
use super::turn_log::ArrivalRange;
use super::turn_state::TurnState;

/// Inputs that are looked at for one turn. Twice as many if these are not enough, and so on.
const INPUTS: i64 = 256;

/// How far an input is.
#[derive(Clone, Copy, Debug)]
struct InputStream {
    number: i32,
    manifest: i32,
    /// Whether it is the second look of the manifest.
    is_look: bool,
    /// Arrivals so far.
    sent: i64,
    /// Whether these are all.
    is_complete: bool,
}

/// The next turn, as far as some inputs tell.
#[derive(Debug, PartialEq)]
enum NextTurn {
    /// These arrivals.
    Ready(Vec<ArrivalRange>),
    /// The next chunk of this second look.
    OfLook(i32),
    /// Some of its pages have not arrived.
    Waiting,
    /// These, unless there are more inputs.
    Short(Vec<ArrivalRange>),
}

/// Returns the arrivals of the next turn: exactly `pages` of them, or what is left of a manifest. None if some of them
/// have not arrived yet.
pub(super) async fn next_in_manifest(
    session: &Session,
    state: &TurnState,
    pages: i32,
) -> Result<Vec<ArrivalRange>, ClusterError> {
    let mut most = INPUTS;
    loop {
        let inputs = inputs_from(session, state.last_input().unwrap_or(0), most).await?;
        let are_all = (inputs.len() as i64) < most;
        match next_of(&inputs, |number| state.judged(stream_of(number)), pages) {
            NextTurn::Ready(ranges) => return Ok(ranges),
            NextTurn::OfLook(number) => {
                let stream = stream_of(number);
                return Ok(chunk_at(session, stream, state.judged(stream)).await?.into_iter().collect());
            }
            NextTurn::Waiting => return Ok(Vec::new()),
            NextTurn::Short(ranges) if are_all => return Ok(ranges),
            NextTurn::Short(_) => most *= 2,
        }
    }
}

async fn inputs_from(session: &Session, from: i32, most: i64) -> Result<Vec<InputStream>, ClusterError> {
    let statement = "SELECT number, manifest, records, name IS NULL, \
                            coalesce((SELECT first + n FROM arrival WHERE run = -1 - number \
                                      ORDER BY first DESC LIMIT 1), 0) \
                     FROM input WHERE number >= $1 ORDER BY number LIMIT $2";
    let rows = session.client().rows("look for the next pages of the manifest", statement, &[&from, &most]).await?;
    let stream = |(number, manifest, records, is_look, sent): (i32, i32, Option<i64>, bool, i64)| {
        let is_complete = records == Some(sent);
        InputStream { number, manifest, is_look, sent, is_complete }
    };
    Ok(rows.into_iter().map(stream).collect())
}

/// Returns the chunk of arrivals that begins here.
async fn chunk_at(session: &Session, run: RunId, first: i64) -> Result<Option<ArrivalRange>, ClusterError> {
    let statement = "SELECT n FROM arrival WHERE run = $1 AND first = $2";
    let doing = "look for the next turn of a second look";
    let row = session.client().row_if_any(doing, statement, &[&run.0, &first]).await?;
    Ok(row.map(|(count,)| ArrivalRange { run, first, count }))
}

fn next_of(inputs: &[InputStream], judged: impl Fn(i32) -> i64, pages: i32) -> NextTurn {
    let (mut ranges, mut left, mut manifest) = (Vec::new(), pages, None);
    for input in inputs {
        if manifest.is_some_and(|manifest| manifest != input.manifest || input.is_look) {
            // The last turn of a manifest.
            return NextTurn::Ready(ranges);
        }
        let first = judged(input.number);
        if input.is_look && first < input.sent {
            return NextTurn::OfLook(input.number);
        }
        let count = i32::try_from(input.sent - first).unwrap_or(i32::MAX).min(left);
        if count > 0 {
            ranges.push(ArrivalRange { run: stream_of(input.number), first, count });
            manifest = Some(input.manifest);
            left -= count;
        }
        if left == 0 {
            return NextTurn::Ready(ranges);
        }
        if !input.is_complete {
            return NextTurn::Waiting;
        }
    }
    NextTurn::Short(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(sent: &[(i32, i64, bool)]) -> Vec<InputStream> {
        (0..)
            .zip(sent)
            .map(|(number, &(manifest, sent, is_complete))| InputStream {
                number,
                manifest,
                is_look: false,
                sent,
                is_complete,
            })
            .collect()
    }

    fn next(sent: &[(i32, i64, bool)], judged: &[i64]) -> Vec<(i32, i64, i32)> {
        let judged = |number: i32| judged.get(number as usize).copied().unwrap_or(0);
        let (NextTurn::Ready(ranges) | NextTurn::Short(ranges)) = next_of(&inputs(sent), judged, 64) else {
            return Vec::new();
        };
        ranges.iter().map(|range| (-1 - range.run.0, range.first, range.count)).collect()
    }

    #[test]
    fn turns_are_full_but_for_the_last_one_of_a_manifest() {
        // What comes later waits for what comes before.
        assert_eq!(next(&[(0, 63, false), (0, 500, true)], &[0]), []);
        assert_eq!(next(&[(0, 64, false), (0, 500, true)], &[0]), [(0, 0, 64)]);
        assert_eq!(next(&[(0, 63, true), (0, 500, false)], &[0]), [(0, 0, 63), (1, 0, 1)]);
        assert_eq!(next(&[(0, 63, true), (0, 0, true), (0, 9, true)], &[10]), [(0, 10, 53), (2, 0, 9)]);
        assert_eq!(next(&[(0, 63, true), (0, 0, true), (0, 9, false)], &[10]), []);
        // A further manifest begins with a turn of its own, and waits for the one before.
        assert_eq!(next(&[(0, 10, true), (1, 500, true)], &[0]), [(0, 0, 10)]);
        assert_eq!(next(&[(0, 10, true), (1, 500, true)], &[10]), [(1, 0, 64)]);
        assert_eq!(next(&[(0, 10, false), (1, 500, true)], &[10]), []);
        assert_eq!(next(&[(0, 0, true), (1, 5, true)], &[0]), [(1, 0, 5)]);
        assert_eq!(next(&[(0, 10, true)], &[10]), []);
        assert_eq!(next(&[], &[]), []);
        // A second look waits for its manifest, its turns are its chunks, and the next manifest waits for it.
        let with_look = |first: (i64, bool), look: (i64, bool), judged: [i64; 2]| {
            let mut all = inputs(&[(0, first.0, first.1), (0, look.0, look.1), (1, 500, true)]);
            all[1].is_look = true;
            next_of(&all, |number| judged.get(number as usize).copied().unwrap_or(0), 64)
        };
        let range = |number, first, count| ArrivalRange { run: stream_of(number), first, count };
        assert_eq!(with_look((10, true), (0, false), [0, 0]), NextTurn::Ready(vec![range(0, 0, 10)]));
        assert_eq!(with_look((10, false), (1, false), [10, 0]), NextTurn::Waiting);
        assert_eq!(with_look((10, true), (0, false), [10, 0]), NextTurn::Waiting);
        assert_eq!(with_look((10, true), (1, false), [10, 0]), NextTurn::OfLook(1));
        assert_eq!(with_look((10, true), (1, false), [10, 1]), NextTurn::Waiting);
        assert_eq!(with_look((10, true), (2, true), [10, 2]), NextTurn::Ready(vec![range(2, 0, 64)]));
        // Behind the last input that was looked at there may be more of the manifest.
        assert!(matches!(next_of(&inputs(&[(0, 10, true), (0, 0, true)]), |_| 0, 64), NextTurn::Short(_)));
    }
}
