//! The arguments of `decontaminate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::common::Verbosity;
use crate::cli::config::units::parse_percent;

/// The arguments of `decontaminate`.
#[derive(Debug, Args)]
pub struct DecontaminateArguments {
    /// The documents: all that dedup reads
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,
    /// The test set: all that dedup reads (repeatable)
    #[arg(long, required = true, value_name = "TEST", value_hint = ValueHint::AnyPath)]
    pub against: Vec<PathBuf>,
    /// A document is compared with the items with which it shares a run of N words
    #[arg(long, value_name = "N", default_value = "13", value_parser = clap::value_parser!(u16).range(4..=1000))]
    pub words: u16,
    /// A document that holds this part of an item is contaminated; 0.001% for any run
    #[arg(long, value_name = "PERCENT", default_value = "50%", value_parser = parse_percent)]
    pub share: f64,
    /// Write the hits to FILE instead of stdout, as JSON lines
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Write the rows of documents that are not contaminated, as they came, to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kept: Option<PathBuf>,
    /// Tables: field with the document's own id
    #[arg(long, value_name = "NAME", default_value = "id")]
    pub id_field: String,
    /// Tables: fields with the text of a document, by name or path; several are joined
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "text")]
    pub text_field: Vec<String>,
    /// Tables: fields with the text of an item, such as question,answer
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "text")]
    pub test_field: Vec<String>,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}
