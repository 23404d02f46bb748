//! The shim's own terminal while the child has one of its own: keys go through unchanged, so that the child's terminal
//! makes signals of Ctrl-C and Ctrl-\, echoes and edits; its size follows; Ctrl-Z stops the job.
//!
//! The modes that it had are set again whenever it is somebody else's turn.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::termios::{self, InputFlags, LocalFlags, OutputFlags, SetArg, SpecialCharacterIndices, Termios};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::pty;
use crate::game::child::Console;
use crate::game::sys::{self, STDIN};

/// See the module.
#[derive(Debug)]
pub(super) struct Keyboard {
    /// The child's terminal.
    master: OwnedFd,
    console: Console,
    /// As it was found.
    modes: Termios,
    is_released: bool,
}

impl Keyboard {
    /// Between looks at whose turn it is, at its size and at the child's modes: the kernel tells nobody of most of it.
    pub const INTERVAL: u16 = 200;

    /// `None` where the shim's stdin is no terminal.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new(master: &OwnedFd, console: &Console) -> io::Result<Option<Self>> {
        let Ok(modes) = termios::tcgetattr(STDIN) else { return Ok(None) };
        Ok(Some(Self { master: master.try_clone()?, console: console.clone(), modes, is_released: false }))
    }

    /// Sees to modes and size where the shim's group is in the foreground; false where it is not, and nothing may be
    /// read.
    pub fn turn(&mut self) -> bool {
        if self.is_released || tcgetpgrp(STDIN).is_ok_and(|group| group != getpgrp()) {
            return false;
        }
        let mut raw = self.modes.clone();
        raw.input_flags.remove(
            InputFlags::BRKINT
                | InputFlags::ICRNL
                | InputFlags::INLCR
                | InputFlags::IGNCR
                | InputFlags::INPCK
                | InputFlags::ISTRIP
                | InputFlags::IXON,
        );
        raw.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::IEXTEN | LocalFlags::ISIG);
        raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        // A program that draws on the whole screen makes its line ends itself.
        if termios::tcgetattr(&self.master).is_ok_and(|modes| !modes.output_flags.contains(OutputFlags::OPOST)) {
            raw.output_flags.remove(OutputFlags::OPOST);
        }
        if termios::tcgetattr(STDIN).is_ok_and(|modes| !is_same(&modes, &raw)) {
            let _ = termios::tcsetattr(STDIN, SetArg::TCSADRAIN, &raw);
        }
        if let Some(size) = pty::size(STDIN)
            && sys::window_size(self.master.as_fd()) != Some(size)
        {
            // The kernel tells the child.
            let _ = sys::set_window_size(self.master.as_fd(), size);
        }
        true
    }

    /// Ctrl-Z: stops the child and the shim, and returns when they go on.
    pub fn suspend(&mut self) {
        self.restore();
        self.console.suspend();
    }

    /// The modes are as they were, and stay so.
    pub fn release(&mut self) {
        if !self.is_released {
            self.restore();
        }
        self.is_released = true;
    }

    fn restore(&self) {
        if tcgetpgrp(STDIN).is_ok_and(|group| group == getpgrp()) {
            let _ = termios::tcsetattr(STDIN, SetArg::TCSADRAIN, &self.modes);
        }
    }
}

fn is_same(one: &Termios, other: &Termios) -> bool {
    (one.input_flags, one.output_flags, one.local_flags) == (other.input_flags, other.output_flags, other.local_flags)
}
