//! The row of one page.

use serde::Serialize;

use ndcrawl_model::{OutcomeKind, PageLine, Preference, Provenance};
use pagetext::PageText;

use super::cluster_name::cluster_of;
use super::columns::TextColumns;
use super::content::Contents;
use super::error::Result;
use super::host_blocks::HostBlocks;
use super::output::ExportCounts;

/// The row of one page in Parquet and JSONL.
///
/// Fields of `pages.jsonl` keep their names and values. Every row has every field, so readers need not infer a schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct ExportRow {
    pub url: String,
    /// The id of a row, as given in the file from which `dedup` read it.
    pub id: Option<String>,
    /// The `WARC-Record-ID` of the record, if it is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_id: Option<Option<String>>,
    pub file: Option<String>,
    /// The number of the line, row or element in that file, from 1.
    pub line: Option<u64>,
    pub final_url: Option<String>,
    /// RFC 3339, UTC; a timestamp in Parquet.
    pub fetched_at: Option<String>,
    pub status: Option<u16>,
    #[serde(rename = "type")]
    pub media_type: Option<String>,
    pub charset: Option<String>,
    pub charset_declared: Option<String>,
    /// The declared language, or else the one that the crawl detected.
    pub lang: Option<String>,
    /// The language of the main text by its letters, whatever is declared; from 200 letters on.
    pub lang_detected: Option<String>,
    /// How certain that is, from 0 to 1.
    pub lang_confidence: Option<f64>,
    pub title: Option<String>,
    /// The license that the page names: an address or a name.
    pub license: Option<String>,
    /// What the page asks of robots.
    pub robots: Vec<String>,
    /// What is said of its use; a JSON text in Parquet.
    pub preferences: Vec<Preference>,
    /// The main text, or all text if that alone is requested; `None` if the body is not archived.
    pub text: Option<String>,
    /// All visible text, if it is requested beside the main text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_text: Option<Option<String>>,
    /// The main text as Markdown, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<Option<String>>,
    /// The decoded HTML source, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<Option<String>>,
    pub outcome: OutcomeKind,
    pub duplicate_of: Option<String>,
    pub score: Option<f64>,
    pub detector: Option<String>,
    pub decided_by: Option<String>,
    /// Cluster ID of a stored page and its duplicates: 32 hexadecimal digits.
    pub cluster: Option<String>,
    /// Near and exact duplicates in the cluster.
    pub copies: Option<u64>,
    /// Hosts of these.
    pub copy_hosts: Option<u64>,
    /// When a page of the cluster was fetched first; as `fetched_at`.
    pub first_seen: Option<String>,
    pub digest: Option<String>,
    pub text_digest: Option<String>,
    pub bytes: Option<u64>,
    pub truncated: bool,
    pub provenance: Option<ProvenanceFields>,
    pub warc_file: Option<String>,
    pub warc_offset: Option<u64>,
    /// Columns of the row that were carried through; a JSON text in Parquet.
    pub columns: Option<serde_json::Map<String, serde_json::Value>>,
}

/// The fields of a [`Provenance`], all present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ProvenanceFields {
    pub who: Option<String>,
    pub who_from: Option<&'static str>,
    pub when: Option<String>,
    pub when_from: Option<&'static str>,
    #[serde(rename = "where")]
    pub place: Option<String>,
    pub why: Option<String>,
    pub why_from: Option<&'static str>,
    pub how: Option<String>,
    pub markup: Option<&'static str>,
}

