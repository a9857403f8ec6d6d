//! What is made of a body.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::model::{Digest, Fetched, Rendered};
use crate::pagetext::Renderer;
use crate::store::payload_digest;

/// A rendered page, the digest of its body, and the same as the archive spells it.
pub(crate) type Read = (Box<Rendered>, Digest, String);

/// Renders a page. A panic in a parser is this page's failure: a renderer holds nothing of a page
/// that it could leave half done.
pub(crate) fn read(renderer: &Renderer, page: &Fetched) -> Result<Read, String> {
    let read = catch_unwind(AssertUnwindSafe(|| {
        (Box::new(renderer.render(page)), Digest::of(&page.body), payload_digest(&page.body))
    }));
    read.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        format!("panic: {}", text.unwrap_or("no message"))
    })
}
