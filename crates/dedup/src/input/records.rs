//! Finds the records of an archive, and goes on behind damaged ones.
//!
//! A record counts as sound if its header can be read, if the next record, an empty line or the end of its gzip member
//! or zstd frame follows its block, and if the checksum of the member and the digest of the block agree. After any other
//! record reading goes on at the next member, or the next line that begins a record.
//!
//! Some makers state wrong digests. Where the checksum of a member that ends with the record agrees, the block is as its
//! maker wrote it: the page is read, and it is told that the digest differs. Elsewhere nothing but the digest can tell
//! a changed block.

use ndcrawl_model::Fetched;

use super::digest::BlockDigest;
use super::stream::{Mark, Stream};
use super::{InputDamage, InputDocument, InputItem, Options};

/// Longest header of a record, in bytes.
const MOST_HEADER: usize = 256 * 1024;
/// Allowance for the HTTP header in a block, in bytes.
const MOST_HEAD: usize = 512 * 1024;
/// Longest record that is kept as it is, in bytes.
const MOST_RECORD: usize = 64 * 1024 * 1024;
/// Bytes of a long block that are looked at together.
const STEP: usize = 64 * 1024;

/// The header of a record.
#[derive(Default)]
pub(super) struct RecordHead {
    pub(super) kind: String,
    /// What names the record, if anything does.
    pub(super) id: Option<String>,
    pub(super) url: String,
    pub(super) date: String,
    pub(super) content_type: String,
    /// Length of the block in bytes.
    pub(super) length: Option<u64>,
    pub(super) digest: Option<BlockDigest>,
    /// Whether it is a file that speaks for a site, such as robots.txt, in an archive of this program.
    pub(super) is_site_file: bool,
    /// Whether the block is only a part of what was received.
    pub(super) is_truncated: bool,
}

/// The page of a record, if it is about one.
pub(super) type PageResult = Result<Option<Fetched>, String>;

/// How the records of a format look.
pub(super) struct Layout {
    /// Returns whether these bytes begin a record.
    pub(super) begins: fn(&[u8]) -> bool,
    /// How many bytes that takes.
    pub(super) look: usize,
    /// What a record begins with, if it can be told from text in the middle of a line, where a block is cut.
    pub(super) magic: Option<&'static [u8]>,
    /// Returns the length of the header that these bytes begin with; `None` if it is longer.
    pub(super) header: fn(&[u8]) -> Option<usize>,
    /// Parses a header.
    pub(super) parse: fn(&[u8]) -> RecordHead,
    /// Turns a block into a page; `None` if the record is about something else. An error says what is wrong.
    pub(super) page: fn(&RecordHead, Vec<u8>, &Options) -> PageResult,
    /// The line ends that stand behind a block.
    pub(super) separators: &'static [&'static [u8]],
    /// Whether records may be copied to a WARC file.
    pub(super) is_warc: bool,
}

/// Why a record cannot be read.
struct Damage {
    why: String,
    /// Bytes that reading goes on behind.
    skip: usize,
    next: Next,
}

/// A block whose length is right.
struct Block {
    /// What is kept of it.
    bytes: Vec<u8>,
    /// The record as it is, if that is wanted and it is not too long.
    record: Option<Vec<u8>>,
    /// The digest that is stated, and that of the whole block.
    digest: Option<BlockDigest>,
    /// Whether a checksum says that it is as it was written.
    is_checked: bool,
    /// Bytes that reading goes on behind.
    skip: usize,
}

/// Where the record behind a damaged one is.
enum Next {
    /// Right there.
    Here,
    /// Behind a mark that tells of the damage.
    BehindMark,
    /// It must be searched for.
    Unknown,
}

impl Damage {
    fn lost(why: impl Into<String>, skip: usize) -> Self {
        Self { why: why.into(), skip, next: Next::Unknown }
    }
}

/// Reads the records of a file in order.
pub(super) struct Records<'a> {
    place: String,
    stream: Stream<'a>,
    layout: &'static Layout,
    options: &'a Options,
    number: u64,
    /// Number of decoded bytes up to which members are known to go on in each other. It keeps the time linear.
    joined: u64,
}

