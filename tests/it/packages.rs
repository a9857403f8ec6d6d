//! What people install works: the archive and the Debian package, packed from the program that is tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::foreign::{output, run};
use crate::needs::{Program, has_all, has_for_part};
use crate::program::Place;

/// What `config/packaging/pack` is written with.
const TOOLS: [crate::needs::Need; 4] = [Program("python3"), Program("strip"), Program("tar"), Program("sha256sum")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Packs the tested program into this folder.
fn pack(out: &Path, arguments: &[&str]) {
    let mut pack = Command::new(root().join("config/packaging/pack"));
    pack.args(["--program", env!("CARGO_BIN_EXE_ndcrawl"), "--fast", "--out"]).arg(out).args(arguments);
    run(&mut pack);
}

/// The only file of the folder with this ending.
fn only(folder: &Path, ending: &str) -> PathBuf {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    found[0].clone()
}

fn bash(script: &str, folder: &Path) -> String {
    run(Command::new("bash").args(["-euc", script]).current_dir(folder))
}

/// The words that the completion of bash offers for `ndcrawl WORD`.
fn completed(script: &Path, word: &str) -> Vec<String> {
    let line = format!(
        "source {}; COMP_WORDS=(ndcrawl '{word}'); COMP_CWORD=1; COMPREPLY=(); _ndcrawl ndcrawl '{word}' ndcrawl; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    // `-u` would trip over what bash itself sets during a completion.
    run(Command::new("bash").args(["-c", &line])).lines().map(str::to_owned).collect()
}

/// The program runs without any variable of the environment.
fn assert_runs(program: &Path, folder: &Path) {
    let call = |argument: &str| run(Command::new(program).arg(argument).env_clear().current_dir(folder));
    assert_eq!(call("--version"), format!("ndcrawl {}\n", env!("CARGO_PKG_VERSION")));
    assert!(call("demo").contains("near-duplicates"));
}

fn assert_completes(bash_script: &Path, zsh_script: &Path) {
    assert_eq!(completed(bash_script, "de"), ["dedup", "decontaminate", "demo"]);
    assert!(completed(bash_script, "--max-p").contains(&"--max-pages".to_owned()));
    if has_for_part(&[Program("zsh")]) {
        let folder = zsh_script.parent().unwrap().display().to_string();
        let line = format!(
            "fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[ndcrawl]; \
             autoload +X -Uz _ndcrawl"
        );
        assert_eq!(run(Command::new("zsh").args(["-fc", &line])), "_ndcrawl\n");
    }
}

fn assert_manual(page: &Path) {
    if has_for_part(&[Program("man")]) {
        let shown = run(Command::new("man").args(["-P", "cat", "-l"]).arg(page));
        assert!(shown.contains("SYNOPSIS"), "{shown}");
    }
}

#[test]
fn the_archive_holds_what_runs_and_is_the_same_each_time() {
    if !has_all(&TOOLS) {
        return;
    }
    let place = Place::new();
    let (first, second) = (place.path("first"), place.path("second"));
    pack(&first, &[]);
    bash("sha256sum --check --strict SHA256SUMS", &first);
    pack(&second, &[]);
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&first), sums(&second));

    let archive = only(&first, ".tar.gz");
    run(Command::new("tar").args(["--strip-components=1", "-xzf"]).arg(&archive).current_dir(place.path(".")));
    assert_runs(&place.path("ndcrawl"), &place.path("."));
    assert_manual(&place.path("man/ndcrawl-dedup.1"));
    assert_completes(&place.path("completions/ndcrawl.bash"), &place.path("completions/_ndcrawl"));
    for name in ["README.md", "CHANGELOG.md", "LICENSE"] {
        assert_eq!(fs::read(place.path(name)).unwrap(), fs::read(root().join(name)).unwrap(), "{name}");
    }
    let licenses = fs::read_to_string(place.path("THIRD-PARTY-LICENSES.txt")).unwrap();
    for said in ["\n  serde 1.", "\n  cssparser 0.", "Mozilla Public License", "Apache License", "Daniel Reiter Horn"] {
        assert!(licenses.contains(said), "{said}");
    }
    // What only tests need is in no program.
    assert!(!licenses.contains("\n  proptest "));
    assert!(!licenses.contains("GNU GENERAL PUBLIC LICENSE"));
}

#[test]
fn the_debian_package_is_sound_and_leaves_nothing_behind() {
    if !has_all(&TOOLS) || !has_all(&[Program("cargo-deb"), Program("dpkg-deb")]) {
        return;
    }
    let place = Place::new();
    pack(&place.path("out"), &["--deb"]);
    let package = only(&place.path("out"), ".deb");
    assert!(fs::read_to_string(place.path("out/SHA256SUMS")).unwrap().contains(".deb\n"));

    let system = place.path("system");
    let files = |system: &Path| bash("find . -type f -not -path './var/*' | sort", system);
    let dpkg = |arguments: &[&str]| {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", system.display())).arg("--log=/dev/null");
        dpkg.args(["--force-not-root", "--force-bad-path", "--force-depends"]).args(arguments);
        run(&mut dpkg)
    };
    fs::create_dir(&system).unwrap();
    bash("mkdir -p var/lib/dpkg/info var/lib/dpkg/updates; touch var/lib/dpkg/status", &system);
    dpkg(&["-i", package.to_str().unwrap()]);
    assert_runs(&system.join("usr/bin/ndcrawl"), &place.path("."));
    let share = system.join("usr/share");
    assert_completes(
        &share.join("bash-completion/completions/ndcrawl"),
        &share.join("zsh/vendor-completions/_ndcrawl"),
    );
    assert_manual(&share.join("man/man1/ndcrawl.1.gz"));
    for name in ["copyright", "changelog.Debian.gz", "README.md", "NEWS.md", "THIRD-PARTY-LICENSES.txt.gz"] {
        assert!(share.join("doc/ndcrawl").join(name).exists(), "{name}\n{}", files(&system));
    }
    dpkg(&["-r", "ndcrawl"]);
    dpkg(&["-P", "ndcrawl"]);
    assert_eq!(files(&system), "");

    if has_for_part(&[Program("lintian")]) {
        let output = output(Command::new("lintian").args(["--allow-root", "--fail-on=error"]).arg(&package));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_dockerfile_has_no_known_fault() {
    if has_all(&[Program("hadolint")]) {
        run(Command::new("hadolint").arg("--no-color").arg(root().join("config/packaging/Dockerfile")));
    }
}

#[test]
fn a_published_crate_holds_its_license_and_no_test_data() {
    let manifests = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml"));
    for manifest in manifests.chain([root().join("Cargo.toml")]) {
        let manifest: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
        if manifest["package"].get("publish").is_some() {
            continue;
        }
        let list = run(Command::new(env!("CARGO"))
            .args(["package", "--list", "--allow-dirty", "--offline", "-p", name])
            .current_dir(root()));
        let files: Vec<&str> = list.lines().collect();
        for needed in ["LICENSE", "README.md", "Cargo.lock", "src/lib.rs"] {
            assert!(files.contains(&needed), "{name}: {needed} is missing in\n{list}");
        }
        let foreign = files.iter().find(|file| file.starts_with("tests/") || file.starts_with("docs/"));
        assert_eq!(foreign, None, "{name}");
    }
}
