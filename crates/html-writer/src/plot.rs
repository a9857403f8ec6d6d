//! SVG plots, each with a title that states its message in words.

use std::fmt::Write as _;

use super::escaped;

const WIDTH: f64 = 560.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 40.0;
/// Dash patterns, so that lines differ by more than color.
const DASHES: [&str; 6] = ["none", "7 4", "2 3", "10 3 2 3", "4 2", "1 4"];

/// A line of a plot.
pub struct PlotLine {
    /// Name in the legend.
    pub name: String,
    /// Index of color and dash.
    pub style: usize,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Labels, ranges and ticks of the axes.
pub struct Axes<'a> {
    /// Label of the x axis.
    pub x: &'a str,
    /// Label of the y axis.
    pub y: &'a str,
    /// Range of x values.
    pub x_range: (f64, f64),
    /// Range of y values.
    pub y_range: (f64, f64),
    /// Ticks of the x axis.
    pub x_ticks: Vec<f64>,
    /// Ticks and grid lines of the y axis.
    pub y_ticks: Vec<f64>,
    /// Formatter of x values.
    pub x_text: fn(f64) -> String,
    /// Formatter of y values.
    pub y_text: fn(f64) -> String,
}

impl Axes<'_> {
    fn x(&self, value: f64) -> f64 {
        let (low, high) = self.x_range;
        LEFT + (value.clamp(low, high) - low) / (high - low) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64, height: f64) -> f64 {
        let (low, high) = self.y_range;
        height - BOTTOM - (value.clamp(low, high) - low) / (high - low) * (height - TOP - BOTTOM)
    }
}

/// Returns `steps + 1` ticks from `low` to `high`.
pub fn ticks(low: f64, high: f64, steps: u32) -> Vec<f64> {
    (0..=steps).map(|step| low + (high - low) * f64::from(step) / f64::from(steps)).collect()
}

/// Formats a number with two decimals: `0.25`.
pub fn decimal(value: f64) -> String {
    format!("{value:.2}")
}

/// Formats a share as a percentage without trailing zeros: `0.25 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// Formats a count briefly: `12k`, `1.2M`.
pub fn count(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{}M", (value / 1e5).round() / 10.0),
        _ if value >= 1e4 => format!("{}k", (value / 100.0).round() / 10.0),
        _ => format!("{}", (value * 10.0).round() / 10.0),
    }
}

/// Returns a round number not below `value`, for the end of an axis.
pub fn round_up(value: f64) -> f64 {
    let unit = 10f64.powf(value.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 4.0, 5.0, 8.0, 10.0].into_iter().map(|step| step * unit).find(|end| *end >= value).unwrap_or(value)
}

/// Returns the end of an axis of counts up to `most`, and its ticks, which are whole numbers.
pub fn count_axis(most: u64) -> (f64, Vec<f64>) {
    const MOST_STEPS: u64 = 5;
    let most = most.max(1);
    let powers = (0..19).map(|power| 10u64.pow(power));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|factor| power.saturating_mul(factor)));
    let step = steps.find(|step| most.div_ceil(*step) <= MOST_STEPS).unwrap_or(most);
    let count = most.div_ceil(step);
    ((step * count) as f64, (0..=count).map(|place| (place * step) as f64).collect())
}

/// Draws lines, with vertical marks and dots.
pub fn curves(title: &str, axes: &Axes<'_>, curves: &[PlotLine], marks: &[f64], dots: &[(f64, f64, usize)]) -> String {
    let legend_lines = curves.len().div_ceil(3) as f64;
    let (height, plot) = (320.0 + 18.0 * legend_lines, 320.0);
    let mut svg = open(title, height);
    grid(&mut svg, axes, plot);
    for &mark in marks {
        let x = axes.x(mark);
        let _ =
            write!(svg, "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>", plot - BOTTOM);
    }
    for curve in curves {
        let points: Vec<String> =
            curve.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", axes.x(x), axes.y(y, plot))).collect();
        let _ = write!(svg, "<polyline class=\"curve\" {} points=\"{}\"/>", stroke(curve.style), points.join(" "));
    }
    for &(x, y, style) in dots {
        let (x, y) = (axes.x(x), axes.y(y, plot));
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"var(--c{})\"/>", style % 6);
    }
    legend(&mut svg, curves, plot);
    svg.push_str("</svg>");
    svg
}

