//! `agones-shim rcon`: real servers of Debian's packages, stand-ins written from the protocols' public descriptions,
//! and peers that stall, lie, never end or refuse.
//!
//! What counts is what the other side has seen, what is on stdout, and that the password is nowhere.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::games::{Example, Home, START, installed};
use crate::scene::*;
use crate::support::query_game::QueryGame;
use crate::support::shim::{self, Builder, Finished, shim};
use crate::support::specimen::wrap;
use crate::support::{Port, Shim, maps, millis, proc, wait};

/// All that a test waits for one command.
const TIMEOUT: f64 = 1.5;
/// Three times that.
const BOUND: Duration = Duration::from_millis(4500);
const PASSWORD: &str = "Zq9.secret";

fn rcon(url: impl AsRef<str>, command: &str) -> Builder {
    rcon_within(TIMEOUT, url, command)
}

fn rcon_within(timeout: f64, url: impl AsRef<str>, command: &str) -> Builder {
    let timeout = format!("--timeout={timeout}");
    shim().set("RCON_PASSWORD", PASSWORD).args(["rcon", &timeout, url.as_ref()]).args(command.split(' '))
}

/// Runs it: in time, and with the password in nothing that it writes.
#[track_caller]
fn run(builder: Builder) -> Finished {
    let finished = builder.run(SOON);
    assert!(!format!("{finished:?}").contains(PASSWORD), "{finished:?}");
    finished
}

/// The exit code and the one line that says why.
#[track_caller]
fn fails(builder: Builder, code: i32, why: &str) {
    let began = Instant::now();
    let finished = run(builder);
    assert_eq!((finished.code, finished.stdout.as_str()), (code, ""), "{finished:?}");
    assert!(finished.stderr.contains(why), "{why:?}: {finished:?}");
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
}

#[track_caller]
fn answers(builder: Builder, wanted: &str) {
    let finished = run(builder);
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, wanted, ""));
}

// ---- Real servers.

/// A server of Debian's, with these arguments behind those of its example.
fn start(example: &Example, home: &Home, more: &[&str]) -> Shim {
    let command = example.command();
    Builder::of(&command[0]).args(&command[1..]).args(more).directory(&home.0).var("HOME", &home.0).spawn()
}

/// Waits until the console answers.
fn wait_for_console(url: &str, command: &str) {
    wait::until_true("the console", START, || run(rcon(url, command)).code == 0);
}

#[test]
fn ioquake3() {
    let game = "/usr/lib/ioquake3/baseq3/qagamex86_64.so";
    let example = Example::read("ioquake3-server");
    if !installed("ioquake3-server", &[&example.command()[0], game]) {
        return;
    }
    let home = Home::new("rcon-ioquake3");
    let example = example.moved(&home.0);
    home.copy(game, "mygame/qagamex86_64.so");
    home.write("mygame/default.cfg", "// nothing\n");
    home.write("mygame/maps/box.bsp", maps::quake3());
    let _game = start(&example, &home, &["+set", "rconPassword", PASSWORD]);
    let url = format!("quake3://:{}", example.comment("port"));
    wait_for_console(&url, "echo up");

    answers(rcon(&url, "set sv_hostname shimmed"), "");
    let status = example.client()(b"\xff\xff\xff\xffgetstatus x\n");
    assert!(String::from_utf8_lossy(&status).contains("\\sv_hostname\\shimmed\\"), "the game has taken the command");
    answers(rcon(&url, "sv_maxclients"), "\"sv_maxclients\" is:\"8^7\", the default\n");
    // Longer than a datagram of the game's.
    let cvars = run(rcon(&url, "cvarlist"));
    assert!(cvars.code == 0 && cvars.stdout.len() > 4000 && cvars.stdout.contains("rconPassword \"***\""), "{cvars:?}");
    fails(rcon(&url, "status").set("RCON_PASSWORD", "wrong"), 76, "the password is refused");
}

