//! Turns settings into the options of each module.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::ReadDocumentArguments;
use crate::cli::config::http_values::Proxy;
use crate::cli::config::schema::{self, Key};
use crate::cli::config::settings::Settings;
use crate::cli::config::source::Source;
use crate::cli::config::value_enums::{self, Noarchive, Obedience};
use crate::cli::errors::CliError;
use crate::cli::own_program::OwnProgram;
use crate::cli::seeds::Seeds;
use crate::model::{Detector, KeepRule, Normalizer, Relevance};
use crate::{crawl, detect, documents, fetch, frontier, index, pagetext, store};

/// Returns the setup of a crawl. Reads the file of synonyms if one is needed.
pub(super) fn setup(settings: &Settings, seeds: &Seeds) -> Result<crawl::CrawlSetup, CliError> {
    let seeds: Vec<crawl::Seed> =
        seeds.seeds.iter().map(|seed| crawl::Seed { url: seed.url.clone(), fallback: seed.fallback.clone() }).collect();
    let detect = detect_options(settings);
    Ok(crawl::CrawlSetup {
        fetch: fetch_options(settings, &seeds),
        seeds,
        normalizer: Normalizer::new(settings.normalise_options()),
        crawl: crawl::Options { engine: engine(settings)?, ..crawl_options(settings) },
        frontier: frontier_options(settings),
        render: render_options(settings, &detect)?,
        documents: document_options(settings)?,
        detect,
        against: None,
        archived: None,
        focus: focus_options(settings)?,
        shared: None,
        #[cfg(all(feature = "browser", unix))]
        headless: None,
    })
}

/// Returns the engine that selects the next URL, if this build has it.
fn engine(settings: &Settings) -> Result<crawl::Engine, CliError> {
    match settings.engine {
        value_enums::EngineKind::Frontier => Ok(crawl::Engine::Frontier),
        #[cfg(feature = "spider")]
        value_enums::EngineKind::Spider => Ok(crawl::Engine::Spider),
        #[cfg(not(feature = "spider"))]
        value_enums::EngineKind::Spider => {
            let error = settings.refuse("engine", "this build lacks the engine spider");
            Err(error.with_hint("build with --features spider, or leave out --engine"))
        }
    }
}

/// Returns the rendering options, if pages are rendered. Looks for Chromium.
#[cfg(all(feature = "browser", unix))]
pub(super) fn headless_options(settings: &Settings) -> Result<Option<crawl::HeadlessOptions>, CliError> {
    let set = &settings.browser;
    if set.mode == value_enums::PageSource::Static {
        return Ok(None);
    }
    let executable = match &set.executable {
        Some(path) if path.is_file() => path.clone(),
        Some(path) => {
            return Err(settings.refuse("browser.executable", format!("{}: no such file", path.display())));
        }
        None => crate::headless::find().ok_or_else(|| {
            settings.refuse("browser.mode", "Chromium not found")
                .with_hint("install it (apt install chromium, dnf install chromium, brew install --cask chromium), or set the key browser.executable")
        })?,
    };
    let browser = crate::headless::Options {
        executable,
        tabs: set.tabs.get(),
        timeout: set.timeout,
        max_requests: set.max_requests,
        max_bytes: usize::try_from(set.max_bytes.0).unwrap_or(usize::MAX),
    };
    Ok(Some(crawl::HeadlessOptions { all: set.mode == value_enums::PageSource::Browser, browser }))
}

/// Rejects rendering, which this build lacks.
#[cfg(not(all(feature = "browser", unix)))]
pub(super) fn reject_headless(settings: &Settings) -> Result<(), CliError> {
    if settings.browser.mode == value_enums::PageSource::Static {
        return Ok(());
    }
    Err(settings
        .refuse("browser.mode", "this build cannot render pages")
        .with_hint("build for a Unix system with --features browser, or use --page-source static"))
}

/// Returns the media types of pages: with `--pdf`, PDF is one.
pub(super) fn accepted_types(settings: &Settings) -> Vec<String> {
    let documents = documents::PDF_TYPES.iter().filter(|_| settings.pdf.read).map(|name| (*name).to_owned());
    let mut types: Vec<String> = settings.http.accept_types.iter().cloned().chain(documents).collect();
    if settings.http.markdown && !fetch::accepts(&types, fetch::MARKDOWN) {
        types.push(fetch::MARKDOWN.to_owned());
    }
    types
}

