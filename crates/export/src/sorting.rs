//! External merge sort: sorted runs in temporary files, merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use super::error::{ExportError, Result};

/// Maximum bytes of lines sorted in memory.
const RUN_BYTES: usize = 32 * 1024 * 1024;

/// Sorts lines, each with its line end, by their bytes.
pub(super) struct ExternalSort {
    lines: Vec<String>,
    bytes: usize,
    run_bytes: usize,
    runs: Vec<BufReader<File>>,
}

impl Default for ExternalSort {
    fn default() -> Self {
        Self { lines: Vec::new(), bytes: 0, run_bytes: RUN_BYTES, runs: Vec::new() }
    }
}

impl ExternalSort {
    pub fn add(&mut self, line: String) -> Result<()> {
        self.bytes += line.len() + size_of::<String>();
        self.lines.push(line);
        if self.bytes >= self.run_bytes { self.end_run().map_err(error) } else { Ok(()) }
    }

    /// Calls `take` for all lines, ascending.
    pub fn write(mut self, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
        self.lines.sort_unstable();
        let mut last = self.lines.into_iter();
        // Holds the next line of each run. The lines still in memory are the last run.
        let mut next = BinaryHeap::new();
        let memory = self.runs.len();
        for run in 0..=memory {
            let line = if run == memory { last.next() } else { read(&mut self.runs[run]).map_err(error)? };
            next.extend(line.map(|line| Reverse((line, run))));
        }
        while let Some(Reverse((line, run))) = next.pop() {
            take(&line)?;
            let line = if run == memory { last.next() } else { read(&mut self.runs[run]).map_err(error)? };
            next.extend(line.map(|line| Reverse((line, run))));
        }
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        // The file has no name, so the system removes it when it is closed.
        let mut run = BufWriter::new(tempfile::tempfile()?);
        for line in self.lines.drain(..) {
            run.write_all(line.as_bytes())?;
        }
        let mut run = run.into_inner().map_err(io::IntoInnerError::into_error)?;
        run.rewind()?;
        self.runs.push(BufReader::new(run));
        self.bytes = 0;
        Ok(())
    }
}

fn read(run: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((run.read_line(&mut line)? > 0).then_some(line))
}

fn error(source: io::Error) -> ExportError {
    ExportError::Write { path: std::env::temp_dir().join("ndcrawl-sort"), source }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_come_sorted_whether_they_fit_into_memory_or_not(
            lines in prop::collection::vec("[a-c]{0,4}", 0..40),
            run_bytes in 1usize..400,
        ) {
            let mut sorting = ExternalSort { run_bytes, ..ExternalSort::default() };
            for line in &lines {
                sorting.add(format!("{line}\n")).unwrap();
            }
            let mut found = Vec::new();
            sorting.write(|line| { found.push(line.trim_end().to_owned()); Ok(()) }).unwrap();
            let mut expected = lines;
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
