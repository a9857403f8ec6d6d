//! *What do the files of a site say of the use of a page?* robots.txt, `/.well-known/tdmrep.json` and `/ai.txt`.
//!
//! Each statement belongs to a pattern of paths, as the rules of robots.txt do (RFC 9309, section 2.2.2).

use serde::Deserialize;
use url::{Position, Url};

use super::robots_rules::{RobotsRule, RobotsRules};
use super::robots_text::{OurPart, as_utf8, is_without_sense, our_part};
use ndcrawl_model::{Permission, Preference, PreferenceForm, PreferencePlace, RobotsRow, Usage, cut_preferences};
use pagetext::preferences::{MOST, content_signal, content_usage, rsl, tdm_reservation};

/// Rules of a file that are kept.
const MOST_RULES: usize = 1_000;

/// Which of the rules that match a path count.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Those of the longest pattern.
    Longest,
    /// The first one.
    First,
}

/// Statements, each for a pattern of paths.
#[derive(Debug)]
struct PathRules {
    patterns: RobotsRules,
    says: Vec<Preference>,
    choice: Choice,
}

impl PathRules {
    fn new(choice: Choice, rules: impl IntoIterator<Item = (String, Preference)>) -> Self {
        let (paths, says): (Vec<String>, Vec<Preference>) = rules.into_iter().take(MOST_RULES).unzip();
        let patterns = RobotsRules::new(paths.into_iter().map(|path| RobotsRule { allows: true, path }).collect());
        Self { patterns, says, choice }
    }

    fn of_path(&self, path: &str) -> impl Iterator<Item = &Preference> {
        let matching = self.patterns.matching(path);
        let numbers: Vec<usize> = match self.choice {
            Choice::First => matching.iter().map(|(number, _)| *number).min().into_iter().collect(),
            Choice::Longest => {
                let longest = matching.iter().map(|(_, length)| *length).max();
                matching.iter().filter(|(_, length)| Some(*length) == longest).map(|(number, _)| *number).collect()
            }
        };
        numbers.into_iter().filter_map(|number| self.says.get(number))
    }
}

/// What one file says of the pages of its site.
#[derive(Debug, Default)]
pub struct PathPreferences {
    lists: Vec<PathRules>,
    /// Of all pages.
    everywhere: Vec<Preference>,
    fetched_at: Option<String>,
}

impl PathPreferences {
    /// Returns what is said of the page at this address.
    pub fn of(&self, address: &Url) -> Vec<Preference> {
        let path = &address[Position::BeforePath..Position::AfterQuery];
        let by_path = self.lists.iter().flat_map(|list| list.of_path(path));
        let mut all: Vec<Preference> = by_path.chain(&self.everywhere).cloned().collect();
        cut_preferences(&mut all, MOST);
        all.into_iter().map(|preference| preference.fetched_at(self.fetched_at.clone())).collect()
    }

    /// Takes what a robots.txt says.
    pub(super) fn of_robots(part: &OurPart, fetched_at: i64) -> Self {
        let from = PreferencePlace::RobotsTxt;
        let list = |form, read: fn(&str, PreferencePlace) -> Preference| {
            let lines = part.uses.iter().filter(|(of, _)| *of == form);
            let rules = lines.map(|(_, line)| {
                let (path, says) = path_and_statement(line);
                (path.to_owned(), read(says, from))
            });
            PathRules::new(Choice::Longest, rules)
        };
        Self {
            lists: vec![
                list(PreferenceForm::ContentUsage, content_usage),
                list(PreferenceForm::ContentSignal, content_signal),
            ],
            everywhere: part.licenses.iter().take(MOST_RULES).map(|license| rsl(license, from)).collect(),
            fetched_at: rfc3339(fetched_at),
        }
    }

    /// Reads a file of a site: what came of asking for it.
    pub(super) fn of_file(file: SiteFile, row: &RobotsRow, agent: &str) -> Self {
        let said = match row.status {
            200..300 => file.read(&row.body, agent),
            // What the file says is not known, and it may be there.
            0 | 429 | 500.. => file.unclear(&match row.status {
                0 => "no answer".to_owned(),
                status => format!("status {status}"),
            }),
            _ => Self::default(),
        };
        Self { fetched_at: rfc3339(row.fetched_at), ..said }
    }
}

/// Splits a line of robots.txt into its path and what follows. Without a path it is for all.
fn path_and_statement(line: &str) -> (&str, &str) {
    match line.split_once([' ', '\t']) {
        Some((path, says)) if path.starts_with('/') => (path, says.trim()),
        None if line.starts_with('/') => (line, ""),
        _ => ("/", line),
    }
}

/// A file beside robots.txt that speaks of the use of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteFile {
    /// Of the TDM Reservation Protocol.
    Tdmrep,
    /// In the form of robots.txt, of training.
    AiTxt,
}

