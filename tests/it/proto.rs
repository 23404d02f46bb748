//! The checked-in wire messages are what `proto/` says.

use std::fs;
use std::path::Path;

#[test]
fn generated_messages_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = protox::compile(["sdk.proto", "beta.proto", "google/protobuf/field_mask.proto"], [root.join("proto")])
        .expect("proto/ compiles");
    let out = tempdir("proto");
    prost_build::Config::new()
        .btree_map(["."])
        .compile_well_known_types()
        .extern_path(".google.protobuf.Int64Value", "i64")
        .disable_comments(["."])
        .out_dir(&out)
        .compile_fds(files)
        .expect("the messages generate");
    for name in ["agones.dev.sdk.rs", "agones.dev.sdk.beta.rs", "google.protobuf.rs"] {
        let fresh = fs::read_to_string(out.join(name)).expect("generated").replace("super::super::super::google::protobuf::", "super::google_protobuf::");
        let checked_in = root.join("src/proto").join(name);
        if std::env::var_os("UPDATE_PROTO").is_some() {
            fs::write(&checked_in, &fresh).expect("src/proto is writable");
        }
        assert_eq!(
            fs::read_to_string(&checked_in).unwrap_or_default(),
            fresh,
            "src/proto/{name} is stale: run UPDATE_PROTO=1 cargo test proto"
        );
    }
    fs::remove_dir_all(out).expect("own directory");
}

fn tempdir(name: &str) -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("agones-shim-{name}-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("temporary directory");
    dir
}
