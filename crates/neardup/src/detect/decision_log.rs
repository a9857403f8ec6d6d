//! All decided pages, by number, name and digest.

mod candidates;

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use super::DetectError;
use super::withdrawals::WithdrawnPages;
use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};
use crate::model::{DecidedBy, Digest, PageId, PageInput, Sequence, Verdict};

/// A decided page without its record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) page: PageId,
    /// Only pages of the same group are copies of each other.
    pub(super) group: u32,
    pub(super) body_digest: Digest,
    pub(super) text_digest: Option<Digest>,
    pub(super) verdict: Verdict,
    /// See [`PageInput::rank`](crate::model::PageInput::rank).
    pub(super) rank: u8,
}

/// The decided pages by number and by name, and the first of each body and of each text.
///
/// 96 bytes a page, and 5 to 10 for each of three hash tables of 4-byte numbers: 111 to 126, twice the 96 at worst
/// while the array grows. The hashes are prefixes of cryptographic ones.
#[derive(Debug, Default)]
pub(super) struct DecisionLog {
    entries: Vec<Entry>,
    by_page: HashTable<Sequence>,
    by_body: HashTable<Sequence>,
    by_text: HashTable<Sequence>,
    /// Pages that were decided again, ascending, each with its earlier number.
    renewals: Vec<(Sequence, Sequence)>,
    /// Bodies and texts of pages that were decided again: the first page that passes its verdict on.
    ended: HashMap<CopyKey, Sequence>,
    /// Stored pages that later ones are no longer compared with.
    withdrawn: WithdrawnPages,
}

/// The body or the text that pages of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CopyKey {
    Body(u32, Digest),
    Text(u32, Digest),
}

impl DecisionLog {
    /// Returns the number of the next page.
    pub(super) fn next(&self) -> Result<Sequence, DetectError> {
        let next = u32::try_from(self.entries.len()).ok().filter(|&next| Sequence(next).as_earlier().is_none());
        next.map(Sequence).ok_or(DetectError::PagesFull)
    }

    /// Adds the next page.
    pub(super) fn push(&mut self, entry: Entry) -> Result<Sequence, DetectError> {
        let sequence = self.next()?;
        let (body_digest, text_digest, group) = (entry.body_digest, entry.text_digest, entry.group);
        let is_first_body = !self.keep_first_body(group, body_digest);
        let is_first_text = text_digest.is_some_and(|digest| !self.keep_first_text(group, digest));
        self.entries.push(entry);
        let entries = &self.entries;
        let page_hash = |&sequence: &Sequence| hash_page(entries[sequence.index()].page);
        self.by_page.insert_unique(page_hash(&sequence), sequence, page_hash);
        if is_first_body {
            self.add_body(sequence);
        }
        if is_first_text {
            self.add_text(sequence);
        }
        Ok(sequence)
    }

    /// Makes a page the first one of its body.
    fn add_body(&mut self, page: Sequence) {
        let entries = &self.entries;
        let hash = |&page: &Sequence| hash_digest(&entries[page.index()].body_digest);
        self.by_body.insert_unique(hash(&page), page, hash);
    }

    /// Makes a page the first one of its text.
    fn add_text(&mut self, page: Sequence) {
        let entries = &self.entries;
        let hash = |&page: &Sequence| entries[page.index()].text_digest.as_ref().map_or(0, hash_digest);
        self.by_text.insert_unique(hash(&page), page, hash);
    }

    /// Reports that the next page, of this rank, is an earlier one decided again: pages with its body or text stop
    /// inheriting from it.
    ///
    /// Returns the stored page that is withdrawn because the page outranks it.
    pub(super) fn renew(&mut self, earlier: Sequence, rank: u8) -> Option<Sequence> {
        let number = Sequence(self.entries.len() as u32);
        self.pass_nothing_on(earlier, number);
        let Self { entries, withdrawn, renewals, .. } = self;
        renewals.push((number, earlier));
        let known = |page: Sequence| entries.get(page.index()).map(|entry| (entry.verdict.duplicate_of(), entry.rank));
        let displaced = withdrawn.renew(number, rank, earlier, known).filter(|page| *page != earlier)?;
        self.pass_nothing_on(displaced, number);
        Some(displaced)
    }

