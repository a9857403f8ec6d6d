//! Finds the input files.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::{CanonicalUrl, Fetched};
use crate::objects::{Bucket, ObjectUrl};

use super::objects::InputObject;
use super::stream::Stream;
use super::{IgnoredFile, InputItem, Items, Options, SourceFile, open, opened, parquet, read, unopened, wacz};

/// The file that a server sends for a folder.
const INDEX: &str = "index.html";

/// The input files, in order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    files: Vec<Source>,
    /// Bytes of all files; `None` if one of them is standard input.
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    /// The path below the base URL, which a page has as its address.
    below: String,
    /// Whether the user named this file, and not its folder.
    is_named: bool,
    kind: SourceKind,
}

#[derive(Clone, Debug)]
enum SourceKind {
    /// A file of so many bytes.
    File(u64),
    Object(InputObject),
    Stream,
    /// A symbolic link, or a device.
    Other(&'static str),
}

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct NoInput {
    /// The input.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl Inputs {
    /// Finds the files. Walks folders in the order of names; follows no symbolic links.
    ///
    /// # Errors
    /// If a path does not exist or a folder cannot be read.
    pub fn find(paths: &[PathBuf]) -> Result<Self, NoInput> {
        let mut found = Self { bytes: Some(0), ..Self::default() };
        for path in paths {
            found.add(path).map_err(|source| NoInput { path: path.clone(), source })?;
        }
        Ok(found)
    }

    /// Returns whether all input can be read a second time.
    pub fn can_be_read_again(&self) -> bool {
        self.bytes.is_some()
    }

    /// Reads all files in order. Counts bytes read in `bytes`.
    pub fn items<'a>(
        &'a self,
        options: &'a Options,
        bytes: &'a AtomicU64,
    ) -> impl Iterator<Item = InputItem> + Send + 'a {
        self.files.iter().flat_map(move |source| source.items(options, bytes))
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str() == "-" {
            self.bytes = None;
            self.push(path.to_owned(), String::new(), true, SourceKind::Stream);
            return Ok(());
        }
        if let Some(url) = ObjectUrl::of(path) {
            return self.add_objects(&url);
        }
        let about = fs::metadata(path)?;
        if about.is_dir() {
            return self.walk(path, "");
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.push(path.to_owned(), name, true, SourceKind::File(about.len()));
        Ok(())
    }

    /// Adds an object, or those below the address in the order of their keys.
    fn add_objects(&mut self, url: &ObjectUrl) -> io::Result<()> {
        let bucket = Bucket::open(url)?;
        for object in bucket.find(url)? {
            let is_named = object.url == *url;
            let key = object.url.key.as_str();
            let below = match is_named {
                true => key.rsplit('/').next().unwrap_or(key).to_owned(),
                false => key[url.key.len()..].trim_start_matches('/').to_owned(),
            };
            let (path, size) = (PathBuf::from(object.url.to_string()), object.size);
            self.bytes = self.bytes.map(|bytes| bytes + size);
            let kind = SourceKind::Object(InputObject { bucket: bucket.clone(), object });
            self.files.push(Source { path, below, is_named, kind });
        }
        Ok(())
    }

    fn walk(&mut self, folder: &Path, below: &str) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.walk(&path, &format!("{name}/"))?;
                continue;
            }
            let kind = match kind {
                _ if kind.is_file() => SourceKind::File(entry.metadata().map_or(0, |about| about.len())),
                _ if kind.is_symlink() => SourceKind::Other("symbolic link"),
                _ => SourceKind::Other("no regular file"),
            };
            self.push(path, name, false, kind);
        }
        Ok(())
    }

    fn push(&mut self, path: PathBuf, below: String, is_named: bool, kind: SourceKind) {
        if let SourceKind::File(length) = kind {
            self.bytes = self.bytes.map(|bytes| bytes + length);
        }
        // A document without URL is known by its file, however the file is spelled.
        let path = path.components().filter(|part| *part != Component::CurDir).collect();
        self.files.push(Source { path, below, is_named, kind });
    }
}

