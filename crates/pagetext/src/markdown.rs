//! *How is Markdown read?* It is written as HTML, with its title, and read as such: text by field, links, headings, code.
//!
//! Pages of type `text/markdown` are Markdown, and so are the files `llms.txt` and `llms-full.txt`, as most servers send
//! them as plain text.

use pulldown_cmark::{Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd, html};

use crate::model::CanonicalUrl;

/// Media types of Markdown.
const TYPES: [&str; 2] = ["text/markdown", "text/x-markdown"];
/// Files of plain text that are Markdown.
const FILES: [&str; 2] = ["llms.txt", "llms-full.txt"];

/// Whether a page is Markdown.
pub(super) fn is_markdown(media_type: &str, url: &CanonicalUrl) -> bool {
    let name = url.as_url().path().rsplit('/').next().unwrap_or_default();
    TYPES.contains(&media_type) || (media_type == "text/plain" && FILES.contains(&name))
}

/// Writes Markdown as HTML. Its title is that of the front matter, or else its first heading of the first level.
pub(super) fn as_html(text: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut title = Title::default();
    let mut body = String::with_capacity(text.len() * 5 / 4);
    html::push_html(&mut body, Parser::new_ext(text, options).inspect(|event| title.see(event)));
    let mut page = String::from("<!DOCTYPE html><title>");
    // Text that is written by the same rules as the body is escaped by them.
    html::push_html(&mut page, std::iter::once(Event::Text(title.found().into())));
    page + "</title><body>" + &body
}

/// The title, as far as it was seen.
#[derive(Default)]
struct Title {
    stands: Place,
    front: Option<String>,
    heading: Option<String>,
}

#[derive(Default, PartialEq)]
enum Place {
    #[default]
    Elsewhere,
    Front,
    Heading,
}

impl Title {
    fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::MetadataBlock(MetadataBlockKind::YamlStyle)) => self.stands = Place::Front,
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) if self.heading.is_none() => {
                self.stands = Place::Heading;
                self.heading = Some(String::new());
            }
            Event::End(TagEnd::MetadataBlock(_) | TagEnd::Heading(_)) => self.stands = Place::Elsewhere,
            Event::Text(text) | Event::Code(text) => self.text(text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match (&self.stands, &mut self.heading) {
            (Place::Heading, Some(heading)) => heading.push_str(text),
            (Place::Front, _) if self.front.is_none() => {
                let title = text.lines().find_map(|line| line.strip_prefix("title:"));
                self.front = title.map(|title| title.trim().trim_matches(['"', '\'']).to_owned());
            }
            _ => {}
        }
    }

    fn found(self) -> String {
        self.front.filter(|title| !title.is_empty()).or(self.heading).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::model::Field;
    use crate::tests::page;
    use crate::{PageReader, WantedText};

    #[test]
    fn headings_links_and_text_are_read_as_those_of_a_page() {
        let text = "# Valves & pumps\n\nSee [the manual](manual.md#top \"All of it\") or <http://b.test/x>.\n\n\
            ## Parts\n\n- one\n- two\n\n```rust\nfn turn() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        let page = page("http://a.test/docs/valves", "text/markdown; charset=utf-8", text);
        let reader = PageReader::default();
        let content = reader.render(&page);
        assert_eq!(content.title.as_deref(), Some("Valves & pumps"));
        let links: Vec<&str> = content.links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(links, ["http://a.test/docs/manual.md", "http://b.test/x"]);
        let has = |term: &str, field: Field| {
            content.terms.iter().any(|found| found.term == term && found.counts.0[field as usize] > 0)
        };
        assert!(has("valv", Field::Heading) && has("part", Field::Heading) && has("turn", Field::Body));
        let text = reader.text(&page, WantedText { main: true, markdown: true, ..WantedText::default() }).unwrap();
        assert!(text.main.unwrap().contains("fn turn() {}"));
        let markdown = text.markdown.unwrap();
        assert!(
            markdown.contains("## Parts") && markdown.contains("[the manual](http://a.test/docs/manual.md#top)"),
            "{markdown}"
        );
    }

    #[test]
    fn front_matter_names_the_title_and_is_no_text() {
        let title = |text: &str| {
            let content = PageReader::default().render(&page("http://a.test/x", "text/markdown", text));
            let is_text = content.terms.iter().any(|found| found.term == "secret");
            (content.title, is_text)
        };
        assert_eq!(
            title("---\ntitle: \"A <b> & c\"\nkey: secret\n---\n# Other\n\ntext"),
            (Some("A <b> & c".to_owned()), false)
        );
        assert_eq!(title("---\nkey: secret\n---\n# A `code`\n"), (Some("A code".to_owned()), false));
        assert_eq!(title("## Deeper only\n"), (None, false));
    }

    #[test]
    fn files_for_models_are_markdown_whatever_their_type() {
        let links = |url: &str, media_type: &str| {
            PageReader::default()
                .render(&page(url, media_type, "# Docs\n\n> All.\n\n- [One](/1.md): first\n"))
                .links
                .len()
        };
        assert_eq!(links("http://a.test/llms.txt", "text/plain"), 1);
        assert_eq!(links("http://a.test/docs/llms-full.txt", "text/plain; charset=utf-8"), 1);
        assert_eq!(links("http://a.test/notes.txt", "text/plain"), 0);
        assert_eq!(links("http://a.test/any", "text/x-markdown"), 1);
    }

    #[test]
    fn markdown_and_the_page_that_it_is_of_say_the_same() {
        let words = "Water flows where the valve is open, and stands where it is shut.";
        let markdown = page("http://a.test/x", "text/markdown", &format!("# Title\n\n{words}\n"));
        let html = page("http://a.test/x", "text/html", &format!("<title>Title</title><h1>Title</h1><p>{words}"));
        let reader = PageReader::default();
        assert_eq!(reader.render(&markdown).text_digest, reader.render(&html).text_digest);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)[\\[\\]()#>*_`~|!<\\-+:\n a-z0-9]{0,300}") {
            let content = PageReader::default().render(&page("http://a.test/x", "text/markdown", &text));
            prop_assert!(content.links.len() <= text.len());
        }
    }
}