/// Returns how PDF is read, if it is.
pub(super) fn document_options(settings: &Settings) -> Result<Option<documents::Options>, CliError> {
    if !settings.pdf.read {
        return Ok(None);
    }
    if cfg!(not(feature = "pdf")) {
        return Err(settings.refuse("pdf.read", "this build cannot read PDF").with_hint(
            "build with --features pdf, or leave it out; --accept-type application/pdf keeps PDF without text",
        ));
    }
    let limits = documents::Limits {
        memory: settings.pdf.memory.0,
        time: settings.pdf.timeout,
        text: usize::try_from(settings.http.max_body.0).unwrap_or(usize::MAX),
    };
    let OwnProgram { program, mut arguments } = OwnProgram::find()
        .map_err(|error| settings.refuse("pdf.read", format!("the program does not find itself: {error}")))?;
    arguments.extend(ReadDocumentArguments::for_limits(&limits));
    Ok(Some(documents::Options { program, arguments, limits }))
}

/// Returns the options of the page reader. Reads the file of synonyms if one is needed.
pub(super) fn render_options(settings: &Settings, detect: &detect::Options) -> Result<pagetext::Options, CliError> {
    Ok(pagetext::Options {
        parser: settings.render.parser,
        robots_agent: settings.identity.robots_agent.0.clone(),
        rules: settings.render.stemming,
        order: detect.order(),
        synonyms: synonyms(settings, detect.detector)?,
        running: !settings.focus.terms.is_empty(),
        ..pagetext::Options::default()
    })
}

/// Returns the options of the detector.
pub(super) fn detect_options(settings: &Settings) -> detect::Options {
    let dedup = &settings.dedup;
    let second = dedup.second_check;
    let has_second = second == detect::SecondCheck::OwnWords;
    detect::Options {
        detector: dedup.detector,
        threshold: dedup.threshold.unwrap_or(detect::Options::default_threshold(dedup.detector, has_second)),
        second,
        text_memory: usize::try_from(dedup.memory.0).unwrap_or(usize::MAX),
        lose_at_most: dedup.lose_at_most,
        thresholding: dedup.thresholding.unwrap_or(detect::Options::default_thresholding(dedup.detector)),
        sentence_slack: dedup.sentence_slack,
        filter: dedup.filter,
        min_terms: dedup.min_terms as usize,
        weights: dedup.field_weights,
        within: dedup.within,
        mode: dedup.matching,
        settling: detect::Settling::default(),
        dd: detect::dd::DdOptions { store_below: dedup.store_below },
        fuzzy: detect::fuzzy::FuzzyOptions { query: pagetext::query_terms(&query(settings)), ..dedup.fuzzy.clone() },
    }
}

/// Returns warnings about settings of the detector.
pub(super) fn detector_warnings(settings: &Settings) -> Vec<String> {
    let warnings = threshold_warning(settings).into_iter().chain(filter_warning(settings));
    warnings.chain(unused_options(settings)).collect()
}

/// Whether own words are compared beside the weights.
fn has_second(settings: &Settings) -> bool {
    settings.dedup.detector == Detector::Mwo && settings.dedup.second_check == detect::SecondCheck::OwnWords
}

/// Returns a warning if a filter of weights is set, and pages are found by their runs of words.
fn filter_warning(settings: &Settings) -> Option<String> {
    let is_unused = has_second(settings) && settings.dedup.filter == index::FilterKind::Paper;
    is_unused.then(|| {
        let of = settings.source("dedup.filter");
        format!("{of} has no effect beside own words: add --detector-option second_check=none")
    })
}

/// Returns a warning if the threshold is so low that nearly all pages are near-duplicates of each other.
fn threshold_warning(settings: &Settings) -> Option<String> {
    const LOW: u32 = 50_000;
    // Own words decide whatever the threshold.
    let threshold =
        settings.dedup.threshold.filter(|threshold| threshold.millionths() < LOW && !has_second(settings))?;
    Some(format!(
        "--threshold {threshold}: nearly every page is a near-duplicate of another; the default is {}",
        detect::Options::default_threshold(settings.dedup.detector, has_second(settings))
    ))
}

/// Returns a warning for each flag that sets an option which the detector in use does not have.
fn unused_options(settings: &Settings) -> Vec<String> {
    let detector = settings.dedup.detector;
    let is_unused = |key: &&Key| !key.detectors.is_empty() && !key.detectors.contains(&detector);
    let unused = schema::all().filter(is_unused).filter_map(|key| match settings.source(key.name) {
        Source::Flag(flag) => {
            let names = key.detectors.iter().map(|detector| detector.name()).collect::<Vec<_>>().join(" and ");
            Some(format!("{flag} has no effect: only {names} uses it; --detector is {}", detector.name()))
        }
        _ => None,
    });
    unused.collect()
}

