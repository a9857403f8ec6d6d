//! Puts a crawl together, runs it and prints its summary; for `crawl` and `demo`.

use std::io::IsTerminal;
use std::net::TcpListener;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};
use tracing::Instrument as _;

use crate::cli::args::RunFlags;
use crate::cli::config::schema;
use crate::cli::config::settings::Settings;
use crate::cli::config::source::Source;
use crate::cli::config::value_enums::{EngineKind, ProgressMode};
use crate::cli::cookie_file;
use crate::cli::counts::OutcomeCounts;
use crate::cli::dashboard::{self, CrawlControls, Dashboard};
use crate::cli::errors::{CliError, crawl_error, exit, opening_error};
use crate::cli::gates;
use crate::cli::host::Host;
use crate::cli::monitor::{CrawlLimits, Monitor};
use crate::cli::next_step::{hint, rests};
use crate::cli::output_dir::{self, CrawlFile, EarlierRun, START_OVER};
use crate::cli::progress::Progress;
use crate::cli::reference_crawls;
use crate::cli::report_file;
use crate::cli::rule_file;
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::setup;
use crate::cli::signals::{self, ReceivedSignals};
use crate::cli::signing_key;
use crate::cli::status_file::RunState;
use crate::cli::summary::build;
use crate::cli::terminal::{stderr_can_draw, stderr_color, stdout_color, stdout_width, write_stderr};
use crate::cli::terminal_safe::terminal_safe;
use crate::crawl::{ArchivedPages, Crawl, CrawlEnding, CrawlError, CrawlSetup};
use crate::model::Deferral;
use crate::pipeline::{Stop, StopReason};
use crate::store::{CrawlVersion, Identity, OpenedStore, Store};

/// Builds the runtime of a crawl.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    built.map_err(|error| CliError::new(exit::INTERNAL, format!("no runtime: {error}")))
}

/// Crawls and returns the exit code. `seeds` may be empty if there is a crawl to resume.
pub(super) fn run(
    settings: &Settings,
    seeds: Seeds,
    flags: RunFlags,
    runtime: &Runtime,
    host: &Host,
) -> Result<u8, CliError> {
    if flags.resume && settings.engine == EngineKind::Spider {
        return Err(CliError::usage("--resume: the engine spider cannot resume a crawl").with_hint(START_OVER));
    }
    let listener = dashboard::bind(settings)?;
    let PreparedCrawl { crawl, mut crawl_file, seeds, finished_before } = prepare(settings, seeds, flags)?;
    if let Some(rest) = rests(crawl.resting()) {
        write_stderr(&format!("note: {rest}"));
    }
    let span = tracing::debug_span!("crawl", folder = %settings.out.dir.display());
    let crawling = run_monitored(settings, crawl, listener, host).instrument(span);
    let (monitor, ending, signals) = runtime.block_on(crawling)?;
    let ending = match ending {
        Ok(ending) => ending,
        Err(error) => {
            monitor.end(RunState::Stopped);
            let error = crawl_error(error);
            // On a full disk this fails too. The first error is the one to report.
            let _ = crawl_file.end(Some("failed"), error.code);
            return Err(error);
        }
    };
    let signalled = signals.exit_code();
    let code = exit_code(settings, &ending, signalled);
    tracing::debug!(requests = ending.totals.requests, queued = ending.frontier.queued, code, "crawl ends");
    let state = if ending.reason == StopReason::Finished { RunState::Finished } else { RunState::Stopped };
    // Before the monitor releases the folder, so that a change by `ndcrawl rules` is not overwritten.
    rule_file::save(&settings.out.dir, &ending.rules)?;
    let dashboard = monitor.end(state);
    crawl_file.end(build::stopped(settings, &ending), code)?;
    let is_urgent = signals.is_urgent();
    let nothing_done = finished_before == Some(ending.totals.requests);
    let hint = hint(settings, &ending, seeds, nothing_done, code);
    // On a terminal the summary shows the same.
    if flags.json || !std::io::stdout().is_terminal() {
        warn_of_failures(&ending, hint.as_deref());
    }
    if let Some(limit) =
        gates::exceeded(settings, OutcomeCounts::from(&ending.totals.outcomes)).filter(|limit| limit.code == code)
    {
        write_stderr(&format!("error: {}", limit.message));
    }
    let unseen = ending.totals.links_over_limit;
    if unseen > 0 {
        write_stderr(&format!("warning: {unseen} links were not seen: their pages have more than 10,000"));
    }
    let ended = EndedCrawl { settings, ending: &ending, hint, is_urgent };
    let code = summarize(ended, code, flags.json, &mut crawl_file, host)?;
    // Who has stopped the crawl wants it to end.
    if let Some(dashboard) = dashboard.filter(|_| signalled.is_none() && is_watched_by_a_person(host)) {
        write_stderr(&format!("dashboard: stays at {} until Ctrl-C or its button ends it", dashboard.url()));
        runtime.block_on(async {
            tokio::select! {
                () = dashboard.closed() => {}
                () = signals.next_after_end() => {}
            }
        });
    }
    Ok(code)
}

