//! Does a document type trigger quirks mode? WHATWG HTML, section 13.2.6.4.1 ("The "initial" insertion
//! mode"). One quirk matters here: a table does not close a paragraph.

/// Prefixes of public identifiers that trigger quirks mode.
const PREFIXES: [&str; 54] = [
    "-//advasoft ltd//dtd html 3.0 aswedit + extensions//",
    "-//as//dtd html 3.0 aswedit + extensions//",
    "-//ietf//dtd html 2.0 level 1//",
    "-//ietf//dtd html 2.0 level 2//",
    "-//ietf//dtd html 2.0 strict level 1//",
    "-//ietf//dtd html 2.0 strict level 2//",
    "-//ietf//dtd html 2.0 strict//",
    "-//ietf//dtd html 2.0//",
    "-//ietf//dtd html 2.1e//",
    "-//ietf//dtd html 3.0//",
    "-//ietf//dtd html 3.2 final//",
    "-//ietf//dtd html 3.2//",
    "-//ietf//dtd html 3//",
    "-//ietf//dtd html level 0//",
    "-//ietf//dtd html level 1//",
    "-//ietf//dtd html level 2//",
    "-//ietf//dtd html level 3//",
    "-//ietf//dtd html strict level 0//",
    "-//ietf//dtd html strict level 1//",
    "-//ietf//dtd html strict level 2//",
    "-//ietf//dtd html strict level 3//",
    "-//ietf//dtd html strict//",
    "-//ietf//dtd html//",
    "-//metrius//dtd metrius presentational//",
    "-//microsoft//dtd internet explorer 2.0 html strict//",
    "-//microsoft//dtd internet explorer 2.0 html//",
    "-//microsoft//dtd internet explorer 2.0 tables//",
    "-//microsoft//dtd internet explorer 3.0 html strict//",
    "-//microsoft//dtd internet explorer 3.0 html//",
    "-//microsoft//dtd internet explorer 3.0 tables//",
    "-//netscape comm. corp.//dtd html//",
    "-//netscape comm. corp.//dtd strict html//",
    "-//o'reilly and associates//dtd html 2.0//",
    "-//o'reilly and associates//dtd html extended 1.0//",
    "-//o'reilly and associates//dtd html extended relaxed 1.0//",
    "-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//",
    "-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//",
    "-//spyglass//dtd html 2.0 extended//",
    "-//sq//dtd html 2.0 hotmetal + extensions//",
    "-//sun microsystems corp.//dtd hotjava html//",
    "-//sun microsystems corp.//dtd hotjava strict html//",
    "-//w3c//dtd html 3 1995-03-24//",
    "-//w3c//dtd html 3.2 draft//",
    "-//w3c//dtd html 3.2 final//",
    "-//w3c//dtd html 3.2//",
    "-//w3c//dtd html 3.2s draft//",
    "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//",
    "-//w3c//dtd html experimental 19960712//",
    "-//w3c//dtd html experimental 970421//",
    "-//w3c//dtd w3 html//",
    "-//w3o//dtd w3 html 3.0//",
    "-//webtechs//dtd mozilla html 2.0//",
    "-//webtechs//dtd mozilla html//",
];
/// Public identifiers that trigger quirks mode.
const PUBLIC: [&str; 3] = ["-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html"];
/// System identifiers that trigger quirks mode.
const SYSTEM: &str = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";
/// Public identifiers that trigger quirks mode without a system identifier.
const ALONE: [&str; 2] = ["-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"];

/// Returns whether the text between `<!DOCTYPE` and `>` triggers quirks mode.
pub(super) fn is_quirky(doctype: &str) -> bool {
    let lower = doctype.to_ascii_lowercase();
    let text = lower.trim_ascii();
    let name_end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
    if &text[..name_end] != "html" {
        return true;
    }
    let rest = text[name_end..].trim_ascii();
    if rest.is_empty() {
        return false;
    }
    if let Some(rest) = rest.strip_prefix("public") {
        let Some((public, rest)) = quoted(rest) else { return true };
        let system = if rest.trim_ascii().is_empty() { None } else { quoted(rest).map(|(system, _)| system) };
        return PUBLIC.contains(&public)
            || system == Some(SYSTEM)
            || PREFIXES.iter().any(|prefix| public.starts_with(prefix))
            || (system.is_none() && ALONE.iter().any(|prefix| public.starts_with(prefix)));
    }
    match rest.strip_prefix("system").map(quoted) {
        Some(Some((system, _))) => system == SYSTEM,
        _ => true,
    }
}

/// Returns a text in quotes, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_ascii_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_types_and_broken_ones_ask_for_quirks() {
        for doctype in [
            "",
            " svg",
            " html public",
            " html x",
            " HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\"",
            " html public '-//W3C//DTD HTML 4.01 Transitional//EN'",
            " html system 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd'",
        ] {
            assert!(is_quirky(doctype), "{doctype}");
        }
        for doctype in [
            " html",
            "html",
            " HTML system 'about:legacy-compat'",
            " html public '-//W3C//DTD HTML 4.01 Transitional//EN' 'http://www.w3.org/TR/html4/loose.dtd'",
            " html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"",
        ] {
            assert!(!is_quirky(doctype), "{doctype}");
        }
    }
}
