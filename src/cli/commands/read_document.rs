//! The command `read-document`: the program reads PDF for itself, in a process of its own.

use crate::cli::args::ReadDocumentArguments;
use crate::cli::errors::CliError;

/// Reads documents from stdin until it is closed.
#[cfg(feature = "pdf")]
pub(super) fn run(arguments: &ReadDocumentArguments) -> Result<u8, CliError> {
    use std::io::{stdin, stdout};

    use crate::cli::errors::exit;

    // The panic of a document is its answer.
    std::panic::set_hook(Box::new(|_| {}));
    crate::documents::serve(stdin().lock(), stdout().lock(), &arguments.limits())
        .map_err(|error| CliError::new(exit::INTERNAL, format!("reading documents: {error}")))?;
    Ok(exit::FINISHED)
}

/// Refuses, since this build has no reader.
#[cfg(not(feature = "pdf"))]
pub(super) fn run(_: &ReadDocumentArguments) -> Result<u8, CliError> {
    Err(CliError::usage("this build cannot read PDF").with_hint("build with --features pdf"))
}
