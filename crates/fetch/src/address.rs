//! Address filter against server-side request forgery.
//!
//! A page can name any host, and a host name can resolve to any address. Without this check a page could turn the
//! crawler against the network it runs in. The filter follows the IANA special-purpose address registries (RFC 6890)
//! and unwraps IPv6 addresses that embed an IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Returns `Ok` for an address of the public Internet, otherwise the reason.
pub fn public_address(ip: IpAddr) -> Result<(), &'static str> {
    let why = match ip {
        IpAddr::V4(ip) => special_v4(ip),
        IpAddr::V6(ip) => special_v6(ip),
    };
    why.map_or(Ok(()), Err)
}

/// The addresses that one crawl may connect to.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    /// Networks that are allowed although not public.
    pub allow_nets: Vec<IpNet>,
    /// Whether all addresses are allowed.
    pub allow_private: bool,
}

impl AddressGuard {
    /// Returns `Ok` if the crawl may connect to the address, otherwise the reason.
    pub fn check(&self, ip: IpAddr) -> Result<(), &'static str> {
        // An exception for 10.0.0.0/8 also covers ::ffff:10.0.0.1.
        let plain = ip.to_canonical();
        if self.allow_private || self.allow_nets.iter().any(|net| net.contains(&ip) || net.contains(&plain)) {
            return Ok(());
        }
        public_address(ip)
    }
}

/// Special-purpose IPv4 blocks: address, prefix length, reason.
const SPECIAL_V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared (carrier-grade NAT)"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignment"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "AS112"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "AMT relay"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

fn special_v4(ip: Ipv4Addr) -> Option<&'static str> {
    SPECIAL_V4.iter().find(|(net, length, _)| same_prefix_v4(ip, *net, *length)).map(|(_, _, why)| *why)
}

fn same_prefix_v4(a: Ipv4Addr, b: Ipv4Addr, length: u32) -> bool {
    (a.to_bits() ^ b.to_bits()) >> (32 - length) == 0
}

fn special_v6(ip: Ipv6Addr) -> Option<&'static str> {
    if ip.is_unspecified() {
        return Some("unspecified");
    }
    if ip.is_loopback() {
        return Some("loopback");
    }
    match embedded_v4(ip) {
        // A public host behind a translator is as public as the host.
        Some(Embedded::Translated(inner)) => special_v4(inner),
        // Obsolete forms: only a mistake or an attack uses them.
        Some(Embedded::Obsolete(why)) => Some(why),
        None => special_block_v6(ip),
    }
}

enum Embedded {
    Translated(Ipv4Addr),
    Obsolete(&'static str),
}

/// Returns the IPv4 address embedded in an IPv6 address: mapped (RFC 4291, 2.5.5.2), compatible
/// (2.5.5.1), NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380).
fn embedded_v4(ip: Ipv6Addr) -> Option<Embedded> {
    let low = Ipv4Addr::from_bits((ip.to_bits() & 0xffff_ffff) as u32);
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] => Some(Embedded::Translated(low)),
        [0, 0, 0, 0, 0, 0, ..] => Some(Embedded::Obsolete("IPv4-compatible, withdrawn")),
        [0, 0, 0, 0, 0xffff, 0, ..] => Some(Embedded::Translated(low)),
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(Embedded::Translated(low)),
        [0x2002, high, low, ..] => {
            Some(Embedded::Translated(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))))
        }
        [0x2001, 0, ..] => Some(Embedded::Obsolete("Teredo")),
        _ => None,
    }
}

fn special_block_v6(ip: Ipv6Addr) -> Option<&'static str> {
    match ip.segments() {
        [0x64, 0xff9b, 1, ..] => Some("local-use translation"),
        [0x100, 0, 0, ..] => Some("discard-only"),
        [0x2001, second, ..] if second < 0x200 => Some("protocol assignment"),
        [0x2001, 0xdb8, ..] => Some("documentation"),
        [0x3fff, second, ..] if second < 0x1000 => Some("documentation"),
        [0x5f00, ..] => Some("segment routing"),
        [first, ..] if first & 0xfe00 == 0xfc00 => Some("unique local"),
        [first, ..] if first & 0xffc0 == 0xfe80 => Some("link-local"),
        [first, ..] if first & 0xffc0 == 0xfec0 => Some("site-local, withdrawn"),
        [first, ..] if first & 0xff00 == 0xff00 => Some("multicast"),
        // Only 2000::/3 is allocated (RFC 4291, section 2.4).
        [first, ..] if first & 0xe000 != 0x2000 => Some("reserved"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_edges_of_special_blocks_are_where_the_registry_has_them() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2000::1",
            "2a00:1450::1",
            "2001:200::",
            "64:ff9b::8.8.8.8",
            "2002:808:808::",
        ] {
            assert_eq!(public_address(ip(public)), Ok(()), "{public}");
        }
        for special in [
            "0.0.0.0",
            "10.0.0.0",
            "100.64.0.0",
            "127.255.255.255",
            "169.254.169.254",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.255.255",
            "198.19.255.255",
            "203.0.113.9",
            "224.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:0:808:808::1",
            "2001:db8::1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "100::1",
        ] {
            assert!(public_address(ip(special)).is_err(), "{special}");
        }
    }

    #[test]
    fn an_exception_reaches_exactly_as_far_as_it_says() {
        let guard = AddressGuard { allow_nets: vec!["127.0.0.1/32".parse().unwrap()], allow_private: false };
        assert_eq!(guard.check(ip("127.0.0.1")), Ok(()));
        assert_eq!(guard.check(ip("::ffff:127.0.0.1")), Ok(()));
        assert_eq!(guard.check(ip("127.0.0.2")), Err("loopback"));
        assert_eq!(AddressGuard { allow_private: true, ..guard }.check(ip("10.0.0.1")), Ok(()));
    }

    #[test]
    fn the_conformance_cases_hold() {
        let Some(cases) = crate::test::conformance("ip_public.json") else { return };
        for case in cases {
            let public = public_address(ip(case["ip"].as_str().unwrap()));
            assert_eq!(public.is_ok(), case["public"].as_bool().unwrap(), "{case}: {public:?}");
        }
    }
}
