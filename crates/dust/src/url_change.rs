//! The change of URL that leads from one page to another, applied to the links of the first.
//!
//! Two pages that look alike have links that look alike: `/de/a` links to `/de/b`, where `/en/a` links to `/en/b`. The
//! change from the one page to the other leads from the one link to the other. A rule says which page a URL *repeats*
//! and must be proven. A change only pairs links, so it also covers what is no rule, such as the tools of a wiki
//! page: `/history?title=Cats` and `/history?title=Dogs`.
//!
//! | part | a page and the other | a link and its counterpart |
//! |---|---|---|
//! | directories | `/de/a`, `/en/a` | `/de/b`, `/en/b` |
//! | page | `/wiki/Cats`, `/wiki/Dogs` | `/wiki/Cats/history`, `/wiki/Dogs/history` |
//! | name | `/wiki/Cats`, `/wiki/Dogs` | `/wiki/Talk:Cats`, `/wiki/Talk:Dogs` |
//! | parameter | `/a?lang=de`, `/a?lang=en` | `/b?lang=de`, `/b?lang=en` |
//! | host | `http://m.h/a`, `http://h/a` | `http://m.h/b`, `http://h/b` |
//! | whatever a [rule](super::Rule) covers | `/a.html`, `/a.php` | `/b.html`, `/b.php` |

use super::infer_rule::infer_rule;
use super::parts::{UrlParts, name};
use super::rule::Rule;

/// Bytes of the shortest name that is replaced wherever it stands.
const MIN_NAME_BYTES: usize = 3;
/// The most parameters of a URL to look at.
const MAX_PARAMETERS: usize = 16;

/// The difference between the URLs of two pages.
#[derive(Debug)]
pub struct UrlChange<'a> {
    from: UrlParts<'a>,
    to: UrlParts<'a>,
    rule: Option<Rule>,
    /// Names of the pages, to replace wherever they stand.
    names: Vec<(&'a str, &'a str)>,
}

impl<'a> UrlChange<'a> {
    /// Returns the change from one canonical URL to another; `None` if either is none.
    pub fn between(url: &'a str, other: &'a str) -> Option<Self> {
        let (from, to) = (UrlParts::of(url)?, UrlParts::of(other)?);
        let mut names = vec![(from.own_name(), to.own_name())];
        for parameter in from.parameters().take(MAX_PARAMETERS) {
            let other = to.parameters().find(|other| name(other) == name(parameter));
            names.extend(other.map(|other| (value(parameter), value(other))));
        }
        names.retain(|(name, other)| name != other && is_name(name));
        Some(Self { from, to, rule: infer_rule(url, other), names })
    }

    /// Returns the URLs that the other page may have in place of a link of the first. The link itself is none of them.
    pub fn counterparts(&self, link: &str) -> Vec<String> {
        let mut made: Vec<String> = self.rule.iter().filter_map(|rule| rule.apply(link)).collect();
        let Some(parts) = UrlParts::of(link) else { return made };
        let is_changed = parts.origin == self.from.origin && self.from.origin != self.to.origin;
        let origins = [Some(parts.origin), is_changed.then_some(self.to.origin)];
        let paths = [Some(parts.path.to_owned()), self.path(parts.path), self.named(parts.path)];
        let query = parts.query.map(str::to_owned);
        let queries = [Some(query.clone()), self.query(&parts), query.and_then(|query| self.named(&query)).map(Some)];
        for origin in origins.into_iter().flatten() {
            for path in paths.iter().flatten() {
                for query in queries.iter().flatten() {
                    let query = query.as_ref().map_or(String::new(), |query| format!("?{query}"));
                    made.push(format!("{origin}{path}{query}"));
                }
            }
        }
        made.retain(|url| url != link);
        made.sort_unstable();
        made.dedup();
        made
    }

    /// Replaces the directories, or the whole path, in which the pages differ.
    fn path(&self, path: &str) -> Option<String> {
        let [from, to, path] = [self.from.path, self.to.path, path].map(segments);
        let before = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let rest = from[before..].iter().rev().zip(to[before..].iter().rev());
        let behind = rest.take_while(|(one, other)| one == other).count();
        let (from, to) = (&from[..from.len() - behind], &to[..to.len() - behind]);
        let rest = path.strip_prefix(from).filter(|_| from != to)?;
        Some(format!("/{}", [to, rest].concat().join("/")))
    }

    /// Replaces the parameters in which the pages differ. `None` if the URL has none of those to replace.
    fn query(&self, parts: &UrlParts<'_>) -> Option<Option<String>> {
        let (ours, theirs): (Vec<_>, Vec<_>) = (self.from.parameters().collect(), self.to.parameters().collect());
        let removed: Vec<&str> = ours.iter().copied().filter(|parameter| !theirs.contains(parameter)).collect();
        let added: Vec<&str> = theirs.iter().copied().filter(|parameter| !ours.contains(parameter)).collect();
        let known: Vec<&str> = parts.parameters().collect();
        let is_any = known.iter().any(|parameter| removed.contains(parameter));
        if (removed.is_empty() && added.is_empty()) || !(is_any || removed.is_empty()) {
            return None;
        }
        let replacement = |parameter: &str| added.iter().copied().find(|added| name(added) == name(parameter));
        let is_kept = |parameter: &str| !removed.contains(&parameter);
        let replaced = known.iter().copied().map(|known| if is_kept(known) { Some(known) } else { replacement(known) });
        let mut made: Vec<&str> = replaced.flatten().collect();
        let is_known = |added: &&str| made.iter().any(|parameter| name(parameter) == name(added));
        let new: Vec<&str> = added.iter().copied().filter(|added| !is_known(added)).collect();
        made.extend(new);
        Some((!made.is_empty()).then(|| made.join("&")))
    }

