//! The answers of the parsers and rules, asked one by one: a JSON object a line comes in, one goes
//! out. A case that somebody wonders about, or a whole suite of cases, can so be put to the very
//! functions by which a crawl goes.

mod address;
mod directives;
mod escape;
mod html;
mod name;
mod question;
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
use crate::model::{CanonicalUrl, NormaliseOptions, Normaliser};
use question::{Question, Refusal};

/// Answers each line of stdin with a line on stdout, at once, until stdin ends or nobody reads any
/// more. A line that is no question is answered with an `error`.
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

/// A panic is told on stderr, as everywhere, and the next line is asked all the same.
fn answer(kind: CheckKind, line: &[u8]) -> Value {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let question = Question::read(line)?;
        match kind {
            CheckKind::Robots => robots::answer(&question),
            CheckKind::Url => url::answer(&question),
            CheckKind::Html => html::answer(&question),
            CheckKind::Sitemap => sitemap::answer(&question),
            CheckKind::Addr => address::answer(&question),
            CheckKind::Meta => directives::answer(&question),
            CheckKind::RetryAfter => retry_after::answer(&question),
            CheckKind::Trap => trap::answer(&question),
            CheckKind::Name => name::answer(&question),
            CheckKind::Escape => escape::answer(&question),
        }
    }));
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(refusal)) => json!({ "error": refusal.to_string() }),
        Err(_) => json!({ "error": "internal error" }),
    }
}

/// A URL that is asked about, of any length.
fn canonical(text: &str) -> Result<CanonicalUrl, Refusal> {
    let options = NormaliseOptions { max_url_length: usize::MAX, ..NormaliseOptions::default() };
    Normaliser::new(options).absolute(text).map_err(|error| Refusal::new(format!("url: {error}")))
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
                // Nothing need be there, and a URL that nobody reads is none of theirs.
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
