//! The other pages of the hosts of labeled pages.
//!
//! A crawl meets all pages of a host, and the detector learns the host's template from them. The labeled pages are few and
//! no fair sample: where most of them are copies, their text looks like a template. So detectors that know hosts learn
//! the rest of each host's folder, too.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::address::Address;
use super::pages::Pages;
use ndcrawl_model::{Normalizer, PageInput};
use pagetext::PageReader;

/// Pages in memory at a time.
const AT_ONCE: usize = 512;
/// Files that are pages, by their endings.
const ENDINGS: [&str; 3] = ["html", "htm", "xhtml"];

/// The pages in the folders of labeled pages that have no label.
pub struct HostPages<'a> {
    folder: &'a Path,
    addresses: Vec<Address>,
    renderer: &'a PageReader,
}

impl<'a> HostPages<'a> {
    /// Finds them, in the order of their paths. Symbolic links and folders that cannot be read are left out.
    pub fn find(folder: &'a Path, labeled: &[Address], renderer: &'a PageReader, normalizer: &Normalizer) -> Self {
        let known: HashSet<&Path> = labeled.iter().map(|address| address.file.as_path()).collect();
        let sites: BTreeSet<PathBuf> =
            labeled.iter().filter_map(|address| address.file.iter().next()).map(PathBuf::from).collect();
        let mut files = Vec::new();
        sites.into_iter().for_each(|site| walk(folder, site, &mut files));
        let is_page = |file: &PathBuf| {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            ENDINGS.contains(&ending.to_ascii_lowercase().as_str()) && !known.contains(file.as_path())
        };
        files.retain(is_page);
        let addresses = files.iter().filter_map(|file| Address::of_file(file, normalizer)).collect();
        Self { folder, addresses, renderer }
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Reads and renders the pages, in order, and hands each over. Leaves out what cannot be read.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn each<E>(
        &self,
        advance: &(dyn Fn() + Sync),
        mut visit: impl FnMut(PageInput) -> Result<(), E>,
    ) -> Result<(), E> {
        for some in self.addresses.chunks(AT_ONCE) {
            let rendered = Pages::render(self.folder, some, self.renderer, advance);
            rendered.pages.into_iter().flatten().try_for_each(|page| visit(page.candidate))?;
        }
        Ok(())
    }
}

/// Adds the files below a folder, sorted, with paths relative to `root`.
fn walk(root: &Path, folder: PathBuf, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root.join(&folder)) else { return };
    let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(root, path, files),
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_a_label_are_found_in_the_folders_of_those_with_one() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a/index.html", "a/b c/two.html", "a/three.HTM", "a/picture.png", "other/x.html"] {
            fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
            fs::write(folder.path().join(file), "<p>text</p>").unwrap();
        }
        let normalizer = Normalizer::default();
        let labeled = [Address::parse("http://a.localhost:8080/", &normalizer).unwrap()];
        let renderer = PageReader::default();
        let pages = HostPages::find(folder.path(), &labeled, &renderer, &normalizer);
        let found: Vec<&str> = pages.addresses.iter().map(|address| address.url.as_str()).collect();
        assert_eq!(found, ["http://a.localhost:8080/b%20c/two.html", "http://a.localhost:8080/three.HTM"]);
        let (mut visited, labeled) = (Vec::new(), Pages::render(folder.path(), &labeled, &renderer, &|| ()));
        let visit = |page: PageInput| {
            visited.push(page.group);
            Ok::<_, ()>(())
        };
        pages.each(&|| (), visit).unwrap();
        let group = labeled.pages[0].as_ref().unwrap().candidate.group;
        assert_eq!(visited, [group, group]);
    }
}
