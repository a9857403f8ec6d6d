//! The command `jwks`: prints the public part of a key, as sites look for it.

use std::path::Path;

use crate::cli::errors::CliError;
use crate::cli::signing_key;
use crate::cli::terminal::print;

/// Prints the key directory (JSON Web Key Set) of a private key.
pub(super) fn run(key: &Path) -> Result<u8, CliError> {
    print(&format!("{}\n", signing_key::read_file(key, "KEY")?.directory()))
}
