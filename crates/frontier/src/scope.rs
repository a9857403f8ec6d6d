//! *Does a URL belong to the crawl?*
//!
//! The scope follows from the seeds and grows with them; a seed never falls out of it. A redirect from a seed to
//! another host of its registrable domain (`example.com` to `www.example.com`) takes that host into scope. Otherwise
//! the crawl would end there. The `include` expressions do not apply to the target of such a redirect, as they do not
//! apply to the seed. The `exclude` expressions and the trap guard do.
//!
//! Memory: the hosts, domains and directories of the seeds.

use hashbrown::{HashMap, HashSet};
use regex::Regex;

use super::{Options, ScopeKind, Trap};
use ndcrawl_model::{CanonicalUrl, Exclusion};

/// How a URL relates to the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeedRelation {
    /// A seed.
    Seed,
    /// The target of a redirect from a seed, or from such a redirect.
    SeedRedirect,
    /// A sitemap that the robots.txt of a crawled host names.
    Sitemap,
    /// The target of a link.
    Other,
}

impl SeedRelation {
    /// Whether it is a seed or stands for one.
    pub(super) fn is_from_seed(self) -> bool {
        matches!(self, SeedRelation::Seed | SeedRelation::SeedRedirect)
    }
}

/// Which URLs belong to the crawl.
pub(super) struct Scope {
    kind: ScopeKind,
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    trap_guard: bool,
    hosts: HashSet<String>,
    domains: HashSet<String>,
    /// Directories by host.
    directories: HashMap<String, Vec<String>>,
}

impl Scope {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            kind: options.scope,
            include: options.include.clone(),
            exclude: options.exclude.clone(),
            trap_guard: options.trap_guard,
            hosts: HashSet::new(),
            domains: HashSet::new(),
            directories: HashMap::new(),
        }
    }

    /// Takes the surroundings of a seed, or of a seed's redirect, into scope.
    pub(super) fn widen(&mut self, url: &CanonicalUrl, relation: SeedRelation) {
        match relation {
            SeedRelation::Seed => {
                self.domains.insert(url.registrable_domain().to_owned());
                self.add_surroundings(url);
            }
            SeedRelation::SeedRedirect if self.is_domain_of_seed(url) => self.add_surroundings(url),
            SeedRelation::SeedRedirect | SeedRelation::Sitemap | SeedRelation::Other => {}
        }
    }

    fn add_surroundings(&mut self, url: &CanonicalUrl) {
        match self.kind {
            ScopeKind::Host => {
                self.hosts.insert(url.host().to_owned());
            }
            ScopeKind::Prefix => {
                let directories = self.directories.entry(url.host().to_owned()).or_default();
                let directory = directory(url);
                if !directories.iter().any(|known| directory.starts_with(known)) {
                    directories.push(directory.to_owned());
                }
            }
            ScopeKind::Domain | ScopeKind::Any => {}
        }
    }

    /// Returns the rule that keeps a URL out, if any.
    pub(super) fn judge(&self, url: &CanonicalUrl, relation: SeedRelation) -> Option<Exclusion> {
        let stands_for_seed = relation == SeedRelation::SeedRedirect && self.is_domain_of_seed(url);
        if matches!(relation, SeedRelation::Seed | SeedRelation::Sitemap) {
            None
        } else if !stands_for_seed && !self.contains(url) {
            Some(Exclusion::Scope)
        } else if matches_any(&self.exclude, url) {
            Some(Exclusion::Exclude)
        } else if !stands_for_seed && !self.include.is_empty() && !matches_any(&self.include, url) {
            Some(Exclusion::Include)
        } else if self.trap_guard && Trap::of(url).is_some() {
            Some(Exclusion::Trap)
        } else {
            None
        }
    }

    fn contains(&self, url: &CanonicalUrl) -> bool {
        match self.kind {
            ScopeKind::Host => self.hosts.contains(url.host()),
            ScopeKind::Domain => self.is_domain_of_seed(url),
            ScopeKind::Prefix => self
                .directories
                .get(url.host())
                .is_some_and(|known| known.iter().any(|directory| url.as_url().path().starts_with(directory))),
            ScopeKind::Any => true,
        }
    }

    fn is_domain_of_seed(&self, url: &CanonicalUrl) -> bool {
        self.domains.contains(url.registrable_domain())
    }
}

