//! Tells the tests what this machine has, so that tests that need more are shown as ignored.
//!
//! The program itself does not depend on it. `NDCRAWL_REQUIRE_ALL=1` has every test run.

use std::env;
use std::path::Path;

fn main() {
    for name in ["PATH", "AXE_FOLDER", "NDCRAWL_REQUIRE_ALL"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let requires_all = env::var_os("NDCRAWL_REQUIRE_ALL").is_some_and(|value| value == "1");
    let checkout = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let has_corpora = Path::new(&checkout).ancestors().skip(1).any(|folder| folder.join("shared/corpora").exists());
    let can_fetch_sites = has_corpora && has("apt-get") && has("dpkg-deb");
    for (name, is_met) in [
        ("can_fetch_sites", can_fetch_sites),
        ("can_serve_sites", can_fetch_sites && has("nginx") && has("python3")),
        ("can_use_axe", env::var_os("AXE_FOLDER").is_some() && has("node") && has("chromium")),
        ("has_chromium", has("chromium")),
        ("has_moto", has("moto_server")),
        ("has_nginx", has("nginx")),
        ("has_postgres", has("initdb") || has_debian_postgres()),
        ("has_python3", has("python3")),
        ("has_pywb", has("pywb")),
        ("has_wget", has("wget")),
    ] {
        println!("cargo:rustc-check-cfg=cfg({name})");
        if is_met || requires_all {
            println!("cargo:rustc-cfg={name}");
        }
    }
}

/// Whether the server of Debian's package is there, which is not on the path.
fn has_debian_postgres() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin/initdb").exists())
}

/// Whether a program is on the path.
fn has(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
