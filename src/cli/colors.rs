//! Color where it means something: errors red, warnings yellow, the duplicate rate bold.

use console::Style;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// The figure that a crawl is about.
    Rate,
}

/// Returns the text as a terminal shows it, or as it is without color.
pub fn toned(text: &str, tone: Tone, color: bool) -> String {
    let style = match tone {
        Tone::Error => Style::new().red(),
        Tone::Warning => Style::new().yellow(),
        Tone::Rate => Style::new().bold(),
    };
    if color { style.force_styling(true).apply_to(text).to_string() } else { text.to_owned() }
}

/// Colors the first word of an error or a warning.
pub fn with_colored_label(line: &str, color: bool) -> String {
    let labels = [("error:", Tone::Error), ("warning:", Tone::Warning)];
    let found = labels.into_iter().find_map(|(label, tone)| Some((label, tone, line.strip_prefix(label)?)));
    match found {
        Some((label, tone, rest)) => toned(label, tone, color) + rest,
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_alone_is_colored() {
        let error = "error: a: warning: b\nhint: c";
        assert_eq!(with_colored_label(error, true), "\u{1b}[31merror:\u{1b}[0m a: warning: b\nhint: c");
        assert_eq!(with_colored_label("warning: a", true), "\u{1b}[33mwarning:\u{1b}[0m a");
        assert_eq!(with_colored_label(error, false), error);
        assert_eq!(with_colored_label("dashboard: http://a/", true), "dashboard: http://a/");
    }
}
