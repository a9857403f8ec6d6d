//! Reads Markdown as far as the checks need it: headings, links and code.

use regex::Regex;

/// The text of one Markdown file, without its fenced blocks.
pub struct Markdown {
    prose: Vec<String>,
    fenced: Vec<String>,
}

impl Markdown {
    pub fn parse(text: &str) -> Self {
        let (mut prose, mut fenced, mut is_fenced, mut is_diff) = (Vec::new(), Vec::new(), false, false);
        for line in text.lines() {
            if let Some(kind) = line.trim_start().strip_prefix("```") {
                (is_fenced, is_diff) = (!is_fenced, kind == "diff");
            } else if is_fenced {
                // A dash before a line of a diff is no flag.
                fenced.extend((!is_diff).then(|| line.to_owned()));
            } else {
                prose.push(line.to_owned());
            }
        }
        assert!(!is_fenced, "a fenced block is not closed");
        Self { prose, fenced }
    }

    /// The lines outside fenced blocks.
    pub fn prose(&self) -> &[String] {
        &self.prose
    }

    /// The anchors of the headings, spelled as GitHub and mdBook spell them.
    pub fn anchors(&self) -> Vec<String> {
        self.prose
            .iter()
            .filter_map(|line| Some(slug(line.strip_prefix('#')?.trim_start_matches('#').trim())))
            .collect()
    }

    /// The targets of links: `[text](target)`.
    pub fn links(&self) -> Vec<String> {
        let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
        let spans = Regex::new("`[^`]*`").unwrap();
        let found = |line: &String| {
            let line = spans.replace_all(line, "`").into_owned();
            link.captures_iter(&line).map(|link| link[1].to_owned()).collect::<Vec<_>>()
        };
        self.prose.iter().flat_map(found).collect()
    }

    /// Code: the spans between backticks, and the lines of fenced blocks.
    pub fn code(&self) -> Vec<String> {
        let lines = self.fenced.iter().map(|line| line.trim_start_matches("$ ").to_owned());
        self.prose.iter().flat_map(|line| spans(line)).chain(lines).collect()
    }
}

/// The code spans of a line.
pub fn spans(line: &str) -> Vec<String> {
    let span = Regex::new("`([^`]+)`").unwrap();
    span.captures_iter(line).map(|span| span[1].to_owned()).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}
