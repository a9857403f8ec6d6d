//! Text, links and metadata of a page.

use serde_json::{Value, json};

use super::query::{Query, QueryError};
use super::{canonical, texts};
use crate::model::{Fetched, Header, Normalizer};
use crate::pagetext::{Options, PageReader};

/// The default URL of the page.
const PAGE_URL: &str = "http://page.invalid/";

/// Answers links and everything else that was read. On a page marked `nofollow` all links are `nofollow`.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let page = page(query)?;
    let robots_agent = query.text("agent")?.map_or_else(|| Options::default().robots_agent, str::to_owned);
    let renderer = PageReader::new(Options { robots_agent, ..Options::default() }, Normalizer::default());
    let rendered = renderer.render(&page);
    let reading = renderer.reading(&page);
    let (nofollow, links): (Vec<_>, Vec<_>) =
        rendered.links.iter().partition(|link| link.nofollow || rendered.robots.nofollow);
    let refresh = reading.as_ref().and_then(|reading| reading.refresh.as_ref());
    Ok(json!({
        "links": texts(links.iter().map(|link| &link.url)),
        "nofollow": texts(nofollow.iter().map(|link| &link.url)),
        "base": reading.as_ref().map_or(page.url.as_str(), |reading| reading.base.as_str()),
        "refresh": refresh.map(|refresh| json!([refresh.seconds, refresh.to.url.as_str()])),
        "robots": rendered.robots.names(),
        "canonical": rendered.canonical,
        "encoding": rendered.charset,
        "encoding_declared": rendered.charset_declared,
        "title": rendered.title,
        "heading": rendered.heading,
        "language": rendered.language,
        "text": reading.map(|reading| reading.text),
    }))
}

fn page(query: &Query) -> Result<Fetched, QueryError> {
    let body = match query.bytes("data")? {
        Some(bytes) => bytes,
        None => query.bytes("html")?.unwrap_or_default(),
    };
    let url = query.text("page_url")?.filter(|url| !url.is_empty()).unwrap_or(PAGE_URL);
    let mut headers: Vec<Header> = query
        .pairs("headers")?
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.into_bytes()))
        .collect();
    let names_type = headers.iter().any(|(name, _)| name == "content-type");
    // Non-ASCII text in JSON is decoded already: what it declares must not decode it again.
    let is_decoded = query.text("html")?.is_some_and(|html| !html.is_ascii());
    match query.text("content_type")? {
        Some(value) => headers.insert(0, ("content-type".to_owned(), value.as_bytes().to_vec())),
        None if is_decoded && !names_type => {
            headers.push(("content-type".to_owned(), b"text/html; charset=utf-8".to_vec()));
        }
        None => {}
    }
    let started_at = Some(jiff::Timestamp::now().as_millisecond());
    Ok(Fetched { headers, started_at, ..Fetched::of_file(canonical(url)?, "", body) })
}
