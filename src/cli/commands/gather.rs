//! The command `gather`: makes an ordinary folder from a crawl of a cluster.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::args::GatherArguments;
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::cluster_settings::{expect_crawl, seeds_of_crawl, settings_of};
use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, cluster_error, crawl_error, exit, opening_error};
use crate::cli::format::counted;
use crate::cli::output_dir::CrawlFile;
use crate::cli::run_crawl::runtime;
use crate::cli::run_worker::shared_setup;
use crate::cli::setup;
use crate::cli::startup::defaults_with_log;
use crate::cli::step_progress::StepProgress;
use crate::cli::terminal::{print, write_stderr};
use crate::cluster::{CrawlCut, CrawlRow, GatherProgress, Gathered, Session, gather, open, test_point};
use crate::crawl::finish_folder;
use crate::model::RestRow;
use crate::store::{Identity, Store, delete_crawl, read_json_file, write_json_file};

/// What a folder that is being made has besides those of an ordinary one: the state of the crawl that it is made of.
const CUT: &str = "gathering.json";

/// Gathers, and returns the exit code.
pub(super) fn run(arguments: &GatherArguments) -> Result<u8, CliError> {
    defaults_with_log(arguments.verbosity)?;
    let (connector, name) = (connector(&arguments.cluster)?, crawl_name(&arguments.cluster_name)?);
    let partial = partial_folder(&arguments.out)?;
    let runtime = runtime()?;
    let (row, gathered) = runtime.block_on(async {
        let session = connector.connect().await.map_err(cluster_error)?;
        let row = open(&session, &name).await.map_err(cluster_error)?;
        expect_crawl(&row)?;
        session.see_one_state().await.map_err(cluster_error)?;
        let interrupted = interrupted_cut(&session, &row, &partial, &arguments.out).await?;
        let mut folder = UnfinishedFolder::open(&row, &partial)?;
        // Hosts are read for the first commit, in the state of which the cut is.
        let cut = match interrupted.filter(|_| folder.store.mark().number > 0) {
            Some(cut) => {
                write_stderr(&format!(
                    "going on with an interrupted gather of the crawl as it was then; to begin again, delete {}",
                    partial.display()
                ));
                cut
            }
            None => {
                let cut = CrawlCut::read(&session, &row).await.map_err(cluster_error)?;
                save_cut(&partial, &cut)?;
                cut
            }
        };
        let mut progress = StepProgress::new("gathering", arguments.verbosity.quiet);
        let told = |now: GatherProgress| progress.tell(now.step, now.done, now.all);
        let gathered = gather(&session, &row, &cut, &mut folder.store, &arguments.archives, told).await;
        let gathered = gathered.map_err(cluster_error)?;
        drop(progress);
        folder.note_rests(cut.rests())?;
        folder.finish(&row, &cut, gathered.commits)?;
        Ok::<_, CliError>((row, gathered))
    })?;
    put_in_place(&partial, &arguments.out)?;
    tell(arguments, &row, &gathered)
}

/// Refuses a folder that has something in it.
fn expect_new(folder: &Path) -> Result<(), CliError> {
    let is_taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file();
    if !is_taken {
        return Ok(());
    }
    let error = CliError::new(exit::NOT_RESUMABLE, format!("{}: there is something in its place", folder.display()));
    Err(error.with_hint("choose a new folder with -o DIR"))
}

/// Returns the folder in which all is made before it gets its name: that of an interrupted gathering may have got it.
fn partial_folder(folder: &Path) -> Result<PathBuf, CliError> {
    if folder.join(CUT).exists() {
        return Ok(folder.to_owned());
    }
    expect_new(folder)?;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(folder.with_file_name(format!(".{name}.gathering")))
}

/// Returns the state of the crawl that an interrupted gathering has begun to gather. Deletes what it has left if that is
/// of no use; a folder that has its name already is complete, and refused.
async fn interrupted_cut(
    session: &Session,
    row: &CrawlRow,
    partial: &Path,
    folder: &Path,
) -> Result<Option<CrawlCut>, CliError> {
    if !partial.exists() {
        return Ok(None);
    }
    let saved = read_json_file(&partial.join(CUT)).ok().flatten();
    if let Some(cut) = saved.and_then(|saved| serde_json::from_value::<CrawlCut>(saved).ok())
        && cut.is_of(session, row).await.map_err(cluster_error)?
    {
        return Ok(Some(cut));
    }
    if partial == folder {
        return expect_new(folder).map(|()| None);
    }
    let entries = std::fs::read_dir(partial)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>());
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", partial.display()));
    delete_crawl(partial, &entries.map_err(failed)?).map_err(opening_error)?;
    Ok(None)
}

