//! Text and Markdown with the shape of the page: lines of code, items, rows, headings.

use crate::names::{HEADING, Name};

use super::measures::is_block;
use super::table::{Grid, is_data_table};
use super::target::{Targets, code_language};
use super::tree::{Node, Tree};

/// The syntax of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Words and line breaks; items have a dash, cells of a row are separated by tabs.
    Plain,
    /// CommonMark with the tables of GitHub.
    Markdown,
}

/// Writes nodes of one page.
pub(super) struct Writer<'a> {
    tree: &'a Tree<'a>,
    syntax: Syntax,
    targets: &'a Targets,
    /// For each node, whether a block stands in it.
    has_block: &'a [bool],
    out: String,
    /// What each line begins with: one part for each open item and quotation.
    prefix: Vec<String>,
    /// The marker of an item whose text has not begun.
    marker: Option<String>,
    /// The number of the last item of each open list; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    /// Line feeds that are due before the next text.
    breaks: usize,
    /// Whether the line is to be broken within its paragraph.
    is_broken: bool,
    /// Whether white space is due before the next text.
    has_space: bool,
    /// Opening marks that are due before the next text.
    opens: Vec<&'static str>,
    /// Whether the next text begins a line.
    at_start: bool,
    /// Where the text of the open `code` element begins.
    code: Option<usize>,
    /// The open data table.
    grid: Option<Grid>,
}

/// Returns for each node whether a block stands in it.
pub(super) fn nodes_with_blocks(tree: &Tree<'_>) -> Vec<bool> {
    let mut has_block = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        let breaks = has_block[at] || (!node.is_text() && (is_block(node.name) || node.name == Name::Br));
        if breaks && node.parent != at {
            has_block[node.parent] = true;
        }
    }
    has_block
}

impl<'a> Writer<'a> {
    pub fn new(tree: &'a Tree<'a>, syntax: Syntax, targets: &'a Targets, has_block: &'a [bool]) -> Self {
        Self {
            tree,
            syntax,
            targets,
            has_block,
            out: String::new(),
            prefix: Vec::new(),
            marker: None,
            lists: Vec::new(),
            breaks: 0,
            is_broken: false,
            has_space: false,
            opens: Vec::new(),
            at_start: true,
            code: None,
            grid: None,
        }
    }

    /// Writes a node and its descendants, without those that are dropped.
    pub fn write(&mut self, root: usize, is_dropped: impl Fn(usize) -> bool) {
        let tree = self.tree;
        let mut open: Vec<usize> = Vec::new();
        let end = tree.nodes[root].end;
        let mut at = root;
        while at < end {
            while let Some(last) = open.pop_if(|last| tree.nodes[*last].end <= at) {
                self.close(last);
            }
            let node = &tree.nodes[at];
            if is_dropped(at) {
                at = node.end;
            } else if node.is_text() {
                self.text(node.text);
                at += 1;
            } else if node.name == Name::Math {
                self.formula(at);
                at = node.end;
            } else if node.name == Name::Pre && self.grid.is_none() {
                self.preformatted(at, &is_dropped);
                at = node.end;
            } else {
                self.open(at);
                open.push(at);
                at += 1;
            }
        }
        while let Some(last) = open.pop() {
            self.close(last);
        }
    }

    /// Returns what was written.
    pub fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    fn is_markdown(&self) -> bool {
        self.syntax == Syntax::Markdown
    }

    /// Asks for this many line feeds before the next text.
    fn end_line(&mut self, feeds: usize) {
        self.breaks = self.breaks.max(feeds);
    }

    /// Paragraphs are separated by an empty line in Markdown.
    fn end_block(&mut self) {
        self.end_line(if self.is_markdown() && self.marker.is_none() { 2 } else { 1 });
    }

    fn open(&mut self, at: usize) {
        let node = self.tree.nodes[at];
        if self.grid.is_some() {
            return self.open_in_table(at, node);
        }
        match node.name {
            Name::Br if self.is_markdown() && (self.breaks == 0 || self.is_broken) => self.line_break(),
            Name::Br => self.end_line(1),
            Name::Hr if self.is_markdown() => {
                self.end_block();
                self.settle();
                self.out.push_str("---");
                self.end_block();
            }
            Name::Ul | Name::Ol | Name::Menu => {
                self.end_line(if self.lists.is_empty() && self.is_markdown() { 2 } else { 1 });
                let first = node.attribute("start").and_then(|start| start.trim().parse::<u64>().ok()).unwrap_or(1);
                let is_numbered = node.name == Name::Ol && self.is_markdown();
                self.lists.push(is_numbered.then(|| first.saturating_sub(1)));
            }
            Name::Li => self.open_item(),
            Name::BlockQuote => {
                self.end_block();
                // The empty line before is no part of the quotation.
                self.flush_breaks();
                let mark = if self.is_markdown() { "> " } else { "" };
                self.prefix.push(mark.to_owned());
                self.out.push_str(mark);
                self.at_start = true;
            }
            Name::Table if is_data_table(self.tree, at) => {
                self.end_line(2);
                self.grid = Some(Grid::new(at));
            }
            Name::Img => self.image(node),
            name if name.is(HEADING) => {
                self.end_line(2);
                if self.is_markdown() && !self.has_block[at] {
                    let level = usize::from(node.element.map_or(b'1', |element| element.name().as_bytes()[1]) - b'0');
                    self.opens.push(&"###### "[6 - level.clamp(1, 6)..]);
                }
            }
            name if is_block(name) => self.end_block(),
            _ => self.open_inline(at, node),
        }
    }

