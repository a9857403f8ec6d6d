//! A crawl over TLS, by a user who has the rights of the guide and no more, with a password that nobody sees.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use ndcrawl::cluster::{Connector, ServerAddress};

use super::connection::set;
use super::servers::LocalServers;
use crate::graph::planned_web;
use crate::needs::{Program, has_all};
use crate::program::{Place, UNSPARING};

const PASSWORD: &str = "a-password-of-the-test-4711";

/// Makes an issuer and a certificate of `db.test` that it has signed. Returns the files of the issuer, the certificate
/// and its key.
fn certificates(folder: &Path, name: &str) -> [PathBuf; 3] {
    let file = |end: &str| folder.join(format!("{name}-{end}"));
    let [issuer, issuer_key, request, certificate, key] =
        ["issuer.pem", "issuer.key", "request.pem", "certificate.pem", "certificate.key"].map(file);
    let extensions = file("extensions");
    fs::write(&extensions, "subjectAltName=DNS:db.test\n").unwrap();
    let openssl = |arguments: &[&str], files: &[(&str, &Path)]| {
        let mut command = Command::new("openssl");
        command.args(arguments);
        for (flag, path) in files {
            command.arg(flag).arg(path);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj"];
    let ca = ["-x509", "-days", "30", "-addext", "basicConstraints=critical,CA:TRUE"];
    let subject = format!("/CN=issuer {name}");
    openssl(&[&new[..], &[&subject], &ca].concat(), &[("-keyout", &issuer_key), ("-out", &issuer)]);
    openssl(&[&new[..], &["/CN=db.test"]].concat(), &[("-keyout", &key), ("-out", &request)]);
    openssl(
        &["x509", "-req", "-days", "30", "-CAcreateserial"],
        &[
            ("-in", &request),
            ("-CA", &issuer),
            ("-CAkey", &issuer_key),
            ("-extfile", &extensions),
            ("-out", &certificate),
        ],
    );
    [issuer, certificate, key]
}

/// Puts a file into the folder of the primary, for the user of the servers alone.
fn give_to_server(servers: &LocalServers, from: &Path, name: &str) {
    let folder = servers.folder().join("primary");
    let owner = folder.metadata().unwrap().uid().to_string();
    let own = fs::metadata("/proc/self").unwrap().uid().to_string();
    let mut install = Command::new("install");
    if owner != own {
        install.args(["-o", &owner]);
    }
    assert!(install.args(["-m", "600"]).arg(from).arg(folder.join(name)).status().unwrap().success());
}

/// Has the server speak TLS only, by this certificate.
async fn speak_tls(servers: &LocalServers, certificate: &Path, key: &Path) {
    give_to_server(servers, certificate, "server.crt");
    give_to_server(servers, key, "server.key");
    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    set(&administrator, "ssl", "on").await;
    let rules = servers.folder().join("primary/pg_hba.conf");
    let text = fs::read_to_string(&rules).unwrap();
    fs::write(
        &rules,
        format!("hostssl crawls crawler 127.0.0.1/32 scram-sha-256\nhost crawls crawler all reject\n{text}"),
    )
    .unwrap();
    administrator.client().batch_execute("SELECT pg_reload_conf()").await.unwrap();
}

/// The statements of the guide that make the user of a crawl.
fn statements_of_the_guide() -> Vec<String> {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/cluster.md")).unwrap();
    let blocks = guide.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let block = blocks.into_iter().find(|block| block.contains("CREATE ROLE crawler LOGIN PASSWORD '…'")).unwrap();
    block.replace('…', PASSWORD).split_terminator(";\n").map(str::to_owned).collect()
}

/// The text of all files below a folder that may be read as text.
fn texts_below(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_below(&path, texts);
        } else {
            texts.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}

/// The arguments of all processes of the machine.
fn arguments_of_all() -> String {
    String::from_utf8_lossy(&Command::new("ps").args(["axww", "-o", "args"]).output().unwrap().stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_user_with_the_rights_of_the_guide_crawls_over_tls() {
    if !has_all(&[Program("openssl"), Program("ps")]) {
        return;
    }
    let (servers, place) = (LocalServers::start(), Place::new());
    let administrator = Connector::new(servers.administrator()).connect().await.unwrap();
    for statement in statements_of_the_guide() {
        administrator.client().batch_execute(&statement).await.unwrap();
    }
    let keys = place.path("keys");
    fs::create_dir(&keys).unwrap();
    let [issuer, certificate, key] = certificates(&keys, "own");
    let [other_issuer, ..] = certificates(&keys, "other");
    speak_tls(&servers, &certificate, &key).await;
    let passwords = keys.join("passwords");
    fs::write(&passwords, format!("db.test:*:*:*:{PASSWORD}\n")).unwrap();
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o600)).unwrap();
    let address = |more: &str| {
        let port = servers.ports()[0];
        format!("postgres://crawler@db.test:{port}/crawls?hostaddr=127.0.0.1&passfile={}{more}", passwords.display())
    };
    let url = address(&format!("&sslrootcert={}", issuer.display()));

    // Another issuer, no issuer, and no TLS are refused.
    for (more, reason) in [
        (format!("&sslrootcert={}", other_issuer.display()), "invalid peer certificate"),
        (String::new(), "invalid peer certificate"),
        ("&sslmode=disable".to_owned(), "pg_hba.conf rejects connection"),
        (format!("&sslrootcert={}", keys.join("none").display()), "sslrootcert"),
    ] {
        let refused = place.run(["status", &address(&more)]).finish().expect_code(2);
        assert!(refused.stderr.contains(reason) && !refused.stderr.contains(PASSWORD), "{more}: {}", refused.stderr);
    }

    let (web, graph) = planned_web(3, super::crawl::slow(44, 40));
    let run = place.run(["--cluster", &url, "--workers", "2", "-vv", "--no-config", "-o", "out"]).args(UNSPARING);
    let mut running = run.args(graph.seeds()).start();
    assert!(running.wait_until(|| web.pages_asked() > 10), "{}", running.stderr());
    let seen = arguments_of_all();
    assert!(seen.contains("db.test") && !seen.contains(PASSWORD), "the password is in the list of processes");
    let session = Connector::new(ServerAddress::from_argument(&url).unwrap()).connect().await.unwrap();
    let sessions = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                    WHERE usename = 'crawler'";
    let row = session.client().query_one(sessions, &[]).await.unwrap();
    assert!(row.get::<_, i64>(0) > 4 && row.get::<_, i64>(0) == row.get::<_, i64>(1));
    let finished = running.finish().expect_code(0);
    assert!(!format!("{}{}", finished.stdout, finished.stderr).contains(PASSWORD));
    for command in [&["status", &url][..], &["gather", &url, "-o", "gathered"], &["verify", "gathered"]] {
        let finished = place.run(command).finish().expect_code(0);
        assert!(!format!("{}{}", finished.stdout, finished.stderr).contains(PASSWORD));
    }
    let mut written = String::new();
    texts_below(&place.path("out"), &mut written);
    texts_below(&place.path("gathered"), &mut written);
    assert!(!written.is_empty() && !written.contains(PASSWORD));
    let dropped = place.run(["cluster", "drop", &url, "--cluster-name", "crawl"]).finish().expect_code(0);
    assert!(dropped.stderr.contains("is deleted"), "{}", dropped.stderr);

    // The rights are the least: nothing of other users can be read, and no other one made.
    let mut forbidden = Vec::new();
    for statement in ["CREATE ROLE another", "SELECT rolpassword FROM pg_authid", "COPY (SELECT 1) TO PROGRAM 'true'"] {
        forbidden.push(session.client().batch_execute(statement).await.unwrap_err());
    }
    let codes: Vec<_> = forbidden.iter().map(|error| error.code().unwrap().code().to_owned()).collect();
    assert_eq!(codes, ["42501"; 3]);
    // Without the right to make schemas there is no crawl, and the error says what is missing.
    administrator.client().batch_execute("REVOKE CREATE ON DATABASE crawls FROM crawler").await.unwrap();
    let refused = place.run(["cluster", "init", &url, "--cluster-name", "more"]).finish();
    assert!(refused.code != Some(0) && refused.stderr.contains("permission denied for database crawls"), "{refused:?}");
    assert!(!refused.stderr.contains(PASSWORD));
}
