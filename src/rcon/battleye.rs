//! BattlEye's RCon, over UDP: Arma, DayZ.
//!
//! Every packet carries a CRC-32 and a command a sequence number, which its answer gives back, in numbered parts where
//! it is long. What the server says of itself has to be acknowledged, or it drops the connection.

use std::time::Duration;

use super::{Console, Failure, Out, Step, closed_unanswered, refused};

const LOGIN: u8 = 0;
const COMMAND: u8 = 1;
const MESSAGE: u8 = 2;
/// A lost login is sent again after so long: it does nothing but log in.
const LOGIN_PAUSE: Duration = Duration::from_millis(500);
/// Of our one command.
const SEQUENCE: u8 = 0;

pub(super) struct Battleye {
    password: Vec<u8>,
    command: Vec<u8>,
    is_in: bool,
    /// The parts of the answer as they come, in any order.
    parts: Vec<Option<Vec<u8>>>,
}

impl Battleye {
    pub fn new(command: &str, password: &str) -> Self {
        Self { password: password.into(), command: command.into(), is_in: false, parts: Vec::new() }
    }

    fn patience(&self) -> Step {
        if self.is_in { Step::Wait } else { Step::Quiet(LOGIN_PAUSE) }
    }

    /// A part, or the whole, of the answer.
    fn answer(&mut self, body: &[u8], out: &mut Out) -> Step {
        // Text never begins with a NUL.
        let [0, total, index, text @ ..] = body else {
            out.answer.extend_from_slice(body);
            return Step::Done;
        };
        if self.parts.is_empty() {
            self.parts.resize((*total).into(), None);
        }
        if let Some(part) = self.parts.get_mut(usize::from(*index)) {
            part.get_or_insert_with(|| text.to_vec());
        }
        if self.parts.is_empty() || self.parts.iter().any(Option::is_none) {
            return Step::Wait;
        }
        out.answer.extend(self.parts.drain(..).flatten().flatten());
        Step::Done
    }
}

impl Console for Battleye {
    fn open(&mut self, out: &mut Out) -> Step {
        out.send.push(packet(LOGIN, &self.password));
        self.patience()
    }

    fn take(&mut self, datagram: &[u8], out: &mut Out) -> Result<Step, Failure> {
        match opened(datagram) {
            Some([LOGIN, 0, ..]) if !self.is_in => Err(refused()),
            Some([LOGIN, 1, ..]) if !self.is_in => {
                self.is_in = true;
                out.send.push(packet(COMMAND, &[&[SEQUENCE], self.command.as_slice()].concat()));
                Ok(self.patience())
            }
            Some([COMMAND, SEQUENCE, body @ ..]) if self.is_in => Ok(self.answer(body, out)),
            Some([MESSAGE, sequence, ..]) => {
                out.send.push(packet(MESSAGE, &[*sequence]));
                Ok(self.patience())
            }
            _ => Ok(self.patience()),
        }
    }

    fn quiet(&mut self, out: &mut Out) -> Result<Step, Failure> {
        Ok(self.open(out))
    }

    fn closed(&self) -> Result<(), Failure> {
        Err(closed_unanswered())
    }
}

/// Kind and payload of a packet that is whole.
fn opened(datagram: &[u8]) -> Option<&[u8]> {
    let (crc, body) = datagram.strip_prefix(b"BE")?.split_first_chunk()?;
    let payload = body.strip_prefix(&[0xff])?;
    (u32::from_le_bytes(*crc) == crc32(body)).then_some(payload)
}

pub(super) fn packet(kind: u8, payload: &[u8]) -> Vec<u8> {
    let body = [&[0xff, kind], payload].concat();
    [b"BE".as_slice(), &crc32(&body).to_le_bytes(), &body].concat()
}

/// The CRC of zip and Ethernet, a bit at a time: the packets are few and short.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}
