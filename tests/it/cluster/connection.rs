//! Sessions, TLS, passwords, and servers that a crawl is not trusted to.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ndcrawl::cluster::{ClusterError, Connector, Refusal, ServerAddress, Session, connect_checked};

use super::everything;
use super::servers::LocalServers;
use crate::needs::{Program, data, has_for_part};

async fn refusal(address: ServerAddress, one_copy: bool) -> Option<Refusal> {
    match connect_checked(&Connector::new(address), one_copy).await {
        Ok(_) => None,
        Err(ClusterError::Refused(refusal)) => Some(refusal),
        Err(error) => panic!("{}", everything(&error)),
    }
}

/// Sets a parameter of the primary, and waits until new sessions see it.
pub async fn set(administrator: &Session, name: &str, value: &str) {
    let client = administrator.client();
    client.batch_execute(&format!("ALTER SYSTEM SET {name} = '{value}'")).await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    for _ in 0..200 {
        let shown = client.query_one("SELECT current_setting($1)", &[&name]).await.unwrap();
        if shown.get::<_, &str>(0) == value {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{name} does not become {value}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn servers_that_could_lose_a_crawl_are_refused() {
    let servers = LocalServers::start();
    assert_eq!(refusal(servers.address(), false).await, None);
    let [primary, _] = servers.ports();
    let standby = servers.url().replace(&format!("127.0.0.1:{primary},"), "");
    let standby = ServerAddress::from_argument(&standby).unwrap();
    assert_eq!(refusal(standby, false).await, Some(Refusal::InRecovery));

    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    for name in ["fsync", "full_page_writes"] {
        set(&administrator, name, "off").await;
        assert_eq!(refusal(servers.address(), false).await, Some(Refusal::SettingOff(name)));
        set(&administrator, name, "on").await;
    }
    if has_for_part(&[Program("pgbouncer")]) {
        for (mode, expected) in [("transaction", Some(Refusal::Pooler)), ("session", None)] {
            let pooler = Pooler::start(&servers, mode);
            assert_eq!(refusal(pooler.address(), false).await, expected, "{mode}");
        }
    }
    servers.run("stop-standby");
    assert_eq!(refusal(servers.address(), false).await, Some(Refusal::StandbyAway));
    assert_eq!(refusal(servers.address(), true).await, Some(Refusal::StandbyAway));
    set(&administrator, "synchronous_standby_names", "").await;
    assert_eq!(refusal(servers.address(), false).await, Some(Refusal::NoStandby));
    assert_eq!(refusal(servers.address(), true).await, None);
}

/// A pooler before the primary.
pub struct Pooler {
    process: Child,
    pub port: u16,
}

impl Pooler {
    pub fn start(servers: &LocalServers, mode: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (primary, password) = (servers.ports()[0], servers.password());
        let settings = format!(
            "[databases]\nndcrawl = host=127.0.0.1 port={primary} user=ndcrawl password={password}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = {mode}\nunix_socket_dir =\n"
        );
        let file = servers.folder().join(format!("pooler-{mode}.ini"));
        fs::write(&file, settings).unwrap();
        // It refuses to run as root, as the servers do.
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
        let mut command = Command::new(if is_root { "runuser" } else { "pgbouncer" });
        if is_root {
            command.args(["-u", "postgres", "--", "pgbouncer"]);
        }
        let process = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { process, port }
    }

    pub fn address(&self) -> ServerAddress {
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(10), "the pooler does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        ServerAddress::parse(&format!("postgres://ndcrawl:any@127.0.0.1:{}/ndcrawl", self.port)).unwrap()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // runuser hands a TERM on to the pooler.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_wrong_password_is_said_at_once_and_shown_nowhere() {
    let servers = LocalServers::shared();
    let port = servers.ports()[0];
    let address = ServerAddress::parse(&format!("postgres://ndcrawl:geheim@127.0.0.1:{port}/ndcrawl")).unwrap();
    let began = Instant::now();
    let connector = Connector::new(address);
    let error = connector.connect_patiently(Duration::from_secs(60)).await.unwrap_err();
    let told = format!("{} {connector:?}", everything(&error));
    assert!(told.contains("password authentication failed") && !told.contains("geheim"), "{told}");
    assert!(told.contains(&format!("cannot connect to postgres://127.0.0.1:{port}/ndcrawl")), "{told}");
    assert!(began.elapsed() < Duration::from_secs(30), "a wrong password stays wrong");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn the_certificate_of_a_server_is_checked() {
    let servers = LocalServers::start();
    let certificate = servers.folder().join("primary/good.pem");
    let mut install = Command::new("install");
    if servers.folder().join("primary").metadata().is_ok_and(|folder| std::os::unix::fs::MetadataExt::uid(&folder) != 0)
        && fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
    {
        install.args(["-o", "postgres"]);
    }
    assert!(
        install.args(["-m", "600"]).arg(data("certificates/good.pem")).arg(&certificate).status().unwrap().success()
    );
    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    for name in ["ssl_cert_file", "ssl_key_file"] {
        set(&administrator, name, "good.pem").await;
    }
    set(&administrator, "ssl", "on").await;
    let (password, port) = (servers.password(), servers.ports()[0]);
    let connect = async |name: &str, more: &str| {
        let text = format!("postgres://ndcrawl:{password}@{name}:{port}/ndcrawl?hostaddr=127.0.0.1{more}");
        Connector::new(ServerAddress::parse(&text).unwrap()).connect().await
    };
    let issuers = format!("&sslrootcert={}", data("certificates/issuers.pem").display());
    let session = connect("good.test", &issuers).await.unwrap();
    let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert!(session.client().query_one(query, &[]).await.unwrap().get::<_, bool>(0));
    for (name, more, reason) in
        [("other.test", issuers.as_str(), "not valid for name"), ("good.test", "", "UnknownIssuer")]
    {
        let error = everything(&connect(name, more).await.unwrap_err());
        assert!(error.contains(reason) && !error.contains(&password), "{error}");
    }
}
