//! The frame, cards and tables of a page.

use std::fmt::Write as _;

/// The style sheet.
///
/// Series colors are mostly those of Okabe and Ito, distinct for most color-blind readers; each has its own dash.
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
td.text{white-space:normal;min-width:10rem;max-width:34rem}tr:target{background:var(--fill)}\
.data>button{font:inherit;color:var(--fg);background:var(--fill);border:1px solid var(--soft);border-radius:.4rem;padding:.2rem .8rem;\
cursor:pointer}.data>button[hidden]{display:none}.tools{display:flex;flex-wrap:wrap;gap:.35rem .9rem;align-items:center;margin:.75rem 0 0;color:var(--soft)}\
.tools:empty{display:none}.tools input,.tools select{font:inherit;color:var(--fg);background:var(--bg);\
border:1px solid var(--soft);border-radius:.3rem;padding:.15rem .4rem;max-width:14rem}.narrow{display:none}\
thead button{font:inherit;color:inherit;background:none;border:0;padding:0;margin:0;cursor:pointer;text-align:inherit;\
white-space:inherit}thead button:hover{text-decoration:underline}\
th[aria-sort=ascending] button::after{content:\" ▲\"}th[aria-sort=descending] button::after{content:\" ▼\"}\
.answer{font-size:1.2rem;line-height:1.45;margin:.75rem 0}\
.map{position:relative;list-style:none;margin:.75rem 0;padding:0;aspect-ratio:16/9;max-width:62rem;border:1px solid var(--line)}\
.map li{position:absolute;padding:1px}.map a{display:block;width:100%;height:100%;overflow:hidden;padding:.15rem .3rem;\
color:var(--fg);text-decoration:none;font-size:.85rem;line-height:1.25;outline-offset:-2px;border:1px solid var(--line);\
overflow-wrap:anywhere}.map a:hover,.map a:focus{border-color:var(--fg)}\
tr.first>*{border-top:2px solid var(--line)}tr.whole td,tr.whole th{font-weight:600;color:var(--fg)}\
.ci{color:var(--soft);font-size:.85em;font-weight:400}.wrong{color:var(--bad)}.right{color:var(--good)}\
.controls{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center;margin:.75rem 0}\
.controls button{font:inherit;color:var(--fg);background:var(--fill);border:1px solid var(--soft);border-radius:.4rem;\
padding:.4rem 1.1rem;cursor:pointer}.controls button:hover{border-color:var(--fg)}\
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
nav{margin:1rem 0;display:flex;flex-wrap:wrap;gap:.25rem 1rem}a{color:var(--good)}\
ul.plain{list-style:none;padding:0;margin:.4rem 0}dl{margin:.5rem 0;display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem}\
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\
.pages{display:flex;flex-wrap:wrap;gap:.25rem .75rem;margin:.75rem 0}\
article{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem 1rem;margin:1rem 0}article h2,article h3{overflow-wrap:anywhere;margin:.25rem 0;font-size:1.05rem}thead th{white-space:normal}\
table.diff{table-layout:fixed;width:100%;font:13px/1.45 ui-monospace,monospace}\
table.diff td,table.diff th{white-space:pre-wrap;overflow-wrap:anywhere;text-align:left;width:50%}\
table.diff .same{color:var(--soft);text-align:center}\
del,ins{text-decoration:none;border-radius:.2rem;padding:0 .1rem;color:var(--fg)}\
del{background:rgba(213,94,0,.22)}ins{background:rgba(0,158,115,.24)}\
@media(max-width:40rem){body{padding:1rem .75rem 2rem;line-height:1.4}h1{font-size:1.35rem}h2{margin-top:1.4rem}.tools input{width:7.5rem}.tools select{max-width:9rem}.cards{gap:.5rem}\
.card{min-width:0;flex:1 1 8.5rem;padding:.5rem .7rem}.card b{font-size:1.3rem}th,td{padding:.2rem .4rem}\
td.url{min-width:0}.narrow{display:inline-block}.map{aspect-ratio:1}\
.stack,.stack tbody,.stack caption{display:block}.stack thead{display:none}\
.stack tr{display:grid;grid-template-columns:1fr 1fr;gap:0 1rem;border-bottom:1px solid var(--line);padding:.3rem 0}\
.stack tr[hidden]{display:none}.stack th,.stack td{border:0;padding:.05rem 0;display:flex;justify-content:space-between;\
gap:.5rem;white-space:normal;min-width:0;max-width:none}.stack td:empty,.stack td.wide:empty{display:none}\
.stack th[scope=row],.stack td.wide{grid-column:1/-1;display:block;text-align:left;overflow-wrap:anywhere;color:var(--fg)}\
.stack td[data-label]::before{content:attr(data-label);text-align:left;color:var(--soft);font:15px/1.4 system-ui,sans-serif}\
.stack td.wide::before{display:block}.stack td.text::before{display:inline;margin-right:.6rem}\
dl{grid-template-columns:1fr}dd{margin-bottom:.35rem}svg text{font-size:17px}article{padding:.5rem}}\
@media print{body{max-width:none;font-size:11px;padding:0}h2{break-after:avoid}nav,nav.pages,.tools,.data>button{display:none}.scroll{overflow:visible}\
th,td,td.url{white-space:normal;min-width:0;overflow-wrap:anywhere}table{max-width:100%}a{color:inherit}.map{max-width:none}\
.heat,del,ins{print-color-adjust:exact}figure,article,tr{break-inside:avoid}details::details-content{content-visibility:visible}}";

/// Returns a complete page without scripts.
pub fn page(title: &str, body: &str) -> String {
    frame(title, "default-src 'none'; style-src 'unsafe-inline'", "", body)
}

/// Returns a complete page with the script of [`TABLES_SCRIPT`](super::TABLES_SCRIPT), and no other.
///
/// `digest` is the script's SHA-256 in Base64, by which the page allows it.
pub fn report_page(title: &str, digest: &str, body: &str) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        escaped(digest)
    );
    let script = super::TABLES_SCRIPT;
    frame(title, &policy, "", &format!("{body}<script>{script}</script>\n"))
}

