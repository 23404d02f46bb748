//! Arbitrary bytes as a life: which events come, how calls are answered, how much time passes. The
//! invariants are the library's, so that stable replays them too.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = agones_shim::testing::machine::tests::walk::fuzz(bytes);
});