impl<'a> Records<'a> {
    pub(super) fn new(place: String, stream: Stream<'a>, layout: &'static Layout, options: &'a Options) -> Self {
        Self { place, stream, layout, options, number: 0, joined: 0 }
    }

    fn record(&mut self) -> Result<InputItem, Damage> {
        let header = self.header()?;
        // A header that is cut goes on in the next one.
        if let Some(next) = self.next_record(1, header.max(2) - 1) {
            return Err(Damage::lost("the header of the record does not end: another record begins before", next));
        }
        let mut head = (self.layout.parse)(&self.stream.buffered()[..header]);
        let length = head.length.ok_or_else(|| Damage::lost("no usable length in the header of the record", header))?;
        let most = self.options.max_body.saturating_add(MOST_HEAD) as u64;
        let kept = length.min(most) as usize;
        self.expect(header + kept).map_err(|why| Damage::lost(too_long(&why), header))?;
        let digest = head.digest.take();
        let Block { bytes, record, digest, is_checked, skip } = if length > most {
            self.long_block(&mut head, header, kept, length, digest)?
        } else {
            self.short_block(header, kept, digest)?
        };
        let is_digest_other = !digest.is_none_or(BlockDigest::agrees);
        // Not even the same program states the digest of the block in a record that refers to another one.
        if is_digest_other && !is_checked && head.kind != "revisit" {
            let why = "the block does not have the digest that its header states".to_owned();
            return Err(Damage { why, skip, next: Next::Here });
        }
        self.stream.advance(skip);
        Ok(match (self.layout.page)(&head, bytes, self.options) {
            Ok(Some(page)) => {
                let record_id = head.id.take();
                let page = InputDocument { record_id, is_digest_other, record, ..InputDocument::from(page) };
                InputItem::Answer(Box::new(page))
            }
            Ok(None) => InputItem::Passed,
            Err(why) => InputItem::Damaged(self.damage(why)),
        })
    }

    /// Reads a block that is kept as a whole.
    fn short_block(&mut self, header: usize, length: usize, digest: Option<BlockDigest>) -> Result<Block, Damage> {
        let skip = header + length;
        let is_checked = self.check_end(skip)?;
        let bytes = self.stream.buffered()[header..skip].to_vec();
        let record = self.keeps(skip).then(|| self.stream.buffered()[..skip].to_vec());
        let digest = digest.map(|mut digest| {
            digest.update(&bytes);
            digest
        });
        Ok(Block { bytes, record, digest, is_checked, skip })
    }

    /// Whether a record of this length is kept as it is.
    fn keeps(&self, length: usize) -> bool {
        self.options.keeps_records && self.layout.is_warc && length <= MOST_RECORD
    }

    /// Finds the end of the header.
    fn header(&mut self) -> Result<usize, Damage> {
        let mut looked_at = 4096;
        loop {
            let expected = self.expect(looked_at);
            let bytes = self.stream.buffered();
            let within = match &expected {
                Ok(()) => looked_at,
                Err(stop) => stop.at,
            };
            if let Some(length) = (self.layout.header)(&bytes[..within.min(bytes.len())]) {
                return Ok(length);
            }
            if let Err(stop) = expected {
                return Err(Damage::lost(format!("the header of the record does not end: {}", stop.why), 1));
            }
            if looked_at >= MOST_HEADER {
                return Err(Damage::lost("the header of the record does not end", 1));
            }
            looked_at *= 2;
        }
    }

