//! Renders the explanation of a URL as text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::judgement::{Judgement, ReplayedCandidate, SecondCheckResult};
use super::{Explanation, PathStep, RobotsView};
use crate::cli::format::{byte_size, counted, thousands};
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::text_width::shortened;
use crate::model::{EarlierVerdict, OutcomeKind, PageLine, Permission, Reason, Revision, Usage, permission};

/// Steps shown at either end of a long path.
const STEPS: usize = 4;
/// The maximum length of a title.
pub(super) const TITLE: usize = 90;

/// Says what was decided first, and why that changed.
fn before(earlier: &EarlierVerdict, line: &PageLine) -> String {
    let score = earlier.score.map_or(String::new(), |score| format!(" ({score})"));
    let first = match &earlier.duplicate_of {
        Some(of) => format!("first decided {} of {}{score}", with_article(earlier.outcome.name()), terminal_safe(of)),
        None => "stored first".to_owned(),
    };
    match earlier.reason {
        None => format!("{first}, when too little was known"),
        Some(Revision::BetterPlace) => {
            format!("{first}; this page is a better place for the same text and took its place")
        }
        Some(Revision::Displaced) => format!("{first}; a page that is a better place for the same text took its place"),
        Some(Revision::KeepRule) => match &line.kept_by {
            Some(why) => format!("{first}; this copy is kept in its place (--keep {})", terminal_safe(why)),
            None if line.is_kept() => format!("{first}; then the copy that came first was kept (--keep)"),
            None => format!("{first}; then another copy was kept (--keep)"),
        },
    }
}

fn with_article(outcome: &str) -> String {
    let article = if outcome.starts_with('e') { "an" } else { "a" };
    format!("{article} {outcome}")
}

impl Explanation {
    /// Renders the explanation. Each line ends with a line break.
    pub fn text(&self, folder: &str) -> String {
        let mut text = format!("{}\n", terminal_safe(&self.url));
        let mut add = |name: &str, what: String| {
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(text, "  {name:<9} {what}");
        };
        add("outcome", self.outcome());
        if let Some(title) = self.line.as_ref().and_then(|line| line.title.as_deref()) {
            add("title", shortened(&terminal_safe(title), TITLE));
        }
        if let Some((earlier, line)) = self.line.as_ref().and_then(|line| Some((line.revised.as_ref()?, line))) {
            add("before", before(earlier, line));
        }
        add("found", self.found());
        if let Some(line) = self.line.as_ref().filter(|line| line.focus.is_some() || line.expected.is_some()) {
            add("topic", topic(line));
        }
        if let Some(robots) = &self.robots {
            add("robots", robots.text());
        }
        if let Some(line) = &self.line {
            if !line.preferences.is_empty() {
                add("use", uses(line));
            }
            add("request", self.request(line));
            add("archive", archive(line));
        }
        text += &path(&self.path, &self.url);
        if let Some(judgement) = &self.judgement {
            text += &judgement.text();
        }
        if !self.against.is_empty() {
            let folders = terminal_safe(&self.against.join(", ")).into_owned();
            let _ = write!(
                text,
                "\nIt was also compared with the pages stored in {folders}; that comparison is not repeated here\n"
            );
        }
        let own = |line: &&PageLine| line.duplicate_in.is_none();
        if let Some(of) = self.line.as_ref().filter(own).and_then(|line| line.duplicate_of.as_ref()) {
            let (of, url) = (quoted(of), quoted(&self.url));
            let _ = write!(text, "\nTerm by term: ndcrawl explain {} {url} {of}\n", quoted(folder));
        }
        text
    }

