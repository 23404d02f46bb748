//! Arbitrary bytes as a JSON pointer and a page.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::counter::json::fuzz(bytes));
