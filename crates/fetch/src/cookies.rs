//! Cookies of a file in the Netscape format, as browsers' extensions, curl and wget write it.
//!
//! The crate `cookie_store` decides which of them a request gets (RFC 6265, section 5.4). Answers change none: each
//! request of a crawl is made with the same cookies, whatever came before it.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cookie_store::CookieStore;
use reqwest::header::HeaderValue;
use url::{Host, Url};

/// What extensions write before the line of a cookie that scripts cannot read.
const HTTP_ONLY: &str = "#HttpOnly_";
/// The fields of a line: domain, whether it has sub-domains, path, whether for https alone, expiry, name, value.
const FIELDS: usize = 7;

/// Cookies for the hosts and paths that they name.
pub struct Cookies {
    store: CookieStore,
    count: usize,
    expired: usize,
}

/// Why a line is no cookie. The text never repeats a name or a value, which may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum CookieLineError {
    #[error("not UTF-8")]
    NotUtf8,
    #[error("{0} of {FIELDS} fields, with tabs between them")]
    Fields(usize),
    #[error("the domain (field 1) is no host name")]
    Domain,
    #[error("field {0} is neither TRUE nor FALSE")]
    Flag(usize),
    #[error("the path (field 3) does not begin with a slash, or has a character that cannot be sent")]
    Path,
    #[error("the expiry (field 5) is no number of seconds")]
    Expiry,
    #[error("the name (field 6) is empty, or has a character that cannot be sent")]
    Name,
    #[error("the value (field 7) has a character that cannot be sent")]
    Value,
}

impl Cookies {
    /// Reads a file's content. An error comes with the number of its line, from 1.
    pub fn read(file: &[u8], now: SystemTime) -> Result<Self, (usize, CookieLineError)> {
        let mut cookies = Self { store: CookieStore::default(), count: 0, expired: 0 };
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        for (at, line) in file.split(|&byte| byte == b'\n').enumerate() {
            cookies.add_line(line, now).map_err(|error| (at + 1, error))?;
        }
        Ok(cookies)
    }

    /// Returns the number of cookies.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns how many had expired when the file was read.
    pub fn expired(&self) -> usize {
        self.expired
    }

    /// Returns the header `Cookie` of a request, if any cookie is for its URL. Longer paths come first.
    pub(super) fn for_url(&self, url: &Url) -> Option<HeaderValue> {
        let mut cookies = self.store.matches(url);
        cookies.sort_by(|a, b| (b.path.len(), a.name()).cmp(&(a.path.len(), b.name())));
        let pairs: Vec<String> = cookies.iter().map(|cookie| format!("{}={}", cookie.name(), cookie.value())).collect();
        let mut value = (!pairs.is_empty()).then(|| HeaderValue::from_str(&pairs.join("; ")).ok()).flatten()?;
        value.set_sensitive(true);
        Some(value)
    }

    fn add_line(&mut self, line: &[u8], now: SystemTime) -> Result<(), CookieLineError> {
        let line = std::str::from_utf8(line).map_err(|_| CookieLineError::NotUtf8)?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.strip_prefix(HTTP_ONLY).unwrap_or(line);
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(());
        }
        let cookie = CookieLine::parse(line)?;
        self.count += 1;
        match cookie.seconds_left(now) {
            Some(0) => self.expired += 1,
            left => self.add(&cookie, left)?,
        }
        Ok(())
    }

    /// Adds a cookie as if its own host had sent it.
    fn add(&mut self, cookie: &CookieLine<'_>, seconds_left: Option<u64>) -> Result<(), CookieLineError> {
        let CookieLine { host, path, name, value, .. } = cookie;
        let origin = Url::parse(&format!("https://{host}/")).map_err(|_| CookieLineError::Domain)?;
        let mut header = format!("{name}={value}; Path={path}");
        if cookie.has_subdomains {
            header += &format!("; Domain={host}");
        }
        if cookie.is_secure {
            header += "; Secure";
        }
        if let Some(seconds) = seconds_left {
            header += &format!("; Max-Age={seconds}");
        }
        self.store.parse(&header, &origin).map(drop).map_err(|_| CookieLineError::Domain)
    }
}

impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cookies", self.count)
    }
}

/// A line of the file.
struct CookieLine<'a> {
    host: Host,
    has_subdomains: bool,
    path: &'a str,
    is_secure: bool,
    /// Seconds since 1970; `None` is the end of the session.
    expires: Option<u64>,
    name: &'a str,
    value: &'a str,
}

impl<'a> CookieLine<'a> {
    fn parse(line: &'a str) -> Result<Self, CookieLineError> {
        let fields: Vec<&str> = line.split('\t').collect();
        let (fields, value) = match fields[..] {
            [ref fields @ .., value] if fields.len() == FIELDS - 1 => (fields, value),
            // Some programs leave out the tab before an empty value.
            ref fields if fields.len() == FIELDS - 1 => (fields, ""),
            ref fields => return Err(CookieLineError::Fields(fields.len())),
        };
        let [domain, has_subdomains, path, is_secure, expires, name] = fields[..] else {
            return Err(CookieLineError::Fields(fields.len()));
        };
        let is_sent = |text: &str| !text.contains(|c: char| c == ';' || c.is_control());
        if !path.starts_with('/') || !is_sent(path) {
            return Err(CookieLineError::Path);
        }
        if name.is_empty() || name.trim() != name || name.contains('=') || !is_sent(name) {
            return Err(CookieLineError::Name);
        }
        if !is_sent(value) {
            return Err(CookieLineError::Value);
        }
        Ok(Self {
            host: Host::parse(domain.strip_prefix('.').unwrap_or(domain)).map_err(|_| CookieLineError::Domain)?,
            has_subdomains: flag(has_subdomains).ok_or(CookieLineError::Flag(2))?,
            path,
            is_secure: flag(is_secure).ok_or(CookieLineError::Flag(4))?,
            expires: expiry(expires)?,
            name,
            value,
        })
    }

