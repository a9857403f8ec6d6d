//! Reads PDF by the crate `hayro-interpret`: it follows the drawing instructions, and we take the glyphs.

mod composition;
mod glyphs;
mod html;
mod lines;
mod metadata;
mod text_string;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, RenderContent, interpret_page};

use ndcrawl_model::TextError;

use super::HEADER_WITHIN;
use super::exchange::{Answer, DocumentText};
use glyphs::GlyphReader;
use html::HtmlWriter;
use metadata::Metadata;

/// Reads a PDF. Keeps at most `most` bytes of its text.
pub(super) fn read(body: Vec<u8>, most: usize) -> Answer {
    let head = &body[..body.len().min(HEADER_WITHIN)];
    if memchr::memmem::find(head, b"%PDF-").is_none() {
        return Err((TextError::NotPdf, format!("no '%PDF-' in the first {HEADER_WITHIN} bytes")));
    }
    let pdf = Pdf::new(body).map_err(unreadable)?;
    if pdf.pages().is_empty() {
        return Err((TextError::Damaged, "it has no pages".to_owned()));
    }
    let mut html = HtmlWriter::new(&Metadata::of(&pdf), most);
    let cache = InterpreterCache::new();
    for page in pdf.pages().iter() {
        // Annotations and forms are not the text of a page.
        let settings = InterpreterSettings { render_content: RenderContent::PAGE, ..InterpreterSettings::default() };
        // Nothing is drawn, so no part of the page is left out.
        let area = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(Affine::IDENTITY, area, &cache, pdf.xref(), settings);
        let mut glyphs = GlyphReader::new(&mut html);
        interpret_page(page, &mut context, &mut glyphs);
        glyphs.finish();
        if html.is_full() {
            break;
        }
    }
    if html.is_mostly_unknown() {
        return Err((TextError::Empty, "its fonts do not tell the characters of most glyphs".to_owned()));
    }
    match html.finish() {
        Some((html, is_cut)) => Ok(DocumentText { html, is_cut }),
        None => Err((TextError::Empty, format!("its {} pages hold no text", pdf.pages().len()))),
    }
}

fn unreadable(error: LoadPdfError) -> (TextError, String) {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            (TextError::Encrypted, "it needs a password".to_owned())
        }
        LoadPdfError::Decryption(other) => (TextError::Encrypted, format!("it is encrypted: {other:?}")),
        LoadPdfError::Invalid => (TextError::Damaged, "its structure cannot be read".to_owned()),
    }
}
