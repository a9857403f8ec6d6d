//! Builds WARC/1.1 records (ISO 28500:2017) as gzip members.

use data_encoding::BASE32;
use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use ndcrawl_model::{Digest, Fetched, KnownUnchanged, PageId, RowName, Unchanged, Verdict};

use super::gzip::Gzip;
use super::http_block;
use super::options::Options;

/// Revisit profile of an identical payload (section 6.7.2).
const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
/// Revisit profile of a 304 response (section 6.7.3).
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// The field of a line of a duplicate's text.
pub(crate) const TEXT_LINE: &str = "text";

/// Returns `WARC-Payload-Digest` of a body (section 5.9): `sha1:` and base 32.
pub fn payload_digest(body: &[u8]) -> String {
    digest(&[body])
}

pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    format!("sha1:{}", BASE32.encode(&hasher.finalize()))
}

/// The types of records that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Warcinfo,
    Response,
    Request,
    Revisit,
    Metadata,
    /// The text of a duplicate or a document: a `metadata` record behind the other.
    Text,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Warcinfo => "warcinfo",
            Kind::Response => "response",
            Kind::Request => "request",
            Kind::Revisit => "revisit",
            Kind::Metadata | Kind::Text => "metadata",
        }
    }

    /// The word by which ids of this kind differ from those of others.
    fn id_word(self) -> &'static str {
        if self == Kind::Text { "text" } else { self.name() }
    }

    /// Returns `WARC-Record-ID` (section 5.2), which is deterministic for page and record type. The UUID has version 8
    /// (RFC 9562, section 5.8).
    pub(crate) fn id_of(self, page: PageId) -> String {
        self.id(&page.0.to_le_bytes())
    }

    fn id(self, name: &[u8]) -> String {
        let Digest(mut bytes) = Digest::of(&[self.id_word().as_bytes(), &[0], name].concat());
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        format!("<urn:uuid:{a}-{b}-{c}-{d}-{e}>")
    }
}

/// A record to write.
pub(crate) struct Draft<'a> {
    fields: Vec<(&'static str, String)>,
    head: Vec<u8>,
    body: &'a [u8],
}

impl<'a> Draft<'a> {
    fn new(kind: Kind, id: String, date: String) -> Self {
        let fields = vec![("WARC-Type", kind.name().to_owned()), ("WARC-Record-ID", id), ("WARC-Date", date)];
        Self { fields, head: Vec::new(), body: &[] }
    }

