#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| ndcrawl::fuzzing::url_rules(octets));
