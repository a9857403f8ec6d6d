//! Keys of reading PDF.

use std::time::Duration;

use super::key::table;
use crate::cli::config::units::Size;

table! {
    /// Reading of PDF.
    pub struct Pdf in [pdf] of Machine {
        /// Fetch PDF too, and compare, store and export its text like a page
        ///
        /// Off: PDF is large and takes longer. It is read by other processes, so a broken one costs its own text alone.
        /// --max-body limits it.
        /// Example: --pdf --max-body 50M
        pub read: bool = switch(false).flag("pdf").fixed(),
        /// Give a PDF at most this much processor time
        ///
        /// Books take a second or two. A reader that waits for the processor may take four times as long.
        pub timeout: Duration = value("DURATION", "20s"),
        /// Give a PDF at most this much memory
        ///
        /// Large documents take 100 MiB; there are as many readers as processors.
        pub memory: Size = value("SIZE", "512M"),
    }
}
