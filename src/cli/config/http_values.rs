//! Settings that become part of requests: header fields, agent, proxy, addresses. Secrets are masked wherever a
//! setting is shown.

use std::fmt;
use std::net::IpAddr;

use serde_json::Value;
use url::Url;

use crate::cli::config::value::Scalar;
use crate::fetch::{MASK, ResolveOverride, is_secret_header};

/// A header field: a valid name, and a value without line breaks.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderLine {
    /// The name as given.
    pub name: String,
    /// The value, trimmed.
    pub value: String,
}

impl HeaderLine {
    /// Returns whether the value is a secret.
    pub fn is_secret(&self) -> bool {
        is_secret_header(&self.name)
    }

    fn masked(&self) -> String {
        format!("{}: {}", self.name, if self.is_secret() { MASK } else { &self.value })
    }
}

impl fmt::Debug for HeaderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl Scalar for HeaderLine {
    /// An error never repeats the value, which may be a secret.
    fn from_text(text: &str) -> Result<Self, String> {
        if text.contains(['\r', '\n', '\0']) {
            return Err("a header field can't contain CR, LF or NUL".to_owned());
        }
        let (name, value) = text.split_once(':').ok_or("a header field is 'Name: value'")?;
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err("the name of a header field is one word of letters, digits and hyphens".to_owned());
        }
        let value = value.trim();
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(format!("the value of {name} contains a control character"));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }

    fn to_value(&self) -> Value {
        Value::from(self.masked())
    }
}

/// Text of a request header: one line of visible ASCII and spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderText(pub String);

impl Scalar for HeaderText {
    fn from_text(text: &str) -> Result<Self, String> {
        if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
            Ok(Self(text.trim().to_owned()))
        } else {
            Err("only printable ASCII is allowed in a header field".to_owned())
        }
    }

    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// The product token that robots.txt uses for a crawler: letters, `_` and `-`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductToken(pub String);

impl Scalar for ProductToken {
    fn from_text(text: &str) -> Result<Self, String> {
        let is_token = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b == b'-';
        if !text.is_empty() && text.bytes().all(is_token) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("'{text}' is not a product token: letters, '_' and '-' only (RFC 9309)"))
        }
    }

    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// The proxy of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// From `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    #[default]
    Environment,
    /// No proxy, whatever the environment says.
    Direct,
    /// This proxy.
    Url(Url),
}

impl Scalar for Proxy {
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "env" => Ok(Self::Environment),
            "none" => Ok(Self::Direct),
            _ => match Url::parse(text) {
                Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Self::Url(url)),
                _ => Err(format!("'{}' is not a proxy: env, none or http://HOST:PORT", mask_url(text))),
            },
        }
    }

    fn to_value(&self) -> Value {
        Value::from(match self {
            Self::Environment => "env".to_owned(),
            Self::Direct => "none".to_owned(),
            Self::Url(url) => mask_url(url.as_str()),
        })
    }
}

/// Returns the URL with its password masked. Text that is not a URL is masked where a password may be.
pub fn mask_url(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |at| start + at);
    let Some(at) = text[start..end].rfind('@') else { return text.to_owned() };
    match text[start..start + at].find(':') {
        Some(colon) => format!("{}:{MASK}{}", &text[..start + colon], &text[start + at..]),
        None => text.to_owned(),
    }
}

/// The URL of a key directory (draft-ietf-webbotauth-httpsig-protocol-01, section 4.2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryUrl(pub Url);

impl Scalar for DirectoryUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).ok().filter(|url| {
            let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
            url.scheme() == "https" && is_plain
        });
        let shown = mask_url(text);
        url.map(Self).ok_or_else(|| format!("'{shown}' is not the address of a key directory: https://HOST/PATH"))
    }

    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// A URL as typed, shown without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedUrl(pub String);

impl Scalar for TypedUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }

    fn to_value(&self) -> Value {
        Value::from(mask_url(&self.0))
    }
}

