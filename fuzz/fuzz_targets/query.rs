//! Arbitrary bytes as the answers of a game server, in any protocol.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agones_shim::testing::query::fuzz(bytes));
