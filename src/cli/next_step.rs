//! What to do after a crawl: the hint below its summary.

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::{EngineKind, Sitemaps};
use crate::cli::errors::exit;
use crate::cli::format::counted;
use crate::cli::output_dir::START_OVER;
use crate::cli::summary::build;
use crate::cli::terminal_safe::terminal_safe;
use crate::crawl::{CrawlEnding, RestingOrigin};
use crate::frontier::ScopeKind;
use crate::model::{Deferral, Exclusion, shown_origin};
use crate::pipeline::StopReason;

/// Returns the hint at the end of a crawl of `seeds` seeds.
///
/// `nothing_done` says that an earlier run had left nothing to fetch.
pub(super) fn hint(
    settings: &Settings,
    ending: &CrawlEnding,
    seeds: usize,
    nothing_done: bool,
    code: u8,
) -> Option<String> {
    let out = terminal_safe(&settings.out.dir.display().to_string()).into_owned();
    if ending.reason == StopReason::Finished
        && let Some(given_up) = given_up(ending)
    {
        return Some(given_up);
    }
    if nothing_done && ending.budget_used_up && code == exit::FINISHED {
        let limit = build::stopped(settings, ending).unwrap_or("max-pages");
        return Some(format!(
            "the crawl in {out} had already reached --{limit} with {}; it goes on with a higher limit",
            counted(ending.frontier.pages, "page", "pages")
        ));
    }
    if nothing_done && code == exit::FINISHED {
        return Some(format!(
            "the crawl in {out} had already finished; start over with --fresh --force, or choose another folder with --out"
        ));
    }
    match ending.reason {
        _ if settings.engine == EngineKind::Spider
            && (ending.reason != StopReason::Finished || ending.budget_used_up) =>
        {
            Some(format!("the engine spider cannot resume a crawl: {START_OVER}"))
        }
        StopReason::Finished if ending.budget_used_up => {
            Some("to continue, run the same command with a higher limit".to_owned())
        }
        StopReason::Finished if code == exit::NOTHING_FETCHED => Some(nothing_fetched(ending).to_owned()),
        StopReason::Finished => seed_notes(ending, seeds)
            .or_else(|| no_sitemap(settings, ending, seeds))
            .or_else(|| out_of_scope(settings, ending, seeds))
            .or_else(|| left_out(ending, seeds))
            .or_else(|| absent_topic(settings, ending)),
        StopReason::DiskFull => {
            Some("free some disk space (see --min-free), then resume with the same command".to_owned())
        }
        _ => Some(match rests(&ending.resting) {
            Some(rest) => format!("{rest}; the same command resumes the crawl then"),
            None => "the same command resumes the crawl".to_owned(),
        }),
    }
}

/// Says what to check if no seed could be fetched.
fn nothing_fetched(ending: &CrawlEnding) -> &'static str {
    let is_private = |(_, why): &(String, String)| why.contains("--allow-net");
    if !ending.failed_seeds.is_empty() && ending.failed_seeds.iter().all(is_private) {
        return "private addresses are refused; if they are yours, allow them as said above";
    }
    "no seed could be fetched: check the network and the URLs (ndcrawl demo needs no network)"
}

/// Says which hosts were in trouble for too long, and how many URLs wait for them.
fn given_up(ending: &CrawlEnding) -> Option<String> {
    let waiting = *ending.deferred.get(Deferral::HostTrouble.name())?;
    let named: Vec<_> = ending.given_up.iter().take(3).map(|origin| terminal_safe(shown_origin(origin))).collect();
    let others = match ending.given_up.len().saturating_sub(named.len()) {
        0 => String::new(),
        others => format!(" and {}", counted(others as u64, "other host", "other hosts")),
    };
    let wait = if waiting == 1 { "waits" } else { "wait" };
    let waiting = counted(waiting, "URL", "URLs");
    let named = named.join(", ");
    Some(format!(
        "{named}{others} in trouble for longer than --host-patience: {waiting} {wait}; the same command takes them up again"
    ))
}

/// Says what is special about the seeds of a crawl that got no further than them.
fn seed_notes(ending: &CrawlEnding, seeds: usize) -> Option<String> {
    if ending.frontier.pages > seeds as u64 {
        return None;
    }
    let (seed, note) = ending.seed_notes.first()?;
    Some(format!("the crawl got no further than its seeds: {} {note}", terminal_safe(seed)))
}

/// Says that the crawl got no further than its seeds because of what the user or the pages asked for.
fn left_out(ending: &CrawlEnding, seeds: usize) -> Option<String> {
    if ending.frontier.pages > seeds as u64 {
        return None;
    }
    let of = |exclusion: Exclusion| ending.left_out.get(exclusion.name()).copied().unwrap_or(0);
    let reasons = [
        (of(Exclusion::Include), "match no --include"),
        (of(Exclusion::Exclude), "match --exclude"),
        (
            ending.deferred.get(Deferral::NoFollow.name()).copied().unwrap_or(0),
            "are marked nofollow (--nofollow ignore follows them)",
        ),
        (of(Exclusion::Robots), "are forbidden by robots.txt"),
    ];
    let told: Vec<String> = reasons
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", counted(count, "URL", "URLs")))
        .collect();
    (!told.is_empty()).then(|| format!("the crawl got no further than its seeds: {}", told.join(", ")))
}

