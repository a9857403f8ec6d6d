//! Renders one page in one tab.

use std::sync::Arc;
use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::browser::{
    BrowserContextId, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams,
};
use chromiumoxide::cdp::browser_protocol::fetch::EventRequestPaused;
use chromiumoxide::cdp::browser_protocol::network::SetBypassServiceWorkerParams;
use chromiumoxide::cdp::browser_protocol::page::{
    AddScriptToEvaluateOnNewDocumentParams, EventJavascriptDialogOpening, EventLoadEventFired,
    HandleJavaScriptDialogParams, NavigateParams,
};
use chromiumoxide::cdp::browser_protocol::target::{
    CreateBrowserContextParams, CreateTargetParams, DisposeBrowserContextParams,
};
use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, TerminateExecutionParams};
use chromiumoxide::error::CdpError;
use chromiumoxide::listeners::EventStream;
use chromiumoxide::page::Page;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until, timeout};

use super::launch::Running;
use super::requests::{Reply, Requests};
use super::{Browser, DrawError, Drawn};
use ndcrawl_model::Fetched;

/// A loaded page without requests for this long is complete.
const QUIET: Duration = Duration::from_millis(500);
/// Time limit of a command to Chromium.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit for the document after scripts are stopped.
const LAST: Duration = Duration::from_secs(3);

/// Replaces dialogs and windows, since nobody is there to answer them.
const NOBODY_THERE: &str = "for (const [name, answer] of [['alert'], ['confirm', false], ['prompt', null], \
    ['print'], ['open', null]]) window[name] = () => answer;";

/// Renders a page in a browser context of its own.
pub(super) async fn draw(browser: &Browser, running: &Running, page: &Arc<Fetched>) -> Result<Drawn, DrawError> {
    let context = tokio::select! {
        context = open_context(running) => context?,
        () = running.gone() => return Err(DrawError::Gone),
    };
    let drawn = tokio::select! {
        drawn = draw_in(browser, running, page, &context) => drawn,
        () = running.gone() => return Err(DrawError::Gone),
    };
    // Disposing the context closes its pages.
    let chromium = running.browser.lock().await;
    let disposed = timeout(PATIENCE, chromium.execute(DisposeBrowserContextParams::new(context))).await;
    if disposed.is_err() {
        // A tab that does not close would run forever.
        running.kill();
    }
    drawn
}

async fn open_context(running: &Running) -> Result<BrowserContextId, DrawError> {
    let browser = running.browser.lock().await;
    let created = in_time(browser.execute(CreateBrowserContextParams::default())).await?;
    let id = created.result.browser_context_id.clone();
    let deny = SetDownloadBehaviorParams {
        browser_context_id: Some(id.clone()),
        ..SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::Deny)
    };
    in_time(browser.execute(deny)).await?;
    Ok(id)
}

async fn draw_in(
    browser: &Browser,
    running: &Running,
    fetched: &Arc<Fetched>,
    context: &BrowserContextId,
) -> Result<Drawn, DrawError> {
    let blank =
        CreateTargetParams { browser_context_id: Some(context.clone()), ..CreateTargetParams::new("about:blank") };
    let page = {
        let chromium = running.browser.lock().await;
        in_time(chromium.new_page(blank)).await?
    };
    let mut tab = Tab {
        paused: in_time(page.event_listener()).await?,
        loads: in_time(page.event_listener()).await?,
        dialogs: in_time(page.event_listener()).await?,
        page,
    };
    in_time(tab.page.execute(SetBypassServiceWorkerParams::new(true))).await?;
    in_time(tab.page.execute(AddScriptToEvaluateOnNewDocumentParams::new(NOBODY_THERE))).await?;
    let requests = Requests::new(browser, fetched.clone());
    tab.page.send_command(NavigateParams::new(fetched.url.as_str())).await.map_err(failed)?;
    tab.run(&requests, Instant::now() + browser.options.timeout).await?;
    let most = browser.fetcher.options().max_body;
    let html = tab.document(most).await?;
    Ok(Drawn { html, origins: requests.origins() })
}

struct Tab {
    page: Page,
    paused: EventStream<EventRequestPaused>,
    loads: EventStream<EventLoadEventFired>,
    dialogs: EventStream<EventJavascriptDialogOpening>,
}

impl Tab {
    /// Answers requests until the page is quiet, or until `end`.
    async fn run(&mut self, requests: &Requests<'_>, end: Instant) -> Result<(), DrawError> {
        let mut replies = FuturesUnordered::new();
        let (mut has_loaded, mut last) = (false, Instant::now());
        loop {
            let is_idle = has_loaded && replies.is_empty();
            let until = if is_idle { end.min(last + QUIET) } else { end };
            tokio::select! {
                paused = self.paused.next() => {
                    let paused = paused.ok_or(DrawError::Gone)?;
                    replies.push(async move { requests.reply(&paused).await });
                }
                Some(reply) = replies.next(), if !replies.is_empty() => {
                    let sent = match reply {
                        Reply::Fulfil(answer) => self.page.send_command(answer).await.map(drop),
                        Reply::Fail(refusal) => self.page.send_command(refusal).await.map(drop),
                    };
                    sent.map_err(failed)?;
                }
                load = self.loads.next() => {
                    load.ok_or(DrawError::Gone)?;
                    has_loaded = true;
                }
                dialog = self.dialogs.next() => {
                    dialog.ok_or(DrawError::Gone)?;
                    self.dismiss().await?;
                }
                () = sleep_until(until) => return Ok(()),
            }
            last = Instant::now();
        }
    }

    async fn dismiss(&self) -> Result<(), DrawError> {
        self.page.send_command(HandleJavaScriptDialogParams::new(false)).await.map(drop).map_err(failed)
    }

    /// Returns the document, of at most `most` bytes. Stops running scripts.
    async fn document(&mut self, most: usize) -> Result<String, DrawError> {
        self.page.send_command(TerminateExecutionParams::default()).await.map_err(failed)?;
        let outer = format!(
            "(() => {{ const root = document.documentElement, text = root ? root.outerHTML : ''; \
             return text.length > {most} ? null : text; }})()"
        );
        let evaluate = EvaluateParams { return_by_value: Some(true), ..EvaluateParams::new(outer) };
        let page = self.page.clone();
        let evaluated = timeout(LAST, page.execute(evaluate));
        tokio::pin!(evaluated);
        let evaluated = loop {
            tokio::select! {
                evaluated = &mut evaluated => break evaluated.map_err(|_| DrawError::Stuck)?.map_err(failed)?,
                Some(_) = self.dialogs.next() => self.dismiss().await?,
            }
        };
        let text = evaluated.result.result.value.as_ref().and_then(|value| value.as_str());
        let text = text.filter(|text| text.len() <= most).ok_or(DrawError::TooLarge(most))?;
        Ok(format!("<!DOCTYPE html>\n{text}"))
    }
}

async fn in_time<T>(command: impl Future<Output = Result<T, CdpError>>) -> Result<T, DrawError> {
    timeout(PATIENCE, command).await.map_err(|_| DrawError::Gone)?.map_err(failed)
}

fn failed(error: CdpError) -> DrawError {
    match error {
        CdpError::Ws(_) | CdpError::NoResponse | CdpError::ChannelSendError(_) => DrawError::Gone,
        other => DrawError::Protocol(other.to_string()),
    }
}