    /// Decodes until `count` bytes are there that belong together.
    fn expect(&mut self, count: usize) -> Result<(), Stop> {
        let known = self.joined.saturating_sub(self.stream.position());
        let mut passed = self.stream.marks_before(usize::try_from(known).unwrap_or(usize::MAX).max(1));
        loop {
            while let Some((at, mark)) = self.stream.mark_at(passed).filter(|(at, _)| *at < count) {
                let why = match mark {
                    Mark::Broken(why) => Some(why.clone()),
                    // A record may go on in the next member.
                    Mark::End { .. } => {
                        let next = self.stream.peek(at + self.layout.look);
                        let is_end = next.len() <= at || (self.layout.begins)(&next[at..]);
                        is_end.then(|| "its member ends before".to_owned())
                    }
                };
                if let Some(why) = why {
                    self.joined = self.stream.position() + at as u64;
                    return Err(Stop { at, why });
                }
                passed += 1;
            }
            let there = self.stream.buffered().len();
            if there >= count {
                self.joined = self.joined.max(self.stream.position() + count as u64);
                return Ok(());
            }
            if !self.stream.more() {
                return Err(Stop { at: there, why: "the file ends before".to_owned() });
            }
        }
    }

    /// Checks that a record ends behind its block, at `end`. Returns whether its member ends with it, and has a checksum
    /// that agrees.
    fn check_end(&mut self, end: usize) -> Result<bool, Damage> {
        let look = self.layout.look + 8;
        while self.stream.mark_behind(end).is_none() && self.stream.buffered().len() < end + look && self.stream.more()
        {
        }
        let bytes = self.stream.buffered();
        let mark = self.stream.mark_behind(end);
        let until = mark.map_or(bytes.len(), |(at, _)| at);
        let after = &bytes[end..until];
        let space = after.iter().take_while(|byte| is_space(**byte)).count();
        if space == after.len() {
            return match mark {
                Some((skip, Mark::Broken(why))) => Err(Damage { why: why.clone(), skip, next: Next::BehindMark }),
                mark => Ok(matches!(mark, Some((_, Mark::End { is_checked: true })))),
            };
        }
        let is_separated = self.layout.separators.iter().any(|separator| after.starts_with(separator));
        // In a member of its own nothing stands behind a record.
        let is_alone = self.stream.is_compressed() && mark.is_some() && self.next_record(end, until).is_none();
        if (self.layout.begins)(&after[space..]) || is_separated && !is_alone {
            return Ok(false);
        }
        Err(Damage::lost("the record does not end behind its block: its length is wrong", 1))
    }

    /// Reads a block that is longer than what is kept of it.
    fn long_block(
        &mut self,
        head: &mut RecordHead,
        header: usize,
        kept: usize,
        length: u64,
        mut digest: Option<BlockDigest>,
    ) -> Result<Block, Damage> {
        head.is_truncated = true;
        let block = self.stream.buffered()[header..header + kept].to_vec();
        let whole = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(header);
        let mut record = self.keeps(whole).then(|| self.stream.buffered()[..header + kept].to_vec());
        let is_sure = self.stream.is_compressed() || http_length(&block) == Some(length);
        if let Some(digest) = &mut digest {
            digest.update(&block);
        }
        self.stream.advance(header + kept);
        let mut left = length - kept as u64;
        while left > 0 {
            let step = left.min(STEP as u64) as usize;
            let expected = self.expect(step);
            let there = expected.as_ref().map_or_else(|stop| stop.at, |()| step);
            if !is_sure && let Some(next) = self.next_record(0, there) {
                return Err(Damage::lost(
                    too_long(&Stop { at: 0, why: "another record begins before".to_owned() }),
                    next,
                ));
            }
            expected.map_err(|stop| Damage::lost(too_long(&stop), stop.at))?;
            if let Some(digest) = &mut digest {
                digest.update(&self.stream.buffered()[..step]);
            }
            if let Some(record) = &mut record {
                record.extend_from_slice(&self.stream.buffered()[..step]);
            }
            self.stream.advance(step);
            left -= step as u64;
        }
        let is_checked = self.check_end(0)?;
        Ok(Block { bytes: block, record, digest, is_checked, skip: 0 })
    }

    /// Returns where the next record begins in this range of the next bytes: at the beginning of a line, or at its magic.
    fn next_record(&self, from: usize, until: usize) -> Option<usize> {
        let bytes = self.stream.buffered();
        let is_record = |at: &usize| (self.layout.begins)(&bytes[*at..]);
        let at_line = memchr::memchr_iter(b'\n', &bytes[from..until]).map(|at| from + at + 1).find(is_record);
        let inside = &bytes[from..at_line.unwrap_or(until)];
        let at_magic = self.layout.magic.and_then(|magic| {
            let mut places = memchr::memmem::find_iter(inside, magic).map(|at| from + at).filter(|at| *at > from);
            places.find(is_record)
        });
        at_magic.or(at_line)
    }

