#![no_main]

libfuzzer_sys::fuzz_target!(
    // The decoder panics on some damaged files, which the program takes for an error. A panic that it does not catch
    // still ends the search.
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| ndcrawl::fuzzing::dedup_parquet(bytes)
);
