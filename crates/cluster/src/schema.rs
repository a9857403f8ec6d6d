//! The tables of a crawl, and how a crawl is made, joined, stopped, resumed and dropped.

use std::num::NonZeroU16;

use serde_json::Value;
use tokio_postgres::types::ToSql;

use super::connection::Session;
use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::refusal::Refusal;
use ndcrawl_model::SlotMap;

/// The format of the tables.
pub const FORMAT: i32 = 11;

/// The tables. What is only under way is not logged: it is gone after a crash.
const TABLES: &str = "
CREATE TABLE crawl (
    one bool PRIMARY KEY DEFAULT true CHECK (one),
    format int NOT NULL, name text NOT NULL, settings jsonb NOT NULL, rendering text NOT NULL,
    slots int NOT NULL, turn_pages int NOT NULL, one_copy bool NOT NULL,
    turn bigint NOT NULL DEFAULT 0, pages bigint NOT NULL DEFAULT 0, taken jsonb NOT NULL DEFAULT '{}',
    granted bigint NOT NULL DEFAULT 0, looked bigint NOT NULL DEFAULT 0, round int NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'running');
CREATE TABLE run (
    id serial PRIMARY KEY, name text NOT NULL, version text NOT NULL, until timestamptz NOT NULL,
    archive text NOT NULL, applied bigint NOT NULL DEFAULT 0, granted bigint NOT NULL DEFAULT 0,
    used bigint NOT NULL DEFAULT 0, stats jsonb);
CREATE TABLE slot (
    slot int PRIMARY KEY, owner int REFERENCES run, fence bigint NOT NULL DEFAULT 0,
    commits bigint NOT NULL DEFAULT 0, is_idle bool NOT NULL DEFAULT false, round int NOT NULL DEFAULT 0,
    pages bigint NOT NULL DEFAULT 0, revising bigint NOT NULL DEFAULT 0,
    freed timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE arrival (
    run int, first bigint, n int NOT NULL,
    sent timestamptz NOT NULL DEFAULT clock_timestamp(), body bytea NOT NULL, PRIMARY KEY (run, first));
ALTER TABLE arrival ALTER body SET STORAGE EXTERNAL;
CREATE TABLE turn (
    number bigint PRIMARY KEY, first_page bigint NOT NULL, n int NOT NULL, attempt bigint NOT NULL,
    decided timestamptz NOT NULL DEFAULT clock_timestamp(), body bytea NOT NULL);
CREATE INDEX ON turn (first_page, number);
ALTER TABLE turn ALTER body SET STORAGE EXTERNAL;
CREATE SEQUENCE slot_log_seq;
CREATE TABLE slot_log (
    slot int, seq bigint, transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), run int NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (slot, seq));
CREATE INDEX ON slot_log (seq, slot);
ALTER TABLE slot_log ALTER body SET STORAGE EXTERNAL;
CREATE TABLE mail (id bigserial PRIMARY KEY, slot int NOT NULL, body bytea NOT NULL);
CREATE INDEX ON mail (slot, id);
CREATE TABLE file (
    run int, folder text, serial bigint, name text NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (run, folder, serial));
CREATE TABLE input (
    number int PRIMARY KEY, manifest int NOT NULL, name text UNIQUE, file int, look int, owner int,
    fence bigint NOT NULL DEFAULT 0, first_turn bigint NOT NULL DEFAULT 0, records bigint,
    is_done bool NOT NULL DEFAULT false, is_spooled bool NOT NULL DEFAULT false, report jsonb);
CREATE TABLE manifest (number int PRIMARY KEY, flags jsonb NOT NULL);
CREATE TABLE host (
    origin text PRIMARY KEY, slot int NOT NULL, requests bigint NOT NULL DEFAULT 0, outcomes jsonb, known bytea,
    until timestamptz, rest text);
CREATE INDEX ON host (slot);
ALTER TABLE host ALTER known SET STORAGE EXTERNAL;
CREATE UNLOGGED TABLE address (ip inet PRIMARY KEY, next timestamptz NOT NULL, gap interval NOT NULL);
";

