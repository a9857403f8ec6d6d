//! Looks a judged page up by its number: whoever has a duplicate names the page that it repeats.

use super::arrivals::find_arrival;
use super::arriving::{Arriving, ArrivingPage, PageFacts, arrivals_of};
use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::sealed::open_sealed;
use super::turn_body::TurnVerdicts;
use ndcrawl_model::{PageId, Sequence, Verdict};

/// A judged page, as its arrival and its turn tell.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPage {
    /// Its name.
    pub page: PageId,
    /// What its duplicates need of it.
    pub facts: PageFacts,
    /// The decision on it.
    pub verdict: Verdict,
}

/// Returns the judged page of this number. `None` if no turn has decided it.
///
/// Cost: reads the page's turn and the chunk of its arrival.
pub async fn named_page(session: &Session, page: Sequence) -> Result<Option<NamedPage>, ClusterError> {
    let found = judged_page(session, page).await?;
    Ok(found.map(|(page, verdict)| NamedPage { page: page.input.page, facts: page.facts, verdict }))
}

/// As [`named_page`]: returns the page as it arrived, and the decision on it.
pub(super) async fn judged_page(
    session: &Session,
    page: Sequence,
) -> Result<Option<(ArrivingPage, Verdict)>, ClusterError> {
    let found = judged_arrival(session, page).await?;
    Ok(found.map(|JudgedArrival { page, verdict, .. }| (page, verdict)))
}

/// A judged page as it arrived.
#[derive(Clone, Debug)]
pub(super) struct JudgedArrival {
    /// Who has sent it.
    pub run: RunId,
    pub page: ArrivingPage,
    pub verdict: Verdict,
}

/// As [`judged_page`]: says who has sent it, too.
pub(super) async fn judged_arrival(session: &Session, page: Sequence) -> Result<Option<JudgedArrival>, ClusterError> {
    // Of turns with the same first page, all but the last one are without pages.
    let statement =
        "SELECT number, body FROM turn WHERE first_page <= $1 ORDER BY first_page DESC, number DESC LIMIT 1";
    let row: Option<(i64, Vec<u8>)> =
        session.client().row_if_any("look up a judged page", statement, &[&i64::from(page.0)]).await?;
    let Some((number, body)) = row else { return Ok(None) };
    let body = open_sealed(&body, || format!("turn {number}"))?;
    let turn = TurnVerdicts::read(&body)?;
    let Some((mut place, verdict)) = turn.find(page) else { return Ok(None) };
    let missing = || ClusterError::Damaged(format!("turn {number} has no arrival of page {page}"));
    for range in turn.ranges() {
        let count = usize::try_from(range.count).map_err(|_| missing())?;
        if place >= count {
            place -= count;
            continue;
        }
        let arrival = range.first + place as i64;
        let chunk = find_arrival(session, range.run, arrival).await?.ok_or_else(missing)?;
        let place = usize::try_from(arrival - chunk.first).map_err(|_| missing())?;
        return match arrivals_of(&chunk)?.into_iter().nth(place) {
            Some(Arriving::Page(page)) => Ok(Some(JudgedArrival { run: range.run, page: *page, verdict })),
            _ => Err(missing()),
        };
    }
    Err(missing())
}
