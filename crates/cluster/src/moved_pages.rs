//! The decided pages of a folder as arrivals and turns.

use super::arrivals::arrived;
use super::arriving::{Arriving, ArrivingPage, PageFacts, arrival_body};
use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::sealed::seal;
use super::test_point::test_point;
use super::turn_body::{TurnArrivals, TurnVerdicts};
use super::turn_log::ArrivalRange;
use ndcrawl_engine::pipeline::link_hash;
use ndcrawl_model::{
    Judged, PageInput, PageKind, PageRow, PageTerms, Sequence, Term, TermCounts, TermOrder, split_capture_key,
};
use ndcrawl_store::StoreReader;
use neardup::detect::{Settling, Withdrawals};

/// Turns of one transaction.
const AT_ONCE: usize = 64;

/// Moves all pages of a folder, as arrivals of this run. A turn ends where the folder settled, so that one decider that
/// settles where turns end gives the verdicts of the folder. Goes on behind the last turn.
pub(super) async fn move_pages(
    session: &mut Session,
    folder: &StoreReader,
    run: i32,
    mut told: impl FnMut(u64),
) -> Result<(), ClusterError> {
    let done = arrived(session, RunId(run)).await?;
    let first = u32::try_from(done).map_err(|_| ClusterError::Damaged(format!("run {run} has {done} arrivals")))?;
    let mut withdrawals = Withdrawals::default();
    for row in folder.pages_from(Sequence(0)).map_err(ClusterError::folder)?.take(first as usize) {
        withdrawals.add(&row.map_err(ClusterError::folder)?.1.judged());
    }
    expect_first_kept(folder)?;
    let mut rows = folder.pages_from(Sequence(first)).map_err(ClusterError::folder)?.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let texts = FolderTexts::read(folder)?;
    let (mut next, mut turns) = (first, Vec::new());
    while rows.peek().is_some() {
        let (most, mut turn) = (Settling::default().until_due(next), Vec::new());
        // A turn renews pages of earlier turns only. What it has taught before does not count yet then.
        let may_follow = |row: &PageRow| row.renews.is_none_or(|earlier| earlier.0 < next);
        while turn.len() < most
            && let Some(row) = rows.next_if(|row| row.as_ref().map_or(true, |(_, row)| may_follow(row)))
        {
            turn.push(row.map_err(ClusterError::folder)?.1);
        }
        let is_unsettled = turn.len() < most && rows.peek().is_some();
        turns.push(MovedTurn::new(run, next, turn, is_unsettled, &texts, &mut withdrawals)?);
        next = turns.last().map_or(next, |turn| next + turn.count);
        if turns.len() == AT_ONCE || rows.peek().is_none() {
            write(session, run, &std::mem::take(&mut turns)).await?;
            test_point("moved-pages");
            told(next.into());
        }
    }
    Ok(())
}

/// Refuses a folder in which other copies than the first ones were kept: processes that decide together know no rule.
fn expect_first_kept(folder: &StoreReader) -> Result<(), ClusterError> {
    for row in folder.all_pages().map_err(ClusterError::folder)? {
        if row.map_err(ClusterError::folder)?.1.kind == PageKind::Chosen {
            let what = "copies changed places in it (--keep), and several processes keep the first ones: crawl again";
            return Err(ClusterError::Folder(what.to_owned()));
        }
    }
    Ok(())
}

/// The texts that numbers of the folder stand for.
struct FolderTexts {
    terms: Vec<Term>,
    /// The hash of each URL.
    links: Vec<u32>,
    reader: StoreReader,
}

impl FolderTexts {
    fn read(folder: &StoreReader) -> Result<Self, ClusterError> {
        let terms = folder.all_terms().and_then(|rows| rows.map(|row| row.map(|(_, term)| term)).collect());
        let hash = |row: Result<(_, ndcrawl_model::UrlRow), _>| row.map(|(_, row)| link_hash(&row.url));
        let links = folder.all_urls().and_then(|rows| rows.map(hash).collect());
        Ok(Self {
            terms: terms.map_err(ClusterError::folder)?,
            links: links.map_err(ClusterError::folder)?,
            reader: folder.clone(),
        })
    }

    /// Returns a page as it was before terms had numbers.
    fn arriving(&self, row: PageRow) -> Result<ArrivingPage, ClusterError> {
        let lost =
            |what: &str| ClusterError::Folder(format!("page {:032x} names a {what} that is not there", row.page.0));
        let url = self.reader.url(row.url).map_err(ClusterError::folder)?.ok_or_else(|| lost("URL"))?;
        let mut links = row.links.iter().map(|link| self.links.get(link.index()).copied()).collect::<Option<Vec<_>>>();
        let links = links.as_mut().ok_or_else(|| lost("link"))?;
        links.sort_unstable();
        links.dedup();
        let term = |(id, counts): (ndcrawl_model::TermId, _)| {
            Some(TermCounts { term: self.terms.get(id.index())?.clone(), counts })
        };
        let terms = row.terms.iter().map(term).collect::<Option<Vec<_>>>().ok_or_else(|| lost("term"))?;
        let facts = PageFacts {
            url: split_capture_key(&url.url).0.to_owned(),
            fetched: row.fetched_at,
            links: std::mem::take(links),
        };
        let input = PageInput {
            page: row.page,
            group: row.group,
            body_digest: row.body_digest,
            text_digest: row.text_digest,
            terms,
            order: by_position(row.order, &row.terms),
            renews: row.renews,
            rank: row.kind.rank(),
        };
        Ok(ArrivingPage::new(input, facts))
    }
}

