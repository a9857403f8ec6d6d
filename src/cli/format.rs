//! Formats figures for people.

use std::time::Duration;

pub use crate::html_writer::{byte_size, counted, span, thousands};

/// Formats a clock: `00:01:23`. Days count as hours.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a share: `19.0%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Says what is lost with the near-duplicates, in a line; empty if no words were counted.
pub fn lost_words(dropped: u64, lost: u64) -> String {
    if dropped == 0 {
        return String::new();
    }
    let (words, share) = (counted(dropped, "word", "words"), percent(lost as f64 / dropped as f64));
    format!("Near-duplicates lose {} of their {words} ({share})\n", thousands(lost))
}

/// Says of what a share is: `83 pages compared are duplicates`, `1 page compared is a duplicate`.
pub fn of_compared(pages: u64) -> String {
    let is = if pages == 1 { "is a duplicate" } else { "are duplicates" };
    format!("{} compared {is}", counted(pages, "page", "pages"))
}

/// Says how many pages were decided again, and why.
pub fn decided_again(pages: u64) -> String {
    let pages = counted(pages, "page", "pages");
    format!("{pages} decided again: more was known by then, or a better copy had come\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(clock(Duration::from_secs(3723)), "01:02:03");
    }
}
