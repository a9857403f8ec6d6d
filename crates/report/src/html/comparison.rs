//! The page on the differences of two crawls.

use super::frame;
use super::listing::{Cell, Listing, Parts};
use crate::{ChangedPage, ComparedPages, Comparison, PageChange};
use ndcrawl_html_writer::{card, counted, escaped, thousands};

/// The name of pages of whose use something else is said.
const OTHER_USE: &str = "other preferences of use";

/// Returns the page. `names` are those of the later and of the earlier crawl.
pub(in super::super) fn page(comparison: &Comparison, names: [&str; 2], parts: &mut Parts<'_>) -> String {
    let [later, earlier] = names;
    let title = format!("{later} against {earlier}");
    let list = parts.add("changes.csv", comparison.list.text());
    let mut body = format!(
        "<header><h1>{}</h1>\n<p class=\"answer\">{}</p>\n<p class=\"soft\">All pages that differ: <a href=\"{}\">changes.csv</a>.{}</p>\
         </header>\n",
        escaped(&title),
        escaped(&answer(comparison)),
        escaped(&list),
        if comparison.is_by_path {
            " The crawls have no URL in common, so pages are matched by their paths."
        } else {
            ""
        }
    );
    let cards: String =
        PageChange::ALL.map(|change| card(&thousands(comparison.count(change)), change.name())).concat();
    let uses =
        if comparison.other_uses > 0 { card(&thousands(comparison.other_uses), OTHER_USE) } else { String::new() };
    body += &format!("<div class=\"cards\">{cards}{uses}</div>\n");
    for change in PageChange::ALL {
        if let Some(pages) = comparison.examples.get(&change) {
            body += &section(change.name(), pages, comparison.count(change), &list);
        }
    }
    if comparison.other_uses > 0 {
        body += &section(OTHER_USE, &comparison.use_examples, comparison.other_uses, &list);
    }
    frame(&title, &body)
}

fn answer(comparison: &Comparison) -> String {
    // A space at which no line ends.
    let rate = |pages: ComparedPages| format!("{:.1}\u{a0}%", pages.copies as f64 * 100.0 / pages.all().max(1) as f64);
    let count = |change| thousands(comparison.count(change));
    format!(
        "{}: {} new, {} changed, {} newly duplicated. {} gone, {} not fetched this time. Duplicates: {}, before {}.",
        counted(comparison.later.all(), "page", "pages"),
        count(PageChange::New),
        count(PageChange::Changed),
        count(PageChange::NewlyDuplicated),
        count(PageChange::Gone),
        count(PageChange::NotFetched),
        rate(comparison.later),
        rate(comparison.earlier)
    )
}

fn section(name: &str, pages: &[ChangedPage], count: u64, list: &str) -> String {
    let id = name.replace(' ', "-");
    let title = name[..1].to_uppercase() + &name[1..];
    let row = |page: &ChangedPage| {
        let repeats = Some(page.repeats.clone()).filter(|url| !url.is_empty());
        vec![Cell::NameUrl(page.url.clone()), Cell::Urls(repeats.into_iter().collect()), Cell::Text(page.note.clone())]
    };
    let listing = Listing {
        file: &id,
        caption: &format!("{title}: pages"),
        heading: &["page", "repeats", "note"],
        rows: pages.iter().map(row).collect(),
        most: pages.len(),
        what: "pages",
    };
    let more = match count - pages.len() as u64 {
        0 => String::new(),
        more => format!("<p class=\"soft\">… and {} more in changes.csv</p>\n", thousands(more)),
    };
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{}{more}</section>\n",
        escaped(&title),
        listing.table(list, |_| (None, ""))
    )
}
