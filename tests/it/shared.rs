//! Material that lies beside a checkout: a folder `shared` next to it or next to a folder that
//! holds it. Tests that need what is not there say so and pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of something in `shared`, if it is there.
pub fn shared(name: &str) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    checkout.ancestors().skip(1).map(|folder| folder.join("shared").join(name)).find(|path| path.exists())
}

/// Whether a program can be run.
pub fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// Tells why a test or a part of one does not take place.
pub fn skipped(reason: &str) {
    println!("skipped: {reason}");
}

/// The first of these programs that cannot be run.
pub fn missing<'a>(programs: &[&'a str]) -> Option<&'a str> {
    programs.iter().copied().find(|program| !has(program))
}

/// Runs a helper and gives its stdout; its stderr is shown if it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}
