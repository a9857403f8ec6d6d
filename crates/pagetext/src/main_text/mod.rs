//! *Which part of a page is its text, and how is it written?*
//!
//! The page's tree becomes a list of nodes ([`tree`]). Each has a role, by its element, its ARIA role, microdata and the
//! words of its `class` and `id` ([`roles`], [`vocabulary`]), and an amount of text, links and prose ([`measures`]).
//! What belongs to the site is dropped; then the innermost node with nearly all prose is the main text ([`select`]).
//! On pages that say that they are articles ([`article`]), links, captions, title and author go as well. On all others
//! they stay, with tables, lists and code: an index page is its links.
//!
//! `docs/design/pagetext.md` has the figures.

mod article;
mod common;
mod escape;
mod formula;
mod measures;
mod roles;
mod select;
mod table;
mod target;
mod tree;
mod vocabulary;
mod writer;

use scraper::Html;
use url::Url;

use crate::language::DetectedLanguage;
use crate::license;

pub use common::{BlockCounts, CommonBlocks};
use select::{Selected, Title};
use target::Targets;
use tree::Tree;
use writer::{Syntax, Writer, nodes_with_blocks};

/// Which texts of a page are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedText {
    /// The main text.
    pub main: bool,
    /// All visible text.
    pub full: bool,
    /// The main text as Markdown.
    pub markdown: bool,
}

/// The texts of a page, as far as they are wanted, and what can be told from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageText {
    /// The main text.
    pub main: Option<String>,
    /// All visible text.
    pub full: Option<String>,
    /// The main text as Markdown.
    pub markdown: Option<String>,
    /// The language of the main text, whatever the page declares.
    pub language: Option<DetectedLanguage>,
    /// The license that the page names: an address or a name.
    pub license: Option<String>,
}

impl PageText {
    /// The texts of a page that is text alone.
    pub(crate) fn of_plain(text: String, wanted: WantedText) -> Self {
        let when = |is_wanted: bool| is_wanted.then(|| text.clone());
        Self { main: when(wanted.main), full: when(wanted.full), markdown: when(wanted.markdown), ..Self::default() }
    }
}

/// What of a page its main text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The part that is to be found.
    Main,
    /// All of it.
    All,
}

/// Counts the blocks of text of an HTML page.
pub(crate) fn count_blocks(html: &str, counts: &mut BlockCounts) {
    if !counts.is_full() {
        counts.add(&Tree::of(&Html::parse_document(html)));
    }
}

/// Reads the texts of an HTML page at this address; `None` if it has no visible text.
pub(crate) fn of_html(
    html: &str,
    address: &Url,
    scope: Scope,
    wanted: WantedText,
    common: &CommonBlocks,
) -> Option<PageText> {
    let parsed = Html::parse_document(html);
    let tree = Tree::of(&parsed);
    if tree.nodes.iter().all(|node| node.length == 0) {
        return None;
    }
    let has_block = nodes_with_blocks(&tree);
    let targets = Targets::new(address, &parsed);
    let all = Selected { root: 0, heading: None, dropped: vec![false; tree.nodes.len()] };
    let written = |selected: &Selected, syntax: Syntax| {
        let mut writer = Writer::new(&tree, syntax, &targets, &has_block);
        if let Some(heading) = selected.heading {
            writer.write(heading, |_| false);
        }
        writer.write(selected.root, |at| selected.dropped[at]);
        writer.finish()
    };
    let main = match scope {
        Scope::Main if wanted.main || wanted.markdown => {
            select::select(&tree, article::is_article(&parsed), &Title::new(&title(&parsed)), common)
                .filter(|main| main.has_text(&tree))
        }
        _ => None,
    };
    let main = main.as_ref().unwrap_or(&all);
    Some(PageText {
        main: wanted.main.then(|| written(main, Syntax::Plain)),
        full: wanted.full.then(|| written(&all, Syntax::Plain)),
        markdown: wanted.markdown.then(|| written(main, Syntax::Markdown)),
        language: None,
        license: license::of_page(&parsed, targets.base()),
    })
}

