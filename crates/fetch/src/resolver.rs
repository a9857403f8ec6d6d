//! Resolves a host name to its permitted addresses, the pinned one first.
//!
//! The politeness delay holds per IP address too, so the address must be known before the request, and the connection
//! must use it. The resolver pins one permitted address per host for a while; only when a connection to it fails, the
//! next is tried. The HTTP client resolves through the resolver, to the address of the present attempt. Check and
//! connection use the same address, which defeats DNS rebinding.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use tokio::time::Instant;

use super::connect::Attempt;
use super::{AddressGuard, ResolveOverride};

/// Minimum time for which an address is pinned, whatever the TTL.
const LEAST_TTL: Duration = Duration::from_secs(60);

/// Maximum time for which an address is pinned.
const LONGEST_TTL: Duration = Duration::from_secs(60 * 60);

/// Addresses of a host that are tried for one request.
const MAX_TRIED: usize = 16;

/// Number of pinned hosts from which expired ones are evicted.
const MANY_HOSTS: usize = 16_384;

/// Why a host has no address to connect to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ResolveError {
    /// The address filter forbids all its addresses.
    #[error("{host} is at {address}, which is not public ({why}); --allow-net {address} allows it")]
    Private {
        /// The host.
        host: String,
        /// The first of its addresses.
        address: IpAddr,
        /// What the address is.
        why: &'static str,
    },
    /// The name does not exist, or has no address.
    #[error("{0} has no address")]
    NoAddress(String),
    /// The DNS lookup failed.
    #[error("looking up {0} failed: {1}")]
    Lookup(String, String),
}

/// DNS resolver that pins one permitted address per host.
pub(super) struct Resolver {
    guard: AddressGuard,
    overrides: Vec<ResolveOverride>,
    unguarded: HashSet<String>,
    dns: OnceLock<TokioResolver>,
    pins: Mutex<HashMap<(String, Option<u16>), Pin>>,
}

/// The permitted addresses of a host, and the one in use.
struct Pin {
    addresses: Vec<IpAddr>,
    current: usize,
    until: Instant,
}

impl Pin {
    fn address(&self) -> Option<IpAddr> {
        self.addresses.get(self.current).copied()
    }

    /// Returns the addresses in the order in which they are tried: the one in use first.
    fn in_order(&self) -> Vec<IpAddr> {
        let from_current = self.addresses.iter().cycle().skip(self.current).take(self.addresses.len());
        from_current.take(MAX_TRIED).copied().collect()
    }
}

impl Resolver {
    /// Creates a resolver that returns only permitted addresses, except for the hosts in `unguarded` (proxies of the
    /// user).
    pub(super) fn new(guard: AddressGuard, overrides: Vec<ResolveOverride>, unguarded: Vec<String>) -> Self {
        Self {
            guard,
            overrides,
            unguarded: unguarded.iter().map(|host| plain(host)).collect(),
            dns: OnceLock::new(),
            pins: Mutex::default(),
        }
    }

    /// Returns the ports of overrides: there a host may have another address.
    pub(super) fn special_ports(&self) -> HashSet<u16> {
        self.overrides.iter().filter_map(|entry| entry.port).collect()
    }

    /// Checks an address written in a URL.
    pub(super) fn check_literal(&self, address: IpAddr) -> Result<IpAddr, ResolveError> {
        permitted(&self.guard, &address.to_string(), vec![address]).map(|_| address)
    }

