//! *Which terms does this text hold?*
//!
//! Words are found by Unicode rules (UAX #29), stop words are dropped, the others are stemmed, and each term is counted
//! in its field. Text in scripts without spaces becomes pairs of characters. The same pass finds what a detector needs
//! of the order of the words: sentences, or hashes of runs of words.
//!
//! A [`Tokenizer`] is shared by threads. It keeps words and their stems from document to document, since a stem costs
//! some hundred times as much as looking it up. Nothing but time depends on that.

mod fielded_text;
mod query;
mod sentences;
mod shingles;
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
pub use query::query_terms;
pub use stem::has_rules;
pub use synonyms::{Synonyms, SynonymsError};
pub use term_table::{TermTable, WordObserver};
pub use tokenizer::{LanguageRules, TokenizedText, Tokenizer, TokenizerOptions, WordCache};
pub use tokens::is_unspaced;
