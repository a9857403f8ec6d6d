//! Keys of reading PDF.

use super::{Key, Shape, key};

/// The table `pdf`.
pub const KEYS: &[Key] = &[
    key!(pdf.read, Shape::Switch("true"), "false", "Fetch PDF too, and compare, store and export its text like a page")
        .because(
            "Off: PDF is large and takes longer. It is read by other processes, so a broken one costs its own text alone. \
             --max-body limits it.",
        )
        .example("--pdf --max-body 50M")
        .flag("pdf")
        .fixed()
        .heading("HTTP"),
    key!(pdf.timeout, Shape::Value("DURATION"), "20s", "Give a PDF at most this much processor time")
        .because("Books take a second or two. A reader that waits for the processor may take four times as long."),
    key!(pdf.memory, Shape::Value("SIZE"), "512M", "Give a PDF at most this much memory")
        .because("Large documents take 100 MiB; there are as many readers as processors."),
];
