//! Reads dates as pages and servers write them.

use jiff::Timestamp;
use jiff::civil::Date;

/// Bytes of the longest date.
const LONGEST: usize = 64;
/// The year of the first web page. An earlier date comes from a clock that was never set (1970), or is the
/// subject of the page.
const EARLIEST: &str = "1990";
/// Tolerance for clocks and time zones.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// Formats of dates without a time, besides ISO 8601.
const SPELLINGS: [&str; 9] = [
    "%Y/%m/%d",
    "%d %B %Y",
    "%d %b %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%A, %B %d, %Y",
    "%d. %B %Y",
    "%B %d %Y",
    "%Y.%m.%d",
];

/// Returns the date, or the moment in UTC to the second, in RFC 3339 form.
///
/// A time of day without a zone is dropped. A year or a month alone is no date.
///
/// `fetched_at` is the time of the request, milliseconds since 1970, if it is known. A date more than a day later is not
/// the date of publication: it may be that of an event.
pub(super) fn normalised(text: &str, fetched_at: Option<i64>) -> Option<String> {
    let text = text.trim();
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let found = moment(text).and_then(spelt).or_else(|| Some(date(text)?.to_string()))?;
    let Some(fetched_at) = fetched_at else { return (found.as_str() >= EARLIEST).then_some(found) };
    let latest = Timestamp::from_millisecond(fetched_at.saturating_add(DAY_MILLIS)).ok()?.to_string();
    (EARLIEST..=latest.as_str()).contains(&found.as_str()).then_some(found)
}

/// Rounds to the second.
fn spelt(moment: Timestamp) -> Option<String> {
    Some(Timestamp::from_second(moment.as_second()).ok()?.to_string())
}

/// Reads a moment with its zone: ISO 8601 or RFC 2822.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok())
}

/// Reads a day alone.
pub(super) fn date(text: &str) -> Option<Date> {
    let spelt = || SPELLINGS.iter().find_map(|spelling| Date::strptime(spelling, text).ok());
    text.parse().ok().or_else(|| leading(text)).or_else(spelt)
}

/// Reads the date at the start of a text in no known form, such as `2019-03-01 10:00 CET`.
fn leading(text: &str) -> Option<Date> {
    let (date, rest) = text.split_at_checked(10)?;
    let ends = !rest.starts_with(|c: char| c.is_ascii_digit());
    date.parse().ok().filter(|_| ends && date.as_bytes()[4] == b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-01-01.
    const NOW: i64 = 1_767_225_600_000;

    #[test]
    fn dates_of_all_spellings_become_one() {
        for (text, expected) in [
            ("2019-03-01", "2019-03-01"),
            (" 20190301 ", "2019-03-01"),
            ("2019/03/01", "2019-03-01"),
            ("1 March 2019", "2019-03-01"),
            ("March 1, 2019", "2019-03-01"),
            ("Mar 1, 2019", "2019-03-01"),
            ("Friday, March 1, 2019", "2019-03-01"),
            ("2019-03-01T10:20:30Z", "2019-03-01T10:20:30Z"),
            ("2019-03-01T00:20:30.123+01:00", "2019-02-28T23:20:30Z"),
            ("2019-03-01 10:20:30+0100", "2019-03-01T09:20:30Z"),
            ("2019-03-01T10:20+01:00", "2019-03-01T09:20:00Z"),
            ("Fri, 01 Mar 2019 10:20:30 GMT", "2019-03-01T10:20:30Z"),
            ("Fri, 01 Mar 2019 10:20:30 +0100", "2019-03-01T09:20:30Z"),
            // The zone is not known.
            ("2019-03-01T10:20:30", "2019-03-01"),
            ("2019-03-01 10:20", "2019-03-01"),
            ("2019-03-01 10:20 CET", "2019-03-01"),
        ] {
            assert_eq!(normalised(text, Some(NOW)).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_of_publication_is_none() {
        for text in [
            "",
            "2019",
            "2019-03",
            "2019-13-01",
            "2019-02-30",
            "yesterday",
            "PT2H",
            "10:20",
            "1970-01-01T00:00:00Z",
            "1850-05-01",
            "0001-01-01",
            "2026-01-03",
            "9999-12-31T23:59:59Z",
            "-2019-03-01",
            "é019-03-01",
            "{{date}} 1",
        ] {
            assert_eq!(normalised(text, Some(NOW)), None, "{text}");
        }
        assert_eq!(normalised("2026-01-02", Some(NOW)).as_deref(), Some("2026-01-02"));
        // Without a time of the request no date is too late.
        assert_eq!(normalised("2031-01-02", None).as_deref(), Some("2031-01-02"));
        assert_eq!(normalised("1850-05-01", None), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_none(text in "\\PC{0,40}", digits in "[0-9:TZ+./, -]{0,30}", fetched_at: Option<i64>) {
            for text in [text, digits] {
                if let Some(found) = normalised(&text, fetched_at) {
                    prop_assert!(found.len() == 10 || (found.len() == 20 && found.ends_with('Z')), "{}", found);
                }
            }
        }
    }
}
