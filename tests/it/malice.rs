//! Malicious responses, byte by byte: a page costs at most its limits, and other hosts are not affected.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::program::{Place, UNSPARING};
use crate::words::{sentences, words_of};

/// The duration of an endless response if nobody closes the connection.
const ENOUGH: Duration = Duration::from_secs(30);

/// Writes a server's response to a path.
type Say = dyn Fn(&str, &mut TcpStream) -> io::Result<()> + Send + Sync;

/// Answers one request a connection, each on its own thread, while the tests run.
fn serve(listener: TcpListener, say: Arc<Say>) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let say = Arc::clone(&say);
            std::thread::spawn(move || answer(stream, &*say));
        }
    });
}

fn answer(mut stream: TcpStream, say: &Say) -> io::Result<()> {
    stream.set_write_timeout(Some(ENOUGH))?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    say(request.split(' ').nth(1).unwrap_or_default(), &mut stream)
}

/// Listens on these addresses with one port; tries ports until one is free.
fn listeners(addresses: &[&str]) -> Vec<TcpListener> {
    for _ in 0..50 {
        let first = TcpListener::bind((addresses[0], 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let others = addresses[1..].iter().map(|address| TcpListener::bind((*address, port)));
        if let Ok(others) = others.collect::<Result<Vec<_>, _>>() {
            return std::iter::once(first).chain(others).collect();
        }
    }
    panic!("no port is free on {addresses:?}");
}

/// Counts connections to a listener that must not be reached.
fn forbid(listener: TcpListener, reached: Arc<AtomicUsize>) {
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            reached.fetch_add(1, Ordering::SeqCst);
        }
    });
}

/// A complete response with additional header lines.
fn send(stream: &mut TcpStream, status: &str, header: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)
}

fn page(stream: &mut TcpStream, body: impl AsRef<[u8]>) -> io::Result<()> {
    send(stream, "200 OK", HTML, body.as_ref())
}

