//! *Which terms does this text contain?*
//!
//! A [`Tokenizer`] finds words by Unicode rules (UAX #29), drops stop words, stems the others, and counts each term
//! in its field. Text in scripts without spaces becomes pairs of characters. What a reader does not see, such as soft
//! hyphens and ligatures, makes no difference. The same pass records the word order that a detector needs: sentences,
//! or hashes of runs of words.
//!
//! Threads share a tokenizer. It caches words and their stems across documents, since stemming a word costs about a
//! hundred times as much as looking it up. The cache changes nothing but time.

mod fielded_text;
mod folding;
mod languages;
mod page_counts;
mod query;
mod running_text;
mod sentences;
mod short_word_cache;
mod stem;
mod stop_words;
mod synonyms;
mod term_cache;
mod term_table;
mod tokenizer;
mod tokens;
pub mod whitespace;
mod word_pool;
mod word_scan;
mod words;

pub use fielded_text::{FieldedText, Fields, Lines, Piece};
pub use languages::has_rules;
pub use page_counts::{CountsByNumber, NumberedTerms, PageCounts};
pub use query::query_terms;
pub use synonyms::{Synonyms, SynonymsError};
pub use term_table::{TermTable, WordObserver};
pub use tokenizer::{LanguageRules, TokenizedText, Tokenizer, TokenizerOptions, WordCache};
pub use tokens::is_unspaced;
