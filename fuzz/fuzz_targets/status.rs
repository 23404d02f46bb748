//! Arbitrary bytes as a request to the status endpoint.
//! The invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::insight::status::fuzz(bytes));
