//! Arbitrary bytes as a selector and a metrics text: the invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::counter::exposition::fuzz(bytes));
