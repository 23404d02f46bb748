//! agones-shim: argv and environment in, exit code out.
//!
//! The only exit, and the only reader of the process's environment.

fn main() {
    let signals = agones_shim::block_signals();
    let environment = std::env::vars_os().collect();
    let reason = agones_shim::main(signals, std::env::args_os().skip(1), environment);
    // Not by returning: gRPC's threads would be waited for.
    std::process::exit(reason.code().into());
}
