//! The three lines of the progress bar.

use std::time::Duration;

use crate::cli::colors::{Tone, toned};
use crate::cli::counts::OutcomeCounts;
use crate::cli::format::{byte_size, clock, counted, percent, span, thousands};
use crate::cli::snapshot::{FetchedNow, Snapshot};
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::text_width::{shortened_in_middle, width};

/// A request that takes longer is shown with its time.
const SLOW: Duration = Duration::from_secs(2);

/// A figure of a line, and what it means if it is colored.
type Figure = (String, Option<Tone>);

/// Returns the three lines of the bar, none of which is wider than the terminal. Figures that do not fit are left out
/// as a whole, the least important first.
pub fn bar_lines(now: &Snapshot, fetched: &FetchedNow, columns: usize, color: bool) -> [String; 3] {
    // Each line stands behind the spinner.
    let columns = columns.saturating_sub(2);
    let plain = |text: String| Some((text, None));
    let OutcomeCounts { stored, near_duplicates, exact_duplicates, failed, excluded } = now.outcomes;
    let is_failure = (failed > 0).then_some(Tone::Error);
    let first = [
        plain(clock(now.elapsed)),
        now.paused.then(|| ("paused".to_owned(), Some(Tone::Warning))),
        plain(counted(now.fetched, "page", "pages")),
        plain(format!("{:.1}/s", now.pages_per_second)),
        now.left.map(|left| (left.text(), None)),
        plain(format!("{} queued", thousands(now.queued))),
        plain(format!("{} in flight", now.leased)),
        plain(counted(now.origins, "site", "sites")),
    ];
    let second = [
        now.outcomes.duplicate_rate().map(|rate| (format!("{} duplicates", percent(rate)), Some(Tone::Rate))),
        plain(format!("{} stored", thousands(stored))),
        plain(format!("{} near", thousands(near_duplicates))),
        plain(format!("{} exact", thousands(exact_duplicates))),
        Some((format!("{} failed", thousands(failed)), is_failure)),
        plain(format!("{} excluded", thousands(excluded))),
        plain(byte_size(now.bytes)),
        plain(format!("memory {}", byte_size(now.memory_bytes))),
    ];
    [fitted(first, columns, color), fitted(second, columns, color), fetched_line(fetched, columns)]
}

/// Says what is being fetched, and for how long if it is slow.
fn fetched_line(fetched: &FetchedNow, columns: usize) -> String {
    let Some(url) = &fetched.url else { return String::new() };
    let time = fetched.for_time.filter(|time| *time >= SLOW);
    let time = time.map_or(String::new(), |time| format!("  {}", span(Duration::from_secs(time.as_secs()))));
    shortened_in_middle(&terminal_safe(url), columns.saturating_sub(width(&time))) + &time
}

/// Joins as many figures as fit, from the first on.
fn fitted<const N: usize>(figures: [Option<Figure>; N], columns: usize, color: bool) -> String {
    let (mut line, mut used) = (String::new(), 0);
    for (text, tone) in figures.into_iter().flatten() {
        let gap = if line.is_empty() { "" } else { "  " };
        used += gap.len() + width(&text);
        if used > columns {
            break;
        }
        line += gap;
        line += &tone.map_or(text.clone(), |tone| toned(&text, tone, color));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::snapshot::TimeLeft;

    fn huge() -> Snapshot {
        Snapshot {
            elapsed: Duration::from_secs(360_000),
            fetched: 1_234_567_890,
            pages_per_second: 12_345.6,
            queued: 9_876_543_210,
            leased: 1_024,
            origins: 1_234_567,
            outcomes: OutcomeCounts {
                stored: 1_000_000_000,
                near_duplicates: 200_000_000,
                exact_duplicates: 34_567_890,
                failed: 12_345_678,
                excluded: 987_654_321,
            },
            bytes: 1 << 50,
            memory_bytes: 1 << 40,
            left: Some(TimeLeft::Between(Duration::from_secs(86_400), Duration::from_secs(864_000))),
            paused: false,
        }
    }

    fn at(url: &str, seconds: u64) -> FetchedNow {
        FetchedNow { url: Some(url.to_owned()), for_time: Some(Duration::from_secs(seconds)) }
    }

    #[test]
    fn no_line_is_cut_within_a_figure() {
        let url = format!("https://a.example/{}", "x".repeat(300));
        let whole = bar_lines(&huge(), &at(&url, 1), 1_000, false);
        for columns in [20, 40, 60, 80, 100, 132] {
            let lines = bar_lines(&huge(), &at(&url, 1), columns, false);
            for (line, whole) in lines.iter().zip(&whole) {
                assert!(width(line) <= columns - 2, "{columns}: {line}");
                let rest = whole.strip_prefix(line.as_str());
                assert!(rest.is_none_or(|rest| rest.is_empty() || rest.starts_with("  ")), "{columns}: {line}");
                assert!(rest.is_some() || line.contains('…'), "{columns}: {line}");
            }
        }
    }

    #[test]
    fn huge_numbers_fit_80_and_40_columns() {
        let url = "https://docs.example/a/very/long/path/to/the/page/with/number/1234567890123456/index.html";
        let lines = |columns| bar_lines(&huge(), &at(url, 75), columns, false).join("\n");
        insta::assert_snapshot!(lines(80), @r"
        100:00:00  1,234,567,890 pages  12345.6/s  24 h 0 min to 240 h 0 min left
        19.0% duplicates  1,000,000,000 stored  200,000,000 near  34,567,890 exact
        https://docs.example/a/very/long/…mber/1234567890123456/index.html  1 min 15 s
        ");
        insta::assert_snapshot!(lines(40), @r"
        100:00:00  1,234,567,890 pages
        19.0% duplicates  1,000,000,000 stored
        https://docs.…/index.html  1 min 15 s
        ");
    }

    #[test]
    fn a_hostile_url_is_one_line_of_its_width() {
        let hostile = "http://a.example/\u{1b}[2J\r\n\u{202e}世界世界世界世界世界世界世界世界世界世界世界\u{7}/12345678901234567890";
        for columns in [40, 80] {
            let [.., line] = bar_lines(&Snapshot::default(), &at(hostile, 5), columns, true);
            assert!(width(&line) <= columns - 2, "{columns}: {line}");
            assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
            assert!(line.starts_with("http://a.ex") && line.ends_with("  5.0 s"), "{line}");
        }
    }

    #[test]
    fn only_what_means_something_has_color() {
        let color = |now: &Snapshot| bar_lines(now, &FetchedNow::default(), 80, true).join("\n");
        let outcomes = OutcomeCounts { stored: 3, near_duplicates: 1, ..OutcomeCounts::default() };
        let now = Snapshot { outcomes, ..Snapshot::default() };
        assert_eq!(color(&now).matches('\u{1b}').count(), 2);
        assert!(color(&now).contains("\u{1b}[1m25.0% duplicates\u{1b}[0m"));
        assert!(
            color(&Snapshot { outcomes: OutcomeCounts { failed: 2, ..outcomes }, ..now })
                .contains("\u{1b}[31m2 failed\u{1b}[0m")
        );
        assert!(!bar_lines(&now, &FetchedNow::default(), 80, false).join("\n").contains('\u{1b}'));
    }
}
