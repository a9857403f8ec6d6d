//! Statements whose answers are watched for.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, GenericClient, Row, SimpleQueryMessage, ToStatement};

/// A client or a transaction.
#[derive(Debug)]
pub struct Watched<C> {
    inner: C,
    in_flight: InFlight,
}

impl<C> Watched<C> {
    pub(super) fn new(inner: C, in_flight: InFlight) -> Self {
        Self { inner, in_flight }
    }

    /// What is within. Watch for its answers.
    pub(super) fn inner(&mut self) -> &mut C {
        &mut self.inner
    }

    pub(super) fn into_parts(self) -> (C, InFlight) {
        (self.inner, self.in_flight)
    }
}

/// What is asked of a client or a transaction, by the names of the library.
impl<C: GenericClient + Sync> Watched<C> {
    /// Executes a statement. Returns its rows.
    pub async fn query<T>(&self, statement: &T, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error>
    where
        T: ?Sized + ToStatement + Sync + Send,
    {
        self.in_flight.during(self.inner.query(statement, parameters)).await
    }

    /// Executes a statement that returns one row.
    pub async fn query_one<T>(&self, statement: &T, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, Error>
    where
        T: ?Sized + ToStatement + Sync + Send,
    {
        self.in_flight.during(self.inner.query_one(statement, parameters)).await
    }

    /// Executes a statement that returns one row or none.
    pub async fn query_opt<T>(&self, statement: &T, parameters: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>, Error>
    where
        T: ?Sized + ToStatement + Sync + Send,
    {
        self.in_flight.during(self.inner.query_opt(statement, parameters)).await
    }

    /// Executes a statement. Returns how many rows it has changed.
    pub async fn execute<T>(&self, statement: &T, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, Error>
    where
        T: ?Sized + ToStatement + Sync + Send,
    {
        self.in_flight.during(self.inner.execute(statement, parameters)).await
    }

    /// Executes statements without parameters.
    pub async fn batch_execute(&self, statements: &str) -> Result<(), Error> {
        self.in_flight.during(self.inner.batch_execute(statements)).await
    }
}

impl Watched<Client> {
    /// Executes statements without preparing them.
    pub async fn simple_query(&self, statements: &str) -> Result<Vec<SimpleQueryMessage>, Error> {
        self.in_flight.during(self.inner.simple_query(statements)).await
    }
}

/// The statements of a session that have no answer yet.
#[derive(Clone, Debug)]
pub(super) struct InFlight(Arc<Mutex<Statements>>);

#[derive(Debug)]
struct Statements {
    waiting: u32,
    /// Statements so far, those that have ended counted twice.
    moves: u64,
    /// When the last one began or ended.
    moved: Instant,
}

impl InFlight {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Statements { waiting: 0, moves: 0, moved: Instant::now() })))
    }

    /// Watches for the answer that this waits for.
    pub async fn during<T>(&self, answer: impl Future<Output = T>) -> T {
        self.change(1);
        let _ends = Ends(self);
        answer.await
    }

    fn change(&self, by: i32) {
        let mut statements = self.lock();
        statements.waiting = statements.waiting.saturating_add_signed(by);
        statements.moves += 1;
        statements.moved = Instant::now();
    }

    /// Returns since when an answer is waited for, and what changes when it comes.
    pub fn waiting(&self) -> Option<(Instant, u64)> {
        let statements = self.lock();
        (statements.waiting > 0).then_some((statements.moved, statements.moves))
    }

    fn lock(&self) -> MutexGuard<'_, Statements> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a statement as ended, also if nobody waits for its answer any more.
struct Ends<'a>(&'a InFlight);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.change(-1);
    }
}
