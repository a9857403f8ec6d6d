//! The function `extract`: text, links and metadata of a page.

use std::sync::OnceLock;

use pagetext::{Normalizer, PageReader, PageSource, WantedText};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::key::type_name;

/// What stands on a page.
#[pyclass(frozen, get_all, module = "ndcrawl")]
pub(crate) struct Page {
    /// The page's URL in its canonical spelling.
    url: String,
    /// The main text: without navigation, advertisements and the like. Empty if it is no text.
    ///
    /// A block is a line, a list item begins with a dash, and the cells of a row are separated by tabs. Lines of code
    /// stay as they are.
    text: String,
    /// All visible text, in the same shape.
    full_text: String,
    /// The main text as Markdown: links are absolute, code is fenced, tables are tables.
    markdown: String,
    title: Option<String>,
    /// The declared language, or else the detected one, as a BCP 47 tag.
    language: Option<String>,
    /// The language of the main text by its letters, whatever is declared; ``None`` below 200 letters.
    detected_language: Option<&'static str>,
    /// How certain the detected language is, from 0 to 1.
    language_confidence: Option<f64>,
    /// The license that the page names: an address or a name.
    license: Option<String>,
    /// The character encoding by its WHATWG name.
    charset: &'static str,
    /// The URL that the page names as its canonical one.
    canonical: Option<String>,
    /// What the page asks of robots: ``noindex``, ``nofollow``, ``noarchive``.
    robots: Vec<&'static str>,
    /// The links, each URL once, absolute and in canonical spelling, in the order of the page.
    links: Vec<Link>,
    /// Who, when, where, why and how: the fields of ``provenance`` in ``pages.jsonl``.
    metadata: std::collections::BTreeMap<String, String>,
}

/// A link of a page.
#[pyclass(frozen, eq, get_all, module = "ndcrawl")]
#[derive(Clone, PartialEq)]
pub(crate) struct Link {
    url: String,
    nofollow: bool,
}

/// Bytes as they are, or a text as UTF-8.
enum Html {
    Bytes(Vec<u8>),
    Text(String),
}

impl<'py> FromPyObject<'_, 'py> for Html {
    type Error = PyErr;

    fn extract(html: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = html.cast::<PyBytes>() {
            return Ok(Html::Bytes(bytes.as_bytes().to_vec()));
        }
        if html.is_instance_of::<pyo3::types::PyString>() {
            return Ok(Html::Text(html.extract()?));
        }
        Err(PyTypeError::new_err(format!("a page is bytes or a str, not {}", type_name(&html))))
    }
}

/// Reads a page: its main text, title, links and metadata.
///
/// A bad page is never an error: what cannot be read is left out.
///
/// Args:
///     html: The page's bytes, or its text if it is decoded already.
///     url: The page's URL, to resolve its links. Without, ``http://localhost/``.
///     content_type: The value of its ``Content-Type`` header, which says what it is and how it is encoded.
///
/// Raises:
///     ValueError: If the URL is not one of the web.
#[pyfunction]
#[pyo3(signature = (html, url=None, *, content_type=None))]
#[expect(private_interfaces, reason = "the macro makes an item that is as public as the module")]
pub(crate) fn extract(py: Python<'_>, html: Html, url: Option<&str>, content_type: Option<&str>) -> PyResult<Page> {
    py.detach(|| read(&html, url.unwrap_or("http://localhost/"), content_type))
}

fn read(html: &Html, url: &str, content_type: Option<&str>) -> PyResult<Page> {
    static READER: OnceLock<PageReader> = OnceLock::new();
    let reader = READER.get_or_init(PageReader::default);
    let shown = url;
    let url = Normalizer::default().absolute(url);
    let url = url.map_err(|error| PyValueError::new_err(format!("url '{shown}': {error}")))?;
    let (body, content_type) = match html {
        Html::Bytes(bytes) => (bytes.as_slice(), content_type.map(str::to_owned)),
        // It is decoded already, whatever the page says of its encoding.
        Html::Text(text) => (text.as_bytes(), Some(format!("{}; charset=utf-8", essence(content_type)))),
    };
    let headers: Vec<_> =
        content_type.into_iter().map(|value| ("content-type".to_owned(), value.into_bytes())).collect();
    let page = PageSource::new(&url, body).with_headers(&headers);
    let content = reader.render(page);
    let text = reader.text(page, WantedText { main: true, full: true, markdown: true }).unwrap_or_default();
    let links = content.links.into_iter().map(|link| Link { url: link.url.to_string(), nofollow: link.nofollow });
    let metadata = serde_json::to_value(&content.provenance).ok().and_then(|value| serde_json::from_value(value).ok());
    Ok(Page {
        url: url.to_string(),
        text: text.main.unwrap_or_default(),
        full_text: text.full.unwrap_or_default(),
        markdown: text.markdown.unwrap_or_default(),
        title: content.title,
        language: content.language,
        detected_language: text.language.map(|language| language.code),
        language_confidence: text.language.map(|language| language.confidence),
        license: text.license,
        charset: content.charset,
        canonical: content.canonical,
        robots: content.robots.names(),
        links: links.collect(),
        metadata: metadata.unwrap_or_default(),
    })
}

/// Returns a media type without its parameters.
fn essence(content_type: Option<&str>) -> &str {
    content_type.and_then(|value| value.split(';').next()).unwrap_or("text/html").trim()
}

#[pymethods]
impl Page {
    fn __repr__(&self) -> String {
        let (text, links) = (self.text.chars().count(), self.links.len());
        format!("Page(url={:?}, title={:?}, text of {text} characters, {links} links)", self.url, self.title)
    }
}

#[pymethods]
impl Link {
    fn __repr__(&self) -> String {
        format!("Link(url={:?}, nofollow={})", self.url, if self.nofollow { "True" } else { "False" })
    }
}