    /// Returns how long the cookie is still sent: 0 if it has expired, `None` for as long as the crawl runs.
    fn seconds_left(&self, now: SystemTime) -> Option<u64> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        self.expires.map(|expires| expires.saturating_sub(now))
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads an expiry. Some programs write fractions of a second; 0 and nothing are the end of the session.
fn expiry(text: &str) -> Result<Option<u64>, CookieLineError> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    if whole.is_empty() {
        return if text.is_empty() { Ok(None) } else { Err(CookieLineError::Expiry) };
    }
    let seconds: u64 = whole.parse().map_err(|_| CookieLineError::Expiry)?;
    Ok((seconds > 0).then_some(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Result<Cookies, (usize, CookieLineError)> {
        Cookies::read(file.as_bytes(), SystemTime::now())
    }

    fn sent(cookies: &Cookies, url: &str) -> String {
        let value = cookies.for_url(&Url::parse(url).unwrap());
        value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_cookie_goes_to_its_hosts_and_paths_only() {
        let file = "# Netscape HTTP Cookie File\r\n\r\n\
                    a.test\tFALSE\t/\tFALSE\t0\thost\t1\r\n\
                    .a.test\tTRUE\t/app\tFALSE\t4102444800\tall\t2\r\n\
                    #HttpOnly_a.test\tFALSE\t/\tTRUE\t4102444800.5\tsecure\t3=4\r\n\
                    a.test\tFALSE\t/\tFALSE\t1000000000\told\t5\n\
                    B.test\tfalse\t/\tfalse\t\tempty";
        let cookies = read(file).unwrap();
        assert_eq!((cookies.count(), cookies.expired()), (5, 1));
        for (url, expected) in [
            ("http://a.test/", "host=1"),
            ("https://a.test/", "host=1; secure=3=4"),
            ("https://a.test/app/x", "all=2; host=1; secure=3=4"),
            ("http://a.test/apple", "host=1"),
            ("http://www.a.test/app", "all=2"),
            ("http://www.a.test/", ""),
            ("http://xa.test/app", ""),
            ("http://a.test.evil.test/app", ""),
            ("http://b.test:81/", "empty="),
        ] {
            assert_eq!(sent(&cookies, url), expected, "{url}");
        }
        assert_eq!(format!("{cookies:?}"), "5 cookies");
    }

    #[test]
    fn a_bad_line_is_named_and_its_content_is_not_repeated() {
        use CookieLineError::*;
        for (line, expected) in [
            ("a.test FALSE / FALSE 0 sid secret", Fields(1)),
            ("[{\"name\": \"sid\", \"value\": \"secret\"}]", Fields(1)),
            ("a.test\tFALSE\t/\tFALSE\t0\tsid\tsecret\tmore", Fields(8)),
            ("a b\tFALSE\t/\tFALSE\t0\tsid\tsecret", Domain),
            ("\tFALSE\t/\tFALSE\t0\tsid\tsecret", Domain),
            ("a.test\tyes\t/\tFALSE\t0\tsid\tsecret", Flag(2)),
            ("a.test\tFALSE\t/\t1\t0\tsid\tsecret", Flag(4)),
            ("a.test\tFALSE\tapp\tFALSE\t0\tsid\tsecret", Path),
            ("a.test\tFALSE\t/\tFALSE\ttomorrow\tsid\tsecret", Expiry),
            ("a.test\tFALSE\t/\tFALSE\t-1\tsid\tsecret", Expiry),
            ("a.test\tFALSE\t/\tFALSE\t0\t\tsecret", Name),
            ("a.test\tFALSE\t/\tFALSE\t0\tsid\tsecret; Domain=b.test", Value),
            ("a.test\tFALSE\t/\tFALSE\t0\tsid\tsecret\u{7f}", Value),
        ] {
            let (at, error) = read(&format!("# comment\n{line}\n")).unwrap_err();
            assert_eq!((at, error), (2, expected), "{line}");
            assert!(!error.to_string().contains("secret"));
        }
        assert_eq!(Cookies::read(b"\xff\xfe", SystemTime::now()).unwrap_err(), (1, NotUtf8));
        assert_eq!(read("").unwrap().count(), 0);
    }

    #[test]
    fn an_expired_cookie_is_not_sent_any_more() {
        let now = SystemTime::now();
        let soon = now.duration_since(UNIX_EPOCH).unwrap().as_secs() + 1;
        let cookies = read(&format!("a.test\tFALSE\t/\tFALSE\t{soon}\tsid\t1")).unwrap();
        assert_eq!(sent(&cookies, "http://a.test/"), "sid=1");
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(sent(&cookies, "http://a.test/"), "");
    }
}
