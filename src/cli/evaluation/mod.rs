//! The command `eval`: which detectors, at which thresholds, on which pages, and how it is told.

pub mod text;

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::arguments::EvalArguments;
use super::choices::ProgressMode;
use super::error::{CliError, exit};
use super::figures::counted;
use super::settings::Settings;
use super::setup;
use super::terminal::{stderr_can_draw, terminal_safe, write_stderr, write_stdout};
use crate::detect::{DetectError, Options};
use crate::eval::{
    Address, ClusterReport, LabelError, Missing, Pages, PairReport, html, json, read_clusters, read_pairs,
};
use crate::record::{Detector, Normaliser, Threshold};
use crate::render::Renderer;

/// Missing pages beyond this many are only counted.
const NAMED_MISSING: usize = 5;
/// The detectors that can be asked.
const DETECTORS: [Detector; 2] = [Detector::Mwo, Detector::None];
/// What `--detector` takes for all of them.
const ALL: &str = "all";

/// A detector and the thresholds at which it is judged.
struct Contender {
    options: Options,
    thresholds: Vec<Threshold>,
}

/// Does what `eval` was asked for: 0, or 1 if no page is there.
pub fn run(settings: &Settings, arguments: &EvalArguments) -> Result<u8, CliError> {
    let contenders = contenders(settings, arguments)?;
    match (&arguments.pairs, &arguments.clusters) {
        (Some(file), None) => pairs(settings, arguments, file, &contenders),
        (None, Some(file)) => clusters(settings, arguments, file, &contenders),
        _ => Err(CliError::usage("give either --pairs FILE or --clusters FILE")),
    }
}

fn pairs(
    settings: &Settings,
    arguments: &EvalArguments,
    file: &Path,
    contenders: &[Contender],
) -> Result<u8, CliError> {
    let labels = read_pairs(file).map_err(label_error)?;
    let pages = render(settings, arguments, &labels.pages)?;
    let mut report = PairReport::new(labels, &pages);
    for contender in contenders {
        let (pairs, streamed) = (report.labels.pairs.len(), pages.pages.len() * contender.thresholds.len());
        let bar = bar(settings, contender.options.detector.name(), pairs + streamed);
        let added = report.add(&pages, &contender.options, &contender.thresholds, &|| bar.inc(1));
        bar.finish_and_clear();
        added.map_err(detect_error)?;
    }
    let text = || if arguments.json { json::pairs(&report) } else { text::pairs(&report) };
    tell(arguments, &text, &|| html::pairs(&report), &pages)
}

fn clusters(
    settings: &Settings,
    arguments: &EvalArguments,
    file: &Path,
    contenders: &[Contender],
) -> Result<u8, CliError> {
    let labels = read_clusters(file).map_err(label_error)?;
    let pages = render(settings, arguments, &labels.pages)?;
    let mut report = ClusterReport::new(labels, &pages);
    for contender in contenders {
        let steps = report.labels.members.len() * contender.thresholds.len();
        let bar = bar(settings, contender.options.detector.name(), steps);
        let added = report.add(&pages, &contender.options, &contender.thresholds, &|| bar.inc(1));
        bar.finish_and_clear();
        added.map_err(detect_error)?;
    }
    let text = || if arguments.json { json::clusters(&report) } else { text::clusters(&report) };
    tell(arguments, &text, &|| html::clusters(&report), &pages)
}

/// The detectors that were named, each with its thresholds.
fn contenders(settings: &Settings, arguments: &EvalArguments) -> Result<Vec<Contender>, CliError> {
    let options = setup::detect_options(settings);
    let mut thresholds = Vec::new();
    for text in &arguments.threshold {
        let threshold = text.parse().map_err(|error| CliError::usage(format!("--threshold: {error}")))?;
        thresholds.push(threshold);
    }
    let contender = |detector| {
        let own = vec![default_threshold(detector)];
        let thresholds = if thresholds.is_empty() { own } else { thresholds.clone() };
        Contender { options: Options { detector, ..options.clone() }, thresholds }
    };
    Ok(detectors(&arguments.detector)?.into_iter().map(contender).collect())
}

