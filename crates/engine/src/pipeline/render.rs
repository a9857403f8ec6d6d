//! From a body to the terms, links and digests of a page.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ndcrawl_model::{Digest, Fetched, PageContent, PageId, PageInput, PageKind, Sequence, TextError, digest_of_part};
use ndcrawl_store::payload_digest;

use super::content_reader::{ContentReader, ReadContent};
use super::group_of;

/// A rendered page with the digests of its body.
pub struct RenderedPage {
    /// A page with a truncated body has no text digest: the rest of its text is unknown.
    pub rendered: Box<PageContent>,
    /// The digest of the body that is compared.
    pub body_digest: Digest,
    /// The pages with which it shares statistics of words: those of its host.
    pub group: u32,
    /// The digest as the archive and `pages.jsonl` spell it.
    pub payload_digest: String,
    /// Text that was read from a document, line by line.
    pub document_text: Option<String>,
    /// Why a document has no text, or a part of it only.
    pub text_error: Option<TextError>,
}

/// Renders a page. A panic in a parser becomes this page's failure: a renderer keeps no state of a page that a
/// panic could leave half done.
pub fn render_page(reader: &ContentReader, page: &Fetched) -> Result<RenderedPage, String> {
    let rendered = catch_unwind(AssertUnwindSafe(|| {
        let ReadContent { mut rendered, document_text, text_error } = reader.read(page);
        if page.truncated {
            rendered.text_digest = None;
        }
        if page.broken_off.is_some() {
            rendered.kind = PageKind::Part;
        }
        let (body_digest, payload_digest) = (Digest::of(&page.body), payload_digest(&page.body));
        let group = group_of(page.url.host());
        RenderedPage { rendered, body_digest, group, payload_digest, document_text, text_error }
    }));
    rendered.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        format!("panic: {}", text.unwrap_or("no message"))
    })
}

/// Makes a page of the user's own row or file: it has no word for robots, and its text is the same whatever its line ends,
/// marks and form of Unicode are, at any length.
pub fn as_own_document(read: &mut RenderedPage, is_plain: bool) {
    read.rendered.robots = ndcrawl_model::RobotsDirectives::default();
    if let (Some(text), true) = (read.rendered.text_digest, is_plain) {
        read.body_digest = text;
    }
}

/// Returns the digest by which the body of a page is compared with others. A truncated one equals none.
pub fn compared_digest(page: PageId, fetched: &Fetched, body_digest: Digest) -> Digest {
    if fetched.truncated { digest_of_part(body_digest, page) } else { body_digest }
}

/// Returns a page for the decider. Takes the page's terms. `renews` is the page that it revises, if any.
pub fn page_input(
    page: PageId,
    fetched: &Fetched,
    rendered: &mut PageContent,
    (body_digest, group): (Digest, u32),
    renews: Option<Sequence>,
) -> PageInput {
    PageInput {
        page,
        group,
        body_digest: compared_digest(page, fetched, body_digest),
        text_digest: rendered.text_digest,
        terms: std::mem::take(&mut rendered.terms),
        order: std::mem::take(&mut rendered.order),
        renews,
        rank: rendered.kind.rank(),
    }
}
