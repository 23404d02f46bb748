//! Game server queries: one question, one answer, in the protocols that hundreds of games share.
//!
//! Only what counting needs is read of an answer. Everything in it is hostile until parsed.

use std::net::SocketAddr;

use crate::deadline::Deadline;
use crate::http::Failure;
use crate::settings::QueryTarget;

/// What a server says of itself; `None` where the protocol, or this answer, does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Players on it now.
    pub players: Option<u64>,
    /// The most that it takes.
    pub capacity: Option<u64>,
    /// Who they are, where names were asked for.
    pub names: Option<Vec<String>>,
}

/// Asks a server, at the first of these addresses that answers. `names` asks for the players' names too, which may
/// cost a second question.
///
/// # Errors
///
/// Why there is no reading: a closed port, silence until the deadline, an answer that is malformed or that says that
/// the server is still starting.
pub fn ask(
    target: &QueryTarget,
    addresses: &[SocketAddr],
    names: bool,
    deadline: Deadline,
) -> Result<Reading, Failure> {
    let _ = (target, addresses, names, deadline);
    Err(Failure { reason: "not built yet".into(), connected: false })
}