impl Source {
    fn items<'a>(&'a self, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
        let before = bytes.load(Ordering::Relaxed);
        self.read(options, bytes).unwrap_or_else(|item| {
            if let Some(length) = self.kind.length() {
                // What need not be read is done with, too.
                bytes.store(before + length, Ordering::Relaxed);
            }
            match item {
                InputItem::Ignored(_) => Box::new(std::iter::once(item)),
                item => unopened(&self.path.display().to_string(), item),
            }
        })
    }

    fn read<'a>(&'a self, options: &'a Options, bytes: &'a AtomicU64) -> Result<Items<'a>, InputItem> {
        let file = self.file();
        match &self.kind {
            SourceKind::Object(object) => object.items(file, options, bytes),
            SourceKind::Other(what) => Err(InputItem::Ignored(IgnoredFile { place: file.place, what })),
            SourceKind::File(_) if parquet::is_parquet(&self.path).is_ok_and(|is| is) => {
                Ok(opened(&file.place, "Parquet", parquet::rows(&self.path, &file.place, options, bytes)))
            }
            SourceKind::File(_) if wacz::is_zip_file(&self.path).is_ok_and(|is| is) => {
                wacz::items(file, &self.path, options, bytes)
            }
            _ => match open(&self.path, bytes) {
                Ok(input) => read(file, input, options),
                Err(error) => Err(file.damaged(error.to_string())),
            },
        }
    }

    fn file(&self) -> SourceFile {
        let modified = match &self.kind {
            SourceKind::Object(InputObject { object, .. }) => Some(object.modified),
            _ => modified(&self.path),
        };
        SourceFile {
            place: self.path.display().to_string(),
            below: Some(self.below.clone()),
            modified,
            is_named: self.is_named,
        }
    }
}

impl SourceKind {
    /// Returns the bytes, unless they are known at the end only.
    fn length(&self) -> Option<u64> {
        match self {
            SourceKind::File(length) => Some(*length),
            SourceKind::Object(InputObject { object, .. }) => Some(object.size),
            SourceKind::Stream | SourceKind::Other(_) => None,
        }
    }
}

/// Returns when a file was changed, in milliseconds since 1970.
fn modified(path: &Path) -> Option<i64> {
    let modified = fs::metadata(path).and_then(|about| about.modified()).ok()?;
    let since_1970 = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_millis()).ok()
}

/// Reads a file that is one page.
pub(super) fn page(file: SourceFile, media_type: &str, stream: Stream<'_>, options: &Options) -> InputItem {
    let Some(below) = &file.below else { return file.unread("page", "a page without an address".to_owned()) };
    let url = match address(below, options) {
        Ok(url) => url,
        Err(why) => return file.damaged(why),
    };
    let mut body = Vec::new();
    if let Err(error) = Read::take(stream, options.max_body as u64 + 1).read_to_end(&mut body) {
        return file.damaged(error.to_string());
    }
    let truncated = body.len() > options.max_body;
    body.truncate(options.max_body);
    InputItem::from(Fetched {
        url,
        spelling: None,
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".to_owned(),
        // Without a charset: the page declares one, or it is guessed.
        headers: vec![("Content-Type".to_owned(), media_type.as_bytes().to_vec())],
        request_headers: Vec::new(),
        body,
        truncated,
        broken_off: None,
        address: None,
        started_at: file.modified,
        elapsed: std::time::Duration::ZERO,
    })
}