#[test]
fn mvdsv() {
    let ktx = "/usr/lib/quakeworld/ktx/qwprogs.so";
    let example = Example::read("mvdsv");
    if !installed("mvdsv", &[&example.command()[0], ktx]) {
        return;
    }
    let home = Home::new("rcon-mvdsv");
    let example = example.moved(&home.0);
    home.copy(ktx, "ktx/qwprogs.so");
    home.write("id1/maps/start.bsp", maps::quake());
    let _game = start(&example, &home, &["+set", "sv_crypt_rcon", "0", "+rcon_password", PASSWORD]);
    let url = format!("quake://:{}", example.comment("port"));
    wait_for_console(&url, "echo up");

    answers(rcon(&url, "hostname shimmed"), "");
    let status = example.client()(b"\xff\xff\xff\xffstatus\n");
    assert!(String::from_utf8_lossy(&status).contains("\\hostname\\shimmed"), "the game has taken the command");
    let listed = run(rcon(&url, "cvarlist"));
    assert!(listed.code == 0 && listed.stdout.len() > 8000, "in several datagrams: {listed:?}");
    fails(rcon(&url, "status").set("RCON_PASSWORD", "wrong"), 76, "sv_crypt_rcon 0");
}

/// The external console of Teeworlds and of DDNet, with a prompt for the password.
fn econ(name: &str, more: &[&str]) {
    let example = Example::read(name);
    if !installed(name, &[&example.command()[0]]) {
        return;
    }
    let home = Home::new(&format!("rcon-{name}"));
    let example = example.moved(&home.0);
    let port = Port::reserve().number();
    let (ec_port, ec_password) = (format!("ec_port {port}"), format!("ec_password {PASSWORD}"));
    let mut game = start(&example, &home, &[&[ec_port.as_str(), ec_password.as_str()], more].concat());
    let url = format!("telnet://:{port}");
    // DDNet looks at its console once a second while nobody plays.
    let econ = |command: &str| rcon_within(8.0, &url, command);
    let mut echoed = None;
    wait::until_true("the console", START, || echoed.insert(run(econ("echo shimmed"))).code == 0);
    assert!(echoed.as_ref().is_some_and(|echoed| echoed.stdout.contains("shimmed")), "{echoed:?}");
    game.wait_for_line("shimmed", SOON);
    for (builder, why) in [
        (econ("echo no").set("RCON_PASSWORD", "wrong"), "the password is refused"),
        (econ("echo no").unset("AGONES_SHIM_RCON_PASSWORD"), "it asks for a password"),
    ] {
        let finished = run(builder);
        assert_eq!((finished.code, finished.stdout.as_str()), (76, ""), "{finished:?}");
        assert!(finished.stderr.contains(why), "{finished:?}");
    }
    game.assert_no_line("echo no");
}

#[test]
fn teeworlds() {
    econ("teeworlds-server", &[]);
}

/// On the other address of loopback.
#[test]
fn ddnet() {
    econ("ddnet-server", &["ec_bindaddr [::1]"]);
}

// ---- Stand-ins, which do as the descriptions say.

/// A TCP peer; each connection has a thread, and what it gives back is told to the test.
fn peer(speak: impl Fn(TcpStream) -> String + Send + Copy + 'static) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let (told, telling): (Sender<String>, _) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let told = told.clone();
            thread::spawn(move || told.send(speak(stream)));
        }
    });
    (port, telling)
}

fn source_packet(id: i32, kind: i32, text: &[u8]) -> Vec<u8> {
    let length = i32::try_from(text.len() + 10).expect("short");
    [[length, id, kind].map(i32::to_le_bytes).concat().as_slice(), text, b"\0\0"].concat()
}

/// Id, kind and text of a packet that comes alone: what Minecraft insists on.
fn one_packet(stream: &mut TcpStream) -> Option<(i32, i32, String)> {
    let mut bytes = [0; 4096];
    let length = stream.read(&mut bytes).ok().filter(|length| *length >= 14)?;
    let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    assert_eq!(usize::try_from(int(0)).expect("a length") + 4, length, "one packet at a time");
    Some((int(4), int(8), String::from_utf8(bytes[12..length - 2].to_vec()).expect("text")))
}

