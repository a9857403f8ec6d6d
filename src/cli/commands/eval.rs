//! The command `eval`: measures detectors on labeled pages.

use std::path::Path;

use indicatif::ProgressBar;

use crate::cli::args::EvalArguments;
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, exit};
use crate::cli::eval_text as text;
use crate::cli::format::counted;
use crate::cli::progress::named_bar;
use crate::cli::setup;
use crate::cli::startup::settings_with_log;
use crate::cli::terminal::{write_stderr, write_stdout};
use crate::cli::terminal_safe::terminal_safe;
use crate::detect::{DetectError, Options, SecondCheck};
use crate::eval::{
    Address, ClusterReport, HostPages, LabelError, MissingPage, Pages, PairReport, html, json, read_clusters,
    read_pairs,
};
use crate::model::{Detector, Normalizer, Threshold, WantedOrder};
use crate::pagetext::{self, PageReader};

/// Missing pages shown; the others are counted.
const NAMED_MISSING: usize = 5;
/// The value of `--detector` for all detectors.
const ALL: &str = "all";

/// A detector with its thresholds.
struct Contender {
    options: Options,
    thresholds: Vec<Threshold>,
}

/// Evaluates the detectors: 0, or 1 if no page was found.
pub(super) fn run(arguments: &EvalArguments) -> Result<u8, CliError> {
    let given = arguments.verbosity.given().into_iter().chain(arguments.keys.given.clone());
    let settings = &settings_with_log(given.collect())?;
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
    let pages = render(settings, arguments, &labels.pages, contenders)?;
    let others = HostPages::find(
        &arguments.pages,
        &labels.pages,
        &pages.renderer,
        &Normalizer::new(settings.normalise_options()),
    );
    let mut report = PairReport::new(labels, &pages.plain);
    for contender in contenders {
        let pages = pages.of(contender);
        let learned = if contender.options.order().text { others.len() } else { 0 };
        let (pairs, streamed) = (report.labels.pairs.len(), pages.pages.len() * contender.thresholds.len());
        let bar = bar(settings, contender.options.detector.name(), learned + pairs + streamed);
        let added = report.add(pages, &others, &contender.options, &contender.thresholds, &|| bar.inc(1));
        bar.finish_and_clear();
        added.map_err(detect_error)?;
    }
    let text = || if arguments.json { json::pairs(&report) } else { text::pairs(&report) };
    write_results(arguments, &text, &|| html::pairs(&report), &pages.plain)
}

fn clusters(
    settings: &Settings,
    arguments: &EvalArguments,
    file: &Path,
    contenders: &[Contender],
) -> Result<u8, CliError> {
    let labels = read_clusters(file).map_err(label_error)?;
    let pages = render(settings, arguments, &labels.pages, contenders)?;
    let mut report = ClusterReport::new(labels, &pages.plain);
    for contender in contenders {
        let steps = report.labels.members.len() * contender.thresholds.len();
        let bar = bar(settings, contender.options.detector.name(), steps);
        let added = report.add(pages.of(contender), &contender.options, &contender.thresholds, &|| bar.inc(1));
        bar.finish_and_clear();
        added.map_err(detect_error)?;
    }
    let text = || if arguments.json { json::clusters(&report) } else { text::clusters(&report) };
    write_results(arguments, &text, &|| html::clusters(&report), &pages.plain)
}

/// Returns the chosen detectors, each with its thresholds.
fn contenders(settings: &Settings, arguments: &EvalArguments) -> Result<Vec<Contender>, CliError> {
    let options = setup::detect_options(settings);
    let mut thresholds = Vec::new();
    for text in &arguments.threshold {
        let threshold = text.parse().map_err(|error| CliError::usage(format!("--threshold: {error}")))?;
        thresholds.push(threshold);
    }
    let contender = |detector| {
        let own = vec![Options::default_threshold(detector, options.second == SecondCheck::OwnWords)];
        let thresholds = if thresholds.is_empty() { own } else { thresholds.clone() };
        let thresholding = match settings.is_given("dedup.thresholding") {
            true => options.thresholding,
            false => Options::default_thresholding(detector),
        };
        Contender { options: Options { detector, thresholding, ..options.clone() }, thresholds }
    };
    Ok(detectors(&arguments.detector)?.into_iter().map(contender).collect())
}

