//! The HTML of demo pages: title, description, navigation and headings.

use super::prose::Language;

/// A link with its target and text.
pub(super) struct Anchor {
    pub(super) target: String,
    pub(super) text: String,
}

/// Returns a link to `target` with `text`.
pub(super) fn anchor(target: impl Into<String>, text: impl Into<String>) -> Anchor {
    Anchor { target: target.into(), text: text.into() }
}

/// The content of a page.
pub(super) struct Content<'a> {
    pub(super) language: Language,
    pub(super) title: String,
    pub(super) heading: &'a str,
    pub(super) description: &'a str,
    pub(super) navigation: Vec<Anchor>,
    pub(super) sentences: &'a [String],
    pub(super) list: Vec<Anchor>,
    pub(super) footer: &'a str,
    pub(super) noindex: bool,
}

/// Sentences per paragraph.
const PARAGRAPH: usize = 5;

impl Content<'_> {
    /// Returns the HTML. It does not contain its own URL, so a mirror has the same bytes.
    pub(super) fn html(&self) -> String {
        let robots = if self.noindex { "<meta name=\"robots\" content=\"noindex\">\n" } else { "" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
             <meta name=\"description\" content=\"{description}\">\n{robots}</head>\n<body>\n{navigation}\
             <main>\n<h1>{heading}</h1>\n{paragraphs}{list}</main>\n<footer>{footer}</footer>\n</body>\n</html>\n",
            language = self.language.tag(),
            title = escape(&self.title),
            description = escape(self.description),
            navigation = element("nav", &self.navigation, " "),
            heading = escape(self.heading),
            paragraphs = self.paragraphs(),
            list = self.bullets(),
            footer = escape(self.footer),
        )
    }

    fn paragraphs(&self) -> String {
        self.sentences.chunks(PARAGRAPH).map(|chunk| format!("<p>{}</p>\n", escape(&chunk.join(" ")))).collect()
    }

    fn bullets(&self) -> String {
        if self.list.is_empty() {
            return String::new();
        }
        let items: String = self.list.iter().map(|item| format!("<li>{}</li>\n", link(item))).collect();
        format!("<ul>\n{items}</ul>\n")
    }
}

fn element(name: &str, anchors: &[Anchor], separator: &str) -> String {
    if anchors.is_empty() {
        return String::new();
    }
    let links: Vec<String> = anchors.iter().map(link).collect();
    format!("<{name}>{}</{name}>\n", links.join(separator))
}

fn link(anchor: &Anchor) -> String {
    format!("<a href=\"{}\">{}</a>", escape(&anchor.target), escape(&anchor.text))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let content = Content {
            language: Language::English,
            title: "a <b> & \"c\"".to_owned(),
            heading: "<script>",
            description: "\"><script>",
            navigation: vec![anchor("/?a=1&b=2", "x < y")],
            sentences: &[],
            list: Vec::new(),
            footer: "",
            noindex: false,
        };
        let html = content.html();
        assert!(!html.contains("<script>"));
        assert!(html.contains("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
        assert!(html.contains("<a href=\"/?a=1&amp;b=2\">x &lt; y</a>"));
    }
}
