//! The main text of a page, as a reader meets it, line by line.

use std::borrow::Cow;

use url::Url;

use crate::model::{Field, Refresh};

use neardup::text::{FieldedText, Piece};

/// The main text is at least one part in this many of all text; else all text stays, since the page may be
/// navigation only.
const LEAST_PART: usize = 3;

/// The readable text of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading<'a> {
    /// The main text in reading order, one block a line: headings, paragraphs, list items, cells.
    ///
    /// White space is folded within lines, also in preformatted blocks. Scripts, styles and the title are left out, and
    /// so is the content of `nav`, `aside`, `footer` and `search`, unless less than a third of the text would be left.
    /// Plain text stays as it is.
    pub text: String,
    /// The decoded source of the page.
    pub source: Cow<'a, str>,
    /// The character encoding by its WHATWG name.
    pub charset: &'static str,
    /// The base of the page's links: its own URL, or that of its `base` element.
    pub base: Url,
    /// The refresh of the page, if it has one.
    pub refresh: Option<Refresh>,
}

/// Returns the main text; see [`Reading::text`].
pub(super) fn main_text(text: &FieldedText) -> String {
    let all = lines(text.pieces());
    let main = lines(text.pieces().filter(|piece| !piece.aside));
    if main.len() * LEAST_PART < all.len() { all } else { main }
}

/// Joins the visible pieces, without the title.
fn lines<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> String {
    let mut text = String::new();
    for piece in pieces.filter(|piece| piece.visible && piece.field != Field::Title) {
        if piece.breaks {
            end_line(&mut text);
        } else if piece.glued {
            cut_space(&mut text);
        }
        text.push_str(piece.text);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Ends the line, unless it is empty.
fn end_line(text: &mut String) {
    cut_space(text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn cut_space(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
}

#[cfg(test)]
mod tests {
    use crate::model::Normalizer;
    use crate::tests::page;
    use crate::{Options, PageReader};

    fn text(media_type: &str, body: &str) -> Option<String> {
        let page = page("http://www.h.test/", media_type, body);
        PageReader::new(Options::default(), Normalizer::default()).reading(&page).map(|reading| reading.text)
    }

    #[test]
    fn a_block_is_a_line_and_nothing_comes_between_what_stands_side_by_side() {
        let html = "<title>t</title><meta name=description content=d><h1>One <i>two</i></h1>\n<p>See <a href=x>this\n link</a>, \
                    and <b>t</b>hat.<ul><li>a<li>b</ul><script>s</script>x<br>y<table><td>1<td>2</table>";
        assert_eq!(text("text/html", html).unwrap(), "One two\nSee this link, and that.\na\nb\nx\ny\n1\n2");
    }

    #[test]
    fn what_is_about_the_site_is_left_out_unless_the_page_is_little_else() {
        let html = |body: &str| format!("<nav>Home <a href=x>About</a></nav><main>{body}</main><footer>(c)</footer>");
        assert_eq!(text("text/html", &html("<p>All that it says.")).unwrap(), "All that it says.");
        assert_eq!(text("text/html", &html("<p>it")).unwrap(), "Home About\nit\n(c)");
    }

    #[test]
    fn plain_text_is_itself_and_a_picture_has_none() {
        assert_eq!(text("text/plain", "\u{feff} a\r\n  b <p>\r\rc\n").unwrap(), " a\r\n  b <p>\r\rc\n");
        assert_eq!(text("image/png", "a"), None);
    }
}
