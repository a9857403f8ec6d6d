//! The first sentences of the report: what was found, in words.

use super::super::causes::{CausePattern, DuplicateCause};
use crate::Report;
use ndcrawl_html_writer::{counted, thousands};
use ndcrawl_model::OutcomeKind;

/// The share of duplicates from which a cause is named.
const NAMED: f64 = 0.2;
/// The share from which a cause is that of most duplicates.
const MOSTLY: f64 = 0.5;
/// Languages that are named.
const LANGUAGES: usize = 4;

/// Returns the answer as plain text. `title` names the site.
pub(super) fn answer(report: &Report, title: &str) -> String {
    let lines = &report.lines;
    let [near, exact] = [OutcomeKind::NearDuplicate, OutcomeKind::ExactDuplicate].map(|kind| lines.outcome(kind));
    let (copies, judged) = (near + exact, lines.kept() + near + exact);
    let mut said = match (judged, copies) {
        (0, _) => "No page could be compared.".to_owned(),
        (1, 0) => format!("One page was compared on {title}."),
        (_, 0) => format!("None of the {} pages compared on {title} repeats another.", thousands(judged)),
        _ => format!(
            "{} of the {} pages compared on {title} repeat a page kept before{}: {}, {}.",
            at_least(part(copies, judged), lines.requests_saved() > 0),
            thousands(judged),
            cause(report, copies),
            counted(near, "near-duplicate", "near-duplicates"),
            counted(exact, "exact copy", "exact copies")
        ),
    };
    said += &saved(report);
    said += &problems(report);
    said
}

/// What was not fetched is repetition, too, or most of it.
fn at_least(part: String, is_more: bool) -> String {
    match is_more {
        true => format!("At least {}{}", part[..1].to_lowercase(), &part[1..]),
        false => part,
    }
}

/// `A third (33.3 %)`, `12.3 %`.
fn part(part: u64, whole: u64) -> String {
    let share = part as f64 / whole.max(1) as f64;
    const WORDS: [(f64, &str); 9] = [
        (1.0 / 10.0, "A tenth"),
        (1.0 / 5.0, "A fifth"),
        (1.0 / 4.0, "A quarter"),
        (1.0 / 3.0, "A third"),
        (2.0 / 5.0, "Two fifths"),
        (1.0 / 2.0, "Half"),
        (2.0 / 3.0, "Two thirds"),
        (3.0 / 4.0, "Three quarters"),
        (9.0 / 10.0, "Nine tenths"),
    ];
    let percent = format!("{:.1} %", share * 100.0);
    // A word is right to a twentieth of itself.
    match WORDS.iter().find(|(value, _)| (share - value).abs() <= value / 20.0) {
        Some((_, word)) => format!("{word} ({percent})"),
        None => percent,
    }
}

/// Names the cause of most duplicates: `, mostly …`.
fn cause(report: &Report, copies: u64) -> String {
    let ranked = report.lines.causes.ranked(usize::MAX);
    let Some((cause, count, patterns, _)) = ranked.first() else { return String::new() };
    let share = *count as f64 / copies.max(1) as f64;
    if share < NAMED {
        return String::new();
    }
    let how = if share >= MOSTLY { "mostly" } else { "above all" };
    format!(", {how} {}", in_words(*cause, patterns))
}

fn in_words(cause: DuplicateCause, patterns: &[CausePattern]) -> String {
    let languages = languages(patterns);
    if cause == DuplicateCause::PathPart && !languages.is_empty() {
        return match languages.as_slice() {
            [only] => format!("untranslated pages under the path of another language ({only})"),
            several => {
                let more = if several.len() > LANGUAGES { ", …" } else { "" };
                let named: Vec<&str> = several.iter().take(LANGUAGES).map(String::as_str).collect();
                format!(
                    "untranslated pages under the paths of {} languages ({}{more})",
                    several.len(),
                    named.join(", ")
                )
            }
        };
    }
    let first = patterns.first().map_or(String::new(), |first| format!(" ({})", first.difference.pattern));
    match cause {
        DuplicateCause::Mirror => format!("mirrors on other hosts{first}"),
        DuplicateCause::MovedMirror => format!("the same pages on other hosts, under other paths{first}"),
        DuplicateCause::Scheme => "pages by http that are there by https too".to_owned(),
        DuplicateCause::Session => "session IDs in URLs".to_owned(),
        DuplicateCause::Parameter => format!("query parameters that change nothing{first}"),
        DuplicateCause::Index => "index pages beside their folders".to_owned(),
        DuplicateCause::Case => "URLs that differ in upper and lower case".to_owned(),
        DuplicateCause::PathPart => format!("the same pages under another part of the path{first}"),
        DuplicateCause::Name => "pages under other names in the same folder".to_owned(),
        DuplicateCause::SoftError => "error pages".to_owned(),
        DuplicateCause::Several => "the same pages under other paths and queries".to_owned(),
    }
}