/// Returns the topic of a focused crawl, if any. Reads the files it names.
fn focus_options(settings: &Settings) -> Result<Option<crawl::FocusOptions>, CliError> {
    let focus = &settings.focus;
    if focus.terms.is_empty() {
        return Ok(None);
    }
    let examples = focus.terms.iter().map(|text| example(settings, text)).collect::<Result<_, _>>()?;
    let least = focus.min_score.map(|least| Relevance::of(f64::from(least)));
    Ok(Some(crawl::FocusOptions { examples, least, folder: settings.out.dir.clone() }))
}

/// Returns the example that a value of `--focus` stands for.
fn example(settings: &Settings, text: &str) -> Result<crawl::Example, CliError> {
    if let Some(path) = text.strip_prefix('@') {
        let read = std::fs::read(path).map_err(|error| settings.refuse("focus.terms", format!("{path}: {error}")))?;
        return Ok(crawl::Example::Text(String::from_utf8_lossy(&read).into_owned()));
    }
    let is_url = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    if !is_url {
        return Ok(crawl::Example::Text(text.to_owned()));
    }
    let url = Normalizer::new(settings.normalise_options()).absolute(text);
    let url = url.map_err(|error| settings.refuse("focus.terms", format!("{text}: {error}")))?;
    Ok(crawl::Example::Page(url))
}

/// Returns the query of the detector `fuzzy`: its own, else the words of the topic.
fn query(settings: &Settings) -> String {
    if settings.dedup.query.is_empty() {
        let is_words = |text: &&String| !text.starts_with('@') && !text.contains("://");
        return settings.focus.terms.iter().filter(is_words).cloned().collect::<Vec<_>>().join(" ");
    }
    settings.dedup.query.clone()
}

/// Reads the synonyms, for the detector `extended-tdw` only.
fn synonyms(settings: &Settings, detector: Detector) -> Result<Option<Arc<pagetext::Synonyms>>, CliError> {
    if detector != Detector::ExtendedTdw {
        return Ok(None);
    }
    let Some(path) = &settings.dedup.synonyms else { return Ok(Some(Arc::new(pagetext::Synonyms::shipped()))) };
    let name = path.display().to_string();
    let table = std::fs::read(path).map_err(|error| settings.refuse("dedup.synonyms", format!("{name}: {error}")))?;
    let read = pagetext::Synonyms::read(&name, &table);
    read.map(|table| Some(Arc::new(table))).map_err(|error| CliError::usage(error.to_string()))
}

/// Returns the options of the store.
pub(super) fn store_options(settings: &Settings) -> store::Options {
    store::Options {
        warc: settings.out.warc,
        warc_size: settings.out.warc_size.0,
        min_free: settings.out.min_free.0,
        host_name_for_warc: host_name(),
        user_agent: settings.identity.user_agent.0.clone(),
        robots: if settings.politeness.ignore_robots { "ignore" } else { "obey" }.to_owned(),
        ..store::Options::default()
    }
}

/// Returns the host name, reduced to letters, digits, dots and hyphens for file names.
fn host_name() -> String {
    let name: String =
        system_name().chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).take(64).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

#[cfg(unix)]
pub(super) fn system_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
pub(super) fn system_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

pub(super) fn crawl_options(settings: &Settings) -> crawl::Options {
    crawl::Options {
        concurrency: settings.politeness.concurrency.get(),
        retries: settings.http.retries,
        max_redirects: settings.http.max_redirects,
        duplicate_links: settings.dedup.links,
        keep_duplicates: settings.dedup.keep || settings.dedup.keep_rule != KeepRule::First,
        keep_rule: settings.dedup.keep_rule.clone(),
        // Without an archive there is no place for it.
        keep_text: settings.dedup.keep_text && settings.out.warc,
        obey_nofollow: settings.politeness.nofollow == Obedience::Obey,
        obey_noarchive: settings.politeness.noarchive == Noarchive::Obey,
        // Pages in a sitemap are one link away from the seed.
        sitemaps: settings.scope.sitemaps != value_enums::Sitemaps::Off && settings.scope.depth > 0,
        trust_lastmod: settings.scope.trust_lastmod,
        recrawl_after: settings.scope.recrawl_after,
        follow_links: settings.scope.sitemaps != value_enums::Sitemaps::Only,
        soft_404: settings.scope.soft_404,
        random_seed: settings.random_seed,
        max_time: settings.scope.max_time,
        ..crawl::Options::default()
    }
}

