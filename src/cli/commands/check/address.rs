//! Whether an address is public.

use std::net::IpAddr;

use serde_json::{Value, json};
use url::{Host, Url};

use super::query::{Query, QueryError};
use crate::fetch::AddressGuard;
use crate::model::Normalizer;

/// Answers `public`, and `why` not, for an IP address or the host of a URL.
///
/// For a host name `public` is null, because nothing is looked up.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    if let Some(text) = query.text("ip")? {
        let ip = text.trim().trim_start_matches('[').trim_end_matches(']').parse();
        return Ok(ip.map_or_else(|_| refused("not an IP address"), judged));
    }
    let url = match Normalizer::default().absolute(query.required("url")?) {
        Ok(url) => url,
        Err(error) => return Ok(refused(&error.to_string())),
    };
    Ok(match url.as_url().host() {
        Some(Host::Ipv4(ip)) => judged(ip.into()),
        Some(Host::Ipv6(ip)) => judged(ip.into()),
        _ if is_this_machine(url.as_url()) => refused("loopback"),
        _ => json!({ "public": null, "why": "a name: each address it has is checked at connect time" }),
    })
}

fn judged(ip: IpAddr) -> Value {
    match AddressGuard::default().check(ip) {
        Ok(()) => json!({ "public": true, "why": "", "ip": ip.to_string() }),
        Err(why) => json!({ "public": false, "why": why, "ip": ip.to_string() }),
    }
}

fn refused(why: &str) -> Value {
    json!({ "public": false, "why": why })
}

/// `localhost` and names below it mean loopback everywhere (RFC 6761, section 6.3).
fn is_this_machine(url: &Url) -> bool {
    let name = url.domain().unwrap_or_default().trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}
