//! The wait of a `Retry-After`.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::query::{Query, QueryError};
use crate::fetch::retry_after;

/// The default of `max`, in seconds.
const LONGEST: u64 = 3600;

/// Answers `seconds`, at most `max`. Null: the value is invalid, and a crawl uses its own back-off.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let now = match query.text("now")? {
        Some(text) => text.parse().map_err(|error| QueryError::new(format!("now: {error}")))?,
        None => Timestamp::now(),
    };
    let longest = Duration::from_secs(query.number("max")?.unwrap_or(LONGEST));
    let wait = retry_after(query.required("value")?, now.into(), longest);
    // A date has whole seconds; a started second is waited in full.
    Ok(json!({ "seconds": wait.map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0)) }))
}