/// Takes the password as Valve's servers do, and gives the id and the text of the command.
fn log_in(stream: &mut TcpStream) -> Option<(i32, String)> {
    let (id, kind, password) = one_packet(stream)?;
    assert_eq!(kind, 3);
    let id_or_not = if password == PASSWORD { id } else { -1 };
    let _ = stream.write_all(&[source_packet(id, 0, b""), source_packet(id_or_not, 2, b"")].concat());
    let (id, kind, command) = one_packet(stream)?;
    assert_eq!(kind, 2);
    Some((id, command))
}

/// Answers as a Source server does: in pieces, and the second request by mirroring it.
fn source_server(mut stream: TcpStream) -> String {
    let Some((id, command)) = log_in(&mut stream) else { return String::new() };
    let text = match command.as_str() {
        "list" => "There are 3 of a max of 20 players online".to_owned(),
        "long" => "0123456789abcdef\n".repeat(2000),
        "silent" => String::new(),
        other => format!("Unknown command {other}"),
    };
    let mut chunks: Vec<&[u8]> = text.as_bytes().chunks(4000).collect();
    if chunks.is_empty() {
        chunks.push(b"");
    }
    let _ = stream.write_all(&source_packet(id, 0, chunks[0]));
    let end = one_packet(&mut stream);
    for chunk in &chunks[1..] {
        for part in source_packet(id, 0, chunk).chunks(700) {
            let _ = stream.write_all(part);
            thread::sleep(millis(1));
        }
    }
    if let Some((end, kind, _)) = end {
        assert_eq!(kind, 0);
        let _ = stream.write_all(&[source_packet(end, 0, b""), source_packet(end, 0, b"\x01")].concat());
    }
    command
}

#[test]
fn source_answers_whole_in_pieces_and_empty() {
    let (port, said) = peer(source_server);
    let url = format!("source://127.0.0.1:{port}");
    let list = "There are 3 of a max of 20 players online\n";
    answers(rcon(&url, "list"), list);
    assert_eq!(said.recv_timeout(SOON).as_deref(), Ok("list"));
    answers(rcon(&url, "silent"), "");
    answers(rcon(&url, "long"), &"0123456789abcdef\n".repeat(2000));
    answers(rcon(&url, "say two words"), "Unknown command say two words\n");
    fails(rcon(&url, "list").set("RCON_PASSWORD", "wrong"), 76, "the password is refused");
    // No host: 127.0.0.1, and ::1 where that refuses.
    answers(rcon(format!("source://:{port}"), "list"), list);
}

#[test]
fn a_match_prints_its_groups() {
    let (port, _said) = peer(source_server);
    let of = |pattern: &str| {
        let builder = shim().set("RCON_PASSWORD", PASSWORD).args(["rcon", "--match", pattern]);
        run(builder.args([&format!("source://:{port}"), "list"]))
    };
    for (pattern, wanted) in [
        (r"(\d+) of a max of (\d+)", "3 20\n"),
        (r"(\d+) of(?: at most)?( x)?", "3\n"),
        (r"\d+ players", "20 players\n"),
    ] {
        let finished = of(pattern);
        assert_eq!((finished.code, finished.stdout.as_str()), (0, wanted), "{finished:?}");
    }
    let none = of("([0-9]+) bots");
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    let wanted = "no match for \"([0-9]+) bots\" in the answer \"There are 3 of a max of 20 players online\"\n";
    assert!(none.stderr.ends_with(wanted), "{none:?}");
}

fn battleye(rest: &[u8]) -> Vec<u8> {
    let body = [b"\xff", rest].concat();
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let crc = !body.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)));
    [b"BE".as_slice(), &crc.to_le_bytes(), &body].concat()
}