/// Repeats the same bytes until the connection closes.
fn forever(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> io::Result<()> {
    let started = Instant::now();
    while started.elapsed() < ENOUGH {
        stream.write_all(bytes)?;
        std::thread::sleep(pause);
    }
    Ok(())
}

/// Begins an endless response.
fn endless(stream: &mut TcpStream, beginning: &str, bytes: &str) -> io::Result<()> {
    stream.write_all(beginning.as_bytes())?;
    forever(stream, bytes.as_bytes(), Duration::from_millis(1))
}

fn packed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// A unique text, so that no page is a duplicate.
fn text(purpose: &str) -> String {
    format!("<p>{}</p>", sentences(&words_of(1, purpose, 60)))
}

const HTML: &str = "Content-Type: text/html\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
/// A title that clears the screen, renames the window and is a formula.
const TITLE: &str = "=cmd|' /C calc'!A0 \u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m";

type Malice = (&'static str, &'static str, &'static str, fn(&mut TcpStream) -> io::Result<()>);

/// Path, sentence, outcome with reason, and response.
const MALICE: &[Malice] = &[
    ("/slow-header", "a header that trickles is given up", "failed timeout", |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        forever(stream, b"x", Duration::from_millis(20))
    }),
    ("/interim", "interim answers do not go on for ever", "failed timeout", |stream| {
        endless(stream, "", "HTTP/1.1 103 Early Hints\r\n\r\n")
    }),
    ("/chunks", "chunks without end are cut at the limit", "stored", |stream| {
        let chunk = format!("10000\r\n{}\r\n", " the words of a page".repeat(3277).split_at(0x10000).0);
        endless(stream, CHUNKED, &chunk)
    }),
    ("/chunk-extension", "a chunk whose extension does not end is no HTTP", "failed protocol", |stream| {
        endless(stream, &format!("{CHUNKED}5;"), &"x".repeat(1000))
    }),
    ("/chunk-size", "a chunk whose size has digits without end is no HTTP", "failed protocol", |stream| {
        endless(stream, CHUNKED, &"1".repeat(1000))
    }),
    ("/trailers", "trailers without end are no HTTP", "failed protocol", |stream| {
        endless(stream, &format!("{CHUNKED}5\r\nhello\r\n0\r\n"), &"X: y\r\n".repeat(100))
    }),
    ("/headers", "a flood of header lines is refused", "failed too-large", |stream| {
        send(stream, "200 OK", &"X: y\r\n".repeat(5000), b"")
    }),
    ("/two-lengths", "two lengths are no HTTP", "failed protocol", |stream| {
        send(stream, "200 OK", "Content-Length: 50\r\n", b"hello")
    }),
    ("/packed-twice", "what was packed twice is unpacked twice", "stored", |stream| {
        let body = packed(&packed(text("twice").as_bytes()));
        send(stream, "200 OK", &format!("{HTML}Content-Encoding: gzip, gzip\r\n"), &body)
    }),
    ("/packed-often", "codings without end are not undone", "failed decode", |stream| {
        let body = (0..20).fold(text("often").into_bytes(), |body, _| packed(&body));
        send(stream, "200 OK", &format!("{HTML}{}", "Content-Encoding: gzip\r\n".repeat(20)), &body)
    }),
    ("/split", "a redirect that would split an answer stays one URL", "redirected", |stream| {
        send(stream, "302 Found", "Location: /next%0d%0aSet-Cookie:%20owned=1\r\n", b"")
    }),
    ("/nowhere", "a redirect without a host leads nowhere", "failed redirect", |stream| {
        send(stream, "302 Found", "Location: http://\r\n", b"")
    }),
    ("/deep", "a hundred thousand nested elements are read", "stored", |stream| {
        page(stream, format!("{}{}<a href=/found-deep>x</a>", text("deep"), "<div>".repeat(100_000)))
    }),
    ("/misnested", "formatting that is closed in the wrong place is read", "stored", |stream| {
        page(stream, format!("{}{}{}", text("misnested"), "<b><p><i>".repeat(20_000), "</b></p>".repeat(20_000)))
    }),
    ("/tables", "twenty thousand nested tables are read", "stored", |stream| {
        page(stream, format!("{}{}", text("tables"), "<table><tr><td>".repeat(20_000)))
    }),
    ("/wide", "an element with fifty thousand attributes is read", "stored", |stream| {
        let attributes: String = (0..50_000).map(|n| format!(" a{n}=1")).collect();
        page(stream, format!("{}<p{attributes}>x</p><a href=/found-wide>x</a>", text("wide")))
    }),
    ("/long", "an attribute of nine hundred kilobytes is read", "stored", |stream| {
        page(stream, format!("{}<p title='{}'>x</p>", text("long"), "x".repeat(900_000)))
    }),
    ("/unclosed", "tags that are not closed are read", "stored", |stream| {
        page(stream, format!("{}{}", text("unclosed"), "<a href=".repeat(100_000)))
    }),
    ("/title", "a title with escape sequences is kept", "stored", |stream| page(stream, titled())),
    ("/title-copy", "so is that of its copy", "exact-duplicate", |stream| page(stream, titled())),
    ("/type", "a media type that is a formula is not asked for", "excluded type", |stream| {
        send(stream, "200 OK", "Content-Type: =HYPERLINK(1)/x\r\n", b"x")
    }),
    (
        "/bomb.xml.gz",
        "a sitemap that unpacks to a hundred megabytes is read to its limit",
        "excluded sitemap",
        |stream| send(stream, "200 OK", "Content-Type: application/gzip\r\n", &packed(&vec![b' '; 100 << 20])),
    ),
    ("/laughs.xml", "entities of a sitemap are not expanded", "excluded sitemap", |stream| {
        let entities: String = (1..30)
            .map(|n| format!("<!ENTITY l{n} '&l{0};&l{0};&l{0};&l{0};&l{0};&l{0};&l{0};&l{0};'>", n - 1))
            .collect();
        let sitemap = format!(
            "<!DOCTYPE urlset [<!ENTITY l0 'owned'>{entities}]><urlset><url><loc>http://h.test/&l29;</loc></url></urlset>"
        );
        send(stream, "200 OK", "Content-Type: text/xml\r\n", sitemap.as_bytes())
    }),
];

/// A page with a hostile title, and a link to its copy.
fn titled() -> String {
    format!("<title>{TITLE}</title>{}<a href=/title-copy>copy</a>", text("title"))
}

/// Spellings of hosts with private addresses only.
const PRIVATE: [&str; 21] = [
    "127.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "127.1",
    "127.0.0.1.",
    "127%2e0%2e0%2e1",
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "127\u{3002}0\u{3002}0\u{3002}1",
    "127.0.0.3@127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "0.0.0.0",
    "0",
    "localhost",
    "localhost.",
    "LOCALHOST",
];

/// The responses of the malicious server.
fn malice(origin: &str, port: u16) -> Arc<Say> {
    let origin = origin.to_owned();
    Arc::new(move |path, stream| {
        if let Some((.., say)) = MALICE.iter().find(|(known, ..)| *known == path) {
            return say(stream);
        }
        if let Some(number) = path.strip_prefix("/private/").and_then(|number| number.parse::<usize>().ok()) {
            return send(stream, "302 Found", &format!("Location: http://{}:{port}/\r\n", PRIVATE[number]), b"");
        }
        if let Some(number) = path.strip_prefix("/index/").and_then(|number| number.parse::<u32>().ok()) {
            let next = number + 1;
            let index = format!("<sitemapindex><sitemap><loc>{origin}/index/{next}</loc></sitemap></sitemapindex>");
            return send(stream, "200 OK", "Content-Type: text/xml\r\n", index.as_bytes());
        }
        match path {
            "/robots.txt" => {
                let sitemaps =
                    ["/bomb.xml.gz", "/laughs.xml", "/index/0"].map(|path| format!("Sitemap: {origin}{path}\n"));
                send(stream, "200 OK", "Content-Type: text/plain\r\n", sitemaps.concat().as_bytes())
            }
            "/" => {
                // The copy is linked from the page that it repeats, so that it comes second.
                let malice = MALICE.iter().filter(|(path, ..)| *path != "/title-copy");
                let malice = malice.map(|(path, ..)| format!("<a href='{path}'>to</a>"));
                let private = (0..PRIVATE.len()).map(|number| format!("<a href='/private/{number}'>to</a>"));
                page(stream, text("index") + &malice.chain(private).collect::<String>())
            }
            _ => send(stream, "404 Not Found", HTML, b"no such page"),
        }
    })
}

/// Control characters other than line ends and tabs.
fn controls(text: &str) -> Vec<char> {
    text.replace("\r\n", "\n")
        .chars()
        .filter(|character| character.is_control() && !matches!(character, '\n' | '\t'))
        .collect()
}

fn outcome(line: &Value) -> String {
    let words = ["outcome", "reason"].iter().filter_map(|field| line[*field].as_str());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn malicious_responses_stay_within_the_limits_and_reach_no_private_host() {
    let mut listening = listeners(&["127.0.0.3", "127.0.0.1", "::1"]).into_iter();
    let server = listening.next().unwrap();
    let address = server.local_addr().unwrap();
    let reached = Arc::new(AtomicUsize::new(0));
    listening.for_each(|listener| forbid(listener, Arc::clone(&reached)));
    let origin = format!("http://{address}");
    serve(server, malice(&origin, address.port()));

    let place = Place::new();
    let crawled = place
        .run([format!("{origin}/")])
        .args(["-o", "out", "--allow-net", "127.0.0.3/32", "--scope", "any", "--max-pages", "500", "-v"])
        .args(["--delay", "0", "--ip-delay", "0", "--host-concurrency", "8"])
        .args(["--soft-404", "off", "--timeout", "3s", "--retries", "0", "--max-body", "1M"])
        .finish()
        .expect_code(0);
    assert_eq!(reached.load(Ordering::SeqCst), 0, "connections to private addresses");
    let lines: BTreeMap<String, Value> =
        place.pages().into_iter().map(|line| (line["url"].as_str().unwrap().to_owned(), line)).collect();
    let line = |path: &str| lines.get(&format!("{origin}{path}")).unwrap_or(&Value::Null);

    let wrong = MALICE.iter().filter(|(path, _, expected, _)| outcome(line(path)) != *expected);
    let wrong = wrong.map(|(path, sentence, ..)| format!("{path}: not so: {sentence}: {}", line(path)));
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    for (number, spelling) in PRIVATE.iter().enumerate() {
        let target = line(&format!("/private/{number}"))["final_url"].as_str().unwrap_or_default().to_owned();
        assert_eq!(lines.get(&target).map(outcome).as_deref(), Some("failed private-address"), "{spelling} {target}");
    }
    assert!(line("/chunks")["truncated"] == true && line("/chunks")["bytes"] == 1 << 20, "{}", line("/chunks"));
    assert_eq!(outcome(line("/next%0D%0ASet-Cookie:%20owned=1")), "failed http", "{lines:?}");
    assert!(["/found-deep", "/found-wide"].iter().all(|path| outcome(line(path)) == "failed http"));
    assert!(lines.keys().all(|url| !url.contains("ownedowned")), "expanded entities");
    assert!(lines.keys().filter(|url| url.contains("/index/")).count() <= 8, "sitemaps that name sitemaps without end");
    assert_harmless(&place, &origin, &[crawled.stdout, crawled.stderr]);
}

/// Checks that output for people has no escape sequence and no formula.
fn assert_harmless(place: &Place, origin: &str, of_crawl: &[String]) {
    let titled = format!("{origin}/title");
    let copy = format!("{origin}/title-copy");
    let ask = |arguments: &[&str]| place.run(arguments).finish().expect_code(0).stdout;
    let tables = [["--by", "host"], ["--by", "type"], ["--by", "lang"]]
        .map(|by| ask(&[&["export", "out", "--format", "csv", "-o", "-"], &by[..]].concat()));
    for cell in tables.iter().flat_map(|table| table.split([',', '\n'])) {
        assert!(!cell.trim_start_matches('"').starts_with(['=', '+', '-', '@', '\t', '\r']) || cell == "-", "{cell}");
    }
    let told = [
        ask(&["explain", "out", &titled]),
        ask(&["explain", "out", &copy]),
        ask(&["clusters", "out"]),
        ask(&["status", "out"]),
        std::fs::read_to_string(place.path("out/report.html")).unwrap(),
    ];
    for text in told.iter().chain(&tables).chain(of_crawl) {
        assert!(controls(text).is_empty(), "{text:?}");
    }
    assert!(told[0].contains("calc"), "the title is told: {}", told[0]);
}

/// Pages of the host that must not be affected.
const PAGES: usize = 20;

#[test]
fn an_unresponsive_host_does_not_delay_another() {
    let mut listening = listeners(&["127.0.0.5", "127.0.0.6"]).into_iter();
    let [silent, busy] = [listening.next().unwrap(), listening.next().unwrap()];
    let origins = [&silent, &busy].map(|listener| listener.local_addr().unwrap());
    let begun = Arc::new(Mutex::new(false));
    let asked = Arc::new(AtomicUsize::new(0));
    let wait_until = |holds: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !holds() && started.elapsed() < ENOUGH {
            std::thread::sleep(Duration::from_millis(1));
        }
        holds()
    };
    // One host answers after the other got all requests; the other answers while the first is silent.
    serve(silent, {
        let (begun, asked) = (Arc::clone(&begun), Arc::clone(&asked));
        Arc::new(move |path, stream| {
            if path == "/robots.txt" {
                return send(stream, "404 Not Found", HTML, b"");
            }
            *begun.lock().unwrap() = true;
            match wait_until(&|| asked.load(Ordering::SeqCst) >= PAGES) {
                true => page(stream, text("patience")),
                false => send(stream, "500 Held Up", HTML, b""),
            }
        })
    });
    serve(busy, {
        let (begun, asked) = (Arc::clone(&begun), Arc::clone(&asked));
        Arc::new(move |path, stream| {
            if path == "/robots.txt" {
                return send(stream, "404 Not Found", HTML, b"");
            }
            asked.fetch_add(1, Ordering::SeqCst);
            let links: String = (1..PAGES).map(|number| format!("<a href='/{number}'>to</a>")).collect();
            match wait_until(&|| *begun.lock().unwrap()) {
                true => page(stream, text(path) + &links),
                false => send(stream, "500 Held Up", HTML, b""),
            }
        })
    });

    let place = Place::new();
    let seeds = origins.map(|origin: SocketAddr| format!("http://{origin}/"));
    place
        .run(&seeds)
        .args(["-o", "out"])
        .args(UNSPARING)
        .args(["--retries", "0", "-c", "2", "--soft-404", "off"])
        .finish()
        .expect_code(0);
    let outcomes: Vec<String> = place.pages().iter().map(outcome).collect();
    assert_eq!(outcomes, vec!["stored"; PAGES + 1]);
}
