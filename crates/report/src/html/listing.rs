//! Tables of the report: the first rows in the page, all rows in a CSV file beside it.

use std::io;
use std::time::Duration;

use super::share;
use ndcrawl_export::csv_cell;
use ndcrawl_html_writer::{DataTable, TableCell, TableRow, byte_size, escaped, link, shortened, span, thousands};

/// Maximum characters of a text in a cell.
const MOST_TEXT: usize = 160;
/// URLs of one cell that the page shows.
const MOST_URLS: usize = 5;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// The name of the row.
    Name(String),
    /// The URL that names the row.
    NameUrl(String),
    /// The name of the row, and where in the report it leads.
    NameLink { text: String, link: String },
    /// Text.
    Text(String),
    /// The name of the row, with a note that only the page has.
    Noted(String, &'static str),
    /// URLs. A file has the first one, see [`Listing::html_with_file`].
    Urls(Vec<String>),
    /// Lines of text, the first of them in the file.
    Lines(Vec<String>),
    /// A number of things.
    Count(u64),
    /// A number of things, shaded by a share.
    Shaded(u64, f64),
    /// A share, shaded.
    Heat(Option<f64>),
    /// A part of a whole.
    Share(u64, u64),
    /// A figure, as text.
    Figure(String),
    /// Milliseconds.
    Millis(Option<u64>),
    /// Bytes.
    Bytes(u64),
    /// A score, or nothing.
    Score(Option<f64>),
}

impl Cell {
    fn html(&self) -> TableCell {
        let cut = |text: &str| shortened(text, MOST_TEXT);
        match self {
            Cell::Name(text) => TableCell::Name(cut(text)),
            Cell::NameUrl(url) => TableCell::NameMarkup(format!("<span class=\"mono\">{}</span>", link(url))),
            Cell::NameLink { text, link } => {
                TableCell::NameMarkup(format!("<a href=\"{}\">{}</a>", escaped(link), escaped(&cut(text))))
            }
            Cell::Noted(text, note) => TableCell::Name(format!("{}{note}", cut(text))),
            Cell::Text(text) => TableCell::Text(cut(text)),
            Cell::Lines(lines) => TableCell::Wide(
                lines.iter().map(|line| format!("<div class=\"mono\">{}</div>", escaped(&cut(line)))).collect(),
            ),
            Cell::Urls(urls) => TableCell::Urls(urls.iter().take(MOST_URLS).cloned().collect()),
            Cell::Count(count) => TableCell::Figure(thousands(*count)),
            Cell::Shaded(count, share) => TableCell::HeatCount(thousands(*count), *share),
            Cell::Heat(share) => TableCell::Heat(*share),
            Cell::Share(part, whole) => TableCell::Figure(share(*part, *whole)),
            Cell::Figure(text) => TableCell::Figure(text.clone()),
            Cell::Millis(None) => TableCell::Figure("–".to_owned()),
            Cell::Millis(Some(millis)) => TableCell::Value(span(Duration::from_millis(*millis)), *millis as f64),
            Cell::Bytes(bytes) => TableCell::Value(byte_size(*bytes), *bytes as f64),
            Cell::Score(score) => TableCell::Figure(score.map_or("–".to_owned(), |score| score.to_string())),
        }
    }

    fn csv(&self) -> String {
        let ratio = |part: f64, whole: f64| if whole == 0.0 { String::new() } else { format!("{:.6}", part / whole) };
        match self {
            Cell::Name(text) | Cell::NameUrl(text) | Cell::NameLink { text, .. } | Cell::Noted(text, _) => {
                csv_cell(text).into_owned()
            }
            Cell::Text(text) | Cell::Figure(text) => csv_cell(text).into_owned(),
            Cell::Urls(lines) | Cell::Lines(lines) => {
                lines.first().map_or(String::new(), |first| csv_cell(first).into())
            }
            Cell::Count(count) | Cell::Shaded(count, _) | Cell::Bytes(count) => count.to_string(),
            Cell::Heat(share) => share.map_or(String::new(), |share| ratio(share, 1.0)),
            Cell::Share(part, whole) => ratio(*part as f64, *whole as f64),
            Cell::Millis(millis) => millis.map_or(String::new(), |millis| millis.to_string()),
            Cell::Score(score) => score.map_or(String::new(), |score| score.to_string()),
        }
    }

    /// Returns what the name of its column in a file ends in.
    fn unit(&self) -> &'static str {
        match self {
            Cell::Heat(_) | Cell::Share(..) => "_share",
            Cell::Millis(_) => "_ms",
            Cell::Bytes(_) => "_bytes",
            _ => "",
        }
    }
}

/// A table of the report.
pub(super) struct Listing<'a> {
    /// The name of its CSV file, without ending.
    pub file: &'a str,
    /// What it shows.
    pub caption: &'a str,
    /// Names of the columns.
    pub heading: &'a [&'a str],
    /// All rows.
    pub rows: Vec<Vec<Cell>>,
    /// Rows that the page shows.
    pub most: usize,
    /// What the rows are: `hosts`.
    pub what: &'a str,
}

