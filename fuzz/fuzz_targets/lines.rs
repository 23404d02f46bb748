//! Arbitrary bytes as three patterns and the lines that a game writes.
//! The invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::counter::lines::fuzz(bytes));
