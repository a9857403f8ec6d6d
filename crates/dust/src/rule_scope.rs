//! The contexts in which the learner measures a rule: a rule may hold in one directory and not in the next.

use super::parts::UrlParts;
use super::rule::Rule;

/// Bytes of the longest context name.
const MAX_CONTEXT_BYTES: usize = 120;

/// The context of URLs whose file name has had hits and no misses under this rule. Where each language directory has
/// the same files, these are alike. The learner tests this like any other context.
pub(super) const SAME_NAME: &str = "same-name";

/// Returns the file name of a URL.
pub(super) fn file(url: &str) -> &str {
    UrlParts::of(url).map_or("", |parts| parts.folder_and_file().1)
}

/// Returns the contexts of a URL, from the whole origin to the narrowest: `*`, `*.html`, `/en/*`, `/en/mod/*`.
/// Directories count from where the rule leaves the path alone.
pub(super) fn contexts(rule: &Rule, url: &str) -> Vec<String> {
    let mut contexts = vec!["*".to_owned()];
    let Some(parts) = UrlParts::of(url) else { return contexts };
    let (folder, file) = parts.folder_and_file();
    if let Some(dot) = file.rfind('.') {
        contexts.push(format!("*{}", &file[dot..]));
    }
    let replaced = rule.start.as_ref().map_or("/", |change| &change.from);
    let below = folder.strip_prefix(replaced).unwrap_or_default();
    let slashes = below.match_indices('/').map(|(slash, _)| slash + 1).take(2);
    contexts.extend(slashes.map(|end| format!("{replaced}{}*", &below[..end])));
    contexts.retain(|context| context.len() <= MAX_CONTEXT_BYTES);
    contexts
}
