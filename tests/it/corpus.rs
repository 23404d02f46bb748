//! The fuzzers' corpora on a stable toolchain: every seed, and every input that once found a bug. That of the machine
//! is replayed beside the machine, in src/machine/tests/walk.rs.

use std::fs;
use std::path::Path;

fn replay(target: &str, at_least: usize, fuzz: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut replayed = 0;
    for entry in fs::read_dir(&corpus).expect("the corpus is checked in") {
        let path = entry.expect("a readable directory").path();
        let bytes = fs::read(&path).expect("a readable file");
        let outcome = std::panic::catch_unwind(|| fuzz(&bytes));
        assert!(outcome.is_ok(), "{} breaks an invariant", path.display());
        replayed += 1;
    }
    assert!(replayed >= at_least, "only {replayed} inputs in {}", corpus.display());
}

#[test]
fn the_corpus_of_the_metrics_parser_holds_its_invariants() {
    replay("exposition", 15, agones_shim::testing::counter::exposition::fuzz);
}

#[test]
fn the_corpus_of_the_settings_holds_their_invariants() {
    replay("settings", 15, agones_shim::testing::settings::fuzz);
}

#[test]
fn the_corpus_of_the_manifests_holds_their_invariants() {
    replay("manifest", 20, agones_shim::testing::local_sdk::fuzz::manifest);
}

#[test]
fn the_corpus_of_the_local_sdk_server_s_requests_holds_their_invariants() {
    replay("local_sdk", 10, agones_shim::testing::local_sdk::fuzz::http);
}

#[test]
fn the_corpus_of_the_status_endpoint_s_requests_holds_their_invariants() {
    replay("status", 10, agones_shim::testing::insight::status::fuzz);
}

#[test]
fn the_corpus_of_the_json_pages_holds_their_invariants() {
    replay("json", 8, agones_shim::testing::counter::json::fuzz);
}

#[test]
fn the_corpus_of_the_lines_that_count_holds_their_invariants() {
    replay("lines", 12, agones_shim::testing::counter::lines::fuzz);
}

#[test]
fn the_corpus_of_the_game_server_queries_holds_their_invariants() {
    replay("query", 18, agones_shim::testing::query::fuzz);
}

/// The queries had one that no fuzzer ever saw.
#[test]
fn every_corpus_is_that_of_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for entry in fs::read_dir(root.join("corpus")).expect("corpora") {
        let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
        assert!(root.join("fuzz_targets").join(format!("{name}.rs")).is_file(), "{name} has no target");
        let readme = fs::read_to_string(root.join("README.md")).expect("a README");
        assert!(readme.contains(&format!("\n| `{name}` |")), "{name} is not in fuzz/README.md");
    }
}

#[test]
fn every_target_of_the_fuzzer_has_a_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for entry in fs::read_dir(root.join("fuzz_targets")).expect("targets") {
        let path = entry.expect("readable").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(root.join("corpus").join(&name).is_dir(), "{name} has no corpus");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is no target");
    }
}
