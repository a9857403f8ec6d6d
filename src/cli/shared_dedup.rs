//! The plan of a `dedup` run that several workers share.

use serde_json::json;

use crate::cli::args::ClusterShape;
use crate::cli::cluster_access::crawl_name;
use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::{FilterKind, MatchKind};
use crate::cli::errors::CliError;
use crate::cli::setup;
use crate::cluster::CrawlPlan;
use crate::detect::{self, Mode, Settling};
use crate::model::{Detector, Normalizer};
use crate::pagetext::PageReader;

/// Returns the detector of a shared run: the best match is named, and what is learned counts from the end of a turn on.
pub(super) fn detector(settings: &Settings) -> detect::Options {
    detect::Options { settling: Settling::AtMarks, mode: Mode::Best, ..setup::detect_options(settings) }
}

/// Returns what reads the pages.
pub(super) fn renderer(settings: &Settings) -> Result<PageReader, CliError> {
    let normalizer = Normalizer::new(settings.normalise_options());
    Ok(PageReader::new(setup::render_options(settings, &detector(settings))?, normalizer))
}

/// Returns the plan by which a run is made or joined.
pub(super) fn plan(settings: &Settings, name: &str, shape: &ClusterShape) -> Result<CrawlPlan, CliError> {
    refuse_undividable(settings)?;
    let rendering = format!("{}, weights {:?}", renderer(settings)?.signature(), detector(settings).weights.0);
    Ok(CrawlPlan {
        name: crawl_name(name)?,
        settings: json!({ "command": "dedup", "settings": settings.fingerprint() }),
        rendering,
        slots: shape.slots,
        turn_pages: i32::from(shape.turn),
        one_copy: shape.one_copy,
    })
}

/// Refuses settings whose verdicts would depend on how the index is divided.
fn refuse_undividable(settings: &Settings) -> Result<(), CliError> {
    let of = |key: &str| settings.source(key).to_string();
    let refused = if !settings.dedup.against.is_empty() {
        Some((of("dedup.against"), "give the earlier pages as the first manifest of the same crawl"))
    } else if settings.dedup.detector != Detector::Mwo {
        Some((of("dedup.detector"), "only mwo compares each pair of pages by itself: leave the flag out"))
    } else if settings.dedup.filter != FilterKind::Exact {
        Some((of("dedup.filter"), "only the exact index finds all matches: leave the flag out"))
    } else if settings.is_given("dedup.matching") && settings.dedup.matching == MatchKind::Any {
        Some((of("dedup.matching"), "the first match found depends on the order of insertion: use --matching best"))
    } else {
        None
    };
    match refused {
        None => Ok(()),
        Some((what, instead)) => {
            Err(CliError::usage(format!("{what} cannot be shared by several workers")).with_hint(instead))
        }
    }
}
