//! The commands that need the other rooms: `crawl`, `demo`, `verify`.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::net::TcpListener;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use super::arguments::{DemoArguments, RunFlags, VerifyArguments};
use super::dashboard::{self, Dashboard};
use super::error::{CliError, exit};
use super::monitor::Monitor;
use super::output_dir::{self, BEGIN_ANEW, CrawlFile, Earlier, Phase, store_error};
use super::progress::Progress;
use super::seeds::{Seed, Seeds};
use super::settings::Settings;
use super::signals::Signalled;
use super::status::RunState;
use super::summary_build;
use super::terminal::{stderr_can_draw, stderr_color, stdout_color, terminal_safe, write_stderr, write_stdout};
use super::value_enums::EngineKind;
use super::{against, reporting, rules, setup, signals};
use crate::crawl::{AgainstError, Archived, Crawl, CrawlError, Ending, Stop, StopReason};
use crate::demo as demo_site;
use crate::model::{CanonicalUrl, Normaliser, OutcomeKind};
use crate::store::{self, Identity, Store};

/// Crawls, and gives the exit code. `seeds` may be empty if there is something to resume.
pub fn crawl(settings: Settings, seeds: Seeds, flags: RunFlags) -> Result<u8, CliError> {
    run(&settings, seeds, flags, &runtime()?)
}

/// Serves a small site on loopback and crawls it. The settings are defaults, but for the log.
pub fn demo(settings: Settings, arguments: &DemoArguments) -> Result<u8, CliError> {
    let runtime = runtime()?;
    let out = arguments.out.display().to_string();
    let settings = [
        ("out.dir", out.as_str()),
        ("politeness.delay", "0"),
        ("politeness.ip_delay", "0"),
        ("politeness.host_concurrency", "1"),
        ("security.allow_private", "true"),
        ("http.proxy", "none"),
    ]
    .into_iter()
    .try_fold(settings, |settings, (key, text)| settings.with(key, text))?;
    let site = Arc::new(demo_site::Site::new(0));
    let server = runtime.block_on(demo_site::serve(site)).map_err(anyhow::Error::from)?;
    let url = Normaliser::new(settings.normalise_options()).absolute(&server.url()).map_err(anyhow::Error::from)?;
    let seeds = Seeds { seeds: vec![Seed { line: "demo".to_owned(), url, fallback: None }], ..Seeds::default() };
    // The port is another one each time, so there is never anything to resume.
    let flags = RunFlags { fresh: true, force: true, json: arguments.json, ..RunFlags::default() };
    let code = run(&settings, seeds, flags, &runtime)?;
    runtime.block_on(server.stop()).map_err(anyhow::Error::from)?;
    Ok(code)
}

/// Checks that an output folder is whole: 0 if it is, 1 if not.
pub fn verify(_: Settings, arguments: &VerifyArguments) -> Result<u8, CliError> {
    let report = store::verify(&arguments.dir).map_err(|error| store_error(error, Phase::Opening))?;
    let checked = &report.checked;
    let figures = [
        ("urls", checked.urls),
        ("terms", checked.terms),
        ("pages", checked.pages),
        ("outcomes", checked.outcomes),
        ("hosts", checked.hosts),
        ("lines of pages.jsonl", checked.page_lines),
        ("lines of errors.jsonl", checked.error_lines),
        ("WARC files", checked.warc_files),
        ("WARC records", checked.warc_records),
    ];
    let text = if arguments.json {
        let figures: serde_json::Map<_, _> =
            figures.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
        let object = serde_json::json!({
            "sound": report.is_sound(), "checked": figures,
            "problems": report.problems, "problem_count": report.problem_count,
        });
        format!("{object}\n")
    } else {
        let mut text: String = figures.iter().map(|(name, count)| format!("{count:>12} {name}\n")).collect();
        for problem in &report.problems {
            text += &format!("problem: {}\n", terminal_safe(problem));
        }
        text += &match report.problem_count {
            0 => format!("{} is sound\n", arguments.dir.display()),
            many => format!("{} has {many} problems\n", arguments.dir.display()),
        };
        text
    };
    write_stdout(&text)?;
    Ok(if report.is_sound() { exit::FINISHED } else { exit::NOTHING_FETCHED })
}

fn runtime() -> Result<Runtime, CliError> {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    built.map_err(|error| CliError::new(exit::INTERNAL, format!("no runtime: {error}")))
}

