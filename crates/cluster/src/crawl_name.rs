//! The name of a crawl.

use std::fmt;

use super::refusal::Refusal;

/// The longest name of a crawl.
const LONGEST_NAME: usize = 40;

/// The name of a crawl in its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlName(String);

impl CrawlName {
    /// Checks a name: at most 40 of the characters `a-z`, `0-9` and `_`, a letter first.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let begins_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        let is_sound = begins_well && name.len() <= LONGEST_NAME && name.bytes().all(is_plain);
        if is_sound { Ok(Self(name.to_owned())) } else { Err(Refusal::Name(name.to_owned())) }
    }

    /// Returns the name.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the schema of the crawl's tables. It needs no quotes.
    pub(super) fn schema(&self) -> String {
        format!("nd_{}", self.0)
    }
}

impl fmt::Display for CrawlName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_part_of_a_statement() {
        assert_eq!(CrawlName::parse("news_2026").unwrap().schema(), "nd_news_2026");
        for name in ["", "News", "2026", "a;drop", "a b", "é", &"a".repeat(41)] {
            let refusal = CrawlName::parse(name).unwrap_err().to_string();
            assert!(refusal.contains(name) && refusal.contains("at most 40"), "{refusal}");
        }
    }
}
