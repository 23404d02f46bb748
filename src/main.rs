//! agones-shim. Minimal dispatch of this branch.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(command) if command == "local-sdk" => ExitCode::from(agones_shim::local_sdk::run(args.collect())),
        _ => ExitCode::from(64),
    }
}