/// Returns whether somebody may look at the dashboard after the crawl, and can end it: both streams are a terminal.
/// Machines that run jobs may have one, too, and set `CI`.
fn is_watched_by_a_person(host: &Host) -> bool {
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    !host.is_embedded() && !is_ci && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// A crawl that is ready to run.
struct PreparedCrawl {
    crawl: Crawl,
    crawl_file: CrawlFile,
    /// The number of seeds.
    seeds: usize,
    /// The number of requests of all earlier runs, if the crawl had finished before.
    finished_before: Option<u64>,
}

/// Prepares the folder, opens its store and the crawl in it.
fn prepare(settings: &Settings, seeds: Seeds, flags: RunFlags) -> Result<PreparedCrawl, CliError> {
    // The files may be in the folder that `--fresh --force` empties.
    let given_rules = rule_file::read_given(settings)?;
    let cookies = cookie_file::read(settings)?;
    refuse_without_recrawl(settings, flags)?;
    let signer = signing_key::read(settings)?;
    // Before a finished crawl is set aside.
    output_dir::expect_related_seeds(settings, &seeds, flags)?;
    output_dir::prepare(&settings.out.dir, flags)?;
    let earlier = EarlierRun::read(settings)?;
    output_dir::empty_fruitless(&settings.out.dir, &earlier)?;
    let seeds = output_dir::with_earlier_seeds(seeds, &earlier, flags);
    warn(settings, &seeds);
    let mut setup = crawl_setup(settings, &seeds)?;
    setup.fetch.cookies = cookies;
    setup.fetch.signer = signer;
    let (store, opened) = open_store(settings, &setup)?;
    setup.frontier.rules = rule_file::initial_rules(given_rules, &settings.out.dir, flags.recrawl && opened.fresh)?;
    let crawl = Crawl::open(setup, store, &opened.identity).map_err(crawl_error)?;
    let started = earlier.started.filter(|_| !opened.fresh);
    let crawl_file = CrawlFile::begin(settings, &seeds, &opened.identity.crawl, started.as_deref())?;
    let finished_before = opened.mark.finished.is_some().then_some(opened.mark.totals.requests);
    log_begin(settings, &seeds, started.as_deref());
    Ok(PreparedCrawl { crawl, crawl_file, seeds: seeds.seeds.len(), finished_before })
}

/// Refuses flags of recrawls, if this is none.
fn refuse_without_recrawl(settings: &Settings, flags: RunFlags) -> Result<(), CliError> {
    let is_flag = |source: &Source| matches!(source, Source::Flag(_));
    let sources = ["scope.trust_lastmod", "scope.recrawl_after"].map(|key| settings.source(key));
    let Some(flag) = sources.into_iter().find(is_flag).filter(|_| !flags.recrawl) else { return Ok(()) };
    let is_recrawl = !flags.fresh && CrawlVersion::last(&settings.out.dir).map_err(opening_error)?.is_some();
    if is_recrawl {
        return Ok(());
    }
    let message = format!("{flag}: {} holds no crawl that is being repeated", settings.out.dir.display());
    Err(CliError::usage(message).with_hint("add --recrawl to repeat a finished crawl, or leave the flag out"))
}

/// Tells what begins, and which settings differ from the defaults.
fn log_begin(settings: &Settings, seeds: &Seeds, started: Option<&str>) {
    let (folder, seeds) = (settings.out.dir.display(), seeds.seeds.len());
    match started {
        Some(started) => tracing::debug!(%folder, seeds, started, "crawl resumes"),
        None => tracing::debug!(%folder, seeds, "crawl begins"),
    }
    for key in schema::all().filter(|key| settings.is_given(key.name)) {
        tracing::debug!(source = %settings.source(key.name), "{} = {}", key.name, key.show(settings));
    }
}

/// Returns the setup with the earlier crawls and the rendering of pages.
fn crawl_setup(settings: &Settings, seeds: &Seeds) -> Result<CrawlSetup, CliError> {
    let mut setup = setup::setup(settings, seeds)?;
    setup.against = reference_crawls::read(settings, &setup.rendering())?;
    setup.archived = archived(settings)?;
    #[cfg(all(feature = "browser", unix))]
    {
        setup.headless = setup::headless_options(settings)?;
    }
    #[cfg(not(all(feature = "browser", unix)))]
    setup::reject_headless(settings)?;
    Ok(setup)
}

/// Opens the store, if its crawl was started with the same settings.
fn open_store(settings: &Settings, setup: &CrawlSetup) -> Result<(Store, OpenedStore), CliError> {
    let against = setup.against.as_deref();
    let wanted = Identity::new(setup.rendering(), settings.fingerprint() + &reference_crawls::line(against));
    let opened = Store::open(&settings.out.dir, setup::store_options(settings), &wanted);
    let (store, opened) = opened.map_err(opening_error)?;
    output_dir::compare(settings, &opened, against)?;
    output_dir::expect_resumable(settings, &opened)?;
    Ok((store, opened))
}

fn warn_of_failures(ending: &CrawlEnding, hint: Option<&str>) {
    for (seed, why) in &ending.failed_seeds {
        write_stderr(&terminal_safe(&format!("warning: seed {seed}: {why}")));
    }
    if let Some(hint) = hint {
        write_stderr(&format!("hint: {hint}"));
    }
}

/// A crawl that has ended.
struct EndedCrawl<'a> {
    settings: &'a Settings,
    ending: &'a CrawlEnding,
    hint: Option<String>,
    /// Whether optional work is skipped.
    is_urgent: bool,
}