fn detectors(names: &[String]) -> Result<Vec<Detector>, CliError> {
    if names.is_empty() {
        return Ok(vec![Detector::Mwo]);
    }
    let mut found = Vec::new();
    for name in names.iter().flat_map(|name| name.split(',')) {
        let named: Vec<Detector> =
            Detector::ALL.into_iter().filter(|detector| name == ALL || detector.name() == name).collect();
        if named.is_empty() {
            let known = Detector::ALL.map(Detector::name).join(", ");
            return Err(CliError::usage(format!("--detector: '{name}' is none of {known}, {ALL}")));
        }
        found.extend(named.into_iter().filter(|detector| !found.contains(detector)).collect::<Vec<_>>());
    }
    Ok(found)
}

/// The pages as the detectors read them.
struct PageContent {
    plain: Pages,
    /// With synonyms mapped, for the detector that uses them.
    mapped: Option<Pages>,
    /// What has read the plain pages.
    renderer: PageReader,
}

impl PageContent {
    fn of(&self, contender: &Contender) -> &Pages {
        let mapped = self.mapped.as_ref().filter(|_| contender.options.detector == Detector::ExtendedTdw);
        mapped.unwrap_or(&self.plain)
    }
}

/// Reads the pages once for all detectors with the same terms, and reports missing ones.
fn render(
    settings: &Settings,
    arguments: &EvalArguments,
    addresses: &[Address],
    contenders: &[Contender],
) -> Result<PageContent, CliError> {
    let folder = &arguments.pages;
    if !folder.is_dir() {
        return Err(CliError::usage(format!("{}: no such folder", folder.display()))
            .with_hint("--pages takes the folder with one folder per site"));
    }
    let mut order = WantedOrder::default();
    for wanted in contenders.iter().map(|contender| contender.options.order()) {
        order.sentence_count |= wanted.sentence_count;
        order.sentences |= wanted.sentences;
        order.text |= wanted.text;
    }
    let rendered = |detector| {
        let options = setup::render_options(settings, &Options { detector, ..setup::detect_options(settings) })?;
        let renderer =
            PageReader::new(pagetext::Options { order, ..options }, Normalizer::new(settings.normalise_options()));
        let bar = bar(settings, "rendering", addresses.len());
        let pages = Pages::render(folder, addresses, &renderer, &|| bar.inc(1));
        bar.finish_and_clear();
        Ok::<_, CliError>((pages, renderer))
    };
    let (plain, renderer) = rendered(Detector::Mwo)?;
    warn_of_missing(&plain.missing, addresses.len());
    let is_mapped = contenders.iter().any(|contender| contender.options.detector == Detector::ExtendedTdw);
    let mapped = is_mapped.then(|| rendered(Detector::ExtendedTdw)).transpose()?.map(|(pages, _)| pages);
    Ok(PageContent { plain, mapped, renderer })
}

fn warn_of_missing(missing: &[MissingPage], of: usize) {
    if missing.is_empty() {
        return;
    }
    let what = counted(of as u64, "page", "pages");
    write_stderr(&format!("warning: {} of {what} missing; pairs and clusters with them are left out", missing.len()));
    for MissingPage { file, why } in missing.iter().take(NAMED_MISSING) {
        write_stderr(&terminal_safe(&format!("warning: {}: {why}", file.display())));
    }
    if let Some(more @ 1..) = missing.len().checked_sub(NAMED_MISSING) {
        write_stderr(&format!("warning: {more} more"));
    }
}

/// Prints and writes the results. Returns the exit code.
fn write_results(
    arguments: &EvalArguments,
    text: &dyn Fn() -> String,
    page: &dyn Fn() -> String,
    pages: &Pages,
) -> Result<u8, CliError> {
    if pages.found() == 0 {
        let message = format!("{}: no pages found", arguments.pages.display());
        return Err(CliError::new(exit::NOTHING_FETCHED, message)
            .with_hint("the page http://SITE.localhost:8080/PATH is the file SITE/PATH in that folder"));
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

fn bar(settings: &Settings, what: &'static str, steps: usize) -> ProgressBar {
    let template = "{msg:>14} {wide_bar} {human_pos}/{human_len} {eta:>4}";
    named_bar(settings.progress_mode(), what, steps as u64, template)
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
        assert_eq!(named(&["none", "all"]).unwrap().len(), Detector::ALL.len());
        assert!(named(&["simhash"]).unwrap_err().message.contains("'simhash' is none of mwo, dd, "));
    }
}