impl Listing<'_> {
    /// Returns the table of the first rows, and writes all into the CSV file.
    pub fn html(&self, parts: &mut Parts<'_>) -> String {
        self.html_with(parts, |_| (None, ""))
    }

    /// The same; `marks` gives the id and the class of a row by its place.
    pub fn html_with(&self, parts: &mut Parts<'_>, marks: impl Fn(usize) -> (Option<String>, &'static str)) -> String {
        let csv = parts.add(&format!("{}.csv", self.file), &csv(self.heading, &self.rows));
        self.table(&csv, marks)
    }

    /// The same, with a file of other columns and rows, where one value a cell needs that.
    pub fn html_with_file(&self, parts: &mut Parts<'_>, heading: &[&str], rows: &[Vec<Cell>]) -> String {
        let csv = parts.add(&format!("{}.csv", self.file), &csv(heading, rows));
        self.table(&csv, |_| (None, ""))
    }

    /// Returns the table of the first rows; `csv` is the address of the file that has all of them.
    pub fn table(&self, csv: &str, marks: impl Fn(usize) -> (Option<String>, &'static str)) -> String {
        let row = |(place, cells): (usize, &Vec<Cell>)| {
            let (id, class) = marks(place);
            TableRow { id, class, cells: cells.iter().map(Cell::html).collect() }
        };
        let rows: Vec<TableRow> = self.rows.iter().take(self.most).enumerate().map(row).collect();
        let table = DataTable { caption: self.caption, heading: self.heading, rows: &rows, csv: Some(csv) };
        table.html() + &self.and_more(csv)
    }

    /// Returns `… and 7 more hosts in the CSV`, or an empty string.
    fn and_more(&self, csv: &str) -> String {
        match self.rows.len().checked_sub(self.most) {
            Some(more @ 1..) => format!(
                "<p class=\"soft\">… and {} more {} in <a href=\"{}\">the CSV</a></p>\n",
                thousands(more as u64),
                escaped(self.what),
                escaped(csv)
            ),
            _ => String::new(),
        }
    }
}

/// Returns a file: one value a cell, numbers in their plain form.
fn csv(heading: &[&str], rows: &[Vec<Cell>]) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\r\n";
    let unit = |place: usize| rows.first().and_then(|cells| cells.get(place)).map_or("", Cell::unit);
    let names = heading.iter().enumerate().map(|(place, name)| column_name(name, unit(place)));
    let mut text = line(names.collect());
    text.extend(rows.iter().map(|cells| line(cells.iter().map(Cell::csv).collect())));
    text
}

/// `Mean response time` becomes `mean_response_time_ms`.
fn column_name(name: &str, unit: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("_").to_lowercase();
    if name.contains(unit.trim_start_matches('_')) { name } else { name + unit }
}

/// Where the files beside a report go.
pub(in super::super) struct Parts<'a> {
    /// The folder, relative to the report.
    folder: &'a str,
    write: &'a mut dyn FnMut(&str, &str) -> io::Result<()>,
    /// The first failure.
    failed: Option<io::Error>,
}

impl<'a> Parts<'a> {
    /// Writes parts with `write`, which takes a file name and the text.
    pub fn new(folder: &'a str, write: &'a mut dyn FnMut(&str, &str) -> io::Result<()>) -> Self {
        Self { folder, write, failed: None }
    }

    /// Writes a part. Returns its address, relative to the report.
    pub fn add(&mut self, name: &str, text: &str) -> String {
        if self.failed.is_none() {
            self.failed = (self.write)(name, text).err();
        }
        self.address(name)
    }

    /// The address of a part, relative to the report.
    pub fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Returns the first failure.
    pub fn finish(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_first_rows_and_the_file_has_all() {
        let row = |n: u64| {
            let url = format!("http://a.test/{n}");
            vec![
                Cell::NameUrl(url),
                Cell::Count(1000 * n),
                Cell::Share(n, 4),
                Cell::Millis(Some(1500)),
                Cell::Score(None),
            ]
        };
        let listing = Listing {
            file: "x",
            caption: "c",
            heading: &["page, kept", "count", "share", "mean time", "score"],
            rows: (1..=3).map(row).collect(),
            most: 2,
            what: "pages",
        };
        let mut files = Vec::new();
        let mut write = |name: &str, text: &str| {
            files.push((name.to_owned(), text.to_owned()));
            Ok(())
        };
        let mut parts = Parts::new("report_files", &mut write);
        let html = listing.html(&mut parts);
        parts.finish().unwrap();
        assert!(html.contains("http://a.test/2") && !html.contains("http://a.test/3"), "{html}");
        assert!(html.contains("… and 1 more pages in <a href=\"report_files/x.csv\">"), "{html}");
        assert!(html.contains("data-v=\"1500\">1.5 s</td>"), "{html}");
        let csv = "page_kept,count,share,mean_time_ms,score\r\nhttp://a.test/1,1000,0.250000,1500,\r\n";
        assert!(files[0].0 == "x.csv" && files[0].1.starts_with(csv), "{files:?}");
        assert_eq!(files[0].1.lines().count(), 4);
    }

    #[test]
    fn the_first_failure_counts() {
        let mut count = 0;
        let mut write = |_: &str, _: &str| {
            count += 1;
            Err(io::Error::other(format!("{count}")))
        };
        let mut parts = Parts::new("f", &mut write);
        parts.add("a", "");
        parts.add("b", "");
        assert_eq!(parts.finish().unwrap_err().to_string(), "1");
    }
}