#[test]
fn battleye_s_parts_are_put_in_order_and_a_command_is_sent_once() {
    let mut game = QueryGame::closed();
    let good = battleye(&[b"\0", PASSWORD.as_bytes()].concat());
    game.answer(move |datagram| match datagram {
        login if login == good => vec![battleye(b"\x00\x01")],
        [b'B', b'E', _, _, _, _, 0xff, 0, ..] => vec![battleye(b"\x00\x00")],
        [.., b'p', b'l', b'a', b'y', b'e', b'r', b's'] => vec![
            battleye(b"\x02\x09Player #0 joined"),
            battleye(b"\x01\x00\x00\x02\x01two\n"),
            battleye(b"\x01\x00\x00\x02\x00one\n"),
        ],
        _ => Vec::new(),
    });
    let url = format!("battleye://:{}", game.port());
    answers(rcon(&url, "players"), "one\ntwo\n");
    let acknowledged = battleye(b"\x02\x09");
    wait::until_true("the acknowledgement", SOON, || game.asked().iter().any(|asked| asked.bytes == acknowledged));
    fails(rcon(&url, "players").set("RCON_PASSWORD", "wrong"), 76, "the password is refused");
    fails(rcon(&url, "mute"), 69, "timed out after 1.5s");
    let muted = game.asked().iter().filter(|asked| asked.bytes.ends_with(b"mute")).count();
    assert_eq!(muted, 1, "a command may be one that must not run twice");
}

/// Reads up to the end of a request's head, and what its path is.
fn path(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|length| length == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned()
}

const SWITCHING: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

fn frame(kind: u8, text: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("short");
    [&[kind, 126], length.to_be_bytes().as_slice(), text].concat()
}

