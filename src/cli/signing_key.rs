//! The private key of `--sign`, and of `jwks`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::cli::config::settings::Settings;
use crate::cli::errors::CliError;
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::fetch::{RequestSigner, SigningKey};

/// Most bytes of a file that are read. Keys have a few hundred.
const MOST_BYTES: u64 = 64 * 1024;

const MAKE_KEY: &str = "make a key: openssl genpkey -algorithm ed25519 -out key.pem";

/// Reads the key, if one is set. A key and its directory go together.
pub(super) fn read(settings: &Settings) -> Result<Option<Arc<RequestSigner>>, CliError> {
    match (&settings.identity.sign_key, &settings.identity.signature_agent) {
        (None, None) => Ok(None),
        (Some(path), Some(directory)) => {
            let key = read_file(path, &settings.source("identity.sign_key").to_string())?;
            Ok(Some(Arc::new(RequestSigner::new(key, &directory.0))))
        }
        (Some(path), None) => {
            let source = settings.source("identity.sign_key");
            let message = format!("{source}: --signature-agent is missing: sites could not find the key");
            let publish = format!(
                "publish the output of 'ndcrawl jwks {}', and name its address: --signature-agent https://HOST/PATH",
                path.display()
            );
            Err(CliError::usage(message).with_hint(publish))
        }
        (None, Some(_)) => {
            let source = settings.source("identity.signature_agent");
            let message = format!("{source}: --sign is missing: without a key, no request is signed");
            Err(CliError::usage(message).with_hint("name the file of the private key: --sign key.pem"))
        }
    }
}

/// Reads a private key. Warns if others can read it.
pub(super) fn read_file(path: &Path, source: &str) -> Result<SigningKey, CliError> {
    let failed = |why: &str| CliError::usage(format!("{source}: {}: {why}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error.to_string()).with_hint(MAKE_KEY))?;
    let is_shared = is_shared(&file);
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| failed(&error.to_string()).with_hint(MAKE_KEY))?;
    let key = SigningKey::read(&bytes).map_err(|error| {
        let hint = format!("it takes a private key of Ed25519, as PKCS#8 in PEM or as JWK; {MAKE_KEY}");
        failed(&error.to_string()).with_hint(hint)
    })?;
    if is_shared {
        let remedy = "other users can read the private key; allow its owner alone to (chmod 600)";
        write_stderr(&terminal_safe(&format!("warning: {source}: {}: {remedy}", path.display())));
    }
    Ok(key)
}

#[cfg(unix)]
fn is_shared(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_shared(_: &File) -> bool {
    false
}
