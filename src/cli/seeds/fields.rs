//! Which part of a line is the seed?
//!
//! Seed lists come from other crawlers and from tables, with more than a URL on a line. The URL parser does not mind: it
//! deletes tabs and escapes blanks, and so makes another URL of the line. So a line is read only if there is no doubt;
//! else the caller tells why not.
//!
//! | line | read as |
//! |---|---|
//! | `URL<tab>anything` | the URL; other crawlers write metadata there |
//! | `"URL"`, `'URL'`, `<URL>`, also with more fields behind | the URL |
//! | below a line of column names, `url,title` | the column that is named like a URL |

use std::borrow::Cow;

/// Names of columns that hold the URL, the likeliest first.
const URL_COLUMNS: [&str; 12] =
    ["url", "urls", "uri", "page_url", "source_url", "link", "href", "loc", "address", "website", "domain", "host"];

/// Characters between columns.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// The columns of a table, by the line with their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    separator: char,
    count: usize,
    url: usize,
}

impl Columns {
    /// Reads a line of column names. `None` if no name is that of a URL, or there is one column only.
    pub fn of_names(line: &str) -> Option<Self> {
        let line = trimmed(line);
        let separator = SEPARATORS.into_iter().find(|separator| line.contains(*separator))?;
        let names: Vec<String> = columns(line, separator)?.iter().map(|name| trimmed(name).to_lowercase()).collect();
        let has_url = names.iter().any(|name| name.contains("://"));
        let url = URL_COLUMNS.iter().find_map(|known| names.iter().position(|name| name == known))?;
        if has_url {
            return None;
        }
        Some(Self { separator, count: names.len(), url })
    }

    /// Returns the seed in a line below the names; `None` if the line is empty.
    pub fn seed<'a>(&self, line: &'a str) -> Result<Option<Cow<'a, str>>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let fields = columns(line, self.separator).ok_or(NO_END)?;
        if fields.len() > self.count && self.separator != '\t' {
            return Err(format!("it has {} fields, and the first line names {}", fields.len(), self.count));
        }
        let url = fields.into_iter().nth(self.url).map(|url| trimmed(&url).to_owned()).unwrap_or_default();
        if url.is_empty() {
            return Err(format!("its field {} is empty", self.url + 1));
        }
        check(&url)?;
        Ok(Some(Cow::Owned(url)))
    }
}

/// Whether a line is the name of one column, or says which character separates columns, as spreadsheets write it.
pub(super) fn is_name(line: &str) -> bool {
    let line = trimmed(line).to_lowercase();
    URL_COLUMNS[..3].contains(&line.as_str()) || (line.starts_with("sep=") && line.chars().count() == 5)
}

/// Returns the seed in a line; `None` if there is only a comment.
pub(super) fn seed(line: &str) -> Result<Option<Cow<'_, str>>, String> {
    let text = trimmed(without_comment(line));
    if text.is_empty() {
        return Ok(None);
    }
    let fields: Vec<&str> = text.split('\t').map(trimmed).filter(|field| !field.is_empty()).collect();
    let (first, more) = (fields.first().copied().unwrap_or_default(), fields.get(1..).unwrap_or_default());
    let (url, has_more) = match first.chars().next() {
        Some('"') => quoted(first, '"')?,
        Some('\'') => quoted(first, '\'')?,
        Some('<') => quoted(first, '>')?,
        _ => (first, false),
    };
    check(url)?;
    if (has_more || !more.is_empty()) && !is_absolute(url) {
        if more.iter().any(|field| is_absolute(field)) {
            return Err("the URL is not in the first field".to_owned());
        }
        if !url.contains(['.', ':']) {
            return Err("the first field is no URL".to_owned());
        }
    }
    Ok(Some(Cow::Borrowed(url)))
}

/// Why quotes are not read.
const NO_END: &str = "a quotation mark without its end";

/// Returns the text between the first character and `end`, and whether other fields follow.
fn quoted(text: &str, end: char) -> Result<(&str, bool), String> {
    let inner = text.get(1..).unwrap_or_default();
    let (url, rest) = inner.split_once(end).ok_or(NO_END)?;
    match rest.chars().next() {
        None => Ok((trimmed(url), false)),
        Some(',' | ';' | '|') => Ok((trimmed(url), true)),
        Some(space) if space.is_whitespace() => Ok((trimmed(url), true)),
        Some(_) => Err(format!("more text directly behind '{end}'")),
    }
}

/// Fails if the text is more than a URL, or if the URL parser would make another URL of it.
fn check(url: &str) -> Result<(), String> {
    if url.is_empty() {
        return Err("nothing between the quotation marks".to_owned());
    }
    if url.contains(char::is_whitespace) {
        return Err("a blank in it: put a tab before a label, or write %20 for a blank in the URL".to_owned());
    }
    if let Some(odd) = url.chars().find(|c| c.is_control() || is_invisible(*c)) {
        return Err(format!("an invisible character in it, U+{:04X}", u32::from(odd)));
    }
    if let Some(odd) = url.chars().find(|c| matches!(c, '"' | '<' | '>')) {
        return Err(format!("'{odd}' in it, which no URL has"));
    }
    if [",http://", ",https://", ";http://", ";https://", "|http"].iter().any(|more| url.contains(more)) {
        return Err("more than one URL in it".to_owned());
    }
    match url.chars().next_back() {
        Some(last @ (',' | ';' | '|')) => Err(format!("'{last}' at its end")),
        _ => Ok(()),
    }
}

