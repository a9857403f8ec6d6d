//! Sizes and durations as people read them.

use std::time::Duration;

/// Formats a size: `512 B`, `1.5 MiB`.
pub fn byte_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    // A value that would print as 1024.0 is 1.0 of the next unit.
    let steps = (0..5).take_while(|step| bytes as f64 / 1024f64.powi(*step) >= 1023.95).count();
    let places = usize::from(steps > 0);
    format!("{:.places$} {}", bytes as f64 / 1024f64.powi(steps as i32), UNITS[steps])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_place_and_the_right_unit() {
        let texts = [0, 1023, 1024, 1536, (1 << 20) - 1, 1 << 30].map(byte_size);
        assert_eq!(texts, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 GiB"]);
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let texts = [120, 1234, 59_999, 123_000, 3_900_000].map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(texts, ["120 ms", "1.2 s", "60.0 s", "2 min 3 s", "1 h 5 min"]);
    }
}
