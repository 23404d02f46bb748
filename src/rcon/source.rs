//! Valve's Source RCON, which Minecraft, Factorio, ARK, Palworld and most games that say "RCON" speak, each with quirks.
//!
//! An answer comes in as many packets as it needs, and none says that it is the last. So a second, empty request is
//! sent once the first packet is there (sooner, and Minecraft closes the connection over two requests in one segment):
//! its answer stands behind all of the first. Servers that do not answer it are done when they have been quiet.

use super::{Console, Failure, Out, QUIET, Step, closed_unanswered, refused, unanswered};

const AUTH: i32 = 3;
const COMMAND: i32 = 2;
/// Of two meanings of 2, the answer's.
const AUTH_ANSWER: i32 = 2;
const VALUE: i32 = 0;

/// What our packets are called.
const AUTH_ID: i32 = 1;
const COMMAND_ID: i32 = 2;
const END_ID: i32 = 3;
/// In the answer to a password that is wrong.
const REFUSED_ID: i32 = -1;

/// What a length counts beside the text: id, kind, and a NUL behind each of two strings.
const OVERHEAD: usize = 10;
/// The protocol says 4 KiB; there are games that put all of a long answer into one packet.
const LARGEST: usize = 256 * 1024;

pub(super) struct Source {
    password: Vec<u8>,
    command: Vec<u8>,
    /// The beginning of a packet.
    pending: Vec<u8>,
    is_in: bool,
    has_answer: bool,
    /// The end was asked for.
    asked_end: bool,
}

impl Source {
    pub fn new(command: &str, password: &str) -> Self {
        Self {
            password: password.into(),
            command: command.into(),
            pending: Vec::new(),
            is_in: false,
            has_answer: false,
            asked_end: false,
        }
    }

    fn packet(&mut self, id: i32, kind: i32, text: &[u8], out: &mut Out) -> Result<Step, Failure> {
        if !self.is_in {
            return match (kind, id) {
                (AUTH_ANSWER, REFUSED_ID) => Err(refused()),
                // Some give back another id than they were sent.
                (AUTH_ANSWER, _) => {
                    self.is_in = true;
                    out.send.push(packet(COMMAND_ID, COMMAND, &self.command));
                    Ok(Step::Wait)
                }
                // Valve's servers send an empty value first.
                _ => Ok(Step::Wait),
            };
        }
        match (kind, id) {
            (VALUE, END_ID) if self.asked_end => Ok(Step::Done),
            (AUTH_ANSWER, REFUSED_ID) => Err(refused()),
            // Palworld calls every answer 0, Conan Exiles gives it kind 2.
            (VALUE | AUTH_ANSWER, _) => {
                self.has_answer = true;
                out.answer.extend_from_slice(text);
                // Who does not give back the id of one request cannot mark the end with that of another.
                if id == COMMAND_ID && !self.asked_end {
                    self.asked_end = true;
                    out.send.push(packet(END_ID, VALUE, b""));
                }
                Ok(self.patience())
            }
            // Rust's log lines are kind 4.
            _ => Ok(self.patience()),
        }
    }

    fn patience(&self) -> Step {
        if self.has_answer { Step::Quiet(QUIET) } else { Step::Wait }
    }
}

impl Console for Source {
    fn open(&mut self, out: &mut Out) -> Step {
        out.send.push(packet(AUTH_ID, AUTH, &self.password));
        Step::Wait
    }

    fn take(&mut self, bytes: &[u8], out: &mut Out) -> Result<Step, Failure> {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        let mut step = self.patience();
        while let Some((length, rest)) = self.pending[at..].split_first_chunk() {
            let length = usize::try_from(i32::from_le_bytes(*length)).unwrap_or(0);
            if !(OVERHEAD..=LARGEST).contains(&length) {
                return Err(unanswered("no source answer: a packet's length cannot be right"));
            }
            let Some(body) = rest.get(..length) else { break };
            let (id, kind) = (int(&body[..4]), int(&body[4..8]));
            // Two NULs by the book; there are servers that leave one out.
            let text = body[8..].split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
            at += 4 + length;
            step = self.packet(id, kind, &text, out)?;
            if step == Step::Done {
                return Ok(step);
            }
        }
        self.pending.drain(..at);
        // A packet that has begun must end: silence in the middle of one is no end.
        Ok(if self.pending.is_empty() { step } else { Step::Wait })
    }

    fn closed(&self) -> Result<(), Failure> {
        if !self.is_in {
            return Err(unanswered(
                "the connection closed before the password was answered (some games do that to a wrong one, or after several)",
            ));
        }
        if self.has_answer && self.pending.is_empty() { Ok(()) } else { Err(closed_unanswered()) }
    }
}

fn int(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(0, i32::from_le_bytes)
}

fn packet(id: i32, kind: i32, text: &[u8]) -> Vec<u8> {
    let length = i32::try_from(text.len() + OVERHEAD).unwrap_or(i32::MAX);
    let head = [length, id, kind].map(i32::to_le_bytes).concat();
    [&head, text, b"\0\0"].concat()
}
