//! Prints the weighted terms of a page, heaviest first: what a detector compares.
//!
//! ```sh
//! cargo run -p pagetext --example terms -- page.html
//! ```

use neardup::model::FieldWeights;
use pagetext::{Normalizer, PageReader, PageSource};

/// Terms that are printed.
const MOST: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: terms FILE.html")?;
    let body = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let url = Normalizer::default().absolute("http://localhost/")?;
    let content = PageReader::default().render(PageSource::new(&url, &body));
    let weights = FieldWeights::default();
    let mut terms: Vec<_> = content.terms.iter().map(|term| (weights.weigh(&term.counts), &term.term)).collect();
    terms.sort_by(|a, b| b.cmp(a));
    let total: u64 = terms.iter().map(|(weight, _)| weight).sum();
    println!("{} distinct terms; weights as in the table of the MWO paper", terms.len());
    for (weight, term) in terms.iter().take(MOST) {
        println!("{:>7.2}  {:>5.2}%  {term}", *weight as f64 / 100.0, *weight as f64 * 100.0 / total as f64);
    }
    Ok(())
}
