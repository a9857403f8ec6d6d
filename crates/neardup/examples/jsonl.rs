//! Deduplicates JSON lines: reads `{"id": …, "text": …}` from a file or stdin, writes the lines that are unique.
//!
//! ```sh
//! cargo run --release -p neardup --example jsonl -- documents.jsonl > unique.jsonl
//! ```
//!
//! Duplicates are named on stderr, with the line they repeat and the score.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use neardup::{Deduplicator, Verdict};
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input: Box<dyn BufRead> = match std::env::args().nth(1) {
        Some(path) => Box::new(BufReader::new(File::open(path)?)),
        None => Box::new(io::stdin().lock()),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut documents: Deduplicator<String> = Deduplicator::builder().build()?;
    for (number, line) in (1..).zip(input.lines()) {
        let line = line?;
        let row: Value = serde_json::from_str(&line).map_err(|error| format!("line {number}: {error}"))?;
        let text = row["text"].as_str().ok_or_else(|| format!("line {number}: no text"))?;
        // The number makes a key of its own of each line, even if ids repeat.
        let key = format!("{number}:{}", row["id"].as_str().unwrap_or_default());
        match documents.insert(key.clone(), text)? {
            Verdict::Unique => writeln!(out, "{line}")?,
            verdict => eprintln!("{key}: {verdict}"),
        }
    }
    out.flush()?;
    eprintln!("{} documents", documents.len());
    Ok(())
}