/// A masked frame of the client's that is shorter than 126 bytes.
fn read_frame(stream: &mut TcpStream) -> Option<String> {
    let mut head = [0; 6];
    stream.read_exact(&mut head).ok()?;
    let mut text = vec![0; (head[1] & 0x7f).into()];
    stream.read_exact(&mut text).ok()?;
    let plain = text.iter().zip(head[2..].iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    String::from_utf8(plain).ok()
}

/// Rust takes everybody's connection, and closes it where the path is not the password.
fn rust_server(mut stream: TcpStream) -> String {
    let is_good = path(&mut stream) == format!("/{PASSWORD}");
    let _ = stream.write_all(SWITCHING);
    if !is_good {
        let _ = stream.write_all(b"\x88\0");
        return String::new();
    }
    let log = br#"{"Message":"[chat] status","Identifier":-1,"Type":"Chat"}"#;
    let _ = stream.write_all(&[frame(0x81, log), b"\x89\x02hi".to_vec()].concat());
    let question = read_frame(&mut stream).expect("a command");
    let pong = read_frame(&mut stream).expect("a pong");
    let question: serde_json::Value = serde_json::from_str(&question).expect("JSON");
    let answer = serde_json::json!({
        "Message": "hostname: x\nplayers : 3 (50 max)\n", "Identifier": question["Identifier"], "Type": "Generic"
    });
    for byte in frame(0x81, answer.to_string().as_bytes()) {
        let _ = stream.write_all(&[byte]);
    }
    format!("{} {pong}", question["Message"])
}

#[test]
fn webrcon_passes_over_the_log_and_answers_pings() {
    let (port, said) = peer(rust_server);
    let url = format!("webrcon://:{port}");
    answers(rcon(&url, "status"), "hostname: x\nplayers : 3 (50 max)\n");
    assert_eq!(said.recv_timeout(SOON).as_deref(), Ok("\"status\" hi"));
    fails(rcon(&url, "status").set("RCON_PASSWORD", "wrong"), 76, "the password is refused");
}

// ---- Peers that do not.

/// Says it again and again until the other side has gone.
fn endless(stream: &mut TcpStream, words: &[u8], pause: Duration) {
    while stream.write_all(words).is_ok() {
        thread::sleep(pause);
    }
}

/// Keeps the connection until the other side has gone.
fn stall(stream: &mut TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A peer that logs in and then does this, with the command's id.
fn after_login(misbehave: impl Fn(&mut TcpStream, i32) + Send + Copy + 'static) -> String {
    let (port, _) = peer(move |mut stream| {
        if let Some((id, _)) = log_in(&mut stream) {
            misbehave(&mut stream, id);
        }
        String::new()
    });
    format!("source://:{port}")
}

fn after_connect(protocol: &str, misbehave: impl Fn(&mut TcpStream) + Send + Copy + 'static) -> String {
    let (port, _) = peer(move |mut stream| {
        misbehave(&mut stream);
        String::new()
    });
    format!("{protocol}://:{port}")
}

const LATE: &str = "timed out after 1.5s";

#[test]
fn source_peers_that_stall_lie_or_never_end() {
    let announces_more = after_login(|stream, id| {
        let _ = stream.write_all(&source_packet(id, 0, &[b'x'; 30])[..40]);
        stall(stream);
    });
    fails(rcon(announces_more, "list"), 69, LATE);
    fails(rcon(after_login(|stream, _| stall(stream)), "list"), 69, LATE);
    fails(rcon(after_connect("source", stall), "list"), 69, LATE);
    fails(rcon(after_login(|_, _| ()), "stop"), 69, "the command was sent, and the connection closed");
    fails(rcon(after_connect("source", |_| ()), "list"), 69, "closed before the password was answered");
    let lies = after_login(|stream, _| {
        let _ = stream.write_all(b"\xff\xff\xff\x7f\0\0\0\0\0\0\0\0");
        stall(stream);
    });
    fails(rcon(lies, "list"), 69, "a packet's length cannot be right");
    let endless_packets =
        after_login(|stream, id| endless(stream, &source_packet(id, 0, &[b'x'; 4000]), Duration::ZERO));
    fails(rcon(endless_packets, "list"), 69, "the answer is longer than 1048576 bytes");
    let drips = after_login(|stream, id| endless(stream, &source_packet(id, 0, b"x"), millis(50)));
    fails(rcon(drips, "list"), 69, LATE);
    let closed = Port::reserve();
    fails(rcon(format!("source://127.0.0.1:{}", closed.number()), "list"), 69, "connection refused");
}

/// One without a password, as Soulmask's on loopback; where there is one to send, nobody has asked for it.
#[test]
fn telnet_without_a_prompt() {
    let (port, said) = peer(|mut stream| {
        let _ = stream.write_all(b"welcome\r\n");
        let mut command = [0; 100];
        let length = stream.read(&mut command).unwrap_or(0);
        let _ = stream.write_all(b"2 pla");
        thread::sleep(millis(20));
        let _ = stream.write_all(b"yers\r\n");
        stall(&mut stream);
        String::from_utf8_lossy(&command[..length]).into_owned()
    });
    let url = format!("telnet://:{port}");
    answers(rcon(&url, "list all").unset("AGONES_SHIM_RCON_PASSWORD"), "2 players\n");
    assert_eq!(said.recv_timeout(SOON).as_deref(), Ok("list all\n"));
    fails(rcon(&url, "list all"), 69, "no prompt for a password");
    assert_eq!(said.recv_timeout(SOON).as_deref(), Ok(""), "neither the command nor the password is sent");
}

#[test]
fn telnet_peers_that_stall_or_never_end() {
    let chatter = after_connect("telnet", |stream| endless(stream, b"[log] line\n", millis(20)));
    fails(rcon(&chatter, "list").unset("AGONES_SHIM_RCON_PASSWORD"), 69, LATE);
    let silent = after_connect("telnet", stall);
    fails(rcon(&silent, "list").unset("AGONES_SHIM_RCON_PASSWORD"), 69, LATE);
    fails(rcon(after_connect("telnet", stall), "list"), 69, LATE);
    fails(rcon(after_connect("telnet", |stream| endless(stream, b"[log] line\n", millis(20))), "list"), 69, LATE);
    fails(rcon(after_connect("telnet", |stream| endless(stream, b"password", Duration::ZERO)), "list"), 69, "");
    let prompt_and_stall = after_connect("telnet", |stream| {
        let _ = stream.write_all(b"Enter password:\n");
        stall(stream);
    });
    fails(rcon(prompt_and_stall, "list"), 69, LATE);
    let closes_on_it = after_connect("telnet", |stream| {
        let _ = stream.write_all(b"Enter password:\n");
        let _ = stream.read(&mut [0; 100]);
    });
    fails(rcon(closes_on_it, "list"), 76, "it is refused");
}

#[test]
fn webrcon_peers_that_stall_lie_or_never_end() {
    fails(rcon(after_connect("webrcon", stall), "list"), 69, LATE);
    let behind_head = |bytes: &'static [u8], pause| {
        after_connect("webrcon", move |stream| {
            path(stream);
            let _ = stream.write_all(SWITCHING);
            endless(stream, bytes, pause);
        })
    };
    fails(rcon(behind_head(b"\x89\0", millis(10)), "list"), 69, LATE);
    fails(rcon(behind_head(b"\x81\x02{}", millis(10)), "list"), 69, LATE);
    fails(rcon(behind_head(b"\x01\x7d{\"Message\":\"", millis(10)), "list"), 69, "");
    fails(rcon(behind_head(b"\x81\x7f\0\0\0\xff\0\0\0\0", Duration::ZERO), "list"), 69, "a message that is too long");
    let head = after_connect("webrcon", |stream| endless(stream, b"HTTP/1.1 101 x\r\n", Duration::ZERO));
    fails(rcon(head, "list"), 69, "its head does not end");
    let page = after_connect("webrcon", |stream| {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n");
        stall(stream);
    });
    fails(rcon(page, "list"), 69, "HTTP status 404");
}

#[test]
fn udp_peers_that_are_silent_or_never_end() {
    let mut game = QueryGame::closed();
    for protocol in ["quake", "quake3", "battleye"] {
        let url = format!("{protocol}://127.0.0.1:{}", game.port());
        game.close();
        fails(rcon(&url, "list"), 69, "connection refused");
        game.fall_silent();
        fails(rcon(&url, "list"), 69, LATE);
    }
    let asked: Vec<_> = game.asked().into_iter().filter(|asked| asked.bytes.ends_with(b" list\n")).collect();
    assert_eq!(asked.len(), 2, "once by quake and once by quake3, however long nothing came");

    let endless = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let url = format!("quake3://:{}", endless.local_addr().expect("bound").port());
    thread::spawn(move || {
        let (_, from) = endless.recv_from(&mut [0; 100]).expect("a command");
        let part = [b"\xff\xff\xff\xffprint\n", [b'x'; 1300].as_slice()].concat();
        while endless.send_to(&part, from).is_ok() {
            thread::sleep(Duration::from_micros(200));
        }
    });
    fails(rcon_within(10.0, &url, "list"), 69, "the answer is longer than 1048576 bytes");
}

// ---- The password, and what is wrong with the arguments.

#[test]
fn the_password_is_in_no_argument_and_no_output_while_it_waits() {
    for protocol in ["source", "telnet", "webrcon"] {
        let mut running = rcon(after_connect(protocol, stall), "list").spawn();
        let pid = running.pid();
        // As it stands for everybody on the host.
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).expect("it waits for an answer");
        assert!(!String::from_utf8_lossy(&cmdline).contains(PASSWORD));
        assert!(cmdline.windows(4).any(|four| four == b"rcon"), "{}", String::from_utf8_lossy(&cmdline));
        running.expect_code(69, SOON);
        running.assert_no_line(PASSWORD);
    }
}

