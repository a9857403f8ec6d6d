//! Lines of a CDXJ index.

use ndcrawl_model::MediaType;
use ndcrawl_store::WarcRecord;

use super::surt::surt;

/// An index entry of a WARC record.
pub(super) struct CdxEntry {
    key: String,
    /// `YYYYMMDDhhmmss`.
    time: String,
    fields: Vec<(&'static str, String)>,
}

impl CdxEntry {
    /// Returns the entry of a response or revisit; other records are not indexed.
    pub fn of(record: &WarcRecord) -> Option<Self> {
        let is_revisit = record.kind() == "revisit";
        if !is_revisit && record.kind() != "response" {
            return None;
        }
        let url = record.field("WARC-Target-URI")?;
        let head = record.http_head()?;
        let mut fields = vec![("url", url.to_owned())];
        let media_type = match is_revisit {
            true => Some("warc/revisit".to_owned()),
            false => {
                let lines = head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
                let declared = MediaType::of_lines(lines.map(|(_, value)| value.as_slice()));
                declared.map(|declared| declared.essence).filter(|kind| !kind.is_empty())
            }
        };
        fields.extend(media_type.map(|kind| ("mime", kind)));
        fields.push(("status", head.status.to_string()));
        fields.extend(record.field("WARC-Payload-Digest").map(|digest| ("digest", digest.to_owned())));
        fields.extend(record.field("WARC-Truncated").map(|why| ("truncated", why.to_owned())));
        let date = record.field("WARC-Date")?;
        let time = date.chars().filter(char::is_ascii_digit).take(14).collect();
        Some(Self { key: surt(url), time, fields })
    }

    /// Adds the place of the record: its length, its offset and its file.
    pub fn at(mut self, length: u64, offset: u64, file: &str) -> Self {
        self.fields.push(("length", length.to_string()));
        self.fields.push(("offset", offset.to_string()));
        self.fields.push(("filename", file.to_owned()));
        self
    }

    /// Returns the line with its line end: key, time and JSON object.
    pub fn line(&self) -> String {
        // Serializing a string cannot fail.
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let fields: Vec<String> =
            self.fields.iter().map(|(name, value)| format!("\"{name}\": {}", text(value))).collect();
        format!("{} {} {{{}}}\n", self.key, self.time, fields.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, block: &str) -> WarcRecord {
        let fields = [
            ("WARC-Type", kind),
            ("WARC-Target-URI", "http://www.A.test/x?b&a"),
            ("WARC-Date", "2026-11-21T21:48:56.450Z"),
            ("WARC-Payload-Digest", "sha1:ABC"),
            ("Content-Type", "application/http;msgtype=response"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        WarcRecord { offset: 7, length: 99, fields, block: block.as_bytes().to_vec() }
    }

    #[test]
    fn a_line_has_key_time_and_fields() {
        let response = record("response", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\nbody");
        assert_eq!(
            CdxEntry::of(&response).unwrap().at(99, 7, "f.warc.gz").line(),
            "test,a)/x?a&b 20261121214856 {\"url\": \"http://www.A.test/x?b&a\", \"mime\": \"text/html\", \
             \"status\": \"200\", \"digest\": \"sha1:ABC\", \"length\": \"99\", \"offset\": \"7\", \"filename\": \"f.warc.gz\"}\n"
        );
        let mut part = record("response", "HTTP/1.1 200 OK\r\n\r\nbo");
        part.fields.push(("WARC-Truncated".to_owned(), "length".to_owned()));
        assert!(CdxEntry::of(&part).unwrap().line().contains("\"truncated\": \"length\""));
        let revisit = record("revisit", "HTTP/1.1 200 OK\r\n\r\n");
        assert!(CdxEntry::of(&revisit).unwrap().line().contains("\"mime\": \"warc/revisit\""));
        assert!(CdxEntry::of(&record("request", "GET / HTTP/1.1\r\n\r\n")).is_none());
    }
}
