//! *Which URLs does one change on a site meet?*

use std::fmt;

/// File names that stand for their folder.
const INDEX_NAMES: [&str; 6] = ["index.html", "index.htm", "index.php", "default.asp", "default.aspx", "home.html"];

/// URLs that one change meets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// All URLs of an origin, which has a twin.
    Origin { from: String, to: String },
    /// URLs of an origin in a spelling that has a twin.
    Spelling { origin: String, spelling: Spelling },
    /// URLs of an origin that one of these paths matches, as robots.txt writes them.
    Paths { origin: String, paths: Vec<String> },
}

/// A spelling of paths that another one may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spelling {
    /// With a slash at the end.
    Slash,
    /// Without a slash at the end.
    NoSlash,
    /// With the name of an index page at the end.
    Index,
    /// With capital letters.
    Capitals,
}

impl Spelling {
    /// All spellings.
    pub const ALL: [Self; 4] = [Self::Slash, Self::NoSlash, Self::Index, Self::Capitals];

    /// Returns path and query in the other spelling; `None` if they are not in this one.
    pub fn other(self, path_and_query: &str) -> Option<String> {
        let (path, query) = path_and_query.split_at(path_and_query.find('?').unwrap_or(path_and_query.len()));
        let path = match self {
            Self::Slash => path.strip_suffix('/').filter(|path| !path.is_empty())?.to_owned(),
            Self::NoSlash => (!path.ends_with('/')).then(|| format!("{path}/"))?,
            Self::Index => {
                let (folder, name) = path.rsplit_once('/')?;
                INDEX_NAMES.contains(&&*name.to_ascii_lowercase()).then(|| format!("{folder}/"))?
            }
            Self::Capitals => Some(path.to_ascii_lowercase()).filter(|lower| lower != path)?,
        };
        Some(path + query)
    }

    /// Returns the spelling and the other one, as people write them.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Slash => ["/*/", "/*"],
            Self::NoSlash => ["/*", "/*/"],
            Self::Index => ["/*/index.html", "/*/"],
            Self::Capitals => ["/* with capital letters", "/* in lower case"],
        }
    }
}

impl Pattern {
    /// Returns the origin of the URLs.
    pub fn origin(&self) -> &str {
        match self {
            Self::Origin { from: origin, .. } | Self::Spelling { origin, .. } | Self::Paths { origin, .. } => origin,
        }
    }

    /// Whether the change meets this URL of the origin, given by path and query.
    pub fn meets(&self, path_and_query: &str) -> bool {
        match self {
            Self::Origin { .. } => true,
            Self::Spelling { spelling, .. } => spelling.other(path_and_query).is_some(),
            Self::Paths { paths, .. } => paths.iter().any(|path| matches(path, path_and_query)),
        }
    }

    /// Returns where a redirect leads from this URL of the origin; `None` if the change is no redirect.
    pub fn target(&self, path_and_query: &str) -> Option<String> {
        match self {
            Self::Origin { to, .. } => Some(format!("{to}{path_and_query}")),
            Self::Spelling { origin, spelling } => Some(format!("{origin}{}", spelling.other(path_and_query)?)),
            Self::Paths { .. } => None,
        }
    }

    /// Returns the redirect, as people write it: from where, and to where.
    pub fn redirect(&self) -> Option<(String, String)> {
        match self {
            Self::Origin { from, to } => Some((format!("{from}/*"), format!("{to}/*"))),
            Self::Spelling { origin, spelling } => {
                let [from, to] = spelling.words().map(|path| format!("{origin}{path}"));
                Some((from, to))
            }
            Self::Paths { .. } => None,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paths { origin, paths } => write!(f, "{origin}{}", paths.first().map_or("", String::as_str)),
            Self::Origin { .. } | Self::Spelling { .. } => {
                f.write_str(&self.redirect().map(|(from, _)| from).unwrap_or_default())
            }
        }
    }
}

/// Whether a path of robots.txt matches path and query of a URL (RFC 9309, section 2.2.3).
fn matches(pattern: &str, path_and_query: &str) -> bool {
    let (pattern, has_end) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let (start, rest) = pattern.split_once('*').map_or((pattern, None), |(start, rest)| (start, Some(rest)));
    let Some(mut left) = path_and_query.strip_prefix(start) else { return false };
    let Some(rest) = rest else { return !has_end || left.is_empty() };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if has_end && parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_fetch::deciding_rule;
    use ndcrawl_model::Normalizer;

    #[test]
    fn paths_match_what_the_crawler_obeys() {
        let patterns = [
            "/", "/a", "/a/", "/*", "/*/a", "/*?s=", "/*&s=", "/*/a$", "/*.a$", "/a?s=", "/*?s$", "/*;s=", "/b*a*c$",
            "/*/a?", "/a$", "/*a*a$",
        ];
        let paths = [
            "/",
            "/a",
            "/a/",
            "/b/a",
            "/b/a/",
            "/b/a?s=1",
            "/b/a?t=1&s=1",
            "/a?s=",
            "/b.a",
            "/b.a.c",
            "/b?s",
            "/b?ss",
            "/b?s&t",
            "/b;s=1",
            "/bac",
            "/baac?c",
            "/aa",
            "/a?a",
        ];
        for pattern in patterns {
            for path in paths {
                let robots = format!("User-agent: *\nDisallow: {pattern}");
                let url = Normalizer::default().absolute(&format!("http://a.test{path}")).unwrap();
                let expected = deciding_rule(robots.as_bytes(), "ndcrawl", &url).is_some();
                assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
            }
        }
    }

    #[test]
    fn a_spelling_has_one_other() {
        let others = |path: &str| Spelling::ALL.map(|spelling| spelling.other(path).unwrap_or_default());
        assert_eq!(others("/a/?q=/"), ["/a?q=/", "", "", ""]);
        assert_eq!(others("/a"), ["", "/a/", "", ""]);
        assert_eq!(others("/A/Index.html?Q"), ["", "/A/Index.html/?Q", "/A/?Q", "/a/index.html?Q"]);
        assert_eq!(others("/"), ["", "", "", ""]);
    }
}
