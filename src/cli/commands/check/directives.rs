//! Robots directives of a page.

use serde_json::{Value, json};

use super::query::{Query, QueryError};
use crate::pagetext::{Options, robots_directives};

/// Answers `directives`. `headers` may hold values of `X-Robots-Tag` only; `now` is the time for `unavailable_after`.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let headers = query.texts("headers")?;
    let metas = [query.pairs("metas")?, query.pairs("meta")?].concat();
    let agent = query.text("agent")?.map_or_else(|| Options::default().robots_agent, str::to_owned);
    let now = match query.text("now")? {
        Some(text) => text.parse().map_err(|error| QueryError::new(format!("now: {error}")))?,
        None => jiff::Timestamp::now(),
    };
    let headers = headers.into_iter().map(value_of_line);
    let metas = metas.iter().map(|(name, content)| (name.as_str(), content.as_str()));
    let directives = robots_directives(headers, metas, &agent, now.as_millisecond());
    Ok(json!({ "directives": directives.names() }))
}

fn value_of_line(line: &str) -> &str {
    match line.split_once(':') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("x-robots-tag") => value,
        _ => line,
    }
}