/// Writes the report, prints the summary and returns the final exit code.
fn summarize(
    ended: EndedCrawl<'_>,
    mut code: u8,
    json: bool,
    crawl_file: &mut CrawlFile,
    host: &Host,
) -> Result<u8, CliError> {
    let EndedCrawl { settings, ending, hint, is_urgent } = ended;
    let mut summary = build::summary(settings, ending, hint);
    summary.skipping = report_file::skipping(settings)?;
    summary.links_unmatched = report_file::unmatched_links(settings, summary.links_skipped)?;
    if !is_urgent {
        let lost = report_file::lost_words(settings, summary.near_duplicates);
        (summary.words_dropped, summary.words_lost) = (lost.words, lost.lost);
        summary.predicting = report_file::predicting(settings, summary.predicted);
        summary.recrawl = report_file::recrawling(settings);
        let report = report_file::at_end(settings);
        summary.report = report.path;
        if report.is_damaged && code == exit::FINISHED {
            code = exit::CORRUPT;
            crawl_file.end(build::stopped(settings, ending), code)?;
        }
    }
    let text = match json {
        true => format!("{}\n", summary.json()),
        false => summary.text(stdout_color(settings.log.color), stdout_width()),
    };
    host.print_summary(&text)?;
    Ok(code)
}

/// Reads the archived pages of the generation before, if there is one.
fn archived(settings: &Settings) -> Result<Option<Arc<ArchivedPages>>, CliError> {
    let read = ArchivedPages::read(&settings.out.dir).map_err(opening_error)?;
    Ok(read.map(Arc::new))
}

