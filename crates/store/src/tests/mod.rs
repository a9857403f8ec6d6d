//! Tests of the room as a whole: against a model, with faults at every step, and with bytes flipped.

mod archive;
mod damage;
mod faults;
mod model;
mod open;
#[cfg(unix)]
mod power;
mod revised;
pub(super) mod support;
