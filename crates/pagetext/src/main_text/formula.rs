//! Formulas in TeX that stand in the text of a page, for a script to draw.

/// Marks around formulas, those of which another one is the beginning last.
const MARKS: [(&str, &str); 4] = [("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("$", "$")];
/// What begins the environments that scripts draw without other marks.
const BEGIN: &str = "\\begin{";
/// Longest formula, in bytes.
const LONGEST: usize = 4000;

/// Returns where the first formula of a text begins and ends, with its marks.
pub(super) fn find(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(next) = text[from..].find(['$', '\\']) {
        from += next;
        let rest = &text[from..];
        let end = MARKS.iter().find_map(|(open, close)| {
            let inside = rest.strip_prefix(open)?;
            let length = length(inside, close)?;
            Some(open.len() + length + close.len())
        });
        if let Some(end) = end.or_else(|| environment(rest)).filter(|end| *end <= LONGEST) {
            return Some((from, from + end));
        }
        // The character behind a backslash is escaped.
        let step = rest.chars().take(if rest.starts_with('\\') { 2 } else { 1 }).map(char::len_utf8).sum::<usize>();
        from += step;
    }
    None
}

/// Returns the length of the formula that a closing mark ends. Between dollars there is no white space at its ends, and no
/// digit behind it: sums of money are no formulas.
fn length(inside: &str, close: &str) -> Option<usize> {
    let is_dollar = close == "$";
    if is_dollar && inside.starts_with(|c: char| c.is_whitespace() || c == '$') {
        return None;
    }
    let mut places = inside.match_indices(close).map(|(at, _)| at).take_while(|at| *at <= LONGEST);
    places.find(|&at| {
        let is_escaped = is_dollar && inside[..at].ends_with('\\');
        let is_open = inside[..at].ends_with(char::is_whitespace)
            || inside[at + close.len()..].starts_with(|c: char| c.is_ascii_digit());
        at > 0 && !is_escaped && !(is_dollar && is_open)
    })
}

/// Returns the length of an environment, which its name ends as well.
fn environment(text: &str) -> Option<usize> {
    let name = text.strip_prefix(BEGIN)?.split_once('}')?.0;
    let is_name = !name.is_empty() && name.len() < 20 && name.chars().all(|c| c.is_ascii_alphabetic() || c == '*');
    let end = format!("\\end{{{name}}}");
    text.find(&end).filter(|_| is_name).map(|at| at + end.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_told_from_money_and_paths() {
        for (text, expected) in [
            ("a $x_1$ b", Some("$x_1$")),
            ("a $$x$$ b", Some("$$x$$")),
            (r"a \(x\) b", Some(r"\(x\)")),
            (r"a \[x\] b", Some(r"\[x\]")),
            (r"\begin{align*}a&b\end{align*}", Some(r"\begin{align*}a&b\end{align*}")),
            ("$5 and $10", None),
            ("from $5 to $ 10", None),
            (r"C:\dir\$x", None),
            (r"\$x$", None),
            ("costs $", None),
            ("", None),
        ] {
            assert_eq!(find(text).map(|(from, to)| &text[from..to]), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_searched(parts in prop::collection::vec("\\$|\\\\|\\(|\\)|\\[|\\]|\\PC| |begin\\{a\\}", 0..30)) {
            let text = parts.concat();
            if let Some((from, to)) = find(&text) {
                prop_assert!(from < to && text.is_char_boundary(from) && text.is_char_boundary(to));
            }
        }
    }
}
