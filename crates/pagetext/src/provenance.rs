//! The origin of a page, put together: who, when, where, why, how.

use crate::model::{Field, Markup, PageSource, Provenance, Source};

use super::copyright;
use super::metadata::{Claims, WhenRank, WhoRank};
use neardup::text::FieldedText;
use neardup::text::whitespace::folded;

/// Characters of the longest purpose that is kept.
const LONGEST_WHY: usize = 300;
/// Bytes of a page that are searched for its document type.
const HEAD: usize = 1024;

/// Returns the origin of a page whose body is not read.
pub(super) fn of_answer(page: PageSource<'_>) -> Provenance {
    settled(page, Claims::default())
}

/// Returns the origin of a page whose text is settled.
pub(super) fn of_page(page: PageSource<'_>, mut claims: Claims, title: Option<&str>, text: &FieldedText) -> Provenance {
    if claims.wants_who(WhoRank::Copyright)
        && let Some(holder) = copyright::holder(text)
    {
        claims.who(WhoRank::Copyright, &holder);
    }
    let mut provenance = settled(page, claims);
    let why = match title {
        Some(title) => Some((folded(title, LONGEST_WHY), Source::Title)),
        None => heading(text).map(|heading| (heading, Source::Heading)),
    };
    (provenance.why, provenance.why_from) = why.unzip();
    provenance
}

fn settled(page: PageSource<'_>, claims: Claims) -> Provenance {
    let mut claims = claims.fetched(page.fetched_at);
    if claims.wants_when(WhenRank::Header)
        && let Some(date) = page.header("last-modified")
    {
        claims.when(WhenRank::Header, &date);
    }
    let (who, when) = claims.into_parts();
    let ((who, who_from), (when, when_from)) = (who.unzip(), when.unzip());
    let place = page.url.file().is_none().then(|| page.url.host().to_owned());
    let how = Some(page.media_type()).filter(|media_type| !media_type.is_empty());
    Provenance { who, who_from, when, when_from, place, how, ..Provenance::default() }
}

/// Returns the first heading; a heading that is one link counts as a link.
fn heading(text: &FieldedText) -> Option<String> {
    let headings = text.parts().filter(|(field, _)| *field == Field::Heading);
    headings.map(|(_, text)| folded(text, LONGEST_WHY)).find(|text| !text.is_empty())
}

/// Returns the kind of HTML that the document type names.
pub(super) fn markup(html: &str) -> Markup {
    let Some(doctype) = doctype(html) else { return Markup::Html };
    if doctype.trim().eq_ignore_ascii_case("html") {
        return Markup::Html5;
    }
    let doctype = doctype.to_ascii_lowercase();
    let kinds = [("xhtml", Markup::Xhtml), ("//dtd html", Markup::Html4), ("legacy-compat", Markup::Html5)];
    kinds.into_iter().find(|(mark, _)| doctype.contains(mark)).map_or(Markup::Html, |(_, kind)| kind)
}

/// Returns the text between `<!doctype` and `>`, if only comments, declarations and space come before it.
fn doctype(html: &str) -> Option<&str> {
    const WORD: &str = "<!doctype";
    let mut rest = html;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if rest.get(..WORD.len()).is_some_and(|start| start.eq_ignore_ascii_case(WORD)) {
            let end = rest.bytes().take(HEAD).position(|byte| byte == b'>')?;
            return rest.get(WORD.len()..end);
        }
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            ">"
        } else {
            return None;
        };
        rest = &rest[rest.find(end)? + end.len()..];
    }
}