fn save_cut(partial: &Path, cut: &CrawlCut) -> Result<(), CliError> {
    let damaged = |error: serde_json::Error| CliError::new(exit::CORRUPT, format!("the state of the crawl: {error}"));
    let cut = serde_json::to_value(cut).map_err(damaged)?;
    write_json_file(&partial.join(CUT), &cut).map(drop).map_err(opening_error)
}

/// Gives a folder that is complete its name.
fn put_in_place(partial: &Path, folder: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", folder.display()));
    if partial != folder {
        if folder.exists() {
            std::fs::remove_dir(folder).map_err(failed)?;
        }
        std::fs::rename(partial, folder).map_err(failed)?;
    }
    test_point("gather-renamed");
    std::fs::remove_file(folder.join(CUT)).map_err(failed)
}

/// A folder that is being made.
struct UnfinishedFolder {
    settings: Settings,
    store: Store,
    crawl_file: CrawlFile,
    identity: Identity,
}

impl UnfinishedFolder {
    /// Makes the folder, or opens what an interrupted gathering has left.
    fn open(row: &CrawlRow, path: &Path) -> Result<Self, CliError> {
        let name = row.plan.name.text();
        let mut settings = settings_of(row)?;
        settings.out.dir = path.to_owned();
        let seeds = seeds_of_crawl(&row.plan.settings, name)?;
        let setup = shared_setup(&settings, &seeds)?;
        let identity = Identity { crawl: name.to_owned(), ..Identity::new(setup.rendering(), settings.fingerprint()) };
        let opened = Store::open(path, setup::store_options(&settings), &identity);
        let (store, _) = opened.map_err(opening_error)?;
        let crawl_file = CrawlFile::begin(&settings, &seeds, name, None)?;
        Ok(Self { settings, store, crawl_file, identity })
    }

    /// Has whoever goes on in the folder wait as long as hosts have asked the workers to.
    fn note_rests(&self, rests: &[RestRow]) -> Result<(), CliError> {
        let (log, _) = self.store.rests().map_err(opening_error)?;
        rests.iter().for_each(|rest| log.note(rest));
        Ok(())
    }

    /// Takes in the links that were on their way, writes the lines of URLs that were never fetched, if the crawl was over,
    /// and closes the folder. `commits` are those of the crawl.
    fn finish(mut self, row: &CrawlRow, cut: &CrawlCut, commits: u64) -> Result<(), CliError> {
        let mark = self.store.mark();
        if mark.finished.is_none() {
            // A commit more has the links.
            let mail = if mark.number > commits { Vec::new() } else { cut.mail().to_vec() };
            let seeds = seeds_of_crawl(&row.plan.settings, row.plan.name.text())?;
            let options = shared_setup(&self.settings, &seeds)?.frontier;
            let crawl = &self.identity.crawl;
            finish_folder(options, &mut self.store, crawl, mail, cut.is_over()).map_err(crawl_error)?;
        }
        test_point("gather-finished");
        self.store.close().map_err(opening_error)?;
        self.crawl_file.end((!cut.is_over()).then_some("gathered"), exit::FINISHED)
    }
}

fn tell(arguments: &GatherArguments, row: &CrawlRow, gathered: &Gathered) -> Result<u8, CliError> {
    let Gathered { lines, pages, uncompleted, files, .. } = *gathered;
    let folder = arguments.out.display();
    if arguments.json {
        let told = json!({
            "crawl": row.plan.name.text(), "urls": lines, "pages": pages, "uncompleted": uncompleted, "archives": files,
        });
        return print(&format!("{told}\n"));
    }
    let mut text = format!(
        "{folder}: {} with an outcome, {} decided, {}\n",
        counted(lines, "URL", "URLs"),
        counted(pages, "page", "pages"),
        counted(files, "archive file", "archive files")
    );
    if uncompleted > 0 {
        let pages = counted(uncompleted, "page was", "pages were");
        text.push_str(&format!("{pages} decided by a worker that was lost, and not fetched again yet\n"));
    }
    text.push_str(&format!("next: ndcrawl report {folder}\n"));
    print(&text)
}
