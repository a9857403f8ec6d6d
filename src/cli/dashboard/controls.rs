//! *May this request pause or stop the crawl?* The buttons of the dashboard, and who may press them.
//!
//! Other pages in the same browser may send forms to this address, and a name of theirs may point to loopback. So a
//! press counts only if it is a POST, names this machine in `Host`, comes from a page of this server by `Origin`, and
//! has the token that the crawl printed. The token stands in the printed URL: whoever opens another one reads along,
//! without buttons. On an address that other machines reach, there are no buttons at all.

use axum::http::{HeaderMap, StatusCode, header};
use tokio::sync::watch;
use url::form_urlencoded;

use crate::cli::errors::exit;
use crate::cli::signals::ReceivedSignals;
use crate::cli::status_file::RunState;
use crate::crawl::PauseSwitch;

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

/// What a button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Fetch nothing more for now.
    Pause,
    /// Go on.
    Resume,
    /// End the crawl as a signal does.
    Stop,
    /// End the dashboard of a crawl that has ended.
    Close,
}

impl Action {
    const ALL: [Self; 4] = [Self::Pause, Self::Resume, Self::Stop, Self::Close];

    /// Returns the path that its form is sent to.
    fn path(self) -> &'static str {
        match self {
            Self::Pause => "/pause",
            Self::Resume => "/resume",
            Self::Stop => "/stop",
            Self::Close => "/close",
        }
    }

    /// Returns the action of a path.
    pub fn of(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.path() == path)
    }

    fn label(self) -> &'static str {
        match self {
            Self::Pause => "Pause",
            Self::Resume => "Resume",
            Self::Stop => "Stop",
            Self::Close => "Close the dashboard",
        }
    }
}

/// The parts of a crawl that buttons act on.
pub(in crate::cli) struct CrawlControls {
    pub pause: PauseSwitch,
    pub signals: ReceivedSignals,
}

/// The buttons, and the token that they need.
pub(super) struct Controls {
    crawl: CrawlControls,
    /// `None` if there are no buttons.
    token: Option<String>,
    closed: watch::Sender<bool>,
}

impl Controls {
    /// Draws a token, if the dashboard is only reached from this machine. Without random bytes there are no buttons.
    pub fn new(crawl: CrawlControls, is_loopback: bool) -> Self {
        let token = is_loopback.then(random_token).flatten();
        Self { crawl, token, closed: watch::channel(false).0 }
    }

    /// Returns the query that the printed URL ends with.
    pub fn query(&self) -> String {
        self.token.as_ref().map_or(String::new(), |token| format!("?token={token}"))
    }

    /// Returns the state that is shown, given that of the last figures.
    pub fn state(&self, shown: RunState) -> RunState {
        match shown {
            RunState::Running | RunState::Paused if self.crawl.pause.is_paused() => RunState::Paused,
            RunState::Running | RunState::Paused => RunState::Running,
            ended => ended,
        }
    }

    /// Returns whether the crawl was told to stop.
    pub fn is_stopping(&self) -> bool {
        self.crawl.signals.exit_code().is_some()
    }

    /// Returns the buttons for a page that was asked for with this query. Its script shows those that fit the state.
    pub fn buttons(&self, query: Option<&str>) -> String {
        let Some(token) = &self.token else { return String::new() };
        if !field(query.unwrap_or_default().as_bytes()).is_some_and(|given| is_same(&given, token)) {
            return "<p class=\"soft\">Pause and stop need the address that was printed when the crawl began.</p>"
                .to_owned();
        }
        let form = |action: Action| {
            format!(
                "<form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
                 <button>{}</button></form>",
                action.path(),
                action.label()
            )
        };
        let forms = Action::ALL.map(form).concat();
        format!("<div class=\"controls\">{forms}<span id=\"note\" class=\"soft\"></span></div>")
    }

    /// Says why a POST with these headers and this form is refused, if it is.
    pub fn refusal(&self, headers: &HeaderMap, form: &[u8]) -> Option<(StatusCode, &'static str)> {
        let Some(token) = &self.token else {
            return Some((StatusCode::FORBIDDEN, "Pause and stop work on a loopback address only.\n"));
        };
        if !is_from_here(headers) {
            return Some((StatusCode::FORBIDDEN, "The request comes from a page of another origin.\n"));
        }
        match field(form) {
            Some(given) if is_same(&given, token) => None,
            _ => Some((StatusCode::FORBIDDEN, "The token is missing or wrong. Use the address that was printed.\n")),
        }
    }

