//! What may be written to a terminal, and how stdout and stderr are written at all.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};

use super::error::{CliError, exit};
use super::value_enums::ColorChoice;

/// The text with every control character escaped, so that nothing that comes from a page can move
/// the cursor, change colours or forge a line. Bidirectional overrides count as control characters.
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            // Writing to a String cannot fail.
            let _ = write!(safe, "{}", character.escape_default());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What of the environment bears on colour.
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
    /// Reads the variables of this process.
    pub fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR"),
            dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            force: set("CLICOLOR_FORCE") && std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
        }
    }
}

/// Whether a stream may be coloured: the flag has the first word, then the environment, then
/// whether the stream is a terminal.
pub fn color_allowed(choice: ColorChoice, environment: ColorEnvironment, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if environment.no_color => false,
        ColorChoice::Auto if environment.force => true,
        ColorChoice::Auto => is_terminal && !environment.dumb,
    }
}

/// Whether stdout may be coloured.
pub fn stdout_color(choice: ColorChoice) -> bool {
    color_allowed(choice, ColorEnvironment::read(), io::stdout().is_terminal())
}

/// Whether stderr may be coloured.
pub fn stderr_color(choice: ColorChoice) -> bool {
    color_allowed(choice, ColorEnvironment::read(), io::stderr().is_terminal())
}

/// Whether a bar may be drawn on stderr: it is a terminal on which the cursor can be moved.
pub fn stderr_can_draw() -> bool {
    io::stderr().is_terminal() && !ColorEnvironment::read().dumb
}

/// Writes data to stdout. A reader that has gone away (`| head`) is no error.
pub fn write_stdout(data: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::new(exit::DISK_FULL, format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one line to stderr, above the progress bar if there is one. Nobody can be told if that
/// fails, so it is not reported.
pub fn write_stderr(line: &str) {
    super::progress::above_bar(|| {
        let _ = writeln!(io::stderr().lock(), "{line}");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_a_page_do_not_reach_the_terminal() {
        assert_eq!(terminal_safe("\u{1b}[31mred\r\n\u{9b}x\u{202e}"), r"\u{1b}[31mred\r\n\u{9b}x\u{202e}");
        assert_eq!(terminal_safe("Grüße, 世界"), "Grüße, 世界");
    }

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
