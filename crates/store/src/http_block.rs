//! Writes HTTP messages into WARC records.
//!
//! Bodies are stored decoded, so headers of codings are left out and the length is that of the decoded body. HTTP/2 is
//! written in HTTP/1.1 syntax, as the IIPC advises (warc-specifications, numbers 15 and 42), with
//! `WARC-Protocol: h2`.

use ndcrawl_model::{Fetched, Header};

/// Response headers that would contradict the stored body.
const UNDONE: [&str; 3] = ["content-encoding", "transfer-encoding", "content-length"];

/// Request headers that hold secrets.
const SECRETS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Returns the head of a response, with its empty line.
pub(crate) fn response_head(fetched: &Fetched) -> Vec<u8> {
    let mut head = Vec::with_capacity(512);
    line(
        &mut head,
        &[version(fetched).as_bytes(), format!(" {:03} ", fetched.status).as_bytes(), fetched.reason.as_bytes()],
    );
    headers(&mut head, &fetched.headers, &UNDONE);
    line(&mut head, &[b"Content-Length: ", fetched.body.len().to_string().as_bytes()]);
    head.extend(b"\r\n");
    head
}

/// Returns a request, with its empty line.
pub(crate) fn request(fetched: &Fetched) -> Vec<u8> {
    let url = fetched.address_requested();
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut block = Vec::with_capacity(512);
    line(&mut block, &[b"GET ", target.as_bytes(), b" ", version(fetched).as_bytes()]);
    if !fetched.request_headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        let host = url.host_str().unwrap_or_default().to_owned()
            + &url.port().map(|port| format!(":{port}")).unwrap_or_default();
        line(&mut block, &[b"Host: ", host.as_bytes()]);
    }
    headers(&mut block, &fetched.request_headers, &SECRETS);
    block.extend(b"\r\n");
    block
}

/// The value of `WARC-Protocol`.
pub(crate) fn protocol(fetched: &Fetched) -> &'static str {
    match fetched.version {
        "HTTP/2" => "h2",
        "HTTP/1.0" => "http/1.0",
        _ => "http/1.1",
    }
}

fn version(fetched: &Fetched) -> &'static str {
    if fetched.version == "HTTP/1.0" { "HTTP/1.0" } else { "HTTP/1.1" }
}

fn headers(block: &mut Vec<u8>, headers: &[Header], left_out: &[&str]) {
    for (name, value) in headers {
        let wanted = is_token(name) && !left_out.iter().any(|other| name.eq_ignore_ascii_case(other));
        if wanted {
            line(block, &[name.as_bytes(), b": ", value]);
        }
    }
}

/// Whether a name is a valid header name (RFC 9110, section 5.6.2). `:authority` is not.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Appends one line. No part can end it early.
fn line(block: &mut Vec<u8>, parts: &[&[u8]]) {
    block.extend(parts.iter().flat_map(|part| part.iter()).filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
    block.extend(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::super::tests::support::fetched;
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_response_says_how_it_is_stored_and_not_how_it_came() {
        let mut page = fetched("http://a.test/", b"12345");
        page.version = "HTTP/2";
        page.reason = String::new();
        page.headers = vec![
            ("content-type".into(), b"text/html".to_vec()),
            ("Content-Encoding".into(), b"gzip".to_vec()),
            ("transfer-encoding".into(), b"chunked".to_vec()),
            ("Content-Length".into(), b"3".to_vec()),
        ];
        assert_eq!(text(response_head(&page)), "HTTP/1.1 200 \r\ncontent-type: text/html\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(protocol(&page), "h2");
    }

    #[test]
    fn no_value_can_end_its_line() {
        let mut page = fetched("http://a.test/", b"");
        page.reason = "OK\r\nEvil: 1".into();
        page.headers = vec![("a".into(), b"b\r\n\r\n<body>\0".to_vec()), ("bad name\n".into(), b"x".to_vec())];
        assert_eq!(text(response_head(&page)), "HTTP/1.1 200 OKEvil: 1\r\na: b<body>\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    fn a_request_names_its_host_and_keeps_secrets_out() {
        let mut page = fetched("http://a.test:8080/p/q?x=1", b"");
        page.request_headers = vec![
            (":authority".into(), b"a.test".to_vec()),
            ("user-agent".into(), b"ndcrawl".to_vec()),
            ("Authorization".into(), b"Basic x".to_vec()),
            ("cookie".into(), b"session=1".to_vec()),
        ];
        let expected = "GET /p/q?x=1 HTTP/1.1\r\nHost: a.test:8080\r\nuser-agent: ndcrawl\r\n\r\n";
        assert_eq!(text(request(&page)), expected);
    }
}
