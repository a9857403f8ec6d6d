//! What a sitemap or a feed says of the date of a page.
//!
//! A date without a time, or a time without an offset, stands for all moments that it may mean.

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

/// Local time is at most so many hours before UTC, and behind it.
const BEFORE_AND_BEHIND: (i64, i64) = (14, 12);

/// The date of a page, in milliseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapDate {
    /// The first moment that it may mean.
    pub earliest: i64,
    /// The last moment that it may mean.
    pub latest: i64,
    /// Whether it is the date of the last change. If not, it tells when the page came, and nothing of later changes.
    pub is_of_change: bool,
}

impl SitemapDate {
    /// Reads a field of an entry: `lastmod` of sitemaps, `updated` and `published` of Atom, `pubDate` and `date` of RSS.
    pub(super) fn read(field: &str, text: &str) -> Option<Self> {
        let is_of_change = match field {
            "lastmod" | "updated" => true,
            "published" | "pubdate" | "date" => false,
            _ => return None,
        };
        let (earliest, latest) = moments(text)?;
        Some(Self { earliest: earliest.as_millisecond(), latest: latest.as_millisecond(), is_of_change })
    }

    /// Returns the later one of two dates of the same page.
    pub fn or_later(self, other: Self) -> Self {
        if other.latest > self.latest { other } else { self }
    }

    /// Returns this date, or another one of the same entry if that alone is the date of a change.
    pub(super) fn or_better(self, other: Option<Self>) -> Self {
        other.filter(|other| other.is_of_change && !self.is_of_change).unwrap_or(self)
    }
}

/// Reads a date of W3C or of RFC 2822.
fn moments(text: &str) -> Option<(Timestamp, Timestamp)> {
    let exact = text.parse::<Timestamp>().ok().or_else(|| rfc2822::parse(text).ok().map(|time| time.timestamp()));
    if let Some(moment) = exact {
        return Some((moment, moment));
    }
    let (begin, length) = civil(text)?;
    let end = begin.checked_add(length).ok()?;
    let at = |time: DateTime, hours: i64| time.checked_add(hours.hours()).ok()?.to_zoned(TimeZone::UTC).ok();
    let (before, behind) = BEFORE_AND_BEHIND;
    Some((at(begin, -before)?.timestamp(), at(end, behind)?.timestamp()))
}

/// Returns when a year, a month, a day or a time without an offset begins, and how long it is.
fn civil(text: &str) -> Option<(DateTime, Span)> {
    let start = |year, month| Date::new(year, month, 1).ok().map(midnight);
    if let Some((year, month)) = text.split_once('-').filter(|_| text.len() == "2026-11".len()) {
        return Some((start(year.parse().ok()?, month.parse().ok()?)?, 1.month()));
    }
    if text.len() == "2026".len() {
        return Some((start(text.parse().ok()?, 1)?, 1.year()));
    }
    if let Some(day) = text.parse::<Date>().ok().filter(|_| text.len() == "2026-11-03".len()) {
        return Some((midnight(day), 1.day()));
    }
    Some((text.parse::<DateTime>().ok()?, Span::new()))
}

fn midnight(day: Date) -> DateTime {
    day.at(0, 0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let shown = |millis| Timestamp::from_millisecond(millis).unwrap().to_string();
        SitemapDate::read("lastmod", text).map(|date| (shown(date.earliest), shown(date.latest)))
    }

    #[test]
    fn a_date_stands_for_all_moments_that_it_may_mean() {
        for (text, earliest, latest) in [
            ("2026-11-03T08:00:00+02:00", "2026-11-03T06:00:00Z", "2026-11-03T06:00:00Z"),
            ("2026-11-03T08:00Z", "2026-11-03T08:00:00Z", "2026-11-03T08:00:00Z"),
            ("Tue, 03 Nov 2026 08:00:00 GMT", "2026-11-03T08:00:00Z", "2026-11-03T08:00:00Z"),
            ("2026-11-03T08:00:00", "2026-11-02T18:00:00Z", "2026-11-03T20:00:00Z"),
            ("2026-11-03", "2026-11-02T10:00:00Z", "2026-11-04T12:00:00Z"),
            ("2026-11", "2026-10-31T10:00:00Z", "2026-12-01T12:00:00Z"),
            ("2026", "2025-12-31T10:00:00Z", "2027-01-01T12:00:00Z"),
        ] {
            assert_eq!(read(text), Some((earliest.to_owned(), latest.to_owned())), "{text}");
        }
        for text in ["", "today", "03.11.2026", "2026-13", "20261", "9999", "-262143-01-01"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_date_of_a_change_tells_of_changes() {
        let date = |field| SitemapDate::read(field, "2026-11-03T08:00Z");
        let (updated, published) = (date("updated").unwrap(), date("pubdate").unwrap());
        assert!(updated.is_of_change && !published.is_of_change && date("title").is_none());
        assert!(published.or_better(Some(updated)).is_of_change && updated.or_better(Some(published)).is_of_change);
    }
}