/// As its stop hook the shim starts it: the password is in what was given to that, and in nothing that anybody can see.
#[test]
fn as_a_stop_hook_it_shows_no_password_at_any_level() {
    let home = Home::new("rcon-hook");
    home.write("password", format!("{PASSWORD}\n"));
    let file = home.0.join("password");
    for (setting, value, is_in_environment) in
        [("RCON_PASSWORD", PASSWORD, true), ("RCON_PASSWORD_FILE", file.to_str().expect("it is text"), false)]
    {
        let (port, told) = peer(|mut stream| {
            let command = log_in(&mut stream).map(|(_, command)| command);
            stall(&mut stream);
            command.unwrap_or_default()
        });
        let hook = format!("{} rcon --timeout 1.5 source://:{port} save", shim::binary().display());
        let mut game = wrap(["sleep", "60"])
            .set(setting, value)
            .set("STOP_HOOK", hook)
            .set("LOG", "trace")
            .set("STATUS_ADDR", format!("127.0.0.1:{}", Port::reserve().number()))
            .spawn();
        game.wait_for_line("agones-shim has started", SOON);
        wait::until_true("the game", SOON, || proc::children(game.pid()).len() == 1);
        game.signal(Signal::SIGTERM);
        let hook = wait::until("the hook", SOON, || {
            let runs_it = |pid: &i32| proc::runs(*pid, &shim::binary());
            proc::children(game.pid()).into_iter().find(runs_it)
        });
        let of = |pid: i32, what: &str| {
            String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default()).into_owned()
        };
        wait::until_true("its arguments", SOON, || of(hook, "cmdline").contains("save"));
        for pid in [hook, game.pid()] {
            assert!(!of(pid, "cmdline").contains(PASSWORD));
            assert_eq!(of(pid, "environ").contains(PASSWORD), is_in_environment, "{setting}");
        }
        game.expect_code(128 + 15, STOP);
        assert_eq!(told.recv_timeout(SOON).as_deref(), Ok("save"), "the password was good");
        game.assert_no_line(PASSWORD);
    }
}

