//! Arbitrary bytes as HTTP requests to the local SDK server.
//! The invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::local_sdk::fuzz::http(bytes));
