//! The tokenizer: turns text into counted terms.

use std::sync::Arc;

use super::fielded_text::FieldedText;
use super::page_counts::{CountsByNumber, NumberedTerms, PageCounts};
use super::stem::{self, TermRules};
use super::stop_words;
use super::synonyms::Synonyms;
use super::term_table::TermTable;
use super::word_pool::WordPool;
use crate::model::{Digest, Field, TermCounts, TermId, TermOrder, WantedOrder};

/// The rules by which words become terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LanguageRules {
    /// English rules, whatever the page's language: a word becomes the same term on each page.
    ///
    /// Sites in several languages leave much untranslated. Rules of many languages turn one text into different
    /// terms: on the labeled pages that hid 29 of 923 near-duplicates, where this hides 8.
    #[default]
    Same,
    /// The rules of the page's language.
    OfLanguage,
}

/// How long stems are cached. Only time depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordCache {
    /// No cache and no other shortcut: words by the Unicode segmentation crate alone, white space folded word by
    /// word. The reference for tests.
    Plain,
    /// No cache.
    None,
    /// One page.
    Page,
    /// Across pages, bounded.
    #[default]
    Kept,
    /// Across pages, with room for this many words, short and long ones each: some 100 bytes a word. For texts of
    /// many sources in random order.
    Room(u32),
}

/// Options of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenizerOptions {
    /// Whether stop words are dropped.
    pub stop_words: bool,
    /// Whether words are stemmed.
    pub stem: bool,
    /// Words to map to one word before stemming.
    pub synonyms: Option<Arc<Synonyms>>,
    /// The language whose stop words and stemmer apply.
    pub rules: LanguageRules,
    /// How long stems are cached. Only time depends on it.
    pub word_cache: WordCache,
}

impl Default for TokenizerOptions {
    fn default() -> Self {
        Self { stop_words: true, stem: true, synonyms: None, rules: LanguageRules::Same, word_cache: WordCache::Kept }
    }
}

/// The terms of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenizedText {
    /// The distinct terms in order of first appearance.
    pub terms: Vec<TermCounts>,
    /// The order of the terms, as far as it is wanted.
    pub order: TermOrder,
    /// Digest of the text with white space folded; `None` if there is none.
    pub digest: Option<Digest>,
}

/// Turns text into terms. Shared by threads; its only state is a cache of words.
#[derive(Clone, Debug, Default)]
pub struct Tokenizer {
    options: TokenizerOptions,
    pool: WordPool,
}

impl Tokenizer {
    /// Creates a tokenizer with these options and an empty cache.
    pub fn new(options: TokenizerOptions) -> Self {
        let pool = match options.word_cache {
            // Two generations.
            WordCache::Room(words) => WordPool::new(words as usize / 2),
            _ => WordPool::default(),
        };
        Self { options, pool }
    }

    /// Tokenizes a plain text. All terms count as [`Field::Body`]. Cost: linear.
    ///
    /// `language` is a primary BCP 47 subtag. It counts only under [`LanguageRules::OfLanguage`].
    pub fn tokenize(&self, text: &str, language: Option<&str>, wanted: WantedOrder) -> TokenizedText {
        let fielded =
            if wanted == WantedOrder::default() { FieldedText::of(text) } else { FieldedText::of_lines(text) };
        let (terms, order) = self.with_table(language, |mut table| {
            let order = table.count_parts(&fielded, wanted, None);
            (table.into_terms(), order)
        });
        TokenizedText { terms, order, digest: fielded.digest() }
    }

    /// Counts the terms of a plain text by their numbers in the vocabulary in which `find` looks, and digests the text
    /// with white space folded. Cost: linear.
    ///
    /// `find` must look in the same vocabulary whenever this tokenizer or a clone is used: what it found is not asked
    /// for again.
    pub fn tokenize_numbered(
        &self,
        text: &str,
        language: Option<&str>,
        find: impl FnMut(&str) -> Option<TermId>,
    ) -> (NumberedTerms, Option<Digest>) {
        let fielded = FieldedText::of(text);
        let terms = self.with_counts(language, |mut table: TermTable<'_, '_, CountsByNumber>| {
            table.count(Field::Body, fielded.as_str());
            table.into_numbered(find)
        });
        (terms, fielded.digest())
    }

    /// Returns the terms of a short text, all counted as [`Field::Body`].
    pub fn terms_of(&self, text: &str) -> Vec<TermCounts> {
        self.with_table(None, |mut table| {
            table.count(Field::Body, text);
            table.into_terms()
        })
    }

    /// Lends an empty table of terms to `work`, for documents of several fields.
    pub fn with_table<'t, T>(&self, language: Option<&str>, work: impl FnOnce(TermTable<'_, 't>) -> T) -> T {
        self.with_counts(language, work)
    }

    fn with_counts<'t, P: PageCounts, T>(
        &self,
        language: Option<&str>,
        work: impl FnOnce(TermTable<'_, 't, P>) -> T,
    ) -> T {
        let TokenizerOptions { stem, stop_words, rules, word_cache, .. } = self.options;
        let language = if rules == LanguageRules::Same { Some("en") } else { language };
        let language = TermRules::of(language, stem, stop_words).mapping(self.options.synonyms.as_ref());
        let is_kept = matches!(word_cache, WordCache::Kept | WordCache::Room(_));
        let pool = if is_kept { &self.pool } else { &WordPool::default() };
        pool.with(|words| work(TermTable::new(language, word_cache, words)))
    }

    /// Returns the name and version of the stemmer, or `no stemmer`.
    pub fn stemmer(&self) -> &'static str {
        if self.options.stem { stem::STEMMER } else { "no stemmer" }
    }

    /// Returns the version of the stop word lists; 0 if stop words are kept.
    pub fn stop_word_version(&self) -> u32 {
        if self.options.stop_words { stop_words::VERSION } else { 0 }
    }
}