fn run(settings: &Settings, mut seeds: Seeds, flags: RunFlags, runtime: &Runtime) -> Result<u8, CliError> {
    if flags.resume && settings.engine == EngineKind::Spider {
        return Err(CliError::usage("--resume: spider cannot go on with a crawl").with_hint(BEGIN_ANEW));
    }
    let listener = dashboard::bind(settings)?;
    // They may lie in the folder that begins anew.
    let given_rules = rules::given(settings)?;
    output_dir::prepare(&settings.out.dir, flags)?;
    let earlier = Earlier::read(settings)?;
    output_dir::forget_fruitless(&settings.out.dir, &earlier)?;
    let known: HashSet<CanonicalUrl> = seeds.seeds.iter().map(|seed| seed.url.clone()).collect();
    seeds.seeds.extend(earlier.seeds.into_iter().filter(|seed| !known.contains(&seed.url)));
    warn(settings, &seeds);
    let mut setup = setup::setup(settings, &seeds)?;
    setup.against = against::read(settings, &setup.rendering())?;
    setup.archived = archived(settings)?;
    #[cfg(feature = "browser")]
    {
        setup.drawing = setup::drawing(settings)?;
    }
    #[cfg(not(feature = "browser"))]
    setup::refuse_drawing(settings)?;
    let against = setup.against.clone();
    let wanted = Identity::new(setup.rendering(), settings.fingerprint() + &against::line(against.as_deref()));
    let opened = Store::open(&settings.out.dir, setup::store_options(settings), &wanted);
    let (store, opened) = opened.map_err(|error| store_error(error, Phase::Opening))?;
    output_dir::compare(settings, &opened, against.as_deref())?;
    output_dir::expect_resumable(settings, &opened)?;
    setup.frontier.rules = rules::to_begin_with(given_rules, &settings.out.dir, flags.recrawl && opened.fresh)?;
    let was_finished = opened.mark.finished.is_some();
    let crawl = Crawl::open(setup, store, &opened.identity).map_err(crawl_error)?;
    let started = earlier.started.filter(|_| !opened.fresh);
    let mut crawl_file = CrawlFile::begin(settings, &seeds, &opened.identity.crawl, started.as_deref())?;
    let requests_before = opened.mark.totals.requests;

    let (monitor, ending, signalled) = runtime.block_on(watched(settings, crawl, listener))?;
    let ending = match ending {
        Ok(ending) => ending,
        Err(error) => {
            monitor.end(RunState::Stopped);
            let error = crawl_error(error);
            // On a full disk this fails, too; what failed first is what is told.
            let _ = crawl_file.end(Some("failed"), error.code);
            return Err(error);
        }
    };
    let mut code = exit_code(settings, &ending, signalled.exit_code());
    let state = if ending.reason == StopReason::Finished { RunState::Finished } else { RunState::Stopped };
    // Before the monitor lets go of the folder: who switches a rule then must not be overruled.
    rules::keep(&settings.out.dir, &ending.rules)?;
    monitor.end(state);
    crawl_file.end(summary_build::stopped(settings, &ending), code)?;
    let hint = hint(settings, &ending, was_finished && ending.totals.requests == requests_before, code);
    // A person who sees the summary on the terminal need not be told twice.
    if flags.json || !std::io::stdout().is_terminal() {
        for (seed, why) in &ending.failed_seeds {
            write_stderr(&terminal_safe(&format!("warning: seed {seed}: {why}")));
        }
        if let Some(hint) = &hint {
            write_stderr(&format!("hint: {hint}"));
        }
    }
    let mut summary = summary_build::summary(settings, &ending, hint);
    summary.skipping = reporting::skipping(settings)?;
    if !signalled.is_urgent() {
        summary.predicting = reporting::predicting(settings, summary.predicted);
        let report = reporting::at_end(settings);
        summary.report = report.path;
        if report.is_damaged && code == exit::FINISHED {
            code = exit::CORRUPT;
            crawl_file.end(summary_build::stopped(settings, &ending), code)?;
        }
    }
    let text = match flags.json {
        true => format!("{}\n", summary.json()),
        false => summary.text(stdout_color(settings.log.color)),
    };
    write_stdout(&text)?;
    Ok(code)
}

/// Pages of the generation before, if there is one.
fn archived(settings: &Settings) -> Result<Option<Arc<Archived>>, CliError> {
    let read = Archived::read(&settings.out.dir).map_err(|error| store_error(error, Phase::Opening))?;
    Ok(read.map(Arc::new))
}

/// Runs a crawl under watch.
async fn watched(
    settings: &Settings,
    crawl: Crawl,
    listener: Option<TcpListener>,
) -> Result<(Monitor, Result<Ending, CrawlError>, Signalled), CliError> {
    let (stop, _) = watch::channel(Stop::Go);
    let signalled = signals::listen(stop.clone(), signals::OF_CRAWLS).map_err(anyhow::Error::from)?;
    let progress = Progress::new(settings.progress_mode(), stderr_color(settings.log.color), stderr_can_draw());
    let monitor = Monitor::new(
        settings.out.dir.clone(),
        crawl.watch(),
        progress,
        listener.and_then(|listener| dashboard(settings, listener)),
    );
    let (end_monitor, ended) = oneshot::channel();
    let monitoring = tokio::spawn(monitor.run(ended));
    let ending = crawl.run(stop).await;
    let _ = end_monitor.send(());
    let monitor = monitoring.await.map_err(anyhow::Error::from)?;
    Ok((monitor, ending, signalled))
}

