//! Reads the rows of an export: a line, its text, and what is known of its cluster and its host.

use super::cluster_facts::ClusterFacts;
use super::columns::TextColumns;
use super::content::Contents;
use super::error::Result;
use super::host_blocks::HostBlocks;
use super::output::ExportCounts;
use super::pages::ExportSource;
use super::row::ExportRow;
use ndcrawl_model::PageLine;

/// Makes rows of lines.
pub(super) struct RowReader {
    columns: TextColumns,
    contents: Contents,
    hosts: HostBlocks,
    clusters: ClusterFacts,
}

impl RowReader {
    /// Reads what rows say beyond their own line: all lines, and the first pages of each host if main texts are wanted.
    pub fn learn(source: ExportSource<'_>, columns: TextColumns) -> Result<Self> {
        let mut contents = Contents::new(source.folder);
        let hosts = HostBlocks::learn(source, columns, &mut contents)?;
        Ok(Self { columns, contents, hosts, clusters: ClusterFacts::read(source.folder)? })
    }

    /// Returns the row of a line.
    pub fn read(&mut self, line: PageLine, counts: &mut ExportCounts) -> Result<ExportRow> {
        let (copies, first_seen) = (self.clusters.copies(&line), self.clusters.first_seen(&line));
        let row = ExportRow::read(line, self.columns, &self.hosts, &mut self.contents, counts)?;
        let (copies, copy_hosts) = copies.unzip();
        Ok(ExportRow { copies, copy_hosts, first_seen, ..row })
    }
}