    fn outcome(&self) -> String {
        let Some(line) = &self.line else {
            return "none yet: it is queued; the same crawl command resumes".to_owned();
        };
        let of = line.duplicate_of.as_deref().map(terminal_safe).unwrap_or_default();
        let of = match &line.duplicate_in {
            Some(folder) => format!("{of} of the earlier crawl in {}", terminal_safe(folder)),
            None => of.into_owned(),
        };
        let what = match line.outcome {
            OutcomeKind::Stored => "no earlier stored page matches it".to_owned(),
            OutcomeKind::NearDuplicate => format!("left out: it duplicates {of}{}", score(line)),
            OutcomeKind::ExactDuplicate => {
                let same = if line.decided_by.as_deref() == Some("body-digest") { "bytes" } else { "text" };
                format!("left out: it has the same {same} as {of}")
            }
            OutcomeKind::Redirected => {
                format!("the target is {}", line.final_url.as_deref().map(terminal_safe).unwrap_or_default())
            }
            OutcomeKind::NotModified if line.status == Some(304) => {
                "unchanged: the server answered 304 Not Modified".to_owned()
            }
            OutcomeKind::NotModified if line.reason.is_some() => {
                line.reason.map_or_else(String::new, |reason| self.reason(line, reason))
            }
            OutcomeKind::NotModified => "unchanged: the same bytes as in the crawl before".to_owned(),
            OutcomeKind::Excluded | OutcomeKind::Failed | OutcomeKind::Deferred => {
                line.reason.map_or_else(String::new, |reason| self.reason(line, reason))
            }
            OutcomeKind::PredictedDuplicate => format!(
                "not fetched: a rule predicts that it duplicates {of} ({}, in {}; correct for {} of the tested pages)",
                line.rule.as_deref().map(terminal_safe).unwrap_or_default(),
                line.rule_context.as_deref().map(terminal_safe).unwrap_or_default(),
                line.validity.map_or(String::new(), |share| format!("{:.2} %", 100.0 * share)),
            ),
        };
        format!("{}, {what}", line.outcome.name())
    }

    /// Says why the URL was not kept. What is known of this URL goes before what is known of the reason.
    fn reason(&self, line: &PageLine, reason: Reason) -> String {
        match (reason, &line.pattern, &line.probe, &self.error) {
            (Reason::Excluded(_), Some(pattern), ..) => format!(
                "pages of the URL pattern {} are duplicates only, so it was not fetched (--trap-guard)",
                terminal_safe(pattern)
            ),
            (Reason::Excluded(_), _, Some(probe), _) => {
                format!("it equals the response to {}, a probe of a made-up URL (--soft-404)", terminal_safe(probe))
            }
            (Reason::Failed(_), .., Some(error)) => {
                format!("{}: {}", terminal_safe(&error.class), terminal_safe(&error.detail))
            }
            (Reason::Failed(class), .., None) => class.name().to_owned(),
            (Reason::Excluded(_) | Reason::NotRequested(_), ..) => reason.explain().to_owned(),
            (Reason::Deferred(_), ..) => format!("not fetched: {}", reason.explain()),
        }
    }

    fn found(&self) -> String {
        let depth = self.line.as_ref().map_or(0, |line| line.depth);
        match self.path.last() {
            None => "a seed, or listed in a sitemap".to_owned(),
            Some(step) => {
                let links = counted(depth.into(), "link", "links");
                let how = if step.outcome == OutcomeKind::Redirected { "a redirect of" } else { "on" };
                format!("{links} from a seed, {how} {}", terminal_safe(&step.url))
            }
        }
    }

    fn request(&self, line: &PageLine) -> String {
        if let Some(why @ Reason::NotRequested(_)) = line.reason {
            let before = line.fetched_at.as_deref().map(terminal_safe).unwrap_or_default();
            return format!("{}; last requested {before}", why.explain());
        }
        if line.requests == 0 && line.status.is_none() {
            return "never requested".to_owned();
        }
        let mut parts = vec![match (line.requests, &line.file, line.line) {
            (0, Some(file), Some(number)) => format!("read from {}, line or row {number}", terminal_safe(file)),
            (0, ..) => "read from a file".to_owned(),
            (requests, ..) => counted(requests.into(), "request", "requests"),
        }];
        parts.extend(line.fetched_at.as_deref().map(|at| format!("the last at {}", terminal_safe(at))));
        parts.extend(line.status.map(|status| format!("status {status}")));
        if let Some(address) = line.final_url.as_deref().filter(|_| line.leads_to().is_none()) {
            parts.push(format!("in the spelling that the server redirects to: {}", terminal_safe(address)));
        }
        parts.extend(line.media_type.as_deref().map(|kind| terminal_safe(kind).into_owned()));
        parts.extend(line.bytes.map(byte_size));
        if line.truncated {
            parts.push("truncated".to_owned());
        }
        parts.extend(line.text_from.as_deref().map(|_| "text read from PDF".to_owned()));
        parts.extend(line.text_error.map(|error| error.explain().to_owned()));
        if !line.robots.is_empty() {
            parts.push(format!("marked {}", terminal_safe(&line.robots.join(", "))));
        }
        parts.join(", ")
    }
}