    /// Withdraws pages before page `number`, by the numbers that verdicts have: later pages are not compared with them, and
    /// inherit nothing from those that name them. Returns the pages that were not withdrawn before.
    ///
    /// Cost: two passes over all entries.
    pub(super) fn withdraw(&mut self, pages: &[Sequence], number: Sequence) -> Vec<Sequence> {
        let new: Vec<Sequence> = pages.iter().copied().filter(|page| self.withdrawn.withdraw(*page, number)).collect();
        self.find_first_again(&new);
        new
    }

    /// Finds once more the first pages of the bodies and texts that these pages have, or others that name them.
    fn find_first_again(&mut self, pages: &[Sequence]) {
        if pages.is_empty() {
            return;
        }
        let is_one = |(number, entry): &(Sequence, &Entry)| pages.contains(&self.stored(*number, entry));
        let concerned = (0..).map(Sequence).zip(&self.entries).filter(is_one).map(|(_, entry)| entry);
        let (bodies, texts): (HashSet<_>, HashSet<_>) =
            concerned.map(|entry| ((entry.group, entry.body_digest), (entry.group, entry.text_digest))).unzip();
        for (group, body) in &bodies {
            self.forget_body(*group, *body);
        }
        for (group, text) in &texts {
            text.iter().for_each(|text| self.forget_text(*group, *text));
        }
        for number in (0..self.entries.len() as u32).map(Sequence) {
            let Entry { group, body_digest, text_digest, .. } = self.entries[number.index()];
            let (is_body, is_text) = (bodies.contains(&(group, body_digest)), texts.contains(&(group, text_digest)));
            if !(is_body || is_text) || self.withdrawn.is_withdrawn(self.stored(number, &self.entries[number.index()]))
            {
                continue;
            }
            let passes_on = |key| self.ended.get(&key).is_none_or(|from| number >= *from);
            let is_body = is_body && passes_on(CopyKey::Body(group, body_digest));
            let is_text = is_text && text_digest.is_some_and(|text| passes_on(CopyKey::Text(group, text)));
            if is_body && self.same_body(group, body_digest).is_none() {
                self.add_body(number);
            }
            if is_text && text_digest.is_some_and(|text| self.same_text(group, text).is_none()) {
                self.add_text(number);
            }
        }
    }

    /// Returns the stored page that an entry is or repeats, by the number that verdicts have.
    fn stored(&self, number: Sequence, entry: &Entry) -> Sequence {
        entry.verdict.duplicate_of().unwrap_or(number)
    }

    /// Returns whether a stored page is not compared with later ones any more.
    pub(super) fn is_withdrawn(&self, page: Sequence) -> bool {
        self.withdrawn.is_withdrawn(page)
    }

    /// Returns the pages that were decided again, ascending, each with its earlier number.
    pub(super) fn renewed(&self) -> &[(Sequence, Sequence)] {
        &self.renewals
    }

    /// Returns whether pages of a group are compared with a stored page.
    pub(super) fn is_compared(&self, page: Sequence, group: u32) -> bool {
        self.get(page).is_some_and(|entry| entry.group == group) && !self.is_withdrawn(page)
    }

    /// Ends the inheriting from the pages before `number` that have the body or text of this one, unless another one of
    /// them was chosen: that one was decided for good.
    fn pass_nothing_on(&mut self, page: Sequence, number: Sequence) {
        let Some(&Entry { group, body_digest, text_digest, .. }) = self.get(page) else { return };
        let is_chosen = |(first, entry): (Sequence, &Entry)| first != page && entry.rank == PageInput::CHOSEN;
        if !self.same_body(group, body_digest).is_some_and(is_chosen) {
            self.forget_body(group, body_digest);
            self.ended.insert(CopyKey::Body(group, body_digest), number);
        }
        if let Some(text) = text_digest.filter(|text| !self.same_text(group, *text).is_some_and(is_chosen)) {
            self.forget_text(group, text);
            self.ended.insert(CopyKey::Text(group, text), number);
        }
    }

    /// Has the first page of a body that passes its verdict on be found at once. Returns whether there is one.
    fn keep_first_body(&mut self, group: u32, digest: Digest) -> bool {
        let first = self.same_body(group, digest).map(|(page, _)| page);
        if first.is_none() || self.withdrawn.is_any() {
            self.forget_body(group, digest);
            first.into_iter().for_each(|first| self.add_body(first));
        }
        first.is_some()
    }

