//! Finds the input files.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ndcrawl_model::{CanonicalUrl, Fetched};
use ndcrawl_objects::{Bucket, ObjectUrl};

use super::by_name::{ABOUT_DATA, Company};
use super::file_name;
use super::objects::InputObject;
use super::pipe::Pipe;
use super::stream::Stream;
use super::{
    IgnoredFile, InputDocument, InputItem, Items, Options, SourceFile, Stop, open, opened, parquet, read, unopened,
    wacz,
};

/// The file that a server sends for a folder.
const INDEX: &str = "index.html";
/// The host of pages that have no other address than their files.
const NOWHERE: &str = "http://localhost/";
/// What is said of files that programs write for themselves.
const HIDDEN: &str = "its name begins with . or _";
/// The folder in which Spark and Hadoop write what no job has committed yet.
const UNCOMMITTED: &str = "_temporary";
/// Files of a Hugging Face data set that say what the others hold.
const DATA_SET: [&str; 4] = ["dataset_dict.json", "dataset_info.json", "dataset_infos.json", "state.json"];

/// The input files, in order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    files: Vec<Source>,
    /// Bytes of all files; `None` if one of them is a pipe.
    pub bytes: Option<u64>,
    /// Canonical paths of what was found, and of what is no input.
    known: HashSet<PathBuf>,
}

#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    /// The path below the folder that the user named.
    below: String,
    /// Whether the user named this file, and not its folder.
    is_named: bool,
    /// What it is a part of by its name, if it is text.
    part: Option<&'static str>,
    kind: SourceKind,
}

#[derive(Clone, Debug)]
enum SourceKind {
    /// A file of so many bytes.
    File(u64),
    Object(InputObject),
    /// Something that can be read once: standard input, a named pipe, a device.
    Pipe(Pipe),
    /// Nothing that is to be read.
    Other(&'static str),
    /// Something that should be there and is not.
    Lost(&'static str),
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
    /// Finds the files. Walks folders in the order of names, and follows symbolic links. A file that is found twice is read
    /// once; `ours`, and folders of earlier runs, are no input.
    ///
    /// # Errors
    /// If a path does not exist or a folder cannot be read.
    pub fn find(paths: &[PathBuf], ours: &[PathBuf]) -> Result<Self, NoInput> {
        let known = ours.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        let mut found = Self { bytes: None, files: Vec::new(), known };
        for path in paths {
            found.add(path).map_err(|source| NoInput { path: path.clone(), source })?;
        }
        found.bytes = found.files.iter().map(|file| file.kind.length()).sum();
        Ok(found)
    }

    /// Returns whether all input can be read a second time, once it was read to its end.
    pub fn can_be_read_again(&self) -> bool {
        self.files.iter().all(|source| !matches!(&source.kind, SourceKind::Pipe(pipe) if !pipe.can_be_read_again()))
    }

    /// Reads all files in order. Counts bytes read in `bytes`. A pipe that has nothing to say ends when `stop` says so.
    pub fn items<'a>(
        &'a self,
        options: &'a Options,
        bytes: &'a AtomicU64,
        stop: Stop<'a>,
    ) -> impl Iterator<Item = InputItem> + Send + 'a {
        self.files.iter().flat_map(move |source| source.items(options, bytes, stop))
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        if let Some(url) = ObjectUrl::of(path) {
            return self.add_objects(&url);
        }
        if path.as_os_str() == "-" {
            return self.add_pipe(path);
        }
        let about = fs::metadata(path)?;
        if about.is_dir() {
            return self.add_folder(path);
        }
        if !about.is_file() {
            return self.add_pipe(path);
        }
        let below = path.file_name().map_or_else(String::new, |name| file_name::shown(Path::new(name)));
        let kind = self.file(path, about.len());
        self.push(path, below, true, kind);
        Ok(())
    }

    /// Adds what can be read once.
    fn add_pipe(&mut self, path: &Path) -> io::Result<()> {
        let below = path.file_name().map_or_else(String::new, |name| file_name::shown(Path::new(name)));
        self.push(path, below, true, SourceKind::Pipe(Pipe::new(path)));
        Ok(())
    }

    /// Adds a folder. Of one with a crawl, or with what an earlier run wrote, the archive is the input.
    fn add_folder(&mut self, path: &Path) -> io::Result<()> {
        let archive = path.join("warc");
        let folder = if is_output(path) && archive.is_dir() { archive } else { path.to_owned() };
        self.known.insert(fs::canonicalize(&folder)?);
        let first = self.files.len();
        self.walk(&folder, "")?;
        self.settle(first);
        Ok(())
    }