    /// Returns the permitted addresses of an untrusted host name, for a port, in the order in which to try them.
    pub(super) async fn resolve(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, ResolveError> {
        let special = self.special_ports().contains(&port).then_some(port);
        let addresses = self.pinned(host, special).await?;
        // The proxy may be anywhere, but only as a proxy.
        permitted(&self.guard, host, addresses)
    }

    /// Checks a name that the proxy resolves. `localhost` is the proxy's own machine (RFC 6761, section 6.3) and is
    /// checked like its address.
    pub(super) fn check_name(&self, host: &str) -> Result<(), ResolveError> {
        if !is_localhost(&plain(host)) {
            return Ok(());
        }
        permitted(&self.guard, host, vec![Ipv4Addr::LOCALHOST.into()]).map(drop)
    }

    /// Switches to the next address of the host after the current one failed.
    pub(super) fn rotate(&self, host: &str, port: u16, failed: IpAddr) {
        let special = self.special_ports().contains(&port).then_some(port);
        if let Some(pin) = self.pins().get_mut(&(plain(host), special))
            && pin.address() == Some(failed)
        {
            pin.current = (pin.current + 1) % pin.addresses.len();
        }
    }

    /// Returns the addresses of a host, the pinned one first. `port` is set only if an override names it.
    async fn pinned(&self, host: &str, port: Option<u16>) -> Result<Vec<IpAddr>, ResolveError> {
        let host = plain(host);
        let key = (host.clone(), port);
        let now = Instant::now();
        if let Some(pin) = self.pins().get(&key).filter(|pin| now < pin.until) {
            return Ok(pin.in_order());
        }
        let (addresses, ttl) = self.look_up(&host, port).await?;
        let addresses =
            if self.unguarded.contains(&host) { addresses } else { permitted(&self.guard, &host, addresses)? };
        self.pin(key, addresses, now + ttl.clamp(LEAST_TTL, LONGEST_TTL))
    }

    fn pin(
        &self,
        key: (String, Option<u16>),
        addresses: Vec<IpAddr>,
        until: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let mut pins = self.pins();
        let now = Instant::now();
        if pins.len() >= MANY_HOSTS {
            pins.retain(|_, pin| now < pin.until);
        }
        // Keeps the address in use while the host has it: connections to it are open.
        let in_use = pins.get(&key).and_then(Pin::address);
        let current = addresses.iter().position(|&address| Some(address) == in_use).unwrap_or(0);
        let pin = Pin { addresses, current, until };
        let in_order = pin.in_order();
        if in_order.is_empty() {
            return Err(ResolveError::NoAddress(key.0));
        }
        pins.insert(key, pin);
        Ok(in_order)
    }

    async fn look_up(&self, host: &str, port: Option<u16>) -> Result<(Vec<IpAddr>, Duration), ResolveError> {
        if let Some(first) = self.overrides.iter().find(|entry| applies(entry, host, port)) {
            // Several addresses of one name, not what another name or port says.
            let is_of_name =
                |entry: &&ResolveOverride| plain(&entry.host) == plain(&first.host) && entry.port == first.port;
            return Ok((self.overrides.iter().filter(is_of_name).map(|entry| entry.address).collect(), LONGEST_TTL));
        }
        // RFC 6761, section 6.3: resolvers do not query these names.
        if is_localhost(host) {
            return Ok((vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()], LONGEST_TTL));
        }
        // The trailing dot disables the search list of this machine.
        let answer = tokio::time::timeout(LONGEST_LOOKUP, self.dns()?.lookup_ip(format!("{host}.")))
            .await
            .map_err(|_| ResolveError::Lookup(host.to_owned(), "no answer within the time limit".to_owned()))?
            .map_err(|error| lookup_error(host, &error))?;
        let ttl = answer.valid_until().saturating_duration_since(std::time::Instant::now());
        // With one pinned address there is no race between families. IPv4 is reachable from more networks.
        let mut addresses: Vec<IpAddr> = answer.iter().collect();
        addresses.sort_by_key(IpAddr::is_ipv6);
        Ok((addresses, ttl))
    }

    fn dns(&self) -> Result<&TokioResolver, ResolveError> {
        if let Some(dns) = self.dns.get() {
            return Ok(dns);
        }
        let dns = system_dns().map_err(|error| ResolveError::Lookup("any host".into(), error.to_string()))?;
        Ok(self.dns.get_or_init(|| dns))
    }

