//! What a page asks of robots, in `meta` elements and `X-Robots-Tag` header lines.
//!
//! The rules are those that Google publishes. Names are separated by commas, case does not matter, and unknown names
//! are ignored. Of contradicting directives the most restrictive wins. A header line may address one robot
//! (`otherbot: noindex`).

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::dates;
use crate::model::RobotsDirectives;

/// Directives that take a value behind a colon; that colon does not name a robot.
const WITH_VALUE: [&str; 4] = [UNAVAILABLE_AFTER, "max-snippet", "max-image-preview", "max-video-preview"];
/// The directive after whose moment a page counts as `noindex`.
const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Returns the directives for the robot with this product token.
///
/// `headers` are values of `X-Robots-Tag`, `meta` names and contents of `meta` elements. `now` is in milliseconds since
/// 1970 UTC.
pub fn robots_directives<'a>(
    headers: impl IntoIterator<Item = &'a str>,
    metas: impl IntoIterator<Item = (&'a str, &'a str)>,
    agent: &str,
    now: i64,
) -> RobotsDirectives {
    let now = Some(now);
    let mut directives = RobotsDirectives::default();
    headers.into_iter().for_each(|value| add_header(&mut directives, value, agent, now));
    metas.into_iter().for_each(|(name, content)| add_meta(&mut directives, name, content, agent, now));
    directives
}

/// Adds the directives of a `meta` element whose name is `robots` or our product token.
pub(super) fn add_meta(directives: &mut RobotsDirectives, name: &str, content: &str, agent: &str, now: Option<i64>) {
    if is_of_robots(name, agent) {
        add_dated(directives, content, now);
        content.split(',').for_each(|item| add(directives, item));
    }
}

/// Adds the directives of one `X-Robots-Tag` header line that address everyone or us.
///
/// A named robot is addressed until another one is named, since proxies may have joined lines.
pub(super) fn add_header(directives: &mut RobotsDirectives, value: &str, agent: &str, now: Option<i64>) {
    each_of_header(value, agent, |item, rest| {
        // A date may contain a comma.
        if is_dated(item) {
            add_dated(directives, rest, now);
        }
        add(directives, item);
    });
}

/// Whether `meta` elements of this name address everyone or us.
pub(super) fn is_of_robots(name: &str, agent: &str) -> bool {
    name.trim().eq_ignore_ascii_case("robots") || name.trim().eq_ignore_ascii_case(agent)
}

/// Visits the directives of one header line that address everyone or us, each with the rest of the line from it on.
pub(super) fn each_of_header<'a>(value: &'a str, agent: &str, mut visit: impl FnMut(&'a str, &'a str)) {
    let mut is_ours = true;
    let mut rest = value;
    loop {
        if let Some((robot, behind)) = named_robot(rest) {
            is_ours = robot.eq_ignore_ascii_case(agent) || robot == "*";
            rest = behind;
        }
        let (item, behind) = rest.split_once(',').map_or((rest, None), |(item, behind)| (item, Some(behind)));
        if is_ours {
            visit(item, rest);
        }
        match behind {
            Some(behind) => rest = behind,
            None => return,
        }
    }
}

/// Splits `otherbot: ...` into the robot and its directives.
fn named_robot(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    let is_token = !name.is_empty() && !name.contains(|c: char| c == ',' || c.is_whitespace());
    let takes_value = WITH_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known));
    (is_token && !takes_value).then_some((name, rest))
}

fn is_dated(item: &str) -> bool {
    let name = item.trim_start().get(..UNAVAILABLE_AFTER.len());
    name.is_some_and(|name| name.eq_ignore_ascii_case(UNAVAILABLE_AFTER))
}

/// Applies an `unavailable_after` in the list.
fn add_dated(directives: &mut RobotsDirectives, list: &str, now: Option<i64>) {
    let lower = list.to_ascii_lowercase();
    for (at, name) in lower.match_indices(UNAVAILABLE_AFTER) {
        let value = list[at + name.len()..].trim_start().trim_start_matches([':', '=']);
        directives.noindex |= moment(value).zip(now).is_some_and(|(moment, now)| moment.as_millisecond() <= now);
    }
}