/// A rule of `tdmrep.json`.
#[derive(Deserialize)]
struct TdmRule {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: serde_json::Value,
    #[serde(rename = "tdm-policy")]
    policy: Option<String>,
}

impl SiteFile {
    pub(super) const ALL: [Self; 2] = [Self::Tdmrep, Self::AiTxt];

    /// Returns its path.
    pub(super) fn path(self) -> &'static str {
        match self {
            SiteFile::Tdmrep => "/.well-known/tdmrep.json",
            SiteFile::AiTxt => "/ai.txt",
        }
    }

    fn read(self, body: &[u8], agent: &str) -> PathPreferences {
        let text = as_utf8(body, usize::MAX);
        // A page that says that there is no file.
        if text.trim_ascii().is_empty() || text.trim_ascii_start().starts_with(b"<") {
            return PathPreferences::default();
        }
        let list = match self {
            SiteFile::Tdmrep => tdm_rules(&text),
            SiteFile::AiTxt => (!is_without_sense(&text)).then(|| training_rules(&our_part(&text, agent))),
        };
        list.map_or_else(
            || self.unclear("a file that cannot be read"),
            |list| PathPreferences { lists: vec![list], ..Default::default() },
        )
    }

    fn unclear(self, why: &str) -> PathPreferences {
        let said = match self {
            SiteFile::Tdmrep => {
                let uses = [(Usage::Tdm, Permission::Unclear), (Usage::TrainAi, Permission::Unclear)];
                Preference::new(PreferenceForm::Tdmrep, PreferencePlace::TdmrepJson, why, uses)
            }
            SiteFile::AiTxt => {
                let uses = [(Usage::TrainAi, Permission::Unclear)];
                Preference::new(PreferenceForm::AiTxt, PreferencePlace::AiTxt, why, uses)
            }
        };
        PathPreferences { everywhere: vec![said], ..Default::default() }
    }
}

/// Reads `tdmrep.json`; `None` if it is no list of rules. The first rule that matches a path counts.
fn tdm_rules(text: &[u8]) -> Option<PathRules> {
    let rules: Vec<TdmRule> = serde_json::from_slice(text).ok()?;
    let rules = rules.into_iter().map(|rule| {
        // Some write the number as a text.
        let value = rule.reservation.as_str().map_or_else(|| rule.reservation.to_string(), str::to_owned);
        let said = tdm_reservation(value.trim(), rule.policy.as_deref(), PreferencePlace::TdmrepJson);
        (rule.location, said)
    });
    Some(PathRules::new(Choice::First, rules))
}

fn training_rules(part: &OurPart) -> PathRules {
    let rules = part.rules.iter().map(|rule| {
        let (word, said) =
            if rule.allows { ("Allow", Permission::Allowed) } else { ("Disallow", Permission::Disallowed) };
        let says = format!("{word}: {}", rule.path);
        let said = Preference::new(PreferenceForm::AiTxt, PreferencePlace::AiTxt, &says, [(Usage::TrainAi, said)]);
        (rule.path.clone(), said)
    });
    PathRules::new(Choice::Longest, rules)
}

