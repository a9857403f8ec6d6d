//! Finds the input files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use crate::model::{CanonicalUrl, Fetched};

use super::{InputDamage, InputItem, Items, Options, PARQUET, UNKNOWN, damaged, items, open, opened, parquet};

/// Endings of files that hold one page each, and their media types.
const PAGES: [(&str, &str); 4] =
    [("html", "text/html"), ("htm", "text/html"), ("xhtml", "application/xhtml+xml"), ("txt", "text/plain")];
/// Endings of files in a folder that hold many pages.
const COLLECTIONS: [&str; 10] = ["warc", "wet", "parquet", "jsonl", "ndjson", "gz", "zst", "json", "csv", "tsv"];
/// The file that a server sends for a folder.
const INDEX: &str = "index.html";

/// The input files, in order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    files: Vec<Source>,
    /// Bytes of all files; `None` if one of them is standard input.
    pub bytes: Option<u64>,
    /// Files in folders whose names are not those of pages, counted by the ending of the name (empty if it has none).
    pub ignored: BTreeMap<String, u64>,
}

#[derive(Clone, Debug)]
enum Source {
    /// A file with many pages.
    Collection(PathBuf),
    /// A file with one page, and its path below the base URL.
    Page { path: PathBuf, below: String },
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
        self.files.iter().flat_map(move |source| -> Items<'a> {
            match source {
                Source::Collection(path) if parquet::is_parquet(path).is_ok_and(|is| is) => {
                    opened(&path.display().to_string(), PARQUET, parquet::rows(path, options, bytes))
                }
                Source::Collection(path) => {
                    let name = path.display().to_string();
                    match open(path, bytes) {
                        Ok(input) => items(name, input, options),
                        Err(error) => opened(&name, UNKNOWN, damaged(&name, &error)),
                    }
                }
                Source::Page { path, below } => {
                    let item = page(path, below, options, bytes);
                    opened(&path.display().to_string(), "page", Box::new(std::iter::once(item)))
                }
            }
        })
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str() == "-" {
            self.bytes = None;
            self.files.push(Source::Collection(path.to_owned()));
            return Ok(());
        }
        let about = fs::metadata(path)?;
        if about.is_dir() {
            return self.walk(path, "");
        }
        self.bytes = self.bytes.map(|bytes| bytes + about.len());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.files.push(match media_type(path) {
            Some(_) => Source::Page { path: path.to_owned(), below: name },
            None => Source::Collection(path.to_owned()),
        });
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
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let source = match media_type(&path) {
                Some(_) => Source::Page { path: path.clone(), below: name },
                None if COLLECTIONS.contains(&ending) => Source::Collection(path.clone()),
                None => {
                    *self.ignored.entry(ending.to_ascii_lowercase()).or_default() += 1;
                    continue;
                }
            };
            if kind.is_file() {
                self.bytes = self.bytes.map(|bytes| bytes + entry.metadata().map_or(0, |about| about.len()));
                self.files.push(source);
            }
        }
        Ok(())
    }
}

fn media_type(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    PAGES.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
}

fn page(path: &Path, below: &str, options: &Options, bytes: &AtomicU64) -> InputItem {
    let mut body = Vec::new();
    let read = open(&path.to_owned(), bytes).and_then(|mut input| {
        use std::io::Read;
        input.by_ref().take(options.max_body as u64 + 1).read_to_end(&mut body)
    });
    if let Err(error) = read {
        return InputItem::Damaged(InputDamage::new(path.display().to_string(), error));
    }
    let url = match address(below, options) {
        Ok(url) => url,
        Err(why) => return InputItem::Damaged(InputDamage::new(path.display().to_string(), why)),
    };
    let modified = fs::metadata(path).and_then(|about| about.modified()).ok();
    let since_1970 = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let truncated = body.len() > options.max_body;
    body.truncate(options.max_body);
    InputItem::from(Fetched {
        url,
        spelling: None,
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".to_owned(),
        // Without a charset: the page declares one, or it is guessed.
        headers: vec![("Content-Type".to_owned(), media_type(path).unwrap_or("text/html").as_bytes().to_vec())],
        request_headers: Vec::new(),
        body,
        truncated,
        address: None,
        started_at: since_1970.and_then(|time| i64::try_from(time.as_millis()).ok()),
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
            normalizer: Normalizer::default(),
        }
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names_and_what_is_no_page_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("b/index.html", "<p>b");
        write("a c.html", "<p>a");
        write("picture.png", "x");
        write("b/more.jsonl", "{\"url\":\"http://c.test/\",\"text\":\"c\"}\n");
        let (options, bytes) = (options(), AtomicU64::new(0));
        let inputs = Inputs::find(&[folder.path().to_owned()]).unwrap();
        let urls: Vec<String> = inputs
            .items(&options, &bytes)
            .filter_map(|item| match item {
                InputItem::Opened(_) => None,
                InputItem::Answer(document) => Some(document.fetched.url.to_string()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(urls, ["http://localhost/base/a%20c.html", "http://localhost/base/b/", "http://c.test/"]);
        assert_eq!((inputs.ignored, inputs.bytes), (BTreeMap::from([("png".to_owned(), 1)]), Some(bytes.into_inner())));
        assert!(Inputs::find(&[folder.path().join("none")]).is_err());
    }
}