    /// Does what a button says. Returns the answer.
    pub fn act(&self, action: Action, state: RunState) -> (StatusCode, &'static str) {
        const DONE: (StatusCode, &str) = (StatusCode::SEE_OTHER, "");
        match action {
            Action::Close if state.is_alive() => (StatusCode::CONFLICT, "The crawl runs: stop it first.\n"),
            Action::Close => {
                self.closed.send_replace(true);
                (StatusCode::OK, "The dashboard has ended.\n")
            }
            _ if !state.is_alive() => (StatusCode::CONFLICT, "The crawl has ended.\n"),
            Action::Pause | Action::Resume => {
                self.crawl.pause.set(action == Action::Pause);
                DONE
            }
            // A second press is no second signal: people press twice.
            Action::Stop if self.is_stopping() => DONE,
            Action::Stop => {
                self.crawl.signals.raise(exit::INTERRUPTED);
                DONE
            }
        }
    }

    /// Waits until the dashboard is closed by its button.
    pub async fn closed(&self) {
        // The sender lives in this struct.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }
}

/// Returns whether a request may come from a page of this server. A program that sends no `Origin` is no web page.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if text(header::HeaderName::from_static("sec-fetch-site")).is_some_and(|site| site != "same-origin") {
        return false;
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => {
            origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host))
        }
        (Some(_), None) => false,
    }
}

/// Returns the token of a form or a query.
fn field(form: &[u8]) -> Option<String> {
    form_urlencoded::parse(form).find(|(name, _)| name == "token").map(|(_, value)| value.into_owned())
}

/// Compares in a time that does not tell how much is right.
fn is_same(given: &str, token: &str) -> bool {
    let difference = given.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == token.len() && difference == 0
}

/// Returns random hexadecimal digits; `None` if the system has no random bytes.
fn random_token() -> Option<String> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controls() -> Controls {
        let (stop, _) = watch::channel(crate::pipeline::Stop::Go);
        let (_, asked) = watch::channel(crate::pipeline::Stop::Go);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let signals = runtime.block_on(async { crate::cli::signals::follow(stop, asked) });
        Controls::new(CrawlControls { pause: PauseSwitch::default(), signals }, true)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_press_needs_the_token_and_a_page_of_this_server() {
        let controls = controls();
        let token = controls.query().split_off("?token=".len());
        let form = format!("token={token}");
        let is_refused = |pairs: &[_], form: &str| controls.refusal(&headers(pairs), form.as_bytes()).is_some();
        let host = ("host", "127.0.0.1:9100");
        assert!(!is_refused(&[host], &form), "a program with the token");
        let ours = [host, ("origin", "http://127.0.0.1:9100"), ("sec-fetch-site", "same-origin")];
        assert!(!is_refused(&ours, &form));
        for foreign in ["http://evil.test", "null", "https://127.0.0.1:9100", "http://127.0.0.1:8000", ""] {
            assert!(is_refused(&[host, ("origin", foreign)], &form), "{foreign}");
        }
        for site in ["cross-site", "same-site", "none"] {
            assert!(is_refused(&[host, ("sec-fetch-site", site)], &form), "{site}");
        }
        for wrong in ["", "token=", &format!("token={}", &token[1..]), &format!("token={token}0"), "other=1"] {
            assert!(is_refused(&ours, wrong), "{wrong}");
        }
    }

    #[test]
    fn without_the_token_there_are_no_buttons() {
        let controls = controls();
        let query = controls.query();
        let buttons = |query: Option<&str>| controls.buttons(query);
        assert!(buttons(query.strip_prefix('?')).contains("<button>Pause</button>"));
        for query in [None, Some(""), Some("token=0")] {
            assert!(!buttons(query).contains("token="), "{query:?}");
            assert!(!buttons(query).contains("<button>"), "{query:?}");
        }
        let public = Controls::new(controls.crawl, false);
        assert_eq!((public.query(), public.buttons(Some("token="))), Default::default());
        assert!(public.refusal(&headers(&[]), b"token=").is_some());
    }

    #[test]
    fn buttons_fit_the_state() {
        let controls = controls();
        assert_eq!(controls.act(Action::Pause, RunState::Running).0, StatusCode::SEE_OTHER);
        assert_eq!(controls.state(RunState::Running), RunState::Paused);
        assert_eq!(controls.act(Action::Close, RunState::Paused).0, StatusCode::CONFLICT);
        assert_eq!(controls.act(Action::Resume, RunState::Paused).0, StatusCode::SEE_OTHER);
        assert_eq!(controls.state(RunState::Paused), RunState::Running);
        assert_eq!(controls.act(Action::Stop, RunState::Running).0, StatusCode::SEE_OTHER);
        assert_eq!(controls.act(Action::Stop, RunState::Running).0, StatusCode::SEE_OTHER);
        assert_eq!(controls.crawl.signals.exit_code(), Some(exit::INTERRUPTED));
        assert!(!controls.crawl.signals.is_urgent(), "the second press is no second signal");
        assert_eq!(controls.act(Action::Pause, RunState::Stopped).0, StatusCode::CONFLICT);
        assert_eq!(controls.act(Action::Close, RunState::Stopped).0, StatusCode::OK);
    }
}
