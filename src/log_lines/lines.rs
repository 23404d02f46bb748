//! Text in pieces, as a program's output or a growing file comes, looked at line by line however it is cut.
//!
//! Pure. A line ends with a newline or a carriage return. What steers a terminal (colours, cursor, title) is left out
//! of it, so that a pattern speaks of the words alone. A line longer than [`LONGEST`] counts as ended there, and the
//! rest of it is passed over. The last line, while it has no end, is looked at when somebody says that it rests.

use crate::settings::Pattern;

/// What is looked at of one line, in bytes.
pub const LONGEST: usize = 64 * 1024;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Finds lines that match.
#[derive(Clone, Debug)]
pub struct Lines {
    pattern: Pattern,
    /// The line so far, without what steers a terminal.
    line: Vec<u8>,
    state: State,
    /// The line has grown since it was last looked at.
    is_new: bool,
    /// The line has been counted, or is too long: nothing more of it is looked at.
    is_over: bool,
}

/// Inside of what steers a terminal (ECMA-48), or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// Behind an escape.
    Escape,
    /// `ESC [` up to a letter: colours, cursor.
    Control,
    /// `ESC ]` and the like, up to a bell or an `ESC \`: titles, links.
    String,
}

impl Lines {
    /// Nothing has been read yet.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        Self { pattern, line: Vec::new(), state: State::Text, is_new: false, is_over: false }
    }

    /// Takes the next bytes; the number of lines that ended in them and match.
    pub fn push(&mut self, mut bytes: &[u8]) -> u32 {
        let mut matches = 0;
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.state == State::Text && !is_special(byte) {
                let length = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(bytes.len());
                let (text, rest) = bytes.split_at(length);
                matches += self.take_text(text);
                bytes = rest;
            } else {
                matches += self.take_special(byte);
                bytes = rest;
            }
        }
        matches
    }

    /// A last line without an end is there that has not been looked at.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.is_new
    }

    /// Nothing has come for a while: a prompt has no end. True where what is there of the line matches; its rest is
    /// then passed over.
    pub fn rest(&mut self) -> bool {
        let matches = std::mem::take(&mut self.is_new) && self.is_match();
        self.is_over |= matches;
        matches
    }

    /// The file was replaced: what comes next continues nothing.
    pub fn start_over(&mut self) {
        *self = Self::new(self.pattern.clone());
    }

    fn take_text(&mut self, text: &[u8]) -> u32 {
        if self.is_over {
            return 0;
        }
        // A program that goes on in a file which was truncated under it leaves a hole in front.
        let text = if self.line.is_empty() { without_hole(text) } else { text };
        let room = LONGEST - self.line.len();
        self.line.extend_from_slice(&text[..text.len().min(room)]);
        self.is_new |= !text.is_empty();
        if text.len() < room {
            return 0;
        }
        u32::from(self.look())
    }

    fn take_special(&mut self, byte: u8) -> u32 {
        match (self.state, byte) {
            (_, b'\n' | b'\r') => {
                // Nothing between a carriage return and its newline is no line.
                let matches = !self.is_over && !self.line.is_empty() && self.is_match();
                self.line.clear();
                (self.state, self.is_new, self.is_over) = (State::Text, false, false);
                return u32::from(matches);
            }
            (_, ESCAPE) => self.state = State::Escape,
            (State::Escape, b'[') => self.state = State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.state = State::String,
            // `ESC ( B` and its like have one more byte.
            (State::Escape, 0x20..=0x2f) => {}
            (State::Escape, _) | (State::Control, 0x40..=0x7e) | (State::String, BELL) => self.state = State::Text,
            (State::Text | State::Control | State::String, _) => {}
        }
        0
    }

    /// Looks at a line that is full.
    fn look(&mut self) -> bool {
        (self.is_new, self.is_over) = (false, true);
        self.is_match()
    }

    fn is_match(&self) -> bool {
        self.pattern.is_match(&self.line)
    }
}

