//! Drops parameters that name a visit and not a page.

use std::borrow::Cow;

/// Names of parameters to drop.
#[derive(Clone, Debug)]
pub(super) struct StripList(Vec<Pattern>);

/// A name, or the beginning of one.
#[derive(Clone, Debug)]
struct Pattern {
    name: String,
    is_prefix: bool,
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        let head = if self.is_prefix { name.as_bytes().get(..self.name.len()) } else { Some(name.as_bytes()) };
        head.is_some_and(|head| head.eq_ignore_ascii_case(self.name.as_bytes()))
    }
}

impl StripList {
    /// Creates the list from names; a `*` at the end matches any rest.
    pub(super) fn new(names: &[String]) -> Self {
        let patterns = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        Self(patterns.map(Self::pattern).collect())
    }

    fn pattern(text: &str) -> Pattern {
        let prefix = text.strip_suffix('*');
        Pattern { name: prefix.unwrap_or(text).to_owned(), is_prefix: prefix.is_some() }
    }

    fn drops(&self, parameter: &str) -> bool {
        let name = parameter.split('=').next().unwrap_or_default();
        self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Drops parameters of a query, each with the separator before it (`&`, or `;` by HTML 4, B.2.2).
    ///
    /// The others stay byte for byte and in order.
    pub(super) fn query<'a>(&self, query: Cow<'a, str>) -> Cow<'a, str> {
        if !query.split(['&', ';']).any(|parameter| self.drops(parameter)) {
            return query;
        }
        let mut kept = String::with_capacity(query.len());
        let mut at = 0;
        let mut is_first = true;
        for parameter in query.split(['&', ';']) {
            let end = at + parameter.len();
            if !self.drops(parameter) {
                // The separator is the byte before the parameter, except for the first that stays.
                kept.push_str(if is_first { parameter } else { &query[at - 1..end] });
                is_first = false;
            }
            at = end + 1;
        }
        Cow::Owned(kept)
    }

    /// Drops parameters of path segments (`;jsessionid=1`, RFC 3986, section 3.3).
    ///
    /// Leaves dot segments with parameters alone, since `..` would get a meaning, and parameters with an `&`, since they
    /// may be a query without its `?`.
    pub(super) fn path<'a>(&self, path: Cow<'a, str>) -> Cow<'a, str> {
        if !path.contains(';') {
            return path;
        }
        let segments: Vec<Cow<'_, str>> = path.split('/').map(|segment| self.segment(segment)).collect();
        Cow::Owned(segments.join("/"))
    }

    fn segment<'a>(&self, segment: &'a str) -> Cow<'a, str> {
        let mut parts = segment.split(';');
        let name = parts.next().unwrap_or_default();
        if matches!(name, "." | "..") {
            return Cow::Borrowed(segment);
        }
        let kept = parts.filter(|parameter| parameter.contains('&') || !self.drops(parameter));
        Cow::Owned(kept.fold(name.to_owned(), |text, parameter| text + ";" + parameter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> StripList {
        StripList::new(&["utm_*", "sid", "jsessionid", ""].map(str::to_owned))
    }

    #[test]
    fn a_dropped_parameter_takes_its_separator_with_it_and_nothing_else() {
        for (query, expected) in [
            ("a=1&utm_source=x&b=2", "a=1&b=2"),
            ("UTM_x&a=%zz;&&b", "a=%zz;&&b"),
            ("sid=1", ""),
            ("a=1;sid=2;b=3", "a=1;b=3"),
            ("sidx=1&xsid=2&utm=3", "sidx=1&xsid=2&utm=3"),
            ("sid=1&&a", "&a"),
            ("ü=1&sid=é", "ü=1"),
        ] {
            assert_eq!(list().query(Cow::Borrowed(query)), expected, "{query}");
        }
    }

    #[test]
    fn path_parameters_are_dropped_from_any_segment_but_dot_segments() {
        for (path, expected) in [
            ("/a;jsessionid=1/b;v=2;JSESSIONID=3", "/a/b;v=2"),
            ("/..;sid=1/b", "/..;sid=1/b"),
            ("/a;sid=1&id=7", "/a;sid=1&id=7"),
            ("/a;x", "/a;x"),
            ("/;sid", "/"),
        ] {
            assert_eq!(list().path(Cow::Borrowed(path)), expected, "{path}");
        }
    }
}
