//! Synonyms: words of one meaning become one word before they are stemmed.
//!
//! From "An Extended TDW Scheme by Word Mapping Technique", section 3 and algorithm E: *for each word having a
//! synonym, extract the row of its synonyms and return the word of minimum length for stemming*.
//!
//! # Format of a table
//!
//! UTF-8 text. Each line is a row of synonyms, separated by commas or tabs. White space around a word and case do not
//! matter. Items with white space inside are skipped, since pages are read word by word. Empty lines and text after
//! `#` are ignored. A line such as `[en]` restricts the rows below it to pages in that language, up to the next such
//! line. Rows before the first one, and below `[]`, apply to all pages.
//!
//! ```text
//! # Rows for all pages.
//! email, e-mail, mail
//! [en]
//! car, automobile, motorcar, motor vehicle
//! ```
//!
//! # Mapping
//!
//! A word becomes the shortest word of its row, counted in characters; of equals the first in code point order. A
//! word belongs to the first row that names it, and is removed from later rows. So rows are disjoint, the mapping is
//! idempotent, and it depends on the table only.
//!
//! The relation is not closed transitively. In a thesaurus most words are in several rows, one for each sense;
//! joining rows that share a word would merge most of the language. Even so, senses are merged (*engine* and *motor*,
//! *page* and *side*): that is the paper's method and its risk.
//!
//! Words are mapped before stemming: a row of *car* does not apply to *cars*. Stop words are dropped first.

use std::collections::{HashMap, HashSet};

use super::folding;
use super::languages::LANGUAGES;
use crate::model::Digest;

/// The table that comes with the library.
const SHIPPED: &str = include_str!("../../data/synonyms.txt");

/// A synonym table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonyms {
    /// By language, empty for all: the mapping of each word of a row; the shortest maps to itself.
    rows: HashMap<Box<str>, HashMap<Box<str>, Box<str>>>,
    digest: Digest,
}

/// A synonym table that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {why}")]
pub struct SynonymsError {
    name: String,
    line: usize,
    why: String,
}

impl Synonyms {
    /// Reads a table. Errors call it `name`, usually the path of the file.
    ///
    /// # Errors
    /// Names the first line that is no row.
    pub fn read(name: &str, table: &[u8]) -> Result<Self, SynonymsError> {
        let mut reading = Reading::default();
        for (number, line) in (1..).zip(table.split(|byte| *byte == b'\n')) {
            let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned());
            let text = text.map(|text| if number == 1 { text.trim_start_matches('\u{feff}') } else { text });
            let read = text.and_then(|text| reading.line(&folding::folded(text)));
            read.map_err(|why| SynonymsError { name: name.to_owned(), line: number, why })?;
        }
        Ok(Self { rows: reading.rows, digest: Digest::of(table) })
    }

    /// Returns a small table of common English words.
    pub fn shipped() -> Self {
        // A test reads the table; if reading fails anyway, nothing is mapped.
        let none = || Self { rows: HashMap::new(), digest: Digest::of(b"") };
        Self::read("synonyms.txt", SHIPPED.as_bytes()).unwrap_or_else(|_| none())
    }

    /// Maps a word of a page in this language. The word must be in lower case.
    pub(super) fn mapped<'a>(&'a self, language: &str, word: &'a str) -> &'a str {
        let found =
            |language: &str, word: &str| self.rows.get(language).and_then(|rows| rows.get(word)).map(|to| &**to);
        // The result of a row for all languages may be in a row for this one.
        let of_all = || found("", word).map(|mapped| found(language, mapped).unwrap_or(mapped));
        found(language, word).or_else(of_all).unwrap_or(word)
    }

    /// Returns a name of the table that depends on its content.
    pub fn signature(&self) -> String {
        self.digest.to_string()
    }
}

