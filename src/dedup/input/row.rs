//! From a row of a table, or a line of JSON, to a page.

use crate::model::Fetched;

use super::Options;

/// The cells of a row that make up a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InputRow<'a> {
    pub(super) url: Option<&'a str>,
    pub(super) html: Option<&'a str>,
    pub(super) text: Option<&'a str>,
    /// Milliseconds since 1970.
    pub(super) fetched_at: i64,
}

impl InputRow<'_> {
    /// Returns the page, from its source or else from its text. An error says what is missing.
    pub(super) fn page(self, options: &Options) -> Result<Fetched, String> {
        let Options { url_field, html_field, text_field, .. } = options;
        let [url, html, text] = [self.url, self.html, self.text].map(|cell| cell.filter(|text| !text.is_empty()));
        let url = url.ok_or_else(|| format!("no text in the field '{url_field}', which --url-field names"))?;
        let url = options.normalizer.absolute(url).map_err(|error| format!("'{url}': {error}"))?;
        let (content_type, body) = if let Some(html) = html {
            ("text/html; charset=utf-8", html)
        } else if let Some(text) = text {
            ("text/plain; charset=utf-8", text)
        } else {
            return Err(format!("no text in '{html_field}' (--html-field) or '{text_field}' (--text-field)"));
        };
        let most = options.max_body;
        Ok(Fetched {
            url,
            spelling: None,
            status: 200,
            version: "HTTP/1.1",
            reason: "OK".to_owned(),
            headers: vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())],
            request_headers: Vec::new(),
            truncated: body.len() > most,
            body: body.as_bytes()[..body.len().min(most)].to_vec(),
            address: None,
            started_at: self.fetched_at,
            elapsed: std::time::Duration::ZERO,
        })
    }
}
