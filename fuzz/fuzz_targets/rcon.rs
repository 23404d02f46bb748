//! Arbitrary bytes from the other end of a remote console.
//! The invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::rcon::fuzz(bytes));