/// Returns the URL of a file. Servers send `a/index.html` as `a/`.
fn address(below: &str, options: &Options) -> Result<CanonicalUrl, String> {
    let below = match below.strip_suffix(INDEX) {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => below,
    };
    let mut url = options.base.as_url().clone();
    {
        let mut segments = url.path_segments_mut().map_err(|()| "the base URL cannot have a path".to_owned())?;
        segments.pop_if_empty().extend(below.split('/'));
    }
    options.normalizer.absolute(url.as_str()).map_err(|error| format!("'{url}': {error}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::stream::tests::{gzip, zstd};
    use super::*;
    use crate::model::Normalizer;

    pub(in super::super) fn options() -> Options {
        Options {
            base: Normalizer::default().absolute("http://localhost/base/").unwrap(),
            url_field: "url".to_owned(),
            id_field: "id".to_owned(),
            html_field: "html".to_owned(),
            text_field: "text".to_owned(),
            keep_columns: Vec::new(),
            max_body: 10_000,
            reads_pdf: false,
            keeps_records: false,
            normalizer: Normalizer::default(),
        }
    }

    fn read_folder(files: &[(&str, Vec<u8>)]) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let (options, bytes) = (options(), AtomicU64::new(0));
        let inputs = Inputs::find(&[folder.path().to_owned()]).unwrap();
        let (mut urls, mut ignored) = (Vec::new(), Vec::new());
        for item in inputs.items(&options, &bytes) {
            match item {
                InputItem::Opened(_) => {}
                InputItem::Answer(document) => urls.push(document.fetched.url.to_string()),
                InputItem::Ignored(file) => {
                    let name = Path::new(&file.place).file_name().unwrap().to_string_lossy().into_owned();
                    ignored.push(format!("{name}: {}", file.what));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(inputs.bytes, Some(bytes.into_inner()));
        assert!(Inputs::find(&[folder.path().join("none")]).is_err());
        (urls, ignored)
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names_and_what_is_no_page_is_named() {
        let (urls, ignored) = read_folder(&[
            ("b/index.html", b"<p>b".to_vec()),
            ("a c.html", b"<p>a".to_vec()),
            ("picture.png", b"\x89PNG\r\n\x1a\n".to_vec()),
            ("notes.md", b"words".to_vec()),
            ("nothing", b"".to_vec()),
            ("b/more.jsonl", b"{\"url\":\"http://c.test/\",\"text\":\"c\"}\n".to_vec()),
        ]);
        assert_eq!(urls, ["http://localhost/base/a%20c.html", "http://localhost/base/b/", "http://c.test/"]);
        assert_eq!(ignored, ["notes.md: text", "nothing: empty", "picture.png: image/png"]);
    }

    #[test]
    fn files_of_a_mirror_are_pages_by_what_they_hold() {
        let warc = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://w.test/\r\nContent-Type: text/html\r\n\
                    Content-Length: 4\r\n\r\n<p>w\r\n\r\n";
        let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (urls, ignored) = read_folder(&[
            ("BIG.WARC", warc.into()),
            ("LINES.JSON", b"\xef\xbb\xbf{\"url\":\"http://l.test/\",\"text\":\"l\"}".to_vec()),
            ("article", b"<!DOCTYPE html><title>1</title>".to_vec()),
            ("index.html?page=2", b"only words".to_vec()),
            ("page.asp", b"\xef\xbb\xbf\r\n<HTML>".to_vec()),
            ("page.html.gz", gzip(b"<p>packed")),
            ("style.css", b"body{margin:0}".to_vec()),
            ("view.php?id=3", utf_16("<!-- by hand --><html>")),
            ("z/index.html.gz", zstd(b"only words")),
        ]);
        assert_eq!(
            urls,
            [
                "http://w.test/",
                "http://l.test/",
                "http://localhost/base/article",
                "http://localhost/base/index.html%3Fpage=2",
                "http://localhost/base/page.asp",
                "http://localhost/base/page.html.gz",
                "http://localhost/base/view.php%3Fid=3",
                "http://localhost/base/z/index.html.gz",
            ]
        );
        assert_eq!(ignored, ["style.css: text"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_not_followed_and_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.html"), "<p>a").unwrap();
        std::os::unix::fs::symlink(folder.path().join("a.html"), folder.path().join("b.html")).unwrap();
        let (options, bytes) = (options(), AtomicU64::new(0));
        let inputs = Inputs::find(&[folder.path().to_owned()]).unwrap();
        let items: Vec<InputItem> = inputs.items(&options, &bytes).collect();
        let [InputItem::Opened(_), InputItem::Answer(_), InputItem::Ignored(link)] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!(link.what, "symbolic link");
    }
}
