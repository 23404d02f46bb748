//! Pseudo-terminals for the child.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;
use nix::sys::termios::{self, LocalFlags, OutputFlags, SetArg, SpecialCharacterIndices};

use crate::game::sys::{self, STDIN, STDOUT};

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

/// Both ends of a new one for a child's whole console, like the shim's own terminal where it has one. Where its output
/// does not end on a terminal, lines end as in a log.
///
/// # Errors
/// There are no more, or no /dev/pts.
pub(super) fn console() -> io::Result<(OwnedFd, OwnedFd)> {
    let (master, slave) = open()?;
    let own = termios::tcgetattr(STDIN);
    let mut modes = own.or_else(|_| termios::tcgetattr(&slave))?;
    if sys::window_size(STDOUT).is_none() {
        modes.output_flags.remove(OutputFlags::OPOST);
    }
    termios::tcsetattr(&slave, SetArg::TCSANOW, &modes)?;
    let size = size(STDIN).or_else(|| size(STDOUT)).unwrap_or([NOMINAL[0], NOMINAL[1], 0, 0]);
    sys::set_window_size(master.as_fd(), size)?;
    Ok((master, slave))
}

/// What ends a line on this end of a child's stdin: that of a program which reads keys is the Enter key's.
pub(super) fn line_end(stdin: BorrowedFd<'_>) -> u8 {
    let reads_keys = termios::tcgetattr(stdin).is_ok_and(|modes| !modes.local_flags.contains(LocalFlags::ICANON));
    if reads_keys { b'\r' } else { b'\n' }
}

/// The key that would stop the program on this terminal, if any.
pub(super) fn suspend_key(terminal: BorrowedFd<'_>) -> Option<u8> {
    let modes = termios::tcgetattr(terminal).ok().filter(|modes| modes.local_flags.contains(LocalFlags::ISIG))?;
    // 0 is none.
    Some(modes.control_chars[SpecialCharacterIndices::VSUSP as usize]).filter(|&key| key != 0)
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
