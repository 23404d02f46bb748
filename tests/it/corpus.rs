//! The fuzzer's corpora on a stable toolchain: every seed, and every input that once found a bug.

use std::fs;
use std::path::Path;

#[test]
fn the_corpus_of_the_metrics_parser_holds_its_invariants() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/exposition");
    let mut replayed = 0;
    for entry in fs::read_dir(&corpus).expect("the corpus is checked in") {
        let path = entry.expect("a readable directory").path();
        let bytes = fs::read(&path).expect("a readable file");
        let outcome = std::panic::catch_unwind(|| agones_shim::exposition::fuzz(&bytes));
        assert!(outcome.is_ok(), "{} breaks an invariant", path.display());
        replayed += 1;
    }
    assert!(replayed >= 15, "only {replayed} inputs in {}", corpus.display());
}
