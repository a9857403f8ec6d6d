//! WACZ (Web Archive Collection Zipped): WARC files, with their index, in a zip file.
//!
//! The directory of a zip file stands at its end, so a stream cannot be read. Where a cut has taken the directory, each
//! file is found by the header before it ([`zip_scan`]). Any other zip file is read like a folder.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::by_name::Company;
use super::zip_scan::{self, Entry};
use super::{Counted, IgnoredFile, InputDamage, InputItem, Items, Options, SourceFile, opened, read};

/// The folder of a WACZ with its WARC files. What else there is, is about them.
const ARCHIVES: &str = "archive/";
/// The file by which a WACZ is known.
const PACKAGE: &str = "datapackage.json";

/// Returns whether bytes begin like a zip file, be it an empty one.
pub(super) fn is_zip(first: &[u8]) -> bool {
    first.starts_with(b"PK\x03\x04") || first.starts_with(b"PK\x05\x06")
}

/// Returns whether a file begins like a zip file.
pub(super) fn is_zip_file(path: &Path) -> io::Result<bool> {
    let mut first = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut first)?;
    Ok(is_zip(&first))
}

/// The checksum of what was read so far, and the length of that.
type Checked = Arc<Mutex<Crc>>;

/// A reader that has the checksum made of what it reads.
struct Checking<R> {
    input: R,
    checked: Checked,
    /// Whether the end was reached.
    is_whole: Arc<AtomicBool>,
}

impl<R: Read> Read for Checking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() {
            self.is_whole.store(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// Reads the files in a zip file, in the order of its directory. An error is the only item of a file that has none.
pub(super) fn items<'a>(
    file: SourceFile,
    path: &Path,
    options: &'a Options,
    bytes: &'a AtomicU64,
) -> Result<Items<'a>, InputItem> {
    let (entries, lost) = match entries(path) {
        Ok(entries) => (entries, None),
        Err(error) => (zip_scan::entries(path).unwrap_or_default(), Some(error)),
    };
    if let (Some(error), true) = (&lost, entries.is_empty()) {
        return Err(file.damaged(format!("the zip file cannot be read: {error}")));
    }
    if entries.is_empty() {
        return Err(file.unread("empty zip", "the zip file holds no file that is read".to_owned(), false));
    }
    let damage = lost.map(|error| {
        let why = format!("the directory of the zip file cannot be read ({error}); its files are read one by one");
        let damage = InputDamage { breaks_off: true, ..InputDamage::new(file.place.as_str(), why) };
        opened(&file.place, "WACZ", Box::new(std::iter::once(InputItem::Damaged(damage))))
    });
    let entries = mark_indexes(entries);
    let company = Company::of(entries.iter().map(|entry| entry.name.as_str()));
    let path: PathBuf = path.to_owned();
    let items = entries.into_iter().flat_map(move |entry| entry.items((&file, company), &path, options, bytes));
    Ok(Box::new(items.chain(damage.into_iter().flatten())))
}

fn entries(path: &Path) -> zip::result::ZipResult<Vec<Entry>> {
    let mut archive = ZipArchive::new(io::BufReader::new(File::open(path)?))?;
    let mut entries = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index_raw(number)?;
        if entry.is_dir() {
            continue;
        }
        let method = entry.compression();
        let begin = match method {
            _ if entry.encrypted() => Err("it is encrypted".to_owned()),
            CompressionMethod::STORE | CompressionMethod::DEFLATE => {
                entry.data_start().ok_or_else(|| "its place in the zip file is unknown".to_owned())
            }
            other => Err(format!("its compression is not read: {other}")),
        };
        let name = entry.name().to_owned();
        let is_deflated = method == CompressionMethod::DEFLATE;
        let (length, checksum) = (entry.compressed_size(), Some(entry.crc32()));
        entries.push(Entry { name, begin, length, is_deflated, checksum, is_index: false });
    }
    Ok(entries)
}

/// Marks the files of a WACZ that are about its archives.
fn mark_indexes(mut entries: Vec<Entry>) -> Vec<Entry> {
    if entries.iter().any(|entry| entry.name == PACKAGE) {
        entries.iter_mut().for_each(|entry| entry.is_index = !entry.name.starts_with(ARCHIVES));
    }
    entries
}