/// Returns the text of the first `title` of HTML.
fn title(html: &Html) -> String {
    let mut elements =
        html.tree.nodes().filter(|node| node.value().as_element().is_some_and(|element| element.name() == "title"));
    let texts = elements.next().into_iter().flat_map(|title| title.children());
    texts.filter_map(|child| child.value().as_text()).map(|text| &**text).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROSE: &str =
        "A pump moves water from a low place to a high one, and it needs a valve so that none of it runs back again.";

    fn text(html: &str) -> PageText {
        let wanted = WantedText { main: true, full: true, markdown: true };
        let address = Url::parse("http://h.test/a/b.html").unwrap();
        of_html(html, &address, Scope::Main, wanted, &CommonBlocks::default()).unwrap_or_default()
    }

    fn main(html: &str) -> String {
        text(html).main.unwrap_or_default()
    }

    #[test]
    fn shape_is_kept_in_text_and_markdown() {
        let page = text(include_str!("shapes.html"));
        assert_eq!(page.main.unwrap(), include_str!("shapes.txt").trim_end());
        assert_eq!(page.markdown.unwrap(), include_str!("shapes.md").trim_end());
    }

    #[test]
    fn what_belongs_to_the_site_is_left_out_by_element_role_or_name() {
        for site in [
            "<nav>Menu</nav>",
            "<header>Menu</header>",
            "<div role=navigation>Menu</div>",
            "<div class='site-footer'>Menu</div>",
            "<ul id=breadCrumbs><li>Menu</ul>",
            "<div class='related posts'><p>Menu</div>",
            "<form><button>Menu</button></form>",
            "<div hidden>Menu</div>",
            "<p style='Display : none'>Menu</p>",
        ] {
            assert_eq!(main(&format!("<body>{site}<div><p>{PROSE}</div>{site}")), PROSE, "{site}");
            assert!(
                text(&format!("<body>{site}<div><p>{PROSE}</div>")).full.unwrap().contains("Menu")
                    || site.contains("hidden"),
                "{site}"
            );
        }
    }

    #[test]
    fn a_page_that_is_nothing_else_is_kept() {
        assert_eq!(main(&format!("<body><nav><p>{PROSE}</nav>")), PROSE);
        assert_eq!(main("<body><nav>Menu</nav>"), "Menu");
        let list = "<ul><li><a href=a>One thing</a><li><a href=b>Another thing</a></ul>";
        assert_eq!(
            main(&format!("<title>Index</title><body><h1>Index</h1>{list}")),
            "Index\n- One thing\n- Another thing"
        );
        assert_eq!(text(""), PageText::default());
    }

    #[test]
    fn an_article_is_without_title_author_and_links_to_others() {
        let body = format!(
            "<article><h1>On pumps</h1><div class=byline>By Jane Roe</div><p>{PROSE}<h2>Valves</h2><p>{PROSE}\
             <h3>More</h3><ul><li><a href=x>What a year it was for valves</a></ul></article>"
        );
        let marks = [
            "<meta property=og:type content=article>",
            "<script type=application/ld+json>{\"@type\": [\"BlogPosting\"]}</script>",
            "<body><div itemscope itemtype='https://schema.org/Article'>",
        ];
        for mark in marks {
            let page = format!("<title>On pumps | Site</title>{mark}{body}");
            assert_eq!(main(&page), format!("{PROSE}\n\nValves\n{PROSE}"), "{mark}");
        }
        let manual = main(&format!("<title>On pumps</title>{body}"));
        assert!(manual.starts_with("On pumps\n") && manual.ends_with("- What a year it was for valves"), "{manual}");
    }

    #[test]
    fn comments_are_left_out_of_an_article_and_are_the_text_of_a_thread() {
        let comments = format!("<div id=comments><p>{PROSE}<p>First!</div>");
        assert_eq!(main(&format!("<div class=post><p>{PROSE}</div>{comments}")), PROSE);
        assert_eq!(main(&comments), format!("{PROSE}\nFirst!"));
    }

    #[test]
    fn posts_of_a_thread_stay_and_teasers_beside_an_article_go() {
        let posts: String = (0..4).map(|n| format!("<article><p>{n} {PROSE}</article>")).collect();
        assert_eq!(main(&posts).lines().count(), 4);
        let long = format!("<article>{}</article>", format!("<p>{PROSE}").repeat(9));
        assert_eq!(main(&format!("{long}{posts}")).lines().count(), 9);
    }

    #[test]
    fn a_heading_outside_of_the_main_text_is_that_of_a_manual() {
        let page =
            format!("<title>pump - Manual</title><div class=header><h1>pump</h1></div><div><p>{PROSE}<p>{PROSE}</div>");
        assert_eq!(main(&page), format!("pump\n{PROSE}\n{PROSE}"));
    }

    #[test]
    fn what_the_pages_of_a_host_repeat_is_left_out() {
        let about =
            "<div><b>About us</b> We have made pumps and valves for farms and mines since the year of the flood.</div>";
        let page =
            |n: usize| format!("<h1>Pump {n}</h1><h2>How to use it</h2><p>{} {PROSE}</p>{about}", "word ".repeat(n));
        let mut counts = BlockCounts::default();
        (1..9).for_each(|n| count_blocks(&page(n), &mut counts));
        let (html, address) = (page(3), Url::parse("http://h.test/").unwrap());
        let wanted = WantedText { main: true, ..WantedText::default() };
        let text = |common: &CommonBlocks| of_html(&html, &address, Scope::Main, wanted, common).unwrap().main.unwrap();
        assert!(text(&CommonBlocks::default()).contains("About us"));
        let main = text(&counts.common());
        assert!(main.contains("How to use it\nword word word A pump") && !main.contains("About us"), "{main}");
    }

    #[test]
    fn an_id_that_repeats_its_heading_says_nothing() {
        for word in ["Comment", "Share", "Menu", "Sidebar", "Related", "Social", "Footer", "Promo"] {
            for (id, heading) in [
                (word.to_lowercase(), word.to_owned()),
                (format!("the-{}-objects", word.to_lowercase()), format!("The {word} objects")),
                (format!("{}1", word.to_lowercase()), word.to_owned()),
                (format!("module-{}-objects", word.to_lowercase()), format!("{word} objects")),
            ] {
                let section = format!("<section id='{id}'><h2>{heading}<a href='#{id}'>#</a></h2><p>{PROSE}</section>");
                let page = main(&format!("<body><main><h1>Manual</h1><p>{PROSE}<p>{PROSE}{section}</main>"));
                assert_eq!(page.matches(PROSE).count(), 3, "{id}: {page}");
            }
            let id = word.to_lowercase();
            let page = main(&format!("<body><div><p>{PROSE}<p>{PROSE}</div><div id='{id}'><b>Follow us</b></div>"));
            assert!(word == "Comment" || !page.contains("Follow us"), "{id}: {page}");
        }
    }

    #[test]
    fn formulas_stay_as_they_are_in_markdown() {
        let markdown = |text: &str| super::tests::text(&format!("<p>{text} {PROSE}")).markdown.unwrap();
        for formula in [
            r"$\bar{X}_D * Y_1$",
            r"$$a_1*b_2*c_3$$",
            r"\(x_{i} * y_*\)",
            r"\[ \sum_{i=1}^n x_i* \]",
            r"\begin{align} a_1 * b_ \end{align}",
        ] {
            assert!(
                markdown(&format!("Here {formula}, too.")).starts_with(&format!("Here {formula}, too.")),
                "{formula}"
            );
        }
        assert!(markdown("It costs $5 *or* $10 _now_.").starts_with(r"It costs $5 \*or\* $10 \_now\_."));
    }

    #[test]
    fn a_heading_is_no_link_to_itself() {
        let html = format!("<h2 id=a><a href='#a'>One</a></h2><p>{PROSE}<h2><a href=b>Two</a></h2><p>{PROSE}");
        let page = text(&html).markdown.unwrap();
        assert!(page.contains("## One\n") && page.contains("## [Two](http://h.test/a/b)"), "{page}");
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        let page = |part: &str| main(&part.repeat(3_000));
        for part in [
            "<article>",
            "<article><p>x</article>",
            "<nav>a",
            "<h1>a</h1>",
            "<table><tr><td>a",
            "<b><p>x",
            "<li>a",
            "<blockquote>",
        ] {
            page(part);
        }
    }

    proptest! {
        #[test]
        fn any_page_is_written(parts in prop::collection::vec("(<(/)?(p|div|li|ul|ol|table|tr|td|pre|b|a href=x|code|blockquote|article|nav|h2|br|math|q|img src=x)>|\\PC{0,6}| |`|\\|)", 0..40)) {
            let page = text(&parts.concat());
            prop_assert!(page.main.is_none_or(|text| !text.ends_with(char::is_whitespace)));
        }
    }
}
