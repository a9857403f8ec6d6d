//! Robots directives of a page.

use serde_json::{Value, json};

use super::question::{Question, Refusal};
use crate::pagetext::{Options, robots_directives};

/// Answers `directives`. `headers` may hold values of `X-Robots-Tag` only; `now` is the time for `unavailable_after`.
pub(super) fn answer(question: &Question) -> Result<Value, Refusal> {
    let headers = question.texts("headers")?;
    let metas = [question.pairs("metas")?, question.pairs("meta")?].concat();
    let agent = question.text("agent")?.map_or_else(|| Options::default().robots_agent, str::to_owned);
    let now = match question.text("now")? {
        Some(text) => text.parse().map_err(|error| Refusal::new(format!("now: {error}")))?,
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