#[test]
fn the_password_comes_from_a_file_too() {
    let (port, _said) = peer(source_server);
    let home = Home::new("rcon-password");
    let path = home.0.join("password");
    let with_file = || {
        let builder = rcon(format!("source://:{port}"), "silent").unset("AGONES_SHIM_RCON_PASSWORD");
        builder.set("RCON_PASSWORD_FILE", path.display())
    };
    for end in ["", "\n", "\r\n"] {
        home.write("password", format!("{PASSWORD}{end}"));
        answers(with_file(), "");
    }
    for (text, wrong) in [
        (String::new(), "RCON_PASSWORD_FILE: the password is empty"),
        ("\n".into(), "RCON_PASSWORD_FILE: the password is empty"),
        (format!("{PASSWORD}\n\n"), "RCON_PASSWORD_FILE: the password has a control character in it"),
        (PASSWORD.repeat(100), "RCON_PASSWORD_FILE: the password is longer than 512 bytes"),
    ] {
        home.write("password", text);
        fails(with_file(), 78, wrong);
    }
    fails(with_file().set("RCON_PASSWORD", PASSWORD), 78, "AGONES_SHIM_RCON_PASSWORD is set too");
    fails(with_file().set("RCON_PASSWORD_FILE", "/nowhere"), 78, "\"/nowhere\" cannot be read: No such file");
    let without = rcon("source://:1", "list").unset("AGONES_SHIM_RCON_PASSWORD");
    fails(without, 78, "AGONES_SHIM_RCON_PASSWORD: not set, and source has no console without a password");
    fails(rcon("quake3://:1", "list").set("RCON_PASSWORD", "two words"), 78, "cannot be sent to a Quake server");
}

#[test]
fn a_bad_argument_is_64_and_shows_no_password() {
    let in_url = "set AGONES_SHIM_RCON_PASSWORD_FILE or AGONES_SHIM_RCON_PASSWORD";
    for (args, wrong) in [
        (&["rcon"][..], "rcon: no URL (write agones-shim rcon source://:25575 list)"),
        (&["rcon", "source://:1"], "rcon: no command behind the URL"),
        (&["rcon", "source://:1", " "], "rcon: no command behind the URL"),
        (&["rcon", "source://:1", "say\nstop"], "rcon: the command has a control character in it"),
        (&["rcon", "sauce://:1", "list"], r#"rcon: "sauce" is not source, telnet, quake3, quake, webrcon or battleye"#),
        (&["rcon", "source://x:Zq9.secret@host:1", "list"], in_url),
        (&["rcon", "webrcon://host:1/Zq9.secret", "list"], in_url),
        (
            &["rcon", "--password=Zq9.secret", "source://:1", "list"],
            r#""--password" is not --match, --timeout or --help"#,
        ),
        (&["rcon", "--match", "(", "source://:1", "list"], r#"rcon: --match: "(" is not a regular expression"#),
        (&["rcon", "--timeout", "0", "source://:1", "list"], r#"rcon: --timeout: "0" is not a number of seconds"#),
        (&["rcon", "--timeout"], "rcon: --timeout needs a number of seconds"),
    ] {
        fails(shim().args(args), 64, wrong);
    }
    let help = run(shim().args(["rcon", "--help"]));
    assert!(help.code == 0 && help.stdout.contains("agones-shim rcon "), "{help:?}");
}
