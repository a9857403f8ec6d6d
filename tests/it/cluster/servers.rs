//! A primary and its synchronous standby, by the command that users start them with.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::{env, fs};

use ndcrawl::cluster::ServerAddress;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ndcrawl");

/// Ends when its standard input does, also if the test is killed: then it stops the servers.
const KEEPER: &str = r#"cat >/dev/null; "$0" cluster local stop "$1" >/dev/null 2>&1; rm -rf "$1""#;

/// Two servers in a folder of their own. Dropping them stops them.
pub struct LocalServers {
    folder: PathBuf,
    keeper: Child,
}

impl LocalServers {
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("ndcrawl-cluster").tempdir().unwrap().keep();
        // Where the test is root, the servers run as another user.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, PROGRAM])
            .arg(&folder)
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let servers = Self { folder, keeper };
        servers.run("start");
        servers
    }

    /// Servers for tests that leave them as they are. They stop when the tests end.
    pub fn shared() -> &'static Self {
        static SERVERS: LazyLock<LocalServers> = LazyLock::new(LocalServers::start);
        &SERVERS
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs an action of the command.
    pub fn run(&self, command: &str) -> String {
        let output = Command::new(PROGRAM).args(["cluster", "local", command]).arg(&self.folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {text}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn url(&self) -> String {
        self.run("url")
    }

    pub fn address(&self) -> ServerAddress {
        ServerAddress::from_argument(&self.url()).unwrap()
    }

    /// The address for the user who may do all.
    pub fn administrator(&self) -> ServerAddress {
        ServerAddress::from_argument(&self.url().replace("ndcrawl@", "postgres@")).unwrap()
    }

    /// The ports of the primary and the standby.
    pub fn ports(&self) -> [u16; 2] {
        ["primary", "standby"].map(|server| {
            let port = fs::read_to_string(self.folder.join(format!("{server}.port"))).unwrap();
            port.trim().parse().unwrap()
        })
    }

    pub fn password(&self) -> String {
        let line = fs::read_to_string(self.folder.join("pgpass")).unwrap();
        line.trim().rsplit(':').next().unwrap().to_owned()
    }
}

impl Drop for LocalServers {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
