//! `verify --loss`: what dropped pages lose, counted again.

use std::path::Path;

use crate::cli::errors::{CliError, report_error};
use crate::cli::saved_settings;
use crate::cli::setup;
use crate::model::Normalizer;
use crate::pagetext::PageReader;
use crate::report::LossCheck;

use super::findings::Findings;

/// Adds what was counted again, and what is wrong.
pub(super) fn add(findings: &mut Findings, folder: &Path) -> Result<(), CliError> {
    let settings = saved_settings::settings(folder)?;
    let detect = setup::detect_options(&settings);
    if !detect.has_second() {
        let error = CliError::usage(format!("--loss: {} was decided without own words", folder.display()));
        return Err(error.with_hint("only the detector mwo with own words counts what is lost"));
    }
    let normalizer = Normalizer::new(settings.normalise_options());
    let texts = PageReader::new(setup::render_options(&settings, &detect)?, normalizer);
    let check = LossCheck::of(folder, texts, detect.lose_at_most).map_err(report_error)?;
    findings.figures.extend([
        ("near-duplicates counted again", check.near_duplicates),
        ("words of near-duplicates", check.words),
        ("words that the page kept in their place has not", check.lost),
    ]);
    findings.figures.extend(check.lost_everywhere.map(|lost| ("words that no kept page has", lost)));
    findings.figures.extend([
        ("exact duplicates with the bytes or the text of the kept page", check.exact_duplicates),
        ("pages with the same words in the archive", check.read_again),
        ("pages without a body in the archive: their words are those of the log", check.without_body),
    ]);
    if check.lost_everywhere.is_none() {
        findings.figures.push(("not checked: lost words in other kept pages, since there are too many", check.lost));
    }
    findings.figures.extend(check.unchecked);
    findings.problems.extend(check.problems);
    findings.problem_count += check.problem_count;
    Ok(())
}
