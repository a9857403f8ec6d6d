//! A service in small: one thread takes documents in, others query the same index, and the state survives a restart.
//!
//! ```sh
//! cargo run --release -p neardup --example stream
//! ```

use std::sync::RwLock;

use neardup::Deduplicator;

const ARTICLES: [(u32, &str); 3] = [
    (1, "The council approved the new bridge over the river after a long debate about its cost and its colour."),
    (2, "Scientists measured the depth of the northern lake again and found it ten metres deeper than before."),
    (3, "The council approved the new bridge over the river after a short debate about its cost and its colour."),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let documents: RwLock<Deduplicator<u32>> = RwLock::new(Deduplicator::builder().min_terms(5).build()?);
    for (key, text) in ARTICLES {
        let verdict = documents.write().map_err(|_| "a writer panicked")?.insert(key, text)?;
        println!("{key}: {verdict}");
    }

    // Queries only read: any number of threads may ask at once.
    let query = "The council approved the new bridge over the river after a debate about its cost and its colour.";
    std::thread::scope(|scope| {
        for threshold in [0.5, 0.99] {
            let documents = &documents;
            scope.spawn(move || match documents.read().map(|documents| documents.matches(query, threshold)) {
                Ok(Ok(matches)) => {
                    let found: Vec<_> =
                        matches.iter().map(|found| format!("{} ({:.3})", found.key, found.score)).collect();
                    println!("from {threshold}: {}", found.join(", "));
                }
                _ => eprintln!("no answer"),
            });
        }
    });

    let mut saved = Vec::new();
    documents.read().map_err(|_| "a writer panicked")?.save(&mut saved)?;
    let mut restored = Deduplicator::<u32>::load(&mut &saved[..])?;
    println!("{} bytes saved; 4: {}", saved.len(), restored.insert(4, ARTICLES[1].1)?);
    Ok(())
}
