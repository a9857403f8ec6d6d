//! `verify postgres://…`: decides a shared crawl once more, and compares its log with its archives.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::args::VerifyArguments;
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::cluster_settings::settings_of;
use crate::cli::dividable::dividable;
use crate::cli::errors::{CliError, cluster_error};
use crate::cli::format::counted;
use crate::cli::run_crawl::runtime;
use crate::cli::setup;
use crate::cli::startup::defaults_with_log;
use crate::cluster::{ArchiveCheck, LogCheck, ReplayOptions, Sample, check_archives, check_log, open};

use super::findings::Findings;

/// Pages with another verdict that are named.
const NAMED: usize = 20;

/// Checks a shared crawl: 0 if it is intact, 1 if not.
pub(super) fn run(arguments: &VerifyArguments) -> Result<u8, CliError> {
    defaults_with_log(arguments.verbosity)?;
    if arguments.loss {
        let error = CliError::usage("--loss: the texts of a shared crawl are in the folders of its workers");
        return Err(error.with_hint("ndcrawl gather makes one folder of it, which verify --loss checks"));
    }
    let (connector, name) = (connector(&arguments.dir.to_string_lossy())?, crawl_name(&arguments.cluster_name)?);
    let sample = sample(arguments.sample);
    let (log, archives) = runtime()?.block_on(async {
        let session = connector.connect().await.map_err(cluster_error)?;
        let crawl = open(&session, &name).await.map_err(cluster_error)?;
        let options = dividable(setup::detect_options(&settings_of(&crawl)?));
        let how = ReplayOptions { options, sample };
        session.see_one_state().await.map_err(cluster_error)?;
        let log = check_log(&session, &crawl, how).await.map_err(cluster_error)?;
        let archives = check_archives(&session, &crawl, &arguments.archives, sample).await.map_err(cluster_error)?;
        Ok::<_, CliError>((log, archives))
    })?;
    let findings = Findings {
        name: format!("the crawl '{}'", name.text()),
        figures: figures(&log, &archives).into(),
        problems: problems(&log, &archives),
        problem_count: problem_count(&log, &archives),
    };
    super::tell(&findings, arguments.json)
}

/// Each run takes another sample.
fn sample(share: Option<f64>) -> Sample {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    share.map_or(Sample::ALL, |share| Sample::new(share, now))
}

fn problems(log: &LogCheck, archives: &ArchiveCheck) -> Vec<String> {
    let differing = log.replay.differing.iter().take(NAMED);
    let mut problems: Vec<String> =
        differing.map(|page| format!("page {page}: one process gives another verdict")).collect();
    let others = log.replay.other_answers.iter().take(NAMED);
    problems.extend(others.map(|turn| format!("turn {turn}: one process has other pages decided again")));
    problems.extend(log.twice.1.iter().map(|url| format!("{url} has two outcomes")));
    let counts = [
        (log.undecided, "an outcome and no verdict in any turn"),
        (log.completed_withdrawn, "an outcome although they were withdrawn"),
        (log.changed, "another body and text than those that were judged"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        problems.push(format!("{} {what}", counted(count, "page has", "pages have")));
    }
    problems.extend(archives.problems.iter().cloned());
    problems
}

fn problem_count(log: &LogCheck, archives: &ArchiveCheck) -> u64 {
    let of_log = log.twice.0 + log.undecided + log.completed_withdrawn + log.changed;
    (log.replay.differing.len() + log.replay.other_answers.len()) as u64 + of_log + archives.problem_count
}

fn figures(log: &LogCheck, archives: &ArchiveCheck) -> [(&'static str, u64); 10] {
    [
        ("turns", log.replay.turns),
        ("pages with a verdict", log.replay.pages),
        ("pages decided once more", log.replay.checked),
        ("URLs with an outcome", log.urls),
        ("pages whose worker was lost, to be fetched again", log.uncompleted),
        ("withdrawals of pages that were gone then", log.replay.withdrawn),
        ("duplicates of a page that was withdrawn later", log.naming_withdrawn),
        ("WARC files", archives.files),
        ("WARC records of pages", archives.records),
        ("WARC records read", archives.checked),
    ]
}
