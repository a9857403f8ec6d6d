//! *Which media type do these `Content-Type` lines name?*
//!
//! Several lines are one list, and the last valid value counts (WHATWG Fetch, "extract a MIME type"). Where the
//! standard finds no media type, a value that merely has the wrong separator is repaired: servers send
//! `text/html charset=utf-8` and `"text/html"`, and mean what they seem to mean.

/// A media type, and the text from which its parameters are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// Type and subtype in lower case, such as `text/html`. Empty if the server does not know the type.
    pub essence: String,
    /// The value that counts, with its parameters. It keeps the charset of an earlier value of the same type.
    pub value: String,
}

/// Types that say that the type is not known (WHATWG MIME Sniffing, section 7).
const UNKNOWN: [&str; 3] = ["*/*", "unknown/unknown", "application/unknown"];

impl MediaType {
    /// Reads the values of all `Content-Type` lines of a message; `None` if there is none.
    pub fn of_lines<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut lines = lines.into_iter().map(String::from_utf8_lossy);
        let mut all = lines.next()?.into_owned();
        for line in lines {
            all.push_str(", ");
            all.push_str(&line);
        }
        let mut last: Option<Self> = None;
        for value in split(&all) {
            let Some(essence) = essence(value).filter(|essence| !UNKNOWN.contains(&essence.as_str())) else {
                // A comma in place of the semicolon.
                if let Some(last) = last.as_mut().filter(|last| last.charset().is_none() && !value.contains('/')) {
                    last.value = format!("{};{value}", last.value);
                }
                continue;
            };
            let mut value = value.to_owned();
            // A list such as "text/html; charset=x, text/html" still has its charset.
            if let Some(before) = last.filter(|before| before.essence == essence)
                && charset_parameter(&value).is_none()
                && let Some(charset) = charset_parameter(&before.value).filter(|label| is_token(label))
            {
                value = format!("{value};charset={charset}");
            }
            last = Some(Self { essence, value });
        }
        // Without a type there may still be a charset.
        Some(last.unwrap_or_else(|| Self { essence: String::new(), value: all.trim().to_owned() }))
    }

    /// Returns the charset that the value names, as it is spelled there in lower case.
    pub fn charset(&self) -> Option<String> {
        charset_parameter(&self.value)
    }
}

/// Splits a list at its commas, except in quoted strings (WHATWG Fetch, "get, decode, and split").
fn split(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    list.split(move |c: char| {
        let is_end = c == ',' && !is_quoted;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        is_end
    })
    .map(str::trim)
}

/// Returns type and subtype of a value, repaired if need be.
fn essence(value: &str) -> Option<String> {
    let head = value.split(';').next().unwrap_or_default();
    let head = head.trim().trim_matches(['"', '\'']).trim();
    let (kind, subtype) = head.split_once('/')?;
    if is_token(kind) && is_token(subtype) {
        return Some(head.to_ascii_lowercase());
    }
    let start =
        kind.rfind(|c| !is_token_char(c)).map_or(0, |at| at + kind[at..].chars().next().map_or(1, char::len_utf8));
    let end = subtype.find(|c| !is_token_char(c)).unwrap_or(subtype.len());
    match (&kind[start..], &subtype[..end]) {
        // Half a type is none.
        _ if kind.trim().is_empty() || subtype.trim().is_empty() => None,
        // It names something, and nobody knows what: nothing that is read.
        ("", _) | (_, "") => Some(head.to_ascii_lowercase()),
        (kind, subtype) => Some(format!("{kind}/{subtype}").to_ascii_lowercase()),
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}

/// Whether a name may have this character (RFC 9110, section 5.6.2).
fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// Returns the value of the first `charset` parameter of a media type (RFC 9110, section 8.3.2), quoted or not.
///
/// The semicolon before it may be missing.
pub(crate) fn charset_parameter(content_type: &str) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    let parameters = lower.match_indices("charset").filter(|(at, _)| {
        let before = &lower[..*at];
        // A match in quotes is another parameter's value.
        !before.ends_with(|c: char| c.is_ascii_alphanumeric() || "-_*".contains(c))
            && before.matches('"').count().is_multiple_of(2)
    });
    let mut values = parameters.filter_map(|(at, name)| lower[at + name.len()..].trim_start().strip_prefix('='));
    values.find_map(first_label)
}

