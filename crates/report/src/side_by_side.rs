//! Diffs of two texts by lines, and of changed lines by words.

use std::time::Duration;

use similar::{ChangeTag, DiffTag, TextDiff};

/// Maximum rows of a diff.
const ROWS: usize = 40;
/// Maximum characters of a line in a diff.
const LINE: usize = 400;
/// Maximum lines of a text that are compared. Bounds the time for long pages with nothing in common.
const LINES: usize = 4_000;

/// A row of a side-by-side diff: stored page, copy.
#[derive(Clone, Debug, PartialEq)]
pub enum DiffRow {
    /// A number of equal lines.
    Same(usize),
    /// The pieces of each side's line, flagged if only that side has them. `None` if the side has no line.
    Changed([Option<Vec<(bool, String)>>; 2]),
}

/// Diffs two texts by lines. Returns the rows, and the number of rows cut off.
pub(super) fn side_by_side(one: &str, other: &str) -> (Vec<DiffRow>, usize) {
    let [own, others] = [one, other].map(|text| text.lines().take(LINES).collect::<Vec<_>>());
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_slices(&own, &others);
    let mut rows = Vec::new();
    let mut more = 0;
    for operation in diff.ops() {
        let (tag, left, right) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            if rows.len() < ROWS {
                rows.push(DiffRow::Same(left.len()));
            }
            continue;
        }
        for place in 0..left.len().max(right.len()) {
            if rows.len() >= ROWS {
                more += 1;
                continue;
            }
            let one = own[left.clone()].get(place).copied();
            let other = others[right.clone()].get(place).copied();
            rows.push(DiffRow::Changed(changed(one, other)));
        }
    }
    (rows, more)
}

/// Diffs two lines by words.
fn changed(one: Option<&str>, other: Option<&str>) -> [Option<Vec<(bool, String)>>; 2] {
    let cut = |line: &str| line.chars().take(LINE).collect::<String>();
    let (Some(one), Some(other)) = (one, other) else {
        return [one, other].map(|line| line.map(|line| vec![(true, cut(line))]));
    };
    let (one, other) = (cut(one), cut(other));
    let diff = TextDiff::from_words(&one, &other);
    let mut sides = [Vec::new(), Vec::new()];
    for change in diff.iter_all_changes() {
        let places: &[usize] = match change.tag() {
            ChangeTag::Equal => &[0, 1],
            ChangeTag::Delete => &[0],
            ChangeTag::Insert => &[1],
        };
        for place in places {
            push(&mut sides[*place], change.tag() != ChangeTag::Equal, change.value());
        }
    }
    sides.map(Some)
}

fn push(side: &mut Vec<(bool, String)>, is_own: bool, text: &str) {
    match side.last_mut().filter(|(own, _)| *own == is_own) {
        Some((_, piece)) => piece.push_str(text),
        None => side.push((is_own, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        text.replace('/', "\n")
    }

    #[test]
    fn lines_stand_beside_those_that_they_became() {
        let (rows, more) = side_by_side(&lines("same/a b c/left/same too"), &lines("same/a x c/same too/new"));
        let own = |text: &str| (true, text.to_owned());
        let both = |text: &str| (false, text.to_owned());
        let expected = [
            DiffRow::Same(1),
            DiffRow::Changed([
                Some(vec![both("a "), own("b"), both(" c")]),
                Some(vec![both("a "), own("x"), both(" c")]),
            ]),
            DiffRow::Changed([Some(vec![own("left")]), None]),
            DiffRow::Same(1),
            DiffRow::Changed([None, Some(vec![own("new")])]),
        ];
        assert_eq!((rows, more), (expected.to_vec(), 0));
    }

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let many: Vec<String> = (0..100).map(|number| format!("{number}{}", "x".repeat(LINE))).collect();
        let (rows, more) = side_by_side(&many.join("\n"), "");
        assert_eq!((rows.len(), more), (ROWS, 100 - ROWS));
        let DiffRow::Changed([Some(pieces), None]) = &rows[0] else { panic!("{:?}", rows[0]) };
        assert_eq!(pieces[0].1.len(), LINE);
    }
}