fn without_hole(text: &[u8]) -> &[u8] {
    let hole = text.iter().position(|&byte| byte != 0).unwrap_or(text.len());
    &text[hole..]
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | ESCAPE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::pattern;

    fn lines(pattern: &str) -> Lines {
        Lines::new(pattern::pattern(pattern).expect("a good pattern"))
    }

    fn matches(pattern: &str, text: &[u8]) -> u32 {
        lines(pattern).push(text)
    }

    #[test]
    fn a_line_matches_once_however_often_the_pattern_is_in_it() {
        assert_eq!(matches("up", b"up up\nnot\nup\r\nup"), 2, "the last has no end yet");
        assert_eq!(matches("^up$", b"up\nup \n up\r\nup\r\n"), 2);
        assert_eq!(matches("^$", b"\n\r\n"), 0, "an empty line is none");
    }

    #[test]
    fn a_line_without_an_end_is_looked_at_when_it_rests_and_counted_once() {
        let mut lines = lines("^> $|done");
        assert_eq!(
            (lines.push(b"start\n>"), lines.has_news(), lines.rest(), lines.has_news()),
            (0, true, false, false)
        );
        assert_eq!((lines.push(b" "), lines.rest(), lines.push(b"done"), lines.rest()), (0, true, 0, false));
        assert_eq!((lines.push(b"done\ndone\n"), lines.has_news()), (1, false), "the rest of that line is passed over");
    }

    #[test]
    fn what_a_line_turns_into_is_not_guessed_from_its_beginning() {
        let mut lines = lines("ready$");
        assert_eq!(lines.push(b"ready"), 0);
        assert_eq!(lines.push(b" or not\n"), 0);
    }

    #[test]
    fn colours_cursor_and_titles_are_left_out() {
        for text in [
            "\x1b[32mServer \x1b[1;97mstarted\x1b[0m\n",
            "\x1b]0;a title\x07Server started\n",
            "\x1b]8;;http://localhost/\x1b\\Server started\n",
            "\x1b(B\x1b7Server\x1b[K started\x1b[\n",
            "> \r\x1b[KServer started\n",
            "Loading 10%\rLoading 20%\rServer started\r\n",
        ] {
            assert_eq!(matches("^Server started$", text.as_bytes()), 1, "{text:?}");
        }
        assert_eq!(matches("^up$", b"\x1b]0;a title that never ends\nup\n"), 1);
    }

    #[test]
    fn a_long_line_is_looked_at_to_its_limit() {
        let long = |before: usize, end: &str| {
            let mut text = vec![b'x'; before];
            text.extend_from_slice(format!("ready{end}").as_bytes());
            text
        };
        assert_eq!(matches("ready", &long(LONGEST - 5, "")), 1, "at the limit it counts as ended");
        assert_eq!(matches("ready", &long(LONGEST - 4, "\n")), 0);
        assert_eq!(matches("ready", &[long(10 * LONGEST, "\n"), b"ready\n".to_vec()].concat()), 1);
        assert_eq!(matches("x", &long(10 * LONGEST, "\n")), 1, "once");
    }

    #[test]
    fn any_bytes_will_do() {
        assert_eq!(matches("a.b", b"a\xffb\n"), 1, "what is no UTF-8 is one character");
        assert_eq!(matches("a\\x00b", b"a\0b\n"), 1);
        assert_eq!(matches("^käse$", "käse\n".as_bytes()), 1);
        assert_eq!(
            matches("^up$", &[vec![0; 2 * LONGEST], b"up\n".to_vec()].concat()),
            1,
            "a hole in front is no line"
        );
    }

    proptest! {
        #[test]
        fn any_cut_of_the_same_bytes_gives_the_same_matches(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(ESCAPE), Just(b'['), Just(b'm'), Just(b']'), Just(BELL), Just(b'a'),
                    Just(b'b'), any::<u8>()], 0..400),
            cuts in proptest::collection::vec(1usize..9, 1..400),
        ) {
            for pattern in ["a", "^a+b?$", "a.*b$", "^[^a]"] {
                let whole = matches(pattern, &bytes);
                let mut cut = lines(pattern);
                let (mut rest, mut sum) = (&bytes[..], 0);
                for &length in cuts.iter().cycle() {
                    let (piece, later) = rest.split_at(length.min(rest.len()));
                    sum += cut.push(piece);
                    rest = later;
                    if rest.is_empty() {
                        break;
                    }
                }
                prop_assert_eq!(whole, sum, "{}", pattern);
                prop_assert_eq!(cut.rest(), { let mut one = lines(pattern); one.push(&bytes); one.rest() });
            }
        }

        #[test]
        fn a_cut_inside_of_a_long_line_changes_nothing(cut in 0usize..70_000, length in 65_000usize..66_000) {
            let bytes = [vec![b'x'; length], b"ready\nready\n".to_vec()].concat();
            let mut lines = lines("ready");
            let cut = cut.min(bytes.len());
            prop_assert_eq!(lines.push(&bytes[..cut]) + lines.push(&bytes[cut..]), matches("ready", &bytes));
        }
    }
}
