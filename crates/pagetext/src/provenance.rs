//! What a page says of its origin, put together: who, when, where, why, how.

use crate::model::{Field, Markup, PageSource, Provenance, Source};

use super::copyright;
use super::metadata::{Claims, WhenRank, WhoRank};
use neardup::text::FieldedText;
use neardup::text::whitespace::folded;

/// Longest purpose kept, in characters.
const LONGEST_WHY: usize = 300;
/// Bytes of a page within which its document type is sought.
const HEAD: usize = 1024;

/// What is known of any page, and all that is known of one whose body is not read.
pub(super) fn of_answer(page: PageSource<'_>) -> Provenance {
    settled(page, Claims::default())
}

/// What is known of a page whose text is settled.
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
    let place = Some(page.url.host().to_owned());
    let how = Some(page.media_type()).filter(|media_type| !media_type.is_empty());
    Provenance { who, who_from, when, when_from, place, how, ..Provenance::default() }
}

/// The first heading; one that is wholly a link counts as a link.
fn heading(text: &FieldedText) -> Option<String> {
    let headings = text.parts().filter(|(field, _)| *field == Field::Heading);
    headings.map(|(_, text)| folded(text, LONGEST_WHY)).find(|text| !text.is_empty())
}

/// The kind of HTML that the document type claims.
pub(super) fn markup(html: &str) -> Markup {
    let Some(doctype) = doctype(html) else { return Markup::Html };
    if doctype.trim().eq_ignore_ascii_case("html") {
        return Markup::Html5;
    }
    let doctype = doctype.to_ascii_lowercase();
    let kinds = [("xhtml", Markup::Xhtml), ("//dtd html", Markup::Html4), ("legacy-compat", Markup::Html5)];
    kinds.into_iter().find(|(mark, _)| doctype.contains(mark)).map_or(Markup::Html, |(_, kind)| kind)
}

/// What stands between `<!doctype` and `>`, before anything but comments, declarations and space.
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
