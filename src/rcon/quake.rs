//! The remote console of all the Quakes, over UDP: Quake III's family, QuakeWorld, Quake II.
//!
//! Password and command stand in one datagram, and the answer is as many as it takes, none of which says that it is the
//! last. Nothing that is lost on the way is asked for again, since the command might run twice.

use super::{Console, Failure, Out, QUIET, Step, closed_unanswered, refused};

/// In front of every packet outside a connection.
const CONNECTIONLESS: &[u8] = b"\xff\xff\xff\xff";
/// What stands behind that in an answer: Quake III's and Quake II's, and QuakeWorld's.
const PRINTS: [&[u8]; 2] = [b"print\n", b"n"];
/// What the text begins with where the password is not taken.
const REFUSALS: [&str; 3] = ["bad rcon", "bad password", "invalid password"];
/// And where the server has none of its own.
const NONE_THERE: &str = "no rcon";

pub(super) struct Quake {
    question: Vec<u8>,
    has_answer: bool,
}

/// The server takes the words apart again: a password with a blank would be two.
pub(super) fn check(password: &str) -> Result<(), &'static str> {
    let is_comment = password.contains("//") || password.contains("/*");
    if is_comment || password.contains(['"', '\\', ';', '%']) || !password.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("cannot be sent to a Quake server (ASCII without blanks, \", \\, ;, %, // and /* only)");
    }
    Ok(())
}

impl Quake {
    pub fn new(command: &str, password: &str) -> Self {
        let words = format!("rcon {password} {command}\n");
        Self { question: [CONNECTIONLESS, words.as_bytes()].concat(), has_answer: false }
    }
}

impl Console for Quake {
    fn open(&mut self, out: &mut Out) -> Step {
        out.send.push(self.question.clone());
        Step::Wait
    }

    fn take(&mut self, datagram: &[u8], out: &mut Out) -> Result<Step, Failure> {
        let body = datagram.strip_prefix(CONNECTIONLESS);
        let text = body.and_then(|body| PRINTS.iter().find_map(|print| body.strip_prefix(*print)));
        if let Some(text) = text {
            let text = text.strip_suffix(b"\0").unwrap_or(text);
            let begins = String::from_utf8_lossy(&text[..text.len().min(40)]).trim_start().to_lowercase();
            if !self.has_answer && begins.starts_with(NONE_THERE) {
                return Err(Failure::Refused("the server takes no password: it has none set itself".into()));
            }
            if !self.has_answer && REFUSALS.iter().any(|refusal| begins.starts_with(refusal)) {
                let is_quake_world = begins.starts_with("bad rcon_password");
                let hint = "the password is refused (or, by mvdsv, plain ones are: it needs sv_crypt_rcon 0)";
                return Err(if is_quake_world { Failure::Refused(hint.into()) } else { refused() });
            }
            self.has_answer = true;
            out.answer.extend_from_slice(text);
        }
        Ok(if self.has_answer { Step::Quiet(QUIET) } else { Step::Wait })
    }

    fn closed(&self) -> Result<(), Failure> {
        Err(closed_unanswered())
    }
}
