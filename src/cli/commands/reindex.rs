//! The command `reindex`: rebuilds the index, or with `--force` the whole store.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::args::ReindexArguments;
use crate::cli::errors::{CliError, crawl_error, exit, opening_error};
use crate::cli::format::{counted, thousands};
use crate::cli::output_dir::{DEDUP, EarlierRun};
use crate::cli::saved_settings;
use crate::cli::seeds::Seeds;
use crate::cli::setup;
use crate::cli::startup::defaults_with_log;
use crate::cli::terminal::write_stdout;
use crate::cli::terminal_safe::terminal_safe;
use crate::crawl::{ArchivedPages, RebuildReport, rebuild};
use crate::store::{self, CrawlVersion, Identity, Store, StoreReader};

const CACHE_BYTES: u64 = 16 << 20;

/// Rebuilds the store if it cannot be opened; otherwise drops only what can be derived again.
pub(super) fn run(arguments: &ReindexArguments) -> Result<u8, CliError> {
    defaults_with_log(arguments.verbosity)?;
    let dir = &arguments.dir;
    let source = store::take_back(dir).map_err(opening_error)?;
    match StoreReader::open(dir, CACHE_BYTES) {
        Ok((reader, _)) if !arguments.force => {
            reader.forget_snapshot();
            let text = "The store can be opened: its index is rebuilt when the crawl is resumed.\n\
                        hint: --force rebuilds all of it and loses what only the store holds\n";
            let object = json!({"rebuilt": false});
            write_stdout(if arguments.json { format!("{object}\n") } else { text.to_owned() }.as_str())?;
            return Ok(exit::FINISHED);
        }
        Err(error @ (store::Error::InUse { .. } | store::Error::Io { .. })) => return Err(opening_error(error)),
        _ => {}
    }
    let rebuilt = all(dir, &source)?;
    let text = if arguments.json { format!("{}\n", object(&rebuilt)) } else { text(&rebuilt) };
    write_stdout(&text)?;
    Ok(exit::FINISHED)
}

/// Rebuilds the store from the files in `source`.
fn all(dir: &Path, source: &Path) -> Result<RebuildReport, CliError> {
    let file = store::read_json_file(&source.join("crawl.json")).map_err(opening_error)?.unwrap_or_default();
    if file["command"] == DEDUP {
        let error = CliError::new(exit::CORRUPT, format!("{}: the folder holds the results of dedup", dir.display()));
        return Err(error.with_hint("run dedup again on its inputs, with --fresh --force"));
    }
    let settings = saved_settings::of_file(source)?.with("out.dir", &dir.display().to_string())?;
    if !settings.dedup.against.is_empty() {
        let message = format!("{}: the crawl was compared with other crawls (--against)", dir.display());
        let error = CliError::new(exit::CORRUPT, message);
        return Err(
            error.with_hint("its store cannot be rebuilt; pages.jsonl and the WARC files hold all stored pages")
        );
    }
    let seeds = Seeds { seeds: EarlierRun::read(&settings)?.seeds, ..Seeds::default() };
    let setup = setup::setup(&settings, &seeds)?;
    let identity = Identity::new(setup.rendering(), settings.fingerprint());
    store::set_aside_to_rebuild(dir).map_err(opening_error)?;
    let (store, opened) =
        Store::open_to_rebuild(dir, setup::store_options(&settings), &identity).map_err(opening_error)?;
    let none = || CliError::new(exit::CORRUPT, format!("{}: no earlier store", dir.display()));
    let generation = CrawlVersion::last(dir).map_err(opening_error)?.ok_or_else(none)?;
    let archived = ArchivedPages::read(dir).map_err(opening_error)?.ok_or_else(none)?;
    let (rebuilt, store) = rebuild(setup, store, &opened.identity, &generation, &archived).map_err(crawl_error)?;
    store::write_crawl_file(dir, &crawl_file(file, &opened.identity.crawl)).map_err(opening_error)?;
    store::rebuilt(dir).map_err(opening_error)?;
    store.close().map_err(opening_error)?;
    Ok(rebuilt)
}

/// Returns `crawl.json` for a crawl that is to be resumed.
fn crawl_file(mut file: Value, crawl: &str) -> Value {
    file["crawl"] = json!(crawl);
    for key in ["ended", "stopped", "exit_code"] {
        file.as_object_mut().map(|file| file.remove(key));
    }
    file
}

fn object(rebuilt: &RebuildReport) -> Value {
    json!({
        "rebuilt": true, "outcomes": rebuilt.outcomes, "kept": rebuilt.kept, "waiting": rebuilt.waiting,
        "unreadable": rebuilt.unreadable, "unreadable_count": rebuilt.unreadable_count,
        "damaged_lines": rebuilt.damaged_lines, "duplicates_without_record": rebuilt.duplicates,
        "pages_without_links": rebuilt.without_links,
    })
}

fn text(rebuilt: &RebuildReport) -> String {
    let mut text = format!(
        "Rebuilt: {} with outcomes, {} among them; {} without an outcome\n\nLost with the store:\n",
        counted(rebuilt.outcomes, "URL", "URLs"),
        counted(rebuilt.kept, "stored page", "stored pages"),
        thousands(rebuilt.waiting),
    );
    let lost = [
        (rebuilt.duplicates, "records of duplicates: their verdicts stay; their copies are compared again"),
        (rebuilt.without_links, "pages whose links are lost: duplicates and pages marked noindex"),
        (rebuilt.unreadable_count, "stored pages that can't be read from the WARC files: fetched again"),
        (rebuilt.damaged_lines, "lines of pages.jsonl that can't be read: their URLs may be fetched again"),
    ];
    for (count, what) in lost.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("{:>12}  {what}\n", thousands(count));
    }
    for url in &rebuilt.unreadable {
        text += &format!("{:>14}{}\n", "", terminal_safe(url));
    }
    text += "              request counts, response times and failures of each host; robots.txt is fetched again\n";
    text + "\nThe command of the crawl resumes it. The old store is in earlier/.\n"
}
