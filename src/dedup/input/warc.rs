//! WARC and WET files (ISO 28500), compressed by record, as a whole, or not at all.

use std::io::{self, BufRead, Read};

use crate::model::{CanonicalUrl, Fetched, Header};

use super::date;
use super::http;
use super::{InputDamage, InputItem, Options};

/// Longest header of a record, in bytes.
const MOST_HEADER: u64 = 256 * 1024;
/// Allowance for the HTTP header in a block, in bytes.
const MOST_HEAD: usize = 512 * 1024;

/// Reads the records of a file in order. Ends after a record whose length is unknown.
pub(super) struct Records<'a, R> {
    place: String,
    input: R,
    options: &'a Options,
    number: u64,
    is_over: bool,
}

/// The fields of a record that the reader uses.
#[derive(Debug, Default)]
struct Head {
    kind: String,
    url: String,
    date: String,
    content_type: String,
    length: Option<u64>,
}

impl<'a, R: BufRead> Records<'a, R> {
    pub(super) fn new(place: String, input: R, options: &'a Options) -> Self {
        Self { place, input, options, number: 0, is_over: false }
    }

    fn read(&mut self) -> io::Result<Option<InputItem>> {
        let Some(head) = self.head()? else { return Ok(None) };
        let length = head.length.ok_or_else(|| bad("no Content-Length"))?;
        let most = self.options.max_body.saturating_add(MOST_HEAD) as u64;
        let mut block = Vec::new();
        (&mut self.input).take(length.min(most)).read_to_end(&mut block)?;
        if (block.len() as u64) < length.min(most) {
            return Err(bad("the block is shorter than its Content-Length"));
        }
        let beyond = length - length.min(most);
        io::copy(&mut (&mut self.input).take(beyond), &mut io::sink())?;
        Ok(Some(self.item(&head, block, beyond > 0)))
    }

    /// Reads the header of the next record; `None` at the end. Skips empty lines before it.
    fn head(&mut self) -> io::Result<Option<Head>> {
        let mut input = (&mut self.input).take(MOST_HEADER);
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if !line.trim_ascii().is_empty() {
                break;
            }
        }
        if !line.starts_with(b"WARC/") {
            return Err(bad("no WARC version line"));
        }
        let mut head = Head::default();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Err(bad("the header of the record does not end"));
            }
            let text = String::from_utf8_lossy(line.trim_ascii());
            if text.is_empty() {
                return Ok(Some(head));
            }
            let Some((name, value)) = text.split_once(':') else { continue };
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => value.clone_into(&mut head.kind),
                // Version 1.0 of the standard has the URL in angle brackets.
                "warc-target-uri" => value.trim_matches(['<', '>']).clone_into(&mut head.url),
                "warc-date" => value.clone_into(&mut head.date),
                "content-type" => value.clone_into(&mut head.content_type),
                "content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
    }

    fn item(&self, head: &Head, block: Vec<u8>, is_cut: bool) -> InputItem {
        let is_http = head.content_type.to_ascii_lowercase().starts_with("application/http");
        let plain = |content_type: &str| http::Answer {
            status: 200,
            version: "HTTP/1.1",
            reason: "OK".to_owned(),
            headers: vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())],
            truncated: block.len() > self.options.max_body,
            body: block[..block.len().min(self.options.max_body)].to_vec(),
        };
        let answer = match head.kind.as_str() {
            "response" if is_http => http::answer(&block, self.options.max_body),
            "resource" | "response" => Ok(plain(&head.content_type)),
            // WET: the text of a page, always in UTF-8.
            "conversion" => Ok(plain("text/plain; charset=utf-8")),
            _ => return InputItem::Passed,
        };
        if ["dns:", "metadata:", "urn:", "about:"].iter().any(|other| head.url.starts_with(other)) {
            return InputItem::Passed;
        }
        let url = self.options.normalizer.absolute(&head.url).map_err(|error| format!("'{}': {error}", head.url));
        match (url, answer) {
            (Ok(url), Ok(answer)) => fetched(url, answer, &head.date, is_cut).into(),
            (Err(why), _) | (_, Err(why)) => InputItem::Damaged(InputDamage::new(self.here(), why)),
        }
    }

    /// Returns the place of the current record.
    fn here(&self) -> String {
        format!("{}, record {}", self.place, self.number)
    }
}