    fn close(&mut self, at: usize) {
        let node = self.tree.nodes[at];
        if self.grid.is_some() {
            return self.close_in_table(at, node);
        }
        match node.name {
            Name::Ul | Name::Ol | Name::Menu => {
                self.lists.pop();
                self.end_line(if self.lists.is_empty() && self.is_markdown() { 2 } else { 1 });
            }
            Name::Li => {
                if self.marker.take().is_none() {
                    self.prefix.pop();
                }
                self.end_line(1);
            }
            Name::BlockQuote => {
                self.prefix.pop();
                self.end_block();
            }
            name if name.is(HEADING) => {
                self.opens.clear();
                self.end_line(if self.is_markdown() { 2 } else { 1 });
            }
            Name::Hr | Name::Br => {}
            name if is_block(name) => self.end_block(),
            _ => self.close_inline(at, node),
        }
    }

    fn open_item(&mut self) {
        self.end_line(1);
        if self.marker.take().is_some() {
            // An item within an item that has no text of its own.
            self.prefix.push(String::new());
        }
        let number = self.lists.last_mut().and_then(Option::as_mut).map(|number| {
            *number = number.saturating_add(1);
            *number
        });
        self.marker = Some(number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. ")));
    }

    fn open_inline(&mut self, at: usize, node: Node<'_>) {
        if node.name == Name::Q {
            self.raw("“");
        }
        if !self.is_markdown() || self.has_block[at] || self.code.is_some() {
            return;
        }
        if is_code(node.name) {
            self.opens.push("`");
        } else if let Some(mark) = emphasis(node.name) {
            self.opens.push(mark);
        } else if node.name == Name::A && !self.is_own_link(at) && self.targets.of(&node, "href").is_some() {
            self.opens.push("[");
        }
    }

    fn close_inline(&mut self, at: usize, node: Node<'_>) {
        if node.name == Name::Q {
            self.out.push('”');
        }
        if !self.is_markdown() || self.has_block[at] {
            return;
        }
        if is_code(node.name) {
            if !self.drop_open("`")
                && let Some(start) = self.code.take()
            {
                delimit_code(&mut self.out, start);
            }
        } else if self.code.is_some() {
            // Marks mean nothing within code.
        } else if let Some(mark) = emphasis(node.name) {
            if !self.drop_open(mark) {
                self.out.push_str(mark);
            }
        } else if node.name == Name::A
            && !self.is_own_link(at)
            && let Some(target) = self.targets.of(&node, "href")
            && !self.drop_open("[")
        {
            self.out.push_str("](");
            self.out.push_str(&target);
            self.out.push(')');
        }
    }

    /// Whether a link stands in a heading and leads to a place on its own page: to itself.
    fn is_own_link(&self, at: usize) -> bool {
        self.tree.nodes[at].attribute("href").is_some_and(|href| href.trim().starts_with('#'))
            && self.tree.ancestors(at).any(|above| self.tree.nodes[above].name.is(HEADING))
    }

    /// Takes back an opening mark behind which no text has come.
    fn drop_open(&mut self, mark: &'static str) -> bool {
        self.opens.pop_if(|last| *last == mark).is_some()
    }

    fn image(&mut self, node: Node<'_>) {
        if !self.is_markdown() || self.code.is_some() {
            return;
        }
        let source = ["src", "data-src"].into_iter().find_map(|name| self.targets.of(&node, name));
        let is_dot = ["width", "height"]
            .iter()
            .any(|name| node.attribute(name).is_some_and(|size| matches!(size.trim(), "0" | "1")));
        if let Some(source) = source.filter(|_| !is_dot) {
            let alt: String =
                node.attribute("alt").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            self.settle();
            self.out.push_str("![");
            self.out.push_str(&alt.replace(['[', ']'], ""));
            self.out.push_str("](");
            self.out.push_str(&source);
            self.out.push(')');
            self.at_start = false;
        }
    }

    /// Writes a formula: in TeX where the page has it so.
    fn formula(&mut self, at: usize) {
        let node = &self.tree.nodes[at];
        let tex = tex(self.tree, at);
        let Some(tex) = tex else { return self.formula_text(at) };
        let mark = match (self.is_markdown(), node.attribute("display")) {
            (false, _) => "",
            (true, Some("block")) => "$$",
            (true, _) => "$",
        };
        self.raw(&format!("{mark}{tex}{mark}"));
    }

    /// Writes the signs of a formula, without its annotations.
    fn formula_text(&mut self, math: usize) {
        let nodes = &self.tree.nodes;
        let mut signs = String::new();
        let mut at = math + 1;
        while at < nodes[math].end {
            let is_annotation = nodes[at].element.is_some_and(|element| element.name().starts_with("annotation"));
            if !is_annotation {
                signs.extend(nodes[at].text.split_whitespace());
            }
            at = if is_annotation { nodes[at].end } else { at + 1 };
        }
        if !signs.is_empty() {
            self.raw(&signs);
        }
    }

    /// Writes a preformatted block as it stands.
    fn preformatted(&mut self, at: usize, is_dropped: &impl Fn(usize) -> bool) {
        let text = self.verbatim(at, is_dropped);
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        if text.trim().is_empty() {
            return;
        }
        self.end_line(if self.is_markdown() { 2 } else { 1 });
        self.settle();
        let fence = if self.is_markdown() { fence(text) } else { String::new() };
        if self.is_markdown() {
            self.out.push_str(&fence);
            self.out.push_str(&code_language(self.tree, at));
            self.feed(1);
        }
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                self.feed(1);
            }
            self.out.push_str(line.trim_end());
        }
        if self.is_markdown() {
            self.feed(1);
            self.out.push_str(&fence);
        }
        self.end_line(if self.is_markdown() { 2 } else { 1 });
    }

    /// Returns the text of a block with its white space.
    fn verbatim(&self, root: usize, is_dropped: &impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        let mut at = root + 1;
        while at < self.tree.nodes[root].end {
            let node = &self.tree.nodes[at];
            if is_dropped(at) {
                at = node.end;
                continue;
            }
            if node.is_text() {
                text.push_str(node.text);
            } else if node.name == Name::Br || (is_block(node.name) && !text.is_empty() && !text.ends_with('\n')) {
                text.push('\n');
            }
            at += 1;
        }
        text
    }

    /// Adds text; formulas in it stay as they are.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while self.is_markdown()
            && self.code.is_none()
            && let Some((from, to)) = super::formula::find(rest)
        {
            self.words(&rest[..from]);
            for (number, word) in rest[from..to].split_whitespace().enumerate() {
                self.has_space |= number > 0;
                self.raw(word);
            }
            rest = &rest[to..];
        }
        self.words(rest);
    }

    /// Adds text with white space folded.
    fn words(&mut self, text: &str) {
        self.has_space |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            self.word(word);
            self.has_space = true;
        }
        if !text.is_empty() {
            self.has_space = text.ends_with(char::is_whitespace) || (self.has_space && text.trim().is_empty());
        }
    }

    fn word(&mut self, word: &str) {
        self.settle();
        let is_first = std::mem::take(&mut self.at_start);
        if self.is_markdown() && self.code.is_none() {
            super::escape::push(&mut self.out, word, is_first, self.grid.is_some());
        } else {
            self.out.push_str(word);
        }
    }

    /// Adds characters that are no part of the page's text.
    fn raw(&mut self, text: &str) {
        self.settle();
        self.at_start = false;
        self.out.push_str(text);
    }

    /// Writes the line feeds, white space and marks that are due.
    fn settle(&mut self) {
        if self.grid.is_some() {
            if (self.has_space || self.breaks > 0) && !self.at_start && !self.out.ends_with(' ') {
                self.out.push_str(if self.breaks > 0 && self.is_markdown() { "<br>" } else { " " });
            }
        } else if self.breaks > 0 || self.out.is_empty() || self.marker.is_some() {
            self.flush_breaks();
        } else if self.has_space && !self.out.ends_with(char::is_whitespace) {
            self.out.push(' ');
        }
        (self.breaks, self.has_space) = (0, false);
        for mark in std::mem::take(&mut self.opens) {
            self.out.push_str(mark);
            if mark == "`" {
                self.out.pop();
                self.code = Some(self.out.len());
            }
            self.at_start &= mark.starts_with('#');
        }
    }

    /// Ends the line as asked, and begins the next with its prefix.
    fn flush_breaks(&mut self) {
        let feeds = if self.is_line_begun() { 0 } else { self.breaks };
        let is_broken = std::mem::take(&mut self.is_broken);
        if feeds > 0 {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
        if is_broken && feeds == 1 && self.marker.is_none() {
            self.out.push('\\');
        }
        let is_start = self.out.is_empty();
        match self.marker.take() {
            Some(marker) => {
                self.feed(feeds);
                if is_start {
                    self.push_prefix();
                }
                self.out.push_str(&marker);
                self.prefix.push(" ".repeat(marker.len()));
            }
            None => {
                self.feed(feeds);
                if is_start {
                    self.push_prefix();
                }
            }
        }
        self.at_start |= feeds > 0 || is_start;
        self.breaks = 0;
        self.has_space = false;
    }

    /// Whether the line has its prefix and nothing else, or is the first.
    fn is_line_begun(&self) -> bool {
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        let mut line = &self.out[start..];
        let has_prefix =
            self.prefix.iter().all(|part| line.strip_prefix(part.as_str()).map(|rest| line = rest).is_some());
        has_prefix && line.is_empty() && (start == 0 || !self.prefix.is_empty())
    }

    fn feed(&mut self, feeds: usize) {
        for number in 0..feeds {
            self.out.push('\n');
            self.push_prefix();
            if number + 1 < feeds {
                self.out.truncate(self.out.trim_end_matches(' ').len());
            }
        }
    }

    fn push_prefix(&mut self) {
        self.prefix.iter().for_each(|part| self.out.push_str(part));
    }

    /// Breaks the line within a paragraph; twice ends it.
    fn line_break(&mut self) {
        self.end_line(if self.is_broken { 2 } else { 1 });
        self.is_broken = true;
    }

    fn open_in_table(&mut self, at: usize, node: Node<'_>) {
        match node.name {
            Name::Tr => self.grid.iter_mut().for_each(Grid::begin_row),
            Name::Td | Name::Th | Name::Caption => {
                let out = std::mem::take(&mut self.out);
                if let Some(grid) = &mut self.grid {
                    grid.begin_cell(out, &node);
                }
                (self.breaks, self.has_space, self.at_start) = (0, false, true);
            }
            Name::Img => self.image(node),
            Name::Br => self.end_line(1),
            name if is_block(name) => self.end_line(1),
            _ => self.open_inline(at, node),
        }
    }

    fn close_in_table(&mut self, at: usize, node: Node<'_>) {
        match node.name {
            Name::Td | Name::Th | Name::Caption => {
                self.opens.clear();
                let cell = std::mem::take(&mut self.out);
                if let Some(grid) = &mut self.grid {
                    self.out = grid.end_cell(cell.trim().to_owned());
                }
                (self.breaks, self.has_space) = (0, false);
            }
            Name::Table if self.grid.as_ref().is_some_and(|grid| grid.table == at) => {
                if let Some(grid) = self.grid.take() {
                    self.table(&grid);
                }
            }
            Name::Br => {}
            name if is_block(name) => self.end_line(1),
            _ => self.close_inline(at, node),
        }
    }

    fn table(&mut self, grid: &Grid) {
        let lines = if self.is_markdown() { grid.markdown() } else { grid.plain() };
        for (number, line) in lines.iter().enumerate() {
            self.end_line(if number == 0 { 2 } else { 1 });
            self.at_start = false;
            self.settle();
            self.out.push_str(line);
        }
        self.end_line(if self.is_markdown() { 2 } else { 1 });
    }
}

