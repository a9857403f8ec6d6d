//! What came of PDF.

use std::collections::BTreeMap;

use crate::cli::format::{counted, thousands};
use crate::cli::terminal_safe::terminal_safe;

/// Returns a line on the PDFs that were read, and on those that could not be; empty if there were none.
pub(crate) fn documents_text(read: u64, errors: &BTreeMap<String, u64>) -> String {
    let unread: u64 = errors.iter().filter(|(reason, _)| *reason != "cut").map(|(_, count)| count).sum();
    if read + unread == 0 {
        return String::new();
    }
    let reasons: Vec<String> =
        errors.iter().map(|(reason, count)| format!("{} {}", thousands(*count), terminal_safe(reason))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("{} read, {} without text{reasons}\n", counted(read, "PDF", "PDFs"), thousands(unread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_counted_by_its_reason() {
        let errors = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(documents_text(0, &errors(&[])), "");
        assert_eq!(documents_text(1, &errors(&[])), "1 PDF read, 0 without text\n");
        let text = documents_text(1200, &errors(&[("crashed", 1), ("cut", 2), ("empty", 3)]));
        assert_eq!(text, "1,200 PDFs read, 4 without text (1 crashed, 2 cut, 3 empty)\n");
    }
}
