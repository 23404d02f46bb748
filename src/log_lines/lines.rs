//! Text in pieces, as a program's output or a growing file comes, taken apart into lines however it is cut.
//!
//! Pure. A line ends with a newline or a carriage return. What steers a terminal (colours, cursor, title) is left out
//! of it, but for a cursor that moves right, which stands for blanks; UTF-16, as Wine writes it to a pipe, is read as
//! text. So a pattern speaks of the words alone. A line longer than [`LONGEST`] counts as ended there, and the rest of
//! it is passed over. The last line, while it has no end, is looked at when somebody says that it rests.

use super::counted::CountedLines;
use crate::machine::{Event, PlainLine};
use crate::settings::Pattern;

/// What is shown of a line, in bytes.
const SHOWN: usize = 160;

/// What is looked at of one line, in bytes.
pub const LONGEST: usize = 64 * 1024;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// A cursor that is moved further right than any terminal is wide.
const MOST_BLANKS: u16 = 1000;

/// Looks for lines: for the one that is waited for, and for those that say who plays.
#[derive(Clone, Debug)]
pub struct Lines {
    /// `None` where no line is waited for, or none any more.
    pattern: Option<Pattern>,
    counted: Vec<CountedLines>,
    splitter: Splitter,
    passed: Passed,
}

/// Lines that do not match, since somebody took note of them.
#[derive(Clone, Debug, Default)]
struct Passed {
    lines: u32,
    /// The beginning of the last one.
    last: Vec<u8>,
    plain: Option<PlainLine>,
    /// One was found: the others are not looked for.
    had_plain: bool,
}

impl Passed {
    /// One more: a copy of its beginning, into room that is there already.
    fn take(&mut self, line: &[u8], pattern: &Pattern) {
        let beginning = &line[..line.len().min(SHOWN)];
        self.lines = self.lines.saturating_add(1);
        self.last.clear();
        self.last.extend_from_slice(beginning);
        if !self.had_plain && pattern.is_plain_in(line) {
            self.had_plain = true;
            self.plain = Some(PlainLine { line: shown(beginning), write: pattern.escaped() });
        }
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

impl Lines {
    /// Nothing has been read yet.
    #[must_use]
    pub fn new(pattern: Option<Pattern>, counted: Vec<CountedLines>) -> Self {
        Self { pattern, counted, splitter: Splitter::default(), passed: Passed::default() }
    }

    /// Lines have passed that do not match.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.passed.lines > 0
    }

    /// One of them has the pattern as plain text.
    #[must_use]
    pub fn has_plain(&self) -> bool {
        self.passed.plain.is_some()
    }

    /// Takes note of those that have passed.
    pub fn take_passed(&mut self) -> Event {
        Event::LinesPassed {
            lines: std::mem::take(&mut self.passed.lines),
            last: shown(&self.passed.last),
            plain: self.passed.plain.take(),
        }
    }

    /// Takes the next bytes; the number of lines that ended in them and are waited for.
    pub fn push(&mut self, bytes: &[u8]) -> u32 {
        let mut matches = 0;
        let Self { pattern, counted, splitter, passed } = self;
        splitter.push(bytes, |line, overwrites| {
            match pattern {
                Some(pattern) if pattern.is_match(line) => matches += 1,
                Some(pattern) => passed.take(line, pattern),
                None => {}
            }
            // A game prints what players type, and a carriage return in it begins no line of the game's own.
            if !overwrites {
                for counted in counted.iter_mut() {
                    counted.look(line);
                }
            }
        });
        counted.iter_mut().for_each(CountedLines::tell);
        matches
    }

    /// A last line without an end is there that has not been looked at.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.pattern.is_some() && self.splitter.has_news()
    }

    /// Nothing has come for a while: a prompt has no end. True where what is there of the line matches; its rest is
    /// then passed over.
    pub fn rest(&mut self) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        let matches = self.splitter.rest().is_some_and(|line| pattern.is_match(line));
        if matches {
            self.splitter.pass_over();
        }
        matches
    }

    /// The line that was waited for was seen.
    pub fn stop_waiting(&mut self) {
        self.pattern = None;
        self.passed = Passed::default();
    }

    /// There is nothing to look for.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.pattern.is_none() && self.counted.is_empty()
    }

    /// The file was replaced: what comes next continues nothing.
    pub fn start_over(&mut self) {
        self.splitter = Splitter::default();
    }
}