/// Returns the first label of a text: in quotes, or up to white space, comma or semicolon.
pub(crate) fn first_label(value: &str) -> Option<String> {
    let value = value.trim_start();
    let label = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split_once(quote)?.0.trim(),
        _ => value.split([';', ',', ' ', '\t', '\n', '\r', '\x0c']).next()?,
    };
    (!label.is_empty()).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (String, Option<String>) {
        let found = MediaType::of_lines(lines.iter().map(|line| line.as_bytes())).unwrap();
        let charset = found.charset();
        (found.essence, charset)
    }

    #[test]
    fn the_last_valid_value_of_all_lines_counts() {
        assert_eq!(MediaType::of_lines([]), None);
        for (lines, essence, charset) in [
            (&["Text/HTML; Charset=KOI8-R"][..], "text/html", Some("koi8-r")),
            (&["text/html", "text/html"], "text/html", None),
            (&["text/html;charset=gbk, text/html"], "text/html", Some("gbk")),
            (&["text/html;charset=gbk", "x/x", "text/html"], "text/html", None),
            (&["text/html;charset=gbk", "text/html;charset=big5"], "text/html", Some("big5")),
            (&["text/plain;charset=gbk", "text/html;charset=\"utf-8\""], "text/html", Some("utf-8")),
            (&["text/html;charset=gbk;a=\",\"", "*/*", "", "nothing"], "text/html", Some("gbk")),
            (&["text/plain;a=\"\\\",\";b=1,text/html"], "text/html", None),
            (&["image/png, text/html, application/pdf"], "application/pdf", None),
        ] {
            assert_eq!(read(lines), (essence.to_owned(), charset.map(str::to_owned)), "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_media_type_counts_for_nothing() {
        for value in ["", "html", "text", "text/", "/html", "/", "*/*", "unknown/unknown", "application/unknown", ";"] {
            assert_eq!(read(&[value]), (String::new(), None), "{value}");
        }
        assert_eq!(read(&["charset=Shift_JIS"]), (String::new(), Some("shift_jis".to_owned())));
        assert_eq!(read(&["utf-8"]), (String::new(), None));
    }

    #[test]
    fn wrong_separators_are_repaired() {
        for (value, charset) in [
            ("text/html charset=koi8-r", Some("koi8-r")),
            ("text/html:charset=koi8-r", Some("koi8-r")),
            ("text/html, charset=koi8-r", Some("koi8-r")),
            ("\"text/html\"", None),
            ("'text/html'; charset='koi8-r'", Some("koi8-r")),
            ("\"text/html; charset=koi8-r\"", None),
            ("Content-Type: text/html; charset=koi8-r", Some("koi8-r")),
            ("text/html;;charset=koi8-r;", Some("koi8-r")),
            ("text/html ; koi8-r", None),
            ("<text/html>", None),
            ("text/html(page)", None),
            ("text/html\u{fffd}", None),
        ] {
            assert_eq!(read(&[value]), ("text/html".to_owned(), charset.map(str::to_owned)), "{value}");
        }
        assert_eq!(read(&["image/png charset=binary"]).0, "image/png");
        assert_eq!(read(&["=cmd(1)/x"]).0, "=cmd(1)/x");
    }

    #[test]
    fn only_a_parameter_of_that_name_names_the_charset() {
        for (content_type, expected) in [
            ("text/html; charset = koi8-r", Some("koi8-r")),
            ("text/html;Charset='koi8-r'; x=y", Some("koi8-r")),
            ("text/html charset=koi8-r, text/html", Some("koi8-r")),
            ("text/html; a=\"b; charset=big5\"; charset=\"\"; charset=koi8-r", Some("koi8-r")),
            ("text/html; xcharset=koi8-r", None),
            ("text/html; a=\"; charset=koi8-r\"", None),
            ("text/html; charset", None),
            ("text/html; charset=", None),
        ] {
            assert_eq!(charset_parameter(content_type).as_deref(), expected, "{content_type}");
        }
    }
}