    /// Tells from the names of the files of a folder, which begin at `first`, which are no documents of their own.
    fn settle(&mut self, first: usize) {
        let files = &mut self.files[first..];
        let company = Company::of(files.iter().map(|file| file.below.as_str()));
        for file in files {
            file.part = company.part(&file.below);
            if matches!(file.kind, SourceKind::File(_)) && company.hides(&file.below) {
                file.kind = SourceKind::Other(HIDDEN);
            }
        }
    }

    /// Adds an object, or those below the address in the order of their keys.
    fn add_objects(&mut self, url: &ObjectUrl) -> io::Result<()> {
        let (bucket, first) = (Bucket::open(url)?, self.files.len());
        for object in bucket.find(url)? {
            let is_named = object.url == *url;
            let key = object.url.key.as_str();
            let below = match is_named {
                true => key.rsplit('/').next().unwrap_or(key).to_owned(),
                false => key[url.key.len()..].trim_start_matches('/').to_owned(),
            };
            let path = PathBuf::from(object.url.to_string());
            let kind = SourceKind::Object(InputObject { bucket: bucket.clone(), object });
            self.files.push(Source { path, below, is_named, part: None, kind });
        }
        self.settle(first);
        Ok(())
    }

    fn walk(&mut self, folder: &Path, below: &str) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let has_arrow = entries.iter().any(|entry| entry.path().extension().is_some_and(|ending| ending == "arrow"));
        for entry in entries {
            let (path, name) = (entry.path(), file_name::shown(Path::new(&entry.file_name())));
            let below = format!("{below}{name}");
            match self.kind(&path, &name, has_arrow) {
                Some(kind) => self.push(&path, below, false, kind),
                None => self.walk(&path, &format!("{below}/"))?,
            }
        }
        Ok(())
    }

    /// Returns what an entry of a folder is; `None` for a folder that is to be read.
    fn kind(&mut self, path: &Path, name: &str, has_arrow: bool) -> Option<SourceKind> {
        let Ok(about) = fs::metadata(path) else { return Some(SourceKind::Lost("a link that leads nowhere")) };
        Some(match about.is_dir() {
            true if name == UNCOMMITTED => SourceKind::Lost("what a job of Spark has not committed"),
            _ if name.starts_with('.') => SourceKind::Other(HIDDEN),
            true if is_output(path) => SourceKind::Other("output of ndcrawl"),
            true if self.is_known(path) => SourceKind::Other("the same folder again"),
            true => return None,
            false if !about.is_file() => SourceKind::Other("no regular file"),
            false if DATA_SET.contains(&name) && (has_arrow || name != "state.json") => SourceKind::Other(ABOUT_DATA),
            false => self.file(path, about.len()),
        })
    }

    fn file(&mut self, path: &Path, length: u64) -> SourceKind {
        if self.is_known(path) { SourceKind::Other("the same file again") } else { SourceKind::File(length) }
    }

    /// Returns whether a file or folder came before, by whatever path.
    fn is_known(&mut self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| !self.known.insert(path))
    }

    fn push(&mut self, path: &Path, below: String, is_named: bool, kind: SourceKind) {
        self.files.push(Source { path: path.to_owned(), below, is_named, part: None, kind });
    }
}

/// Returns whether a crawl or a run of `dedup` wrote to this folder.
fn is_output(folder: &Path) -> bool {
    folder.join("crawl.json").is_file() && folder.join("pages.jsonl").is_file()
}

impl Source {
    fn items<'a>(&'a self, options: &'a Options, bytes: &'a AtomicU64, stop: Stop<'a>) -> Items<'a> {
        let before = bytes.load(Ordering::Relaxed);
        self.read(options, bytes, stop).unwrap_or_else(|item| {
            if let Some(length) = self.kind.length() {
                // What need not be read is done with, too.
                bytes.store(before + length, Ordering::Relaxed);
            }
            match item {
                InputItem::Ignored(_) => Box::new(std::iter::once(item)),
                item => unopened(&self.place(), item),
            }
        })
    }

