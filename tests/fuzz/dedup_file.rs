#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ndcrawl::fuzzing::dedup_file(bytes));
