//! agones-shim: argv and environment in, exit code out.
//!
//! The only way out, and the only reader of the process's environment.

fn main() {
    let signals = agones_shim::block_signals();
    let environment = std::env::vars_os().collect();
    // SAFETY: no thread runs: that of block_signals has ended, and nothing has started another.
    #[allow(unsafe_code)]
    unsafe {
        agones_shim::strip_environment();
    }
    let reason = agones_shim::main(signals, std::env::args_os().skip(1), environment);
    // Not by returning: gRPC's threads would be waited for.
    agones_shim::exit(reason);
}