/// The threshold of a detector if none is given.
fn default_threshold(_: Detector) -> Threshold {
    Options::default().threshold
}

fn detectors(names: &[String]) -> Result<Vec<Detector>, CliError> {
    if names.is_empty() {
        return Ok(vec![Detector::Mwo]);
    }
    let mut found = Vec::new();
    for name in names.iter().flat_map(|name| name.split(',')) {
        let named: Vec<Detector> =
            DETECTORS.into_iter().filter(|detector| name == ALL || detector.name() == name).collect();
        if named.is_empty() {
            let known = DETECTORS.map(Detector::name).join(", ");
            return Err(CliError::usage(format!("--detector: '{name}' is none of {known}, {ALL}")));
        }
        found.extend(named.into_iter().filter(|detector| !found.contains(detector)).collect::<Vec<_>>());
    }
    Ok(found)
}

/// Renders the pages once for all detectors, and tells which are missing.
fn render(settings: &Settings, arguments: &EvalArguments, addresses: &[Address]) -> Result<Pages, CliError> {
    let folder = &arguments.pages;
    if !folder.is_dir() {
        return Err(CliError::usage(format!("{}: no such folder", folder.display()))
            .with_hint("--pages names the folder that holds one folder for each site"));
    }
    let renderer = Renderer::new(setup::render_options(settings), Normaliser::new(settings.normalise_options()));
    let bar = bar(settings, "rendering", addresses.len());
    let pages = Pages::render(folder, addresses, &renderer, &|| bar.inc(1));
    bar.finish_and_clear();
    tell_missing(&pages.missing, addresses.len());
    Ok(pages)
}

fn tell_missing(missing: &[Missing], of: usize) {
    if missing.is_empty() {
        return;
    }
    let what = counted(of as u64, "page", "pages");
    write_stderr(&format!("warning: {} of {what} missing; what needs them is left out", missing.len()));
    for Missing { file, why } in missing.iter().take(NAMED_MISSING) {
        write_stderr(&terminal_safe(&format!("warning: {}: {why}", file.display())));
    }
    if let Some(more @ 1..) = missing.len().checked_sub(NAMED_MISSING) {
        write_stderr(&format!("warning: {more} more"));
    }
}

/// Writes what was asked for, and gives the exit code.
fn tell(
    arguments: &EvalArguments,
    text: &dyn Fn() -> String,
    page: &dyn Fn() -> String,
    pages: &Pages,
) -> Result<u8, CliError> {
    if pages.found() == 0 {
        let message = format!("{}: no page is there", arguments.pages.display());
        return Err(CliError::new(exit::NOTHING_FETCHED, message)
            .with_hint("a page http://SITE.localhost:8080/PATH is the file SITE/PATH below that folder"));
    }
    if let Some(file) = &arguments.html {
        let written = std::fs::write(file, page());
        written.map_err(|error| CliError::usage(format!("{}: {error}", file.display())))?;
    }
    write_stdout(&text())?;
    Ok(exit::FINISHED)
}

fn label_error(error: LabelError) -> CliError {
    CliError::usage(error.to_string())
}

fn detect_error(error: DetectError) -> CliError {
    CliError::from(anyhow::Error::new(error))
}

/// Shows how a task comes along; nothing where nobody watches.
fn bar(settings: &Settings, what: &str, steps: usize) -> ProgressBar {
    let wanted = !matches!(settings.progress_mode(), ProgressMode::None) && stderr_can_draw();
    let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{msg:>14} {wide_bar} {human_pos}/{human_len} {eta:>4}");
    let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Result<Vec<Detector>, CliError> {
        detectors(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn detectors_are_named_once_each_or_all_together() {
        assert_eq!(named(&[]), Ok(vec![Detector::Mwo]));
        assert_eq!(named(&["none", "mwo", "none"]), Ok(vec![Detector::None, Detector::Mwo]));
        assert_eq!(named(&["none", "all"]), Ok(vec![Detector::None, Detector::Mwo]));
        assert!(named(&["simhash"]).unwrap_err().message.contains("'simhash' is none of mwo, none, all"));
    }
}
