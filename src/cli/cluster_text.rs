//! The status of a shared crawl, as text.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cli::format::{counted, span, thousands};
use crate::cluster::{ClusterStatus, RunLine};

/// Most slots that are named.
const MOST_NAMED: usize = 10;

/// Returns the status for people.
pub(super) fn text(status: &ClusterStatus) -> String {
    let mut text = format!("crawl '{}': {}\n", status.crawl, status.state);
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        text,
        "{} decided in {}, {:.1} pages/s in the last minute",
        counted(number(status.pages), "page", "pages"),
        counted(number(status.turns), "turn", "turns"),
        status.pages_per_second
    );
    let _ = match status.oldest_waiting {
        None => writeln!(text, "no page waits for its verdict"),
        Some(oldest) => writeln!(
            text,
            "{} for a verdict, the oldest for {}",
            counted(number(status.waiting), "page waits", "pages wait"),
            span(seconds(oldest))
        ),
    };
    if status.inputs > 0 {
        let (done, all) = (thousands(number(status.inputs_done)), counted(number(status.inputs), "input", "inputs"));
        let _ = writeln!(text, "{done} of {all} done");
    }
    if status.is_looking_again {
        text.push_str("the second look at a manifest is under way\n");
    }
    if status.inputs_again > 0 {
        let again = counted(number(status.inputs_again), "input is", "inputs are");
        let _ = writeln!(text, "{again} to be written again, after the second look");
    }
    text.push_str(&runs(status));
    text.push_str(&alarms(status));
    text
}

fn runs(status: &ClusterStatus) -> String {
    let held: i64 = status.runs.iter().map(|run| run.slots).sum();
    let workers = counted(status.runs.len() as u64, "worker", "workers");
    let mut text = format!("{workers}, {held} of {} slots held\n", status.slots);
    for RunLine { run, name, version, slots, inputs } in &status.runs {
        let _ = write!(text, "  run {run} on {name}: version {version}, {}", counted(number(*slots), "slot", "slots"));
        if *inputs > 0 {
            let _ = write!(text, ", {}", counted(number(*inputs), "input", "inputs"));
        }
        text.push('\n');
    }
    text
}

fn alarms(status: &ClusterStatus) -> String {
    let free = &status.slots_without_owner;
    let Some(age) = status.without_owner else { return String::new() };
    let mut named: Vec<String> = free.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    if free.len() > MOST_NAMED {
        named.push(format!("{} others", free.len() - MOST_NAMED));
    }
    let (word, verb) = if free.len() == 1 { ("slot", "has") } else { ("slots", "have") };
    format!(
        "warning: {word} {} {verb} had no owner for {}: nobody fetches their URLs until a worker joins\n",
        named.join(", "),
        span(seconds(age))
    )
}

fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_without_owner_are_told_with_what_that_means() {
        let run = RunLine { run: 3, name: "db1:77".to_owned(), version: "0.1.0".to_owned(), slots: 62, inputs: 2 };
        let mut status = ClusterStatus {
            crawl: "news".to_owned(),
            state: "running".to_owned(),
            turns: 188,
            pages: 12_000,
            pages_per_second: 350.25,
            waiting: 7,
            oldest_waiting: Some(3.2),
            slots: 64,
            slots_without_owner: vec![4, 9],
            without_owner: Some(75.0),
            runs: vec![run],
            inputs: 20,
            inputs_done: 3,
            inputs_again: 0,
            is_looking_again: false,
        };
        let told = text(&status);
        assert_eq!(
            told,
            "crawl 'news': running\n\
             12,000 pages decided in 188 turns, 350.2 pages/s in the last minute\n\
             7 pages wait for a verdict, the oldest for 3.2 s\n\
             3 of 20 inputs done\n\
             1 worker, 62 of 64 slots held\n  run 3 on db1:77: version 0.1.0, 62 slots, 2 inputs\n\
             warning: slots 4, 9 have had no owner for 1 min 15 s: nobody fetches their URLs until a worker joins\n"
        );
        (status.inputs_again, status.is_looking_again) = (2, true);
        let told = text(&status);
        let expected = "done\nthe second look at a manifest is under way\n\
                        2 inputs are to be written again, after the second look\n1 worker";
        assert!(told.contains(expected), "{told}");
        status.slots_without_owner = (0..12).collect();
        assert!(text(&status).contains("slots 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2 others have had no owner"));
    }
}
