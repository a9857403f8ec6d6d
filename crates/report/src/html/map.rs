//! The section on directories: a map by pages and share of duplicates, and which sections repeat which.

use super::listing::{Cell, Listing, Parts};
use crate::{MapPart, Report};
use ndcrawl_html_writer::{MapBox, thousands, treemap};

/// Boxes of the map.
const BOXES: usize = 48;
/// Rows of the tables in the page.
const ROWS: usize = 100;

/// Returns the map and its tables.
pub(super) fn section(report: &Report, parts: &mut Parts<'_>) -> String {
    let directories = &report.lines.directories;
    let map = directories.map(BOXES);
    if map.is_empty() {
        return String::new();
    }
    let is_one_origin = directories.all().filter(|(name, _)| name.matches('/').count() == 3).count() == 1;
    let boxes: Vec<MapBox> = map.iter().enumerate().map(|(place, part)| of_part(place, part, is_one_origin)).collect();
    let mut html = "<p>Each box is a directory, as large as its compared pages are many. The shade shows the share of duplicates among \
                    them; a box leads to its row in the table.</p>\n"
        .to_owned();
    html += &treemap("Directories by pages, shaded by the share of duplicates", &boxes);
    html += &table(report, &map, parts);
    html + &sections(report, parts)
}

fn of_part(place: usize, part: &MapPart, is_one_origin: bool) -> MapBox {
    let without_scheme = part.directory.split_once("://").map_or(&*part.directory, |(_, rest)| rest);
    let name = match is_one_origin {
        true => without_scheme.find('/').map_or(without_scheme, |slash| &without_scheme[slash..]),
        false => without_scheme,
    };
    MapBox {
        name: format!("{name}{}", if part.is_rest { "*" } else { "" }),
        note: format!("{} pages, {:.0} %", thousands(part.counts.pages), part.counts.share() * 100.0),
        size: part.counts.pages as f64,
        share: part.counts.share(),
        link: format!("#d{place}"),
    }
}

/// The boxes of the map come first, then all other directories.
fn table(report: &Report, map: &[MapPart], parts: &mut Parts<'_>) -> String {
    let row = |directory: &str, what: &str, counts: crate::DirectoryCounts| {
        vec![
            Cell::NameUrl(directory.to_owned()),
            Cell::Text(what.to_owned()),
            Cell::Count(counts.pages),
            Cell::Count(counts.copies),
            Cell::Heat(Some(counts.share())),
        ]
    };
    let of_box = |part: &MapPart| {
        row(&part.directory, if part.is_rest { "its own files" } else { "with all below" }, part.counts)
    };
    let mut rows: Vec<Vec<Cell>> = map.iter().map(of_box).collect();
    let is_new = |name: &str| !map.iter().any(|part| !part.is_rest && part.directory == name);
    let mut others: Vec<_> = report.lines.directories.all().filter(|(name, _)| is_new(name)).collect();
    others.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.pages), *name));
    rows.extend(others.into_iter().map(|(name, counts)| row(name, "with all below", counts)));
    let listing = Listing {
        file: "directories",
        caption: "Directories by pages and duplicates",
        heading: &["directory", "part", "compared", "duplicates", "share"],
        rows,
        most: ROWS.max(map.len()),
        what: "directories",
    };
    listing.html_with(parts, |place| ((place < map.len()).then(|| format!("d{place}")), ""))
}

fn sections(report: &Report, parts: &mut Parts<'_>) -> String {
    let directories = &report.lines.directories;
    let pairs = directories.pairs();
    if !pairs.iter().any(|(copy, kept, _)| copy != kept) {
        return String::new();
    }
    let row = |(copy, kept, count): &(&str, &str, u64)| {
        let pages = directories.of(copy).pages;
        vec![
            Cell::NameUrl((*copy).to_owned()),
            Cell::Urls(vec![(*kept).to_owned()]),
            Cell::Shaded(*count, *count as f64 / pages.max(1) as f64),
            Cell::Share(*count, pages),
        ]
    };
    let listing = Listing {
        file: "sections",
        caption: "Which sections repeat which",
        heading: &["section of the copies", "section of the pages kept", "copies", "share of the section"],
        rows: pairs.iter().map(row).collect(),
        most: 30,
        what: "pairs",
    };
    listing.html(parts)
}
