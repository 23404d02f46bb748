//! Why a program could not be started, in words that say what to do, and the exit code that a shell would give.
//!
//! Looks at files: not for a thread that somebody waits for, since a dead mount answers nobody.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::libc;

use crate::exit::ExitReason;

/// Why a program could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    /// What to leave with: 127 not found, 126 not executable, 71 anything else.
    pub reason: ExitReason,
    /// Names the program and says what to do.
    pub message: String,
}

impl StartError {
    /// What a shell says: 127 where there is no such file, 126 where there is but it is no program.
    ///
    /// A script whose first line names no interpreter is refused like a program for another machine, which it cannot
    /// be told from. A shell would guess and run it, and so do tini and dumb-init where their C library's execvp does
    /// (glibc's does, musl's does not); container runtimes refuse it as an entrypoint.
    pub(crate) fn new(argv: &[OsString], path: &OsStr, error: &io::Error) -> Self {
        let name = Self::name(argv);
        let file = Path::new(argv.first().map_or(OsStr::new(""), OsString::as_os_str));
        let has_slash = file.as_os_str().as_bytes().contains(&b'/');
        let (reason, message) = match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) if has_slash && file.exists() => (
                ExitReason::NotFound,
                format!(
                    "{name} is there, but what runs it is not: the interpreter in its first line, or the dynamic loader \
                     that it was linked with (a glibc program needs an image with glibc)"
                ),
            ),
            Some(libc::ENOENT | libc::ENOTDIR) if has_slash => {
                (ExitReason::NotFound, format!("{name} was not found: check the path"))
            }
            Some(libc::ENOENT) if file.as_os_str().is_empty() => {
                (ExitReason::NotFound, format!("{name} was not found: a program's name cannot be empty"))
            }
            Some(libc::ENOENT | libc::ENOTDIR) => (
                ExitReason::NotFound,
                format!("{name} was not found in PATH={}: write its full path", path.to_string_lossy()),
            ),
            Some(libc::EACCES) if has_slash && file.is_dir() => {
                (ExitReason::NotExecutable, format!("{name} is a directory, not a program"))
            }
            Some(libc::EACCES | libc::EPERM) => (
                ExitReason::NotExecutable,
                format!("{name} may not be executed: chmod +x it (or its volume is mounted noexec)"),
            ),
            Some(libc::ENOEXEC) => (
                ExitReason::NotExecutable,
                format!(
                    "{name} is neither a program for this machine nor a script: a script's first line has to name its \
                     interpreter, as in #!/bin/sh"
                ),
            ),
            Some(libc::ETXTBSY | libc::EINVAL | libc::EISDIR | libc::ELIBBAD) => {
                (ExitReason::NotExecutable, format!("{name} cannot be executed: {error}"))
            }
            _ => return Self::system(argv, error),
        };
        Self { reason, message }
    }

    pub(crate) fn system(argv: &[OsString], error: &io::Error) -> Self {
        Self { reason: ExitReason::System, message: format!("{} could not be started: {error}", Self::name(argv)) }
    }

    fn name(argv: &[OsString]) -> String {
        // Quotes around a whole hook make one word of it, password included: what stands behind a blank is not shown.
        let program = argv.first().map_or_else(String::new, |program| program.to_string_lossy().into_owned());
        match program.split_once(char::is_whitespace) {
            Some((program, _)) => format!("\"{program} ***\", one word with blanks in it,"),
            None => format!("{program:?}"),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StartError {}
