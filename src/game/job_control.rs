//! The terminal on standard input and whose turn it is: the shim's group, the
//! child's group, or somebody else's (the shell's, while the job is in the
//! background).
//!
//! Reads and writes nothing. When to hand it over is up to the reaper, which
//! knows when the child stops and ends.

use nix::sys::termios::{self, SetArg, Termios};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

use crate::game::sys::STDIN;

/// The terminal on standard input, which is the one that controls this session.
#[derive(Debug)]
pub(crate) struct Terminal {
    own_group: Pid,
    modes: Termios,
    given: bool,
}

impl Terminal {
    /// `None` where standard input is none, or not this session's.
    pub fn of_stdin() -> Option<Self> {
        let modes = termios::tcgetattr(STDIN).ok()?;
        tcgetpgrp(STDIN).ok()?;
        Some(Self { own_group: getpgrp(), modes, given: false })
    }

    /// The shim's own group is in the foreground.
    pub fn is_ours(&self) -> bool {
        tcgetpgrp(STDIN) == Ok(self.own_group)
    }

    /// The child's group is in the foreground; or it was, and the terminal has been hung up since.
    pub fn is_held_by(&self, group: Pid) -> bool {
        tcgetpgrp(STDIN).map_or(self.given, |foreground| foreground == group)
    }

    /// The child takes it on its way to exec.
    pub fn taken_at_start(&mut self) {
        self.given = true;
    }

    /// Puts the child's group in the foreground, if the shim's own is there.
    pub fn pass_on(&mut self, group: Pid) {
        if self.is_ours() {
            self.given = tcsetpgrp(STDIN, group).is_ok();
        }
    }

    /// Puts the shim's own group in the foreground, if the child's is there.
    pub fn take_back(&mut self, group: Pid) {
        if tcgetpgrp(STDIN) == Ok(group) {
            // SIGTTOU is blocked in every thread, which is what makes it allowed from the background.
            let _ = tcsetpgrp(STDIN, self.own_group);
        }
        self.given = false;
    }

    /// Sets the modes that it had at the start: a game may die in raw mode.
    pub fn restore_modes(&self) {
        if self.is_ours() {
            let _ = termios::tcsetattr(STDIN, SetArg::TCSADRAIN, &self.modes);
        }
    }
}
