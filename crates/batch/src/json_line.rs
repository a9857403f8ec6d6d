//! Writes a line of JSON.

use std::io::{Result, Write};

use serde::Serialize;

pub(super) fn write_line(file: &mut impl Write, line: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}
