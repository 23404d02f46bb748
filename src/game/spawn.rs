//! What a program is started with: where it is looked for, its arguments, its environment, its mask. All that the new
//! process needs is made here, before the fork; `sys::fork` forks, and the reaper's thread alone may ask it to.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::game::sys::{Program, Signals};

/// What systemd tells one process, which is this one. Exact names: a game may well have a `LISTEN_ADDRESS`.
const SYSTEMD_VARIABLES: [&str; 7] =
    ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"];
/// Where to look when there is no PATH: execvp(3) of musl.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

pub(crate) type Variable = (OsString, OsString);

/// What every program gets.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    mask: Signals,
    environment: Vec<Variable>,
}

impl Surroundings {
    pub(crate) fn new(mask: Signals, environment: impl IntoIterator<Item = Variable>) -> Self {
        let environment =
            environment.into_iter().filter(|(name, _)| !SYSTEMD_VARIABLES.iter().any(|variable| name == variable));
        Self { mask, environment: environment.collect() }
    }

    pub(crate) fn path(&self) -> &OsStr {
        self.environment.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(DEFAULT_PATH), |(_, path)| path)
    }

    /// A program with these variables besides; in everything else it is started as if the shim were not there.
    pub(crate) fn program(&self, argv: &[OsString], variables: Vec<Variable>) -> Program {
        let mut environment = self.environment.clone();
        environment.retain(|(name, _)| !variables.iter().any(|(other, _)| other == name));
        environment.extend(variables);
        Program {
            candidates: candidates(argv.first().map_or(OsStr::new(""), OsString::as_os_str), self.path()),
            argv: argv.iter().filter_map(|argument| c_string(argument.as_bytes())).collect(),
            // A variable with a NUL byte cannot be handed over at all; one that was inherited cannot have any.
            envp: environment
                .iter()
                .filter_map(|(name, value)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
                .collect(),
            mask: self.mask,
            foreground: false,
            detached: false,
            stdio: [None, None, None],
            has_terminal: false,
        }
    }
}

/// The paths that execvp(3) would try. An empty name has none.
fn candidates(program: &OsStr, path: &OsStr) -> Vec<CString> {
    let name = program.as_bytes();
    if name.contains(&b'/') {
        return c_string(name).into_iter().collect();
    }
    if name.is_empty() {
        return Vec::new();
    }
    path.as_bytes()
        .split(|&byte| byte == b':')
        .filter_map(|directory| {
            // An empty entry is the working directory.
            let directory = if directory.is_empty() { b"." } else { directory };
            c_string(&[directory, b"/", name].concat())
        })
        .collect()
}

fn c_string(bytes: &[u8]) -> Option<CString> {
    CString::new(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(program: &str, path: &str) -> Vec<String> {
        let paths = candidates(OsStr::new(program), OsStr::new(path));
        paths.into_iter().map(|path| path.into_string().expect("UTF-8")).collect()
    }

    #[test]
    fn a_name_is_looked_up_in_path_and_a_path_is_not() {
        assert_eq!(tried("game", "/opt:/usr/bin"), ["/opt/game", "/usr/bin/game"]);
        assert_eq!(tried("./game", "/opt"), ["./game"]);
        assert_eq!(
            tried("game", "/opt::"),
            ["/opt/game", "./game", "./game"],
            "an empty entry is the working directory"
        );
        assert_eq!(tried("", "/opt"), [""; 0]);
    }

    #[test]
    fn a_variable_that_is_handed_in_replaces_an_inherited_one() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let inherited = [pair("A", "1"), pair("LISTEN_FDS", "3"), pair("B", "2"), pair("LISTEN_ADDRESS", "::")];
        let surroundings = Surroundings::new(Signals::NONE, inherited);
        let program = surroundings.program(&["game".into()], vec![pair("A", "3"), pair("C", "with\0nul")]);
        let envp: Vec<String> = program.envp.into_iter().map(|entry| entry.into_string().expect("UTF-8")).collect();
        assert_eq!(envp, ["B=2", "LISTEN_ADDRESS=::", "A=3"]);
    }
}
