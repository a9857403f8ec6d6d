//! The address that the dashboard listens on.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on: a port of the loopback address, unless an address is given.
///
/// Host names are rejected, because one may have several addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress(pub SocketAddr);

impl ListenAddress {
    /// Returns whether only this machine can connect.
    pub fn is_loopback(self) -> bool {
        self.0.ip().to_canonical().is_loopback()
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let loopback = |port: &str| Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
        let port = text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text);
        let address = loopback(port).or_else(|| text.parse().ok());
        address.map(Self).ok_or_else(|| format!("'{text}' is not an address such as 9100, 127.0.0.1:9100 or [::1]:0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for text in ["9100", ":9100", "localhost:9100", "127.0.0.1:9100"] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), "127.0.0.1:9100");
        }
        assert_eq!("[::1]:0".parse::<ListenAddress>().unwrap().to_string(), "[::1]:0");
        for text in ["", "example.org:80", "127.0.0.1", "70000", "::1"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_addresses_are_private() {
        let is_loopback = |text: &str| text.parse::<ListenAddress>().unwrap().is_loopback();
        assert!(is_loopback("127.9.9.9:1") && is_loopback("[::1]:1") && is_loopback("[::ffff:127.0.0.1]:1"));
        assert!(!is_loopback("0.0.0.0:1") && !is_loopback("[::]:1") && !is_loopback("192.168.1.1:1"));
    }
}
