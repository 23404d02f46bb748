//! What a [`super::stand_in`] answers over the network: its query, its page in JSON, its remote console.
//!
//! It is as little of each protocol as an honest server says; what dishonest ones say is for the tests of the queries.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::Sender;
use std::thread;

use super::ports;
use super::query_game;
use super::stand_in::{Event, NAMES, PASSWORD, PORTS, Row, players};

const MOST: u8 = 16;

/// Opens what it has of them.
pub fn serve(row: &Row, events: &Sender<Event>) {
    let port = |name: &str| std::env::var(name).ok().map(|port| port.parse::<u16>().expect("a port"));
    let [query, json, console] = PORTS.map(port);
    if let (Some(protocol), Some(port)) = (row.get("query"), query) {
        if protocol == "minecraft" {
            accept(port, minecraft);
        } else {
            let (socket, protocol) = (ports::open_udp(port), protocol.to_owned());
            thread::spawn(move || answer(&socket, &protocol));
        }
    }
    if let (Some(path), Some(port)) = (row.get("json"), json) {
        let (path, pointer) = (path.to_owned(), row.get("json_count").expect("with it").to_owned());
        accept(port, move |stream| page(stream, &path, &pointer));
    }
    if let Some(port) = console {
        let is_telnet = row.get("stop").is_some_and(|stop| stop.starts_with("telnet:"));
        let events = events.clone();
        accept(port, move |stream| if is_telnet { telnet(stream, &events) } else { rcon(stream, &events) });
    }
}

fn accept(port: u16, serve: impl Fn(TcpStream) -> io::Result<()> + Send + 'static) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("its port is kept for it");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Who went away is nobody's fault.
            let _ = serve(stream);
        }
    });
}

fn answer(socket: &UdpSocket, protocol: &str) {
    let mut question = [0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut question) {
        let (question, on_it) = (&question[..length], players());
        let count = u8::try_from(on_it).expect("few");
        let answers = match protocol {
            "a2s" => query_game::a2s_with(count, MOST, 0, Some(&NAMES[..on_it]))(question),
            "bedrock" => vec![bedrock(question, on_it)],
            "quake3" => vec![quake3(question, on_it)],
            "quake" => vec![quake(on_it)],
            "mumble" => vec![[&[0, 1, 5, 0], &question[4..], &[0, 0, 0, count, 0, 0, 0, MOST, 0, 0, 1, 0]].concat()],
            "teeworlds" => teeworlds(question, on_it).into_iter().collect(),
            other => panic!("the stand-in does not speak {other}"),
        };
        for answer in answers {
            let _ = socket.send_to(&answer, from);
        }
    }
}

fn bedrock(question: &[u8], on_it: usize) -> Vec<u8> {
    let motd = format!("MCPE;A server;685;1.21.0;{on_it};{MOST};1234;world;Survival;1;19132;19133;");
    let length = u16::try_from(motd.len()).expect("short").to_be_bytes();
    // The pong's identifier, the ping's time, its own number, and the magic that stands behind the time in a ping.
    [&[0x1c], &question[1..9], &[7; 8], &question[9..25], &length, motd.as_bytes()].concat()
}

fn quake3(question: &[u8], on_it: usize) -> Vec<u8> {
    let challenge = String::from_utf8_lossy(question);
    let challenge = challenge.trim_end().rsplit(' ').next().unwrap_or_default();
    let head = format!("statusResponse\n\\challenge\\{challenge}\\sv_maxclients\\{MOST}\n");
    let lines = for_each(on_it, |name| format!("0 48 \"{name}^7\"\n"));
    [b"\xff\xff\xff\xff", head.as_bytes(), lines.as_bytes()].concat()
}

fn quake(on_it: usize) -> Vec<u8> {
    let lines = for_each(on_it, |name| format!("1 0 5 30 \"{name}\" \"base\" 0 0\n"));
    let head = format!("n\\maxclients\\{MOST}\\map\\start\n");
    [b"\xff\xff\xff\xff", head.as_bytes(), lines.as_bytes(), b"\0"].concat()
}

/// What is said of each player, in a row.
fn for_each(on_it: usize, entry: impl Fn(&str) -> String) -> String {
    NAMES[..on_it].iter().map(|name| entry(name)).collect::<Vec<_>>().concat()
}

