//! Notices that a connection is lost which nobody has closed.
//!
//! A connection can lose what is sent over it without being closed: something between both ends forgets it, or goes on to
//! confirm what it throws away. The system notices silence on the wire (`tcp_user_timeout`), and nothing of the second
//! kind. A limit of time would not do, since a commit waits for the standby for as long as that is away, and each wait
//! that is given up would leave another process of the server behind. So a session that waits for long asks over a
//! second one whether the server is still at work on its statement.

use std::time::{Duration, Instant};

use tokio_postgres::types::ToSql;

use super::greeting::Greeter;
use super::session::ServerProcess;
use super::watched::InFlight;

/// How long an answer is waited for before the server is asked.
const FIRST_LOOK: Duration = Duration::from_secs(4);
/// Pauses between looks grow up to this, while the server is at work.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Between two looks that must both find the server idle: an answer may be on its way.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// After so many looks at which the server was waiting to send, nobody receives.
const MOST_STUCK: u32 = 6;
/// Looks that find the server idle until the connection counts as lost.
const MOST_IDLE: u32 = 2;

/// What a process of the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It works on a statement, or waits for something but the session.
    Work,
    /// It waits until the session has received what it sends.
    Sending,
    /// It waits for the session, or is not there any more.
    Nothing,
}

/// Ends when the server is not at work on what it was asked, and no answer comes.
pub(super) async fn until_lost(greeter: &Greeter, process: &ServerProcess, in_flight: &InFlight) {
    loop {
        match in_flight.waiting() {
            Some((since, moves)) if since.elapsed() >= FIRST_LOOK => {
                if is_lost(greeter, process, || in_flight.waiting().is_some_and(|(_, now)| now == moves)).await {
                    end(greeter, process).await;
                    return;
                }
            }
            Some((since, _)) => tokio::time::sleep(FIRST_LOOK.saturating_sub(since.elapsed())).await,
            None => tokio::time::sleep(SHORT_PAUSE).await,
        }
    }
}

/// Looks again and again while an answer `is_missing`. Returns whether it is lost.
async fn is_lost(greeter: &Greeter, process: &ServerProcess, is_missing: impl Fn() -> bool) -> bool {
    let (mut idle, mut stuck, mut pause) = (0, 0, FIRST_LOOK);
    while is_missing() {
        let looked = Instant::now();
        match doing(greeter, process).await {
            // Without an answer to this question either, nothing is known.
            None => pause = SHORT_PAUSE,
            Some(Doing::Work) => (idle, stuck, pause) = (0, 0, (pause * 2).min(LONGEST_PAUSE)),
            Some(Doing::Sending) => (idle, stuck, pause) = (0, stuck + 1, FIRST_LOOK),
            Some(Doing::Nothing) => (idle, stuck, pause) = (idle + 1, 0, SHORT_PAUSE),
        }
        if idle >= MOST_IDLE || stuck >= MOST_STUCK {
            return is_missing();
        }
        while is_missing() && looked.elapsed() < pause {
            tokio::time::sleep(SHORT_PAUSE / 4).await;
        }
    }
    false
}

/// Asks over another session what a process does. None if no server answers.
async fn doing(greeter: &Greeter, process: &ServerProcess) -> Option<Doing> {
    let session = greeter.greet_each().await.ok()?;
    let statement = "SELECT state = 'active', wait_event = 'ClientWrite' FROM pg_stat_activity \
                     WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2";
    let parameters: [&(dyn ToSql + Sync); 2] = [&process.pid, &process.began];
    let asked = session.client().query_opt(statement, &parameters);
    let found = tokio::time::timeout(FIRST_LOOK, asked).await.ok()?.ok()?;
    Some(match found.map(|row| (row.get::<_, Option<bool>>(0), row.get::<_, Option<bool>>(1))) {
        Some((Some(true), Some(true))) => Doing::Sending,
        Some((Some(true), _)) => Doing::Work,
        _ => Doing::Nothing,
    })
}

/// Ends a process that waits for a session that is lost, so that its locks are free at once.
async fn end(greeter: &Greeter, process: &ServerProcess) {
    let Ok(session) = greeter.greet_each().await else { return };
    let statement = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2 \
                       AND (state <> 'active' OR wait_event = 'ClientWrite')";
    let parameters: [&(dyn ToSql + Sync); 2] = [&process.pid, &process.began];
    let asked = session.client().query(statement, &parameters);
    // If it is not ended now, it ends with the timeout of its transaction.
    let _ = tokio::time::timeout(FIRST_LOOK, asked).await;
}
