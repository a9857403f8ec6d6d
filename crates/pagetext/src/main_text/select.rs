//! Which nodes are the main text of a page?

use crate::names::{HEADING, Name};

use super::common::CommonBlocks;
use super::measures::{Measures, is_block};
use super::roles::Role;
use super::tree::Tree;
use super::vocabulary::squeezed;

/// Bytes of prose from which a marked body is believed to be one.
const BODY_BYTES: u32 = 200;

/// Bytes of text from which a repeated part is dropped: shorter ones are in the words of a manual.
const COMMON_BYTES: u32 = 40;

/// No node: the part of the page that is in no article.
const NOWHERE: usize = usize::MAX;

/// The main text: the node around it, and what is dropped from it.
#[derive(Debug)]
pub(super) struct Selected {
    pub root: usize,
    /// The heading of the page, if it stands elsewhere.
    pub heading: Option<usize>,
    pub dropped: Vec<bool>,
}

impl Selected {
    /// Whether any text is left.
    pub fn has_text(&self, tree: &Tree<'_>) -> bool {
        let mut at = self.root;
        while at < tree.nodes[self.root].end {
            let node = &tree.nodes[at];
            if !self.dropped[at] && node.length > 0 {
                return true;
            }
            at = if self.dropped[at] { node.end } else { at + 1 };
        }
        false
    }
}

/// Selects the main text. `is_article` is what the page's metadata say; `title` is its title.
///
/// `common` is what the pages of the host repeat.
pub(super) fn select(tree: &Tree<'_>, is_article: bool, title: &Title, common: &CommonBlocks) -> Option<Selected> {
    if tree.nodes.is_empty() {
        return None;
    }
    let roles: Vec<Role> = (0..tree.nodes.len()).map(|at| Role::of(tree, at)).collect();
    let mut page =
        Page { tree, roles, dropped: vec![false; tree.nodes.len()], measures: Measures::default(), is_article };
    page.drop_controls();
    page.measure();
    page.drop_site();
    page.measure();
    page.drop_common(common);
    page.drop_comments();
    page.measure();
    page.drop_teasers();
    page.measure();
    let root = page.root();
    if page.is_article {
        page.drop_captions(root);
        page.drop_details(root);
        page.measure();
        page.drop_links(root);
        page.measure();
        page.drop_head(root, title);
        page.drop_empty_headings(root);
    } else {
        page.drop_links_above(root, title);
    }
    let heading = if page.is_article { None } else { page.heading_of(root, title) };
    Some(Selected { root, heading, dropped: page.dropped })
}

struct Page<'a> {
    tree: &'a Tree<'a>,
    roles: Vec<Role>,
    dropped: Vec<bool>,
    measures: Measures,
    is_article: bool,
}

