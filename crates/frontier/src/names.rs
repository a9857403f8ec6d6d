//! Interned names of hosts and origins.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Interned texts, numbered in order of appearance.
pub(super) struct Names {
    seed: u64,
    texts: Vec<Box<str>>,
    table: HashTable<u32>,
}

impl Names {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, texts: Vec::new(), table: HashTable::new() }
    }

    /// Returns the number of a text; a new one if it is new.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        let hash = xxh3_64_with_seed(text.as_bytes(), self.seed);
        if let Some(&number) = self.table.find(hash, |&number| self.text(number) == text) {
            return number;
        }
        // There are fewer hosts and origins than URLs, which have 32-bit numbers.
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        let hash_of = |&n: &u32| xxh3_64_with_seed(self.texts[n as usize].as_bytes(), self.seed);
        self.table.insert_unique(hash, number, hash_of);
        number
    }

    /// Returns the number of a known text.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        let hash = xxh3_64_with_seed(text.as_bytes(), self.seed);
        self.table.find(hash, |&number| self.text(number) == text).copied()
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.texts.iter().map(|text| text.len()).sum::<usize>();
        texts + self.texts.capacity() * size_of::<Box<str>>() + self.table.allocation_size()
    }

    /// Returns the text with this number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }
}

/// The parts of an origin, as written in a canonical URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OriginParts<'a> {
    scheme: &'a str,
    pub(super) host: &'a str,
    port: &'a str,
}

impl<'a> OriginParts<'a> {
    /// Splits a canonical URL or `scheme://host:port`. Splitting is enough, since a canonical URL has no user name, and
    /// faster than parsing.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let authority = rest.split(['/', '?']).next().filter(|authority| !authority.is_empty())?;
        let host_end = match authority.find(']') {
            Some(bracket) => bracket + 1,
            None => authority.find(':').unwrap_or(authority.len()),
        };
        let (host, port) = authority.split_at(host_end);
        let port = port.strip_prefix(':').unwrap_or(if scheme == "https" { "443" } else { "80" });
        Some(Self { scheme, host, port })
    }

    /// Writes `scheme://host:port`, as [`CanonicalUrl::origin`](ndcrawl_model::CanonicalUrl::origin).
    pub(super) fn write(&self, out: &mut String) {
        out.clear();
        for part in [self.scheme, "://", self.host, ":", self.port] {
            out.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    #[test]
    fn a_text_keeps_its_number() {
        let mut names = Names::new(1);
        for n in 0..1000 {
            assert_eq!(names.number(&n.to_string()), n);
        }
        assert_eq!((names.number("500"), names.text(500)), (500, "500"));
    }

    #[test]
    fn the_parts_cut_out_of_a_text_are_those_of_the_parsed_url() {
        let mut origin = String::new();
        for text in
            ["http://a.test", "https://a.test/b:c/", "http://a.test:8080?a:b]", "https://[::1]:81/", "http://[::1]"]
        {
            let url = Normalizer::default().absolute(text).unwrap();
            let parts = OriginParts::of(url.as_str()).unwrap();
            parts.write(&mut origin);
            assert_eq!((parts.host, origin.as_str()), (url.host(), url.origin().as_str()));
            assert_eq!(OriginParts::of(&url.origin()), Some(parts));
        }
    }
}
