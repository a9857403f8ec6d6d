//! Prints figures as tables for people or as JSON lines for programs.

use serde_json::{Map, Value, json};

/// One row of a table: figures by column.
#[derive(Clone, Debug, Default)]
pub struct Row(Vec<Cell>);

#[derive(Clone, Debug)]
struct Cell {
    head: &'static str,
    shown: String,
    value: Value,
}

impl Row {
    pub fn text(&mut self, head: &'static str, text: impl Into<String>) {
        let text = text.into();
        self.0.push(Cell { head, shown: text.clone(), value: text.into() });
    }

    pub fn count(&mut self, head: &'static str, count: usize) {
        self.0.push(Cell { head, shown: grouped(&count.to_string()), value: count.into() });
    }

    /// Adds a number with three significant digits, or all digits before the point.
    pub fn number(&mut self, head: &'static str, number: f64) {
        self.0.push(Cell { head, shown: short(number), value: number.into() });
    }

    /// Adds an optional number; without one the cell stays empty.
    pub fn number_if(&mut self, head: &'static str, number: Option<f64>) {
        match number {
            Some(number) => self.number(head, number),
            None => self.0.push(Cell { head, shown: String::new(), value: Value::Null }),
        }
    }
}

/// Prints tables.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    pub json: bool,
}

impl Printer {
    /// Prints rows with the same columns.
    pub fn table(self, title: &str, rows: &[Row]) {
        if self.json {
            for row in rows {
                let mut line: Map<String, Value> = Map::new();
                line.insert("table".into(), title.into());
                line.extend(row.0.iter().map(|cell| (cell.head.to_owned(), cell.value.clone())));
                println!("{}", Value::Object(line));
            }
            return;
        }
        println!("\n{title}\n");
        let Some(first) = rows.first() else { return };
        let width = |column: usize| {
            let shown = rows.iter().map(|row| row.0[column].shown.chars().count());
            shown.chain([first.0[column].head.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..first.0.len()).map(width).collect();
        let line = |texts: &mut dyn Iterator<Item = (&str, bool)>| {
            let mut line = String::new();
            for ((text, to_the_left), &width) in texts.zip(&widths) {
                let text = if to_the_left { format!("{text:<width$}") } else { format!("{text:>width$}") };
                line += &text;
                line += "  ";
            }
            println!("  {}", line.trim_end());
        };
        line(&mut first.0.iter().map(|cell| (cell.head, cell.value.is_string())));
        println!("  {}", "-".repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1)));
        for row in rows {
            line(&mut row.0.iter().map(|cell| (cell.shown.as_str(), cell.value.is_string())));
        }
    }

    /// Prints a single figure.
    pub fn figure(self, name: &str, number: f64, unit: &str) {
        if self.json {
            println!("{}", json!({ "figure": name, "value": number, "unit": unit }));
        } else {
            println!("  {name:<76} {:>10} {unit}", short(number));
        }
    }

    pub fn note(self, text: &str) {
        if !self.json {
            println!("{text}");
        } else if !text.is_empty() {
            println!("{}", json!({ "note": text.trim() }));
        }
    }
}

fn short(number: f64) -> String {
    let places = match number.abs() {
        0.0 | 100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 4,
    };
    grouped(&format!("{number:.places$}"))
}

/// Formats a number with thousands separators.
pub fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let mut grouped = String::new();
    for (place, digit) in number.char_indices() {
        if place > 0 && place < whole && (whole - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
