//! A console of lines over TCP: 7 Days to Die, Soulmask, the external console of Teeworlds and DDNet.
//!
//! No two agree on anything but that. A prompt is text with "password" in it, and what answers a password is the next
//! line; everything else ends by silence. Telnet's own commands are taken out and not answered: games send them only
//! to have an echo switched off, and go on without an answer.

use super::{Console, Failure, Out, QUIET, Step, closed_unanswered, refused, unanswered};

/// Kept of a greeting. None is longer.
const LONGEST_GREETING: usize = 16 * 1024;

const NO: [&str; 7] = ["wrong", "incorrect", "invalid", "denied", "fail", "unsuccess", "refuse"];
const YES: [&str; 4] = ["success", "accept", "grant", "correct"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Greeting,
    /// The password was sent; its answer is the next line.
    Asked,
    /// It was taken; what else there is to greet with.
    Welcome,
    Command,
}

/// Where in a command of telnet's own the stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telnets {
    Text,
    /// Behind IAC.
    Command,
    /// Behind WILL, WONT, DO or DONT.
    Option,
    /// Behind SB, up to IAC SE.
    Long,
    LongCommand,
}

pub(super) struct Telnet {
    command: String,
    password: Option<String>,
    phase: Phase,
    telnets: Telnets,
    /// Of the greeting, or of the password's answer.
    text: Vec<u8>,
}

impl Telnet {
    pub fn new(command: &str, password: Option<&str>) -> Self {
        Self {
            command: command.to_owned(),
            password: password.map(str::to_owned),
            phase: Phase::Greeting,
            telnets: Telnets::Text,
            text: Vec::new(),
        }
    }

    /// A byte of text, if it is one.
    fn text(&mut self, byte: u8) -> Option<u8> {
        let (next, text) = match (self.telnets, byte) {
            (Telnets::Text, 255) => (Telnets::Command, None),
            (Telnets::Command, 255) => (Telnets::Text, Some(byte)),
            (Telnets::Command, 250) | (Telnets::LongCommand, _) if byte != 240 => (Telnets::Long, None),
            (Telnets::Command, 251..=254) => (Telnets::Option, None),
            (Telnets::Long, 255) => (Telnets::LongCommand, None),
            (Telnets::Long, _) => (Telnets::Long, None),
            (Telnets::Command | Telnets::Option | Telnets::LongCommand, _)
            // Lines end with a newline alone here.
            | (Telnets::Text, 0 | b'\r') => (Telnets::Text, None),
            (Telnets::Text, _) => (Telnets::Text, Some(byte)),
        };
        self.telnets = next;
        text
    }

    fn byte(&mut self, byte: u8, out: &mut Out) -> Result<(), Failure> {
        match self.phase {
            Phase::Welcome => {}
            Phase::Command => out.answer.push(byte),
            Phase::Greeting => {
                self.text.push(byte);
                // A prompt ends with a colon, so that a greeting may speak of passwords.
                if byte == b':' && lower(&self.text).contains("password") {
                    self.log_in(out)?;
                }
                if self.text.len() > LONGEST_GREETING {
                    return Err(unanswered("no console: its greeting does not end"));
                }
            }
            Phase::Asked => {
                self.text.push(byte);
                if byte == b'\n' || self.text.len() > LONGEST_GREETING {
                    self.judge(false)?;
                }
            }
        }
        Ok(())
    }

    fn log_in(&mut self, out: &mut Out) -> Result<(), Failure> {
        let Some(password) = &self.password else { return Err(no_password()) };
        out.send.push([password.as_bytes(), b"\n"].concat());
        self.text.clear();
        self.phase = Phase::Asked;
        Ok(())
    }

    /// What a line says of the password. No line is an answer in the end, if it neither refuses nor asks again.
    fn judge(&mut self, is_end: bool) -> Result<(), Failure> {
        let line = lower(&self.text);
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        // What follows a prompt on its own line, or an echo of what was typed.
        let is_nothing = line.trim().is_empty();
        if has(&NO) || (!has(&YES) && line.contains("password")) {
            return Err(refused());
        }
        if !is_nothing || is_end {
            self.phase = Phase::Welcome;
        }
        self.text.clear();
        Ok(())
    }

    fn patience(&self, out: &Out) -> Step {
        match self.phase {
            Phase::Asked if self.text.is_empty() => Step::Wait,
            Phase::Command if out.answer.is_empty() => Step::Wait,
            Phase::Greeting | Phase::Asked | Phase::Welcome | Phase::Command => Step::Quiet(QUIET),
        }
    }
}

impl Console for Telnet {
    fn open(&mut self, out: &mut Out) -> Step {
        self.patience(out)
    }

    fn take(&mut self, bytes: &[u8], out: &mut Out) -> Result<Step, Failure> {
        for &byte in bytes {
            if let Some(byte) = self.text(byte) {
                self.byte(byte, out)?;
            }
        }
        Ok(self.patience(out))
    }

    fn quiet(&mut self, out: &mut Out) -> Result<Step, Failure> {
        match self.phase {
            Phase::Command if self.password.is_none() && is_prompt(&out.answer) => return Err(no_password()),
            Phase::Command => return Ok(Step::Done),
            // A prompt without a colon.
            Phase::Greeting if lower(&self.text).lines().last().is_some_and(|line| line.contains("password")) => {
                self.log_in(out)?;
            }
            Phase::Asked => self.judge(true)?,
            // DDNet's takes a second to come, since nobody plays there. A command in its place would be a wrong password.
            Phase::Greeting if self.password.is_some() => {}
            Phase::Greeting | Phase::Welcome => {
                self.phase = Phase::Command;
                out.send.push([self.command.as_bytes(), b"\n"].concat());
            }
        }
        Ok(self.patience(out))
    }

    fn closed(&self) -> Result<(), Failure> {
        match self.phase {
            Phase::Asked => Err(Failure::Refused("the connection closed on the password: it is refused".into())),
            Phase::Greeting | Phase::Welcome => Err(unanswered("the connection closed before a command could be sent")),
            Phase::Command => Err(closed_unanswered()),
        }
    }

    fn awaited(&self) -> Option<&'static str> {
        let awaits_prompt = self.phase == Phase::Greeting && self.password.is_some();
        awaits_prompt.then_some("no prompt for a password (where there is none, leave AGONES_SHIM_RCON_PASSWORD unset)")
    }
}

/// What came for an answer is a prompt that came late: the command was taken for a password.
fn is_prompt(answer: &[u8]) -> bool {
    let text = lower(answer);
    text.lines().next().is_some_and(|line| line.contains("password") && line.trim_end().ends_with([':', '>', '?']))
}

fn no_password() -> Failure {
    Failure::Refused("it asks for a password, and there is none (set AGONES_SHIM_RCON_PASSWORD)".into())
}

fn lower(text: &[u8]) -> String {
    String::from_utf8_lossy(text).to_lowercase()
}