/// A column of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Left and right edge.
    pub edges: (f64, f64),
    /// Height.
    pub value: f64,
    /// Index of the color.
    pub style: usize,
}

/// Draws a histogram, with vertical marks.
pub fn columns(title: &str, axes: &Axes<'_>, columns: &[Column], marks: &[f64]) -> String {
    let height = 320.0;
    let mut svg = open(title, height);
    grid(&mut svg, axes, height);
    for Column { edges, value, style } in columns {
        let (left, right, top) = (axes.x(edges.0), axes.x(edges.1), axes.y(*value, height));
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"var(--c{})\" fill-opacity=\".85\"/>",
            left + 0.5,
            (right - left - 1.0).max(0.5),
            height - BOTTOM - top,
            style % 6
        );
    }
    for &mark in marks {
        let x = axes.x(mark);
        let _ = write!(
            svg,
            "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>",
            height - BOTTOM
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A horizontal bar with a whisker.
pub struct Bar {
    /// Tooltip.
    pub name: String,
    /// Length.
    pub value: f64,
    /// Interval around the end of the bar.
    pub whisker: Option<(f64, f64)>,
    /// Index of the color.
    pub style: usize,
    /// Label at the right.
    pub label: String,
}

/// Draws groups of horizontal bars; the axis ends at `most`, at most 1.
pub fn bars(title: &str, groups: &[(String, Vec<Bar>)], most: f64) -> String {
    const BAR: f64 = 15.0;
    const GAP: f64 = 14.0;
    const NAMES: f64 = 170.0;
    const LABELS: f64 = 68.0;
    let bars: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let height = TOP + bars as f64 * BAR + groups.len() as f64 * GAP + 22.0;
    let width = WIDTH - NAMES - LABELS;
    let mut svg = open(title, height);
    let place = |share: f64| NAMES + (share / most).min(1.0) * width;
    for tick in ticks(0.0, most, 4) {
        let (x, end) = (place(tick), height - 20.0);
        let _ = write!(svg, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"4\" y2=\"{end:.1}\"/>");
        let _ =
            write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>", height - 6.0, percent(tick));
    }
    let mut y = TOP;
    for (group, bars) in groups {
        let middle = y + bars.len() as f64 * BAR / 2.0 + 4.0;
        let _ = write!(svg, "<text class=\"strong\" x=\"0\" y=\"{middle:.1}\">{}</text>", escaped(group));
        for bar in bars {
            let (length, style) = (place(bar.value) - NAMES, bar.style % 6);
            let _ = write!(
                svg,
                "<rect x=\"{NAMES}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" rx=\"2\" fill=\"var(--c{style})\" \
                 fill-opacity=\".8\"><title>{}</title></rect>",
                y + 1.5,
                BAR - 3.0,
                escaped(&bar.name)
            );
            if let Some((low, high)) = bar.whisker {
                let (low, high, middle) = (place(low), place(high), y + BAR / 2.0);
                let _ = write!(
                    svg,
                    "<path class=\"whisker\" d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v6M{high:.1} {:.1}v6\"/>",
                    middle - 3.0,
                    middle - 3.0
                );
            }
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                NAMES + width + 10.0,
                y + 12.0,
                escaped(&bar.label)
            );
            y += BAR;
        }
        y += GAP;
    }
    svg.push_str("</svg>");
    svg
}

fn open(title: &str, height: f64) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\"><title>{}</title>", escaped(title))
}

