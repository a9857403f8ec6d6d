//! WARC and WET files (ISO 28500), compressed by record, as a whole, or not at all.

use ndcrawl_model::{CanonicalUrl, Fetched};

use super::digest::BlockDigest;
use super::records::{Layout, PageResult, RecordHead};
use super::{Options, date, http};

/// How records look.
pub(super) const LAYOUT: Layout = Layout {
    begins,
    look: 32,
    magic: Some(b"WARC/"),
    header: header_length,
    parse,
    page,
    separators: &[b"\r\n\r\n", b"\n\n", b"\r\n\n"],
    is_warc: true,
};

/// Returns whether bytes begin with a version line and, if there are more of them, a field.
fn begins(bytes: &[u8]) -> bool {
    let Some(version) = bytes.strip_prefix(b"WARC/") else { return false };
    let Some(end) = memchr::memchr(b'\n', &version[..version.len().min(12)]) else { return false };
    let number = version[..end].trim_ascii_end();
    let is_number = number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    is_number && number.contains(&b'.') && version.get(end + 1).is_none_or(u8::is_ascii_alphabetic)
}

fn header_length(bytes: &[u8]) -> Option<usize> {
    let is_empty = |line_end: &usize| matches!(bytes[line_end + 1..], [b'\n', ..] | [b'\r', b'\n', ..]);
    let line_end = memchr::memchr_iter(b'\n', bytes).find(is_empty)?;
    Some(line_end + if bytes[line_end + 1] == b'\n' { 2 } else { 3 })
}

fn parse(header: &[u8]) -> RecordHead {
    let mut head = RecordHead::default();
    // The first line is the version.
    for line in header.split(|byte| *byte == b'\n').skip(1) {
        let text = String::from_utf8_lossy(line);
        let Some((name, value)) = text.split_once(':') else { continue };
        let value = value.trim();
        match name.trim_end().to_ascii_lowercase().as_str() {
            "warc-type" => head.kind = value.to_ascii_lowercase(),
            // Version 1.0 of the standard has the URL in angle brackets.
            "warc-target-uri" => value.trim_matches(['<', '>']).clone_into(&mut head.url),
            "warc-record-id" => head.id = Some(value.to_owned()),
            "warc-date" => value.clone_into(&mut head.date),
            "warc-block-digest" => head.digest = BlockDigest::parse(value),
            // A segment is one of several records that hold the parts of a block (section 8).
            "warc-truncated" | "warc-segment-number" => head.is_truncated = true,
            "site-file" => head.is_site_file = true,
            "content-type" => value.clone_into(&mut head.content_type),
            "content-length" => head.length = value.parse().ok(),
            _ => {}
        }
    }
    head
}

fn page(head: &RecordHead, block: Vec<u8>, options: &Options) -> PageResult {
    let is_http = head.content_type.to_ascii_lowercase().starts_with("application/http");
    let is_other = ["dns:", "metadata:", "urn:", "about:"].iter().any(|other| head.url.starts_with(other));
    let answer = match head.kind.as_str() {
        _ if is_other || head.is_site_file => return Ok(None),
        "response" if is_http => http::answer(&block, options.max_body)?,
        "resource" | "response" => plain(block, &head.content_type, options),
        // WET: the text of a page, always in UTF-8.
        "conversion" => plain(block, "text/plain; charset=utf-8", options),
        _ => return Ok(None),
    };
    fetched(head, answer, options).map(Some)
}

/// Makes an answer of a body that has no header.
pub(super) fn plain(mut body: Vec<u8>, content_type: &str, options: &Options) -> http::Answer {
    let truncated = body.len() > options.max_body;
    body.truncate(options.max_body);
    http::Answer {
        status: 200,
        version: "HTTP/1.1",
        reason: "OK".to_owned(),
        headers: vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())],
        truncated,
        body,
    }
}

