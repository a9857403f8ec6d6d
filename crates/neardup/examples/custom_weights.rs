//! Your own terms and weights: here, products compared by their attributes, where the model number matters most.
//!
//! ```sh
//! cargo run --release -p neardup --example custom_weights
//! ```

use neardup::{Deduplicator, Document};

fn main() -> Result<(), neardup::Error> {
    // Three terms make a document long enough to be compared by similarity.
    let mut products: Deduplicator<&str> = Deduplicator::builder().threshold(0.75).min_terms(3).build()?;
    let listings: [(&str, &[(&str, f64)]); 3] = [
        ("shop A", &[("brand:acme", 1.0), ("model:x200", 5.0), ("color:black", 0.5), ("word:laptop", 0.5)]),
        ("shop B", &[("brand:acme", 1.0), ("model:x200", 5.0), ("color:grey", 0.5), ("word:notebook", 0.5)]),
        ("shop C", &[("brand:acme", 1.0), ("model:x300", 5.0), ("color:black", 0.5), ("word:laptop", 0.5)]),
    ];
    for (shop, terms) in listings {
        println!("{shop}: {}", products.insert(shop, Document::Terms(terms))?);
    }
    let explanation = products.explain(&"shop A", &"shop B")?;
    println!("\nshop A and shop B share {:.3}:", explanation.score);
    for term in &explanation.terms {
        println!("  {:<16} {:.3} {:.3}", term.term, term.first, term.second);
    }
    Ok(())
}