    /// As [`keep_first_body`](Self::keep_first_body), of a text.
    fn keep_first_text(&mut self, group: u32, digest: Digest) -> bool {
        let first = self.same_text(group, digest).map(|(page, _)| page);
        if first.is_none() || self.withdrawn.is_any() {
            self.forget_text(group, digest);
            first.into_iter().for_each(|first| self.add_text(first));
        }
        first.is_some()
    }

    fn forget_body(&mut self, group: u32, digest: Digest) {
        let Self { entries, by_body, .. } = self;
        let is_it = |first: &Sequence| {
            let entry = &entries[first.index()];
            entry.body_digest == digest && entry.group == group
        };
        if let Ok(first) = by_body.find_entry(hash_digest(&digest), is_it) {
            first.remove();
        }
    }

    fn forget_text(&mut self, group: u32, digest: Digest) {
        let Self { entries, by_text, .. } = self;
        let is_it = |first: &Sequence| {
            let entry = &entries[first.index()];
            entry.text_digest == Some(digest) && entry.group == group
        };
        if let Ok(first) = by_text.find_entry(hash_digest(&digest), is_it) {
            first.remove();
        }
    }

    /// Returns an entry by number.
    pub(super) fn get(&self, sequence: Sequence) -> Option<&Entry> {
        self.entries.get(sequence.index())
    }

    /// Returns the page with this id.
    pub(super) fn find(&self, page: PageId) -> Option<(Sequence, &Entry)> {
        let is_it = |sequence: &Sequence| self.entries[sequence.index()].page == page;
        self.by_page.find(hash_page(page), is_it).map(|&sequence| (sequence, &self.entries[sequence.index()]))
    }

    /// Returns the first page of the group with this body that repeats no withdrawn page and passes its verdict on.
    pub(super) fn same_body(&self, group: u32, digest: Digest) -> Option<(Sequence, &Entry)> {
        self.first(&self.by_body, &digest, |entry| entry.body_digest == digest && entry.group == group)
    }

    /// As [`same_body`](Self::same_body), with this text.
    pub(super) fn same_text(&self, group: u32, digest: Digest) -> Option<(Sequence, &Entry)> {
        self.first(&self.by_text, &digest, |entry| entry.text_digest == Some(digest) && entry.group == group)
    }

    /// Returns the number of decided pages.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let tables = [&self.by_page, &self.by_body, &self.by_text];
        self.entries.capacity() * size_of::<Entry>() + tables.iter().map(|table| table.allocation_size()).sum::<usize>()
    }

    /// Writes the log to a snapshot.
    ///
    /// # Errors
    /// Those of `out`, and [`io::ErrorKind::Unsupported`] after a turn has withdrawn a page: rows do not tell.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.withdrawn.is_any_by_turn() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        write_number(out, self.entries.len() as u64)?;
        let mut rows = Vec::new();
        for entry in &self.entries {
            rows = postcard::to_extend(entry, rows).map_err(io::Error::other)?;
        }
        write_array(out, &rows)?;
        write_array(out, &postcard::to_stdvec(&self.renewals).map_err(io::Error::other)?)
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let count = read_number::<u64>(input)? as usize;
        let mut log = Self::default();
        log.entries.try_reserve_exact(count).map_err(|_| invalid("more pages than memory"))?;
        for table in [&mut log.by_page, &mut log.by_body, &mut log.by_text] {
            table.reserve(count, |_| 0);
        }
        let rows: Vec<u8> = read_array(input)?;
        let renewals: Vec<u8> = read_array(input)?;
        let renewals: Vec<(Sequence, Sequence)> =
            postcard::from_bytes(&renewals).map_err(|_| invalid("renewals that can't be read"))?;
        let mut renewals = renewals.into_iter().peekable();
        let mut rest = &rows[..];
        for _ in 0..count {
            let (entry, after): (Entry, _) =
                postcard::take_from_bytes(rest).map_err(|_| invalid("a page that can't be read"))?;
            if let Some((_, earlier)) = renewals.next_if(|(number, _)| number.index() == log.len()) {
                log.renew(earlier, entry.rank);
            }
            log.push(entry).map_err(|_| invalid("more pages than numbers"))?;
            rest = after;
        }
        Ok(log)
    }

    fn first(
        &self,
        table: &HashTable<Sequence>,
        digest: &Digest,
        is_it: impl Fn(&Entry) -> bool,
    ) -> Option<(Sequence, &Entry)> {
        let found = *table.find(hash_digest(digest), |sequence| is_it(&self.entries[sequence.index()]))?;
        let numbered = |number: Sequence| (number, &self.entries[number.index()]);
        let is_kept = |(number, entry): &(Sequence, &Entry)| {
            !(self.withdrawn.is_any() && self.withdrawn.is_withdrawn(self.stored(*number, entry)))
        };
        // Where a page was displaced since, one that came later may repeat another one.
        Some(numbered(found)).filter(is_kept).or_else(|| {
            let later = (found.0 + 1..self.entries.len() as u32).map(Sequence).map(numbered);
            later.filter(|(_, entry)| is_it(entry)).find(is_kept)
        })
    }
}

