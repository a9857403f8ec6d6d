//! Durations and sizes with units.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;

/// Units of time in milliseconds, the largest first.
const TIME_UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Units of size in bytes, the largest first.
const SIZE_UNITS: [(&str, u64); 4] = [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];

/// Parses `500ms`, `2s`, `1.5m`, `1h`, `1d`; a bare number is seconds. Fractions of a millisecond are dropped.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let error = || format!("'{text}' is not a duration: give a number and a unit, such as 500ms, 2s, 1m or 1h");
    let (number, unit) = split_number(text);
    let unit = if unit.is_empty() { "s" } else { unit };
    let factor = TIME_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?.1;
    scaled(number, factor).map(Duration::from_millis).ok_or_else(error)
}

/// Parses a part of something, as `1%` or `0.5%`, above 0 and at most 100. Returns it as a share of 1.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
    percent.map(|percent| percent / 100.0).ok_or_else(|| format!("'{text}' is not a part: give one such as 1% or 0.5%"))
}

/// Returns the duration in the largest unit that divides it.
pub fn show_duration(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 {
        return "0s".to_owned();
    }
    let whole = TIME_UNITS.iter().find(|(_, factor)| millis % factor == 0);
    whole.map_or_else(|| format!("{millis}ms"), |(unit, factor)| format!("{}{unit}", millis / factor))
}

/// A number of bytes; `K`, `M`, `G` and `T` are powers of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("'{text}' is not a size: give a number and perhaps K, M or G, such as 512K or 10M");
        let (number, unit) = split_number(text);
        let unit = unit.to_ascii_uppercase();
        let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit);
        let factor = match unit {
            "" => 1,
            _ => SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?.1,
        };
        scaled(number, factor).map(Size).ok_or_else(error)
    }
}

impl fmt::Display for Size {
    /// Returns the size in the largest unit that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SIZE_UNITS.iter().find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor)) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// Returns `number` (a decimal) times `factor`, rounded down, without floating-point errors.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && places.is_empty()) || places.len() > 9 || places.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{places:0<9}").parse().ok()?;
    let part = u128::from(part) * u128::from(factor) / 1_000_000_000;
    whole.checked_mul(factor)?.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_percentage_above_0() {
        assert_eq!(parse_percent("1%"), Ok(0.01));
        assert_eq!(parse_percent("0.5%"), Ok(0.005));
        for wrong in ["0%", "101%", "1", "%", "-1%", "NaN%"] {
            assert!(parse_percent(wrong).unwrap_err().contains("is not a part"), "{wrong}");
        }
    }

    #[test]
    fn durations_carry_a_unit_and_bare_numbers_are_seconds() {
        for (text, millis) in [("500ms", 500), ("2s", 2000), ("1m", 60_000), ("1h", 3_600_000), ("0", 0), ("3", 3000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(parse_duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5 m"), Ok(Duration::from_secs(90)));
        for text in ["", "s", "-1s", "1x", "1.2.3s", "1e3", ".", "99999999999999999999s", "18446744073709551615d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_shown_duration_reads_back() {
        for millis in [0, 1, 500, 1000, 1500, 60_000, 90_000, 3_600_000, 86_400_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&show_duration(duration)), Ok(duration));
        }
        assert_eq!(show_duration(Duration::from_secs(90)), "90s");
        assert_eq!(show_duration(Duration::from_millis(1500)), "1500ms");
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [("10M", 10 << 20), ("64K", 64 << 10), ("1G", 1 << 30), ("7", 7), ("1.5K", 1536)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        assert_eq!("10MiB".parse(), Ok(Size(10 << 20)));
        assert_eq!("10mb".parse(), Ok(Size(10 << 20)));
        for text in ["", "M", "10X", "-1", "1 0", "99999999999G"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert_eq!((Size(10 << 20).to_string(), Size(1500).to_string()), ("10M".to_owned(), "1500".to_owned()));
    }
}
