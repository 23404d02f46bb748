//! The table of protocols: what is parsed, said in errors and help, and written in docs/readiness.md is made from its rows.
//!
//! A new protocol is a file with its [`Talk`], its `mod` line, a row here, and its answers in `tests.rs`, which fails
//! until they are there.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU16;

use super::{Reading, Talk, Wanted};
use super::{a2s, bedrock, minecraft, mumble, quake, quake3, teeworlds, udp};
use crate::net::Host;
use crate::net::deadline::Deadline;
use crate::net::http::Failure;

/// How servers of one kind are asked, and what they tell.
#[derive(Debug)]
pub struct Protocol {
    /// As it is written in front of `://`.
    pub name: &'static str,
    /// Its answer says how many players there are.
    pub counts: bool,
    /// Whom it names.
    pub names: Names,
    /// Its answer tells bots from players.
    pub tells_bots: bool,
    /// What may stand behind the port.
    pub behind: Behind,
    /// What is asked, what is read and who answers: its line in the table of docs/readiness.md.
    pub docs: [&'static str; 3],
    pub(super) transport: Transport,
}

/// Whom an answer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Every player.
    All,
    /// Some of them, drawn anew each time.
    Sample,
    /// Nobody.
    Nobody,
}

/// What stands behind the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Nothing.
    Nothing,
    /// The question in hex, which has to be there.
    Question,
    /// `?proxy=1`, where the server wants to be told by a PROXY line who asks.
    Proxy,
}

/// How the bytes travel, and what makes sense of them.
#[derive(Debug)]
pub(super) enum Transport {
    Udp(fn(&Question) -> Box<dyn Talk>),
    Tcp {
        ask: fn(&Target, &[SocketAddr], Wanted, Deadline) -> Result<Reading, Failure>,
        /// What the stream so far says; `None` is not enough yet.
        read: fn(&[u8], Wanted) -> Result<Option<Reading>, String>,
    },
}

/// One question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    /// Comes back in the answer where the protocol has room for it.
    pub id: u64,
    pub wanted: Wanted,
    /// Bytes of the user's own.
    pub payload: &'a [u8],
}

/// A server that answers a query protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it speaks.
    pub protocol: &'static Protocol,
    /// No host is loopback: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
    /// The question of `udp`, and empty elsewhere.
    pub payload: Vec<u8>,
    /// A PROXY line goes in front of the question.
    pub proxy: bool,
}

/// Every protocol. The fuzzer's corpus knows them by their places: new ones go to the end.
pub static PROTOCOLS: [Protocol; 8] = [
    Protocol {
        name: "a2s",
        counts: true,
        names: Names::All,
        tells_bots: true,
        behind: Behind::Nothing,
        docs: [
            "Valve's `A2S_INFO`, with the challenge; `A2S_PLAYER` for names",
            "players, capacity, names, bots",
            "Source and GoldSrc games, and the many others that are in Steam's server browser; often on a port of its own, the query port",
        ],
        transport: Transport::Udp(|question| Box::new(a2s::A2s::new(question.wanted))),
    },
    Protocol {
        name: "minecraft",
        counts: true,
        names: Names::Sample,
        tells_bots: false,
        behind: Behind::Proxy,
        docs: [
            "the server list ping, over TCP; the one of 1.6 and older where a server closes on it. `?proxy=1` sends a PROXY line first",
            "players, capacity, names of up to 12",
            "Minecraft Java, and its proxies",
        ],
        transport: Transport::Tcp { ask: minecraft::ask, read: minecraft::read_any },
    },
    Protocol {
        name: "bedrock",
        counts: true,
        names: Names::Nobody,
        tells_bots: false,
        behind: Behind::Nothing,
        docs: ["RakNet's unconnected ping", "players, capacity", "Minecraft Bedrock, Geyser"],
        transport: Transport::Udp(|question| Box::new(bedrock::Bedrock::new(question.id))),
    },
    Protocol {
        name: "quake3",
        counts: true,
        names: Names::All,
        tells_bots: true,
        behind: Behind::Nothing,
        docs: [
            "`getstatus`",
            "players, `sv_maxclients`, names, bots",
            "Quake III and its family: OpenArena, Call of Duty to 4, Jedi Academy, Enemy Territory, Xonotic",
        ],
        transport: Transport::Udp(|question| Box::new(quake3::Quake3::new(question.id, question.wanted))),
    },
    Protocol {
        name: "quake",
        counts: true,
        names: Names::All,
        tells_bots: false,
        behind: Behind::Nothing,
        docs: ["`status`", "players, `maxclients`, names", "QuakeWorld (mvdsv), Quake II"],
        transport: Transport::Udp(|question| Box::new(quake::Quake { wanted: question.wanted })),
    },
    Protocol {
        name: "teeworlds",
        counts: true,
        names: Names::All,
        tells_bots: false,
        behind: Behind::Nothing,
        docs: [
            "0.7's token and info, and 0.6's and DDNet's info: what answers",
            "clients, `max_clients`, names",
            "Teeworlds, DDNet",
        ],
        transport: Transport::Udp(|question| Box::new(teeworlds::Teeworlds::new(question.id, question.wanted.names))),
    },
    Protocol {
        name: "mumble",
        counts: true,
        names: Names::Nobody,
        tells_bots: false,
        behind: Behind::Nothing,
        docs: ["the extended ping", "users, capacity", "Mumble"],
        transport: Transport::Udp(|question| Box::new(mumble::Mumble { id: question.id })),
    },
    Protocol {
        name: "udp",
        counts: false,
        names: Names::Nobody,
        tells_bots: false,
        behind: Behind::Question,
        docs: [
            "bytes of your own: `udp://:7777/ffffffff01`",
            "that anything comes back",
            "any game that answers some packet",
        ],
        transport: Transport::Udp(|question| Box::new(udp::Udp { payload: question.payload.to_vec() })),
    },
];

impl Protocol {
    /// The row of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Protocol {}

/// The names of those that a setting can use, for messages: `a2s, quake3 and quake`.
#[must_use]
pub fn those_that(can: impl Fn(&Protocol) -> bool) -> String {
    let names: Vec<&str> = PROTOCOLS.iter().filter(|protocol| can(protocol)).map(|protocol| protocol.name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The table of protocols in docs/readiness.md.
#[must_use]
pub fn markdown() -> String {
    let row = |protocol: &Protocol| format!("| `{}` | {} |\n", protocol.name, protocol.docs.join(" | "));
    let rows: String = PROTOCOLS.iter().map(row).collect();
    format!("| protocol | what is asked | what is read | who answers |\n|---|---|---|---|\n{rows}")
}

/// `a2s://localhost:27015`, `udp://localhost:7777/ffffffff01`; of a long question the first bytes.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.protocol.name, self.host, self.port)?;
        match self.protocol.behind {
            Behind::Proxy if self.proxy => f.write_str("?proxy=1"),
            Behind::Question => {
                f.write_str("/")?;
                self.payload.iter().take(SHOWN_PAYLOAD).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                if self.payload.len() > SHOWN_PAYLOAD { f.write_str("...") } else { Ok(()) }
            }
            Behind::Nothing | Behind::Proxy => Ok(()),
        }
    }
}

/// Bytes of a question: names of probes stand in log lines and labels.
const SHOWN_PAYLOAD: usize = 16;
