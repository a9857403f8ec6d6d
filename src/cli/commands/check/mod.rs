//! The command `check`: answers queries to the parsers and rules of a crawl, one JSON object per line.
//!
//! A single case or a whole test suite runs against the very functions that a crawl uses.

mod address;
mod directives;
mod escape;
mod html;
mod name;
mod query;
mod retry_after;
mod robots;
mod sitemap;
mod trap;
mod url;

use std::io::{self, BufRead, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::cli::args::CheckKind;
use crate::cli::errors::{CliError, exit};
use crate::model::{CanonicalUrl, NormalizeOptions, Normalizer};
use query::{Query, QueryError};

/// Answers each line of stdin at once, until stdin ends or the reader closes the pipe.
///
/// An invalid query is answered with an `error`.
pub(super) fn run(kind: CheckKind) -> Result<u8, CliError> {
    let mut questions = io::stdin().lock();
    let mut answers = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = questions.read_until(b'\n', &mut line);
        if length.map_err(|error| CliError::usage(format!("standard input: {error}")))? == 0 {
            return Ok(exit::FINISHED);
        }
        let answer = format!("{}\n", answer(kind, &line));
        match answers.write_all(answer.as_bytes()).and_then(|()| answers.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(exit::FINISHED),
            Err(error) => return Err(CliError::new(exit::DISK_FULL, format!("standard output: {error}"))),
            Ok(()) => {}
        }
    }
}

/// A panic is printed on stderr, and the next line is read.
fn answer(kind: CheckKind, line: &[u8]) -> Value {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let query = Query::read(line)?;
        match kind {
            CheckKind::Robots => robots::answer(&query),
            CheckKind::Url => url::answer(&query),
            CheckKind::Html => html::answer(&query),
            CheckKind::Sitemap => sitemap::answer(&query),
            CheckKind::Addr => address::answer(&query),
            CheckKind::Meta => directives::answer(&query),
            CheckKind::RetryAfter => retry_after::answer(&query),
            CheckKind::Trap => trap::answer(&query),
            CheckKind::Name => name::answer(&query),
            CheckKind::Escape => escape::answer(&query),
        }
    }));
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(refusal)) => json!({ "error": refusal.to_string() }),
        Err(_) => json!({ "error": "internal error" }),
    }
}

/// Parses a URL of any length.
fn canonical(text: &str) -> Result<CanonicalUrl, QueryError> {
    let options = NormalizeOptions { max_url_length: usize::MAX, ..NormalizeOptions::default() };
    Normalizer::new(options).absolute(text).map_err(|error| QueryError::new(format!("url: {error}")))
}

fn texts<'a>(urls: impl IntoIterator<Item = &'a CanonicalUrl>) -> Vec<&'a str> {
    urls.into_iter().map(CanonicalUrl::as_str).collect()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn what_is_no_question_is_answered_with_the_reason() {
        for kind in CheckKind::value_variants() {
            for line in ["", "\n", "x", "[1]", "{", "{}", "null", "{\"url\":7}", "\u{feff}{}", "{\"url\":\"\\ud800\"}"]
            {
                let answer = answer(*kind, line.as_bytes());
                assert!(answer.is_object(), "{kind:?} {line}: {answer}");
                // All fields may be absent, and an unused URL is ignored.
                let may_be_empty = match kind {
                    CheckKind::Robots | CheckKind::Sitemap => line == "{}",
                    CheckKind::Html | CheckKind::Meta => line == "{}" || line == "{\"url\":7}",
                    _ => false,
                };
                assert_eq!(answer["error"].is_string(), !may_be_empty, "{kind:?} {line}: {answer}");
            }
            assert!(answer(*kind, b"\xff\xfe{").is_object());
        }
    }
}
