//! agones-shim: argv and environment in, exit code out.
//!
//! The only way out, and the only reader of the process's environment.

use agones_shim::commands::cli::{self, Command};
use agones_shim::commands::{self, run};
use agones_shim::game::signals;
use agones_shim::sdk::quiet;

fn main() {
    let blocked = signals::block();
    let environment = std::env::vars_os().collect();
    // SAFETY: no thread runs: that of signals::block has ended, and nothing has started another.
    #[allow(unsafe_code)]
    unsafe {
        quiet::strip_environment();
    }
    let reason = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Command::Sidecar) => run::sidecar(blocked, environment),
        Ok(Command::Wrapper { argv }) => run::wrapper(blocked, environment, &argv),
        other => {
            blocked.release();
            commands::run(other, environment)
        }
    };
    // Not by returning: gRPC's threads would be waited for.
    reason.exit();
}
