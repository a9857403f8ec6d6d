//! Infers the rule that derives one URL from another.

use super::parts::{UrlParts, name};
use super::rule::{Change, Rule};

/// Directories that a rule may replace.
const MAX_DIRECTORIES: usize = 4;
/// Parameters that a rule may drop.
const MAX_PARAMETERS: usize = 4;
/// Bytes of the longest end that a rule may replace.
const MAX_END_BYTES: usize = 40;

/// Infers the rule that derives the second canonical URL from the first. If only parameters differ, the rule drops them
/// from both. `None` if the stems of the file names differ, or too much else.
pub fn infer_rule(url: &str, original: &str) -> Option<Rule> {
    let (from, to) = (UrlParts::of(url)?, UrlParts::of(original)?);
    let dropped = dropped(&from, &to)?;
    let has_query = from.parameters().any(|parameter| !dropped.contains(&name(parameter).to_owned()));
    let (start, end) = path(&from, &to, has_query)?;
    let rule = Rule { origin: Change::new(from.origin, to.origin), start, end, dropped };
    let is_any = url != original && (!rule.only_drops_parameters() || !rule.dropped.is_empty());
    // A rule that drops a parameter applies only to URLs that have it.
    (is_any && rule.apply(url).is_some()).then_some(rule)
}

/// Whether two canonical URLs look like two editions of one page. Their files, or last directories, have the same name,
/// and a rule that drops nothing derives one from the other. Cheap where the names differ.
pub fn are_counterparts(url: &str, other: &str) -> bool {
    let name = |url| UrlParts::of(url).map(|parts| parts.own_name());
    name(url).is_some_and(|own| !own.is_empty() && name(other) == Some(own))
        && infer_rule(url, other).is_some_and(|rule| rule.dropped.is_empty())
}

/// Returns the names of the parameters that differ. `None` if the others are not in the same order, or too many differ.
fn dropped(from: &UrlParts<'_>, to: &UrlParts<'_>) -> Option<Vec<String>> {
    let (ours, theirs): (Vec<_>, Vec<_>) = (from.parameters().collect(), to.parameters().collect());
    let lonely = |own: &[&str], other: &[&str]| -> Vec<String> {
        own.iter().filter(|parameter| !other.contains(parameter)).map(|parameter| name(parameter).to_owned()).collect()
    };
    let mut names = lonely(&ours, &theirs);
    names.extend(lonely(&theirs, &ours));
    names.sort_unstable();
    names.dedup();
    let kept = |parameters: &[&str]| -> Vec<String> {
        let kept = parameters.iter().filter(|parameter| !names.iter().any(|dropped| dropped == name(parameter)));
        kept.map(|parameter| (*parameter).to_owned()).collect()
    };
    (names.len() <= MAX_PARAMETERS && kept(&ours) == kept(&theirs)).then_some(names)
}

type PathChanges = (Option<Change>, Option<Change>);

/// Returns the differences at the start and at the end of the paths.
fn path(from: &UrlParts<'_>, to: &UrlParts<'_>, has_query: bool) -> Option<PathChanges> {
    if from.path == to.path {
        return Some((None, None));
    }
    let ((our_folder, our_file), (their_folder, their_file)) = (from.folder_and_file(), to.folder_and_file());
    match end(our_file, their_file) {
        Some(end) => Some((start(our_folder, their_folder)?, end)),
        // Two scripts with the same parameters.
        None if has_query => Some((Some(Change::new(from.path, to.path)), None)),
        None => None,
    }
}

/// Returns the difference in the leading directories, up to the common rest.
fn start(ours: &str, theirs: &str) -> Option<Option<Change>> {
    if ours == theirs {
        return Some(None);
    }
    let (ours, theirs): (Vec<_>, Vec<_>) = (directories(ours), directories(theirs));
    let pairs = ours.iter().rev().zip(theirs.iter().rev());
    let same = pairs.take_while(|(our, their)| our == their).count();
    let replaced = |all: &[&str]| format!("/{}", all[..all.len() - same].concat());
    let depth = ours.len().max(theirs.len()) - same;
    (depth <= MAX_DIRECTORIES).then(|| Some(Change { from: replaced(&ours), to: replaced(&theirs) }))
}

/// Splits `/a/b/` into `a/` and `b/`.
fn directories(folder: &str) -> Vec<&str> {
    folder.get(1..).unwrap_or_default().split_inclusive('/').collect()
}

/// Returns the difference at the end of the file names, behind a common stem.
fn end(ours: &str, theirs: &str) -> Option<Option<Change>> {
    if ours == theirs {
        return Some(None);
    }
    let is_short = ours.len().max(theirs.len()) <= MAX_END_BYTES;
    if ours.is_empty() || theirs.is_empty() {
        let has_stem = !ours.starts_with('.') && !theirs.starts_with('.');
        return (is_short && has_stem).then(|| Some(Change::new(ours, theirs)));
    }
    let stem = |file: &str| file.find('.').unwrap_or(file.len());
    let (ours, theirs) = (ours.split_at(stem(ours)), theirs.split_at(stem(theirs)));
    let is_one = ours.0 == theirs.0 && !ours.0.is_empty() && ours.1.len().max(theirs.1.len()) <= MAX_END_BYTES;
    is_one.then(|| Some(Change::new(ours.1, theirs.1)))
}
