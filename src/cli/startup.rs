//! Loads the settings of a command and starts the log.

use crate::cli::args::{ConfigSource, Verbosity};
use crate::cli::config::schema;
use crate::cli::config::source::GivenValue;
use crate::cli::config::{Settings, file, merge};
use crate::cli::errors::CliError;
use crate::cli::log;
use crate::cli::terminal::{choose_color, write_stderr};
use crate::cli::terminal_safe::terminal_safe;
use crate::objects::ObjectUrl;

/// Merges flags, environment and files, for a command that writes an output folder.
pub(super) fn load_settings(flags: Vec<GivenValue>, source: &ConfigSource) -> Result<Settings, CliError> {
    let settings = load_settings_for_any_output(flags, source)?;
    if ObjectUrl::of(&settings.out.dir).is_some() {
        return Err(settings
            .refuse("out.dir", "an output folder has to be on a disk")
            .with_hint("name a folder, then: ndcrawl export FOLDER --format jsonl -o s3://BUCKET/NAME"));
    }
    Ok(settings)
}

/// Merges flags, environment and files, for a command that writes to a bucket as well.
pub(super) fn load_settings_for_any_output(
    flags: Vec<GivenValue>,
    source: &ConfigSource,
) -> Result<Settings, CliError> {
    let mut given = match source.no_config {
        true => Vec::new(),
        false => file::from_files(source.file.as_deref(), file::user_folder().as_deref())?,
    };
    let (environment, unknown) = merge::from_environment(std::env::vars_os());
    for name in unknown {
        write_stderr(&terminal_safe(&format!("warning: {name}: unknown variable, ignored")));
        if let Some(nearest) = schema::nearest_variable(&name) {
            write_stderr(&format!("hint: did you mean {nearest}?"));
        }
    }
    given.extend(environment);
    given.extend(flags);
    let settings = merge::merge(given)?;
    choose_color(settings.log.color);
    Ok(settings)
}

/// Returns the defaults with this verbosity and starts the log.
///
/// No file or environment variable may change what these commands do.
pub(super) fn defaults_with_log(verbosity: Verbosity) -> Result<Settings, CliError> {
    settings_with_log(verbosity.given().into_iter().collect())
}

/// Returns the defaults with these values set and starts the log.
pub(super) fn settings_with_log(given: Vec<GivenValue>) -> Result<Settings, CliError> {
    let settings = merge::merge(given)?;
    log::begin(&settings)?;
    Ok(settings)
}