impl<R: BufRead> Iterator for Records<'_, R> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        if self.is_over {
            return None;
        }
        self.number += 1;
        match self.read() {
            Ok(item) => item,
            Err(error) => {
                self.is_over = true;
                Some(InputItem::Damaged(InputDamage::end(self.here(), error)))
            }
        }
    }
}

fn fetched(url: CanonicalUrl, answer: http::Answer, date: &str, is_cut: bool) -> Fetched {
    let http::Answer { status, version, reason, headers, body, truncated } = answer;
    Fetched {
        url,
        spelling: None,
        status,
        version,
        reason,
        headers,
        request_headers: Vec::<Header>::new(),
        body,
        truncated: truncated || is_cut,
        address: None,
        started_at: date::millis(date),
        elapsed: std::time::Duration::ZERO,
    }
}

fn bad(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    fn record(kind: &str, url: &str, content_type: &str, block: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn read(file: &str) -> Vec<String> {
        let options = options();
        let items = Records::new("f".to_owned(), file.as_bytes(), &options);
        let tell = |item: InputItem| match item {
            InputItem::Opened(_) => String::new(),
            InputItem::Answer(document) => {
                let answer = document.fetched;
                format!("{} {} {}", answer.url, answer.status, String::from_utf8_lossy(&answer.body))
            }
            InputItem::Passed => "passed".to_owned(),
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
        };
        items.map(tell).collect()
    }

    #[test]
    fn answers_resources_and_texts_are_pages_and_other_records_are_passed_over() {
        let http = "application/http; msgtype=response";
        let file = [
            record("warcinfo", "", "application/warc-fields", "software: x"),
            record("request", "http://a.test/", "application/http", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "<http://a.test/>", http, "HTTP/1.1 200 OK\r\n\r\nfirst"),
            record("response", "dns:a.test", "text/dns", "1.2.3.4"),
            record("resource", "http://a.test/r", "text/html", "second"),
            record("conversion", "http://a.test/t", "text/plain", "third"),
            record("revisit", "http://a.test/", http, "HTTP/1.1 200 OK\r\n\r\n"),
        ];
        assert_eq!(
            read(&file.concat()),
            [
                "passed",
                "passed",
                "http://a.test/ 200 first",
                "passed",
                "http://a.test/r 200 second",
                "http://a.test/t 200 third",
                "passed",
            ]
        );
    }

    #[test]
    fn a_record_that_makes_no_sense_is_named_and_a_lost_length_ends_the_file() {
        let http = "application/http";
        let file = [
            record("response", "mailto:x@a.test", http, "HTTP/1.1 200 OK\r\n\r\nx"),
            record("response", "http://a.test/1", http, "nonsense"),
            record("response", "http://a.test/2", http, "HTTP/1.1 200 OK\r\n\r\nfine"),
            "WARC/1.0\r\nWARC-Type: response\r\n\r\n".to_owned(),
            record("response", "http://a.test/3", http, "HTTP/1.1 200 OK\r\n\r\nunreached"),
        ];
        let read = read(&file.concat());
        assert!(read[0].starts_with("f, record 1: 'mailto:x@a.test'"), "{read:?}");
        assert!(read[1].starts_with("f, record 2: the header of the answer does not end"), "{read:?}");
        assert_eq!(read[2], "http://a.test/2 200 fine");
        assert_eq!(read[3..], ["f, record 4: no Content-Length; the rest of the file is not read"]);
    }

    #[test]
    fn a_file_cut_anywhere_gives_what_came_before() {
        let file = record("response", "http://a.test/", "application/http", "HTTP/1.1 200 OK\r\n\r\nbody").repeat(2);
        for cut in 0..file.len() {
            let read = read(&file[..cut]);
            assert!(read.len() <= 2 && read.iter().filter(|text| text.ends_with("not read")).count() <= 1, "{read:?}");
        }
    }
}