/// Takes text apart into lines.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// The line so far, without what steers a terminal.
    line: Vec<u8>,
    /// A line of UTF-16 as UTF-8, kept for its memory.
    text: String,
    state: State,
    /// A NUL came inside of what steers a terminal: UTF-16.
    is_wide: bool,
    /// The line has grown since it was last looked at.
    is_new: bool,
    /// The line has been looked at for good, or is too long: nothing more of it is wanted.
    is_over: bool,
    /// Words stand in front of the line, up to a carriage return without its newline. A prompt has none.
    overwrites: bool,
}

/// Inside of what steers a terminal (ECMA-48), or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a line of UTF-16, behind this byte: with a NUL it ends the line, else it is half of a letter.
    MaybeEnd(u8),
    /// Behind what steers a terminal, in UTF-16: the NUL that belongs to its last byte.
    Nul,
    /// Behind an escape.
    Escape,
    /// `ESC [` and this number, up to a letter: colours, cursor.
    Control(u16),
    /// `ESC ]` and the like, up to a bell or an `ESC \`: titles, links.
    String,
}

impl Splitter {
    /// Takes the next bytes, and shows each line that ends in them, and whether it overwrites words. None is empty.
    pub fn push(&mut self, mut bytes: &[u8], mut see: impl FnMut(&[u8], bool)) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.state == State::Text && !is_special(byte) {
                let length = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(bytes.len());
                let (text, rest) = bytes.split_at(length);
                // A plain line that is here as a whole is shown where it stands.
                if let [end @ (b'\n' | b'\r'), behind @ ..] = rest
                    && self.is_plain_whole(text)
                {
                    see(text, self.overwrites);
                    self.overwrites = *end == b'\r' && (self.overwrites || has_words(text));
                    bytes = behind;
                    continue;
                }
                self.take_text(text, &mut see);
                bytes = rest;
            } else {
                bytes = if self.take_special(byte, &mut see) { rest } else { bytes };
            }
        }
    }

    /// A last line without an end is there that has not been looked at.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.is_new
    }

    /// What is there of a line that has no end, if that is news.
    pub fn rest(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_new).then(|| seen(&self.line, &mut self.text))
    }

    /// Nothing more is wanted of the line that has no end yet.
    pub fn pass_over(&mut self) {
        (self.is_new, self.is_over) = (false, true);
    }

    /// Nothing stands in front of it, and it is seen as it is.
    fn is_plain_whole(&self, text: &[u8]) -> bool {
        self.line.is_empty() && !self.is_over && text.len() < LONGEST && text[0] != 0 && !is_utf16(text)
    }

    fn take_text(&mut self, text: &[u8], see: &mut impl FnMut(&[u8], bool)) {
        if self.is_over {
            return;
        }
        let text = if self.line.is_empty() { without_hole(text) } else { text };
        let room = LONGEST - self.line.len();
        self.line.extend_from_slice(&text[..text.len().min(room)]);
        self.is_new |= !text.is_empty();
        if text.len() >= room {
            self.pass_over();
            see(seen(&self.line, &mut self.text), self.overwrites);
        }
    }

    /// Takes one byte; false where it has to be looked at again, in another state.
    fn take_special(&mut self, byte: u8, see: &mut impl FnMut(&[u8], bool)) -> bool {
        match (self.state, byte) {
            (State::MaybeEnd(end), 0) => self.end(end, see),
            (State::MaybeEnd(end), _) => {
                self.state = State::Text;
                self.take_text(&[end, byte], see);
            }
            (State::Nul, _) => {
                self.state = State::Text;
                return byte == 0;
            }
            (State::Text, b'\n' | b'\r') if is_utf16(&self.line) => self.state = State::MaybeEnd(byte),
            (_, b'\n' | b'\r') => self.end(byte, see),
            (_, ESCAPE) => (self.state, self.is_wide) = (State::Escape, false),
            (State::Escape | State::Control(_) | State::String, 0) => self.is_wide = true,
            (State::Escape, b'[') => self.state = State::Control(0),
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.state = State::String,
            // `ESC ( B` and its like have one more byte.
            (State::Escape, 0x20..=0x2f) => {}
            (State::Control(number), b'0'..=b'9') => {
                self.state = State::Control(number.saturating_mul(10).saturating_add((byte - b'0').into()));
            }
            (State::Control(number), b'C') => {
                self.behind_control();
                let blank: &[u8] = if self.is_wide { b" \0" } else { b" " };
                for _ in 0..number.clamp(1, MOST_BLANKS) {
                    self.take_text(blank, see);
                }
            }
            (State::Escape, _) | (State::Control(_), 0x40..=0x7e) | (State::String, BELL) => self.behind_control(),
            (State::Text | State::Control(_) | State::String, _) => {}
        }
        true
    }

    fn behind_control(&mut self) {
        self.state = if self.is_wide { State::Nul } else { State::Text };
    }

    fn end(&mut self, end: u8, see: &mut impl FnMut(&[u8], bool)) {
        // Nothing between a carriage return and its newline is no line.
        if !self.is_over && !self.line.is_empty() {
            see(seen(&self.line, &mut self.text), self.overwrites);
        }
        self.overwrites = end == b'\r' && (self.overwrites || has_words(&self.line));
        self.line.clear();
        (self.state, self.is_new, self.is_over) = (State::Text, false, false);
    }
}