impl Entry {
    fn items<'a>(
        self,
        (file, company): (&SourceFile, Company),
        path: &Path,
        options: &'a Options,
        bytes: &'a AtomicU64,
    ) -> Items<'a> {
        let inner = SourceFile {
            place: format!("{}: {}", file.place, self.name),
            below: file.below.as_ref().map(|below| format!("{below}/{}", self.name)),
            modified: file.modified,
            is_named: false,
            part: company.part(&self.name),
        };
        if self.is_index {
            let ignored = IgnoredFile { place: inner.place, what: "about a WACZ", is_lost: false };
            return Box::new(std::iter::once(InputItem::Ignored(ignored)));
        }
        let bytes = self.begin.and_then(|begin| {
            let mut file = File::open(path).map_err(|error| error.to_string())?;
            file.seek(SeekFrom::Start(begin)).map_err(|error| error.to_string())?;
            Ok(Counted { input: file, bytes }.take(self.length))
        });
        let (checked, is_whole, place) = (Checked::default(), Arc::<AtomicBool>::default(), inner.place.clone());
        let content = bytes.map(|input| -> Box<dyn Read + Send + 'a> {
            match self.is_deflated {
                true => Box::new(DeflateDecoder::new(input)),
                false => Box::new(input),
            }
        });
        let items = match content {
            Err(why) => Err(inner.damaged(why)),
            Ok(input) => {
                let input = Checking { input, checked: checked.clone(), is_whole: is_whole.clone() };
                read(inner, input, options)
            }
        };
        let items = items.unwrap_or_else(|item| Box::new(std::iter::once(item)));
        // What has told of damage by itself need not be told twice.
        let is_told = Arc::<AtomicBool>::default();
        let told = is_told.clone();
        let items = items.inspect(move |item| {
            if matches!(item, InputItem::Damaged(_)) {
                told.store(true, Ordering::Relaxed);
            }
        });
        let check = move || {
            let sum = checked.lock().unwrap_or_else(PoisonError::into_inner).sum();
            let is_other = is_whole.load(Ordering::Relaxed) && self.checksum.is_some_and(|stated| stated != sum);
            (is_other && !is_told.load(Ordering::Relaxed)).then(|| {
                let why = "its checksum is not that of the zip file: something in it has changed";
                InputItem::Damaged(InputDamage::new(place, why))
            })
        };
        Box::new(items.chain(std::iter::once_with(check).flatten()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::Inputs;
    use super::super::files::tests::options;
    use super::super::stream::tests::gzip;
    use super::*;

    fn warc(numbers: std::ops::Range<usize>) -> Vec<u8> {
        let record = |number| {
            let block = format!("<p>page {number}");
            format!(
                "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/{number}\r\n\
                 Content-Type: text/html\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
                block.len()
            )
        };
        numbers.flat_map(|number| gzip(record(number).as_bytes())).collect()
    }

    fn zip(files: &[(&str, &[u8])], method: CompressionMethod, is_large: bool) -> Vec<u8> {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, content) in files {
            // Without the crate's own compression: what is deflated here is deflated by hand.
            let _ = method;
            writer
                .start_file(
                    *name,
                    SimpleFileOptions::default().compression_method(CompressionMethod::STORE).large_file(is_large),
                )
                .unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn read_file(bytes: &[u8]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crawl.wacz");
        std::fs::write(&path, bytes).unwrap();
        let (options, count) = (options(), AtomicU64::new(0));
        let inputs = Inputs::find(&[path], &[]).unwrap();
        let tell = |item: InputItem| match item {
            InputItem::Opened(_) => None,
            InputItem::Answer(page) => Some(page.fetched.url.to_string()),
            InputItem::Passed => Some("passed".to_owned()),
            InputItem::Ignored(file) => {
                Some(format!("ignored {}: {}", file.place.rsplit(' ').next().unwrap(), file.what))
            }
            InputItem::Damaged(damage) => Some(format!("damaged {}", damage.why)),
        };
        inputs.items(&options, &count, &|| false).filter_map(tell).collect()
    }

    #[test]
    fn the_archives_of_a_wacz_are_read_and_other_zip_files_like_folders() {
        let (one, two) = (warc(0..2), warc(2..3));
        let files: [(&str, &[u8]); 5] = [
            ("pages/pages.jsonl", b"{\"format\":\"json-pages-1.0\"}\n"),
            ("archive/one.warc.gz", &one),
            ("indexes/index.cdx", b"a"),
            ("archive/two.warc.gz", &two),
            ("datapackage.json", b"{}"),
        ];
        let expected = [
            "ignored pages/pages.jsonl: about a WACZ",
            "http://a.test/0",
            "http://a.test/1",
            "ignored indexes/index.cdx: about a WACZ",
            "http://a.test/2",
            "ignored datapackage.json: about a WACZ",
        ];
        for is_large in [false, true] {
            assert_eq!(read_file(&zip(&files, CompressionMethod::STORE, is_large)), expected);
        }
        let mixed: [(&str, &[u8]); 3] =
            [("a/one.warc.gz", &two), ("a/page.php", b"<html>"), ("a/logo.png", b"\x89PNG\r\n\x1a\n")];
        assert_eq!(
            read_file(&zip(&mixed, CompressionMethod::STORE, false)),
            ["http://a.test/2", "http://localhost/base/crawl.wacz/a/page.php", "ignored a/logo.png: image/png"]
        );
    }

    #[test]
    fn a_damaged_zip_file_is_named() {
        let one = warc(0..2);
        let whole = zip(&[("archive/one.warc.gz", &one)], CompressionMethod::STORE, false);
        for cut in [10, 29] {
            let told = read_file(&whole[..cut]);
            assert!(told.len() == 1 && told[0].starts_with("damaged the zip file cannot be read"), "{cut}: {told:?}");
        }
        let empty = read_file(&zip(&[], CompressionMethod::STORE, false));
        assert!(empty.len() == 1 && empty[0].starts_with("damaged"), "{empty:?}");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            read_file(&bytes);
        }
    }
    #[test]
    fn without_a_directory_each_file_is_read_by_its_header() {
        let (one, two) = (warc(0..2), warc(2..4));
        let files: [(&str, &[u8]); 3] =
            [("archive/one.warc.gz", &one), ("datapackage.json", b"{}"), ("archive/two.warc.gz", &two)];
        for is_large in [false, true] {
            let whole = zip(&files, CompressionMethod::STORE, is_large);
            let directory = memchr::memmem::find(&whole, b"PK\x01\x02").unwrap();
            let told = read_file(&whole[..directory]);
            let pages = [0, 1, 2, 3].map(|number| format!("http://a.test/{number}"));
            assert_eq!(told[..2], pages[..2]);
            assert_eq!(told[2], "ignored datapackage.json: about a WACZ");
            assert_eq!(told[3..5], pages[2..]);
            assert!(told[5].starts_with("damaged the directory of the zip file cannot be read"), "{told:?}");
            assert_eq!(told.len(), 6, "{told:?}");
            let cut = read_file(&whole[..directory - 20]);
            assert_eq!(cut[3], pages[2]);
            assert!(cut.len() == 6 && cut[4..].iter().all(|told| told.starts_with("damaged")), "{cut:?}");
        }
    }

    #[test]
    fn files_whose_lengths_stand_behind_them_are_found_without_a_directory() {
        // As programs write that cannot go back: flag 8, and a descriptor behind the content.
        let mut whole = Vec::new();
        for (name, content) in [("archive/one.warc", warc(0..2)), ("archive/two.warc", warc(2..3))] {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&content).unwrap();
            let packed = encoder.finish().unwrap();
            whole.extend_from_slice(b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
            whole.extend_from_slice(&[name.len() as u8, 0, 0, 0]);
            whole.extend_from_slice(name.as_bytes());
            whole.extend_from_slice(&packed);
            whole.extend_from_slice(b"PK\x07\x08");
            let mut sum = Crc::new();
            sum.update(&content);
            for number in [sum.sum(), packed.len() as u32, content.len() as u32] {
                whole.extend_from_slice(&number.to_le_bytes());
            }
        }
        let told = read_file(&whole);
        assert_eq!(told[..3], [0, 1, 2].map(|number| format!("http://a.test/{number}")));
        assert!(told.len() == 4 && told[3].contains("directory"), "{told:?}");
    }

    #[test]
    fn a_file_that_has_changed_in_its_zip_file_is_told_once() {
        let page = b"<html><p>many words that nobody else checks";
        let files: [(&str, &[u8]); 2] = [("a.html", page), ("b.html", b"<html><p>sound")];
        let whole = zip(&files, CompressionMethod::STORE, false);
        let mut changed = whole.clone();
        let at = memchr::memmem::find(&whole, b"many").unwrap();
        changed[at] ^= 1;
        assert_eq!(read_file(&whole).len(), 2);
        let told = read_file(&changed);
        assert!(told.len() == 3 && told[1].contains("checksum"), "{told:?}");
        let one = warc(0..2);
        let mut changed = zip(&[("archive/one.warc.gz", &one)], CompressionMethod::STORE, false);
        let at = memchr::memmem::find(&changed, &one).unwrap() + 60;
        changed[at] ^= 1;
        let damaged = read_file(&changed).iter().filter(|told| told.starts_with("damaged")).count();
        assert_eq!(damaged, 1, "the member has told it");
    }
}