/// The languages of the copies, if most patterns put one language in the place of another; most copies first.
fn languages(patterns: &[CausePattern]) -> Vec<String> {
    let code = |part: &str| {
        let part = part.trim().strip_prefix('/')?.strip_suffix('/')?.to_lowercase();
        let (language, region) = part.split_once(['-', '_']).unwrap_or((&part, ""));
        let is_code = LANGUAGE_CODES.split(' ').any(|code| code == language) && region.len() <= 4;
        is_code.then(|| part.clone())
    };
    let mut found: Vec<String> = Vec::new();
    let (mut of_languages, mut all) = (0, 0);
    for pattern in patterns {
        all += pattern.count;
        let Some((copy, kept)) = pattern.difference.pattern.split_once(" → ") else { continue };
        let is_original = kept == "(nothing)" || code(kept).is_some();
        if let Some(language) = code(copy).filter(|_| is_original) {
            of_languages += pattern.count;
            if !found.contains(&language) {
                found.push(language);
            }
        }
    }
    if of_languages * 2 > all { found } else { Vec::new() }
}

/// Codes of ISO 639-1 that sites use as the name of a directory.
const LANGUAGE_CODES: &str = "af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is \
    it ja jp ka kk km kn ko lt lv mk ml mn mr ms my nb ne nl nn no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz \
    vi zh cn tw";

/// Says what was not requested, because it could only repeat.
fn saved(report: &Report) -> String {
    let saved = report.lines.requests_saved();
    let skipped: u64 = report.lines.sites.values().map(|site| site.skipped).sum();
    let how = match (skipped > 0, saved > skipped) {
        (false, false) => return String::new(),
        (true, false) => "Skipping the links of duplicates",
        (false, true) => "Skipping predicted duplicates",
        (true, true) => "Skipping links of duplicates and predicted duplicates",
    };
    format!(" {how} saved {}.", counted(saved, "request", "requests"))
}

/// Says what failed.
fn problems(report: &Report) -> String {
    let failed = report.lines.outcome(OutcomeKind::Failed);
    if failed == 0 { String::new() } else { format!(" {} failed.", counted(failed, "URL", "URLs")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DuplicateCauses;

    fn patterns(copies: &[(&str, &str, u32)]) -> Vec<CausePattern> {
        let mut causes = DuplicateCauses::default();
        for (copy, kept, count) in copies {
            for number in 0..*count {
                causes.add(&format!("http://a.test{copy}{number}"), &format!("http://a.test{kept}{number}"), None);
            }
        }
        causes.ranked(usize::MAX).remove(0).2
    }

    #[test]
    fn shares_are_said_in_words_where_words_are_right() {
        let said = [(1, 3), (352, 1000), (123, 1000), (1, 2), (1, 4), (97, 100)].map(|(one, all)| part(one, all));
        assert_eq!(said, ["A third (33.3 %)", "35.2 %", "12.3 %", "Half (50.0 %)", "A quarter (25.0 %)", "97.0 %"]);
    }

    #[test]
    fn languages_are_recognized_by_the_parts_of_the_path_that_were_replaced() {
        let said = |copies: &[(&str, &str, u32)]| in_words(DuplicateCause::PathPart, &patterns(copies));
        let three = [("/de/", "/en/", 5), ("/pt-br/", "/en/", 3), ("/print/", "/en/", 1)];
        assert_eq!(said(&three), "untranslated pages under the paths of 2 languages (de, pt-br)");
        assert_eq!(said(&[("/fr/x/", "/x/", 2)]), "untranslated pages under the path of another language (fr)");
        assert_eq!(said(&[("/1.1/", "/1.0/", 2)]), "the same pages under another part of the path (/1.1/ → /1.0/)");
        assert_eq!(
            in_words(DuplicateCause::Parameter, &patterns(&[("/x?b=", "/x?c=", 1)])),
            "query parameters that change nothing (?b &c)"
        );
    }
}
