//! Reads pages from a folder of sites.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ndcrawl::model::{Fetched, Normalizer};

/// Returns the HTML files below a folder, sorted.
pub fn html_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() && path.extension().is_some_and(|name| name == "html" || name == "htm") {
            files.push(path);
        }
    }
}

/// Returns a file as a server would send it.
#[allow(dead_code)] // some benches use servers instead
pub fn page(file: &Path) -> Fetched {
    let name: String = file.to_string_lossy().chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect();
    Fetched {
        url: Normalizer::default().absolute(&format!("http://site.test{name}")).unwrap(),
        spelling: None,
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".into(),
        headers: vec![("content-type".into(), b"text/html".to_vec())],
        request_headers: Vec::new(),
        body: std::fs::read(file).unwrap(),
        truncated: false,
        broken_off: None,
        address: None,
        // 2026-01-01.
        started_at: Some(1_767_225_600_000),
        elapsed: Duration::ZERO,
    }
}