/// What is fixed when a crawl is made.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlPlan {
    /// Its name.
    pub name: CrawlName,
    /// The settings that its verdicts and its frontier depend on.
    pub settings: Value,
    /// How pages become terms.
    pub rendering: String,
    /// The division of the URLs.
    pub slots: NonZeroU16,
    /// The most pages of a turn.
    pub turn_pages: i32,
    /// Whether the crawl may lie on one server alone.
    pub one_copy: bool,
}

/// Whether a crawl goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlState {
    /// It does.
    Running,
    /// It was stopped: workers end when they see it.
    Stopped,
    /// It is complete.
    Finished,
    /// A folder is moved into it; nobody works on it yet.
    Moving,
}

impl CrawlState {
    pub(super) fn parse(text: &str) -> Result<Self, ClusterError> {
        match text {
            "running" => Ok(Self::Running),
            "stopped" => Ok(Self::Stopped),
            "finished" => Ok(Self::Finished),
            "moving" => Ok(Self::Moving),
            other => Err(ClusterError::Damaged(format!("a crawl has the state '{other}'"))),
        }
    }
}

/// A crawl as the database has it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRow {
    /// What was fixed when it was made.
    pub plan: CrawlPlan,
    /// Whether it goes on.
    pub state: CrawlState,
    /// Turns so far.
    pub turn: i64,
    /// Judged pages so far.
    pub pages: i64,
}

impl CrawlRow {
    /// Returns the division of the URLs.
    pub fn slot_map(&self) -> SlotMap {
        SlotMap::new(self.plan.slots)
    }
}

/// Makes a crawl, or joins the one that has been made by the same plan. Has the session use it.
///
/// # Errors
/// [`Refusal::OtherCrawl`] if there is a crawl of that name by another plan.
pub async fn init(session: &mut Session, plan: &CrawlPlan) -> Result<CrawlRow, ClusterError> {
    let doing = "make the tables of the crawl";
    let transaction = session.begin().await?;
    // Two workers that make one crawl at once: the second one waits, and joins.
    let lock = "SELECT pg_advisory_xact_lock(hashtext('ndcrawl'), hashtext($1))";
    transaction.sql().change(doing, lock, &[&plan.name.text()]).await?;
    let schema = plan.name.schema();
    let is_there = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
    let (is_there,): (bool,) = transaction.sql().row(doing, is_there, &[&schema]).await?;
    if !is_there {
        let made = format!("CREATE SCHEMA {schema}; SET LOCAL search_path = {schema}; {TABLES}");
        transaction.sql().batch_execute(&made).await.map_err(ClusterError::query(doing))?;
        let CrawlPlan { settings, rendering, slots, turn_pages, one_copy, .. } = plan;
        let (settings, slots) = (settings.to_string(), i32::from(slots.get()));
        let statement = "INSERT INTO crawl (format, name, settings, rendering, slots, turn_pages, one_copy) \
                         VALUES ($1, $2, $3::text::jsonb, $4, $5, $6, $7)";
        let parameters: [&(dyn ToSql + Sync); 7] =
            [&FORMAT, &plan.name.text(), &settings, rendering, &slots, turn_pages, one_copy];
        transaction.sql().change(doing, statement, &parameters).await?;
        let rows = "INSERT INTO slot (slot) SELECT generate_series(0, $1::int - 1)";
        transaction.sql().change(doing, rows, &[&slots]).await?;
    }
    transaction.commit().await?;
    let crawl = open(session, &plan.name).await?;
    match difference(&crawl.plan, plan) {
        None => Ok(crawl),
        Some(difference) => Err(Refusal::OtherCrawl { name: plan.name.to_string(), difference }.into()),
    }
}