/// Returns the order of a page's terms, which are named by their positions among these terms again.
fn by_position(order: TermOrder, terms: &PageTerms) -> TermOrder {
    if order.sentences.is_empty() {
        return order;
    }
    let ids: Vec<u32> = terms.iter().map(|(id, _)| id.0).collect();
    let position = |id: &u32| ids.binary_search(id).ok().and_then(|place| u32::try_from(place).ok());
    let sentences = order.sentences.iter().map(|sentence| sentence.iter().filter_map(position).collect()).collect();
    TermOrder { sentences, ..order }
}

/// A turn with its arrivals, as the database keeps them.
struct MovedTurn {
    first: u32,
    count: u32,
    arrival: Vec<u8>,
    body: Vec<u8>,
}

impl MovedTurn {
    fn new(
        run: i32,
        first: u32,
        rows: Vec<PageRow>,
        is_unsettled: bool,
        texts: &FolderTexts,
        withdrawals: &mut Withdrawals,
    ) -> Result<Self, ClusterError> {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let (mut judged, mut arriving) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (number, row) in (first..).map(Sequence).zip(rows) {
            let left = withdrawals.add(&row.judged());
            judged.push(Judged {
                page: row.page,
                sequence: number,
                verdict: row.verdict,
                terms: PageTerms::default(),
                order: TermOrder::default(),
                least_weight: row.least_weight,
                new_terms: Vec::new(),
                redelivered: false,
                displaced: left.filter(|page| Some(*page) != row.renews),
            });
            arriving.push(Arriving::from(texts.arriving(row)?));
        }
        let range =
            ArrivalRange { run: RunId(run), first: first.into(), count: i32::try_from(count).unwrap_or(i32::MAX) };
        let arrival = seal(&arrival_body(&arriving)?)?;
        let mut arrivals: TurnArrivals = arriving.into_iter().collect();
        arrivals.turn.is_unsettled = is_unsettled;
        let body = seal(&TurnVerdicts::body(&[range], &arrivals, &judged, &[])?)?;
        Ok(Self { first, count, arrival, body })
    }
}

async fn write(session: &mut Session, run: i32, turns: &[MovedTurn]) -> Result<(), ClusterError> {
    let doing = "move pages";
    let Some(last) = turns.last() else { return Ok(()) };
    let firsts: Vec<i64> = turns.iter().map(|turn| i64::from(turn.first)).collect();
    let counts: Vec<i32> = turns.iter().map(|turn| i32::try_from(turn.count).unwrap_or(i32::MAX)).collect();
    let arrivals: Vec<&[u8]> = turns.iter().map(|turn| &turn.arrival[..]).collect();
    let bodies: Vec<&[u8]> = turns.iter().map(|turn| &turn.body[..]).collect();
    let transaction = session.begin().await?;
    let statement = "INSERT INTO arrival (run, first, n, body) \
                     SELECT $1, first, n, body FROM unnest($2::bigint[], $3::int[], $4::bytea[]) AS part (first, n, body)";
    transaction.sql().change(doing, statement, &[&run, &firsts, &counts, &arrivals]).await?;
    // An attempt of a run has the number of the run above its lower half.
    let statement = "INSERT INTO turn (number, first_page, n, attempt, body) \
                     SELECT crawl.turn + part.place, first, part.n, crawl.turn + part.place, part.body \
                     FROM crawl, unnest($1::bigint[], $2::int[], $3::bytea[]) WITH ORDINALITY AS part (first, n, body, place)";
    transaction.sql().change(doing, statement, &[&firsts, &counts, &bodies]).await?;
    let pages = i64::from(last.first + last.count);
    let (taken, count) = (format!("{{\"{run}\":{pages}}}"), turns.len() as i64);
    let statement = "UPDATE crawl SET turn = turn + $1, pages = $2, taken = $3::text::jsonb WHERE state = 'moving'";
    transaction.sql().change(doing, statement, &[&count, &pages, &taken]).await?;
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::FieldCounts;
    use neardup::detect::Vocabulary;

    #[test]
    fn the_order_of_terms_survives_the_way_to_another_vocabulary() {
        let page = |words: &[&str]| -> Vec<TermCounts> {
            words.iter().map(|word| TermCounts { term: (*word).into(), counts: FieldCounts::default() }).collect()
        };
        let mut folder = Vocabulary::default();
        folder.intern_page(page(&["three", "one"]), TermOrder::default()).unwrap();
        let order = TermOrder { sentences: vec![vec![0, 2, 0], vec![1]], ..TermOrder::default() };
        let (terms, _, decided) = folder.intern_page(page(&["one", "two", "three"]), order).unwrap();
        let named = |vocabulary: &Vocabulary, order: &TermOrder| -> Vec<Vec<String>> {
            let text = |id: &u32| vocabulary.term(ndcrawl_model::TermId(*id)).unwrap().to_owned();
            order.sentences.iter().map(|sentence| sentence.iter().map(text).collect()).collect()
        };
        let texts: Vec<TermCounts> =
            terms.iter().map(|(id, counts)| TermCounts { term: folder.term(id).unwrap().into(), counts }).collect();
        let mut cluster = Vocabulary::default();
        let (_, _, again) = cluster.intern_page(texts, by_position(decided.clone(), &terms)).unwrap();
        assert_eq!(named(&cluster, &again), named(&folder, &decided));
        assert_eq!(named(&cluster, &again), [vec!["one", "three", "one"], vec!["two"]]);
    }
}
