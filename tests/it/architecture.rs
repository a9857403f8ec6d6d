//! Who imports whom, checked against the table in each crate's documentation.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The source folders of all crates of the workspace.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let members = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    members.chain([root.to_owned()]).map(|crate_folder| crate_folder.join("src")).collect()
}

/// Each room's floor, the lowest line of the table being 0.
fn floors(source: &Path) -> BTreeMap<String, usize> {
    let library = fs::read_to_string(source.join("lib.rs")).unwrap();
    let table = library.split("//! ```text\n").nth(1).unwrap().split("//! ```").next().unwrap();
    let lines: Vec<&str> = table.lines().map(|line| line.trim_start_matches("//!").trim()).collect();
    let floor_of = |(floor, line): (usize, &&str)| {
        line.split_whitespace().map(|room| (room.to_owned(), floor)).collect::<Vec<_>>()
    };
    lines.iter().rev().enumerate().flat_map(floor_of).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The file's code without comments, which may link upward.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The rooms that a file names as `crate::room` or as `crate::{room, room}`.
fn imports(file: &Path) -> Vec<String> {
    let code = code(file);
    let single = Regex::new(r"\bcrate::([a-z_]+)").unwrap();
    let several = Regex::new(r"\bcrate::\{([^;]*)\};").unwrap();
    let nested = Regex::new(r"\{[^{}]*\}").unwrap();
    let name = Regex::new(r"^\s*([a-z_]+)").unwrap();
    let mut rooms: Vec<String> = single.captures_iter(&code).map(|found| found[1].to_owned()).collect();
    for group in several.captures_iter(&code) {
        let flat = nested.replace_all(&group[1], "").into_owned();
        rooms.extend(flat.split(',').filter_map(|item| name.captures(item)).map(|found| found[1].to_owned()));
    }
    rooms
}

/// The room of a file; none for `lib.rs` and `main.rs`.
fn room(source: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(source).unwrap();
    let first = inside.components().next()?.as_os_str().to_str()?;
    (inside.components().count() > 1).then(|| first.to_owned())
}

#[test]
fn every_room_stands_in_the_table() {
    for source in sources() {
        let floors = floors(&source);
        for file in files(&source) {
            if let Some(room) = room(&source, &file) {
                assert!(floors.contains_key(&room), "{room} is not in the table of {}/lib.rs", source.display());
            }
        }
    }
}

#[test]
fn rooms_import_downward_only() {
    for source in sources() {
        let floors = floors(&source);
        for file in files(&source) {
            let Some(room) = room(&source, &file) else { continue };
            for imported in imports(&file) {
                let Some(floor) = floors.get(&imported) else { continue };
                assert!(imported == room || *floor < floors[&room], "{} imports {imported}", file.display());
            }
        }
    }
}

/// The only rooms that may name these crates or macros.
const SOLE_USERS: [(&str, &[&str]); 6] = [
    (r"\bsled::", &["store"]),
    (r"\breqwest::", &["fetch"]),
    (r"\bclap::", &["cli"]),
    (r"\banyhow::", &["cli"]),
    (r"\bprintln!|\beprintln!|\bprint!|\beprint!", &["cli"]),
    (r"\bprocess::exit\b", &["cli"]),
];

#[test]
fn only_store_knows_sled_only_fetch_the_client_and_only_cli_prints() {
    for (pattern, users) in SOLE_USERS {
        let pattern = Regex::new(pattern).unwrap();
        for (source, file) in
            sources().iter().flat_map(|source| files(source).into_iter().map(move |file| (source, file)))
        {
            let Some(room) = room(source, &file) else { continue };
            // Tests may print.
            let is_test = file
                .components()
                .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "test.rs")));
            let allowed = is_test || users.contains(&room.as_str());
            let code = code(&file);
            let library = code.split("#[cfg(test)]").next().unwrap();
            assert!(allowed || !pattern.is_match(library), "{} uses {pattern}", file.display());
        }
    }
}
