//! Sets up the log: text on stderr, above the progress bar, and optionally a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;

use tracing::Metadata;
use tracing_subscriber::filter::{EnvFilter, FilterExt, FilterFn, LevelFilter};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::{Filter, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::{LogFormat, LogLevel};
use crate::cli::errors::CliError;
use crate::cli::terminal::{above_bar, stderr_color};

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Sets up the log for the rest of the process. A second call changes nothing.
pub fn begin(settings: &Settings) -> Result<(), CliError> {
    let log = &settings.log;
    let color = stderr_color(log.color);
    let mut layers: Vec<BoxedLayer> = vec![stderr_layer(log.format, color, filter(settings))];
    if let Some(path) = &log.file {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| CliError::usage(format!("--log-file {}: {error}", path.display())))?;
        layers.push(file_layer(log.format, file, filter(settings)));
    }
    let begun: Result<(), TryInitError> = tracing_subscriber::registry().with(layers).try_init();
    // Only another test can have set up a log before; that one stays.
    let _ = begun;
    Ok(())
}

/// Returns the filter of the level. `-q` and `-v` apply to this program; libraries log less.
///
/// `RUST_LOG` applies unless the level was given.
fn filter(settings: &Settings) -> EnvFilter {
    let asked = settings.is_given("log.level");
    match EnvFilter::try_from_default_env() {
        Ok(from_environment) if !asked => from_environment,
        _ => EnvFilter::new(directives(settings.log.level)),
    }
}

/// `-v` tells what the crawl does, `-vv` each URL, and `-vvv` what libraries say.
///
/// sled and the verifier of certificates log failures that are returned anyway, and html5ever each oddity of a page. They
/// are switched off where people read.
fn directives(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error,sled=off,html5ever=off,rustls_platform_verifier=off",
        LogLevel::Warn => "warn,sled=off,html5ever=off,rustls_platform_verifier=off",
        LogLevel::Info => "warn,ndcrawl=info,sled=off,html5ever=off,rustls_platform_verifier=off",
        LogLevel::Debug => "warn,ndcrawl=debug,sled=off,html5ever=off,rustls_platform_verifier=off",
        LogLevel::Trace => "warn,ndcrawl=trace,sled=off,html5ever=off,rustls_platform_verifier=off",
        LogLevel::All => "debug,ndcrawl=trace",
    }
}

fn stderr_layer(format: LogFormat, color: bool, filter: EnvFilter) -> BoxedLayer {
    let layer = fmt::layer().with_writer(StderrAboveBar).with_ansi(color);
    match format {
        LogFormat::Json => layer.json().with_span_events(FmtSpan::CLOSE).with_filter(filter).boxed(),
        LogFormat::Text => layer.compact().with_target(false).without_time().with_filter(events_only(filter)).boxed(),
    }
}

fn file_layer(format: LogFormat, file: File, filter: EnvFilter) -> BoxedLayer {
    let layer = fmt::layer().with_writer(Arc::new(file)).with_ansi(false);
    match format {
        LogFormat::Json => layer.json().with_span_events(FmtSpan::CLOSE).with_filter(filter).boxed(),
        LogFormat::Text => layer.with_filter(events_only(filter)).boxed(),
    }
}

/// Returns the filter without spans, which are for programs: for people each line names its URL.
fn events_only(filter: EnvFilter) -> impl Filter<Registry> + Send + Sync + 'static {
    let is_event: fn(&Metadata<'_>) -> bool = |metadata| metadata.is_event();
    // Without this hint libraries would write all their messages, for the filter to drop them.
    filter.and(FilterFn::new(is_event).with_max_level_hint(LevelFilter::TRACE))
}

/// Writes each event to stderr while the progress bar is hidden.
#[derive(Clone, Copy, Debug)]
struct StderrAboveBar;

impl Write for StderrAboveBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = Ok(0);
        above_bar(&mut || written = io::stderr().lock().write(bytes));
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

impl<'a> MakeWriter<'a> for StderrAboveBar {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_a_filter() {
        for level in [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace, LogLevel::All]
        {
            let filter = EnvFilter::try_new(directives(level)).unwrap();
            let most = filter.max_level_hint();
            assert!(most.is_some() && Filter::<Registry>::max_level_hint(&events_only(filter)) == most);
        }
    }
}
