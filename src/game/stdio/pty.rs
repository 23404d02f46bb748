//! Pseudo-terminals for the child.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;
use nix::sys::termios::{self, OutputFlags, SetArg};

use crate::game::sys;

/// Rows and columns of a terminal that nobody has given a size (0 x 0): below that, Wine breaks lines inside of words.
const NOMINAL: [u16; 2] = [50, 200];

/// Both ends of a new one with the modes and the size of this one; the second is the program's. What is written to it
/// comes out unchanged: this one makes its line ends.
///
/// # Errors
/// There are no more, or no /dev/pts.
pub(super) fn like(terminal: BorrowedFd<'_>) -> io::Result<(OwnedFd, OwnedFd)> {
    let (master, slave) = open()?;
    let mut modes = termios::tcgetattr(terminal)?;
    modes.output_flags.remove(OutputFlags::OPOST);
    termios::tcsetattr(&slave, SetArg::TCSANOW, &modes)?;
    if let Some(size) = size(terminal) {
        sys::set_window_size(master.as_fd(), size)?;
    }
    Ok((master, slave))
}

/// The size of a terminal as the child is to see it; `None` where it is none.
pub(super) fn size(terminal: BorrowedFd<'_>) -> Option<[u16; 4]> {
    sys::window_size(terminal).map(|size| if size[..2] == [0, 0] { [NOMINAL[0], NOMINAL[1], 0, 0] } else { size })
}

fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let open = |path: &str| {
        let mut options = File::options();
        let file = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
        file.map_err(|error| io::Error::new(error.kind(), format!("no pseudo-terminal for the game: {path}: {error}")))
    };
    let master = open("/dev/ptmx")?;
    let number = sys::unlock_terminal(master.as_fd())?;
    let slave = open(&format!("/dev/pts/{number}"))?;
    Ok((master.into(), slave.into()))
}
