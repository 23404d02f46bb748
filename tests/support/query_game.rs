//! A game that is asked over UDP: closed, silent, or answering as the test says, from its own port or from another.

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ports::Port;
use super::wait;

/// What it answers to a datagram: so many datagrams back.
pub type Answers = Box<dyn Fn(&[u8]) -> Vec<Vec<u8>> + Send>;

/// A datagram that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When.
    pub at: Instant,
    /// From where.
    pub from: SocketAddr,
    /// What it said.
    pub bytes: Vec<u8>,
}

/// See the module. Dropping it closes the port.
pub struct QueryGame {
    port: Port,
    asked: Arc<Mutex<Vec<Asked>>>,
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl QueryGame {
    /// Nothing behind the port, on 127.0.0.1.
    pub fn closed() -> Self {
        Self::behind(Port::reserve_udp())
    }

    /// The same on ::1.
    pub fn closed_v6() -> Self {
        Self::behind(Port::reserve_udp_v6())
    }

    fn behind(port: Port) -> Self {
        Self { port, asked: Arc::default(), running: None }
    }

    /// Its number.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Opens the port, or goes on with another answer.
    pub fn answer(&mut self, answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) {
        self.run(Box::new(answers), None);
    }

    /// The same, but the answers come from another port.
    pub fn answer_from_elsewhere(&mut self, answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) {
        let elsewhere = UdpSocket::bind(SocketAddr::new(self.port.addr().ip(), 0)).expect("a free port");
        self.run(Box::new(answers), Some(elsewhere));
    }

    /// Takes questions and says nothing, like a game that is frozen.
    pub fn fall_silent(&mut self) {
        self.answer(|_| Vec::new());
    }

    /// Closes the port.
    pub fn close(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }

    /// All that came so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic holds it").clone()
    }

    /// Waits until so many datagrams have come.
    #[track_caller]
    pub fn wait_for_questions(&self, count: usize, within: Duration) {
        wait::until_true(&format!("{count} questions"), within, || self.asked().len() >= count);
    }

    fn run(&mut self, answers: Answers, elsewhere: Option<UdpSocket>) {
        self.close();
        let socket = self.port.open_udp();
        // How soon it notices that it is to end.
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout above 0");
        let (stop, stopped) = mpsc::channel::<()>();
        let asked = Arc::clone(&self.asked);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 2048];
            while stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                let bytes = buffer[..length].to_vec();
                let replies = answers(&bytes);
                asked.lock().expect("no panic holds it").push(Asked { at: Instant::now(), from, bytes });
                for reply in replies {
                    let _ = elsewhere.as_ref().unwrap_or(&socket).send_to(&reply, from);
                }
            }
        });
        self.running = Some((stop, thread));
    }
}

impl Drop for QueryGame {
    fn drop(&mut self) {
        self.close();
    }
}

/// An A2S server with its challenge, and so many players of so many.
pub fn a2s(players: u8, most: u8) -> impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static {
    a2s_with(players, most, 0, None)
}

/// The same with so many bots among the players, and with these names; without them `A2S_PLAYER` is never answered.
pub fn a2s_with(
    players: u8,
    most: u8,
    bots: u8,
    names: Option<&[&str]>,
) -> impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static {
    const QUESTION: &[u8] = b"\xff\xff\xff\xffTSource Engine Query\0";
    const CHALLENGE: &[u8] = b"\x01\x02\x03\x04";
    let entries = names.map(|names| {
        let entry = |name: &&str| [b"\0", name.as_bytes(), b"\0\0\0\0\0\0\0\0\0"].concat();
        let count = u8::try_from(names.len()).expect("few");
        [b"\xff\xff\xff\xffD", &[count][..], &names.iter().flat_map(entry).collect::<Vec<_>>()].concat()
    });
    move |question| {
        let info = |rest: &[u8]| {
            let head = b"\xff\xff\xff\xff\x49\x11A server\0map\0folder\0game\0\0\0";
            [head.as_slice(), &[players, most, bots], b"dl\0\x011.0\0", rest].concat()
        };
        if let Some(entries) = entries.as_ref().filter(|_| question.starts_with(b"\xff\xff\xff\xffU")) {
            return vec![entries.clone()];
        }
        match question.strip_prefix(QUESTION) {
            Some(challenge) if challenge == CHALLENGE => vec![info(b"")],
            Some(_) => vec![[b"\xff\xff\xff\xffA", CHALLENGE].concat()],
            None => Vec::new(),
        }
    }
}

/// A Quake III server with these players, of so many.
pub fn quake3(names: &[&str], most: u32) -> impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static {
    let players: String = names.iter().flat_map(|name| ["0 50 \"", name, "\"\n"]).collect();
    move |question| {
        let Some(challenge) = question.strip_prefix(b"\xff\xff\xff\xffgetstatus ") else { return Vec::new() };
        let settings = format!("\\sv_maxclients\\{most}\\challenge\\");
        let head = [b"\xff\xff\xff\xffstatusResponse\n", settings.as_bytes(), challenge.trim_ascii()].concat();
        vec![[head.as_slice(), b"\n", players.as_bytes()].concat()]
    }
}