fn hash_page(page: PageId) -> u64 {
    page.0 as u64
}

fn hash_digest(digest: &Digest) -> u64 {
    digest.0.iter().take(8).fold(0, |hash, &byte| (hash << 8) | u64::from(byte))
}

/// Returns the verdict on a page that is, by `link`, a copy of page `original` with that verdict.
pub(super) fn inherited(original: Sequence, verdict: Verdict, link: DecidedBy) -> Verdict {
    match verdict {
        Verdict::Unique => Verdict::ExactDuplicate { of: original, decided_by: link },
        Verdict::NearDuplicate { of, score, second, difference, detector, .. } => {
            Verdict::NearDuplicate { of, score, second, difference, detector, decided_by: link }
        }
        // A copy of the bytes of a copy of the text has the text of the stored page, not its bytes.
        Verdict::ExactDuplicate { of, decided_by: DecidedBy::BodyDigest } => {
            Verdict::ExactDuplicate { of, decided_by: link }
        }
        Verdict::ExactDuplicate { of, decided_by } => Verdict::ExactDuplicate { of, decided_by },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(page: u128, group: u32, body: &str, text: Option<&str>) -> Entry {
        let digest = |text: &str| Digest::of(text.as_bytes());
        Entry {
            page: PageId(page << 64 | page),
            group,
            body_digest: digest(body),
            text_digest: text.map(digest),
            verdict: Verdict::Unique,
            rank: 0,
        }
    }

    #[test]
    fn the_first_page_of_a_body_and_of_a_text_is_found() {
        let mut log = DecisionLog::default();
        for (page, body, text) in [(10, "x", None), (11, "y", Some("t")), (12, "x", Some("t")), (13, "z", Some("u"))] {
            log.push(entry(page, 0, body, text)).unwrap();
        }
        let number = |found: Option<(Sequence, &Entry)>| found.map(|(sequence, _)| sequence.0);
        assert_eq!(number(log.same_body(0, Digest::of(b"x"))), Some(0));
        assert_eq!(number(log.same_body(0, Digest::of(b"t"))), None);
        assert_eq!(number(log.same_text(0, Digest::of(b"t"))), Some(1));
        assert_eq!(number(log.find(entry(13, 0, "", None).page)), Some(3));
        assert_eq!(number(log.find(PageId(13))), None, "the whole name counts, not its hash alone");
    }

    #[test]
    fn groups_have_first_pages_of_their_own() {
        let mut log = DecisionLog::default();
        for group in [1, 2, 2] {
            log.push(entry(u128::from(group) + log.len() as u128, group, "x", Some("t"))).unwrap();
        }
        assert_eq!(log.same_body(2, Digest::of(b"x")).map(|(sequence, _)| sequence), Some(Sequence(1)));
        assert_eq!(log.same_text(1, Digest::of(b"t")).map(|(sequence, _)| sequence), Some(Sequence(0)));
        assert!(log.same_body(3, Digest::of(b"x")).is_none());
    }

    #[test]
    fn a_thousand_pages_cost_what_is_documented() {
        let mut log = DecisionLog::default();
        for page in 0..1024u32 {
            log.push(entry(page.into(), 0, &page.to_string(), Some(&format!("t{page}")))).unwrap();
        }
        assert_eq!(size_of::<Entry>(), 96);
        assert!(log.bytes() <= 1024 * 131, "{}", log.bytes());
    }
}