    fn read<'a>(&'a self, options: &'a Options, bytes: &'a AtomicU64, stop: Stop<'a>) -> Result<Items<'a>, InputItem> {
        let file = self.file(options);
        match &self.kind {
            SourceKind::Object(object) => object.items(file, options, bytes),
            SourceKind::Pipe(pipe) => pipe.items(file, options, bytes, stop),
            SourceKind::Other(what) => Err(InputItem::Ignored(IgnoredFile { place: file.place, what, is_lost: false })),
            SourceKind::Lost(what) => Err(InputItem::Ignored(IgnoredFile { place: file.place, what, is_lost: true })),
            SourceKind::File(_) if parquet::is_parquet(&self.path).is_ok_and(|is| is) => {
                Ok(opened(&file.place, "Parquet", parquet::rows(&self.path, &file.place, options, bytes)))
            }
            SourceKind::File(_) if wacz::is_zip_file(&self.path).is_ok_and(|is| is) => {
                wacz::items(file, &self.path, options, bytes)
            }
            SourceKind::File(_) => match open(&self.path, bytes) {
                Ok(input) => read(file, input, options),
                Err(error) => Err(file.damaged(error.to_string())),
            },
        }
    }

    /// Returns the name by which a file is known wherever the command is given.
    fn place(&self) -> String {
        match &self.kind {
            SourceKind::Object(_) => self.path.display().to_string(),
            SourceKind::Pipe(_) => file_name::shown(&self.path),
            _ => file_name::shown(&file_name::whole(&self.path)),
        }
    }

    fn file(&self, options: &Options) -> SourceFile {
        let modified = match &self.kind {
            SourceKind::Object(InputObject { object, .. }) => Some(object.modified),
            SourceKind::Pipe(_) => None,
            _ => modified(&self.path),
        };
        let place = self.place();
        // Below an address that the user gave, a page has its path in the folder; else its file is its address.
        let below = if options.base.is_some() { self.below.clone() } else { place.clone() };
        SourceFile { place, below: Some(below), modified, is_named: self.is_named, part: self.part }
    }
}

