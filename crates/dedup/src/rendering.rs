//! Reads, sifts and renders the input: each core takes every n-th page, so they come back in order.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use ndcrawl_engine::pipeline::{ContentReader, PipelineError, RenderedPage, as_own_document, render_page};
use ndcrawl_fetch::{absent_page, no_text};
use ndcrawl_model::{Fetched, Sequence};

use super::input::{
    IgnoredFile, InputDamage, InputDocument, InputFile, InputItem, Inputs, Options as InputOptions, Stop,
};
use super::intake::InputPage;

/// Answers that may wait before and behind each renderer.
const WAITING: usize = 4;

/// What is read, and how.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub inputs: &'a Inputs,
    pub options: &'a InputOptions,
    /// Media types that are pages.
    pub accepts: &'a (dyn Fn(&str) -> bool + Sync),
    pub content: &'a ContentReader,
}

/// What the reader sends to a renderer.
pub(super) enum Work {
    /// A document, the number of its capture, and the page that it revises.
    Answer(Box<InputDocument>, u32, Option<Sequence>),
    Note(Note),
}

/// Something that is no document.
pub(super) enum Note {
    Opened(InputFile),
    Known,
    Repeated,
    Passed,
    Ignored(IgnoredFile),
    Damaged(InputDamage),
}

/// What a renderer sends to the decision stage.
pub(super) enum Done {
    Answer(InputPage, Option<Sequence>),
    Note(Note),
}

/// Reads, sifts and renders the input, and passes it to `take` in order.
pub(super) fn pipe(
    reading: Reading<'_>,
    bytes: &AtomicU64,
    is_stopped: Stop<'_>,
    mut sift: impl FnMut(Option<InputItem>) -> Option<Work> + Send,
    mut take: impl FnMut(Done) -> Result<(), PipelineError>,
) -> Result<(), PipelineError> {
    let renderers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let (mut inlets, mut outlets) = (Vec::new(), Vec::new());
        for _ in 0..renderers {
            let (inlet, work) = sync_channel(WAITING);
            let (done, outlet) = sync_channel(WAITING);
            scope.spawn(move || render_all(reading, &work, &done));
            inlets.push(inlet);
            outlets.push(outlet);
        }
        scope.spawn(move || {
            let items = reading.inputs.items(reading.options, bytes, is_stopped).take_while(|_| !is_stopped());
            let items = items.map(Some).chain(std::iter::repeat_with(|| None));
            for (item, inlet) in items.zip(inlets.iter().cycle()) {
                let Some(work) = sift(item) else { break };
                // A closed channel means that the decision stage has failed, which returns the reason.
                if inlet.send(work).is_err() {
                    break;
                }
            }
        });
        for outlet in outlets.iter().cycle() {
            match outlet.recv() {
                Ok(done) => take(done)?,
                Err(_) => break,
            }
        }
        Ok(())
    })
}

/// Renders a page; `is_own`: one that is a row or a text of the user's own.
pub(super) fn read_page(
    reader: &ContentReader,
    fetched: &Fetched,
    is_own: bool,
    options: &InputOptions,
) -> Result<RenderedPage, String> {
    let mut read = render_page(reader, fetched)?;
    if fetched.url.file().is_some() && !options.within_files {
        // In how many files rows come changes no verdict.
        read.group = 0;
    }
    if is_own {
        as_own_document(&mut read, fetched.media_type() == "text/plain");
    }
    Ok(read)
}

fn render_all(reading: Reading<'_>, work: &Receiver<Work>, done: &SyncSender<Done>) {
    for work in work {
        let result = match work {
            Work::Note(note) => Done::Note(note),
            Work::Answer(document, capture, renews) => {
                let InputDocument { fetched, row, is_own, .. } = *document;
                let fetched: Arc<Fetched> = Arc::new(fetched);
                // A row or file of the user's own is what it is called: nobody asks it for a status, or looks at its first bytes.
                let is_page = row.is_some()
                    || (200..300).contains(&fetched.status)
                        && absent_page(&fetched).is_none()
                        && (reading.accepts)(&fetched.media_type())
                        && no_text(&fetched.body).is_none_or(|found| (reading.accepts)(found));
                let read = is_page.then(|| read_page(reading.content, &fetched, is_own, reading.options));
                Done::Answer(InputPage { fetched, row, capture, read }, renews)
            }
        };
        if done.send(result).is_err() {
            return;
        }
    }
}
