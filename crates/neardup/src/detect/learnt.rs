//! What all pieces of an index know of the pages decided so far.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::corpus_stats::CorpusStats;
use super::turn::{DecidedPage, DecidedTurn};
use super::{DetectError, Mode, Options, Vocabulary, Within};
use crate::index::FilterKind;
use crate::model::Detector;
use crate::model::arrays::{invalid, read_array, write_array};
use crate::similarity::Record;

use super::page_match::Page;
use super::standings::Standings;

/// The detector's statistics as of the end of a turn: the same in every process that learns the same turns.
///
/// Memory: [`Options::text_memory`], and 5 bytes a page of the log. Not a page of text.
pub struct Learnt {
    pub(super) options: Options,
    pub(super) stats: CorpusStats,
    pub(super) standings: Standings,
}

impl Learnt {
    /// Creates the statistics before the first turn.
    ///
    /// # Errors
    /// [`DetectError::Undividable`] for options whose verdicts depend on more than the best match of each piece.
    pub fn new(options: Options) -> Result<Self, DetectError> {
        let reason = match () {
            () if options.detector != Detector::Mwo => "only the detector mwo compares each pair of pages by itself",
            () if options.filter != FilterKind::Exact => "only the exact index finds all matches",
            () if options.mode == Mode::Any => "the first match found depends on the order of insertion",
            () => "",
        };
        let stats = CorpusStats::new(&options).filter(|_| reason.is_empty());
        let stats = stats.ok_or(DetectError::Undividable { reason })?;
        Ok(Self { options, stats, standings: Standings::default() })
    }

    /// Learns a turn, the next one of the log. From its end on all that it says counts.
    ///
    /// # Errors
    /// If the terms of one turn are more than 32-bit numbers can name.
    pub fn learn(&mut self, turn: &DecidedTurn) -> Result<(), DetectError> {
        // Statistics need no numbers that last.
        let mut vocabulary = Vocabulary::default();
        for decided in &turn.pages {
            let page = Arc::new(self.page(&mut vocabulary, decided)?);
            let is_compared = decided.verdict.is_unique() && self.is_comparable(&page);
            self.stats.add(decided.sequence, &page, &decided.verdict, is_compared);
        }
        self.standings.add_turn(turn);
        if !turn.is_unsettled {
            self.stats.apply_pending();
        }
        Ok(())
    }

    /// Writes the statistics to a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &postcard::to_stdvec(&self.standings).map_err(io::Error::other)?)?;
        self.stats.save(out)
    }

    /// Reads what [`save`](Self::save) wrote, under the same options.
    ///
    /// # Errors
    /// Those of `input`, and [`io::ErrorKind::InvalidData`] for other data.
    pub fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let standings: Vec<u8> = read_array(input)?;
        self.standings = postcard::from_bytes(&standings).map_err(|_| invalid("standings that can't be read"))?;
        self.stats.load(input)
    }

    /// Returns a decided page as the detector sees it.
    pub(super) fn page(&self, vocabulary: &mut Vocabulary, decided: &DecidedPage) -> Result<Page, DetectError> {
        let DecidedPage { input, least_weight, .. } = decided;
        let (terms, _, order) = vocabulary.intern_page(input.terms.clone(), input.order.clone())?;
        let record = Record::from_counts(&terms, &self.options.weights).without_lighter(*least_weight);
        Ok(Page { group: input.group, record, order })
    }

    pub(super) fn is_comparable(&self, page: &Page) -> bool {
        !page.record.is_empty() && page.record.len() >= self.options.min_terms
    }

    pub(super) fn group(&self, group: u32) -> u32 {
        if self.options.within == Within::Crawl { 0 } else { group }
    }
}