/// Runs a crawl with its monitor.
async fn run_monitored(
    settings: &Settings,
    crawl: Crawl,
    listener: Option<TcpListener>,
    host: &Host,
) -> Result<(Monitor, Result<CrawlEnding, CrawlError>, ReceivedSignals), CliError> {
    let (stop, _) = watch::channel(Stop::Go);
    let signalled = host.listen(stop.clone(), signals::OF_CRAWLS).map_err(anyhow::Error::from)?;
    let controls = CrawlControls { pause: crawl.watch().pause_switch(), signals: signalled.clone() };
    let dashboard = listener.and_then(|listener| start_dashboard(settings, listener, controls));
    let most_pages = settings.scope.max_pages.filter(|most| *most > 0);
    let monitor = monitor(settings, host, &crawl, dashboard, most_pages);
    let (end_monitor, ended) = oneshot::channel();
    let monitoring = tokio::spawn(monitor.run(ended));
    let ending = crawl.run(stop).await;
    let _ = end_monitor.send(());
    let monitor = monitoring.await.map_err(anyhow::Error::from)?;
    Ok((monitor, ending, signalled))
}

/// Returns the monitor of a crawl, which may end after `most_pages`.
pub(super) fn monitor(
    settings: &Settings,
    host: &Host,
    crawl: &Crawl,
    dashboard: Option<Dashboard>,
    most_pages: Option<u64>,
) -> Monitor {
    let mode = if host.is_embedded() { ProgressMode::None } else { settings.progress_mode() };
    let progress = Progress::new(mode, stderr_color(settings.log.color), stderr_can_draw());
    let limits = CrawlLimits { pages: most_pages, time: settings.scope.max_time };
    Monitor::new(host.clone(), settings.out.dir.clone(), crawl.watch(), progress, dashboard, limits)
}

/// Starts the dashboard and prints its URL. The crawl continues without if that fails.
pub(super) fn start_dashboard(
    settings: &Settings,
    listener: TcpListener,
    controls: CrawlControls,
) -> Option<Dashboard> {
    match Dashboard::start(listener, settings.dashboard.public, controls) {
        Ok(dashboard) => {
            write_stderr(&format!("dashboard: {}", dashboard.url()));
            Some(dashboard)
        }
        Err(error) => {
            write_stderr(&format!("warning: no dashboard: {error}"));
            None
        }
    }
}

/// Prints warnings about risky settings before the first request.
fn warn(settings: &Settings, seeds: &Seeds) {
    let mut warnings = Vec::new();
    if settings.politeness.ignore_robots {
        warnings.push("robots.txt is ignored: make sure that the site owners agree");
    }
    if settings.http.insecure {
        warnings.push("certificates are not checked: anyone can impersonate a server");
    }
    let is_local =
        |seed: &Seed| matches!(seed.url.host(), "localhost" | "[::1]") || seed.url.host().starts_with("127.");
    if !settings.is_given("identity.contact") && !seeds.seeds.iter().all(is_local) {
        warnings.push("no --contact given: name an address where the sites' owners can reach you");
    }
    let login = seeds.with_user.first().map(|seed| {
        format!("{seed}: user and password of a seed are not sent; give them as --header 'Authorization: Basic ...'")
    });
    let warnings = warnings.into_iter().map(str::to_owned).chain(login).chain(setup::detector_warnings(settings));
    for warning in warnings {
        write_stderr(&format!("warning: {warning}"));
    }
}

fn exit_code(settings: &Settings, ending: &CrawlEnding, signalled: Option<u8>) -> u8 {
    match ending.reason {
        StopReason::Signal => return signalled.unwrap_or(exit::INTERRUPTED),
        StopReason::DiskFull => return exit::DISK_FULL,
        StopReason::Failed => return exit::INTERNAL,
        StopReason::Time | StopReason::Finished => {}
    }
    let counts = OutcomeCounts::from(&ending.totals.outcomes);
    let is_waiting = ending.deferred.contains_key(Deferral::HostTrouble.name());
    if counts.compared() == 0 && (!ending.failed_seeds.is_empty() || is_waiting) {
        return exit::NOTHING_FETCHED;
    }
    gates::exceeded(settings, counts).map_or(exit::FINISHED, |limit| limit.code)
}
