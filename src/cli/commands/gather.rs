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
use crate::cli::startup::settings_with_log;
use crate::cli::terminal::{print, write_stderr};
use crate::cluster::{CrawlRow, CrawlState, Gathered, gather, open};
use crate::crawl::finish_folder;
use crate::model::{Mailed, RestRow};
use crate::store::{Identity, Store};

/// Gathers, and returns the exit code.
pub(super) fn run(arguments: &GatherArguments) -> Result<u8, CliError> {
    settings_with_log(arguments.verbosity.given().into_iter().collect())?;
    let (connector, name) = (connector(&arguments.cluster)?, crawl_name(&arguments.cluster_name)?);
    expect_new(&arguments.out)?;
    let partial = partial_folder(&arguments.out)?;
    let runtime = runtime()?;
    let (row, gathered) = runtime.block_on(async {
        let session = connector.connect().await.map_err(cluster_error)?;
        let row = open(&session, &name).await.map_err(cluster_error)?;
        expect_crawl(&row)?;
        session.see_one_state().await.map_err(cluster_error)?;
        let mut folder = NewFolder::make(&row, &partial)?;
        let told = |pages: u64| {
            if pages % 100_000 < 1000 {
                write_stderr(&format!("{} so far", counted(pages, "page", "pages")));
            }
        };
        let gathered = gather(&session, &row, &mut folder.store, &arguments.archives, told).await;
        let mut gathered = gathered.map_err(cluster_error)?;
        let (mail, rests) = (std::mem::take(&mut gathered.mail), std::mem::take(&mut gathered.rests));
        folder.note_rests(&rests)?;
        folder.finish(&row, mail)?;
        Ok::<_, CliError>((row, gathered))
    })?;
    std::fs::rename(&partial, &arguments.out)
        .map_err(|error| CliError::usage(format!("{}: {error}", arguments.out.display())))?;
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

/// Returns the folder in which all is made before it gets its name. What a killed run has left there is deleted.
fn partial_folder(folder: &Path) -> Result<PathBuf, CliError> {
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", folder.display()));
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let partial = folder.with_file_name(format!(".{name}.gathering"));
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(failed)?;
    }
    if folder.exists() {
        std::fs::remove_dir(folder).map_err(failed)?;
    }
    Ok(partial)
}

/// A folder that is being made.
struct NewFolder {
    settings: Settings,
    store: Store,
    crawl_file: CrawlFile,
    identity: Identity,
}

impl NewFolder {
    fn make(row: &CrawlRow, path: &Path) -> Result<Self, CliError> {
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

    /// Takes in the links that were on their way, writes the lines of URLs that were never fetched, if the crawl is over,
    /// and closes the folder.
    fn finish(mut self, row: &CrawlRow, mail: Vec<Mailed>) -> Result<(), CliError> {
        let is_over = row.state == CrawlState::Finished;
        let seeds = seeds_of_crawl(&row.plan.settings, row.plan.name.text())?;
        let options = shared_setup(&self.settings, &seeds)?.frontier;
        finish_folder(options, &mut self.store, &self.identity.crawl, mail, is_over).map_err(crawl_error)?;
        self.store.close().map_err(opening_error)?;
        self.crawl_file.end((!is_over).then_some("gathered"), exit::FINISHED)
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
