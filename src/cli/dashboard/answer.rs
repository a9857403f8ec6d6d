//! Answers the requests to the dashboard.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::controls::Action;
use super::history::Sample;
use super::{ServedState, ShownStatus, metrics, page};
use crate::cli::status_file::StatusFile;

/// Most bytes of a form.
const FORM_BYTES: usize = 1024;

/// Headers of all responses. The page has a content policy of its own.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: with it, browsers say `Origin: null` for the forms of this page.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn answer(
    State(served): State<Arc<ServedState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let action = Action::of(uri.path());
    if (!served.is_public || action.is_some()) && !names_this_machine(&headers, served.address.ip()) {
        let why = "The Host header names another machine. Use the loopback address.\n";
        return (StatusCode::FORBIDDEN, HEADERS, why).into_response();
    }
    if let Some(action) = action {
        return pressed(&served, action, &method, &headers, body).await;
    }
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, HEADERS, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let shown = served.shown();
    let (kind, body) = match uri.path() {
        "/" => ("text/html; charset=utf-8", page::page(&served.controls.buttons(uri.query()))),
        page::SCRIPT_PATH => ("text/javascript; charset=utf-8", page::SCRIPT.to_owned()),
        "/metrics" => (metrics::TYPE, metrics::metrics(&shown.status)),
        "/status.json" => ("application/json", status_json(&served)),
        _ => {
            return (StatusCode::NOT_FOUND, HEADERS, "Not found. Available: /, /metrics, /status.json.\n")
                .into_response();
        }
    };
    (HEADERS, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Answers the press of a button.
async fn pressed(served: &ServedState, action: Action, method: &Method, headers: &HeaderMap, body: Body) -> Response {
    if method != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, HEADERS, [(header::ALLOW, "POST")]).into_response();
    }
    let Ok(form) = to_bytes(body, FORM_BYTES).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, HEADERS).into_response();
    };
    let controls = &served.controls;
    let refusal = controls.refusal(headers, &form);
    let (status, text) = refusal.unwrap_or_else(|| controls.act(action, served.shown().status.state));
    if status == StatusCode::SEE_OTHER {
        return (status, HEADERS, [(header::LOCATION, format!("/{}", controls.query()))]).into_response();
    }
    (status, HEADERS, text).into_response()
}

/// Returns whether the request names loopback or the address listened on. The port may differ, because it may be
/// forwarded.
fn names_this_machine(headers: &HeaderMap, listening: IpAddr) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let Some(host) = host else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    let is_ours = |address: IpAddr| address.to_canonical().is_loopback() || address == listening;
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_ours)
}

/// `status.json` with its earlier values, and what the page says of the crawl.
#[derive(Serialize)]
struct StatusAnswer<'a> {
    #[serde(flatten)]
    status: &'a StatusFile,
    head: String,
    stopping: bool,
    history: Vec<RatedStatus<'a>>,
}

#[derive(Serialize)]
struct RatedStatus<'a> {
    #[serde(flatten)]
    sample: &'a Sample,
    duplicate_rate: Option<f64>,
}

fn status_json(served: &ServedState) -> String {
    let mut shown = ShownStatus::clone(&served.shown());
    // The switch is ahead of the figures, which are set once a second.
    shown.status.state = served.controls.state(shown.status.state);
    json(&shown, served.controls.is_stopping())
}

fn json(shown: &ShownStatus, is_told_to_stop: bool) -> String {
    let (status, samples) = (&shown.status, shown.history.samples().iter());
    let answer = StatusAnswer {
        status,
        head: status.head(jiff::Timestamp::now()),
        stopping: status.state.is_alive() && is_told_to_stop,
        history: samples.map(|sample| RatedStatus { sample, duplicate_rate: sample.duplicate_rate() }).collect(),
    };
    // Strings and numbers cannot fail to serialize.
    serde_json::to_string(&answer).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let is_answered = |host: &str| {
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            names_this_machine(&headers, "127.0.0.2".parse().unwrap())
        };
        for host in ["localhost", "LOCALHOST:9100", "127.0.0.1:1", "127.0.0.2", "[::1]:9100", "[::ffff:127.0.0.1]"] {
            assert!(is_answered(host), "{host}");
        }
        let foreign =
            ["evil.test", "localhost.evil.test:9100", "evil.test@127.0.0.1.evil.test", "192.168.0.1", "[::]", ""];
        for host in foreign {
            assert!(!is_answered(host), "{host}");
        }
        assert!(!names_this_machine(&HeaderMap::new(), "127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn json_has_the_fields_of_the_status_file_and_what_they_were() {
        let mut shown = ShownStatus::default();
        shown.history.add(&shown.status.clone(), std::time::Duration::from_secs(1));
        let told: serde_json::Value = serde_json::from_str(&json(&shown, false)).unwrap();
        let status = serde_json::to_value(&shown.status).unwrap();
        assert!(status.as_object().unwrap().iter().all(|(name, value)| told[name] == *value), "{told}");
        assert_eq!(told["history"][0]["elapsed_seconds"], 1.0);
        assert_eq!(told["history"][0]["duplicate_rate"], serde_json::Value::Null);
    }
}
