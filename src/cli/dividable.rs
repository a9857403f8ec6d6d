//! Which settings several processes can keep together: the others are refused, with what to do instead.

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::EngineKind;
use crate::cli::errors::CliError;
use crate::detect::{self, Settling};
use crate::model::KeepRule;

/// What cannot be shared, and what to do instead.
type Refused = (String, &'static str);

/// Refuses settings that a crawl of several processes cannot keep.
pub(super) fn refuse_undividable_crawl(settings: &Settings, is_recrawl: bool) -> Result<(), CliError> {
    let of = |key: &str| settings.source(key).to_string();
    let refused = if is_recrawl {
        Some(("--recrawl".to_owned(), "crawl again with one process, or into another crawl (--cluster-name)"))
    } else if settings.scope.trust_lastmod || !settings.scope.recrawl_after.is_zero() {
        let key = if settings.scope.trust_lastmod { "scope.trust_lastmod" } else { "scope.recrawl_after" };
        Some((of(key), "it is for a recrawl: leave it out"))
    } else if settings.engine == EngineKind::Spider {
        Some((of("engine"), "the engine spider chooses URLs by itself: leave it out"))
    } else if !settings.dedup.against.is_empty() {
        Some((of("dedup.against"), "compare with earlier crawls by ndcrawl dedup --against"))
    } else if !settings.focus.terms.is_empty() {
        Some((of("focus.terms"), "a topic is learned by one process: crawl without --cluster, or without a focus"))
    } else {
        undividable_decisions(settings)
    };
    told(refused)
}

/// Refuses settings that a `dedup` run of several workers cannot keep.
pub(super) fn refuse_undividable_dedup(settings: &Settings) -> Result<(), CliError> {
    let against =
        || (settings.source("dedup.against").to_string(), "give the earlier pages as the first manifest of this crawl");
    let refused = (!settings.dedup.against.is_empty()).then(against);
    told(refused.or_else(|| undividable_decisions(settings)))
}

/// Returns the options of a detector that several processes have: what is learned counts from the end of a turn on.
pub(super) fn dividable(options: detect::Options) -> detect::Options {
    detect::Options { settling: Settling::AtMarks, ..options }
}

/// Finds settings whose verdicts several processes cannot give.
fn undividable_decisions(settings: &Settings) -> Option<Refused> {
    let refused = || {
        (settings.source("dedup.keep_rule").to_string(), "several processes keep the first copy: leave the flag out")
    };
    (settings.dedup.keep_rule != KeepRule::First).then(refused)
}

fn told(refused: Option<Refused>) -> Result<(), CliError> {
    let Some((what, instead)) = refused else { return Ok(()) };
    Err(CliError::usage(format!("--cluster: {what} cannot be shared by several processes")).with_hint(instead))
}