pub(super) fn rfc3339(millis: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(file: &PathPreferences, path: &str) -> Vec<String> {
        let address = Url::parse("http://a.test").unwrap().join(path).unwrap();
        let said = file.of(&address).into_iter().map(|said| {
            let uses = said.uses.iter().map(|(usage, said)| format!(" {}={}", usage.name(), said.name()));
            format!("[{}]{}", said.says, uses.collect::<String>())
        });
        said.collect()
    }

    fn robots(text: &str) -> PathPreferences {
        PathPreferences::of_robots(&our_part(text.as_bytes(), "examplebot"), 0)
    }

    fn file(file: SiteFile, status: u16, body: &str) -> PathPreferences {
        let row = RobotsRow { fetched_at: 0, status, body: body.as_bytes().to_vec() };
        PathPreferences::of_file(file, &row, "ndcrawl")
    }

    /// The example of draft-ietf-aipref-attach-05.
    const DRAFT: &str = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n\
        Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: OtherBot\nAllow: /\nContent-Usage: train-ai=y\n";

    #[test]
    fn the_longest_path_of_our_group_counts() {
        assert_eq!(told(&robots(DRAFT), "/test"), ["[train-ai=n] train-ai=n"]);
        assert_eq!(told(&robots(DRAFT), "/ai-ok/test"), ["[train-ai=y] train-ai=y"]);
        let ours = DRAFT.replace("OtherBot", "ExampleBot");
        assert_eq!(told(&robots(&ours), "/test"), ["[train-ai=y] train-ai=y"]);
        let twice = robots("User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage:\t/a\ttrain-ai=n # no\n");
        assert_eq!(told(&twice, "/a"), ["[train-ai=y] train-ai=y", "[train-ai=n] train-ai=n"]);
        assert!(told(&twice, "/b").is_empty());
    }

    #[test]
    fn a_file_of_many_lines_says_little_of_each_page() {
        let many = "License: https://a.test/l.xml\n".repeat(2 * MOST) + "User-agent: *\nContent-Usage: train-ai=n\n";
        let said = told(&robots(&many), "/");
        assert_eq!((said.len(), said[0].as_str()), (MOST, "[train-ai=n] train-ai=n"));
    }

    #[test]
    fn signals_and_licenses_stand_where_their_forms_say() {
        let text = "License: https://a.test/l.xml\nContent-Signal: search=yes\nUser-agent: a\nContent-Signal: ai-train=yes\n\
            User-agent: *\nContent-signal: /x ai-train=no\nDisallow: /y\n";
        let rsl = "[https://a.test/l.xml] train-ai=unclear ai-input=unclear search=unclear";
        assert_eq!(told(&robots(text), "/x"), ["[ai-train=no] train-ai=n", rsl]);
        assert_eq!(told(&robots(text), "/"), ["[search=yes] search=y", rsl]);
        assert!(told(&robots("User-agent: *\nDisallow: /y\n"), "/").is_empty());
    }

    #[test]
    fn a_line_of_use_changes_no_rule_of_access() {
        let plain = "User-agent: other\nUser-agent: examplebot\nDisallow: /a\n";
        let with = "User-agent: other\nContent-Usage: train-ai=n\nUser-agent: examplebot\nDisallow: /a\n";
        let rules = |text: &str| our_part(text.as_bytes(), "other").rules;
        assert_eq!(rules(plain), rules(with));
    }

    #[test]
    fn the_first_rule_of_tdmrep_that_matches_counts() {
        let rules = r#"[{"location": "/a/*.jpg$", "tdm-reservation": 0}, {"location": "/a/", "tdm-reservation": 1,
            "tdm-policy": "https://a.test/p"}, {"location": "/", "tdm-reservation": "1"}, {"location": "/a", "tdm-reservation": 0}]"#;
        let file = file(SiteFile::Tdmrep, 200, rules);
        assert_eq!(told(&file, "/a/1.jpg"), ["[tdm-reservation: 0] tdm=y"]);
        assert_eq!(told(&file, "/a/1"), ["[tdm-reservation: 1; tdm-policy: https://a.test/p] train-ai=n tdm=n"]);
        assert_eq!(told(&file, "/b"), ["[tdm-reservation: 1] train-ai=n tdm=n"]);
    }

    #[test]
    fn ai_txt_speaks_of_training_by_path() {
        let text = "User-Agent: *\nDisallow: *.html\nAllow: /open/\n";
        let file = file(SiteFile::AiTxt, 200, text);
        assert_eq!(told(&file, "/a.html"), ["[Disallow: *.html] train-ai=n"]);
        assert_eq!(told(&file, "/open/"), ["[Allow: /open/] train-ai=y"]);
        assert!(told(&file, "/").is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_unclear_and_what_is_not_there_says_nothing() {
        for (kind, status, body, expected) in [
            (SiteFile::Tdmrep, 404, "[]", None),
            (SiteFile::Tdmrep, 200, "<!DOCTYPE html><p>not found", None),
            (SiteFile::Tdmrep, 200, " ", None),
            (
                SiteFile::Tdmrep,
                200,
                "{\"location\": \"/\"}",
                Some("[a file that cannot be read] train-ai=unclear tdm=unclear"),
            ),
            (SiteFile::Tdmrep, 503, "", Some("[status 503] train-ai=unclear tdm=unclear")),
            (SiteFile::Tdmrep, 0, "", Some("[no answer] train-ai=unclear tdm=unclear")),
            (SiteFile::AiTxt, 200, "training is not welcome", Some("[a file that cannot be read] train-ai=unclear")),
            (SiteFile::AiTxt, 403, "", None),
        ] {
            assert_eq!(
                told(&file(kind, status, body), "/x"),
                expected.into_iter().collect::<Vec<_>>(),
                "{kind:?} {body}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read(text in "(?s).{0,200}", lines in "((content-usage|content-signal|license|user-agent|allow):[ /a-z*$=,\"]{0,20}\n){0,12}") {
            for body in [&text, &lines] {
                let row = RobotsRow { fetched_at: i64::MAX, status: 200, body: body.as_bytes().to_vec() };
                let address = Url::parse("http://a.test/a?b").unwrap();
                for kind in SiteFile::ALL {
                    PathPreferences::of_file(kind, &row, "ndcrawl").of(&address);
                }
                robots(body).of(&address);
            }
        }
    }
}
