//! Writes to stdout and stderr, and decides whether they are colored.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Term;

use crate::cli::colors::with_colored_label;
use crate::cli::config::value_enums::ColorChoice;
use crate::cli::errors::{CliError, exit};

/// The environment variables that decide about color.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorEnvironment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
    /// `CLICOLOR_FORCE` is set and neither empty nor `0`.
    pub force: bool,
}

impl ColorEnvironment {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR"),
            dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            force: set("CLICOLOR_FORCE") && std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
        }
    }
}

/// Returns whether a stream is colored.
///
/// The flag wins, then the environment; without either, a terminal is colored.
pub fn color_allowed(choice: ColorChoice, environment: ColorEnvironment, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if environment.no_color => false,
        ColorChoice::Auto if environment.force => true,
        ColorChoice::Auto => is_terminal && !environment.dumb,
    }
}

/// Returns whether stdout is colored.
pub fn stdout_color(choice: ColorChoice) -> bool {
    color_allowed(choice, ColorEnvironment::read(), io::stdout().is_terminal())
}

/// Returns whether stderr is colored.
pub fn stderr_color(choice: ColorChoice) -> bool {
    color_allowed(choice, ColorEnvironment::read(), io::stderr().is_terminal())
}

/// Returns the columns of text on stdout: those of the terminal, at most 80.
pub fn stdout_width() -> usize {
    const MOST: u16 = 80;
    const LEAST: u16 = 40;
    let width = Term::stdout().size_checked().map_or(MOST, |(_, width)| width);
    usize::from(width.clamp(LEAST, MOST))
}

/// Returns whether stderr is a terminal that can move its cursor, as a progress bar needs.
pub fn stderr_can_draw() -> bool {
    io::stderr().is_terminal() && !ColorEnvironment::read().dumb
}

/// Writes data to stdout. A reader that has closed the pipe (`| head`) is not an error.
pub fn write_stdout(data: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::new(exit::DISK_FULL, format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes data to stdout and returns the exit code of success.
pub fn print(data: &str) -> Result<u8, CliError> {
    write_stdout(data).map(|()| exit::FINISHED)
}

/// Hides the progress bar, runs the closure once and shows the bar again.
pub type BarHook = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// The hook of the progress bar that is shown.
static BAR_HOOK: Mutex<Option<Arc<BarHook>>> = Mutex::new(None);

fn bar_hook() -> MutexGuard<'static, Option<Arc<BarHook>>> {
    // A panic while the lock was held leaves a valid value.
    BAR_HOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the hook that hides a progress bar while stderr is written; `None` removes it.
pub fn set_bar_hook(hook: Option<Arc<BarHook>>) {
    *bar_hook() = hook;
}

/// Runs `write`, which writes whole lines to stderr, while the progress bar is hidden.
///
/// `write` must not call this function again.
pub fn above_bar(write: &mut dyn FnMut()) {
    // The lock is released before writing, so that the hook can be removed meanwhile.
    let hook = bar_hook().clone();
    match hook {
        Some(hook) => hook(write),
        None => write(),
    }
}

/// Whether messages on stderr are colored, as far as the user has said.
static COLOR: Mutex<ColorChoice> = Mutex::new(ColorChoice::Auto);

/// Sets whether messages on stderr are colored.
pub fn choose_color(choice: ColorChoice) {
    *COLOR.lock().unwrap_or_else(PoisonError::into_inner) = choice;
}

/// Writes one line to stderr, above the progress bar if there is one. Errors and warnings have a colored label.
///
/// An error is ignored: there is nowhere left to report it.
pub fn write_stderr(line: &str) {
    let choice = *COLOR.lock().unwrap_or_else(PoisonError::into_inner);
    let line = with_colored_label(line, stderr_color(choice));
    above_bar(&mut || {
        let _ = writeln!(io::stderr().lock(), "{line}");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_and_leave() {
        let plain = ColorEnvironment::default();
        let no_color = ColorEnvironment { no_color: true, ..plain };
        let dumb = ColorEnvironment { dumb: true, ..plain };
        let force = ColorEnvironment { force: true, ..plain };
        assert!(color_allowed(ColorChoice::Auto, plain, true));
        assert!(!color_allowed(ColorChoice::Auto, plain, false));
        assert!(!color_allowed(ColorChoice::Auto, no_color, true));
        assert!(!color_allowed(ColorChoice::Auto, dumb, true));
        assert!(color_allowed(ColorChoice::Auto, force, false));
        assert!(color_allowed(ColorChoice::Always, no_color, false));
        assert!(!color_allowed(ColorChoice::Never, force, true));
    }
}
