//! Mail between slots: links to URLs that another slot owns.
//!
//! A letter is sent in the transaction of the commit that has its links, and deleted in that of the commit that has taken
//! them in. So a link is in the log of one side, or on its way, at every moment.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;

use super::connection::{Connector, OpenTransaction, Session};
use super::crawl_name::CrawlName;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::sealed::{open_sealed, seal};
use ndcrawl_engine::pipeline::Letter;
use ndcrawl_model::{Mailed, OwnSlots, Slot};

/// Pause between two looks for mail.
const PAUSE: Duration = Duration::from_millis(50);
/// Letters that are fetched at once.
const AT_ONCE: i64 = 256;
/// How long a session is tried to be had again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends links to their slots, a letter to each.
pub(super) async fn send_mail(
    transaction: &OpenTransaction<'_>,
    outbox: &[(Slot, Mailed)],
) -> Result<(), ClusterError> {
    let mut letters: BTreeMap<Slot, Vec<&Mailed>> = BTreeMap::new();
    for (slot, mail) in outbox {
        letters.entry(*slot).or_default().push(mail);
    }
    let (mut slots, mut bodies) = (Vec::new(), Vec::new());
    for (slot, letter) in letters {
        let bytes = postcard::to_stdvec(&letter).map_err(|error| ClusterError::Damaged(error.to_string()))?;
        slots.push(i32::from(slot.0));
        bodies.push(seal(&bytes)?);
    }
    if slots.is_empty() {
        return Ok(());
    }
    let statement = "INSERT INTO mail (slot, body) SELECT * FROM unnest($1::int[], $2::bytea[]) AS letter (slot, body)";
    transaction.sql().change("send mail to other slots", statement, &[&slots, &bodies]).await.map(drop)
}

/// Returns all links that are on their way, in the order of their letters.
pub(super) async fn letters(session: &Session) -> Result<Vec<Mailed>, ClusterError> {
    let mut links = Vec::new();
    for (id, body) in session.client().rows("read the mail", "SELECT id, body FROM mail ORDER BY id", &[]).await? {
        links.extend(opened(id, body)?);
    }
    Ok(links)
}

fn opened(id: i64, body: Vec<u8>) -> Result<Vec<Mailed>, ClusterError> {
    let bytes = open_sealed(&body, || format!("letter {id}"))?;
    postcard::from_bytes(&bytes).map_err(|error| ClusterError::Damaged(format!("letter {id}: {error}")))
}

/// Deletes letters whose links were taken in.
pub(super) async fn delete_mail(transaction: &OpenTransaction<'_>, letters: &[i64]) -> Result<(), ClusterError> {
    if letters.is_empty() {
        return Ok(());
    }
    let statement = "DELETE FROM mail WHERE id = ANY($1)";
    transaction.sql().change("delete the mail that was taken in", statement, &[&letters]).await.map(drop)
}

/// Fetches the mail of some slots, each letter once.
pub(super) struct Mailbox {
    session: CrawlSession,
    slots: Vec<i32>,
    /// Letters that were handed on and may not be deleted yet, ascending.
    taken: Vec<i64>,
}

impl Mailbox {
    /// The mailbox of these slots.
    pub fn new(connector: Connector, crawl: CrawlName, own: &OwnSlots) -> Self {
        let slots = own.slots().map(|slot| i32::from(slot.0)).collect();
        Self { session: CrawlSession::new(connector, crawl, PATIENCE), slots, taken: Vec::new() }
    }

    /// Hands on all mail until nobody takes it any more.
    ///
    /// # Errors
    /// Those that do not pass.
    pub async fn hand_on(mut self, to: mpsc::Sender<Vec<Letter>>) -> Result<(), ClusterError> {
        while !to.is_closed() {
            match self.look().await {
                Ok(letters) if letters.is_empty() => tokio::time::sleep(PAUSE).await,
                Ok(letters) => drop(to.send(letters).await),
                // However long it takes: the generation ends when its run does.
                Err(error) if error.is_passing() => tracing::warn!("mail waits: {error}"),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn look(&mut self) -> Result<Vec<Letter>, ClusterError> {
        let letters = fetch(self.session.open().await?, &self.slots, &mut self.taken).await;
        self.session.after(letters)
    }
}

/// Fetches letters to these slots that were not `taken` before, and forgets those that are deleted by now.
async fn fetch(session: &Session, slots: &[i32], taken: &mut Vec<i64>) -> Result<Vec<Letter>, ClusterError> {
    let doing = "fetch mail";
    // Numbers are given before the commit, so a letter with a smaller number may turn up later.
    let statement = "SELECT id, body FROM mail WHERE slot = ANY($1) AND id <> ALL($2) ORDER BY id LIMIT $3";
    let mut letters = Vec::new();
    for (id, body) in session.client().rows(doing, statement, &[&slots, &*taken, &AT_ONCE]).await? {
        letters.push(Letter { id, mail: opened(id, body)? });
    }
    if !taken.is_empty() {
        let left = "SELECT id FROM mail WHERE id = ANY($1) ORDER BY id";
        let left = session.client().rows(doing, left, &[&*taken]).await?;
        *taken = left.into_iter().map(|(id,)| id).collect();
    }
    taken.extend(letters.iter().map(|letter| letter.id));
    Ok(letters)
}