/// Of 0.6; it does not know the question of 0.7.
fn teeworlds(question: &[u8], on_it: usize) -> Option<Vec<u8>> {
    let token = question.strip_prefix(b"xe".as_slice())?.last()?;
    let counts = format!("inf3{token}\x000.6.5\0A server\0dm1\0DM\x000\0{on_it}\0{MOST}\0{on_it}\0{MOST}\0");
    let clients = for_each(on_it, |name| format!("{name}\0clan\0-1\x005\x001\0"));
    Some([&[0xff; 10], counts.as_bytes(), clients.as_bytes()].concat())
}

/// A handshake, a question for the status, the status, and a ping that comes back. All of them are short: one byte of
/// length is enough.
fn minecraft(mut stream: TcpStream) -> io::Result<()> {
    let packet = |mut stream: &TcpStream| {
        let mut packet = vec![0];
        stream.read_exact(&mut packet)?;
        packet.resize(1 + usize::from(packet[0]), 0);
        stream.read_exact(&mut packet[1..]).map(|()| packet)
    };
    let (_handshake, _question) = (packet(&stream)?, packet(&stream)?);
    let status = format!(
        r#"{{"version":{{"name":"1.21","protocol":767}},"players":{{"max":{MOST},"online":{}}},"description":""}}"#,
        players()
    );
    let length = u8::try_from(status.len()).expect("short");
    assert!(length < 126, "more takes two bytes of length");
    stream.write_all(&[&[length + 2, 0, length], status.as_bytes()].concat())?;
    // Who asks for the status alone is gone by now.
    let ping = packet(&stream)?;
    stream.write_all(&ping)
}

fn page(mut stream: TcpStream, path: &str, pointer: &str) -> io::Result<()> {
    let (login, path) = path.split_once('@').map_or((None, path), |(login, path)| (Some(login), path));
    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let is_login = |line: &String| line.to_ascii_lowercase().starts_with("authorization: basic ");
    let status = match () {
        () if login.is_some() && !head.iter().any(is_login) => "401 Unauthorized",
        () if !head.first().is_some_and(|line| line.contains(&format!(" {path} "))) => "404 Not Found",
        () => "200 OK",
    };
    let keys: Vec<&str> = pointer.split('/').skip(1).collect();
    let inside = keys.iter().rev().fold(players().to_string(), |value, key| format!("{{\"{key}\":{value}}}"));
    // A number in one game, a string in another.
    let body = format!("{},\"sv_maxclients\":\"{MOST}\",\"maxplayernum\":{MOST}}}", &inside[..inside.len() - 1]);
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// Source RCON: the length of what follows, a number, a kind, text, two zeros.
fn rcon(mut stream: TcpStream, events: &Sender<Event>) -> io::Result<()> {
    let mut is_known = false;
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_le_bytes(length)).expect("32 bits fit");
        let mut packet = vec![0; length.min(4096)];
        stream.read_exact(&mut packet)?;
        let (id, kind) = (&packet[..4], packet[4]);
        let text = String::from_utf8_lossy(&packet[8..packet.len() - 2]).into_owned();
        let mut reply = |id: &[u8], kind: u8, text: &str| {
            let length = u8::try_from(text.len() + 10).expect("short");
            stream.write_all(&[&[length, 0, 0, 0], id, &[kind, 0, 0, 0], text.as_bytes(), &[0, 0]].concat())
        };
        match kind {
            3 => {
                is_known = text == PASSWORD;
                reply(if is_known { id } else { &[0xff; 4] }, 2, "")?;
            }
            2 if is_known => {
                reply(id, 0, if text.is_empty() { "" } else { "as you say" })?;
                let _ = events.send(Event::Line(text));
            }
            _ => reply(id, 0, "")?,
        }
    }
}

fn telnet(mut stream: TcpStream, events: &Sender<Event>) -> io::Result<()> {
    stream.write_all(b"A console\r\n")?;
    for line in BufReader::new(stream.try_clone()?).lines() {
        stream.write_all(b"as you say\r\n")?;
        let _ = events.send(Event::Line(line?.trim_end().to_owned()));
    }
    Ok(())
}