impl ExportRow {
    /// Returns the row of a line, with its text from the archive.
    pub(super) fn read(
        line: PageLine,
        columns: TextColumns,
        hosts: &HostBlocks,
        contents: &mut Contents,
        counts: &mut ExportCounts,
    ) -> Result<Self> {
        let page = contents.page(&line)?;
        counts.count_body(&line, page.is_some());
        let page = page.as_ref();
        let PageText { main, full, markdown, language, license } =
            page.and_then(|page| contents.text(page, columns.wanted(), hosts.of(&line))).unwrap_or_default();
        // A row that is text is passed on as it was given, byte for byte.
        let own = page.filter(|page| line.line.is_some() && page.media_type() == "text/plain");
        let own = own.map(|page| String::from_utf8_lossy(&page.body).into_owned());
        let as_given = |text: Option<String>| text.map(|text| own.clone().unwrap_or(text));
        let (main, full, markdown) = (as_given(main), as_given(full), as_given(markdown));
        let (text, full) = if columns.has_full_text() { (main, Some(full)) } else { (main.or(full), None) };
        Ok(Self {
            text,
            full_text: full,
            markdown: columns.markdown.then_some(markdown),
            lang_detected: language.map(|language| language.code.to_owned()),
            lang_confidence: language.map(|language| (language.confidence * 1e3).round() / 1e3),
            license,
            // The source of a PDF is no text.
            html: columns
                .html
                .then(|| page.filter(|_| line.text_from.is_none()).and_then(|page| contents.source(page))),
            ..Self::of(line)
        })
    }

    /// Returns the row without text, and without what other lines say.
    pub fn of(line: PageLine) -> Self {
        Self {
            cluster: cluster_of(&line).map(|cluster| cluster.to_string()),
            copies: None,
            copy_hosts: None,
            first_seen: None,
            url: line.url,
            id: line.id,
            file: line.file,
            line: line.line,
            final_url: line.final_url,
            fetched_at: line.fetched_at,
            status: line.status,
            media_type: line.media_type,
            charset: line.charset,
            charset_declared: line.charset_declared,
            lang: line.lang,
            title: line.title,
            robots: line.robots,
            preferences: line.preferences,
            outcome: line.outcome,
            duplicate_of: line.duplicate_of,
            score: line.score,
            detector: line.detector,
            decided_by: line.decided_by,
            digest: line.digest,
            text_digest: line.text_digest,
            bytes: line.bytes,
            truncated: line.truncated,
            provenance: line.provenance.map(ProvenanceFields::from),
            warc_file: line.warc_file,
            warc_offset: line.warc_offset,
            columns: line.columns,
            ..Self::default()
        }
    }
}

impl From<Provenance> for ProvenanceFields {
    fn from(provenance: Provenance) -> Self {
        Self {
            who: provenance.who,
            who_from: provenance.who_from.map(|source| source.name()),
            when: provenance.when,
            when_from: provenance.when_from.map(|source| source.name()),
            place: provenance.place,
            why: provenance.why,
            why_from: provenance.why_from.map(|source| source.name()),
            how: provenance.how,
            markup: provenance.markup.map(|markup| markup.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_page_and_those_that_repeat_it_are_one_cluster() {
        let line = |url: &str, outcome: OutcomeKind, of: Option<&str>| PageLine {
            url: url.to_owned(),
            outcome,
            duplicate_of: of.map(str::to_owned),
            ..PageLine::default()
        };
        let stored = ExportRow::of(line("http://a.test/", OutcomeKind::Stored, None)).cluster;
        assert_eq!(stored.as_ref().map(String::len), Some(32));
        assert_eq!(
            ExportRow::of(line("http://a.test/b", OutcomeKind::NearDuplicate, Some("http://a.test/"))).cluster,
            stored
        );
        assert_ne!(ExportRow::of(line("http://a.test/c", OutcomeKind::Stored, None)).cluster, stored);
        assert_eq!(ExportRow::of(line("http://a.test/d", OutcomeKind::Failed, None)).cluster, None);
    }

    #[test]
    fn every_row_has_every_field_but_source_that_nobody_asked_for() {
        let fields = |row: &ExportRow| serde_json::to_value(row).unwrap().as_object().unwrap().len();
        let row = ExportRow::of(PageLine::default());
        assert_eq!(fields(&row), 35);
        assert_eq!(fields(&ExportRow { html: Some(None), ..row }), 36);
    }
}
