//! `cargo run -p agones-shim-proto`: writes `src/sdk/proto/` anew from `proto/`.

use std::io;
use std::path::{Path, PathBuf};

/// What comes out.
#[cfg(test)]
const FILES: [&str; 2] = ["agones.dev.sdk.rs", "agones.dev.sdk.beta.rs"];

fn main() -> io::Result<()> {
    generate(&root().join("src/sdk/proto"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn generate(out: &Path) -> io::Result<()> {
    let files = protox::compile(["sdk.proto", "beta.proto"], [root().join("proto")]);
    let mut files = files.map_err(|error| io::Error::other(format!("proto/: {error}")))?;
    // The well-known types come from elsewhere: i64 is prost's wrapper, FieldMask stands beside the messages.
    files.file.retain(|file| !file.name().starts_with("google/"));
    prost_build::Config::new()
        .btree_map(["."])
        .extern_path(".google.protobuf.FieldMask", "crate::sdk::proto::FieldMask")
        .disable_comments(["."])
        .out_dir(out)
        .compile_fds(files)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    fn the_checked_in_messages_are_current() {
        let fresh = env::temp_dir().join(format!("agones-shim-proto-{}", std::process::id()));
        fs::create_dir_all(&fresh).expect("a temporary directory");
        generate(&fresh).expect("proto/ compiles");
        for file in FILES {
            let read = |directory: &Path| fs::read_to_string(directory.join(file)).expect("a generated file");
            let (wanted, found) = (read(&fresh), read(&root().join("src/sdk/proto")));
            assert_eq!(found, wanted, "src/sdk/proto/{file} is stale: cargo run -p agones-shim-proto");
        }
        fs::remove_dir_all(fresh).expect("own directory");
    }
}