/// Returns the path up to its last slash.
fn directory(url: &CanonicalUrl) -> &str {
    let path = url.as_url().path();
    path.rfind('/').map_or("/", |slash| &path[..=slash])
}

/// Returns a URL as people type it, if that differs: host and path with the letters that stand behind their escapes.
fn as_typed(url: &CanonicalUrl) -> Option<String> {
    let text = url.as_str();
    let host = url.host().contains("xn--").then(|| idna::domain_to_unicode(url.host()).0);
    if host.is_none() && !text.contains('%') {
        return None;
    }
    let text = host.map_or_else(|| text.to_owned(), |host| text.replacen(url.host(), &host, 1));
    Some(unescaped(&text))
}

/// Undoes the escapes of characters beyond ASCII. Those of ASCII may be reserved, and stay.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%');
        match escaped.filter(|byte| !byte.is_ascii()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn matches_any(expressions: &[Regex], url: &CanonicalUrl) -> bool {
    let is_any = |text: &str| expressions.iter().any(|expression| expression.is_match(text));
    is_any(url.as_str()) || (!expressions.is_empty() && as_typed(url).is_some_and(|text| is_any(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    fn url(text: &str) -> CanonicalUrl {
        Normalizer::default().absolute(text).unwrap()
    }

    fn scope(kind: ScopeKind) -> Scope {
        let expressions = |text: &str| vec![Regex::new(text).unwrap()];
        let options = Options {
            scope: kind,
            include: expressions("page|seed"),
            exclude: expressions("secret"),
            ..Options::default()
        };
        let mut scope = Scope::new(&options);
        scope.widen(&url("http://www.example.co.uk/docs/seed"), SeedRelation::Seed);
        scope
    }

    fn judge(kind: ScopeKind, text: &str) -> Option<Exclusion> {
        scope(kind).judge(&url(text), SeedRelation::Other)
    }

    #[test]
    fn each_kind_of_scope_draws_its_own_line() {
        use ScopeKind::{Any, Domain, Host, Prefix};
        for (text, kinds) in [
            ("https://www.example.co.uk:8443/docs/page", &[Host, Domain, Prefix, Any][..]),
            ("http://www.example.co.uk/page", &[Host, Domain, Any]),
            ("http://www.example.co.uk/docs2/page", &[Host, Domain, Any]),
            ("http://example.co.uk/docs/page", &[Domain, Any]),
            ("http://other.co.uk/docs/page", &[Any]),
            ("http://10.0.0.1/page", &[Any]),
        ] {
            for kind in [Host, Domain, Prefix, Any] {
                let expected = if kinds.contains(&kind) { None } else { Some(Exclusion::Scope) };
                assert_eq!(judge(kind, text), expected, "{text} {kind:?}");
            }
        }
    }

    #[test]
    fn exclude_wins_over_include_and_neither_touches_a_seed() {
        assert_eq!(judge(ScopeKind::Host, "http://www.example.co.uk/page/secret"), Some(Exclusion::Exclude));
        assert_eq!(judge(ScopeKind::Host, "http://www.example.co.uk/else"), Some(Exclusion::Include));
        let trap = url("http://elsewhere.test/a/a/a/secret");
        assert_eq!(scope(ScopeKind::Host).judge(&trap, SeedRelation::Seed), None);
        assert_eq!(judge(ScopeKind::Host, "http://www.example.co.uk/a/a/a/page"), Some(Exclusion::Trap));
    }

    #[test]
    fn the_redirect_of_a_seed_brings_hosts_of_its_own_domain_along_and_no_others() {
        let mut scope = scope(ScopeKind::Host);
        let (near, far) = (url("https://m.example.co.uk/"), url("https://other.co.uk/page"));
        for target in [&near, &far] {
            scope.widen(target, SeedRelation::SeedRedirect);
        }
        assert_eq!(scope.judge(&near, SeedRelation::SeedRedirect), None);
        assert_eq!(scope.judge(&url("https://m.example.co.uk/page"), SeedRelation::Other), None);
        assert_eq!(scope.judge(&far, SeedRelation::SeedRedirect), Some(Exclusion::Scope));
    }
}
