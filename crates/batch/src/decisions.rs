//! What was decided on the arrivals of the inputs that this process works on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use ndcrawl_cluster::{DecidedArrival, DecisionObserver, RunId};
use neardup::detect::TurnAnswer;

/// The decisions by stream. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct StreamDecisions(Arc<Mutex<HashMap<RunId, Stream>>>);

struct Stream {
    answers: Vec<Option<TurnAnswer>>,
    decided: watch::Sender<i64>,
}

impl StreamDecisions {
    /// Returns what tells decisions to this.
    pub fn observer(&self) -> DecisionObserver {
        let own = self.clone();
        Arc::new(move |decided| own.enter(decided))
    }

    /// Begins to keep decisions on a stream. Returns how many there are, as they grow.
    pub fn begin(&self, stream: RunId) -> watch::Receiver<i64> {
        let (decided, receiver) = watch::channel(0);
        self.streams().insert(stream, Stream { answers: Vec::new(), decided });
        receiver
    }

    /// Returns the decisions on a stream, and forgets it.
    pub fn take(&self, stream: RunId) -> Vec<TurnAnswer> {
        let taken = self.streams().remove(&stream);
        taken.map_or(Vec::new(), |stream| stream.answers.into_iter().flatten().collect())
    }

    /// Enters decisions, on streams that are kept. The same ones may come again.
    pub fn enter(&self, decided: &[DecidedArrival]) {
        let mut streams = self.streams();
        for (run, arrival, answer) in decided {
            let Some(stream) = streams.get_mut(run) else { continue };
            let Ok(at) = usize::try_from(*arrival) else { continue };
            if stream.answers.len() <= at {
                stream.answers.resize(at + 1, None);
            }
            // Streams of inputs have no withdrawals.
            let Some(answer) = answer else { continue };
            if stream.answers[at].replace(*answer).is_none() {
                stream.decided.send_modify(|decided| *decided += 1);
            }
        }
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<RunId, Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
