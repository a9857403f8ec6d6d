//! URL rules in words.

/// Says what a rule predicts, from its text (`http://a.test/de/* -> http://a.test/en/*`) and its context.
pub(super) fn rule_in_words(rule: &str, context: &str) -> String {
    format!("{}{}", difference(rule), condition(context))
}

/// Says which URLs repeat which.
fn difference(rule: &str) -> String {
    let Some((from, to)) = rule.split_once(" -> ") else { return rule.to_owned() };
    let (from, parameters) = from.split_once('?').map_or((from, ""), |(path, names)| (path, names));
    let mut said = Vec::new();
    if from != to {
        let (one, other) = without_common(from, to);
        said.push(format!("{one} repeats {other}"));
    }
    let names: Vec<&str> =
        parameters.split('&').map(|name| name.trim_end_matches('=')).filter(|name| !name.is_empty()).collect();
    match names.as_slice() {
        [] => {}
        [name] => said.push(format!("the parameter {name} changes nothing")),
        names => said.push(format!("the parameters {} change nothing", names.join(", "))),
    }
    said.join(", and ")
}

/// Shortens two sides of a rule to what tells them apart, as far as that stays readable.
fn without_common<'a>(from: &'a str, to: &'a str) -> (String, String) {
    let origin = |side: &'a str| {
        side.find("://").and_then(|scheme| side[scheme + 3..].find('/').map(|slash| scheme + 3 + slash))
    };
    let (Some(one), Some(other)) = (origin(from), origin(to)) else { return (from.to_owned(), to.to_owned()) };
    let is_same_origin = from[..one] == to[..other];
    let side = |text: &str, origin: usize| {
        let text = if is_same_origin { &text[origin..] } else { text };
        // A star at the end only says that the rest is the same.
        let text = text.strip_suffix('*').unwrap_or(text).replace('*', "…");
        if text.is_empty() { "/".to_owned() } else { text }
    };
    (side(from, one), side(to, other))
}

/// Says where or when a rule holds.
fn condition(context: &str) -> String {
    match context {
        "*" => String::new(),
        "same-name" => ", for file names that have repeated before".to_owned(),
        "linked" => ", if the page kept links to both".to_owned(),
        "unlinked" => ", unless the page kept links to both".to_owned(),
        "linked, itself-linked" => ", if the page kept links to both and names itself".to_owned(),
        "linked, itself-unlinked" => ", if the page kept links to the other one only".to_owned(),
        "unlinked, itself-linked" => ", unless the page kept, which names itself, links to the other one".to_owned(),
        "unlinked, itself-unlinked" => ", unless the page kept links to either of the two".to_owned(),
        ending if ending.starts_with("*.") => format!(", for URLs that end in {}", &ending[1..]),
        directory if directory.starts_with('/') => format!(", below {}", directory.trim_end_matches('*')),
        other => format!(", in the context {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_sentence() {
        for (rule, context, words) in [
            (
                "http://a.test/de/* -> http://a.test/en/*",
                "unlinked",
                "/de/ repeats /en/, unless the page kept links to both",
            ),
            ("http://b.test/* -> http://a.test/*", "*", "http://b.test/ repeats http://a.test/"),
            ("http://a.test/*?sid= -> http://a.test/*", "*", "the parameter sid changes nothing"),
            (
                "http://a.test/x/*?a=&b= -> http://a.test/*",
                "/x/y/*",
                "/x/ repeats /, and the parameters a, b change nothing, below /x/y/",
            ),
            (
                "http://a.test/*index.html -> http://a.test/*",
                "*.html",
                "/…index.html repeats /, for URLs that end in .html",
            ),
            ("nonsense", "strange", "nonsense, in the context strange"),
        ] {
            assert_eq!(rule_in_words(rule, context), words);
        }
    }
}