impl Page<'_> {
    fn measure(&mut self) {
        self.measures = Measures::of(self.tree, &self.dropped);
    }

    /// Calls `drops` for each node within `root` that is not dropped yet, outermost first, and drops it if that says so.
    fn drop_where(&mut self, root: usize, mut drops: impl FnMut(&Self, usize) -> bool) {
        let mut at = root + 1;
        while at < self.tree.nodes[root].end {
            let node = self.tree.nodes[at];
            if self.dropped[at] {
                at = node.end;
            } else if !node.is_text() && drops(self, at) {
                self.dropped[at] = true;
                at = node.end;
            } else {
                at += 1;
            }
        }
    }

    /// The weight of a node: prose above all, then other text, and links where there is little else.
    fn weight(&self, node: usize) -> u64 {
        let (text, link) = (u64::from(self.measures.text[node]), u64::from(self.measures.link[node]));
        // A page of links is about its links.
        let is_index = self.measures.is_linked(0, 50);
        32 * u64::from(self.measures.prose[node]) + 8 * (text - link) + if is_index { 8 * link } else { link }
    }

    /// Whether a node has at least this percentage of the page's weight.
    fn is_heavy(&self, node: usize, percent: u64) -> bool {
        self.weight(node) * 100 >= self.weight(0) * percent
    }

    fn drop_controls(&mut self) {
        self.drop_where(0, |page, at| page.roles[at] == Role::Control);
    }

    /// Drops what is hidden and what belongs to the site, unless it is most of the page.
    ///
    /// Where a body is marked, all of that counts as its surroundings, however much it is.
    fn drop_site(&mut self) {
        let bodies: Vec<usize> = (0..self.roles.len())
            .filter(|&at| {
                matches!(self.roles[at], Role::ArticleBody | Role::Body | Role::Main)
                    && self.measures.prose[at] >= BODY_BYTES
            })
            .collect();
        self.drop_where(0, |page, at| {
            let percent = match page.roles[at] {
                Role::Hidden => 30,
                Role::Site => 50,
                Role::Boilerplate => 40,
                _ if page.is_site_header(at) => 30,
                _ => return false,
            };
            let end = page.tree.nodes[at].end;
            let (mut within, mut beside) = (0, 0);
            for &body in &bodies {
                if (at..end).contains(&body) {
                    within = within.max(page.measures.prose[body]);
                } else if !(body..page.tree.nodes[body].end).contains(&at) {
                    beside = beside.max(page.measures.prose[body]);
                }
            }
            beside > within || !page.is_heavy(at, percent)
        });
    }

    /// Drops articles beside or within one that is far longer: they are teasers of other pages.
    fn drop_teasers(&mut self) {
        let nodes = &self.tree.nodes;
        // The prose of each article without the articles in it.
        let mut own: Vec<(u32, usize)> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for at in (0..nodes.len()).filter(|&at| nodes[at].name == Name::Article && !self.dropped[at]) {
            while open.pop_if(|last| nodes[own[*last].1].end <= at).is_some() {}
            let prose = self.measures.prose[at];
            if let Some(&around) = open.last() {
                own[around].0 -= prose.min(own[around].0);
            }
            open.push(own.len());
            own.push((prose, at));
        }
        let articles: Vec<usize> = own.iter().map(|(_, at)| *at).collect();
        if self.is_article {
            // The article itself may be no `article`: then these are all teasers.
            let inside: u32 = own.iter().map(|(prose, _)| *prose).sum();
            own.push((self.measures.prose[0] - inside.min(self.measures.prose[0]), NOWHERE));
        }
        own.sort_unstable_by_key(|&(prose, at)| (std::cmp::Reverse(prose), at));
        let [(most, best), (second, _), ..] = own[..] else { return };
        // Teasers are longer beside a page that says it is one article.
        let (times, of) = if self.is_article { (3, 2) } else { (5, 2) };
        if most < BODY_BYTES || u64::from(most) * of < u64::from(second) * times {
            return;
        }
        let holds_best = |at: usize| (at..self.tree.nodes[at].end).contains(&best);
        articles.into_iter().filter(|&at| !holds_best(at)).for_each(|at| self.dropped[at] = true);
    }

    /// Whether this is the header of the site, not that of an article.
    fn is_site_header(&self, at: usize) -> bool {
        self.tree.nodes[at].name == Name::Header
            && !self
                .tree
                .ancestors(at)
                .any(|above| matches!(self.roles[above], Role::Main | Role::ArticleBody | Role::Body))
    }

    /// Drops what the pages of the host repeat, unless it is most of the page.
    fn drop_common(&mut self, common: &CommonBlocks) {
        if common.is_empty() {
            return;
        }
        let repeated = common.measure(self.tree, &self.dropped);
        self.drop_where(0, |page, at| {
            let text = page.measures.text[at];
            is_block(page.tree.nodes[at].name)
                && text >= COMMON_BYTES
                && u64::from(repeated[at]) * 100 >= u64::from(text) * 95
                && !page.is_heavy(at, 50)
        });
        self.measure();
    }

    /// Drops what readers wrote, unless it is the page.
    fn drop_comments(&mut self) {
        let mut comments = 0;
        let mut at = 0;
        while at < self.tree.nodes.len() {
            if !self.dropped[at] && self.roles[at] == Role::Comments {
                comments += u64::from(self.measures.prose[at]);
            } else if !self.dropped[at] {
                at += 1;
                continue;
            }
            at = self.tree.nodes[at].end;
        }
        let others = u64::from(self.measures.prose[0]) - comments;
        if others * 6 >= comments || others > 1000 {
            self.drop_where(0, |page, at| page.roles[at] == Role::Comments && !page.is_heavy(at, 80));
        }
    }

    /// Returns the innermost node with nearly all that counts: the marked bodies, or else the prose.
    fn root(&self) -> usize {
        let all = u64::from(self.measures.prose[0]).max(1);
        for (marks, percent) in [(&[Role::ArticleBody][..], 30), (&[Role::Body], 40), (&[Role::Main], 40)] {
            let marked = self.marked(marks);
            if u64::from(marked[0]) * 100 >= all * percent {
                return self.descend(|node| u64::from(marked[node]));
            }
        }
        self.descend(|node| self.weight(node))
    }

    /// Drops links that stand above the heading of the page: the first `h1`, or the first heading that the title repeats.
    fn drop_links_above(&mut self, root: usize, title: &Title) {
        let nodes = &self.tree.nodes;
        let headings = || (root..nodes[root].end).filter(|&at| nodes[at].name.is(HEADING) && !self.dropped[at]);
        let first = headings().find(|&at| nodes[at].name == Name::H1);
        let first = first.or_else(|| headings().next().filter(|&at| title.has(&self.tree.text(at))));
        if let Some(heading) = first {
            self.drop_where(root, |page, at| {
                page.tree.nodes[at].end <= heading && page.measures.text[at] > 0 && page.measures.is_linked(at, 60)
            });
        }
    }

    /// Returns the heading outside of the main text that the title repeats.
    fn heading_of(&self, root: usize, title: &Title) -> Option<usize> {
        let nodes = &self.tree.nodes;
        let is_heading = |at: usize| nodes[at].name.is(HEADING) && title.has(&self.tree.text(at));
        let inside = root..nodes[root].end;
        let all = || (0..nodes.len()).filter(|&at| is_heading(at));
        if all().any(|at| inside.contains(&at)) { None } else { all().find(|at| *at < root) }
    }

    /// Returns how much prose of each node stands in a node with one of these roles.
    fn marked(&self, marks: &[Role]) -> Vec<u32> {
        let count = self.tree.nodes.len();
        let mut marked = vec![0; count];
        for at in (0..count).rev() {
            if self.dropped[at] {
                continue;
            }
            if marks.contains(&self.roles[at]) {
                marked[at] = self.measures.prose[at];
            }
            let parent = self.tree.nodes[at].parent;
            if parent != at {
                marked[parent] += marked[at];
            }
        }
        marked
    }

    /// Goes down from the root as long as one child has most of the weight.
    fn descend(&self, weight: impl Fn(usize) -> u64) -> usize {
        // Tables and lists beside the prose of a manual belong to it.
        let share = if self.is_article { 80 } else { 90 };
        let mut at = 0;
        loop {
            let children = self
                .tree
                .children(at)
                .filter(|&child| is_block(self.tree.nodes[child].name) || self.tree.nodes[child].element.is_some());
            let Some(best) = children.filter(|&child| !self.dropped[child]).max_by_key(|&child| weight(child)) else {
                return at;
            };
            if weight(best) == 0 || weight(best) * 100 < weight(at) * share || !self.may_be_root(best) {
                return at;
            }
            at = best;
        }
    }

    /// Whether a node may be the whole main text: a single paragraph is not.
    fn may_be_root(&self, at: usize) -> bool {
        !matches!(self.tree.nodes[at].name, Name::P | Name::Pre | Name::Ul | Name::Ol | Name::Li | Name::Tr | Name::Dl)
    }

    fn drop_captions(&mut self, root: usize) {
        self.drop_where(root, |page, at| page.roles[at] == Role::Caption && !page.is_heavy(at, 20));
    }

    fn drop_details(&mut self, root: usize) {
        self.drop_where(root, |page, at| {
            page.roles[at] == Role::Detail && page.measures.text[at] < 200 && page.measures.prose[at] == 0
        });
    }

    /// Drops blocks that are mostly links.
    fn drop_links(&mut self, root: usize) {
        self.drop_where(root, |page, at| {
            let measures = &page.measures;
            if !is_block(page.tree.nodes[at].name) {
                return page.is_list_of_links(at);
            }
            let unlinked = measures.text[at] - measures.link[at];
            measures.text[at] > 0
                && measures.is_linked(at, 50)
                && unlinked < 80
                && !page.is_heavy(at, 20)
                && !page.is_sentence(at)
        });
    }

    /// Whether an inline element holds several long links and nothing else, as windows do that open over a word.
    fn is_list_of_links(&self, at: usize) -> bool {
        let (nodes, measures) = (&self.tree.nodes, &self.measures);
        measures.text[at] >= 80
            && measures.is_linked(at, 95)
            && nodes[at..nodes[at].end].iter().filter(|node| node.name == Name::A).count() > 1
    }

    /// Whether a node is a paragraph that ends as a sentence does.
    fn is_sentence(&self, at: usize) -> bool {
        let nodes = &self.tree.nodes;
        let last = nodes[at..nodes[at].end].iter().rev().find(|node| node.is_text() && !node.text.trim().is_empty());
        nodes[at].name == Name::P
            && self.measures.text[at] >= 40
            && last.is_some_and(|last| last.text.trim_end().ends_with(['.', '!', '?', '\u{201d}', '"', '。']))
    }

    /// Drops what stands before the first paragraph: title, author and date.
    fn drop_head(&mut self, root: usize, title: &Title) {
        let nodes = &self.tree.nodes;
        let starts = |at: usize| {
            !self.dropped[at]
                && ((nodes[at].name == Name::P && self.measures.text[at] > 0)
                    || (self.measures.own[at] >= 60 && self.measures.prose[at] > 0 && !nodes[at].name.is(HEADING)))
        };
        let mut first = root;
        while first < nodes[root].end && !starts(first) {
            first = if self.dropped[first] { nodes[first].end } else { first + 1 };
        }
        if first < nodes[root].end {
            let is_kept =
                |page: &Self, at: usize| page.tree.nodes[at].name.is(HEADING) && !title.has(&page.tree.text(at));
            self.drop_where(root, |page, at| {
                let end = page.tree.nodes[at].end;
                end <= first && !(at..end).any(|inner| is_kept(page, inner))
            });
        }
    }

    /// Drops headings behind which nothing stands any more.
    fn drop_empty_headings(&mut self, root: usize) {
        let nodes = &self.tree.nodes;
        for at in (root..nodes[root].end).rev() {
            let is_dropped = self.dropped[at] || self.tree.ancestors(at).any(|above| self.dropped[above]);
            if is_dropped {
                continue;
            }
            if nodes[at].name.is(HEADING) {
                self.dropped[at] = true;
            } else if nodes[at].is_text()
                && !nodes[at].text.trim().is_empty()
                && !self.tree.ancestors(at).any(|above| nodes[above].name.is(HEADING))
            {
                return;
            }
        }
    }
}

/// The letters and digits of a page's title, in lower case.
#[derive(Debug)]
pub(super) struct Title(String);

impl Title {
    pub fn new(title: &str) -> Self {
        Self(squeezed(title))
    }

    /// Whether the title has these words, or they have the title's: a title may name the site besides.
    fn has(&self, text: &str) -> bool {
        let text = squeezed(text);
        !text.is_empty() && !self.0.is_empty() && (self.0.contains(&text) || text.contains(&self.0))
    }
}