    fn pins(&self) -> MutexGuard<'_, HashMap<(String, Option<u16>), Pin>> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time limit of all queries for one name.
const LONGEST_LOOKUP: Duration = Duration::from_secs(5);

/// Returns the host in lower case, without a trailing dot.
fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn applies(entry: &ResolveOverride, host: &str, port: Option<u16>) -> bool {
    (entry.host == "*" || plain(&entry.host) == host) && (entry.port.is_none() || entry.port == port)
}

/// Returns the permitted addresses. Fails if none is.
fn permitted(guard: &AddressGuard, host: &str, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, ResolveError> {
    let Some(&first) = addresses.first() else {
        return Err(ResolveError::NoAddress(host.to_owned()));
    };
    let open: Vec<IpAddr> = addresses.into_iter().filter(|&address| guard.check(address).is_ok()).collect();
    match guard.check(first) {
        Err(why) if open.is_empty() => Err(ResolveError::Private { host: host.to_owned(), address: first, why }),
        _ => Ok(open),
    }
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

fn lookup_error(host: &str, error: &NetError) -> ResolveError {
    if error.is_nx_domain() || error.is_no_records_found() {
        ResolveError::NoAddress(host.to_owned())
    } else {
        ResolveError::Lookup(host.to_owned(), error.to_string())
    }
}

/// Builds a resolver from the settings of this machine, with its hosts file. If they are unreadable, it queries
/// 127.0.0.1, the default of resolv.conf(5), and no third party.
fn system_dns() -> Result<TokioResolver, NetError> {
    let mut builder = TokioResolver::builder_tokio().unwrap_or_else(|error| {
        tracing::warn!(%error, "DNS settings of this machine unreadable: querying 127.0.0.1");
        let local = NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into());
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![local]);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    });
    let options = builder.options_mut();
    options.use_hosts_file = ResolveHosts::Always;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    builder.build()
}

/// Adapter for the HTTP client: the resolver for one overridden port, or for all others.
#[derive(Clone)]
pub(super) struct PortView {
    pub(super) resolver: Arc<Resolver>,
    pub(super) port: Option<u16>,
}

impl reqwest::dns::Resolve for PortView {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let view = self.clone();
        // The attempt has one address of an untrusted host. Without one, the name is a proxy's: the client may try all.
        let attempt = Attempt::current();
        Box::pin(async move {
            let addresses = match attempt {
                Some(Attempt { address, .. }) => vec![address],
                None => view.resolver.pinned(name.as_str(), view.port).await?,
            };
            let addresses: reqwest::dns::Addrs =
                Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(host: &str, port: Option<u16>, address: &str) -> ResolveOverride {
        ResolveOverride { host: host.into(), port, address: address.parse().unwrap() }
    }

    fn resolver(overrides: Vec<ResolveOverride>, unguarded: &[&str]) -> Resolver {
        Resolver::new(AddressGuard::default(), overrides, unguarded.iter().map(|&host| host.to_owned()).collect())
    }

    #[tokio::test]
    async fn a_name_that_leads_to_a_private_address_is_refused() {
        let resolver = resolver(vec![entry("inner.test", None, "10.0.0.1")], &[]);
        for host in ["inner.test", "INNER.test.", "localhost", "a.b.localhost"] {
            assert!(matches!(resolver.resolve(host, 80).await, Err(ResolveError::Private { .. })), "{host}");
        }
        assert!(resolver.check_literal("127.0.0.1".parse().unwrap()).is_err());
    }

    #[tokio::test]
    async fn only_permitted_addresses_are_pinned_and_a_dead_one_gives_way_to_the_next() {
        let overrides = ["10.0.0.1", "192.0.43.1", "192.0.43.2"].map(|address| entry("a.test", None, address));
        let resolver = resolver(overrides.to_vec(), &[]);
        let (first, second) = ("192.0.43.1".parse().unwrap(), "192.0.43.2".parse().unwrap());
        assert_eq!(resolver.resolve("a.test", 80).await, Ok(vec![first, second]));
        resolver.rotate("a.test", 80, second);
        assert_eq!(resolver.resolve("a.test", 80).await.unwrap()[0], first, "only the address in use can fail");
        resolver.rotate("a.test", 80, first);
        assert_eq!(resolver.resolve("A.test", 80).await, Ok(vec![second, first]));
        resolver.rotate("a.test", 80, second);
        assert_eq!(resolver.resolve("a.test", 80).await.unwrap()[0], first);
    }

    #[tokio::test]
    async fn an_override_with_a_port_holds_on_that_port_only() {
        let resolver = resolver(vec![entry("a.test", Some(8080), "192.0.43.1"), entry("*", None, "192.0.43.9")], &[]);
        assert_eq!(resolver.resolve("a.test", 8080).await, Ok(vec!["192.0.43.1".parse().unwrap()]));
        assert_eq!(resolver.resolve("a.test", 80).await, Ok(vec!["192.0.43.9".parse().unwrap()]));
    }

    #[tokio::test]
    async fn a_name_with_a_hundred_addresses_does_not_cost_a_hundred_attempts() {
        let overrides = (1..=100).map(|last| entry("a.test", None, &format!("192.0.43.{last}")));
        let resolver = resolver(overrides.collect(), &[]);
        let first = resolver.resolve("a.test", 80).await.unwrap();
        assert_eq!(first.len(), MAX_TRIED);
        first.iter().for_each(|&address| resolver.rotate("a.test", 80, address));
        let then = resolver.resolve("a.test", 80).await.unwrap();
        assert!(then.iter().all(|address| !first.contains(address)), "the next request tries others: {then:?}");
    }

    #[tokio::test]
    async fn the_proxy_that_the_user_chose_may_be_anywhere() {
        let resolver = resolver(vec![entry("proxy.test", None, "10.0.0.1")], &["Proxy.test"]);
        assert_eq!(resolver.pinned("proxy.test", None).await, Ok(vec!["10.0.0.1".parse().unwrap()]));
        // A link may name it, and no proxy be in force for that link.
        assert!(matches!(resolver.resolve("proxy.test", 3128).await, Err(ResolveError::Private { .. })));
    }

    #[test]
    fn a_proxy_is_not_asked_for_what_is_on_its_own_machine() {
        let barred = resolver(Vec::new(), &["proxy.test"]);
        for host in ["localhost", "LocalHost.", "a.localhost"] {
            assert!(barred.check_name(host).is_err(), "{host}");
        }
        assert_eq!(barred.check_name("localhost.test"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pinned_address_outlives_a_new_answer_that_still_has_it() {
        let resolver = resolver(Vec::new(), &[]);
        let [a, b, c] = ["192.0.43.1", "192.0.43.2", "192.0.43.3"].map(|text| text.parse::<IpAddr>().unwrap());
        let key = ("a.test".to_owned(), None);
        assert_eq!(resolver.pin(key.clone(), vec![a, b], Instant::now() + LEAST_TTL), Ok(vec![a, b]));
        assert_eq!(resolver.pin(key.clone(), vec![b, a], Instant::now() + LEAST_TTL), Ok(vec![a, b]));
        assert_eq!(resolver.pin(key, vec![c, b], Instant::now() + LEAST_TTL), Ok(vec![c, b]));
    }
}
