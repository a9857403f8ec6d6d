//! Formats figures for people.

use std::time::Duration;

pub use crate::html_writer::{counted, thousands};

/// Formats a size: `512 B`, `1.5 MiB`.
pub fn byte_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // A value that would print as 1024.0 is 1.0 of the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Formats a clock: `00:01:23`. Days count as hours.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a duration: `120 ms`, `1.2 s`, `2 min 3 s`, `1 h 5 min`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if duration < Duration::from_millis(1) && !duration.is_zero() => "<1 ms".to_owned(),
        0 => format!("{} ms", duration.as_millis()),
        1..=59 => format!("{:.1} s", duration.as_millis() as f64 / 1000.0),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
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
    fn bytes_have_one_place_and_the_right_unit() {
        let texts = [0, 1023, 1024, 1536, (1 << 20) - 1, 1 << 30].map(byte_size);
        assert_eq!(texts, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 GiB"]);
    }

    #[test]
    fn times_are_short() {
        assert_eq!(clock(Duration::from_secs(3723)), "01:02:03");
        let texts = [120, 1234, 59_999, 123_000, 3_900_000].map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(texts, ["120 ms", "1.2 s", "60.0 s", "2 min 3 s", "1 h 5 min"]);
    }
}