    /// Replaces the names of the pages between other words; `None` if none occurs.
    fn named(&self, text: &str) -> Option<String> {
        let made = self.names.iter().fold(text.to_owned(), |text, (from, to)| replace_words(&text, from, to));
        (made != text).then_some(made)
    }
}

/// Splits `/a/b/` into `a`, `b` and an empty segment.
fn segments(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}

/// Returns the value of a parameter.
fn value(parameter: &str) -> &str {
    parameter.split_once('=').map_or("", |(_, value)| value)
}

/// Whether a text tells pages apart wherever it stands. Numbers do not: they stand in too many places.
fn is_name(text: &str) -> bool {
    text.len() >= MIN_NAME_BYTES && text.chars().any(char::is_alphabetic)
}

/// Replaces a text wherever no letter or digit stands beside it.
fn replace_words(text: &str, from: &str, to: &str) -> String {
    let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let (mut made, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(from) {
        let end = at + from.len();
        if !is_word(text[..at].chars().next_back()) && !is_word(text[end..].chars().next()) {
            made.push_str(&text[done..at]);
            made.push_str(to);
            done = end;
        }
    }
    made.push_str(&text[done..]);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "http://h.test";

    /// Whether the change from one path to another leads from one link to another.
    fn leads(from: &str, to: &str, link: &str, other: &str) -> bool {
        let [from, to, link, other] = [from, to, link, other].map(absolute);
        UrlChange::between(&from, &to).unwrap().counterparts(&link).contains(&other)
    }

    fn absolute(path: &str) -> String {
        if path.starts_with('/') { format!("{HOST}{path}") } else { path.to_owned() }
    }

    #[test]
    fn the_change_of_a_page_is_the_change_of_its_links() {
        for (from, to, link, other) in [
            ("/de/x", "/en/x", "/de/y", "/en/y"),
            ("/de/x", "/en/x", "/de/y/z?q=1", "/en/y/z?q=1"),
            ("/x", "/en/x", "/y", "/en/y"),
            ("/", "/en/", "/y", "/en/y"),
            ("/en/x", "/x", "/en/y", "/y"),
            ("/docs/1/a/x", "/docs/2/a/x", "/docs/1/b", "/docs/2/b"),
            ("/wiki/Cats", "/wiki/Dogs", "/wiki/Cats/history", "/wiki/Dogs/history"),
            ("/wiki/Cats", "/wiki/Dogs", "/wiki/Talk:Cats", "/wiki/Talk:Dogs"),
            ("/wiki/Cats", "/wiki/Dogs", "/w/history?title=Cats&old=1", "/w/history?title=Dogs&old=1"),
            ("/w?title=Cats", "/w?title=Dogs", "/w?title=Talk:Cats", "/w?title=Talk:Dogs"),
            ("/w?title=Cats", "/w?title=Dogs", "/w?title=Cats&a=edit", "/w?title=Dogs&a=edit"),
            ("/x?lang=de", "/x?lang=en", "/y?page=2&lang=de", "/y?page=2&lang=en"),
            ("/x?print=1", "/x", "/y?print=1", "/y"),
            ("/x", "/x?print=1", "/y", "/y?print=1"),
            ("/x", "/x?print=1", "/y?page=2", "/y?page=2&print=1"),
            ("/de/x?a=1", "/en/x", "/de/y", "/en/y"),
            ("/x.html", "/x.php", "/y.html", "/y.php"),
            ("http://m.h.test/x", "http://h.test/x", "http://m.h.test/y", "http://h.test/y"),
        ] {
            assert!(leads(from, to, link, other), "{from} -> {to}: {link} -> {other}");
        }
    }

    #[test]
    fn what_does_not_change_with_the_page_has_no_other_counterpart() {
        for (from, to, link, other) in [
            ("/de/x", "/en/x", "/fr/y", "/en/y"),
            ("http://m.h.test/x", "http://h.test/x", "http://other.test/y", "http://h.test/y"),
            ("/page/2", "/page/1", "/page/3", "/page/2"),
            ("/page/2", "/page/1", "/files/2/a", "/files/1/a"),
            ("/list?page=2", "/list?page=1", "/list?page=3", "/list?page=2"),
            ("/wiki/Cat", "/wiki/Dog", "/wiki/Catalog", "/wiki/Dogalog"),
            ("/wiki/Cats", "/wiki/Dogs", "/wiki/Tabby", "/wiki/Poodle"),
        ] {
            assert!(!leads(from, to, link, other), "{from} -> {to}: {link} -> {other}");
        }
    }

    #[test]
    fn strange_urls_are_no_panic() {
        for url in ["", "http://h.test", "http://h.test/?", "http://h.test/??&&=", "http://h.test//é/é?é=é"] {
            for other in ["http://h.test/", "http://h.test/é?é", "http://h.test///"] {
                for change in [UrlChange::between(url, other), UrlChange::between(other, url)].into_iter().flatten() {
                    change.counterparts(url);
                    change.counterparts("http://h.test/éé/é?é=éé&é=é");
                }
            }
        }
    }
}