fn grid(svg: &mut String, axes: &Axes<'_>, height: f64) {
    for &tick in &axes.y_ticks {
        let y = axes.y(tick, height);
        let _ =
            write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>", WIDTH - RIGHT);
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            (axes.y_text)(tick)
        );
    }
    for &tick in &axes.x_ticks {
        let (x, y) = (axes.x(tick), height - BOTTOM + 16.0);
        let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", (axes.x_text)(tick));
    }
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    let _ = write!(
        svg,
        "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        height - 6.0,
        escaped(axes.x)
    );
    let _ = write!(svg, "<text x=\"{LEFT}\" y=\"{:.1}\" class=\"strong\">{}</text>", TOP - 10.0, escaped(axes.y));
}

fn legend(svg: &mut String, curves: &[PlotLine], top: f64) {
    const COLUMN: f64 = (WIDTH - LEFT - RIGHT) / 3.0;
    for (place, curve) in curves.iter().enumerate() {
        let (x, y) = (LEFT + (place % 3) as f64 * COLUMN, top + 12.0 + (place / 3) as f64 * 18.0);
        let style = stroke(curve.style);
        let _ = write!(svg, "<path class=\"curve\" {style} d=\"M{x:.1} {:.1}h26\"/>", y - 4.0);
        let _ =
            write!(svg, "<text class=\"strong\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 32.0, escaped(&curve.name));
    }
}

fn stroke(style: usize) -> String {
    format!("stroke=\"var(--c{})\" stroke-dasharray=\"{}\"", style % 6, DASHES[style % DASHES.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_runs_from_corner_to_corner() {
        let axes = Axes {
            x: "threshold",
            y: "",
            x_range: (0.5, 1.0),
            y_range: (0.0, 1.0),
            x_ticks: ticks(0.5, 1.0, 5),
            y_ticks: ticks(0.0, 1.0, 2),
            x_text: decimal,
            y_text: decimal,
        };
        let curve = PlotLine { name: "mwo".to_owned(), style: 7, points: vec![(0.5, 0.0), (1.0, 1.0), (1.5, 2.0)] };
        let svg = curves("t<", &axes, &[curve], &[0.8], &[]);
        assert!(svg.contains("points=\"44.0,280.0 546.0,24.0 546.0,24.0\""), "{svg}");
        assert!(svg.contains("<title>t&lt;</title>") && svg.contains("var(--c1)"), "{svg}");
    }

    #[test]
    fn numbers_of_axes_are_short_and_axes_end_at_round_ones() {
        assert_eq!([0.0, 950.0, 12_000.0, 12_500.0, 1_250_000.0].map(count), ["0", "950", "12k", "12.5k", "1.3M"]);
        assert_eq!(
            [0.0, 0.07, 1.0, 4_349.0, 51_000.0].map(round_up).map(|end| (end * 100.0).round() / 100.0),
            [0.0, 0.08, 1.0, 5_000.0, 80_000.0]
        );
    }

    #[test]
    fn an_axis_of_counts_has_whole_numbers_only() {
        assert_eq!(count_axis(0), (1.0, vec![0.0, 1.0]));
        assert_eq!(count_axis(3), (3.0, vec![0.0, 1.0, 2.0, 3.0]));
        assert_eq!(count_axis(9), (10.0, vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0]));
        assert_eq!(count_axis(4_349), (5_000.0, vec![0.0, 1e3, 2e3, 3e3, 4e3, 5e3]));
        for most in (1..5_000).chain([u64::from(u32::MAX), 1 << 50]) {
            let (end, ticks) = count_axis(most);
            assert!(
                end >= most as f64 && (2..=6).contains(&ticks.len()) && ticks.iter().all(|tick| tick.fract() == 0.0)
            );
        }
    }

    #[test]
    fn ticks_include_both_ends() {
        assert_eq!(ticks(0.5, 1.0, 2), [0.5, 0.75, 1.0]);
    }
}