impl SourceKind {
    /// Returns the bytes, unless they are known at the end only.
    fn length(&self) -> Option<u64> {
        match self {
            SourceKind::File(length) => Some(*length),
            SourceKind::Object(InputObject { object, .. }) => Some(object.size),
            SourceKind::Pipe(_) => None,
            SourceKind::Other(_) | SourceKind::Lost(_) => Some(0),
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
    let Some(below) = &file.below else { return file.unread("page", "a page without an address".to_owned(), true) };
    let url = match address(below, options) {
        Ok(url) => url,
        Err(why) => return file.damaged(why),
    };
    let mut body = Vec::new();
    if let Err(error) = Read::take(stream, (options.max_text as u64).saturating_add(1)).read_to_end(&mut body) {
        return file.damaged(error.to_string());
    }
    let truncated = body.len() > options.max_text;
    body.truncate(options.max_text);
    // Without a charset: the page declares one, or it is guessed.
    let fetched = Fetched { truncated, started_at: file.modified, ..Fetched::of_file(url, media_type, body) };
    let is_own = media_type == "text/plain";
    InputItem::Answer(Box::new(InputDocument { is_own, ..fetched.into() }))
}

/// Returns the URL of a file. Below an address that the user gave, `a/index.html` is `a/`, as servers send it.
fn address(below: &str, options: &Options) -> Result<CanonicalUrl, String> {
    let Some(base) = &options.base else {
        // Nothing is folded: names that differ are files that differ.
        return CanonicalUrl::from_canonical(&format!("{NOWHERE}{}", file_name::escaped(below)))
            .map_err(|error| format!("'{below}': {error}"));
    };
    let below = match below.strip_suffix(INDEX) {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => below,
    };
    let mut url = base.as_url().clone();
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
    use ndcrawl_model::Normalizer;

    pub(in super::super) fn options() -> Options {
        Options {
            base: Some(Normalizer::default().absolute("http://localhost/base/").unwrap()),
            url_field: "url".to_owned(),
            id_field: "id".to_owned(),
            html_field: "html".to_owned(),
            text_fields: vec!["text".to_owned()],
            time_field: "fetched_at".to_owned(),
            keep_columns: Vec::new(),
            max_body: 10_000,
            max_text: 10_000,
            reads_pdf: false,
            keeps_records: false,
            keeps_rows: false,
            within_files: false,
            seen: std::sync::Arc::default(),
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
        let inputs = Inputs::find(&[folder.path().to_owned()], &[]).unwrap();
        let (mut urls, mut ignored) = (Vec::new(), Vec::new());
        for item in inputs.items(&options, &bytes, &|| false) {
            match item {
                InputItem::Opened(_) => {}
                InputItem::Answer(document) => urls.push(document.fetched.url.to_string()),
                InputItem::Ignored(file) => {
                    let name = Path::new(&file.place).file_name().unwrap().to_string_lossy().into_owned();
                    let lost = if file.is_lost { ", lost" } else { "" };
                    ignored.push(format!("{name}{lost}: {}", file.what));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(inputs.bytes, Some(bytes.into_inner()));
        assert!(Inputs::find(&[folder.path().join("none")], &[]).is_err());
        (urls, ignored)
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names_and_what_is_no_page_is_named() {
        let (urls, ignored) = read_folder(&[
            ("b/index.html", b"<p>b".to_vec()),
            ("a c.html", b"<p>a".to_vec()),
            ("picture.png", b"\x89PNG\r\n\x1a\n".to_vec()),
            ("notes.md", b"words".to_vec()),
            ("old/x.7z", b"7z\xbc\xaf\x27\x1c\0\x04".to_vec()),
            ("set/lost.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n".to_vec()),
            ("set/_temporary/0/part", b"{}".to_vec()),
            ("set/.part.crc", b"crc".to_vec()),
            ("set/_SUCCESS", b"".to_vec()),
            ("b/_log/0.json", b"{}".to_vec()),
            ("b/_modules/c.html", b"<p>c".to_vec()),
            ("b/app.js", b"'use strict'".to_vec()),
            ("README.md", b"about".to_vec()),
            ("nothing", b"".to_vec()),
            ("b/more.jsonl", b"{\"url\":\"http://c.test/\",\"text\":\"c\"}\n".to_vec()),
        ]);
        assert_eq!(
            urls,
            [
                "http://localhost/base/a%20c.html",
                "http://localhost/base/b/_modules/c.html",
                "http://localhost/base/b/",
                "http://c.test/",
                "http://localhost/base/notes.md"
            ]
        );
        assert_eq!(
            ignored,
            [
                "README.md: about a data set",
                "0.json: its name begins with . or _",
                "app.js: part of web pages",
                "nothing: empty",
                "x.7z, lost: 7z",
                "picture.png: image/png",
                ".part.crc: its name begins with . or _",
                "_SUCCESS: its name begins with . or _",
                "_temporary, lost: what a job of Spark has not committed",
                "lost.parquet, lost: a pointer of Git LFS",
            ]
        );
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
        assert_eq!(ignored, ["style.css: part of web pages"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_read_once_by_whatever_path_it_is_found() {
        use std::os::unix::fs::symlink;
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.html"), "<p>a").unwrap();
        fs::write(other.path().join("blob"), "<p>other").unwrap();
        symlink(path("a.html"), path("b.html")).unwrap();
        symlink(other.path().join("blob"), path("c.html")).unwrap();
        symlink(path("nowhere"), path("d.html")).unwrap();
        symlink(folder.path(), path("e")).unwrap();
        let (options, bytes) = (options(), AtomicU64::new(0));
        let inputs = Inputs::find(&[folder.path().to_owned(), path("./a.html")], &[]).unwrap();
        let told = |item| match item {
            InputItem::Opened(_) => None,
            InputItem::Answer(document) => Some(document.fetched.url.to_string()),
            InputItem::Ignored(file) => Some(format!("{}, {}", file.what, file.is_lost)),
            other => panic!("{other:?}"),
        };
        let items: Vec<String> = inputs.items(&options, &bytes, &|| false).filter_map(told).collect();
        let expected = [
            "http://localhost/base/a.html",
            "the same file again, false",
            "http://localhost/base/c.html",
            "a link that leads nowhere, true",
            "the same folder again, false",
            "the same file again, false",
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn what_is_written_is_no_input_and_files_of_one_name_are_two() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["2023/1.txt", "2024/1.txt", "kept/crawl.json", "kept/pages.jsonl", "kept/warc/x", "out/a.txt"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), name).unwrap();
        }
        let (options, bytes) = (Options { base: None, ..options() }, AtomicU64::new(0));
        let read = |inputs: &[PathBuf]| -> Vec<String> {
            let inputs = Inputs::find(inputs, &[path("out")]).unwrap();
            let url = |item| match item {
                InputItem::Answer(document) => Some(document.fetched.url.to_string()),
                _ => None,
            };
            inputs.items(&options, &bytes, &|| false).filter_map(url).collect()
        };
        let all = read(&[folder.path().to_owned()]);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(read(&[path("2023"), path("2024")]), all);
        assert_eq!(read(&[path("2023/1.txt"), path("2024/1.txt")]), all);
    }
}
