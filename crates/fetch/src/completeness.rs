//! *Does this answer hold a whole page?*

use ndcrawl_model::{Exclusion, FailureClass, Fetched, Outcome};

/// Why an answer with a status of success holds no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It has no content, by its status or in fact.
    Empty,
    /// It holds a part of the page: which one, in words.
    Part(String),
}

impl Absent {
    /// Returns the outcome of a URL with such an answer.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Empty => Outcome::Excluded(Exclusion::Empty),
            Self::Part(detail) => Outcome::Failed { class: FailureClass::Partial, detail },
        }
    }
}

/// Returns why an answer with a 2xx status holds no page. `None` if it may hold one.
///
/// A 204 and a 205 have no content (RFC 9110, sections 15.3.5 and 15.3.6). A 206 holds what `Content-Range` says, which
/// may be the whole (section 15.3.7). White space alone is no content either.
pub fn absent_page(fetched: &Fetched) -> Option<Absent> {
    match fetched.status {
        204 | 205 => Some(Absent::Empty),
        206 => part(fetched).map(Absent::Part),
        _ => None,
    }
    .or_else(|| (!fetched.truncated && is_blank(&fetched.body)).then_some(Absent::Empty))
}

fn is_blank(body: &[u8]) -> bool {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).iter().all(u8::is_ascii_whitespace)
}

/// Returns what is missing of the content of a 206; `None` if it is whole.
fn part(fetched: &Fetched) -> Option<String> {
    let Some(value) = fetched.header("content-range") else {
        return Some("status 206 without a Content-Range: nobody knows which part this is".to_owned());
    };
    match range(&value) {
        Some((0, last, Some(length))) if last.checked_add(1) == Some(length) => None,
        _ => Some(format!("status 206: a part of the page only, '{value}'")),
    }
}

/// Parses `Content-Range` (RFC 9110, section 14.4): first and last position, and the whole length if it is known.
fn range(value: &str) -> Option<(u64, u64, Option<u64>)> {
    let value = value.trim();
    let unit = value.get(..5).filter(|unit| unit.eq_ignore_ascii_case("bytes"))?;
    let positions = value[unit.len()..].trim_start_matches([' ', '\t', '=', ':']);
    let (positions, length) = positions.split_once('/')?;
    let (first, last) = positions.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    Some((number(first)?, number(last)?, number(length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::answered;

    #[test]
    fn an_answer_without_content_is_no_page() {
        for (status, body, expected) in [
            (204, "<p>Text", Some(Absent::Empty)),
            (205, "<p>Text", Some(Absent::Empty)),
            (200, "", Some(Absent::Empty)),
            (203, "\u{feff} \r\n\t", Some(Absent::Empty)),
            (200, "<html></html>", None),
            (203, "0", None),
        ] {
            assert_eq!(absent_page(&answered(status, &[], body)), expected, "{status} {body:?}");
        }
        // A limit of no bytes says nothing of the page.
        assert_eq!(absent_page(&Fetched { truncated: true, ..answered(200, &[], "") }), None);
    }

    #[test]
    fn a_206_is_a_page_if_it_holds_all_of_it() {
        for whole in ["bytes 0-3/4", "Bytes 0-3/4", "bytes=0-3/4", " bytes  0 - 3 / 4 "] {
            assert_eq!(absent_page(&answered(206, &[("Content-Range", whole)], "Text")), None, "{whole}");
        }
        for part in ["bytes 0-3/12", "bytes 4-7/8", "bytes 0-3/*", "bytes */4", "items 0-3/4", "", "bytes 0-", "0-3/4"]
        {
            let found = absent_page(&answered(206, &[("content-range", part)], "Text"));
            assert!(matches!(&found, Some(Absent::Part(detail)) if detail.contains(part)), "{part}: {found:?}");
        }
        let huge = "bytes 0-18446744073709551615/18446744073709551615";
        assert!(absent_page(&answered(206, &[("Content-Range", huge)], "Text")).is_some());
        assert!(matches!(absent_page(&answered(206, &[], "Text")), Some(Absent::Part(_))));
        assert_eq!(absent_page(&answered(206, &[("Content-Range", "bytes 0-3/4")], "")), Some(Absent::Empty));
        assert_eq!(absent_page(&answered(200, &[("Content-Range", "bytes 0-3/12")], "Text")), None);
    }
}
