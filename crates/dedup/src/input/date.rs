//! Times as files of pages write them.
//!
//! Whoever does not tell a time, or tells one that nobody can read, has no time: it never becomes 1970.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// 1990 in milliseconds since 1970: the Web is not older, so a smaller number counts something else.
const EARLIEST: i64 = 631_152_000_000;

/// Parses a time. Returns milliseconds since 1970 UTC.
///
/// Reads RFC 3339, all lengths of the W3C's profile of ISO 8601 (from a year on), RFC 2822 and dates of HTTP, and the
/// digits of ARC and CDX files (`20160919172024`). The start of the period stands for a year, a month or a day. A time
/// without zone is one in UTC. Digits alone are read by [`from_number`].
pub(super) fn millis(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_suffix("UTC").map_or(text, str::trim_end);
    if text.is_empty() || text.len() > 64 {
        return None;
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return from_digits(text);
    }
    let moment = || text.parse::<Timestamp>().ok();
    let civil = || utc(text.parse::<DateTime>().ok()?);
    let month = || first_day(text);
    let mail = || jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let found = moment().or_else(civil).or_else(month).or_else(mail).or_else(|| without_seconds(text))?;
    Some(found.as_millisecond())
}

/// Reads a number: seconds since 1970 up to 10^11, then milliseconds, microseconds and nanoseconds, each a thousand
/// times as far. `None` if it would be before 1990.
pub(super) fn from_number(number: f64) -> Option<i64> {
    let millis = match number {
        seconds if seconds < 1e11 => seconds * 1e3,
        millis if millis < 1e14 => millis,
        micros if micros < 1e17 => micros / 1e3,
        nanos => nanos / 1e6,
    };
    // A number beyond the range is cut to it, and then no time.
    Some(millis as i64).filter(|millis| *millis >= EARLIEST && Timestamp::from_millisecond(*millis).is_ok())
}

fn from_digits(digits: &str) -> Option<i64> {
    let civil = match digits.len() {
        4 => Date::new(digits.parse().ok()?, 1, 1).ok()?.to_datetime(jiff::civil::Time::midnight()),
        8 => digits.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
        12 => DateTime::strptime("%Y%m%d%H%M", digits).ok()?,
        14 => DateTime::strptime("%Y%m%d%H%M%S", digits).ok()?,
        _ => return from_number(digits.parse().ok()?),
    };
    Some(utc(civil)?.as_millisecond())
}

/// Reads a month, such as `2016-09`.
fn first_day(text: &str) -> Option<Timestamp> {
    let (year, month) = text.split_once('-')?;
    let is_it = year.len() == 4 && month.len() == 2;
    utc(Date::new(year.parse().ok().filter(|_| is_it)?, month.parse().ok()?, 1).ok()?.into())
}

/// Reads a moment without seconds, such as `2016-09-19T17:20Z`.
fn without_seconds(text: &str) -> Option<Timestamp> {
    let (moment, zone) = text.split_at_checked(16)?;
    format!("{moment}:00{zone}").parse().ok()
}

fn utc(civil: DateTime) -> Option<Timestamp> {
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_in_each_of_its_spellings() {
        for (text, expected) in [
            ("2016", "2016-01-01T00:00:00Z"),
            ("2016-09", "2016-09-01T00:00:00Z"),
            ("2016-09-19", "2016-09-19T00:00:00Z"),
            ("20160919", "2016-09-19T00:00:00Z"),
            ("2016-09-19T17:20Z", "2016-09-19T17:20:00Z"),
            ("2016-09-19T17:20+02:00", "2016-09-19T15:20:00Z"),
            ("2016-09-19T17:20:24Z", "2016-09-19T17:20:24Z"),
            ("2016-09-19T17:20:24.123456789Z", "2016-09-19T17:20:24.123Z"),
            ("2016-09-19T19:20:24+02:00", "2016-09-19T17:20:24Z"),
            ("2016-09-19 19:20:24+0200", "2016-09-19T17:20:24Z"),
            ("2016-09-19T17:20:24", "2016-09-19T17:20:24Z"),
            ("2016-09-19 17:20:24", "2016-09-19T17:20:24Z"),
            ("2016-09-19 17:20:24.5", "2016-09-19T17:20:24.5Z"),
            ("2016-09-19 17:20:24 UTC", "2016-09-19T17:20:24Z"),
            (" 2016-09-19t17:20:24z ", "2016-09-19T17:20:24Z"),
            ("20160919172024", "2016-09-19T17:20:24Z"),
            ("201609191720", "2016-09-19T17:20:00Z"),
            ("Mon, 19 Sep 2016 17:20:24 GMT", "2016-09-19T17:20:24Z"),
            ("1474305624", "2016-09-19T17:20:24Z"),
            ("1474305624000", "2016-09-19T17:20:24Z"),
        ] {
            let found = millis(text).and_then(|millis| Timestamp::from_millisecond(millis).ok());
            assert_eq!(found.map(|time| time.to_string()).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_tells_no_time_is_none() {
        for text in [
            "",
            " ",
            "yesterday",
            "2016-13",
            "2016-02-30",
            "20161332",
            "99999999999999",
            "0",
            "12",
            "-1",
            "UTC",
            "é016-09-19T17:20Z",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_counts_seconds_or_parts_of_seconds() {
        for number in [1_474_305_624.0, 1_474_305_624e3, 1_474_305_624e6, 1_474_305_624e9] {
            assert_eq!(from_number(number), Some(1_474_305_624_000), "{number}");
        }
        for number in [0.0, 1.0, -5.0, 599_999_999.0, f64::NAN, f64::INFINITY, f64::MAX] {
            assert_eq!(from_number(number), None, "{number}");
        }
    }
}
