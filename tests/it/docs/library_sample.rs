use neardup::{Deduplicator, Verdict};

/// Says of each text what it repeats.
pub fn lines() -> Result<Vec<String>, neardup::Error> {
    let texts = [
        ("sun", "The sun rose over the hills and the birds began to sing in the old trees."),
        ("rain", "Rain fell on the town all day and nobody went out to the market."),
        ("dawn", "The sun rose over the hills and the birds began to call in the old trees."),
    ];
    let mut pages = Deduplicator::builder().threshold(0.8).min_terms(5).build()?;
    let mut lines = Vec::new();
    for (key, text) in texts {
        lines.push(match pages.insert(key, text)? {
            Verdict::Unique => format!("{key}: kept"),
            Verdict::NearDuplicate { of, score } => format!("{key}: repeats {of}, similar by {score}"),
            Verdict::ExactDuplicate { of } => format!("{key}: the same text as {of}"),
            _ => continue,
        });
    }
    Ok(lines)
}
