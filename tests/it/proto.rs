//! The checked-in wire messages are what `proto/` says.

use std::fs;
use std::path::Path;

#[test]
fn generated_messages_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = protox::compile(["sdk.proto", "beta.proto"], [root.join("proto")]).expect("proto/ compiles");
    // The well-known types come from elsewhere: i64 is prost's wrapper, FieldMask stands in src/proto.rs.
    files.file.retain(|file| !file.name().starts_with("google/"));
    let out = tempdir("proto");
    prost_build::Config::new()
        .btree_map(["."])
        .extern_path(".google.protobuf.FieldMask", "crate::proto::FieldMask")
        .disable_comments(["."])
        .out_dir(&out)
        .compile_fds(files)
        .expect("the messages generate");
    for name in ["agones.dev.sdk.rs", "agones.dev.sdk.beta.rs"] {
        let fresh = fs::read_to_string(out.join(name)).expect("generated");
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
