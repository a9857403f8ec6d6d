//! WACZ (Web Archive Collection Zipped): WARC files, with their index, in a zip file.
//!
//! The directory of a zip file stands at its end, so a stream cannot be read. Any other zip file is read like a folder.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::{Counted, IgnoredFile, InputItem, Items, Options, SourceFile, read};

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

/// A file in a zip file.
struct Entry {
    name: String,
    /// Where its bytes begin; an error says why they cannot be read.
    begin: Result<u64, String>,
    length: u64,
    is_deflated: bool,
    /// Whether it tells about the archives of a WACZ.
    is_index: bool,
}

/// Reads the files in a zip file, in the order of its directory. An error is the only item of a file that has none.
pub(super) fn items<'a>(
    file: SourceFile,
    path: &'a Path,
    options: &'a Options,
    bytes: &'a AtomicU64,
) -> Result<Items<'a>, InputItem> {
    let entries = match entries(path) {
        Ok(entries) => entries,
        Err(error) => return Err(file.damaged(format!("the zip file cannot be read: {error}"))),
    };
    if entries.is_empty() {
        return Err(file.unread("empty zip", "the zip file holds no file that is read".to_owned()));
    }
    let path: PathBuf = path.to_owned();
    Ok(Box::new(entries.into_iter().flat_map(move |entry| entry.items(&file, &path, options, bytes))))
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
        entries.push(Entry { name, begin, length: entry.compressed_size(), is_deflated, is_index: false });
    }
    if entries.iter().any(|entry| entry.name == PACKAGE) {
        entries.iter_mut().for_each(|entry| entry.is_index = !entry.name.starts_with(ARCHIVES));
    }
    Ok(entries)
}

impl Entry {
    fn items<'a>(self, file: &SourceFile, path: &Path, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
        let inner = SourceFile {
            place: format!("{}: {}", file.place, self.name),
            below: file.below.as_ref().map(|below| format!("{below}/{}", self.name)),
            modified: file.modified,
            is_named: false,
        };
        if self.is_index {
            let ignored = IgnoredFile { place: inner.place, what: "about a WACZ" };
            return Box::new(std::iter::once(InputItem::Ignored(ignored)));
        }
        let opened = self.begin.and_then(|begin| {
            let mut file = File::open(path).map_err(|error| error.to_string())?;
            file.seek(SeekFrom::Start(begin)).map_err(|error| error.to_string())?;
            Ok(Counted { input: file, bytes }.take(self.length))
        });
        let items = match opened {
            Err(why) => Err(inner.damaged(why)),
            Ok(input) if self.is_deflated => read(inner, DeflateDecoder::new(input), options),
            Ok(input) => read(inner, input, options),
        };
        items.unwrap_or_else(|item| Box::new(std::iter::once(item)))
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
        let inputs = Inputs::find(&[path]).unwrap();
        let tell = |item: InputItem| match item {
            InputItem::Opened(_) => None,
            InputItem::Answer(page) => Some(page.fetched.url.to_string()),
            InputItem::Passed => Some("passed".to_owned()),
            InputItem::Ignored(file) => {
                Some(format!("ignored {}: {}", file.place.rsplit(' ').next().unwrap(), file.what))
            }
            InputItem::Damaged(damage) => Some(format!("damaged {}", damage.why)),
        };
        inputs.items(&options, &count).filter_map(tell).collect()
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
        for cut in [10, whole.len() / 2, whole.len() - 5] {
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
}
