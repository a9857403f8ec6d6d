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

/// Each room's floor, the lowest line of the table being 0. A crate without rooms does not say that they import downward.
fn floors(source: &Path) -> BTreeMap<String, usize> {
    let library = fs::read_to_string(source.join("lib.rs")).unwrap();
    let Some((_, after)) = library.split_once("ownward") else { return BTreeMap::new() };
    let table = after.split("//! ```text\n").nth(1).unwrap();
    let table = table.split("//! ```").next().unwrap();
    let lines: Vec<&str> = table.lines().map(|line| line.trim_start_matches("//!").trim()).collect();
    let floor_of = |(floor, line): (usize, &&str)| {
        line.split_whitespace().map(|room| (room.to_owned(), floor)).collect::<Vec<_>>()
    };
    lines.iter().rev().enumerate().flat_map(floor_of).collect()
}

#[test]
fn the_map_shows_the_same_floors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = map.split("```text\n").find(|block| block.contains("------")).unwrap();
    let mut crates: Vec<(PathBuf, Vec<Vec<String>>)> = Vec::new();
    for line in table.split("```").next().unwrap().lines() {
        match line.strip_prefix("------ ").map(|title| title.split(' ').next().unwrap()) {
            Some("src") => crates.push((root.join("src"), Vec::new())),
            Some(folder) => crates.push((root.join(folder).join("src"), Vec::new())),
            None => {
                let rooms = line.split("    ").next().unwrap();
                crates.last_mut().unwrap().1.push(rooms.split_whitespace().map(str::to_owned).collect());
            }
        }
    }
    for (source, shown) in &crates {
        let mut floors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (room, floor) in self::floors(source) {
            floors.entry(floor).or_default().push(room);
        }
        let sorted = |mut rooms: Vec<String>| {
            rooms.sort();
            rooms
        };
        let shown: Vec<_> = shown.iter().cloned().map(sorted).collect();
        assert_eq!(shown, floors.into_values().rev().map(sorted).collect::<Vec<_>>(), "{}", source.display());
    }
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
    for source in sources().into_iter().filter(|source| !floors(source).is_empty()) {
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
    for source in sources().into_iter().filter(|source| !floors(source).is_empty()) {
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

/// The module of a file as a path below `src`, without `mod` and `lib`.
fn module(source: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(source).unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// The paths that a `use` names: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expanded(path: &str) -> Vec<String> {
    let path = path.trim();
    let Some(open) = path.find('{') else { return vec![path.split(" as ").next().unwrap().trim().to_owned()] };
    let (prefix, group) = (&path[..open], &path[open + 1..path.rfind('}').unwrap()]);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{prefix}{}", part.trim()))).collect()
}

/// The files that a file imports from, by module. What a module re-exports of its own files is no import.
fn imported_modules(module: &[String], code: &str, modules: &BTreeMap<Vec<String>, PathBuf>) -> Vec<Vec<String>> {
    let uses = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ((?:crate|super|self)::[^;]*);").unwrap();
    let mut found = Vec::new();
    for import in uses.captures_iter(code) {
        for path in expanded(&import[2]) {
            let mut parts: Vec<&str> = path.split("::").map(str::trim).collect();
            let mut target: Vec<String> = match parts.remove(0) {
                "crate" => Vec::new(),
                "self" => module.to_vec(),
                _ => module[..module.len().saturating_sub(1)].to_vec(),
            };
            while parts.first() == Some(&"super") {
                parts.remove(0);
                target.pop();
            }
            target.extend(parts.into_iter().map(str::to_owned));
            while !modules.contains_key(&target) {
                target.pop();
            }
            let is_own = import.get(1).is_some() && target.starts_with(module);
            if target != module && !target.is_empty() && !is_own {
                found.push(target);
            }
        }
    }
    found
}

/// Files that import each other, straight or by way of others, as groups of names.
fn circles(source: &Path) -> Vec<Vec<String>> {
    let is_test =
        |module: &[String]| module.iter().any(|part| matches!(part.as_str(), "tests" | "test" | "main" | "fuzzing"));
    let modules: BTreeMap<Vec<String>, PathBuf> = files(source)
        .into_iter()
        .map(|file| (module(source, &file), file))
        .filter(|(name, _)| !is_test(name))
        .collect();
    let imports: BTreeMap<&Vec<String>, Vec<Vec<String>>> = modules
        .iter()
        .map(|(name, file)| {
            let code = code(file);
            (name, imported_modules(name, code.split("#[cfg(test)]\nmod tests").next().unwrap(), &modules))
        })
        .collect();
    let reachable = |from: &Vec<String>| {
        let (mut seen, mut open) = (Vec::new(), imports[from].clone());
        while let Some(next) = open.pop() {
            if !seen.contains(&next) {
                open.extend(imports.get(&next).cloned().unwrap_or_default());
                seen.push(next);
            }
        }
        seen
    };
    let reach: BTreeMap<&Vec<String>, Vec<Vec<String>>> = modules.keys().map(|name| (name, reachable(name))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for name in modules.keys().filter(|name| reach[*name].contains(*name)) {
        let members = modules.keys().filter(|other| reach[name].contains(*other) && reach[*other].contains(name));
        let circle: Vec<String> = members.map(|member| member.join("/")).collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// Circles that are left, by their first file. The list only gets shorter.
const KNOWN_CIRCLES: [&str; 1] = [
    // A key of the schema reads and writes the settings, whose defaults and sources stand in the schema.
    "cli/config/schema",
];

#[test]
fn no_two_files_import_each_other() {
    for source in sources() {
        let new = circles(&source).into_iter().filter(|circle| !KNOWN_CIRCLES.contains(&circle[0].as_str()));
        assert_eq!(new.collect::<Vec<_>>(), Vec::<Vec<String>>::new(), "in {}", source.display());
    }
}

/// The only crates that may depend on these; the program is `.`.
const SOLE_DEPENDENTS: [(&str, &str); 7] = [
    ("sled", "crates/store"),
    ("reqwest", "crates/fetch"),
    ("object_store", "crates/objects"),
    ("spider", "crates/engine"),
    ("tokio-postgres", "crates/cluster"),
    ("clap", "."),
    ("anyhow", "."),
];

#[test]
fn what_only_one_crate_may_know_no_other_depends_on() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for source in sources() {
        let folder = source.parent().unwrap();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        for (dependency, owner) in SOLE_DEPENDENTS {
            let depends = manifest["dependencies"].as_table().unwrap().contains_key(dependency);
            assert!(!depends || folder == root.join(owner), "{} depends on {dependency}", folder.display());
            assert!(depends || folder != root.join(owner), "{owner} no longer depends on {dependency}");
        }
    }
}

/// The only rooms that may use these.
const SOLE_USERS: [(&str, &[&str]); 2] =
    [(r"\bprintln!|\beprintln!|\bprint!|\beprint!", &["cli"]), (r"\bprocess::exit\b", &["cli"])];

#[test]
fn only_the_command_line_prints_and_exits() {
    for (pattern, users) in SOLE_USERS {
        let pattern = Regex::new(pattern).unwrap();
        for (source, file) in
            sources().iter().flat_map(|source| files(source).into_iter().map(move |file| (source, file)))
        {
            // Tests may print. `main.rs` passes the exit code on.
            let is_test = file
                .components()
                .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "test.rs" | "main.rs")));
            let allowed = is_test || room(source, &file).is_some_and(|room| users.contains(&room.as_str()));
            let code = code(&file);
            let library = code.split("#[cfg(test)]").next().unwrap();
            assert!(allowed || !pattern.is_match(library), "{} uses {pattern}", file.display());
        }
    }
}

/// The modules of `cli` that a file names as `crate::cli::module`.
fn cli_imports(file: &Path) -> Vec<String> {
    let single = Regex::new(r"\bcrate::cli::([a-z_]+)").unwrap();
    single.captures_iter(&code(file)).map(|found| found[1].to_owned()).collect()
}

#[test]
fn only_the_dispatcher_imports_commands() {
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli")) {
        assert!(!cli_imports(&file).contains(&"commands".to_owned()), "{} imports a command", file.display());
    }
}

#[test]
fn arguments_import_nothing_but_configuration_and_errors() {
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/args")) {
        for module in cli_imports(&file) {
            assert!(["args", "config", "errors"].contains(&module.as_str()), "{} imports {module}", file.display());
        }
    }
}

#[test]
fn only_tests_switch_on_the_points_at_which_they_kill_the_program() {
    let read = |manifest: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let enabling = |features: &toml::Value| features.as_array().unwrap().contains(&"failpoints".into());
    assert!(!manifest["features"].as_table().unwrap().values().any(enabling));
    assert!(enabling(&manifest["dev-dependencies"]["ndcrawl"]["features"]));
    assert!(!read("crates/python/Cargo.toml").contains("failpoints"));
}