/// Says what all statements about the use of a page come to, and where they stand.
fn uses(line: &PageLine) -> String {
    let said = Usage::ALL.map(|usage| (usage, permission(&line.preferences, usage)));
    let said = said.into_iter().filter(|(_, said)| *said != Permission::Unknown);
    let mut said: Vec<String> = said.map(|(usage, said)| format!("{} {}", usage.name(), said.name())).collect();
    if said.is_empty() {
        said.push("nothing is said of a known use".to_owned());
    }
    let places = line.preferences.iter().map(|one| format!("{} ({})", one.form.name(), one.from.name()));
    let places = places.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    format!("{}; by {}", said.join(", "), places.join(", "))
}

/// Returns the relevance of a page to the topic, and the relevance expected of its link.
fn topic(line: &PageLine) -> String {
    let relevance = line.focus.map(|focus| format!("relevance {focus}"));
    let expected = line.expected.map(|expected| {
        let turn = if expected.explored { ", but it was fetched for exploration" } else { "" };
        let parts = [
            ("link text", expected.anchor),
            ("text around", expected.around),
            ("heading", expected.heading),
            ("URL", expected.url),
            ("linking page", expected.source),
            ("other links of it", expected.siblings),
            ("directory", expected.region),
        ];
        let parts = parts.map(|(name, part)| format!("{name} {part:.2}")).join(", ");
        format!("{:.3} expected{turn}: {parts}", expected.score)
    });
    relevance.into_iter().chain(expected).collect::<Vec<_>>().join("; ")
}

/// Quotes an argument for a shell.
fn quoted(text: &str) -> String {
    let safe = terminal_safe(text);
    let is_plain = safe.chars().all(|c| c.is_ascii_alphanumeric() || "-._~:/%+,=@".contains(c));
    if is_plain { safe.into_owned() } else { format!("'{}'", safe.replace('\'', r"'\''")) }
}

fn score(line: &PageLine) -> String {
    let words = match (line.adds_words, line.lacks_words) {
        (Some(adds), Some(lacks)) => {
            format!(", adds {} to it, lacks {}", counted(adds.into(), "word", "words"), thousands(lacks.into()))
        }
        _ => line.second_score.map_or(String::new(), |second| format!(", second check {second}")),
    };
    let how = match line.decided_by.as_deref() {
        Some("body-digest") => "; found for another page with the same bytes",
        Some("text-digest") => "; found for another page with the same text",
        _ => "",
    };
    line.score.map_or(String::new(), |score| format!(" (similarity {score}{words}{how})"))
}

impl RobotsView {
    fn text(&self) -> String {
        let origin = terminal_safe(&self.origin);
        match (self.allows, &self.path) {
            (Some(allows), Some(path)) => {
                let line = if allows { "Allow" } else { "Disallow" };
                format!("'{line}: {}' in {origin}/robots.txt decides", terminal_safe(path))
            }
            _ if self.status == 0 => format!("{origin}/robots.txt could not be reached"),
            _ if (200..300).contains(&self.status) => format!("no rule of {origin}/robots.txt matches it"),
            _ => format!("{origin}/robots.txt has status {}", self.status),
        }
    }
}

fn archive(line: &PageLine) -> String {
    match (&line.warc_file, line.warc_offset) {
        (Some(file), Some(offset)) => format!("{}, offset {offset}", terminal_safe(file)),
        _ => "nothing".to_owned(),
    }
}

