//! agones-shim: argv and environment in, exit code out.
//!
//! The only way out, and the only reader of the process's environment.

use agones_shim::commands::cli::{self, Command};
use agones_shim::commands::{self, run};
use agones_shim::game::signal;

fn main() {
    let signals = signal::block();
    let environment = std::env::vars_os().collect();
    let reason = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Command::Sidecar) => run::sidecar(signals, environment),
        Ok(Command::Wrapper { argv }) => run::wrapper(signals, environment, &argv),
        other => {
            signals.release();
            commands::run(other, environment)
        }
    };
    // Not by returning: gRPC's threads would be waited for.
    reason.exit();
}
