//! What has to hold for every peer, whatever it sends.

use crate::settings::Host;

use super::{Failure, Out, Protocol, Step, Target, console};

const PROTOCOLS: [Protocol; 6] =
    [Protocol::Source, Protocol::Telnet, Protocol::Quake3, Protocol::Quake, Protocol::WebRcon, Protocol::Battleye];
/// In no corpus, and in nothing that a peer sends by chance.
const PASSWORD: &str = "Zq9!secret";
/// What comes back of it in a good answer stands in the corpus.
const NUMBER: u64 = 0x1234_5678 << 34;

/// Asserts for arbitrary bytes what has to hold for every answer. The first byte picks the protocol, then each piece has
/// its length in front, in one byte; a piece of no length is silence. For the fuzz target, the replay of its corpus and
/// property tests.
///
/// # Panics
///
/// When an invariant does not hold: a bug in this module.
pub fn fuzz(bytes: &[u8]) {
    let Some((&first, mut rest)) = bytes.split_first() else { return };
    let protocol = PROTOCOLS[usize::from(first) % PROTOCOLS.len()];
    let mut pieces = Vec::new();
    while let Some((&length, behind)) = rest.split_first() {
        let (piece, behind) = behind.split_at(behind.len().min(length.into()));
        pieces.push(piece);
        rest = behind;
    }
    let (end, out) = drive(protocol, &pieces);
    if let Err(Failure::Unanswered(reason) | Failure::Refused(reason)) = &end {
        let is_plain = reason.len() < 200 && !reason.chars().any(char::is_control) && !reason.contains(PASSWORD);
        assert!(is_plain, "{reason:?}");
    }
    assert!(out.answer.len() <= bytes.len() * 3, "more than has come: {}", out.answer.len());
    assert!(out.send.iter().map(Vec::len).sum::<usize>() <= 2048 + bytes.len() * 16, "more than a few words");
    let is_torn = pieces.iter().all(|piece| !piece.is_empty());
    if protocol.is_stream() && is_torn {
        let (whole_end, whole) = drive(protocol, &[&pieces.concat()]);
        assert_eq!((end, out.answer), (whole_end, whole.answer), "the pieces of a stream do not matter");
    }
}

/// How it ended, and what had been said by then.
pub(super) fn drive(protocol: Protocol, pieces: &[&[u8]]) -> (Result<bool, Failure>, Out) {
    let port = std::num::NonZeroU16::MIN;
    let target = Target { protocol, host: Host::Loopback, port };
    let mut console = console(&target, "list", Some(PASSWORD), NUMBER);
    let mut out = Out::default();
    let mut step = console.open(&mut out);
    for piece in pieces {
        let next = match (piece.is_empty(), step) {
            (true, Step::Quiet(_)) => console.quiet(&mut out),
            (true, _) => Ok(step),
            (false, _) => console.take(piece, &mut out),
        };
        step = match next {
            Ok(Step::Done) => return (Ok(true), out),
            Ok(step) => step,
            Err(failure) => return (Err(failure), out),
        };
    }
    (Ok(false), out)
}