/// Returns the TeX of a formula: its `alttext`, or an annotation.
fn tex(tree: &Tree<'_>, math: usize) -> Option<String> {
    let is_tex = |at: &usize| tree.nodes[*at].attribute("encoding").is_some_and(|kind| kind.trim().ends_with("tex"));
    let annotation = || (math..tree.nodes[math].end).find(is_tex).map(|at| tree.text(at));
    let tex = tree.nodes[math].attribute("alttext").map(str::to_owned).or_else(annotation)?;
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    (!tex.is_empty()).then_some(tex)
}

fn is_code(name: Name) -> bool {
    matches!(name, Name::Code | Name::Kbd | Name::Samp | Name::Tt)
}

fn emphasis(name: Name) -> Option<&'static str> {
    match name {
        Name::B | Name::Strong => Some("**"),
        Name::I | Name::Em | Name::Var | Name::Cite | Name::Dfn => Some("*"),
        Name::Del | Name::S | Name::Strike => Some("~~"),
        _ => None,
    }
}

/// Returns a fence longer than any in the text.
fn fence(text: &str) -> String {
    let longest =
        text.lines().map(|line| line.trim_start()).map(|line| line.len() - line.trim_start_matches('`').len());
    "`".repeat(longest.max().unwrap_or_default().max(2) + 1)
}

/// Puts the text from `start` between as many backticks as it needs.
fn delimit_code(out: &mut String, start: usize) {
    let text = &out[start..];
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    out.insert_str(start, &format!("{ticks}{pad}"));
    out.push_str(pad);
    out.push_str(&ticks);
}
