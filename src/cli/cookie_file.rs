//! The file of `--cookie-file`.

use std::sync::Arc;
use std::time::SystemTime;

use crate::cli::config::settings::Settings;
use crate::cli::errors::CliError;
use crate::cli::format::counted;
use crate::cli::terminal::write_stderr;
use crate::fetch::Cookies;

/// Reads the cookies, if a file is set. Warns of some that have expired; that all have is an error.
pub(super) fn read(settings: &Settings) -> Result<Option<Arc<Cookies>>, CliError> {
    let Some(path) = &settings.http.cookie_file else { return Ok(None) };
    let source = settings.source("http.cookie_file");
    let failed = |place: String, why: &str| CliError::usage(format!("{source}: {}{place}: {why}", path.display()));
    let file = std::fs::read(path).map_err(|error| failed(String::new(), &error.to_string()))?;
    let cookies = Cookies::read(&file, SystemTime::now()).map_err(|(line, error)| {
        failed(format!(":{line}"), &error.to_string())
            .with_hint("export the cookies as cookies.txt (Netscape format), as curl and wget read it")
    })?;
    let (count, expired) = (cookies.count(), cookies.expired());
    if count == 0 {
        return Err(failed(String::new(), "the file holds no cookies"));
    }
    if count == expired {
        let error = failed(String::new(), "all its cookies have expired");
        return Err(error.with_hint("log in and export them again"));
    }
    if expired > 0 {
        let cookies = counted(count as u64, "cookie", "cookies");
        write_stderr(&format!("warning: {source}: {}: {expired} of {cookies} expired", path.display()));
    }
    Ok(Some(Arc::new(cookies)))
}
