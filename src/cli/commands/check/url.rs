//! The canonical form of a URL.

use serde_json::{Value, json};
use url::Url;

use super::query::{Query, QueryError};
use crate::model::{Normalizer, UrlError, read_reference};

/// Answers `url`: the input parsed by the URL standard, or normalized as a crawl does.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let input = query.required("input")?;
    let base = query.text("base")?.map(Url::parse).transpose();
    let base = base.map_err(|error| QueryError::new(format!("base: {error}")))?;
    let url = if query.flag("normalise") {
        let normalizer = Normalizer::default();
        let url = match &base {
            Some(base) => normalizer.resolve(base, input),
            None => normalizer.absolute(input),
        };
        url.map(|url| url.to_string())
    } else {
        read_reference(base.as_ref(), input).map(String::from).map_err(UrlError::from)
    };
    url.map(|url| json!({ "url": url })).map_err(|error| QueryError::new(error.to_string()))
}
