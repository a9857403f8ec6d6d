//! Rests: until when an origin or an IP address must not be asked, and why.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Why the next request to an origin has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// The politeness delay of the origin.
    Gap,
    /// The `Crawl-delay` of robots.txt.
    CrawlDelay,
    /// The politeness delay of the IP address.
    AddressGap,
    /// Our own back-off, after a failure, a 429 or a 503.
    BackOff,
    /// The `Retry-After` of a response.
    RetryAfter,
}

/// Who rests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestOf {
    /// `scheme://host:port`.
    Origin(String),
    /// An IP address, with all origins there.
    Address(IpAddr),
}

/// A rest as it is stored for the next run, by the wall clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestRow {
    /// Who rests.
    #[serde(flatten)]
    pub of: RestOf,
    /// Why.
    pub why: Rest,
    /// When this became known, milliseconds since 1970 UTC.
    pub since: i64,
    /// How long the rest lasts from then, milliseconds.
    pub millis: u64,
    /// The last address of an origin, which rests too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<IpAddr>,
    /// Consecutive 429 and 503 responses of an origin.
    #[serde(default)]
    pub strikes: u32,
}

impl RestRow {
    /// Returns the end of the rest, milliseconds since 1970 UTC.
    pub fn end(&self) -> i64 {
        self.since.saturating_add(i64::try_from(self.millis).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_a_line_that_people_can_read() {
        let row = RestRow {
            of: RestOf::Origin("http://a.test:80".into()),
            why: Rest::RetryAfter,
            since: 1_000,
            millis: 250,
            at: Some(IpAddr::from([192, 0, 43, 1])),
            strikes: 2,
        };
        let text = r#"{"origin":"http://a.test:80","why":"retry-after","since":1000,"millis":250,"at":"192.0.43.1","strikes":2}"#;
        assert_eq!(serde_json::to_string(&row).unwrap(), text);
        assert_eq!(serde_json::from_str::<RestRow>(text).unwrap(), row);
        assert_eq!(row.end(), 1_250);
        let text = r#"{"address":"::1","why":"address-gap","since":-1,"millis":18446744073709551615}"#;
        let row: RestRow = serde_json::from_str(text).unwrap();
        assert_eq!((row.of.clone(), row.end()), (RestOf::Address(std::net::Ipv6Addr::LOCALHOST.into()), i64::MAX - 1));
    }
}
