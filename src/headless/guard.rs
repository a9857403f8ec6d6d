//! Ends Chromium when this program has been killed, and can't do it any more.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What a shell does whose input nobody writes to: it waits for its end, which comes with the end of this program,
/// however that came about. Chromium's other processes end with the first, a little later, and write until then.
const SCRIPT: &str = r#"while read -r _; do :; done
kill -9 "$1"
for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; rm -rf "$2"; [ -e "$2" ] || exit 0; done"#;

/// A shell that stands by. When it is dropped it goes, and does nothing.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Stands by to end this process and to remove its profile.
    pub fn new(process: u32, profile: &Path) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "ndcrawl-browser-guard", &process.to_string()]).arg(profile);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C is not for it.
        shell.process_group(0);
        Ok(Self { shell: shell.spawn()? })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // If it is gone already there is nothing to end.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