/// An address for a host instead of a DNS lookup, like `--resolve` of curl. The host is in lower case.
impl Scalar for ResolveOverride {
    fn from_text(text: &str) -> Result<Self, String> {
        let error = || format!("'{text}' is not HOST:ADDR or HOST:PORT:ADDR, such as example.org:443:192.0.2.1");
        let (host, rest) = text.split_once(':').ok_or_else(error)?;
        let address = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let with_port = || {
            let (port, rest) = rest.split_once(':')?;
            Some((Some(port.parse().ok()?), address(rest)?))
        };
        // Without brackets, `h:80:...` may also parse as an IPv6 address; the port takes precedence.
        let (port, address) = with_port().or_else(|| Some((None, address(rest)?))).ok_or_else(error)?;
        if host.is_empty() {
            return Err(error());
        }
        // As in a URL: names beyond ASCII have a form for the DNS.
        let known = url::Host::parse(host).ok().filter(|_| host != "*").map(|host| host.to_string());
        Ok(Self { host: known.unwrap_or_else(|| host.to_ascii_lowercase()), port, address })
    }

    fn to_value(&self) -> Value {
        let address = match self.address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        Value::from(match self.port {
            Some(port) => format!("{}:{port}:{address}", self.host),
            None => format!("{}:{address}", self.host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_line_cannot_carry_a_second_one() {
        for text in ["X: a\r\nY: b", "X: a\nb", "X: \0", "no colon", ": x", "X Y: z", "X : y"] {
            assert!(HeaderLine::from_text(text).is_err(), "{text:?}");
        }
        let line = HeaderLine::from_text("X-Test:  a: b ").unwrap();
        assert_eq!((line.name.as_str(), line.value.as_str()), ("X-Test", "a: b"));
    }

    #[test]
    fn secrets_are_masked_wherever_they_are_shown() {
        let line = HeaderLine::from_text("Authorization: Bearer abc").unwrap();
        assert_eq!(line.to_value(), Value::from("Authorization: ***"));
        assert_eq!(format!("{line:?}"), "Authorization: ***");
        assert_eq!(HeaderLine::from_text("Accept: x").unwrap().to_value(), Value::from("Accept: x"));
        assert_eq!(Proxy::from_text("http://u:p@h:3128").unwrap().to_value(), Value::from("http://u:***@h:3128/"));
        assert_eq!(mask_url("https://u:p@q@h/x@y"), "https://u:***@h/x@y");
        assert_eq!(mask_url("https://h/a:b@c"), "https://h/a:b@c");
        assert!(!Proxy::from_text("ftp://u:secret@h").unwrap_err().contains("secret"));
    }

    #[test]
    fn a_fixed_address_may_name_a_port() {
        let read = |text| ResolveOverride::from_text(text).unwrap();
        assert_eq!((read("H:192.0.2.1").port, read("H:192.0.2.1").host.as_str()), (None, "h"));
        assert_eq!(read("h:80:192.0.2.1").port, Some(80));
        assert_eq!(read("h:80:[::1]").address, "::1".parse::<IpAddr>().unwrap());
        assert_eq!(read("h:::1").port, None);
        for text in ["h", "h:80", ":80:1.2.3.4", "h:x:1.2.3.4", "h:99999:1.2.3.4"] {
            assert!(ResolveOverride::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_directory_is_reached_by_https_and_without_a_password() {
        assert!(DirectoryUrl::from_text("https://bot.example/.well-known/http-message-signatures-directory").is_ok());
        for text in ["bot.example", "http://bot.example/", "https://u:secret@bot.example/", "https://bot.example/#k"] {
            let refused = DirectoryUrl::from_text(text).unwrap_err();
            assert!(refused.contains("https://HOST/PATH") && !refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    fn a_product_token_has_no_version() {
        assert!(ProductToken::from_text("nd-crawl_x").is_ok());
        for text in ["", "nd crawl", "ndcrawl/1", "nd1"] {
            assert!(ProductToken::from_text(text).is_err(), "{text}");
        }
    }
}
