use neardup::{Deduplicator, Verdict};

fn main() -> Result<(), neardup::Error> {
    let texts = [
        ("sun", "The sun rose over the hills and the birds began to sing in the old trees."),
        ("rain", "Rain fell on the town all day and nobody went out to the market."),
        ("dawn", "The sun rose over the hills and the birds began to call in the old trees."),
    ];
    let mut pages = Deduplicator::builder().min_terms(5).build()?;
    for (key, text) in texts {
        match pages.insert(key, text)? {
            Verdict::Unique => println!("{key}: kept"),
            Verdict::NearDuplicate { of, score, .. } => println!("{key}: repeats {of}, similar by {score}"),
            Verdict::ExactDuplicate { of } => println!("{key}: the same text as {of}"),
            _ => {}
        }
    }
    Ok(())
}
