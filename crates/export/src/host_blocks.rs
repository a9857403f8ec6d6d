//! Learns which blocks of text the pages of each host repeat.

use std::collections::HashMap;

use ndcrawl_model::PageLine;
use pagetext::{BlockCounts, CommonBlocks};

use super::columns::TextColumns;
use super::content::Contents;
use super::error::Result;
use super::output::ExportCounts;
use super::pages::ExportSource;

/// Hosts whose pages are counted at once; the pages of others are read one by one.
const MOST_HOSTS: usize = 512;

/// What the pages of each host repeat.
#[derive(Debug, Default)]
pub(super) struct HostBlocks {
    common: HashMap<String, CommonBlocks>,
    none: CommonBlocks,
}

impl HostBlocks {
    /// Reads the first selected pages of each host, if main texts are wanted.
    ///
    /// Memory: 0.5 MB for each host while it is counted, and some KB then.
    pub fn learn(source: ExportSource<'_>, columns: TextColumns, contents: &mut Contents) -> Result<Self> {
        if !columns.main && !columns.markdown {
            return Ok(Self::default());
        }
        let mut counted: HashMap<String, BlockCounts> = HashMap::new();
        let mut common: HashMap<String, CommonBlocks> = HashMap::new();
        // The progress of the export itself is the one that is shown.
        let quiet = ExportSource { watch: &|_, _| {}, ..source };
        quiet.each(&mut ExportCounts::default(), |line, _| {
            let host = line.site();
            if common.contains_key(&host) || (!counted.contains_key(&host) && counted.len() >= MOST_HOSTS) {
                return Ok(());
            }
            let Some(page) = contents.page(&line)? else { return Ok(()) };
            let counts = counted.entry(host.clone()).or_default();
            contents.count_blocks(&page, counts);
            if counts.is_full()
                && let Some(counts) = counted.remove(&host)
            {
                common.insert(host, counts.common());
            }
            Ok(())
        })?;
        common.extend(counted.into_iter().map(|(host, counts)| (host, counts.common())));
        Ok(Self { common, none: CommonBlocks::default() })
    }

    /// Returns what the pages of a line's host repeat.
    pub fn of(&self, line: &PageLine) -> &CommonBlocks {
        self.common.get(&line.site()).unwrap_or(&self.none)
    }
}
