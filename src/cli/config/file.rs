//! Reads configuration files.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::config::schema;
use crate::cli::config::source::{GivenValue, Source};
use crate::cli::errors::CliError;

/// The file in the working folder.
pub const LOCAL_FILE: &str = "ndcrawl.toml";

/// Returns the values of all configuration files, the lowest precedence first. `named` is the file of `--config`,
/// which must exist.
pub fn from_files(named: Option<&Path>, user_folder: Option<&Path>) -> Result<Vec<GivenValue>, CliError> {
    let mut given = Vec::new();
    let user_file = user_folder.map(|folder| folder.join("ndcrawl").join("config.toml"));
    for path in user_file.into_iter().chain([PathBuf::from(LOCAL_FILE)]) {
        match std::fs::read_to_string(&path) {
            Ok(text) => given.extend(from_text(&path.display().to_string(), &text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(CliError::usage(format!("{}: {error}", path.display()))),
        }
    }
    if let Some(path) = named {
        let text = std::fs::read_to_string(path)
            .map_err(|error| CliError::usage(format!("--config {}: {error}", path.display())))?;
        given.extend(from_text(&path.display().to_string(), &text)?);
    }
    Ok(given)
}

/// Returns the folder of the user's configuration: `$XDG_CONFIG_HOME` or `~/.config`.
pub fn user_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}

/// Returns the values in the text of a configuration file.
pub fn from_text(path: &str, text: &str) -> Result<Vec<GivenValue>, CliError> {
    let file = File { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        file.error(at, error.message().lines().collect::<Vec<_>>().join(" "))
    })?;
    let mut given = Vec::new();
    file.read_table("", table.get_ref(), &mut given)?;
    Ok(given)
}

struct File<'a> {
    path: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn read_table(&self, prefix: &str, table: &DeTable<'_>, given: &mut Vec<GivenValue>) -> Result<(), CliError> {
        for (name, value) in table {
            let (at, name) = (name.span().start, format!("{prefix}{}", name.get_ref()));
            match value.get_ref() {
                DeValue::Table(inner) if is_table(&name) => self.read_table(&format!("{name}."), inner, given)?,
                _ => given.push(self.read_key(at, &name, value)?),
            }
        }
        Ok(())
    }

    fn read_key(&self, at: usize, name: &str, value: &Spanned<DeValue<'_>>) -> Result<GivenValue, CliError> {
        let key = schema::find(name).ok_or_else(|| self.unknown(at, name))?;
        let texts = match value.get_ref() {
            DeValue::Array(items) if key.is_list() => items.iter().map(|item| scalar_text(item.get_ref())).collect(),
            DeValue::Array(_) => None,
            other => scalar_text(other).map(|text| vec![text]),
        };
        let wanted = if key.is_list() { "a list of texts" } else { "one value" };
        let texts = texts
            .ok_or_else(|| self.error(at, format!("{name}: takes {wanted}, not {}", kind_name(value.get_ref()))))?;
        Ok(GivenValue { key, texts, source: Source::File(self.path.to_owned(), self.line(at)) })
    }

    fn unknown(&self, at: usize, name: &str) -> CliError {
        let error = self.error(at, format!("unknown key '{name}'"));
        match schema::nearest(name) {
            Some(nearest) => error.with_hint(format!("did you mean '{nearest}'?")),
            None => error.with_hint("'ndcrawl config show' lists all keys"),
        }
    }

    fn error(&self, at: usize, why: impl std::fmt::Display) -> CliError {
        CliError::usage(format!("{}:{}: {why}", self.path, self.line(at)))
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }
}

/// Returns whether a table of this name has keys.
fn is_table(name: &str) -> bool {
    schema::all().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

/// Returns a scalar as the text that a flag would have. Decimals keep their digits.
fn scalar_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.as_str().to_owned(), |number| number.to_string()),
        ),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(value) => Some(value.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn kind_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::Table(_) => "a table",
        DeValue::Array(_) => "a list",
        DeValue::Datetime(_) => "a date",
        _ => "this",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::merge;

    fn error(text: &str) -> String {
        from_text("ndcrawl.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_gives_values_of_every_kind() {
        let text = "seeds = ['http://a.example/']\nout = 'there'\nfail_over = 5\n[scope]\ndepth = 0x10\n\
                    max_time = '2m'\nsitemaps = false\nexclude = ['a,b']\n[dedup]\nthreshold = 0.75\n\
                    [politeness]\ndelay = 0.5\nnofollow = 'ignore'";
        let json = merge(from_text("f", text).unwrap()).unwrap().to_json();
        let expected = serde_json::json!({
            "seeds": ["http://a.example/"], "out.dir": "there", "fail_over": 5.0, "scope.depth": 16,
            "scope.max_time": "2m", "scope.sitemaps": "off", "scope.exclude": ["a,b"], "dedup.threshold": 0.75,
            "politeness.delay": "500ms", "politeness.nofollow": "ignore",
        });
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&json[key], value, "{key}");
        }
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_file_line_and_neighbour() {
        assert_eq!(
            error("# x\n[politeness]\ndely = '1s'\n"),
            "error: ndcrawl.toml:3: unknown key 'politeness.dely'\nhint: did you mean 'politeness.delay'?"
        );
        assert!(error("[polite]\ndelay = 1\n").starts_with("error: ndcrawl.toml:1: unknown key 'polite'"));
        assert!(error("xyzzyplugh = 1").contains("ndcrawl config show"));
    }

    #[test]
    fn a_file_that_is_no_toml_is_told_with_its_line() {
        let error = error("[scope]\ndepth = \n");
        assert!(error.starts_with("error: ndcrawl.toml:2: "), "{error}");
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn a_list_is_no_single_value() {
        assert_eq!(error("[scope]\ndepth = [1]"), "error: ndcrawl.toml:2: scope.depth: takes one value, not a list");
        assert!(error("[scope]\ninclude = [[1]]").contains("scope.include: takes a list of texts"));
        assert!(error("random_seed = {a = 1}").contains("takes one value, not a table"));
    }

    #[test]
    fn values_carry_the_line_they_stand_on() {
        let given = from_text("f.toml", "\n[scope]\n\ndepth = 1\n").unwrap();
        assert_eq!(given[0].source.to_string(), "f.toml:4");
    }

    #[test]
    fn the_named_file_must_exist_and_wins_over_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("ndcrawl");
        std::fs::create_dir(&user).unwrap();
        std::fs::write(user.join("config.toml"), "[scope]\ndepth = 1\nmax_pages = 8").unwrap();
        let named = folder.path().join("mine.toml");
        assert!(from_files(Some(&named), None).unwrap_err().message.starts_with("--config "));
        std::fs::write(&named, "[scope]\ndepth = 2").unwrap();
        let settings = merge(from_files(Some(&named), Some(folder.path())).unwrap()).unwrap();
        assert_eq!((settings.scope.depth, settings.scope.max_pages), (2, Some(8)));
    }
}
