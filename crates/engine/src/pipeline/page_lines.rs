//! From verdicts to outcomes, and from outcomes to the lines of `pages.jsonl` and `errors.jsonl`.

use url::Url;

use ndcrawl_model::{
    Detector, ErrorLine, Fetched, Lease, Outcome, PageContent, PageLine, Reason, Recrawled, TextError, UrlId, UrlRow,
    Verdict, shown_url,
};
use neardup::detect::dd::Band;

use super::named_original::NamedOriginal;

/// Returns the outcome that a verdict gives a URL. `of` is the URL that it repeats, if that is one of this crawl.
pub fn outcome_of(verdict: Verdict, of: Option<UrlId>) -> Outcome {
    match verdict {
        Verdict::NearDuplicate { score, second, difference, detector, decided_by, .. } => {
            Outcome::NearDuplicate { of, score, second, difference, detector, decided_by }
        }
        Verdict::ExactDuplicate { decided_by, .. } => Outcome::ExactDuplicate { of, decided_by },
        Verdict::Unique => Outcome::Stored,
    }
}

/// Returns the line of a URL whose lease has ended.
pub fn leased_line(lease: &Lease, referrer: Option<String>, outcome: &Outcome) -> PageLine {
    let line = outcome_line(outcome);
    let (recheck, reused) = match &lease.recrawled {
        Some(Recrawled::Requested(recheck)) => (Some(recheck.clone()), None),
        Some(Recrawled::Reused(why)) => (None, Some(Reason::NotRequested(*why))),
        None => (None, None),
    };
    PageLine {
        url: lease.url.to_string(),
        depth: lease.discovery.depth,
        referrer,
        requests: lease.attempts,
        expected: lease.expectation,
        prediction: lease.sampled_prediction.as_deref().cloned(),
        recheck,
        reason: line.reason.or(reused),
        ..line
    }
}

/// Returns the line of a URL that was seen and not leased.
pub fn unleased_line(row: &UrlRow, referrer: Option<String>, outcome: &Outcome) -> PageLine {
    PageLine { url: shown_url(&row.url).into_owned(), depth: row.discovery.depth, referrer, ..outcome_line(outcome) }
}

/// Returns a line with the fields that depend on the outcome alone.
pub fn outcome_line(outcome: &Outcome) -> PageLine {
    let mut line = PageLine { outcome: outcome.kind(), ..PageLine::default() };
    match outcome {
        Outcome::Stored | Outcome::NotModified | Outcome::PredictedDuplicate { .. } => {}
        Outcome::NearDuplicate { score, second, difference, detector, decided_by, .. } => {
            line.score = Some(score.as_f64());
            line.second_score = second.map(|second| second.as_f64());
            line.adds_words = difference.map(|difference| difference.adds);
            line.lacks_words = difference.map(|difference| difference.lacks);
            line.words = difference.map(|difference| difference.words);
            line.loses_words = difference.map(|difference| difference.loses);
            line.band = (*detector == Detector::Dd).then(|| Band::of(*score).name().to_owned());
            line.detector = Some(detector.name().to_owned());
            line.decided_by = Some(decided_by.name().to_owned());
        }
        Outcome::ExactDuplicate { decided_by, .. } => line.decided_by = Some(decided_by.name().to_owned()),
        Outcome::Redirected { to, .. } => line.final_url = Some(to.clone()),
        Outcome::Excluded(rule) => line.reason = Some(Reason::Excluded(*rule)),
        Outcome::Failed { class, .. } => line.reason = Some(Reason::Failed(*class)),
        Outcome::Deferred(deferral) => line.reason = Some(Reason::Deferred(*deferral)),
    }
    line
}

/// Adds the page that a duplicate names.
pub fn add_original(line: &mut PageLine, original: Option<&NamedOriginal>) {
    line.duplicate_of = original.map(NamedOriginal::shown);
    line.duplicate_file = original.and_then(NamedOriginal::file);
    line.duplicate_of_capture = original.map(|original| original.capture).filter(|capture| *capture > 1);
    line.duplicate_in = original.and_then(|original| original.folder.clone());
}

/// Adds the facts of the server's answer.
pub fn add_answer(line: &mut PageLine, fetched: &Fetched) {
    let media_type = fetched.media_type();
    if line.final_url.is_none() {
        line.final_url = fetched.spelling.as_ref().map(Url::to_string);
    }
    line.status = Some(fetched.status);
    line.fetched_at = fetched.started_at.and_then(rfc3339);
    line.media_type = (!media_type.is_empty()).then_some(media_type);
    line.bytes = Some(fetched.body.len() as u64);
    line.truncated = fetched.truncated;
}

/// Returns the digest of a page's text as lines have it.
pub fn told_text_digest(rendered: &PageContent) -> Option<String> {
    rendered.text_digest.map(|digest| format!("blake3:{digest}"))
}

/// Adds the facts of the page itself.
pub fn add_page(line: &mut PageLine, rendered: &PageContent) {
    line.title.clone_from(&rendered.title);
    line.heading.clone_from(&rendered.heading);
    line.lang.clone_from(&rendered.language);
    line.charset = (!rendered.charset.is_empty()).then(|| rendered.charset.to_owned());
    line.charset_declared = rendered.charset_declared.as_deref().map(str::to_owned);
    line.text_digest = told_text_digest(rendered);
    line.robots = rendered.robots.names().into_iter().map(str::to_owned).collect();
    line.canonical.clone_from(&rendered.canonical);
    line.alternates.clone_from(&rendered.alternates);
    line.preferences.clone_from(&rendered.preferences);
    line.provenance = Some(rendered.provenance.clone());
}

/// Adds what came of reading a document. `has_text` tells that its text was read.
pub fn add_document(line: &mut PageLine, has_text: bool, error: Option<TextError>) {
    line.text_from = has_text.then(|| "pdf".to_owned());
    line.text_error = error;
}

/// Returns the line of `errors.jsonl`, if the URL failed.
pub fn error_line(url: &str, attempts: u32, outcome: &Outcome) -> Option<ErrorLine> {
    match outcome {
        Outcome::Failed { class, detail } => {
            Some(ErrorLine { url: url.to_owned(), class: class.name().to_owned(), detail: detail.clone(), attempts })
        }
        _ => None,
    }
}

/// Formats milliseconds since 1970 as RFC 3339 in UTC, with milliseconds. `None` beyond the years -9999 to 9999.
fn rfc3339(millis: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|time| format!("{time:.3}"))
}