/// Splits a line of a table (RFC 4180, section 2). `None` if a quoted field does not end.
fn columns(line: &str, separator: char) -> Option<Vec<String>> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' if is_quoted || field.trim().is_empty() => is_quoted = !is_quoted,
            _ if c == separator && !is_quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(c),
        }
    }
    fields.push(field);
    (!is_quoted).then_some(fields)
}

fn is_absolute(text: &str) -> bool {
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

/// Returns the line up to a comment: a `#` at its start or after white space. `http://x/#a` has none.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || is_invisible(c));
    let comment = line.match_indices('#').find(|(at, _)| begins(*at));
    comment.map_or(line, |(at, _)| &line[..at])
}

/// Cuts white space and characters without width at both ends, such as the mark of a file that was appended to another.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

/// Whether a character has no width: spaces, marks of direction, soft hyphens, byte order marks.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        match seed(line) {
            Ok(Some(url)) => url.into_owned(),
            Ok(None) => "nothing".to_owned(),
            Err(why) => format!("- {why}"),
        }
    }

    #[test]
    fn a_fragment_is_no_comment() {
        assert_eq!(without_comment("http://x/#a"), "http://x/#a");
        assert_eq!(without_comment("http://x/#a #b"), "http://x/#a ");
        assert_eq!(without_comment("#http://x/"), "");
    }

    #[test]
    fn the_url_is_read_where_there_is_no_doubt() {
        for line in [
            "http://a.test/x",
            "http://a.test/x\tnutch.score=10\tlang=en",
            "http://a.test/x\tits front page # and more",
            "\t http://a.test/x \t",
            "\"http://a.test/x\"",
            "\"http://a.test/x\",\"Front, page\",10",
            "'http://a.test/x'; label",
            "<http://a.test/x> label",
            "\"http://a.test/x\"\tlabel",
            "\u{feff}http://a.test/x\u{200b}",
            "\u{a0}http://a.test/x\u{3000}# why",
        ] {
            assert_eq!(told(line), "http://a.test/x", "{line:?}");
        }
        for line in ["", " \t ", "# http://a.test/", "\u{feff}# a comment"] {
            assert_eq!(told(line), "nothing", "{line:?}");
        }
        for line in ["a.test\tlabel", "localhost:80\tlabel", "a.test", "localhost", "http://a.test/0,1518,7,00.html"] {
            assert_eq!(told(line), line.split('\t').next().unwrap(), "{line:?}");
        }
    }

    #[test]
    fn what_would_become_another_url_is_told() {
        for (line, why) in [
            ("http://a.test/x front page", "a blank"),
            ("http://a.test/x\u{a0}front page", "a blank"),
            ("http://a.test/x, Front page", "a blank"),
            ("- http://a.test/x", "a blank"),
            ("http://a.test/x\"", "'\"' in it"),
            ("<a>http://a.test/x</a>", "more text directly behind"),
            ("<loc>http://a.test/x</loc>", "more text directly behind"),
            ("http://a.test/x,\"Front\"", "'\"' in it"),
            ("http://a.test/x,http://a.test/y", "more than one"),
            ("http://a.test/x|https://a.test/y", "more than one"),
            ("http://a.test/x,", "',' at its end"),
            ("\"http://a.test/x", "a quotation mark without its end"),
            ("\"http://a.test/x\"y", "more text directly behind"),
            ("\"\"", "nothing between"),
            ("http://a.test/\u{200b}x", "U+200B"),
            ("http://a.test/\0x", "U+0000"),
            ("Front page\thttp://a.test/x", "a blank"),
            ("Front\thttp://a.test/x", "not in the first field"),
            ("7\tlabel", "no URL"),
        ] {
            let told = told(line);
            assert!(told.starts_with("- ") && told.contains(why), "{line:?}: {told}");
        }
    }

    #[test]
    fn a_table_has_its_urls_in_the_column_of_that_name() {
        let cases = [
            ("url,title", "http://a.test/x,Front page", "http://a.test/x"),
            ("url,title", "\"http://a.test/x,1\",\"Front, \"\"page\"\"\"", "http://a.test/x,1"),
            ("Title;URL", "Front page;http://a.test/x", "http://a.test/x"),
            (",url", "0,http://a.test/x", "http://a.test/x"),
            ("rank,domain", "1,a.test", "a.test"),
            ("id|link|note", "1|http://a.test/x|", "http://a.test/x"),
            ("url\tscore", "http://a.test/x\t1\tand\tmore", "http://a.test/x"),
            ("url,title", "http://a.test/x", "http://a.test/x"),
        ];
        for (names, line, url) in cases {
            let columns = Columns::of_names(names).unwrap();
            assert_eq!(columns.seed(line).unwrap().unwrap(), url, "{names}: {line}");
        }
        let columns = Columns::of_names("url,title").unwrap();
        for line in ["http://a.test/x,1,Front", "\"http://a.test/x", ",Front", "http://a.test/x y,Front"] {
            assert!(columns.seed(line).is_err(), "{line}");
        }
        for line in ["", "# more"] {
            assert_eq!(columns.seed(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn only_names_make_a_table() {
        for line in ["http://a.test/url,title", "a,b", "url", "http://a.test/?a=1;url", "\"url,title"] {
            assert_eq!(Columns::of_names(line), None, "{line}");
        }
        assert!(is_name("URL") && is_name("\u{feff}url ") && is_name("sep=;"));
        assert!(!is_name("url.test") && !is_name("localhost") && !is_name("sep=http://x"));
    }
}