    fn of_page(kind: Kind, page: PageId, fetched: &Fetched) -> Self {
        let target = fetched.address_requested().as_str();
        Self::new(kind, kind.id_of(page), written_date(fetched.started_at)).with("WARC-Target-URI", target)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds the row of a file that the page was. The standard lets programs add fields of their own (section 5.1).
    pub(crate) fn with_row(self, row: Option<&RowName>) -> Self {
        let Some(RowName { file, number, id }) = row else { return self };
        let draft = self.with("Row-File", file).with("Row-Number", number.to_string());
        match id {
            Some(id) => draft.with("Row-Id", id),
            None => draft,
        }
    }

    /// Adds the URL of the file of a site for which the exchange was made; redirects lead from there to others.
    pub(crate) fn of_site_file(self, url: &str) -> Self {
        self.with("Site-File", url)
    }

    fn with_exchange(self, fetched: &Fetched) -> Self {
        let draft = self.with("WARC-Protocol", http_block::protocol(fetched));
        match fetched.address {
            Some(address) => draft.with("WARC-IP-Address", address.ip().to_string()),
            None => draft,
        }
    }

    /// Creates the first record of a file (section 6.2). `file` is its final name.
    pub(crate) fn warcinfo(crawl: &str, file: &str, lines: &[(&str, &str)]) -> Self {
        let id = Kind::Warcinfo.id(format!("{crawl}/{file}").as_bytes());
        let draft = Self::new(Kind::Warcinfo, id, date(now_millis()))
            .with("WARC-Filename", file)
            .with("Content-Type", "application/warc-fields");
        Self { head: fields(lines), ..draft }
    }

    /// Creates a response record (section 6.3). Body, head and length are decoded. `digest` is the [`payload_digest`].
    pub(crate) fn response(page: PageId, fetched: &'a Fetched, digest: &str) -> Self {
        let mut draft = Self::of_page(Kind::Response, page, fetched)
            .with_exchange(fetched)
            .with("WARC-Payload-Digest", digest)
            .with("Content-Type", "application/http;msgtype=response");
        if fetched.truncated {
            let why = if fetched.broken_off.is_some() { "disconnect" } else { "length" };
            draft = draft.with("WARC-Truncated", why);
        }
        Self { head: http_block::response_head(fetched), body: &fetched.body, ..draft }
    }

    /// Creates a request record (section 6.5).
    pub(crate) fn request(page: PageId, fetched: &Fetched) -> Self {
        let draft = Self::of_page(Kind::Request, page, fetched)
            .with_exchange(fetched)
            .with("WARC-Concurrent-To", Kind::Response.id_of(page))
            .with("Content-Type", "application/http;msgtype=request");
        Self { head: http_block::request(fetched), ..draft }
    }

    /// Creates a revisit record (section 6.7.2) of a response with the body of `original`, fetched from this URL at this
    /// time. It holds only the head.
    pub(crate) fn revisit(
        page: PageId,
        fetched: &Fetched,
        digest: &str,
        original: PageId,
        (url, fetched_at): (&str, Option<i64>),
    ) -> Self {
        let mut draft = Self::of_page(Kind::Revisit, page, fetched)
            .with_exchange(fetched)
            .with("WARC-Profile", SAME_PAYLOAD)
            .with("WARC-Refers-To", Kind::Response.id_of(original))
            .with("WARC-Refers-To-Target-URI", url);
        if let Some(fetched_at) = fetched_at {
            draft = draft.with("WARC-Refers-To-Date", date(fetched_at));
        }
        let draft = draft.with("WARC-Payload-Digest", digest).with("Content-Type", "application/http;msgtype=response");
        Self { head: http_block::response_head(fetched), ..draft }
    }

    /// Creates a revisit record of a page that is unchanged since an earlier generation.
    pub(crate) fn unchanged(page: PageId, fetched: &Fetched, digest: &str, unchanged: &Unchanged) -> Self {
        let draft = Self::of_page(Kind::Revisit, page, fetched)
            .with_exchange(fetched)
            .with(
                "WARC-Profile",
                match unchanged.known_by {
                    KnownUnchanged::Status => NOT_MODIFIED,
                    KnownUnchanged::Body | KnownUnchanged::NotRequested => SAME_PAYLOAD,
                },
            )
            .with("WARC-Refers-To", &unchanged.record_id)
            .with("WARC-Refers-To-Target-URI", &unchanged.target)
            .with("WARC-Refers-To-Date", &unchanged.fetched_at)
            .with("WARC-Payload-Digest", digest)
            .with("Content-Type", "application/http;msgtype=response");
        Self { head: http_block::response_head(fetched), ..draft }
    }

    /// Creates a metadata record of a duplicate (section 6.6). `concurrent`: its response is archived too.
    pub(crate) fn duplicate(
        page: PageId,
        fetched: &Fetched,
        verdict: &Verdict,
        original: Option<&str>,
        concurrent: bool,
    ) -> Self {
        let mut draft = Self::of_page(Kind::Metadata, page, fetched).with("Content-Type", "application/warc-fields");
        if concurrent {
            draft = draft.with("WARC-Concurrent-To", Kind::Response.id_of(page));
        }
        let (score, method, decided_by) = match *verdict {
            Verdict::NearDuplicate { score, detector, decided_by, .. } => {
                (Some(score.as_f64().to_string()), detector.name(), decided_by.name())
            }
            Verdict::ExactDuplicate { decided_by, .. } => (None, "exact", decided_by.name()),
            Verdict::Unique => (None, "none", "none"),
        };
        let all = [
            ("duplicate-of", original),
            ("score", score.as_deref()),
            ("method", Some(method)),
            ("decided-by", Some(decided_by)),
        ];
        let lines: Vec<(&str, &str)> = all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Self { head: fields(&lines), ..draft }
    }

    /// Creates the record of the text of a duplicate or a document (section 6.6), behind the record `of` it: a field for
    /// each line, since programs that index an archive take metadata of another type for a page.
    pub(crate) fn text(page: PageId, fetched: &Fetched, of: Kind, text: &str) -> Self {
        let draft = Self::of_page(Kind::Text, page, fetched)
            .with("WARC-Refers-To", of.id_of(page))
            .with("Content-Type", "application/warc-fields");
        let lines: Vec<(&str, &str)> = text.split('\n').map(|line| (TEXT_LINE, line)).collect();
        Self { head: fields(&lines), ..draft }
    }

    /// Compresses the record into its own gzip member (annex D).
    pub(crate) fn to_member(&self, gzip: &mut Gzip) -> Vec<u8> {
        let length = self.head.len() + self.body.len();
        let mut header = b"WARC/1.1\r\n".to_vec();
        let own = [("WARC-Block-Digest", digest(&[&self.head, self.body])), ("Content-Length", length.to_string())];
        for (name, value) in self.fields.iter().chain(&own) {
            header.extend(one_line(name, value).into_bytes());
        }
        gzip.member(&[&header, b"\r\n", &self.head, self.body, b"\r\n\r\n"])
    }
}

/// Returns the first record of a WARC file (section 6.2) as a gzip member, for the file and the crawl of these names.
pub fn warcinfo_member(crawl: &str, file: &str, lines: &[(&str, &str)]) -> Vec<u8> {
    Draft::warcinfo(crawl, file, lines).to_member(&mut Gzip::new(Options::default().gzip_level))
}

/// Formats `application/warc-fields`.
fn fields(lines: &[(&str, &str)]) -> Vec<u8> {
    lines.iter().map(|(name, value)| one_line(name, value)).collect::<String>().into_bytes()
}

fn one_line(name: &str, value: &str) -> String {
    let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{name}: {value}\r\n")
}

/// Returns `WARC-Date` of a page. A record must have one (section 5.4): if nobody knows when the page was fetched, it is
/// the time at which the record is written.
fn written_date(started_at: Option<i64>) -> String {
    date(started_at.unwrap_or_else(now_millis))
}

/// Formats `WARC-Date` (section 5.4) with milliseconds.
fn date(millis: i64) -> String {
    Timestamp::from_millisecond(millis).unwrap_or_default().to_string()
}

/// Formats date and time as 14 digits, as in names of WARC files (annex C).
pub(crate) fn date_digits(millis: i64) -> String {
    Timestamp::from_millisecond(millis).unwrap_or_default().strftime("%Y%m%d%H%M%S").to_string()
}

/// Returns the time in milliseconds since 1970 UTC.
pub(crate) fn now_millis() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_same_ids_each_time_and_one_for_each_kind() {
        let page = PageId::new("crawl", "http://a.test/", 0);
        let id = Kind::Response.id_of(page);
        assert_eq!(id, Kind::Response.id_of(page));
        assert_ne!(id, Kind::Request.id_of(page));
        assert_ne!(Kind::Metadata.id_of(page), Kind::Text.id_of(page));
        assert_ne!(id, Kind::Response.id_of(PageId::new("crawl", "http://a.test/", 1)));
        let hex = id.strip_prefix("<urn:uuid:").and_then(|id| id.strip_suffix('>')).unwrap();
        assert_eq!(hex.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_eq!((&hex[14..15], "89ab".contains(&hex[19..20])), ("8", true));
    }

    #[test]
    fn digests_and_dates_are_spelled_as_the_standard_says() {
        // The SHA-1 of nothing, as every archive of the web has it.
        assert_eq!(payload_digest(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(date(1_800_000_000_123), "2027-01-15T08:00:00.123Z");
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_digits(1_800_000_000_123), "20270115080000");
    }

    #[test]
    fn no_value_can_begin_a_field_of_its_own() {
        assert_eq!(one_line("duplicate-of", "a\r\nb: c"), "duplicate-of: a  b: c\r\n");
    }
}
