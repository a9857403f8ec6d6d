//! The records of a replica on a disk: what was compared once is read back when it is compared again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ndcrawl_model::{FieldCounts, PageTerms, Sequence, TermId, TermOrder};
use neardup::detect::{LoggedPage, RecordSource};

/// A record as the file has it.
type Row = (u32, u32, Vec<(u32, FieldCounts)>, TermOrder);

/// A file without a name, which is gone when it is closed. Clones are the same.
///
/// Memory: 8 bytes a page.
#[derive(Clone, Debug)]
pub(super) struct RecordFile(Arc<Mutex<Records>>);

#[derive(Debug)]
struct Records {
    file: File,
    /// Where the record of each page ends. One without a record ends where the one before does.
    ends: Vec<u64>,
}

impl RecordFile {
    /// Creates an empty file on the disk of a folder.
    pub fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Records { file: tempfile::tempfile_in(folder)?, ends: Vec::new() }))))
    }

    /// Adds the next pages, in order; those without a record are never asked for.
    pub fn append(&self, pages: impl IntoIterator<Item = Option<LoggedPage>>) -> io::Result<()> {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = records.ends.last().copied().unwrap_or_default();
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for page in pages {
            if let Some(LoggedPage { group, terms, least_weight, order }) = page {
                let terms = terms.iter().map(|(id, counts)| (id.0, counts)).collect();
                let row: Row = (group, least_weight, terms, order);
                bytes = postcard::to_extend(&row, bytes).map_err(io::Error::other)?;
            }
            ends.push(begin + bytes.len() as u64);
        }
        records.file.seek(SeekFrom::Start(begin))?;
        records.file.write_all(&bytes)?;
        records.ends.extend(ends);
        Ok(())
    }
}

impl RecordSource for RecordFile {
    type Error = io::Error;

    fn page(&self, page: Sequence) -> io::Result<LoggedPage> {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = records.ends.get(page.index()).copied().ok_or(io::ErrorKind::NotFound)?;
        let begin = page.index().checked_sub(1).and_then(|before| records.ends.get(before)).copied().unwrap_or(0);
        let mut bytes = vec![0; usize::try_from(end - begin).map_err(io::Error::other)?];
        records.file.seek(SeekFrom::Start(begin))?;
        records.file.read_exact(&mut bytes)?;
        let (group, least_weight, terms, order): Row = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
        let terms = PageTerms::new(terms.into_iter().map(|(id, counts)| (TermId(id), counts)).collect());
        Ok(LoggedPage { group, terms, least_weight, order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::RunningText;

    fn page(number: u32) -> LoggedPage {
        let counts = FieldCounts([number, 0, 0, 0, 0, 0, 0, 1]);
        let text = RunningText { words: (0..number * 2).step_by(2).collect(), name: vec![number] };
        LoggedPage {
            group: number,
            terms: PageTerms::new((0..number).map(|term| (TermId(term), counts)).collect()),
            least_weight: number,
            order: TermOrder { text, ..TermOrder::default() },
        }
    }

    #[test]
    fn records_come_back_in_any_order_and_others_are_not_there() {
        let file = RecordFile::create(&std::env::temp_dir()).unwrap();
        file.append([Some(page(0)), None, Some(page(7))]).unwrap();
        assert_eq!(file.page(Sequence(2)).unwrap(), page(7));
        file.append([Some(page(300)), None]).unwrap();
        for (number, expected) in [(3, page(300)), (0, page(0)), (2, page(7))] {
            assert_eq!(file.page(Sequence(number)).unwrap(), expected);
        }
        assert!(file.page(Sequence(1)).is_err(), "it has no record");
        assert!(file.page(Sequence(5)).is_err(), "it is not there");
    }
}