/// Says which host rests longest, until when and why, and how many others rest.
pub(super) fn rests(resting: &[RestingOrigin]) -> Option<String> {
    let (first, others) = resting.split_first()?;
    let until = jiff::Timestamp::try_from(first.until).ok()?.strftime("%Y-%m-%d %H:%M:%S UTC");
    let others = match others.len() {
        0 => String::new(),
        others => format!("; so does {}", counted(others as u64, "other host", "other hosts")),
    };
    let origin = terminal_safe(shown_origin(&first.origin));
    Some(format!("{origin} rests until {until}, waiting for {}{others}", first.why.explain()))
}

/// Says that no sitemap lists a page, as it seems.
fn no_sitemap(settings: &Settings, ending: &CrawlEnding, seeds: usize) -> Option<String> {
    let is_stuck = settings.scope.sitemaps == Sitemaps::Only && ending.frontier.pages <= seeds as u64;
    is_stuck.then(|| {
        "no more pages were fetched than there are seeds: unless the sitemap lists no more, robots.txt names none; \
         give the URL of a sitemap as a seed, or leave out --sitemaps only"
            .to_owned()
    })
}

/// Says that the crawl got no further than its seeds because what they name is out of scope.
fn out_of_scope(settings: &Settings, ending: &CrawlEnding, seeds: usize) -> Option<String> {
    if ending.out_of_scope == 0 || ending.frontier.pages > seeds as u64 || !ending.deferred.is_empty() {
        return None;
    }
    let (scope, wider) = match settings.scope.kind {
        ScopeKind::Prefix => ("prefix", "--scope host takes in the whole host"),
        ScopeKind::Host => {
            ("host", "--scope domain takes in the other hosts of the domain, --scope any --max-pages N all hosts")
        }
        ScopeKind::Domain => ("domain", "--scope any --max-pages N takes in all hosts"),
        ScopeKind::Any => return None,
    };
    let named = counted(ending.out_of_scope, "URL", "URLs");
    Some(format!("the crawl got no further than its seeds: {named} out of scope (--scope {scope}); {wider}"))
}

/// Says that no page has a word of the topic.
fn absent_topic(settings: &Settings, ending: &CrawlEnding) -> Option<String> {
    let topic = settings.focus.terms.join(", ");
    let hint = || {
        format!(
            "no page has a word of the topic '{}', so the crawl was not focused: check its spelling and language",
            terminal_safe(&topic)
        )
    };
    ending.is_topic_absent.then(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;
    use crate::model::FrontierCounts;

    fn ending(pages: u64, out_of_scope: u64) -> CrawlEnding {
        CrawlEnding {
            reason: StopReason::Finished,
            budget_used_up: false,
            totals: Default::default(),
            hosts: Vec::new(),
            frontier: FrontierCounts { pages, ..FrontierCounts::default() },
            saved: Default::default(),
            deferred: Default::default(),
            out_of_scope,
            is_topic_absent: false,
            repeating: 0,
            predicted: Default::default(),
            rules: Vec::new(),
            failed_seeds: Vec::new(),
            resting: Vec::new(),
            given_up: Vec::new(),
            seed_notes: Vec::new(),
            left_out: Default::default(),
        }
    }

    #[test]
    fn a_crawl_that_got_no_further_than_its_seeds_names_the_wider_scope() {
        let told = |scope: &str, pages, out| {
            let settings = settings(&[("scope.kind", scope), ("scope.max_pages", "9")]);
            hint(&settings, &ending(pages, out), 1, false, exit::FINISHED)
        };
        let expected = "the crawl got no further than its seeds: 12 URLs out of scope (--scope host); \
                        --scope domain takes in the other hosts of the domain, --scope any --max-pages N all hosts";
        assert_eq!(told("host", 1, 12).as_deref(), Some(expected));
        assert!(
            told("prefix", 1, 1).is_some_and(|hint| hint.contains("1 URL out of scope (--scope prefix); --scope host"))
        );
        assert!(
            told("domain", 0, 1).is_some_and(|hint| hint.ends_with("--scope any --max-pages N takes in all hosts"))
        );
        assert_eq!([told("any", 1, 12), told("host", 2, 12), told("host", 1, 0)], [None, None, None]);
    }

    #[test]
    fn a_crawl_of_sitemaps_that_found_none_says_so() {
        let settings = settings(&[("scope.sitemaps", "only")]);
        let told = |pages| hint(&settings, &ending(pages, 0), 1, false, exit::FINISHED);
        assert!(told(1).is_some_and(|hint| hint.contains("robots.txt names none")));
        assert_eq!(told(2), None);
    }

    #[test]
    fn a_topic_that_no_page_speaks_of_is_named() {
        let settings = settings(&[("focus.terms", "asdkjh qwe")]);
        let ending = CrawlEnding { is_topic_absent: true, ..ending(7, 0) };
        let hint = hint(&settings, &ending, 1, false, exit::FINISHED).unwrap();
        assert!(hint.starts_with("no page has a word of the topic 'asdkjh qwe'"), "{hint}");
    }
}
