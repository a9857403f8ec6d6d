//! Exports the archived records of selected pages as a WACZ file, which replays in a browser.
//!
//! "Web Archive Collection Zipped (WACZ)", version 1.1.1: the archive, its index in compressed blocks with an index of
//! the blocks, a list of the pages, and a data package with the digest of each file. Nothing is compressed twice, so that
//! a player can read parts of the file.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::Compression as Level;
use flate2::write::GzEncoder;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::error::{ExportError, Result};
use super::folder_output::FolderOutput;
use super::jsonl::Compression;
use super::output::{ExportCounts, Output};
use super::pages::ExportSource;
use super::warc::warc;

/// Lines of a block of the index, as py-wacz makes them.
const BLOCK_LINES: usize = 3000;
/// Bytes that are copied at once.
const PIECE: usize = 64 * 1024;

/// Writes the records that [`warc`] writes, packed with their index and the list of pages. Takes twice the bytes of the
/// file while it is written.
///
/// # Errors
/// [`ExportError`]; then no file is left.
pub fn wacz(source: ExportSource<'_>, path: &Path) -> Result<ExportCounts> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".parts");
    let parts = FolderOutput::create(&path.with_file_name(name))?;
    let part = |name: &str| parts.path().join(name);
    let (archive, lines) = (Output::file(&part("data.warc.gz"))?, Output::file(&part("index.cdxj"))?);
    let mut counts = warc(source, Compression::Gzip, archive, Some(lines))?;
    write_pages(source, &part("pages.jsonl"))?;
    let packed = part("packed");
    pack(parts.path(), &packed).map_err(|source| ExportError::at(path, source))?;
    counts.bytes = fs::metadata(&packed).map_err(|source| ExportError::at(path, source))?.len();
    fs::rename(&packed, path).map_err(|source| ExportError::at(path, source))?;
    Ok(counts)
}

/// Lists the pages that have a record, as the format asks: a line that tells the format, then one line a page.
fn write_pages(source: ExportSource<'_>, path: &Path) -> Result<()> {
    let mut output = Output::file(path)?;
    let mut put = |line: serde_json::Value| writeln!(output, "{line}").map_err(|source| ExportError::at(path, source));
    put(json!({ "format": "json-pages-1.0", "id": "pages", "title": "All pages" }))?;
    source.each(&mut ExportCounts::default(), |line, _| {
        if line.warc_file.is_none() || !line.is_kept() {
            return Ok(());
        }
        let id = ndcrawl_model::Digest::of(line.url.as_bytes()).to_string();
        put(json!({ "id": id, "url": line.url, "ts": line.fetched_at, "title": line.title }))
    })?;
    output.finish().map(drop)
}

/// Packs the parts, and the digests of all.
fn pack(parts: &Path, packed: &Path) -> io::Result<()> {
    let blocks = index_blocks(&parts.join("index.cdxj"), &parts.join("index.cdx.gz"))?;
    fs::write(parts.join("index.idx"), blocks)?;
    let mut package = Package { zip: ZipWriter::new(BufWriter::new(File::create(packed)?)), resources: Vec::new() };
    for (folder, name) in
        [("archive", "data.warc.gz"), ("indexes", "index.cdx.gz"), ("indexes", "index.idx"), ("pages", "pages.jsonl")]
    {
        package.add(&format!("{folder}/{name}"), &parts.join(name))?;
    }
    let resources: Vec<_> = std::mem::take(&mut package.resources);
    let described = json!({
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "created": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "software": concat!("ndcrawl ", env!("CARGO_PKG_VERSION")),
        "resources": resources,
    });
    let described = serde_json::to_vec_pretty(&described)?;
    let digest =
        json!({ "path": "datapackage.json", "hash": format!("sha256:{}", hexadecimal(&Sha256::digest(&described))) });
    package.put("datapackage.json", &described)?;
    package.put("datapackage-digest.json", &serde_json::to_vec_pretty(&digest)?)?;
    package.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// The file while it is packed.
struct Package {
    zip: ZipWriter<BufWriter<File>>,
    resources: Vec<serde_json::Value>,
}

impl Package {
    /// Adds a file, and its digest to the resources.
    fn add(&mut self, path: &str, file: &Path) -> io::Result<()> {
        let mut input = File::open(file)?;
        self.begin(path)?;
        let (mut digest, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
        loop {
            let read = input.read(&mut piece)?;
            if read == 0 {
                break;
            }
            digest.update(&piece[..read]);
            self.zip.write_all(&piece[..read])?;
            bytes += read as u64;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let hash = format!("sha256:{}", hexadecimal(&digest.finalize()));
        self.resources.push(json!({ "name": name, "path": path, "hash": hash, "bytes": bytes }));
        Ok(())
    }

    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.begin(path)?;
        self.zip.write_all(content)
    }

    fn begin(&mut self, path: &str) -> io::Result<()> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        self.zip.start_file(path, options).map_err(io::Error::other)
    }
}

/// Compresses the lines of an index in blocks, and returns the index of the blocks: the first key of each, and its place.
fn index_blocks(lines: &Path, compressed: &Path) -> io::Result<String> {
    let mut input = BufReader::new(File::open(lines)?);
    let mut output = BufWriter::new(File::create(compressed)?);
    let mut places = String::from("!meta 0 {\"format\":\"cdxj-gzip-1.0\",\"filename\":\"index.cdx.gz\"}\n");
    let (mut block, mut offset) = (String::new(), 0);
    loop {
        block.clear();
        for _ in 0..BLOCK_LINES {
            if input.read_line(&mut block)? == 0 {
                break;
            }
        }
        if block.is_empty() {
            break;
        }
        let mut encoder = GzEncoder::new(Vec::new(), Level::default());
        encoder.write_all(block.as_bytes())?;
        let member = encoder.finish()?;
        let digest = hexadecimal(&Sha256::digest(&member));
        let key = block.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
        let place = json!({
            "offset": offset, "length": member.len(), "digest": format!("sha256:{digest}"), "filename": "index.cdx.gz",
        });
        places += &format!("{key} {place}\n");
        output.write_all(&member)?;
        offset += member.len();
    }
    output.flush()?;
    Ok(places)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
