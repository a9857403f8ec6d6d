//! SURT keys (Sort-friendly URI Reordering Transform), by which web archives look up URLs.
//!
//! The key equals that of the Internet Archive's Python package `surt`, which `pywb` and `cdxj-indexer` use. The steps
//! are those of its `GoogleURLCanonicalizer`, then those of `IAURLCanonicalizer`. Last come the host's labels in
//! reverse, also of IP addresses. Input URLs are canonical already, so steps that the URL Standard covers (numeric
//! addresses, default ports, fragments) are left out.

use std::sync::LazyLock;

use regex::Regex;
use url::Url;

use ndcrawl_model::CanonicalUrl;

/// Returns the SURT key of a URL, or the URL itself if it cannot be parsed.
pub fn surt(url: &str) -> String {
    let canonical = CanonicalUrl::from_canonical(url);
    // Like the package, which leaves other schemes as they are.
    if canonical.as_ref().is_ok_and(|url| url.file().is_some()) {
        return url.to_owned();
    }
    match canonical.map(|url| key(url.as_url())).or_else(|_| Url::parse(url).map(|url| key(&url))) {
        Ok(key) => key,
        Err(_) => url.to_owned(),
    }
}

fn key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let host = without_www(&host).split('.').rev().collect::<Vec<_>>().join(",");
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = url.query().map(query).filter(|query| !query.is_empty());
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{host}{port}){}{query}", path(url.path()))
}

/// Removes a leading `www.`, `www1.` or the like.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

fn path(path: &str) -> String {
    let path = escaped(&normal_path(&unescaped(path.as_bytes()))).to_ascii_lowercase();
    let path = PATH_SESSIONS.iter().fold(path, |path, session| session.replace(&path, "$1$3").into_owned());
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        _ => path,
    }
}

/// Removes empty and dot segments; keeps a final slash.
fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let mut normal = b"/".to_vec();
    for segment in kept.iter().filter(|segment| !segment.is_empty()) {
        normal.extend(*segment);
        normal.push(b'/');
    }
    normal.extend(last);
    normal
}

fn query(query: &str) -> String {
    let query = escaped(&unescaped(query.as_bytes()));
    let query = QUERY_SESSIONS.iter().fold(query, |query, session| session.replace(&query, "$1$2").into_owned());
    let query = query.to_ascii_lowercase();
    let mut parameters: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|parameter| parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value))))
        .collect();
    parameters.sort_unstable();
    let parameter = |(name, value): &(&str, Option<&str>)| match value {
        Some(value) => format!("{name}={value}"),
        None => (*name).to_owned(),
    };
    parameters.iter().map(parameter).collect::<Vec<_>>().join("&")
}

/// Removes percent-encoding repeatedly, until nothing changes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    loop {
        let once = unescaped_once(&text);
        if once == text {
            return text;
        }
        text = once;
    }
}

fn unescaped_once(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        let digit = |at: usize| behind.get(at).and_then(|&byte| char::from(byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            _ => {
                plain.push(first);
                rest = behind;
            }
        }
    }
    plain
}

/// Percent-encodes all bytes but visible ASCII, and also `#` and `%`.
fn escaped(text: &[u8]) -> String {
    let byte = |&byte: &u8| match byte {
        b'!'..=b'~' if !matches!(byte, b'#' | b'%') => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.iter().map(byte).collect()
}

/// Session IDs of ASP.NET in paths. The parts around them are kept.
static PATH_SESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    expressions(&[
        r"(?i)^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^\?]+\.aspx.*)$",
        r"(?i)^(.*/)(\([0-9a-z]{24}\)/)([^\?]+\.aspx.*)$",
    ])
});

/// Session IDs in queries.
static QUERY_SESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    expressions(&[
        r"(?i)^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"(?i)^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"(?i)^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"(?i)^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$",
        r"(?i)^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    ])
});

/// Compiles expressions. Tests cover each, so none is dropped as invalid.
fn expressions(texts: &[&str]) -> Vec<Regex> {
    texts.iter().filter_map(|text| Regex::new(text).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_surt_library() {
        // As printed by surt 0.3.1.
        for (url, expected) in [
            ("http://www.example.com/", "com,example)/"),
            ("https://www2.Example.co.uk:8443/A/B/?b=2&a=1&B", "uk,co,example:8443)/a/b?a=1&b&b=2"),
            ("http://127.0.1.6:8080/x.html", "6,1,0,127:8080)/x.html"),
            ("http://[::1]:81/", "::1:81)/"),
            ("http://a.test//x///y/", "test,a)/x/y"),
            ("http://a.test/%7Euser/%25%32%35", "test,a)/~user/%25"),
            ("http://a.test/caf%C3%A9?q=%c3%a9+%26", "test,a)/caf%c3%a9?&q=%c3%a9+"),
            (
                "http://a.test/a;jsessionid=1?PHPSESSID=0123456789abcdef0123456789abcdef&x=1",
                "test,a)/a;jsessionid=1?x=1",
            ),
            ("http://a.test/(S(0123456789abcdefghijklmn))/p.aspx", "test,a)/p.aspx"),
            ("http://a.test/?", "test,a)/"),
            ("http://a.test/?sid=0123456789abcdef0123456789abcdef", "test,a)/"),
            ("http://wwww.test/..%2f/x", "test,wwww)/../x"),
        ] {
            assert_eq!(surt(url), expected, "{url}");
        }
        assert_eq!((PATH_SESSIONS.len(), QUERY_SESSIONS.len()), (2, 5));
    }
}