fn frontier_options(settings: &Settings) -> frontier::Options {
    frontier::Options {
        scope: settings.scope.kind,
        include: settings.scope.include.clone(),
        exclude: settings.scope.exclude.clone(),
        depth: settings.scope.depth,
        max_pages: settings.scope.max_pages.unwrap_or(0),
        max_pages_per_host: settings.scope.max_pages_per_host.unwrap_or(0),
        host_concurrency: settings.politeness.host_concurrency.get(),
        trap_guard: settings.scope.trap_guard,
        focus: (!settings.focus.terms.is_empty()).then(|| frontier::FocusOptions {
            exploration: f64::from(settings.focus.exploration),
            weights: settings.focus.weights,
        }),
        skip_predicted: settings.dust.predicted == value_enums::PredictedUrls::Skip,
        follows_duplicates: settings.dedup.links.follows_all(),
        rules: Vec::new(),
        random_seed: settings.random_seed,
        own: None,
    }
}

fn fetch_options(settings: &Settings, seeds: &[crawl::Seed]) -> fetch::Options {
    let (http, politeness) = (&settings.http, &settings.politeness);
    let seed_origins: BTreeSet<String> = seeds.iter().map(|seed| seed.url.origin()).collect();
    let contact = &settings.identity.contact.0;
    fetch::Options {
        user_agent: settings.identity.user_agent.0.clone(),
        from: contact.contains('@').then(|| contact.trim_start_matches("mailto:").to_owned()),
        robots_agent: settings.identity.robots_agent.0.clone(),
        headers: http.headers.iter().map(|header| (header.name.clone(), header.value.clone())).collect(),
        header_origins: (!http.header_everywhere).then(|| seed_origins.into_iter().collect()),
        proxy: match &http.proxy {
            Proxy::Environment => None,
            Proxy::Direct => Some(String::new()),
            Proxy::Url(url) => Some(url.to_string()),
        },
        timeout: http.timeout,
        connect_timeout: phase_timeout(settings, "http.connect_timeout", http.connect_timeout),
        header_timeout: phase_timeout(settings, "http.header_timeout", http.header_timeout),
        idle_timeout: phase_timeout(settings, "http.idle_timeout", http.idle_timeout),
        retries: http.retries,
        host_patience: politeness.host_patience,
        max_retry_after: http.max_retry_after,
        max_body: usize::try_from(http.max_body.0).unwrap_or(usize::MAX),
        max_header: usize::try_from(http.max_header.0).unwrap_or(usize::MAX),
        accept_types: accepted_types(settings),
        prefer_markdown: http.markdown,
        insecure: http.insecure,
        ca_file: http.ca_file.clone(),
        http1_only: http.http1_only,
        resolve: http.resolve.clone(),
        allow_nets: settings.security.allow_nets.clone(),
        allow_private: settings.security.allow_private,
        delay: politeness.delay,
        ip_delay: politeness.ip_delay,
        host_concurrency: politeness.host_concurrency.get(),
        max_crawl_delay: politeness.max_crawl_delay,
        ignore_robots: politeness.ignore_robots,
        preferences: politeness.preferences,
        ..fetch::Options::default()
    }
}

/// Returns the time limit of one phase of a request. Who gives `--timeout` means each phase for which nothing else is
/// given.
fn phase_timeout(settings: &Settings, key: &str, limit: Duration) -> Duration {
    let whole = settings.http.timeout;
    let is_meant = settings.is_given("http.timeout") && !settings.is_given(key);
    if is_meant { whole } else { limit.min(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn an_option_of_another_detector_is_warned_of() {
        let warnings = |pairs: &[(&str, &str)]| detector_warnings(&settings(pairs));
        let query = ("dedup.query", "a");
        let expected = "--dedup.query has no effect: only fuzzy uses it; --detector is mwo";
        assert_eq!(warnings(&[query]), [expected]);
        assert!(warnings(&[query, ("dedup.detector", "fuzzy")]).is_empty());
        assert!(warnings(&[("dedup.second_check", "none"), ("dedup.thresholding", "paper")]).is_empty());
        let filter = ("dedup.filter", "paper");
        assert!(warnings(&[filter])[0].contains("has no effect beside own words"));
        assert!(warnings(&[filter, ("dedup.second_check", "none")]).is_empty());
    }
}
