//! Rust's console: a WebSocket whose path is the password, and JSON with a number that the answer gives back.
//!
//! Everything else that the game says there is its log, which is passed over.

use serde_json::{Value, json};

use super::websocket::{CLOSE, Frames, Message, PONG, TEXT, frame, request};
use super::{Console, Failure, Out, Step, Target, closed_unanswered, refused, unanswered};

/// The longest head of an answer to the handshake.
const LONGEST_HEAD: usize = 16 * 1024;

pub(super) struct WebRcon {
    request: Vec<u8>,
    command: String,
    /// What the answer gives back; a C# int, and 0 and below are the game's own.
    identifier: i32,
    mask: u64,
    /// Of the handshake's answer; `None` behind it.
    head: Option<Vec<u8>>,
    frames: Frames,
    /// It has said something: it has taken the password.
    has_spoken: bool,
}

/// The game compares the path as it comes, so nothing can be percent-encoded.
pub(super) fn check(password: &str) -> Result<(), &'static str> {
    if !password.bytes().all(|byte| byte.is_ascii_graphic()) || password.contains(['?', '#', '%']) {
        return Err("cannot be sent to Rust, where it is a path (ASCII without blanks, ?, # and % only)");
    }
    Ok(())
}

impl WebRcon {
    pub fn new(target: &Target, command: &str, password: &str, number: u64) -> Self {
        let host = format!("{}:{}", target.host, target.port);
        Self {
            request: request(password, &host, number),
            command: command.to_owned(),
            identifier: i32::try_from(number >> 34).unwrap_or(1).max(1),
            mask: number,
            head: Some(Vec::new()),
            frames: Frames::default(),
            has_spoken: false,
        }
    }

    /// Takes bytes of the handshake's answer; what stands behind it once it is whole.
    fn handshake(&mut self, mut head: Vec<u8>, bytes: &[u8], out: &mut Out) -> Result<(), Failure> {
        head.extend_from_slice(bytes);
        let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else {
            if head.len() > LONGEST_HEAD {
                return Err(unanswered("no webrcon answer: its head does not end"));
            }
            self.head = Some(head);
            return Ok(());
        };
        let text = String::from_utf8_lossy(&head[..end]);
        let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split_whitespace().next());
        match status.and_then(|status| status.parse::<u16>().ok()) {
            Some(101) => {}
            Some(401 | 403) => return Err(refused()),
            Some(status) => return Err(unanswered(format!("no webrcon answer: it is HTTP status {status}"))),
            None => return Err(unanswered("no webrcon answer: it is no HTTP")),
        }
        self.frames.push(&head[end + 4..]);
        let question = json!({ "Identifier": self.identifier, "Message": self.command, "Name": "agones-shim" });
        out.send.push(frame(TEXT, question.to_string().as_bytes(), self.mask));
        Ok(())
    }

    /// The text of our answer.
    fn answer(&self, message: &[u8]) -> Option<String> {
        let mut message: Value = serde_json::from_slice(message).ok()?;
        let is_ours = message["Identifier"].as_i64() == Some(self.identifier.into());
        match message["Message"].take() {
            Value::String(text) if is_ours => Some(text),
            _ => None,
        }
    }
}

impl Console for WebRcon {
    fn open(&mut self, out: &mut Out) -> Step {
        out.send.push(self.request.clone());
        Step::Wait
    }

    fn take(&mut self, bytes: &[u8], out: &mut Out) -> Result<Step, Failure> {
        match self.head.take() {
            Some(head) => self.handshake(head, bytes, out)?,
            None => self.frames.push(bytes),
        }
        if self.head.is_some() {
            return Ok(Step::Wait);
        }
        while let Some(message) =
            self.frames.next().map_err(|what| unanswered(format!("no webrcon answer: it {what}")))?
        {
            match message {
                Message::Text(text) => {
                    self.has_spoken = true;
                    if let Some(answer) = self.answer(&text) {
                        out.answer = answer.into_bytes();
                        out.send.push(frame(CLOSE, b"", self.mask));
                        return Ok(Step::Done);
                    }
                }
                Message::Ping(payload) => out.send.push(frame(PONG, &payload, self.mask)),
                Message::Close => return self.closed().map(|()| Step::Done),
            }
        }
        Ok(Step::Wait)
    }

    fn closed(&self) -> Result<(), Failure> {
        Err(match (&self.head, self.has_spoken) {
            (Some(_), _) => unanswered("the connection closed during the handshake"),
            (None, true) => closed_unanswered(),
            // It takes everybody's connection, and drops those whose path is wrong.
            (None, false) => Failure::Refused("the password is refused: the connection was closed on it".into()),
        })
    }
}
