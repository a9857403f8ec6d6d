#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| ndcrawl::fuzzing::store_rows(octets));
