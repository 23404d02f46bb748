//! As much of RFC 6455 as one client needs for one question: the handshake's request, frames out, messages in.
//!
//! The handshake's `Sec-WebSocket-Accept` is not looked at. It is there so that a server that knows nothing of
//! WebSockets is not taken for one; here nothing counts but an answer that gives back a number of ours, and that such a
//! server does not have.

use crate::net::http::base64;

/// The longest message, all its frames together.
const LONGEST_MESSAGE: usize = 2 * super::LONGEST_ANSWER;

const CONTINUATION: u8 = 0;
pub(super) const TEXT: u8 = 1;
const BINARY: u8 = 2;
pub(super) const CLOSE: u8 = 8;
const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// What the other side says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    Text(Vec<u8>),
    /// Wants its payload back.
    Ping(Vec<u8>),
    Close,
}

/// The request that asks for a WebSocket.
pub(super) fn request(path: &str, host: &str, number: u64) -> Vec<u8> {
    let key = base64(&[number.to_be_bytes(), number.rotate_left(17).to_be_bytes()].concat());
    let head = [
        &format!("GET /{path} HTTP/1.1"),
        &format!("Host: {host}"),
        "Upgrade: websocket",
        "Connection: Upgrade",
        &format!("Sec-WebSocket-Key: {key}"),
        "Sec-WebSocket-Version: 13",
        "\r\n",
    ];
    head.join("\r\n").into_bytes()
}

/// One frame, masked as a client's has to be.
pub(super) fn frame(kind: u8, payload: &[u8], number: u64) -> Vec<u8> {
    const MASKED: u8 = 0x80;
    const SHORT: u8 = 126;
    const LONG: u8 = 127;
    let mut bytes = vec![0x80 | kind];
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ ..SHORT), _) => bytes.push(MASKED | length),
        (_, Ok(length)) => {
            bytes.push(MASKED | SHORT);
            bytes.extend(length.to_be_bytes());
        }
        _ => {
            bytes.push(MASKED | LONG);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    let mask = &number.to_be_bytes()[..4];
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// The stream behind the handshake, cut into messages.
#[derive(Default)]
pub(super) struct Frames {
    pending: Vec<u8>,
    /// The frames so far of a message in several.
    message: Vec<u8>,
}

impl Frames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next message that is whole. An error is a predicate about what came.
    pub fn next(&mut self) -> Result<Option<Message>, &'static str> {
        loop {
            let Some(&[first, second]) = self.pending.first_chunk() else { return Ok(None) };
            let (is_last, kind) = (first & 0x80 != 0, first & 0x0f);
            if first & 0x70 != 0 || second & 0x80 != 0 {
                return Err("has a frame that no server may send");
            }
            let rest = &self.pending[2..];
            let (length, head) = match second {
                126 => (rest.first_chunk().map(|long| u16::from_be_bytes(*long).into()), 4),
                127 => (rest.first_chunk().map(|long| u64::from_be_bytes(*long)), 10),
                short => (Some(short.into()), 2),
            };
            let Some(length) = length else { return Ok(None) };
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length > LONGEST_MESSAGE - self.message.len() {
                return Err("has a message that is too long");
            }
            let Some(payload) = self.pending.get(head..head + length) else { return Ok(None) };
            let payload = payload.to_vec();
            self.pending.drain(..head + length);
            match kind {
                CONTINUATION | TEXT | BINARY => {
                    self.message.extend(payload);
                    if is_last {
                        return Ok(Some(Message::Text(std::mem::take(&mut self.message))));
                    }
                }
                PING => return Ok(Some(Message::Ping(payload))),
                CLOSE => return Ok(Some(Message::Close)),
                PONG => {}
                _ => return Err("has a frame of no kind"),
            }
        }
    }
}