/// Renders the chain of referrers, shortened in the middle.
fn path(steps: &[PathStep], url: &str) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut text = "\nPath from the seed\n".to_owned();
    let line =
        |step: &PathStep| format!("  {:>3}  {:<16} {}\n", step.depth, step.outcome.name(), terminal_safe(&step.url));
    if steps.len() <= 2 * STEPS + 1 {
        steps.iter().for_each(|step| text += &line(step));
    } else {
        steps[..STEPS].iter().for_each(|step| text += &line(step));
        let _ = writeln!(text, "  ...  and {} more", thousands((steps.len() - 2 * STEPS) as u64));
        steps[steps.len() - STEPS..].iter().for_each(|step| text += &line(step));
    }
    text + &format!("    =  {:<16} {}\n", "this URL", terminal_safe(url))
}

impl Judgement {
    fn text(&self) -> String {
        let mut text = format!(
            "\nDecision\n  page {} of {} in crawl order, {} of weight {}\n",
            thousands(u64::from(self.sequence) + 1),
            thousands(self.judged.into()),
            counted(self.terms as u64, "term", "terms"),
            hundredths(self.weight)
        );
        let mut add = |line: String| {
            let _ = writeln!(text, "  {line}");
        };
        add(copy("bytes", self.same_bytes.as_deref()));
        if self.terms >= self.min_terms {
            add(copy("text", self.same_text.as_deref()));
        } else {
            add(format!("fewer than {} terms: only its bytes are compared", self.min_terms));
        }
        if self.is_compared {
            add(self.stages());
        }
        text + &self.candidates()
    }

    fn stages(&self) -> String {
        let stages = &self.stages;
        let second = match self.second_check {
            true => format!(", {} also by their own words", thousands(stages.matching)),
            false => String::new(),
        };
        format!(
            "of {} stored before, {} share a term, {} reach {} by {}{second}",
            counted(stages.stored, "page", "pages"),
            thousands(stages.sharing),
            thousands(stages.reaching),
            self.threshold,
            self.detector
        )
    }

    fn candidates(&self) -> String {
        if self.candidates.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\nThe most similar pages stored before{}\n",
            if self.is_compared { "" } else { " (not compared: it is a copy)" }
        );
        let _ = writeln!(text, "     score     adds         lacks        page");
        for ReplayedCandidate { url, score, second, reaches, is_match, is_named } in &self.candidates {
            let mark = match (is_named, is_match) {
                (true, _) => '=',
                (false, true) => '+',
                (false, false) => ' ',
            };
            // The second check applies only if the first is passed.
            let second = second.filter(|_| *reaches);
            let (adds, lacks) = second.map_or(("-".to_owned(), "-".to_owned()), |second| columns(&second));
            let _ = writeln!(text, "  {mark}  {score:<8}  {adds:<11}  {lacks:<11}  {}", terminal_safe(url));
        }
        if self.candidates.iter().any(|page| page.is_named || page.is_match) {
            text += "  = the page that the verdict names, + another match\n";
        }
        let named = self.candidates.iter().find(|page| page.is_named).and_then(|page| page.second);
        let closest = self.candidates.iter().filter(|page| page.reaches).find_map(|page| page.second);
        if let Some(second) = named.or(closest) {
            let of = if named.is_some() { "the page and that one" } else { "the page and the first of these" };
            text += &format!("  {of}: {}\n", second.basis);
        }
        text
    }
}

pub(super) fn columns(second: &SecondCheckResult) -> (String, String) {
    let of = |words: usize, own: usize| format!("{} of {}", thousands(words as u64), thousands(own as u64));
    (of(second.adds_words, second.own_words), of(second.lacks_words, second.kept_own_words))
}

fn copy(what: &str, first: Option<&str>) -> String {
    match first {
        Some(url) => format!("the same {what} as {}", terminal_safe(url)),
        None => format!("no earlier page has the same {what}"),
    }
}

/// Formats hundredths as a decimal.
pub(super) fn hundredths(weight: u64) -> String {
    format!("{}.{:02}", thousands(weight / 100), weight % 100)
}
