//! The command `decontaminate`: which documents hold items of a test set?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dedup::{check_rows_file, code_of_inputs, own_rows_error, warn_of_damage, warn_of_missing_fields};
use crate::cli::args::DecontaminateArguments;
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, crawl_error, exit};
use crate::cli::format::{counted, percent, thousands};
use crate::cli::setup;
use crate::cli::startup::settings_with_log;
use crate::cli::terminal::{print, write_stderr};
use crate::cli::terminal_safe::terminal_safe;
use crate::dedup::{
    Contamination, DecontaminationSetup, DocumentPlace, InputOptions, Inputs, MOST_ITEMS, SHORTEST_ITEM, SeenFields,
};
use crate::fetch;
use crate::model::Normalizer;
use crate::pagetext::PageReader;

/// Items that are too short and are named; the others are counted.
const NAMED: usize = 3;

/// Prints the hits as JSON lines, writes the rows that are clean, and tells how many there are.
pub(super) fn run(arguments: &DecontaminateArguments) -> Result<u8, CliError> {
    let settings = &settings_with_log(arguments.verbosity.given().into_iter().collect())?;
    let setup = setup(settings, arguments)?;
    let found = Contamination::find(&setup).map_err(crawl_error)?;
    [&found.tests, &found.inputs].into_iter().for_each(warn_of_damage);
    if found.items == 0 {
        return Err(no_items(&found));
    }
    match &arguments.out {
        Some(path) => std::fs::write(path, json_lines(&found)?)
            .map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: cannot write: {error}", path.display())))?,
        None => drop(print(&json_lines(&found)?)?),
    }
    let mut code = code_of_inputs(&found.inputs).max(match code_of_inputs(&found.tests) {
        exit::FINISHED => exit::FINISHED,
        _ => exit::SOME_INPUT_UNREAD,
    });
    if let Some(path) = &arguments.kept {
        let given = found.write_clean_rows(path, &setup).map_err(own_rows_error)?;
        if given.others > 0 {
            let others = counted(given.others, "document is no row", "documents are no rows");
            write_stderr(&format!("warning: {others} of a table, so --kept does not write them"));
            code = code.max(exit::SOME_INPUT_UNREAD);
        }
    }
    let is_any_missing = [&setup.test_input, &setup.input].map(|input| warn_of_missing_fields(&input.seen));
    warn_of_items(&found.too_short, &format!("fewer than {SHORTEST_ITEM} words"));
    warn_of_items(&found.too_common, &format!("runs of more than {MOST_ITEMS} items only"));
    write_stderr(&summary(&found, arguments));
    Ok(if is_any_missing.contains(&true) { code.max(exit::SOME_INPUT_UNREAD) } else { code })
}

fn no_items(found: &Contamination) -> CliError {
    let why = match (&found.too_short[..], &found.too_common[..]) {
        ([], []) => "no item was read from the test set".to_owned(),
        ([], [first, ..]) => format!("all items have runs of more than {MOST_ITEMS} only, such as {}", shown(first)),
        ([first, ..], _) => format!("no item has {SHORTEST_ITEM} words of its own, such as {}", shown(first)),
    };
    CliError::new(exit::NOTHING_FETCHED, why)
        .with_hint("name the fields with the text of an item: --test-field question")
}

fn setup(settings: &Settings, arguments: &DecontaminateArguments) -> Result<DecontaminationSetup, CliError> {
    check_rows_file(arguments.kept.as_deref(), &arguments.inputs)?;
    if arguments.kept.as_deref() == Some(Path::new("-")) && arguments.out.is_none() {
        return Err(CliError::usage("--kept - and the hits would both go to stdout").with_hint("add -o hits.jsonl"));
    }
    let normalizer = Normalizer::new(settings.normalise_options());
    let renderer =
        PageReader::new(setup::render_options(settings, &setup::detect_options(settings))?, normalizer.clone());
    let accept_types = setup::accepted_types(settings);
    let ours: Vec<PathBuf> = arguments.kept.iter().chain(&arguments.out).cloned().collect();
    let inputs = inputs(&arguments.inputs, &ours)?;
    if arguments.kept.is_some() && !inputs.can_be_read_again() {
        return Err(CliError::usage("--kept reads the documents twice, and a stream of this kind is read once")
            .with_hint("write them to a file first"));
    }
    Ok(DecontaminationSetup {
        input: input_options(settings, &normalizer, arguments, ("--text-field", &arguments.text_field)),
        test_input: input_options(settings, &normalizer, arguments, ("--test-field", &arguments.test_field)),
        inputs,
        tests: self::inputs(&arguments.against, &ours)?,
        renderer,
        documents: setup::document_options(settings)?,
        accepts: Box::new(move |media_type| fetch::accepts(&accept_types, media_type)),
        run: usize::from(arguments.words),
        share: arguments.share,
    })
}

fn inputs(paths: &[PathBuf], ours: &[PathBuf]) -> Result<Inputs, CliError> {
    Inputs::find(paths, ours).map_err(|error| {
        CliError::usage(error.to_string()).with_hint("give JSON lines or Parquet files, folders, or -")
    })
}

fn input_options(
    settings: &Settings,
    normalizer: &Normalizer,
    arguments: &DecontaminateArguments,
    (flag, texts): (&'static str, &[String]),
) -> InputOptions {
    let wanted = texts.iter().filter(|field| *field != "text").map(|field| (flag, field.clone()));
    InputOptions {
        base: None,
        url_field: "url".to_owned(),
        id_field: arguments.id_field.clone(),
        html_field: "html".to_owned(),
        text_fields: texts.to_vec(),
        time_field: "fetched_at".to_owned(),
        keep_columns: Vec::new(),
        max_body: usize::try_from(settings.http.max_body.0).unwrap_or(usize::MAX),
        max_text: usize::MAX,
        reads_pdf: settings.pdf.read,
        keeps_records: false,
        keeps_rows: false,
        within_files: false,
        seen: Arc::new(SeenFields::new(wanted)),
        normalizer: normalizer.clone(),
    }
}

fn json_lines(found: &Contamination) -> Result<String, CliError> {
    let mut lines = String::new();
    for hit in &found.hits {
        let line = serde_json::to_string(hit).map_err(anyhow::Error::from)?;
        let _ = writeln!(lines, "{line}");
    }
    Ok(lines)
}

fn summary(found: &Contamination, arguments: &DecontaminateArguments) -> String {
    let hit = found.hits.chunk_by(|one, next| one.document == next.document).count() as u64;
    format!(
        "{}: {} with {} of an item or more,\n{} with a run of {} words of one; {}",
        counted(found.documents, "document", "documents"),
        thousands(found.contaminated),
        percent(arguments.share),
        thousands(hit),
        arguments.words,
        counted(found.items, "item", "items"),
    )
}

/// Names items that are not searched, and why.
fn warn_of_items(items: &[DocumentPlace], why: &str) {
    if items.is_empty() {
        return;
    }
    let named: Vec<String> = items.iter().take(NAMED).map(shown).collect();
    let (count, named) = (counted(items.len() as u64, "item is", "items are"), named.join(", "));
    write_stderr(&terminal_safe(&format!("warning: {count} not searched, with {why}, such as {named}")));
}

fn shown(place: &DocumentPlace) -> String {
    match (&place.id, &place.file, place.line) {
        (Some(id), ..) => id.clone(),
        (None, Some(file), Some(line)) => format!("{file}:{line}"),
        _ => place.url.clone().unwrap_or_default(),
    }
}
