//! The rules of a robots.txt.

use serde_json::{Value, json};
use url::Url;

use super::query::{Query, QueryError};
use crate::fetch::{Options, Robots, RobotsAnswer};
use crate::model::RobotsRow;

/// The default origin of robots.txt.
const ORIGIN: &str = "http://a.test";

/// Answers `allowed`, `crawl_delay_s` and `sitemaps`, by the rules alone. A crawl may always fetch robots.txt itself.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let body = query.bytes("robots")?.unwrap_or_default();
    let options = match query.text("agent")? {
        Some(agent) => Options { robots_agent: agent.to_owned(), ..Options::default() },
        None => Options::default(),
    };
    let status = query.number("status")?.map_or(Ok(200), u16::try_from);
    let status = status.map_err(|_| QueryError::new("status: not an HTTP status"))?;
    let url = query.text("url")?;
    let origin = url.and_then(|text| Url::parse(text).ok()).filter(Url::has_host).map(|url| url.origin());
    let origin = origin.map_or_else(|| ORIGIN.to_owned(), |origin| origin.ascii_serialization());
    let robots = Robots::new(&origin, RobotsRow { fetched_at: 0, status, body }, &options);
    Ok(json!({
        "allowed": url.map(|url| robots.allows_text(url) == RobotsAnswer::Allowed),
        "crawl_delay_s": robots.crawl_delay().map(|delay| delay.as_secs_f64()),
        "sitemaps": robots.sitemaps().iter().map(Url::as_str).collect::<Vec<_>>(),
    }))
}