/// Serves the dashboard and says where. If that fails, the crawl does without.
fn dashboard(settings: &Settings, listener: TcpListener) -> Option<Dashboard> {
    match Dashboard::start(listener, settings.dashboard.public) {
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

/// What a person should know before the first request.
fn warn(settings: &Settings, seeds: &Seeds) {
    let mut warnings = Vec::new();
    if settings.politeness.ignore_robots {
        warnings.push("robots.txt is ignored: make sure that the sites' owners agree");
    }
    if settings.http.insecure {
        warnings.push("certificates are not checked: pages may come from anybody");
    }
    let is_local =
        |seed: &Seed| matches!(seed.url.host(), "localhost" | "[::1]") || seed.url.host().starts_with("127.");
    if !settings.is_given("identity.contact") && !seeds.seeds.iter().all(is_local) {
        warnings.push("no --contact given: name an address where the sites' owners can reach you");
    }
    for warning in warnings {
        write_stderr(&format!("warning: {warning}"));
    }
}

fn exit_code(settings: &Settings, ending: &Ending, signalled: Option<u8>) -> u8 {
    let outcome = |kind| ending.totals.outcomes.get(&kind).copied().unwrap_or(0);
    match ending.reason {
        StopReason::Signal => return signalled.unwrap_or(exit::INTERRUPTED),
        StopReason::DiskFull => return exit::DISK_FULL,
        StopReason::Failed => return exit::INTERNAL,
        StopReason::Time | StopReason::Finished => {}
    }
    let pages = outcome(OutcomeKind::Stored)
        + outcome(OutcomeKind::NearDuplicate)
        + outcome(OutcomeKind::ExactDuplicate)
        + outcome(OutcomeKind::NotModified);
    let failed = outcome(OutcomeKind::Failed);
    if pages == 0 && !ending.failed_seeds.is_empty() {
        exit::NOTHING_FETCHED
    } else if settings.fail_over.is_some_and(|percent| percent.is_exceeded_by(failed, pages + failed)) {
        exit::TOO_MANY_FAILURES
    } else {
        exit::FINISHED
    }
}

fn hint(settings: &Settings, ending: &Ending, nothing_done: bool, code: u8) -> Option<String> {
    let out = terminal_safe(&settings.out.dir.display().to_string()).into_owned();
    if nothing_done && code == exit::FINISHED {
        return Some(format!(
            "the crawl in {out} was finished before; --fresh --force starts anew, --out takes another folder"
        ));
    }
    match ending.reason {
        _ if settings.engine == EngineKind::Spider
            && (ending.reason != StopReason::Finished || ending.budget_used_up) =>
        {
            Some(format!("spider cannot go on with a crawl: {BEGIN_ANEW}"))
        }
        StopReason::Finished if ending.budget_used_up => Some("a higher limit and the same command go on".to_owned()),
        StopReason::Finished if code == exit::NOTHING_FETCHED => {
            Some("nothing could be fetched from any seed: is the network there, are the addresses right?".to_owned())
        }
        StopReason::Finished => None,
        StopReason::DiskFull => Some("free some space (--min-free), then the same command goes on".to_owned()),
        _ => Some("the same command goes on where this one stopped".to_owned()),
    }
}

pub(super) fn crawl_error(error: CrawlError) -> CliError {
    use crate::detect::DetectError;
    use crate::frontier::FrontierError;
    let error = match error {
        CrawlError::Store(error) => return store_error(error, Phase::Running),
        CrawlError::Fetch(error) => return CliError::usage(error.to_string()),
        CrawlError::Focus(error) => return CliError::usage(format!("--focus: {error}")),
        CrawlError::Against(AgainstError::Spool(_)) => return CliError::new(exit::DISK_FULL, error.to_string()),
        other => anyhow::Error::from(other),
    };
    let code = match error.downcast_ref() {
        Some(
            CrawlError::Lost { .. }
            | CrawlError::Against(AgainstError::Changed)
            | CrawlError::Frontier(FrontierError::Log { .. } | FrontierError::Missing(_) | FrontierError::Damaged { .. })
            | CrawlError::Detect(
                DetectError::Source { .. }
                | DetectError::RepeatedTerm { .. }
                | DetectError::OutOfOrder { .. }
                | DetectError::UnknownTerm { .. }
                | DetectError::UnknownOriginal { .. },
            ),
        ) => exit::CORRUPT,
        _ => exit::INTERNAL,
    };
    CliError::new(code, format!("{error:#}"))
}
