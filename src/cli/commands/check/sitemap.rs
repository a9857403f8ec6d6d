//! The URLs of a sitemap.

use serde_json::{Value, json};

use super::query::{Query, QueryError};
use super::{canonical, texts};
use crate::model::Normalizer;
use crate::pagetext::{SitemapLimits, parse_sitemap};

/// The default URL of the sitemap.
const URL: &str = "http://h.test/sitemap.xml";

/// Answers `pages` and `sitemaps` on the host of the sitemap, without the sitemap itself.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let url = canonical(query.text("url")?.unwrap_or(URL))?;
    let body = query.bytes("body")?.unwrap_or_default();
    let sitemap = parse_sitemap(&body, &SitemapLimits::default());
    let normalizer = Normalizer::default();
    let of_host = |named: &[String]| normalizer.on_host(&url, named.iter().map(String::as_str));
    let (pages, sitemaps) = (of_host(&sitemap.pages), of_host(&sitemap.sitemaps));
    Ok(json!({
        "pages": texts(&pages),
        "sitemaps": texts(sitemaps.iter().filter(|other| **other != url)),
    }))
}
