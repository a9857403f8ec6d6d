//! Ends Chromium after this program was killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Shell script that waits for the end of its input, which comes with the end of this program. Chromium's child
/// processes end a little after the first and write until then, so the script retries the removal.
const SCRIPT: &str = r#"while read -r _; do :; done
kill -9 "$1"
for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; rm -rf "$2"; [ -e "$2" ] || exit 0; done"#;

/// A waiting shell. Dropping it ends the shell, which then does nothing.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Starts a shell that will kill this process and remove its profile.
    pub fn new(process: u32, profile: &Path) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "ndcrawl-browser-guard", &process.to_string()]).arg(profile);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A process group of its own, so that Ctrl-C does not reach it.
        shell.process_group(0);
        Ok(Self { shell: shell.spawn()? })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The shell may have ended already.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