    /// Skips what stands between records.
    fn skip_separators(&mut self) {
        loop {
            let mark = self.stream.mark_behind(0).map(|(at, mark)| (at, matches!(mark, Mark::End { .. })));
            if mark == Some((0, true)) {
                self.stream.take_mark();
                continue;
            }
            let until = mark.map_or(self.stream.buffered().len(), |(at, _)| at);
            let space = self.stream.buffered()[..until].iter().take_while(|byte| is_space(**byte)).count();
            self.stream.advance(space);
            let is_blocked = space < until || mark == Some((0, false));
            if is_blocked || mark.is_none() && !self.stream.more() {
                return;
            }
        }
    }

    /// Moves to the next record, behind `skip` bytes. Damage on the way belongs to what was lost before.
    fn search(&mut self, skip: usize) {
        let mut is_line = skip == 0 || self.stream.buffered().get(skip - 1) == Some(&b'\n');
        self.stream.advance(skip);
        loop {
            while self.stream.take_mark().is_some() {
                is_line = true;
            }
            let look = self.layout.look;
            let there = self.stream.peek(look).len();
            if there == 0 {
                return;
            }
            if (is_line || self.layout.magic.is_some()) && (self.layout.begins)(self.stream.buffered()) {
                return;
            }
            // What stands too close to the end of what is decoded is looked at the next time.
            let bytes = self.stream.buffered();
            let sure = if there < look { bytes.len() } else { bytes.len() - look };
            let mark = self.stream.mark_behind(0).map_or(usize::MAX, |(at, _)| at);
            let until = sure.min(mark).max(1);
            let next = self.next_record(0, until).unwrap_or(until);
            is_line = self.stream.buffered().get(next - 1) == Some(&b'\n');
            self.stream.advance(next);
        }
    }

    fn damage(&self, why: String) -> InputDamage {
        InputDamage::new(format!("{}, record {}", self.place, self.number), why)
    }
}

impl Iterator for Records<'_> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        self.skip_separators();
        if let Some(Mark::Broken(why)) = self.stream.take_mark() {
            self.number += 1;
            return Some(InputItem::Damaged(self.damage(why)));
        }
        let begin = self.stream.peek(self.layout.look);
        if begin.is_empty() {
            return None;
        }
        if !(self.layout.begins)(begin) {
            let place = format!("{}, behind record {}", self.place, self.number);
            self.search(1);
            return Some(InputItem::Damaged(InputDamage::new(place, "bytes that begin no record")));
        }
        self.number += 1;
        Some(self.record().unwrap_or_else(|Damage { why, skip, next }| {
            let mut damage = self.damage(why);
            match next {
                Next::Here => self.stream.advance(skip),
                Next::BehindMark => {
                    self.stream.advance(skip);
                    self.stream.take_mark();
                }
                Next::Unknown => {
                    self.search(skip);
                    // Nothing tells a cut file from one whose last record is damaged.
                    damage.breaks_off = self.stream.peek(1).is_empty();
                }
            }
            InputItem::Damaged(damage)
        }))
    }
}

/// Why bytes do not belong together.
struct Stop {
    /// So many of them do.
    at: usize,
    why: String,
}

fn too_long(stop: &Stop) -> String {
    format!("the block is shorter than its length: {}", stop.why)
}

/// Returns whether a byte may stand between records. Files are padded with zeros.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0
}

/// Returns the length of a whole HTTP message by its own header.
fn http_length(block: &[u8]) -> Option<u64> {
    let head = memchr::memmem::find(block, b"\r\n\r\n")? + 4;
    let lines = block[..head].split(|byte| *byte == b'\n');
    let mut lengths = lines.filter_map(|line| {
        let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<u64>().ok())?
    });
    lengths.next_back().map(|length| length.saturating_add(head as u64))
}
