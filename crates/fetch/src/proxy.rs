//! Proxy rules: which requests go through a proxy.
//!
//! The HTTP client could read them too. But for a proxied request the proxy resolves the name, so the fetcher has no
//! address to check or to delay, and must know that.

use std::net::IpAddr;

use ipnet::IpNet;
use url::Url;

use super::FetchError;

/// Proxies by scheme, with exceptions.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxyRules {
    http: Option<Url>,
    https: Option<Url>,
    except: Vec<String>,
}

impl ProxyRules {
    /// Reads the rules from the option. Without it, `variable` reads the environment.
    pub(super) fn new(option: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, FetchError> {
        if let Some(text) = option {
            let proxy = if text.is_empty() { None } else { Some(parse(text)?) };
            return Ok(Self { http: proxy.clone(), https: proxy, except: Vec::new() });
        }
        let first = |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
        // In a CGI program HTTP_PROXY is a header that the client chose (httpoxy).
        let http = if variable("REQUEST_METHOD").is_some() {
            first(&["http_proxy"])
        } else {
            first(&["http_proxy", "HTTP_PROXY"])
        };
        let all = first(&["all_proxy", "ALL_PROXY"]);
        let except = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Ok(Self {
            http: http.or_else(|| all.clone()).as_deref().map(parse).transpose()?,
            https: first(&["https_proxy", "HTTPS_PROXY"]).or(all).as_deref().map(parse).transpose()?,
            except: except.split(',').map(|entry| entry.trim().to_ascii_lowercase()).collect(),
        })
    }

    /// Returns the proxy for a URL.
    pub(super) fn for_url(&self, url: &Url) -> Option<&Url> {
        let proxy = if url.scheme() == "https" { self.https.as_ref() } else { self.http.as_ref() }?;
        let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        (!self.except.iter().any(|entry| excepts(entry, &host))).then_some(proxy)
    }

    /// Returns the hosts of the proxies. The user chose them, so the address filter exempts them.
    pub(super) fn hosts(&self) -> Vec<String> {
        [&self.http, &self.https].into_iter().flatten().filter_map(|url| url.host_str().map(str::to_owned)).collect()
    }
}

fn parse(text: &str) -> Result<Url, FetchError> {
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    match Url::parse(&full) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        // A password may stand before the '@'.
        _ => Err(FetchError::Proxy(text.rsplit('@').next().unwrap_or_default().to_owned())),
    }
}

/// Whether an entry of `NO_PROXY` matches the host: `*`, an address, a network, or a domain with its subdomains.
fn excepts(entry: &str, host: &str) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return entry.parse::<IpAddr>() == Ok(ip) || entry.parse::<IpNet>().is_ok_and(|net| net.contains(&ip));
    }
    let domain = entry.trim_start_matches('.');
    !domain.is_empty() && (host == domain || host.strip_suffix(domain).is_some_and(|head| head.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxied(option: Option<&str>, variables: &[(&str, &str)], url: &str) -> Option<String> {
        let lookup = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let rules = ProxyRules::new(option, lookup).unwrap();
        rules.for_url(&Url::parse(url).unwrap()).map(Url::to_string)
    }

    #[test]
    fn the_option_wins_over_the_environment_and_may_switch_it_off() {
        let variables = [("HTTP_PROXY", "http://env:1")];
        assert_eq!(proxied(None, &variables, "http://a.test/").as_deref(), Some("http://env:1/"));
        assert_eq!(proxied(None, &variables, "https://a.test/"), None);
        assert_eq!(proxied(Some("mine:2"), &variables, "https://a.test/").as_deref(), Some("http://mine:2/"));
        assert_eq!(proxied(Some(""), &variables, "http://a.test/"), None);
    }

    #[test]
    fn hosts_that_no_proxy_names_are_asked_directly() {
        let variables = [("all_proxy", "http://env:1"), ("NO_PROXY", "localhost, .in.test,10.0.0.0/8,::1")];
        for direct in
            ["http://localhost/", "https://a.in.test/", "http://in.test/", "http://10.1.2.3/", "http://[::1]/"]
        {
            assert_eq!(proxied(None, &variables, direct), None, "{direct}");
        }
        for by_proxy in ["http://notin.test/", "http://11.0.0.1/", "http://localhost.test/"] {
            assert!(proxied(None, &variables, by_proxy).is_some(), "{by_proxy}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_said_so() {
        assert!(
            matches!(ProxyRules::new(Some("ftp://x"), |_| None), Err(FetchError::Proxy(text)) if text == "ftp://x")
        );
        let secret = ProxyRules::new(Some("ftp://me:pass@word@x"), |_| None).unwrap_err().to_string();
        assert!(secret.starts_with("'x' is not a proxy"), "{secret}");
    }
}
