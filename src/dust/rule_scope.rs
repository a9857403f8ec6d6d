//! In which part of a site a rule is measured: a rule may hold in one directory and not in the next.

use super::parts::UrlParts;
use super::rule::Rule;

/// Bytes of a context's name at most.
const MAX_CONTEXT_BYTES: usize = 120;

/// The context of URLs whose file name is that of pages about which the rule was right some times and never wrong:
/// where the same files lie in many directories, one for each language, they are alike. That they are is
/// tested as in any other context.
pub(super) const SAME_NAME: &str = "same-name";

/// The name of the file that a URL names.
pub(super) fn file(url: &str) -> &str {
    UrlParts::of(url).map_or("", |parts| parts.folder_and_file().1)
}

/// The contexts of a URL to which a rule applies, from the whole origin to the narrowest: `*`, `*.html`,
/// `/en/*`, `/en/mod/*`. Directories are counted from where the rule leaves the path alone.
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
