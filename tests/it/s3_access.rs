//! A store that checks signatures and policies: moto's server with its access control switched on.

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::foreign::Foreign;
use crate::needs::{Program, has_all};
use crate::program::{Place, Run};

/// Requests that are not checked: those that make the bucket and the user.
const UNCHECKED: &str = "4";

/// A running server, and a user who may write and read below `pages/open/` only.
struct GuardedStore {
    address: String,
    key: String,
    secret: String,
    _server: Foreign,
}

impl GuardedStore {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]).env("INITIAL_NO_AUTH_ACTION_COUNT", UNCHECKED);
        let server = Foreign::start(&mut command);
        let address = format!("127.0.0.1:{port}");
        while TcpStream::connect(&address).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        curl(&address, "s3", "pages", &["-X", "PUT"]);
        let ask = |action: &str, more: &[&str]| {
            let action = format!("Action={action}&UserName=keeper&Version=2010-05-08");
            curl(&address, "iam", "", &[&["-d", action.as_str()], more].concat())
        };
        ask("CreateUser", &[]);
        let created = ask("CreateAccessKey", &[]);
        let policy = r#"PolicyDocument={"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::pages/open/*"}]}"#;
        ask("PutUserPolicy", &["-d", "PolicyName=open", "--data-urlencode", policy]);
        let field = |name: &str| {
            let rest = created.split_once(&format!("<{name}>")).unwrap_or_else(|| panic!("{created}")).1;
            rest.split('<').next().unwrap().to_owned()
        };
        Self { key: field("AccessKeyId"), secret: field("SecretAccessKey"), address, _server: server }
    }

    fn run<'a>(&self, place: &Place, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        place
            .run(arguments)
            .env("AWS_ENDPOINT_URL", &format!("http://{}", self.address))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", &self.key)
            .env("AWS_SECRET_ACCESS_KEY", &self.secret)
            .env("AWS_REGION", "us-east-1")
    }
}

fn curl(address: &str, service: &str, path: &str, arguments: &[&str]) -> String {
    let mut curl = Command::new("curl");
    curl.args(["-s", "-f", "--aws-sigv4", &format!("aws:amz:us-east-1:{service}"), "--user", "AKIAFIRST:first"]);
    let output = curl.args(arguments).arg(format!("http://{address}/{path}")).output().unwrap();
    assert!(output.status.success(), "{service} {path}: {:?}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server")]
fn a_store_that_denies_access_is_told_from_one_that_cannot_be_reached() {
    if !has_all(&[Program("moto_server"), Program("curl")]) {
        return;
    }
    let (place, store) = (Place::new(), GuardedStore::start());
    place.run(["demo", "-q", "-o", "out"]).finish().expect_code(0);
    // The user is known, and may.
    store.run(&place, ["export", "out", "-o", "s3://pages/open/a.jsonl"]).finish().expect_code(0);
    store.run(&place, ["dedup", "s3://pages/open/a.jsonl", "-q", "-o", "again"]).finish().expect_code(0);

    let closed = ["export", "out", "-o", "s3://pages/closed/a.jsonl"];
    let open = ["export", "out", "-v", "-o", "s3://pages/open/b.jsonl"];
    for (run, named) in [
        (store.run(&place, closed), "can't write s3://pages/closed/a.jsonl: "),
        (store.run(&place, open).env("AWS_SECRET_ACCESS_KEY", "wrong-secret"), "can't write s3://pages/open/b.jsonl: "),
        (store.run(&place, open).env("AWS_ACCESS_KEY_ID", "AKIANOBODY"), "can't write s3://pages/open/b.jsonl: "),
        (store.run(&place, ["dedup", "s3://pages/closed/a.jsonl", "-o", "x"]), "s3://pages/closed/a.jsonl: "),
    ] {
        let run = run.finish().expect_code(2);
        let told =
            format!("{named}the store denies access: look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION");
        assert!(run.stderr.contains(&told), "{told}: {}", run.stderr);
        for secret in [store.key.as_str(), &store.secret, "wrong-secret", "AKIANOBODY"] {
            assert!(!run.stderr.contains(secret), "{}", run.stderr);
        }
    }
}
