//! Keys of reading PDF.

use std::time::Duration;

use super::{Shape, table};
use crate::cli::config::units::Size;

table! {
    /// Reading of PDF.
    #[derive(Default)]
    pub struct Pdf: pdf {
        /// Fetch PDF too, and compare, store and export its text like a page
        pub read: bool = key(Shape::Switch("true"), "false")
            .because("Off: PDF is large and takes longer. It is read by other processes, so a broken one costs its \
                own text alone. --max-body limits it.")
            .example("--pdf --max-body 50M")
            .flag("pdf")
            .fixed(),
        /// Give a PDF at most this much processor time
        pub timeout: Duration = key(Shape::Value("DURATION"), "20s")
            .because("Books take a second or two. A reader that waits for the processor may take four times as long."),
        /// Give a PDF at most this much memory
        pub memory: Size = key(Shape::Value("SIZE"), "512M")
            .because("Large documents take 100 MiB; there are as many readers as processors."),
    }
}
