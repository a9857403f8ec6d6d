//! The commands `config show` and `config init`.

use std::io::Write;
use std::path::Path;

use crate::cli::args::{ConfigCommand, ShowArguments};
use crate::cli::config::template;
use crate::cli::errors::{CliError, exit};
use crate::cli::startup::load_settings;
use crate::cli::terminal::{print, write_stderr};
use crate::cli::terminal_safe::terminal_safe;

/// Prints the settings in force, or writes a configuration file.
pub(super) fn run(command: &ConfigCommand) -> Result<u8, CliError> {
    match command {
        ConfigCommand::Show(arguments) => show_config(arguments),
        ConfigCommand::Init { file, force } => init_config(file, *force),
    }
}

fn show_config(arguments: &ShowArguments) -> Result<u8, CliError> {
    let settings = load_settings(arguments.keys.given.clone(), &arguments.config)?;
    if arguments.json {
        return print(&format!("{}\n", template::listing_json(&settings)));
    }
    print(&template::listing(&settings))
}

fn init_config(path: &Path, force: bool) -> Result<u8, CliError> {
    if path == Path::new("-") {
        return print(&template::template());
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(!force).create(true).truncate(force);
    let written = options.open(path).and_then(|mut file| file.write_all(template::template().as_bytes()));
    match written {
        Ok(()) => {
            write_stderr(&format!("wrote {}", terminal_safe(&path.display().to_string())));
            Ok(exit::FINISHED)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CliError::usage(format!("{}: the file exists", path.display())).with_hint("overwrite it with --force"))
        }
        Err(error) => Err(CliError::usage(format!("{}: {error}", path.display()))),
    }
}