/// A table while it is read.
#[derive(Default)]
struct Reading {
    language: Box<str>,
    rows: HashMap<Box<str>, HashMap<Box<str>, Box<str>>>,
    /// Words that belong to a row, by language.
    seen: HashSet<(Box<str>, Box<str>)>,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(language) = line.strip_prefix('[') {
            return self.heading(language.strip_suffix(']').map(str::trim).ok_or("'[' without ']'")?);
        }
        let items: Vec<String> =
            line.split([',', '\t']).map(|item| item.trim().to_lowercase()).filter(|item| !item.is_empty()).collect();
        if items.len() < 2 {
            return Err(format!("'{line}' is a single word: a row needs several, separated by commas or tabs"));
        }
        let is_new = |word: &String| {
            !word.contains(char::is_whitespace) && self.seen.insert((self.language.clone(), word.as_str().into()))
        };
        let words: Vec<String> = items.into_iter().filter(is_new).collect();
        self.row(&words);
        Ok(())
    }

    fn heading(&mut self, language: &str) -> Result<(), String> {
        if !language.is_empty() && !LANGUAGES.contains(&language) {
            return Err(format!("'{language}' is not a known language: use one of {}", LANGUAGES.join(", ")));
        }
        self.language = language.into();
        Ok(())
    }

    fn row(&mut self, words: &[String]) {
        let Some(shortest) = words.iter().min_by_key(|word| (word.chars().count(), *word)) else { return };
        let rows = self.rows.entry(self.language.clone()).or_default();
        rows.extend(words.iter().map(|word| (word.as_str().into(), shortest.as_str().into())));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(text: &str) -> Synonyms {
        Synonyms::read("table.txt", text.as_bytes()).unwrap()
    }

    /// Table I: every word of a row becomes the shortest.
    #[test]
    fn a_word_becomes_the_shortest_of_its_row() {
        let table = table("x1, x22, x333\r\n# a comment\n\ny22\ty1\ty333 # another\n");
        for (word, mapped) in [("x333", "x1"), ("x22", "x1"), ("x1", "x1"), ("y333", "y1"), ("z", "z")] {
            assert_eq!(table.mapped("en", word), mapped);
        }
    }

    #[test]
    fn of_equals_the_alphabet_decides_and_length_is_in_characters() {
        assert_eq!(table("big, fat").mapped("", "fat"), "big");
        assert_eq!(table("bbbb, äöü").mapped("", "bbbb"), "äöü");
        assert_eq!(table("Cat, FELINE").mapped("", "feline"), "cat");
    }

    #[test]
    fn a_word_belongs_to_the_first_row_that_names_it() {
        let table = table("car, automobile, auto\nauto, self\nautomobile, machine, engine, device");
        assert_eq!(table.mapped("", "auto"), "car");
        assert_eq!(table.mapped("", "self"), "self");
        assert_eq!(table.mapped("", "machine"), "device");
    }

    #[test]
    fn several_words_are_left_out_of_a_row() {
        let table = table("automobile, car, motor vehicle\nliving room, parlour");
        assert_eq!(table.mapped("", "automobile"), "car");
        assert_eq!(table.mapped("", "parlour"), "parlour");
    }

    #[test]
    fn rows_below_a_heading_hold_for_its_language() {
        let table = table("\u{feff}mail, email\n[de]\nwagen, auto\ngift, toxin\n[en]\ngift, present\n[]\nbus, omnibus");
        assert_eq!(["de", "en", "pl"].map(|language| table.mapped(language, "wagen")), ["auto", "wagen", "wagen"]);
        assert_eq!(["de", "en", ""].map(|language| table.mapped(language, "present")), ["present", "gift", "present"]);
        assert_eq!(["de", ""].map(|language| table.mapped(language, "email")), ["mail", "mail"]);
        assert_eq!(table.mapped("en", "omnibus"), "bus");
        let chained = self::table("aaa, bbbb\n[en]\naaa, zz");
        assert_eq!(["en", "de"].map(|language| chained.mapped(language, "bbbb")), ["zz", "aaa"]);
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = |text: &[u8]| Synonyms::read("mine.txt", text).unwrap_err().to_string();
        assert_eq!(
            error(b"a, b\ncar; auto\n"),
            "mine.txt:2: 'car; auto' is a single word: a row needs several, separated by commas or tabs"
        );
        assert_eq!(error(b"a, b\n\n\xff\xfe, b"), "mine.txt:3: not UTF-8");
        assert!(error(b"[klingon]").starts_with("mine.txt:1: 'klingon' is not a known language: use one of ar, da, "));
        assert_eq!(error(b"[en"), "mine.txt:1: '[' without ']'");
    }

    #[test]
    fn the_shipped_table_reads_and_no_word_stands_in_two_of_its_rows() {
        let shipped = Synonyms::read("synonyms.txt", SHIPPED.as_bytes()).unwrap();
        assert_eq!(shipped, Synonyms::shipped());
        assert_eq!(shipped.mapped("en", "automobile"), "car");
        assert_eq!(shipped.mapped("de", "automobile"), "automobile");
        let rows = SHIPPED.lines().filter(|line| line.contains(','));
        let rows: Vec<Vec<&str>> =
            rows.filter(|line| !line.starts_with('#')).map(|line| line.split(", ").collect()).collect();
        assert!(rows.len() > 300, "{}", rows.len());
        let words: Vec<&str> = rows.iter().flatten().copied().collect();
        let twice: Vec<_> = words.iter().enumerate().filter(|(at, word)| words[..*at].contains(word)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    proptest! {
        #[test]
        fn what_was_mapped_stays_and_rows_of_new_words_fall_together(
            rows in prop::collection::vec(prop::collection::vec("[a-d]{1,2}", 2..5), 1..8),
            heading in 1usize..8,
        ) {
            let line = |(at, row): (usize, &Vec<String>)| {
                format!("{}{}\n", if at == heading { "[en]\n" } else { "" }, row.join(", "))
            };
            let text: String = rows.iter().enumerate().map(line).collect();
            let table = table(&text);
            for (word, language) in rows.iter().flatten().zip(["", "en"].into_iter().cycle()) {
                let mapped = table.mapped(language, word);
                prop_assert_eq!(table.mapped(language, mapped), mapped);
            }
            let first: HashSet<&str> = rows[0].iter().map(|word| table.mapped("", word)).collect();
            prop_assert_eq!(first.len(), 1);
        }
    }
}
