//! ARC files of the Internet Archive, versions 1 and 2: what came before WARC.
//!
//! A record has one line as its header: URL, address, date, media type and length, in version 2 also the status and a few
//! more before the length. The block of a web page is the answer as it was received.

use super::records::{Layout, PageResult, RecordHead};
use super::{Options, http, warc};

/// Longest header, in bytes.
const MOST_LINE: usize = 8 * 1024;

/// How records look.
pub(super) const LAYOUT: Layout = Layout {
    begins: is_arc_record,
    look: MOST_LINE,
    magic: None,
    header: |bytes| memchr::memchr(b'\n', bytes).map(|end| end + 1),
    parse: |bytes| head(bytes).unwrap_or_default(),
    page,
    separators: &[b"\n", b"\r\n"],
    is_warc: false,
};

/// Returns whether a file begins with the record that describes an ARC file.
pub(super) fn is_arc(first: &[u8]) -> bool {
    first.starts_with(b"filedesc://") && is_arc_record(first)
}

fn is_arc_record(bytes: &[u8]) -> bool {
    head(bytes).is_some()
}

/// Parses the line that bytes begin with. URLs and media types may contain spaces, so the date tells where they end.
fn head(bytes: &[u8]) -> Option<RecordHead> {
    let scheme = bytes.iter().take(12).position(|byte| *byte == b':')?;
    if scheme == 0 || !bytes[..scheme].iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    let line = &bytes[..memchr::memchr(b'\n', &bytes[..bytes.len().min(MOST_LINE)])?];
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let date = (2..words.len().checked_sub(2)?).find(|at| is_date(words[*at]) && is_address(words[at - 1]))?;
    let length = words.last()?.parse().ok()?;
    Some(RecordHead {
        kind: if line.starts_with("filedesc:") { "filedesc".to_owned() } else { "response".to_owned() },
        url: words[..date - 1].join("%20"),
        date: rfc3339(words[date]),
        content_type: words[date + 1].to_owned(),
        length: Some(length),
        ..RecordHead::default()
    })
}

/// Returns whether a word is a date of 14 digits, or of 12 as a few files have it.
fn is_date(word: &str) -> bool {
    [12, 14].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_address(word: &str) -> bool {
    word.parse::<std::net::IpAddr>().is_ok() || word == "-"
}

fn rfc3339(digits: &str) -> String {
    let part = |from: usize| digits.get(from..from + 2).unwrap_or("00");
    let year = digits.get(..4).unwrap_or_default();
    format!("{year}-{}-{}T{}:{}:{}Z", part(4), part(6), part(8), part(10), part(12))
}

fn page(head: &RecordHead, block: Vec<u8>, options: &Options) -> PageResult {
    if head.kind == "filedesc" || head.url.starts_with("dns:") {
        return Ok(None);
    }
    // The oldest servers answer without a header.
    let answer = match block.starts_with(b"HTTP/") {
        true => http::answer(&block, options.max_body)?,
        false => warc::plain(block, &head.content_type, options),
    };
    warc::fetched(head, answer, options).map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::super::stream::tests::gzip;
    use super::super::{InputItem, items_of};
    use super::*;

    const DATE: &str = "20080430204825";
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>";

    fn first(version: u8) -> Vec<u8> {
        let fields = match version {
            1 => "URL IP-address Archive-date Content-type Archive-length",
            _ => {
                "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length"
            }
        };
        let block = format!("{version} 0 InternetArchive\n{fields}\n");
        match version {
            1 => format!("filedesc://x.arc 0.0.0.0 {DATE} text/plain {}\n{block}\n", block.len()),
            _ => format!("filedesc://x.arc 0.0.0.0 {DATE} text/plain 200 - - 0 x.arc {}\n{block}\n", block.len()),
        }
        .into_bytes()
    }

    fn record(version: u8, url: &str, block: &str) -> Vec<u8> {
        let length = block.len();
        match version {
            1 => format!("{url} 192.0.2.1 {DATE} text/html {length}\n{block}\n"),
            _ => format!(
                "{url} 192.0.2.1 {DATE} text/html 200 fac069150613fe55599cc7fa88aa089d - 209 x.arc {length}\n{block}\n"
            ),
        }
        .into_bytes()
    }

    fn read(file: &[u8]) -> Vec<String> {
        let tell = |item: InputItem| match item {
            InputItem::Opened(_) => String::new(),
            InputItem::Answer(document) => {
                let page = document.fetched;
                format!("{} {} {}", page.url, page.media_type(), String::from_utf8_lossy(&page.body))
            }
            InputItem::Passed => "passed".to_owned(),
            InputItem::Ignored(file) => format!("ignored {}", file.place),
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
        };
        items_of(file, &options()).map(tell).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn both_versions_are_read_plain_and_compressed() {
        for version in [1, 2] {
            let records = [
                first(version),
                record(version, "dns:a.test", "1.2.3.4"),
                record(version, "http://a.test/1", &format!("{ANSWER}one")),
                record(version, "http://a.test/a b", &format!("{ANSWER}two")),
                record(version, "http://a.test/3", "<p>no header"),
            ];
            let expected = [
                "passed",
                "passed",
                "http://a.test/1 text/html <p>one",
                "http://a.test/a%20b text/html <p>two",
                "http://a.test/3 text/html <p>no header",
            ];
            assert_eq!(read(&records.concat()), expected);
            assert_eq!(read(&records.iter().flat_map(|record| gzip(record)).collect::<Vec<u8>>()), expected);
            assert_eq!(read(&gzip(&records.concat())), expected);
        }
    }

    #[test]
    fn one_damaged_record_costs_that_record() {
        let good =
            |number: usize| record(1, &format!("http://a.test/{number}"), &format!("{ANSWER}{}", "word ".repeat(40)));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let length = good(1).len();
        for bad in [
            text(good(1)).replace("text/html 2", "text/html 1"),
            text(good(1)).replace("text/html 2", "text/html 3"),
            text(good(1)).replace("text/html 2", "text/html 999999999992"),
            text(good(1))[..length / 2].to_owned() + "\n",
        ] {
            for file in [
                [first(1), good(0), bad.clone().into(), good(2)].concat(),
                [first(1), good(0), bad.into(), good(2)].iter().flat_map(|record| gzip(record)).collect(),
            ] {
                let told = read(&file);
                assert_eq!(told.len(), 4, "{told:?}");
                assert!(told[1].starts_with("http://a.test/0") && told[3].starts_with("http://a.test/2"), "{told:?}");
                assert!(told[2].starts_with("input, record 3: "), "{told:?}");
            }
        }
    }

    #[test]
    fn lines_of_other_texts_are_no_records() {
        for line in [
            "http://a.test/ is a page\n",
            "filedesc://x 0.0.0.0 2008 text/plain 20\n",
            "http://a.test/ 1.2.3.4 20080430204825 text/html x\n",
            "note: 1.2.3.4 20080430204825 text\n",
        ] {
            assert!(!is_arc_record(line.as_bytes()), "{line}");
        }
    }
}
