//! What a run sends to be judged, as bytes: pages with their terms as text, withdrawals and questions.

use serde::{Deserialize, Serialize};

use super::arrivals::ArrivalChunk;
use super::encoding::{decoded, encoded, packed};
use super::error::ClusterError;
use super::lease::RunId;
use super::question::Question;
use super::term_columns::TermColumns;
use ndcrawl_model::{Digest, PageId, PageInput, RunningText, Sequence, Slot, TermCounts, TermOrder};

/// What a run sends to be judged.
#[derive(Clone, Debug)]
pub enum Arriving {
    /// A page.
    Page(Box<ArrivingPage>),
    /// A judged page that cannot be completed: it is to leave the index.
    Withdrawal(Sequence),
    /// A question about all decisions so far.
    Question(Question),
}

impl From<ArrivingPage> for Arriving {
    fn from(page: ArrivingPage) -> Self {
        Self::Page(Box::new(page))
    }
}

/// A page on its way to its verdict.
#[derive(Clone, Debug)]
pub struct ArrivingPage {
    /// The page.
    pub input: PageInput,
    /// What its duplicates need of it.
    pub facts: PageFacts,
    /// The slot of its URL, whose log has it when it is completed. None for a record of a file.
    pub slot: Option<Slot>,
    /// The judged page of the same URL that leaves the index for it.
    pub replaces: Option<Sequence>,
}

impl ArrivingPage {
    /// Creates a page of no slot that replaces nothing.
    pub fn new(input: PageInput, facts: PageFacts) -> Self {
        Self { input, facts, slot: None, replaces: None }
    }
}

/// What the process that has fetched a duplicate needs of the page that it repeats, which may be another's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFacts {
    /// Its URL, or the name that it has instead.
    pub url: String,
    /// When it was fetched, in milliseconds since 1970.
    pub fetched: Option<i64>,
    /// The hashes of its links, ascending.
    pub links: Vec<u32>,
}

/// A page as an arrival holds it, but for its terms and its text.
#[derive(Serialize, Deserialize)]
struct ArrivedPage {
    page: PageId,
    group: u32,
    body_digest: Digest,
    text_digest: Option<Digest>,
    order: TermOrder,
    renews: Option<Sequence>,
    rank: u8,
    facts: PageFacts,
    slot: Option<Slot>,
    replaces: Option<Sequence>,
}

/// An arrival as the database holds it.
#[derive(Serialize, Deserialize)]
enum Arrived {
    Page(Box<ArrivedPage>),
    Withdrawal(Sequence),
    Question(Question),
}

/// Arrivals as the database holds them, and the terms and texts of their pages. Terms have no numbers, which would be
/// those of one process.
#[derive(Default, Serialize, Deserialize)]
struct ArrivalBody {
    arrivals: Vec<Arrived>,
    terms: TermColumns,
    #[serde(with = "packed")]
    texts: Vec<RunningText>,
}

/// Returns pages and withdrawals as the body of arrivals.
pub fn arrival_body(arrivals: &[Arriving]) -> Result<Vec<u8>, ClusterError> {
    let mut body = ArrivalBody::default();
    for arriving in arrivals {
        let arrived = match arriving {
            Arriving::Page(page) => Arrived::Page(Box::new(arrived_page(page, &mut body))),
            Arriving::Withdrawal(page) => Arrived::Withdrawal(*page),
            Arriving::Question(question) => Arrived::Question(*question),
        };
        body.arrivals.push(arrived);
    }
    encoded(&body)
}

fn arrived_page(page: &ArrivingPage, body: &mut ArrivalBody) -> ArrivedPage {
    let ArrivingPage { input, facts, slot, replaces } = page;
    let (places, mut order) = (body.terms.push(&input.terms), input.order.clone());
    body.texts.push(std::mem::take(&mut order.text));
    for term in order.sentences.iter_mut().flatten() {
        *term = places.get(*term as usize).copied().unwrap_or(*term);
    }
    ArrivedPage {
        page: input.page,
        group: input.group,
        body_digest: input.body_digest,
        text_digest: input.text_digest,
        order,
        renews: input.renews,
        rank: input.rank,
        facts: facts.clone(),
        slot: *slot,
        replaces: *replaces,
    }
}

/// Returns pages as a chunk of arrivals.
///
/// # Errors
/// [`ClusterError::Damaged`] if a page cannot be written.
pub fn chunk_of_pages(run: RunId, first: i64, pages: Vec<ArrivingPage>) -> Result<ArrivalChunk, ClusterError> {
    chunk_of(run, first, &pages.into_iter().map(Arriving::from).collect::<Vec<_>>())
}

/// Returns these as a chunk of arrivals.
pub(super) fn chunk_of(run: RunId, first: i64, arrivals: &[Arriving]) -> Result<ArrivalChunk, ClusterError> {
    let count = i32::try_from(arrivals.len()).unwrap_or(i32::MAX);
    Ok(ArrivalChunk { run, first, count, body: arrival_body(arrivals)? })
}

/// Returns the arrivals of a chunk, in order.
///
/// # Errors
/// [`ClusterError::Damaged`] if one is missing.
pub(super) fn arrivals_of(chunk: &ArrivalChunk) -> Result<Vec<Arriving>, ClusterError> {
    let ArrivalChunk { run, first, count, body } = chunk;
    let arrivals = arrivals_in(body)?;
    if i32::try_from(arrivals.len()) != Ok(*count) {
        let what = format!("the chunk of {count} arrivals of run {} at {first} has {}", run.0, arrivals.len());
        return Err(ClusterError::Damaged(what));
    }
    Ok(arrivals)
}

/// Returns the pages of a chunk of arrivals, in order.
///
/// # Errors
/// [`ClusterError::Damaged`] if it cannot be read.
pub fn pages_of(chunk: &ArrivalChunk) -> Result<Vec<ArrivingPage>, ClusterError> {
    let page = |arriving| match arriving {
        Arriving::Page(page) => Some(*page),
        Arriving::Withdrawal(_) | Arriving::Question(_) => None,
    };
    Ok(arrivals_of(chunk)?.into_iter().filter_map(page).collect())
}

/// Returns the arrivals of a body.
fn arrivals_in(body: &[u8]) -> Result<Vec<Arriving>, ClusterError> {
    let ArrivalBody { arrivals, terms, texts } = decoded(body, "an arrival")?;
    let mut terms = terms.pages()?.into_iter().zip(texts);
    let arriving_page = |page: ArrivedPage, (terms, text): (Vec<TermCounts>, RunningText)| ArrivingPage {
        input: PageInput {
            page: page.page,
            group: page.group,
            body_digest: page.body_digest,
            text_digest: page.text_digest,
            terms,
            order: TermOrder { text, ..page.order },
            renews: page.renews,
            rank: page.rank,
        },
        facts: page.facts,
        slot: page.slot,
        replaces: page.replaces,
    };
    let mut arriving = |arrived| match arrived {
        Arrived::Page(page) => {
            let terms = terms.next().ok_or_else(|| ClusterError::Damaged("an arrival has no terms".to_owned()))?;
            Ok(arriving_page(*page, terms).into())
        }
        Arrived::Withdrawal(page) => Ok(Arriving::Withdrawal(page)),
        Arrived::Question(question) => Ok(Arriving::Question(question)),
    };
    arrivals.into_iter().map(&mut arriving).collect()
}
