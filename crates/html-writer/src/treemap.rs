//! A treemap of boxes: areas by size, shades by a share.
//!
//! The layout is squarified (Bruls, Huizing and van Wijk 2000): rows of boxes along the shorter side, as square as they
//! get.

use std::fmt::Write as _;

use super::page::escaped;

/// Width and height of the map, in units of the layout. Only their ratio matters.
const SIDES: (f64, f64) = (160.0, 90.0);

/// A box of a treemap.
#[derive(Clone, Debug, PartialEq)]
pub struct MapBox {
    /// The name, shown in the box.
    pub name: String,
    /// What the box says besides its name.
    pub note: String,
    /// The size, above 0.
    pub size: f64,
    /// The share in [0, 1] that shades it.
    pub share: f64,
    /// Where it leads, relative to the page.
    pub link: String,
}

/// A rectangle: left, top, width, height.
type Rectangle = (f64, f64, f64, f64);

/// Returns a treemap as a list of links. Names, notes and links are escaped.
pub fn treemap(label: &str, boxes: &[MapBox]) -> String {
    let mut boxes: Vec<&MapBox> = boxes.iter().filter(|item| item.size > 0.0).collect();
    boxes.sort_by(|one, other| other.size.total_cmp(&one.size));
    let sizes: Vec<f64> = boxes.iter().map(|item| item.size).collect();
    let mut html = format!("<ul class=\"map\" aria-label=\"{}\">\n", escaped(label));
    for (item, (left, top, width, height)) in boxes.iter().zip(layout(&sizes, SIDES)) {
        let (name, note) = (escaped(&item.name), escaped(&item.note));
        let percent = |part: f64, whole: f64| part * 100.0 / whole;
        // Writing to a String cannot fail.
        let _ = writeln!(
            html,
            "<li style=\"left:{:.3}%;top:{:.3}%;width:{:.3}%;height:{:.3}%\"><a href=\"{}\" class=\"heat\" \
             style=\"--share:{:.3}\" title=\"{name}: {note}\"><b>{name}</b> <span>{note}</span></a></li>",
            percent(left, SIDES.0),
            percent(top, SIDES.1),
            percent(width, SIDES.0),
            percent(height, SIDES.1),
            escaped(&item.link),
            item.share.clamp(0.0, 1.0) * 0.55
        );
    }
    html.push_str("</ul>\n");
    html
}

/// Divides an area among sizes that descend. Returns a rectangle for each.
fn layout(sizes: &[f64], (width, height): (f64, f64)) -> Vec<Rectangle> {
    let total: f64 = sizes.iter().sum();
    let areas: Vec<f64> = sizes.iter().map(|size| size * width * height / total).collect();
    let (mut left, mut top, mut wide, mut high) = (0.0, 0.0, width, height);
    let mut placed = Vec::with_capacity(areas.len());
    let mut rest = &areas[..];
    while !rest.is_empty() {
        let side = f64::min(wide, high);
        let mut count = 1;
        while count < rest.len() && worst(&rest[..=count], side) <= worst(&rest[..count], side) {
            count += 1;
        }
        let (row, others) = rest.split_at(count);
        let thickness = row.iter().sum::<f64>() / side;
        let mut along = 0.0;
        for area in row {
            let length = area / thickness;
            placed.push(match wide >= high {
                true => (left, top + along, thickness, length),
                false => (left + along, top, length, thickness),
            });
            along += length;
        }
        if wide >= high {
            (left, wide) = (left + thickness, wide - thickness);
        } else {
            (top, high) = (top + thickness, high - thickness);
        }
        rest = others;
    }
    placed
}

/// Returns the worst ratio of sides among the boxes of a row.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let (least, most) = row.iter().fold((f64::MAX, 0.0f64), |(least, most), area| (least.min(*area), most.max(*area)));
    f64::max(side * side * most / (sum * sum), sum * sum / (side * side * least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_the_area_of_their_size_and_do_not_overlap() {
        let sizes = [60.0, 40.0, 30.0, 10.0, 5.0, 3.0, 1.0, 0.5];
        let boxes = layout(&sizes, (16.0, 9.0));
        let total: f64 = sizes.iter().sum();
        for (size, (left, top, width, height)) in sizes.iter().zip(&boxes) {
            assert!((width * height - size * 144.0 / total).abs() < 1e-9);
            assert!(*left >= 0.0 && *top >= 0.0 && left + width < 16.0 + 1e-9 && top + height < 9.0 + 1e-9);
        }
        for (place, one) in boxes.iter().enumerate() {
            for other in &boxes[place + 1..] {
                let apart = one.0 + one.2 <= other.0 + 1e-9
                    || other.0 + other.2 <= one.0 + 1e-9
                    || one.1 + one.3 <= other.1 + 1e-9
                    || other.1 + other.3 <= one.1 + 1e-9;
                assert!(apart, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn names_are_text_and_nothing_is_drawn_of_nothing() {
        let item = MapBox { name: "<b>".into(), note: "\"".into(), size: 1.0, share: 2.0, link: "#d\"1".into() };
        let html = treemap("l", &[item.clone(), MapBox { size: 0.0, ..item }]);
        assert_eq!(html.matches("<li").count(), 1);
        assert!(html.contains("&lt;b&gt;") && html.contains("--share:0.550") && html.contains("#d&quot;1"), "{html}");
        assert_eq!(treemap("l", &[]).matches("<li").count(), 0);
    }
}
