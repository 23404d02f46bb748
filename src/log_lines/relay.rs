//! The lines of a file on their way to stdout, each as a whole: what else is written there never stands inside of one.

use super::lines::{LONGEST, without_hole};

/// Writes all of it; false where nobody will ever read it.
pub type Write = fn(&[u8]) -> bool;

/// Passes on what it is given, line by line.
#[derive(Debug)]
pub struct Relay {
    /// `None` once nobody reads any more.
    write: Option<Write>,
    /// A line without an end.
    rest: Vec<u8>,
}

impl Relay {
    /// Nothing has been passed on yet.
    #[must_use]
    pub fn new(write: Write) -> Self {
        Self { write: Some(write), rest: Vec::new() }
    }

    /// Takes the next bytes, and writes what is whole of them.
    pub fn push(&mut self, bytes: &[u8]) {
        // What a file that was truncated under its writer has in front may be as long as the file was.
        let bytes = if self.rest.is_empty() { without_hole(bytes) } else { bytes };
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let (whole, rest) = bytes.split_at(end);
        if !whole.is_empty() {
            if self.rest.is_empty() {
                self.write(whole);
            } else {
                self.rest.extend_from_slice(whole);
                self.write_rest();
            }
        }
        self.rest.extend_from_slice(rest);
        if self.rest.len() > LONGEST {
            self.write_rest();
        }
    }

    /// What comes next continues nothing: a line that has no end gets one.
    pub fn end(&mut self) {
        if !self.rest.is_empty() {
            self.rest.push(b'\n');
            self.write_rest();
        }
    }

    fn write_rest(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.write(&rest);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.write.is_some_and(|write| !write(bytes)) {
            log::debug!("nobody reads the game's log any more");
            self.write = None;
        }
    }
}
