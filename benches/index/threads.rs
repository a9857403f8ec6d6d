//! Batches of probes by one thread and by two.
//!
//! TO BE WIRED: a probe of today's filter has it to itself. Once probes share the filter, measure
//! here, by the clock, batches of 32 on the biggest synthetic set that was asked for: with one
//! thread, and with two, each with a scratch value of its own.

use crate::table::Printer;

pub fn run(printer: Printer) {
    printer.note("\nBatches by several threads: a probe has the filter to itself, so there is nothing to measure yet.");
}