/// A line as patterns see it.
fn seen<'a>(line: &'a [u8], text: &'a mut String) -> &'a [u8] {
    if !is_utf16(line) {
        return line;
    }
    let units = line.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    text.clear();
    text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
    text.as_bytes()
}

/// Whole pairs, and in its beginning a quarter of them has a NUL behind: every letter of ASCII has, in UTF-16LE.
fn is_utf16(line: &[u8]) -> bool {
    /// Enough to tell by.
    const BEGINNING: usize = 64;
    let pairs = &line[..line.len().min(BEGINNING) & !1];
    let nuls = pairs.chunks_exact(2).filter(|pair| pair[1] == 0).count();
    line.len().is_multiple_of(2) && nuls > 0 && nuls >= pairs.len() / 8
}

/// A program that goes on in a file which was truncated under it leaves NULs in front.
pub(super) fn without_hole(text: &[u8]) -> &[u8] {
    let hole = text.iter().position(|&byte| byte != 0).unwrap_or(text.len());
    &text[hole..]
}

/// A letter or a digit, of whatever script.
fn has_words(text: &[u8]) -> bool {
    text.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
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
        Lines::new(Some(pattern::pattern(pattern).expect("a good pattern")), Vec::new())
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
    fn a_cursor_that_moves_right_is_blanks() {
        for text in [
            "Server\x1b[1Cstarted\x1b[2Cnow\n",
            "Server\x1b[Cstarted\x1b[C\x1b[0Cnow\n",
            "Server\x1b[32m\x1b[1Cstarted\x1b[2C\x1b[Know\n",
        ] {
            assert_eq!(matches("^Server started  now$", text.as_bytes()), 1, "{text:?}");
        }
        let far = format!("a\x1b[{}Cb\n", "9".repeat(100));
        assert_eq!(matches("^a {1000}b$", far.as_bytes()), 1);
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    /// As Wine writes it to a pipe, its own messages in ASCII between.
    #[test]
    fn utf_16_is_read_as_text_however_it_is_cut() {
        let text = [
            utf16("one\r\n\x1b[32mServer\x1b[1Cstarted\x1b[0m\r\n"),
            b"wine: a line of its own\n".to_vec(),
            utf16("[12:30] 丛上 joined the Server started\nServer started\n"),
            b"Server started\n".to_vec(),
            utf16("\x1b]0;a title\x07Server started\n"),
        ]
        .concat();
        assert_eq!(matches("^Server started$", &text), 4);
        assert_eq!(matches("^wine: a line of its own$", &text), 1);
        assert_eq!(matches("^.12:30. .* joined the Server started$", &text), 1);
        for size in 1..9 {
            let mut lines = lines("^Server started$");
            assert_eq!(text.chunks(size).map(|piece| lines.push(piece)).sum::<u32>(), 4, "pieces of {size}");
        }
        let mut prompt = lines("^> $");
        assert_eq!((prompt.push(&utf16("> ")), prompt.rest()), (0, true));
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
                    Just(b'b'), Just(0), Just(b'C'), any::<u8>()], 0..400),
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