pub(super) fn fetched(head: &RecordHead, answer: http::Answer, options: &Options) -> Result<Fetched, String> {
    let url: CanonicalUrl =
        options.normalizer.absolute(&head.url).map_err(|error| format!("'{}': {error}", head.url))?;
    let http::Answer { status, version, reason, headers, body, truncated } = answer;
    Ok(Fetched {
        status,
        version,
        reason,
        headers,
        truncated: truncated || head.is_truncated,
        started_at: date::millis(&head.date),
        ..Fetched::of_file(url, "", body)
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::super::items_of;
    use super::super::stream::tests::{gzip, skippable, zstd};
    use super::super::{InputItem, Options};

    const HTTP: &str = "application/http; msgtype=response";

    fn fields(kind: &str, url: &str, content_type: &str, block: &[u8], more: &str) -> Vec<u8> {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             Content-Type: {content_type}\r\n{more}\r\n"
        );
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    fn record(kind: &str, url: &str, content_type: &str, block: &str) -> Vec<u8> {
        fields(kind, url, content_type, block.as_bytes(), &format!("Content-Length: {}\r\n", block.len()))
    }

    fn words(number: usize) -> String {
        let words: Vec<String> = (0..300).map(|word| format!("w{}", word * (number + 3) % 1009)).collect();
        words.join(" ")
    }

    /// A record with a page of some length; `off` is added to its length.
    fn page_record(number: usize, off: isize, more: &str) -> Vec<u8> {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{}", words(number));
        let length = block.len().checked_add_signed(off).unwrap();
        let more = format!("{more}Content-Length: {length}\r\n");
        fields("response", &format!("http://a.test/{number}"), HTTP, block.as_bytes(), &more)
    }

    fn sound(number: usize) -> Vec<u8> {
        page_record(number, 0, "")
    }

    fn with_digest(number: usize) -> Vec<u8> {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{}", words(number));
        page_record(number, 0, &format!("WARC-Block-Digest: {}\r\n", ndcrawl_store::payload_digest(block.as_bytes())))
    }

    fn tell(item: InputItem) -> String {
        match item {
            InputItem::Opened(_) => String::new(),
            InputItem::Answer(document) => {
                let answer = document.fetched;
                format!("{} {} {}", answer.url, answer.status, String::from_utf8_lossy(&answer.body))
            }
            InputItem::Passed => "passed".to_owned(),
            InputItem::Ignored(file) => format!("ignored {}", file.place),
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
        }
    }

    fn read(file: &[u8]) -> Vec<String> {
        items_of(file, &options()).map(tell).filter(|text| !text.is_empty()).collect()
    }

    /// The numbers of the pages that were read whole, and the damages.
    fn pages(file: &[u8]) -> (Vec<usize>, Vec<String>) {
        let (mut numbers, mut damaged) = (Vec::new(), Vec::new());
        for text in read(file) {
            match text.strip_prefix("http://a.test/").and_then(|rest| rest.split_once(" 200 <p>")) {
                Some((number, text)) => {
                    let number: usize = number.parse().unwrap();
                    assert_eq!(text, words(number), "page {number} is garbled");
                    numbers.push(number);
                }
                None => damaged.push(text),
            }
        }
        (numbers, damaged)
    }

    #[test]
    fn answers_resources_and_texts_are_pages_and_other_records_are_passed_over() {
        let file = [
            record("warcinfo", "", "application/warc-fields", "software: x"),
            record("request", "http://a.test/", "application/http", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "<http://a.test/>", HTTP, "HTTP/1.1 200 OK\r\n\r\nfirst"),
            record("response", "dns:a.test", "text/dns", "1.2.3.4"),
            record("resource", "http://a.test/r", "text/html", "second"),
            record("conversion", "http://a.test/t", "text/plain", "third"),
            record("revisit", "http://a.test/", HTTP, "HTTP/1.1 200 OK\r\n\r\n"),
            // WAT: metadata in JSON.
            record("metadata", "http://a.test/", "application/json", "{\"Envelope\":{}}"),
        ];
        let expected = [
            "passed",
            "passed",
            "http://a.test/ 200 first",
            "passed",
            "http://a.test/r 200 second",
            "http://a.test/t 200 third",
            "passed",
            "passed",
        ];
        assert_eq!(read(&file.concat()), expected);
        assert_eq!(read(&[b"\xef\xbb\xbf", &file.concat()[..]].concat()), expected);
        // As other programs compress: each record, all together, in blocks that end anywhere.
        assert_eq!(read(&file.iter().flat_map(|record| gzip(record)).collect::<Vec<u8>>()), expected);
        assert_eq!(read(&gzip(&file.concat())), expected);
        for make in [gzip, zstd] {
            let blocks = file.concat().chunks(37).flat_map(make).collect::<Vec<u8>>();
            assert_eq!(read(&blocks), expected);
        }
        let frames: Vec<u8> = file.iter().flat_map(|record| [skippable(0x53, b"x"), zstd(record)].concat()).collect();
        assert_eq!(read(&frames), expected);
        assert_eq!(read(&gzip(&frames)), expected);
        assert_eq!(read(&[gzip(&file[0]), file[1..].concat()].concat()), expected);
        // As an old writer spells it.
        let old = String::from_utf8(file.concat()).unwrap().replace("WARC/1.0\r\n", "WARC/0.18\n");
        assert_eq!(read(old.as_bytes()), expected);
    }

    #[test]
    fn a_record_that_makes_no_sense_is_named() {
        let file = [
            record("response", "mailto:x@a.test", HTTP, "HTTP/1.1 200 OK\r\n\r\nx"),
            record("response", "http://a.test/1", HTTP, "nonsense"),
            record("response", "http://a.test/2", HTTP, "HTTP/1.1 200 OK\r\n\r\nfine"),
            b"WARC/1.0\r\nWARC-Type: response\r\n\r\n".to_vec(),
            record("response", "http://a.test/3", HTTP, "HTTP/1.1 200 OK\r\n\r\nreached"),
        ];
        let read = read(&file.concat());
        assert!(read[0].starts_with("input, record 1: 'mailto:x@a.test'"), "{read:?}");
        assert!(read[1].starts_with("input, record 2: "), "{read:?}");
        assert_eq!(read[2], "http://a.test/2 200 fine");
        assert!(read[3].starts_with("input, record 4: no usable length"), "{read:?}");
        assert_eq!(read[4..], ["http://a.test/3 200 reached"]);
    }

    #[test]
    fn one_damaged_record_costs_that_record() {
        let around = |bad: Vec<u8>| [sound(0), sound(1), bad, sound(3), sound(4)];
        let cases = [
            ("too short by much", page_record(2, -200, "")),
            ("too short by one", page_record(2, -1, "")),
            ("too long by much", page_record(2, 900, "")),
            ("far too long", page_record(2, 1_000_000_000_000, "")),
            ("longer than a limit", page_record(2, 600_000, "")),
            ("no length", String::from_utf8(sound(2)).unwrap().replace("Content-Length", "Content-Width").into()),
            ("no number", String::from_utf8(sound(2)).unwrap().replace("Length: ", "Length: x").into()),
            ("cut in its block", sound(2)[..600].to_vec()),
            ("cut in its header", [&sound(2)[..100], b"\r\n"].concat()),
        ];
        for (what, bad) in cases {
            let records = around(bad);
            let (numbers, damaged) = pages(&records.concat());
            assert_eq!(numbers, [0, 1, 3, 4], "{what}: {damaged:?}");
            assert_eq!(damaged.len(), 1, "{what}: {damaged:?}");
            assert!(damaged[0].starts_with("input, record 3: "), "{what}: {damaged:?}");
            for make in [gzip, zstd] {
                let members: Vec<u8> = records.iter().flat_map(|record| make(record)).collect();
                let (numbers, damaged) = pages(&members);
                assert_eq!((numbers, damaged.len()), (vec![0, 1, 3, 4], 1), "{what}: {damaged:?}");
            }
            let (numbers, damaged) = pages(&gzip(&records.concat()));
            if what != "far too long" && what != "longer than a limit" {
                assert_eq!((numbers, damaged.len()), (vec![0, 1, 3, 4], 1), "{what}: {damaged:?}");
            }
        }
    }

    #[test]
    fn a_wrong_digest_costs_the_page_only_where_nothing_else_says_that_the_block_is_sound() {
        let wrong = page_record(2, 0, "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n");
        let records = [sound(0), wrong, with_digest(3)];
        let members = |make: fn(&[u8]) -> Vec<u8>| records.iter().flat_map(|record| make(record)).collect::<Vec<u8>>();
        // Without its checksum, a frame says no more than a file that is not compressed.
        let unchecked = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        for file in [records.concat(), gzip(&records.concat()), members(unchecked)] {
            let (numbers, damaged) = pages(&file);
            assert_eq!((numbers, damaged.len()), (vec![0, 3], 1), "{damaged:?}");
            assert!(damaged[0].starts_with("input, record 2: ") && damaged[0].contains("digest"), "{damaged:?}");
        }
        for file in [members(gzip), members(zstd)] {
            let options = options();
            let differs = items_of(&file, &options).filter_map(|item| match item {
                InputItem::Answer(page) => Some(page.is_digest_other),
                InputItem::Damaged(damage) => panic!("{damage:?}"),
                _ => None,
            });
            assert_eq!(differs.collect::<Vec<_>>(), [false, true, false]);
        }
        // As wget writes with --warc-dedup: the digest of an empty block.
        let block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        let more =
            format!("WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\nContent-Length: {}\r\n", block.len());
        let revisit = fields("revisit", "http://a.test/1", HTTP, block.as_bytes(), &more);
        assert_eq!(read(&[sound(0), revisit, sound(1)].concat())[1], "passed");
    }

    #[test]
    fn what_stands_between_records_costs_none() {
        let without_end = |number: usize| sound(number)[..sound(number).len() - 4].to_vec();
        for (what, file) in [
            ("zeros", [sound(0), vec![0; 700], sound(1), vec![0; 3]].concat()),
            ("no separators", [without_end(0), without_end(1)].concat()),
            ("half a separator", [without_end(0), b"\n".to_vec(), sound(1)].concat()),
            ("too long by one, as one maker counts", [page_record(0, 1, ""), sound(1)].concat()),
            ("many lines", [sound(0), b"\r\n\n\n".repeat(40), sound(1)].concat()),
            ("zeros between members", [gzip(&sound(0)), vec![0; 512], gzip(&sound(1)), vec![0; 99]].concat()),
            ("no separators in members", [gzip(&without_end(0)), gzip(&without_end(1))].concat()),
            ("empty members", [gzip(b""), gzip(&sound(0)), gzip(b"\r\n"), gzip(b""), gzip(&sound(1))].concat()),
        ] {
            let told: Vec<String> = read(&file);
            assert_eq!(told.len(), 2, "{what}: {told:?}");
            assert!(told[0].contains(&words(0)) && told[1].contains(&words(1)), "{what}: {told:?}");
        }
        for file in [
            [sound(0), b"<html>junk</html>\nWARC/is a format\n".to_vec(), sound(1)].concat(),
            [gzip(&sound(0)), b"junk".to_vec(), gzip(&sound(1))].concat(),
            [gzip(&sound(0)), gzip(b"<html>junk</html>\n"), gzip(&sound(1))].concat(),
            gzip(&[sound(0), b"<html>junk</html>\n".to_vec(), sound(1)].concat()),
        ] {
            let (numbers, damaged) = pages(&file);
            assert_eq!((numbers, damaged.len()), (vec![0, 1], 1), "{damaged:?}");
        }
    }

    #[test]
    fn a_flipped_bit_costs_its_record_and_no_other() {
        for make in [gzip, zstd] {
            let members: Vec<Vec<u8>> = (0..3).map(|number| make(&sound(number))).collect();
            let begin = members[0].len();
            for at in begin..begin + members[1].len() {
                let mut file = members.concat();
                file[at] ^= 1 << (at % 8);
                let (numbers, damaged) = pages(&file);
                // The head of a member has bytes that mean nothing, like its time.
                let is_harmless = numbers == [0, 1, 2] && damaged.is_empty();
                assert!(is_harmless || numbers == [0, 2], "{at}: {numbers:?} {damaged:?}");
                assert!(is_harmless || (1..=2).contains(&damaged.len()), "{at}: {damaged:?}");
            }
        }
        // Nothing but the digest tells it.
        let records: Vec<Vec<u8>> = (0..3).map(with_digest).collect();
        let begin = records[0].len();
        let block = begin + records[1].len() - 4 - words(1).len();
        for at in (block..begin + records[1].len() - 4).step_by(7) {
            let mut file = records.concat();
            file[at] ^= 1;
            for file in [gzip(&file), file] {
                let (numbers, damaged) = pages(&file);
                assert_eq!(numbers, [0, 2], "{at}");
                assert!(damaged.len() == 1 && damaged[0].contains("digest"), "{at}: {damaged:?}");
            }
        }
    }

    #[test]
    fn a_cut_member_and_what_was_appended_cost_one_record() {
        let members: Vec<Vec<u8>> = (0..4).map(|number| gzip(&sound(number))).collect();
        for cut in 1..members[1].len() {
            let file = [&members[0][..], &members[1][..cut], &members[2], &members[3]].concat();
            let (numbers, damaged) = pages(&file);
            assert_eq!(numbers, [0, 2, 3], "{cut}: {damaged:?}");
            assert!((1..=2).contains(&damaged.len()), "{cut}: {damaged:?}");
        }
    }

    #[test]
    fn a_file_cut_anywhere_gives_its_whole_records_and_says_so() {
        for file in [[sound(0), sound(1)].concat(), [gzip(&sound(0)), gzip(&sound(1))].concat()] {
            let first = if file[0] == b'W' { sound(0).len() - 4 } else { gzip(&sound(0)).len() };
            let whole = if file[0] == b'W' { file.len() - 4 } else { file.len() };
            for cut in 6..file.len() {
                let (numbers, damaged) = pages(&file[..cut]);
                let expected = usize::from(cut >= first) + usize::from(cut >= whole);
                assert_eq!(numbers.len(), expected, "{cut}: {damaged:?}");
                let is_between = (first..=first + 4).contains(&cut) && file[0] == b'W' || cut == first;
                assert_eq!(damaged.len(), usize::from(!is_between && cut < whole), "{cut}: {damaged:?}");
            }
        }
    }

    #[test]
    fn long_blocks_are_kept_in_part_and_checked_whole() {
        let body = "x".repeat(2_000_000);
        let block = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let digest = ndcrawl_store::payload_digest(block.as_bytes());
        let more = format!("WARC-Block-Digest: {digest}\r\nContent-Length: {}\r\n", block.len());
        let long = fields("response", "http://a.test/long", HTTP, block.as_bytes(), &more);
        let mut flipped = long.clone();
        let end = flipped.len() - 100;
        flipped[end] ^= 1;
        // Archives lie in archives, too.
        let inner = [sound(7), body.clone().into_bytes(), sound(8)].concat();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", inner.len());
        let block = [head.as_bytes(), &inner].concat();
        let nested =
            fields("response", "http://a.test/nested", HTTP, &block, &format!("Content-Length: {}\r\n", block.len()));
        let options = options();
        let plain: fn(&[u8]) -> Vec<u8> = |bytes| bytes.to_vec();
        for make in [plain, gzip, zstd] {
            let file: Vec<u8> =
                [&long, &flipped, &nested, &sound(3)].into_iter().flat_map(|record| make(record)).collect();
            let items: Vec<InputItem> = items_of(&file, &options).collect();
            let [
                InputItem::Opened(_),
                InputItem::Answer(long),
                flipped,
                InputItem::Answer(nested),
                InputItem::Answer(sound),
            ] = &items[..]
            else {
                panic!("{items:?}")
            };
            let (long, nested, sound) = (&long.fetched, &nested.fetched, &sound.fetched);
            assert_eq!((long.body.len(), long.truncated), (options.max_body, true));
            assert_eq!((nested.body.len(), nested.truncated), (options.max_body, true));
            match flipped {
                InputItem::Damaged(damage) => assert!(damage.why.contains("digest"), "{damage:?}"),
                // A checksum was made of what its maker wrote.
                InputItem::Answer(page) => assert!(page.is_digest_other && make as usize != plain as usize),
                other => panic!("{other:?}"),
            }
            assert!(!sound.truncated);
        }
    }

    #[test]
    fn truncated_records_are_told_as_such() {
        let is_truncated = |more: &str| {
            let file = page_record(1, 0, more);
            let options = options();
            let items: Vec<InputItem> = items_of(&file, &options).collect();
            let [InputItem::Opened(_), InputItem::Answer(page)] = &items[..] else { panic!("{items:?}") };
            page.fetched.truncated
        };
        assert!(!is_truncated(""));
        for more in ["WARC-Truncated: length\r\n", "warc-truncated: disconnect\r\n", "WARC-Segment-Number: 1\r\n"] {
            assert!(is_truncated(more), "{more}");
        }
    }

    #[test]
    fn hostile_lengths_take_neither_time_nor_memory() {
        // Each record claims all that follows, and none ends where it says.
        let claim = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 400000\r\n\r\n";
        let file = claim.repeat(20_000).into_bytes();
        for file in [gzip(&file), file.chunks(33).flat_map(gzip).collect(), file] {
            let options = Options { max_body: 1_000_000, ..options() };
            assert_eq!(items_of(&file, &options).count(), 20_001);
        }
    }
}
