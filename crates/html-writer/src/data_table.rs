//! Tables that people sort and filter, and that stack on narrow screens.
//!
//! Sorting and filtering need the script of [`report_page`](super::report_page). Without it the tables are readable as
//! they are.

use std::fmt::Write as _;

use super::page::{TableCell, TableRow, escaped};

/// A table with a file of its data beside it.
pub struct DataTable<'a> {
    /// What the table shows.
    pub caption: &'a str,
    /// The names of the columns.
    pub heading: &'a [&'a str],
    /// The rows, one cell per column.
    pub rows: &'a [TableRow],
    /// The address of a CSV file with these and further rows, relative to the page.
    pub csv: Option<&'a str>,
}

impl DataTable<'_> {
    /// Returns the table as HTML. Caption and heading are escaped.
    pub fn html(&self) -> String {
        let caption = escaped(self.caption);
        let file = self
            .csv
            .map_or(String::new(), |csv| format!("<a href=\"{}\" aria-label=\"CSV: {caption}\">CSV</a>", escaped(csv)));
        // Accessibility: a scrollable region must be focusable with the keyboard.
        let mut html = format!(
            "<div class=\"data\"><p class=\"tools\">{file}</p>\
             <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\"><table class=\"stack\">\
             <caption>{caption}</caption>\n<thead><tr>"
        );
        for (place, name) in self.heading.iter().enumerate() {
            // The heading stands where its cells do.
            let is_text = self.rows.first().is_none_or(|row| row.cells.get(place).is_some_and(TableCell::is_text));
            let class = if is_text { " class=\"text\"" } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in self.rows {
            html.push_str(&row.open_tag());
            for (place, cell) in row.cells.iter().enumerate() {
                html.push_str(&cell.html(self.heading.get(place).copied()));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div></div>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_name_their_column_and_urls_are_links() {
        let url = "https://a.test/?q=<&\"";
        let cells = vec![TableCell::Name("a\"b".to_owned()), TableCell::Urls(vec![url.to_owned()])];
        let rows = [TableRow { id: Some("r1".to_owned()), ..cells.into() }];
        let table = DataTable { caption: "c", heading: &["<x>", "y\"z"], rows: &rows, csv: Some("a.csv") };
        let html = table.html();
        assert!(html.contains("<tr id=\"r1\"><th scope=\"row\">a&quot;b</th>"), "{html}");
        assert!(html.contains("data-label=\"y&quot;z\"><a href=\"https://a.test/?q=&lt;&amp;&quot;\""), "{html}");
        assert!(html.contains("<a href=\"a.csv\"") && !html.contains("<x>"), "{html}");
    }
}