/// Reads the moment at the start of a list; its date may take several items: RFC 822, RFC 850 or ISO 8601.
///
/// A day ends at midnight; a time without a zone is in UTC.
fn moment(list: &str) -> Option<Timestamp> {
    let ends = list.match_indices(',').map(|(at, _)| at).chain([list.len()]).take(3).collect::<Vec<_>>();
    ends.into_iter().rev().find_map(|end| {
        let text = list[..end].trim();
        let without_zone = || {
            ["%d %b %Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S"]
                .iter()
                .find_map(|form| in_utc(DateTime::strptime(form, text).ok()?))
        };
        // RFC 850 without its hyphens and the full name of the day is RFC 822.
        let rfc_850 = || dates::moment(&text.split_once(", ")?.1.replace('-', " "));
        let day = || in_utc(dates::date(text)?.tomorrow().ok()?.to_datetime(jiff::civil::Time::midnight()));
        dates::moment(text)
            .or_else(|| in_utc(text.parse().ok().filter(|_| text.contains(':'))?))
            .or_else(without_zone)
            .or_else(rfc_850)
            .or_else(day)
    })
}

fn in_utc(moment: DateTime) -> Option<Timestamp> {
    jiff::tz::Offset::UTC.to_timestamp(moment).ok()
}

fn add(directives: &mut RobotsDirectives, item: &str) {
    match item.trim().to_ascii_lowercase().as_str() {
        "noindex" => directives.noindex = true,
        "nofollow" => directives.nofollow = true,
        "noarchive" => directives.noarchive = true,
        "none" => {
            directives.noindex = true;
            directives.nofollow = true;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01.
    const NOW: i64 = 1_767_225_600_000;

    fn header(value: &str) -> Vec<&'static str> {
        robots_directives([value], [], "ndcrawl", NOW).names()
    }

    #[test]
    fn robots_named_in_one_line_are_told_apart() {
        assert_eq!(header("noarchive, otherbot: noindex, nofollow"), ["noarchive"]);
        assert_eq!(header("otherbot: noindex, ndcrawl: nofollow, noarchive"), ["nofollow", "noarchive"]);
    }

    #[test]
    fn a_page_is_out_of_date_from_the_moment_it_names() {
        for date in [
            "25 Jun 2010 15:00:00 PST",
            "Fri, 25 Jun 2010 15:00:00 GMT",
            "Friday, 25-Jun-10 15:00:00 GMT",
            "Friday, 25-Jun-10 15:00:00 EST",
            "2010-06-25T15:00:00Z",
            "2010-06-25T15:00:00",
            "2010-06-25 15:00:00",
            "2010-06-25",
            "25 Jun 2010 15:00:00",
        ] {
            assert_eq!(header(&format!("unavailable_after: {date}")), ["noindex"], "{date}");
            assert_eq!(header(&format!("noarchive, unavailable_after: {date}, nofollow")).len(), 3, "{date}");
            let later = date
                .replace("2010", "2040")
                .replace("-10 ", "-40 ")
                .replace("Fri,", "Mon,")
                .replace("Friday", "Monday");
            assert!(header(&format!("unavailable_after: {later}")).is_empty(), "{later}");
            let meta = robots_directives([], [("robots", &*format!("unavailable_after: {date}"))], "ndcrawl", NOW);
            assert!(meta.noindex, "{date}");
        }
        assert!(header("unavailable_after: soon").is_empty());
        assert!(header("otherbot: unavailable_after: 2010-06-25").is_empty());
    }

    #[test]
    fn a_header_line_may_be_meant_for_one_robot() {
        assert_eq!(header("NDCrawl: noarchive, nofollow"), ["nofollow", "noarchive"]);
        assert!(header("otherbot: noindex").is_empty());
        assert_eq!(header("  noindex ,  ,"), ["noindex"]);
        assert_eq!(header("max-snippet: 20, noindex"), ["noindex"]);
    }

    #[test]
    fn none_means_noindex_and_nofollow_and_lookalikes_mean_nothing() {
        assert_eq!(header("None"), ["noindex", "nofollow"]);
        assert!(header("notindex, all, noai").is_empty());
        let meta = |name, content| robots_directives([], [(name, content)], "ndcrawl", NOW).names();
        assert!(meta("description", "noindex").is_empty());
        assert_eq!(meta("ROBOTS", "NoIndex"), ["noindex"]);
    }
}