fn difference(there: &CrawlPlan, wanted: &CrawlPlan) -> Option<&'static str> {
    let differences = [
        ("rendering", there.rendering != wanted.rendering),
        ("number of slots", there.slots != wanted.slots),
        ("size of turns", there.turn_pages != wanted.turn_pages),
        ("number of copies", there.one_copy != wanted.one_copy),
        ("configuration", there.settings != wanted.settings),
    ];
    differences.into_iter().find_map(|(name, differs)| differs.then_some(name))
}

/// Opens a crawl. Has the session use it.
pub async fn open(session: &Session, name: &CrawlName) -> Result<CrawlRow, ClusterError> {
    let doing = "open the crawl";
    session.use_crawl(name).await?;
    let is_there = "SELECT to_regclass($1) IS NOT NULL";
    let table = format!("{}.crawl", name.schema());
    let (is_there,): (bool,) = session.client().row(doing, is_there, &[&table]).await?;
    if !is_there {
        return Err(Refusal::NoCrawl(name.to_string()).into());
    }
    // A newer format may have other columns.
    let (found,) = session.client().row(doing, "SELECT format FROM crawl", &[]).await?;
    if found != FORMAT {
        return Err(Refusal::Format { name: name.to_string(), found, ours: FORMAT }.into());
    }
    let columns = "SELECT settings::text, rendering, slots, turn_pages, one_copy, state, turn, pages FROM crawl";
    let row: (String, String, i32, i32, bool, String, i64, i64) = session.client().row(doing, columns, &[]).await?;
    let (settings, rendering, slots, turn_pages, one_copy, state, turn, pages) = row;
    let damaged = |what: &str| ClusterError::Damaged(format!("the crawl '{name}' has {what}"));
    let slots = u16::try_from(slots).ok().and_then(NonZeroU16::new);
    Ok(CrawlRow {
        plan: CrawlPlan {
            name: name.clone(),
            settings: serde_json::from_str(&settings).map_err(|_| damaged("settings that are no JSON"))?,
            rendering,
            slots: slots.ok_or_else(|| damaged("an impossible number of slots"))?,
            turn_pages,
            one_copy,
        },
        state: CrawlState::parse(&state)?,
        turn,
        pages,
    })
}

/// Stops a crawl if it runs: its workers end when they renew their leases. Returns the state before.
pub async fn stop(session: &mut Session, name: &CrawlName) -> Result<CrawlState, ClusterError> {
    open(session, name).await?;
    change_state(session, "UPDATE crawl SET state = 'stopped' WHERE state = 'running'").await
}

/// Has the crawl that the session uses go on if it was stopped. Returns the state before.
pub async fn resume(session: &mut Session) -> Result<CrawlState, ClusterError> {
    change_state(session, "UPDATE crawl SET state = 'running' WHERE state = 'stopped'").await
}

async fn change_state(session: &mut Session, statement: &str) -> Result<CrawlState, ClusterError> {
    let doing = "change the state of the crawl";
    let transaction = session.begin().await?;
    let (before,): (String,) = transaction.sql().row(doing, "SELECT state FROM crawl FOR UPDATE", &[]).await?;
    transaction.sql().change(doing, statement, &[]).await?;
    transaction.commit().await?;
    CrawlState::parse(&before)
}

/// Drops a crawl with all its tables.
///
/// # Errors
/// [`Refusal::AtWork`] if a run is alive.
pub async fn drop_crawl(session: &mut Session, name: &CrawlName) -> Result<(), ClusterError> {
    let doing = "drop the crawl";
    open(session, name).await?;
    let transaction = session.begin().await?;
    // No run begins between the look and the end.
    transaction.sql().change(doing, "LOCK TABLE run IN EXCLUSIVE MODE", &[]).await?;
    let alive = "SELECT count(*) FROM run WHERE until > clock_timestamp()";
    let (runs,) = transaction.sql().row(doing, alive, &[]).await?;
    if runs > 0 {
        return Err(Refusal::AtWork { name: name.to_string(), runs }.into());
    }
    let statement = format!("DROP SCHEMA {} CASCADE", name.schema());
    transaction.sql().change(doing, &statement, &[]).await?;
    transaction.commit().await
}
