//! The frame of a page: no script, nothing from outside, light or dark as the reader has it.

use std::fmt::Write as _;

/// Colours of detectors: most by Okabe and Ito, told apart by most readers, and each with a dash of its own.
const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2126;--soft:#5c6670;--line:#d5dae0;--fill:#f4f6f8;--good:#0072b2;\
--bad:#c44601;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#6a4fb3;--c5:#56606b;--heat:0,114,178}\
@media(prefers-color-scheme:dark){:root{--bg:#15191d;--fg:#e4e8ec;--soft:#9aa4ae;--line:#353c44;--fill:#1e2429;\
--good:#56b4e9;--bad:#ff9a62;--c0:#56b4e9;--c1:#ff9a62;--c2:#4fd1a5;--c3:#e8a3cb;--c4:#b9a4ff;--c5:#b3bcc5;--heat:86,180,233}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem;background:var(--bg);color:var(--fg);\
font:15px/1.5 system-ui,sans-serif}\
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.5rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}\
p{margin:.4rem 0;max-width:62rem}.soft{color:var(--soft)}\
code,.mono{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}\
.scroll{overflow-x:auto}\
table{border-collapse:collapse;margin:.5rem 0;font-variant-numeric:tabular-nums}\
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}\
th,td{padding:.25rem .65rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;vertical-align:top}\
th{color:var(--soft);font-weight:600}thead th{border-bottom:2px solid var(--line);vertical-align:bottom}\
th[scope=row],.text{text-align:left}td.url{text-align:left;white-space:normal;min-width:24rem}\
tr.first>*{border-top:2px solid var(--line)}tr.whole td,tr.whole th{font-weight:600;color:var(--fg)}\
.ci{color:var(--soft);font-size:.85em;font-weight:400}.wrong{color:var(--bad)}.right{color:var(--good)}\
.cards{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0}\
.card{background:var(--fill);border:1px solid var(--line);border-radius:.5rem;padding:.7rem 1rem;min-width:11rem}\
.card b{display:block;font-size:1.7rem;line-height:1.2;font-variant-numeric:tabular-nums}.card span{color:var(--soft)}\
.plots{display:flex;flex-wrap:wrap;gap:1.25rem;align-items:flex-start}\
figure{margin:.5rem 0;flex:1 1 26rem;max-width:38rem}figcaption{color:var(--soft);margin-bottom:.25rem}\
svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font:12px system-ui,sans-serif}\
svg .strong{fill:var(--fg)}svg .grid{stroke:var(--line);stroke-width:1}svg .mark{stroke:var(--soft);stroke-dasharray:2 3}\
svg .curve{fill:none;stroke-width:2.2;stroke-linejoin:round}\
svg .whisker{stroke:var(--fg);stroke-width:1.4}\
details{margin:.5rem 0}summary{cursor:pointer;color:var(--soft)}\
.heat{background:rgba(var(--heat),var(--share))}\
@media print{details{display:block}body{max-width:none}}";

/// A whole page.
pub(super) fn page(title: &str, body: &str) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Text as it may stand between tags and in quoted attributes.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters and marks of direction could make a line read otherwise than it is.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A cell of a table.
pub(super) enum Cell {
    /// Text; it is escaped.
    Text(String),
    /// The name of the row; it is escaped.
    Name(String),
    /// A figure; it is escaped.
    Figure(String),
    /// What is markup already, set like a figure.
    Markup(String),
    /// A share from 0 to 1, shaded.
    Heat(Option<f64>),
    /// Addresses, one a line; they are escaped.
    Urls(Vec<String>),
}

/// A row and its class.
pub(super) struct Row {
    pub(super) class: &'static str,
    pub(super) cells: Vec<Cell>,
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self { class: "", cells }
    }
}

/// A table; `heading` is escaped, columns of `text` are set left.
pub(super) fn table(caption: &str, heading: &[String], text_columns: usize, rows: &[Row]) -> String {
    let mut html = format!("<div class=\"scroll\"><table><caption>{}</caption>\n<thead><tr>", escaped(caption));
    for (place, name) in heading.iter().enumerate() {
        let class = if place < text_columns { " class=\"text\"" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
        let _ = write!(html, "<tr{class}>");
        row.cells.iter().for_each(|cell| html.push_str(&cell.html()));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

/// The words of a heading.
pub(super) fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What is folded away until it is asked for.
pub(super) fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escaped(summary))
}

impl Cell {
    fn html(&self) -> String {
        match self {
            Self::Text(text) => format!("<td class=\"text\">{}</td>", escaped(text)),
            Self::Name(text) => format!("<th scope=\"row\">{}</th>", escaped(text)),
            Self::Figure(text) => format!("<td>{}</td>", escaped(text)),
            Self::Markup(markup) => format!("<td>{markup}</td>"),
            Self::Heat(None) => "<td>–</td>".to_owned(),
            Self::Heat(Some(share)) => {
                format!("<td class=\"heat\" style=\"--share:{:.3}\">{:.1} %</td>", share * 0.55, share * 100.0)
            }
            Self::Urls(urls) => {
                let lines: Vec<String> = urls.iter().map(|url| escaped(url)).collect();
                format!("<td class=\"url mono\">{}</td>", lines.join("<br>"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        assert_eq!(escaped("<a href='x'>&\"\u{1b}\u{202e}"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}\u{fffd}");
        let html = table("c", &words(&["<b>"]), 1, &[vec![Cell::Name("<i>".to_owned())].into()]);
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
    }

    #[test]
    fn nothing_is_loaded_and_nothing_runs() {
        let page = page("a<b", "");
        assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
        for part in ["<script", "http:", "https:", "url(", "<title>a<b"] {
            assert!(!page.contains(part), "{part}");
        }
    }
}
