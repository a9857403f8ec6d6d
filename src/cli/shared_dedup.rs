//! The plan of a `dedup` run that several workers share.

use std::num::NonZeroU16;

use crate::cli::args::ClusterShape;
use crate::cli::cluster_access::crawl_name;
use crate::cli::cluster_settings::of_dedup;
use crate::cli::config::settings::Settings;
use crate::cli::dividable::{dividable, refuse_undividable_dedup};
use crate::cli::errors::CliError;
use crate::cli::setup;
use crate::cluster::CrawlPlan;
use crate::detect;
use crate::model::Normalizer;
use crate::pagetext::PageReader;

/// Returns the detector of a shared run.
pub(super) fn detector(settings: &Settings) -> detect::Options {
    dividable(setup::detect_options(settings))
}

/// Returns what reads the pages.
pub(super) fn renderer(settings: &Settings) -> Result<PageReader, CliError> {
    let normalizer = Normalizer::new(settings.normalise_options());
    Ok(PageReader::new(setup::render_options(settings, &setup::detect_options(settings))?, normalizer))
}

/// Returns the plan by which a run is made or joined.
pub(super) fn plan(settings: &Settings, name: &str, shape: &ClusterShape) -> Result<CrawlPlan, CliError> {
    refuse_undividable_dedup(settings)?;
    let rendering =
        format!("{}, weights {:?}", renderer(settings)?.signature(), setup::detect_options(settings).weights.0);
    Ok(CrawlPlan {
        name: crawl_name(name)?,
        settings: of_dedup(settings),
        rendering,
        // There are no URLs to be divided.
        slots: NonZeroU16::MIN,
        turn_pages: i32::from(shape.turn),
        one_copy: shape.one_copy,
    })
}