/// Returns a complete page that the program serves, with one script from the same server.
///
/// The script at `script` may poll that server, and forms may be sent to it.
pub fn live_page(title: &str, script: &str, body: &str) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; \
                  form-action 'self'; base-uri 'none'";
    frame(title, policy, &format!("<script defer src=\"{}\"></script>\n", escaped(script)), body)
}

fn frame(title: &str, policy: &str, head: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n{head}</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Escapes text for element content and quoted attributes.
///
/// Invisible characters that could change how a line reads are made visible: a right-to-left override becomes
/// `\u{202e}`.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            hidden if is_hidden(hidden) => safe.extend(hidden.escape_unicode()),
            other => safe.push(other),
        }
    }
    safe
}

/// Returns whether a character is a control, a direction mark, a line end, or has no width.
fn is_hidden(character: char) -> bool {
    let is_mark = matches!(
        character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    is_mark || character.is_control()
}

/// Escapes each line and keeps the line ends.
pub fn escaped_lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

/// Shortens text to `most` characters; an ellipsis replaces the end.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Formats a number with thousands separators: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Formats a number with its noun: `1 page`, `2 pages`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// Returns a URL as a link, shortened if it is long. Whatever is no web address is text.
pub fn link(url: &str) -> String {
    const MOST: usize = 160;
    let shown = escaped(&shortened(url, MOST));
    let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if is_web && url.chars().all(|c| c.is_ascii_graphic()) {
        format!("<a href=\"{}\" rel=\"noreferrer\">{shown}</a>", escaped(url))
    } else {
        shown
    }
}

/// Returns a card with one large figure.
pub fn card(value: &str, what: &str) -> String {
    format!("<div class=\"card\"><b>{}</b><span>{}</span></div>", escaped(value), escaped(what))
}

/// Returns a plot with its caption.
pub fn figure(caption: &str, svg: &str) -> String {
    format!("<figure><figcaption>{}</figcaption>{svg}</figure>\n", escaped(caption))
}

/// A cell of a table.
pub enum TableCell {
    /// Text, escaped when written.
    Text(String),
    /// The header cell of the row, escaped when written.
    Name(String),
    /// A number, right-aligned, escaped when written.
    Figure(String),
    /// Markup, written as it is, right-aligned.
    Markup(String),
    /// The header cell of the row, markup that is written as it is.
    NameMarkup(String),
    /// Markup over the whole width, written as it is, left-aligned.
    Wide(String),
    /// A number, right-aligned, as text and as the value by which it is sorted.
    Value(String, f64),
    /// A share in [0, 1] as a percentage, shaded by its value.
    Heat(Option<f64>),
    /// A number, shaded by a share in [0, 1], escaped when written.
    HeatCount(String, f64),
    /// URLs, one a line, as links.
    Urls(Vec<String>),
}

/// A row of a table.
pub struct TableRow {
    /// The id by which links lead to it.
    pub id: Option<String>,
    /// CSS class: `first` (line above), `whole` (bold) or empty.
    pub class: &'static str,
    /// One cell per column.
    pub cells: Vec<TableCell>,
}

impl From<Vec<TableCell>> for TableRow {
    fn from(cells: Vec<TableCell>) -> Self {
        Self { id: None, class: "", cells }
    }
}

impl TableRow {
    /// Returns the opening tag.
    pub(super) fn open_tag(&self) -> String {
        let id = self.id.as_ref().map_or(String::new(), |id| format!(" id=\"{}\"", escaped(id)));
        let class = if self.class.is_empty() { String::new() } else { format!(" class=\"{}\"", self.class) };
        format!("<tr{id}{class}>")
    }
}

/// Returns a table; the first `text_columns` headings are left-aligned. Caption and heading are escaped.
pub fn table(caption: &str, heading: &[String], text_columns: usize, rows: &[TableRow]) -> String {
    // Accessibility: a scrollable region must be focusable with the keyboard.
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><table><caption>{0}</caption>\n<thead><tr>",
        escaped(caption)
    );
    for (place, name) in heading.iter().enumerate() {
        let class = if place < text_columns { " class=\"text\"" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str(&row.open_tag());
        row.cells.iter().for_each(|cell| html.push_str(&cell.html(None)));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

/// Returns the names of a heading as strings.
pub fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns a collapsed section.
pub fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escaped(summary))
}

impl TableCell {
    /// Whether the cell is left-aligned.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Name(_) | Self::NameMarkup(_) | Self::Wide(_) | Self::Urls(_))
    }

    /// Returns the cell. `label` is the name of its column, which a stacked table shows beside it.
    pub(super) fn html(&self, label: Option<&str>) -> String {
        let wide = if label.is_some() { " wide" } else { "" };
        let label = label.map_or(String::new(), |label| format!(" data-label=\"{}\"", escaped(label)));
        match self {
            Self::Text(text) => format!("<td class=\"text{wide}\"{label}>{}</td>", escaped(text)),
            Self::Name(text) => format!("<th scope=\"row\">{}</th>", escaped(text)),
            Self::NameMarkup(markup) => format!("<th scope=\"row\">{markup}</th>"),
            Self::Figure(text) => format!("<td{label}>{}</td>", escaped(text)),
            Self::Value(text, value) => format!("<td{label} data-v=\"{value}\">{}</td>", escaped(text)),
            Self::Markup(markup) => format!("<td{label}>{markup}</td>"),
            Self::Wide(markup) => format!("<td class=\"text{wide}\"{label}>{markup}</td>"),
            Self::Heat(None) => format!("<td{label}>–</td>"),
            Self::Heat(Some(share)) => {
                format!("<td class=\"heat\"{label} style=\"--share:{:.3}\">{:.1} %</td>", share * 0.55, share * 100.0)
            }
            Self::HeatCount(text, share) => {
                let share = share.clamp(0.0, 1.0) * 0.55;
                format!("<td class=\"heat\"{label} style=\"--share:{share:.3}\">{}</td>", escaped(text))
            }
            Self::Urls(urls) => {
                let lines: Vec<String> = urls.iter().map(|url| link(url)).collect();
                format!("<td class=\"url mono{wide}\"{label}>{}</td>", lines.join("<br>"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        let shown = r"&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{1b}\u{202e}\u{a}";
        assert_eq!(escaped("<a href='x'>&\"\u{1b}\u{202e}\n"), shown);
        let html = table("c", &words(&["<b>"]), 1, &[vec![TableCell::Name("<i>".to_owned())].into()]);
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_cut_text_is_as_long_as_allowed() {
        assert_eq!(["abcd", "abcde", "äöüßé"].map(|text| shortened(text, 4)), ["abcd", "abc…", "äöü…"]);
    }

    #[test]
    fn nothing_is_loaded_and_nothing_runs() {
        let page = page("a<b", "");
        assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
        for part in ["<script", "http:", "https:", "url(", "<title>a<b"] {
            assert!(!page.contains(part), "{part}");
        }
    }

    #[test]
    fn a_report_has_one_script_by_its_digest_and_loads_nothing() {
        let page = report_page("t", "abc=", "");
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
        assert!(page.contains("script-src 'sha256-abc='; base-uri 'none'"), "{page}");
        for part in ["http:", "https:", "url(", "script-src 'unsafe", "src=", "eval(", "innerHTML"] {
            assert!(!page.contains(part), "{part}");
        }
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert_eq!(
            link("http://a.test/?a&b"),
            "<a href=\"http://a.test/?a&amp;b\" rel=\"noreferrer\">http://a.test/?a&amp;b</a>"
        );
        for text in
            ["javascript:alert(1)", "HTTP:x", "row 7", "http://a.test/\u{202e}", "http://a.test/ onclick=x", "data:,x"]
        {
            assert!(!link(text).contains("<a"), "{text}");
        }
    }

    #[test]
    fn a_live_page_has_one_script_of_its_own_server() {
        let page = live_page("t", "/a.js", "");
        assert_eq!((page.matches("<script").count(), page.matches("script-src 'self'").count()), (1, 1));
        for part in ["http:", "https:", "url(", "script-src 'unsafe"] {
            assert!(!page.contains(part), "{part}");
        }
    }
}
