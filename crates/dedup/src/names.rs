//! Which name does a document without URL keep, so that no two documents of a run have one?
//!
//! A document is known by its own id, if no other has it; else by its file and line. So no document is lost because its
//! id came before, be it in this file or in another. The names are the same whenever the same input is read again.

use std::collections::hash_map::{Entry, HashMap};

use xxhash_rust::xxh3::xxh3_128;

use super::input::InputDocument;
use ndcrawl_model::CanonicalUrl;

/// Names that are taken, by hash.
#[derive(Debug, Default)]
pub(super) struct RowNames {
    /// The document that each shown name belongs to.
    owners: HashMap<u128, u128>,
}

/// What becomes of a document's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// It keeps it.
    Own,
    /// Another document had its id, so it has the name of its place.
    ByPlace,
    /// Another document has the name of its place, too.
    Taken,
}

impl RowNames {
    /// Enters a document of an earlier run.
    pub fn restore(&mut self, url: &str) {
        if let Some(url) = CanonicalUrl::from_canonical(url).ok().filter(|url| url.file().is_some()) {
            self.owners.insert(shown_hash(&url), key(&url));
        }
    }

    /// Gives a document its name. `is_seen` says whether a key came before in this reading of the input.
    pub fn name(&mut self, document: &mut InputDocument, is_seen: impl Fn(u128) -> bool) -> Named {
        let url = &document.fetched.url;
        if url.file().is_none() || (self.is_free(url) && !is_seen(key(url))) {
            return Named::Own;
        }
        let place = document.row.as_ref().filter(|_| url.has_row_id());
        let Some(place) = place.and_then(|row| CanonicalUrl::of_row_number(&row.file, row.number)) else {
            return Named::Taken;
        };
        if !self.is_free(&place) {
            return Named::Taken;
        }
        document.fetched.url = place;
        Named::ByPlace
    }

    /// Takes the shown name for this document, unless it is another's.
    fn is_free(&mut self, url: &CanonicalUrl) -> bool {
        match self.owners.entry(shown_hash(url)) {
            Entry::Occupied(owner) => *owner.get() == key(url),
            Entry::Vacant(free) => {
                free.insert(key(url));
                true
            }
        }
    }
}

/// Returns the hash by which a run knows a URL.
pub(super) fn key(url: &CanonicalUrl) -> u128 {
    xxh3_128(url.as_str().as_bytes())
}

fn shown_hash(url: &CanonicalUrl) -> u128 {
    xxh3_128(url.shown().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::input::tests_of_names::document;

    /// Names these rows in order, as one reading does.
    fn read(names: &mut RowNames, rows: &[(&str, u64, Option<&str>)]) -> Vec<String> {
        let mut seen = HashSet::new();
        let name = |(file, number, id): &(&str, u64, Option<&str>)| {
            let mut document = document(file, *number, *id);
            let named = names.name(&mut document, |key| seen.contains(&key));
            seen.insert(key(&document.fetched.url));
            if named == Named::Taken { "taken".to_owned() } else { document.fetched.url.shown().into_owned() }
        };
        rows.iter().map(name).collect()
    }

    #[test]
    fn an_id_that_comes_again_gives_way_to_file_and_line() {
        let rows = [
            ("a", 1, Some("0")),
            ("a", 2, Some("1")),
            ("a", 3, Some("0")),
            ("b", 1, Some("0")),
            ("b", 2, None),
            ("c", 1, Some("b#2")),
            ("b", 3, Some("c#9")),
            ("c", 9, None),
        ];
        let mut names = RowNames::default();
        let expected = ["0", "1", "a#3", "b#1", "b#2", "c#1", "c#9", "taken"];
        assert_eq!(read(&mut names, &rows), expected);
        assert_eq!(read(&mut names, &rows), expected, "read again");
    }

    #[test]
    fn names_are_the_same_in_a_later_run_and_in_another_order() {
        let (a, b) = ([("a", 1, Some("0")), ("a", 2, Some("0"))], [("b", 1, Some("0"))]);
        let mut names = RowNames::default();
        for (file, number, id) in [("a", 1, Some("0")), ("a", 2, None)] {
            names.restore(document(file, number, id).fetched.url.as_str());
        }
        assert_eq!(read(&mut names, &b), ["b#1"]);
        assert_eq!(read(&mut names, &a), ["0", "a#2"]);
        assert_eq!(read(&mut names, &b), ["b#1"]);
    }
}
