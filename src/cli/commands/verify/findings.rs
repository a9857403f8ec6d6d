//! What a check has found, as text and as JSON.

use serde_json::{Map, Value, json};

use crate::cli::format::{counted, thousands};
use crate::cli::terminal_safe::terminal_safe;

/// What was checked, and what is wrong.
pub(super) struct Findings {
    /// What was checked: "the folder".
    pub name: String,
    pub figures: Vec<(&'static str, u64)>,
    /// The first problems.
    pub problems: Vec<String>,
    pub problem_count: u64,
}

impl Findings {
    pub fn json(&self) -> String {
        let figures: Map<String, Value> =
            self.figures.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
        let object = json!({
            "sound": self.problem_count == 0, "checked": figures,
            "problems": self.problems, "problem_count": self.problem_count,
        });
        format!("{object}\n")
    }

    pub fn text(&self) -> String {
        let mut text: String =
            self.figures.iter().map(|(name, count)| format!("{:>12} {name}\n", thousands(*count))).collect();
        for problem in &self.problems {
            text.push_str(&format!("problem: {}\n", terminal_safe(problem)));
        }
        text + &match self.problem_count {
            0 => format!("{} is intact\n", self.name),
            many => format!("{} has {}\n", self.name, counted(many, "problem", "problems")),
        }
    }
}
