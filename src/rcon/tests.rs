//! Each codec by itself: answers as the games give them, torn, false and random ones.

use proptest::prelude::*;

use super::fuzz::drive;
use super::*;
use crate::rcon::battleye::crc32;

/// A conversation that ends well: what comes, piece by piece (none is silence), what is sent in return, the answer.
struct Talk {
    protocol: Protocol,
    pieces: Vec<Vec<u8>>,
    sent: Vec<Vec<u8>>,
    answer: &'static str,
}

/// A packet of Source RCON.
fn source(id: i32, kind: i32, text: &str) -> Vec<u8> {
    let length = i32::try_from(text.len() + 10).expect("short");
    [[length, id, kind].map(i32::to_le_bytes).concat().as_slice(), text.as_bytes(), b"\0\0"].concat()
}

fn battleye(rest: &[u8]) -> Vec<u8> {
    let body = [b"\xff", rest].concat();
    [b"BE".as_slice(), &crc32(&body).to_le_bytes(), &body].concat()
}

/// A frame from a server.
fn frame(first: u8, text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("short");
    [&[first, length], text.as_bytes()].concat()
}

const SILENCE: Vec<u8> = Vec::new();
const SWITCHING: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
const PASSWORD: &str = "Zq9!secret";

fn web_answer(text: &str) -> String {
    format!(r#"{{"Message":"{text}","Identifier":{},"Type":"Generic"}}"#, 0x1234_5678)
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn talks() -> Vec<Talk> {
    let text = |text: &str| text.as_bytes().to_vec();
    let quake = |text: &[u8]| [b"\xff\xff\xff\xff", text].concat();
    let begins = [source(1, 3, PASSWORD), source(2, 2, "list")];
    let asks_end = [begins.as_slice(), &[source(3, 0, "")]].concat();
    let log_in = battleye(&[b"\0", PASSWORD.as_bytes()].concat());
    let be_command = battleye(b"\x01\0list");
    let lines = vec![text(&format!("{PASSWORD}\n")), text("list\n")];
    let rcon = vec![quake(format!("rcon {PASSWORD} list\n").as_bytes())];
    let talk = |protocol, pieces: &[Vec<u8>], sent: &[Vec<u8>], answer| Talk {
        protocol,
        pieces: pieces.to_vec(),
        sent: sent.to_vec(),
        answer,
    };
    vec![
        // Valve's servers: an empty value before the auth answer; the end is mirrored.
        talk(
            Protocol::Source,
            &[source(1, 0, ""), source(1, 2, ""), source(2, 0, "one, "), source(2, 0, "two"), source(3, 0, "")],
            &asks_end,
            "one, two",
        ),
        // Minecraft's: no such value, and words about the end.
        talk(
            Protocol::Source,
            &[source(1, 2, ""), source(2, 0, "There are 0"), source(3, 0, "Unknown request 0")],
            &asks_end,
            "There are 0",
        ),
        // An empty answer, and a server that does not know what the end is.
        talk(Protocol::Source, &[source(1, 2, ""), source(2, 0, ""), SILENCE], &asks_end, ""),
        // Palworld's: every answer is called 0, so that the end could not be told.
        talk(Protocol::Source, &[source(0, 2, ""), source(0, 0, "Welcome"), SILENCE], &begins, "Welcome"),
        // Conan's: the answer has the kind of an auth answer. Rust's log lines are kind 4.
        talk(Protocol::Source, &[source(1, 2, ""), source(0, 4, "log"), source(0, 2, "ok"), SILENCE], &begins, "ok"),
        // 7 Days to Die, as to its phases.
        talk(
            Protocol::Telnet,
            &[
                text("Please enter password:\r\n"),
                text("Logon successful.\r\n\r\n"),
                text("*** Connected.\r\nPress 'help'\r\n"),
                SILENCE,
                text("Executing command 'list'\r\n"),
                text("Total of 2 in the game\r\n"),
                SILENCE,
            ],
            &lines,
            "Executing command 'list'\nTotal of 2 in the game\n",
        ),
        // A prompt without a colon, an echo of nothing, telnet's own commands in the middle of everything.
        talk(
            Protocol::Telnet,
            &[
                text("Password?"),
                SILENCE,
                b"\xff\xfb\x01\r\n\xff\xfa\x18\xff\xff\x01\xff\xf0\xff\xf9".to_vec(),
                text("hello"),
                SILENCE,
                SILENCE,
                b"2 pl\xff\xfd\x01ayers\0".to_vec(),
                SILENCE,
            ],
            &lines,
            "2 players",
        ),
        talk(
            Protocol::Quake3,
            &[quake(b"print\nmap: box\n"), quake(b"disconnect"), quake(b"print\nnum\n"), SILENCE],
            &rcon,
            "map: box\nnum\n",
        ),
        talk(Protocol::Quake3, &[quake(b"print\n"), SILENCE], &rcon, ""),
        talk(Protocol::Quake, &[quake(b"nhi\n\0"), SILENCE], &rcon, "hi\n"),
        talk(
            Protocol::Battleye,
            &[
                battleye(b"\0\x01"),
                battleye(b"\x02\x05Player #1 joined"),
                battleye(b"\x01\0\0\x02\x01world"),
                battleye(b"\x01\0\0\x02\x01again"),
                battleye(b"\x01\x07another"),
                battleye(b"\x01\0\0\x02\0hello "),
            ],
            &[log_in.clone(), be_command.clone(), battleye(b"\x02\x05")],
            "hello world",
        ),
        // The login was lost; the answer is empty.
        talk(
            Protocol::Battleye,
            &[SILENCE, battleye(b"\0\x01"), battleye(b"\x01\0")],
            &[log_in.clone(), log_in, be_command],
            "",
        ),
        talk(
            Protocol::WebRcon,
            &[
                text(SWITCHING),
                frame(0x81, r#"{"Message":"hi","Identifier":-1,"Type":"Chat"}"#),
                frame(0x81, "no JSON"),
                frame(0x8a, "unasked pong"),
                frame(0x01, &web_answer("players")[..30]),
                frame(0x80, &web_answer("players")[30..]),
            ],
            &[],
            "players",
        ),
    ]
}

/// The talks in the fuzzer's form.
fn seeds() -> Vec<Vec<u8>> {
    let place = |protocol| match protocol {
        Protocol::Source => 0,
        Protocol::Telnet => 1,
        Protocol::Quake3 => 2,
        Protocol::Quake => 3,
        Protocol::WebRcon => 4,
        Protocol::Battleye => 5,
    };
    let piece = |piece: &Vec<u8>| [&[u8::try_from(piece.len()).expect("short")], piece.as_slice()].concat();
    let seed = |talk: Talk| [vec![place(talk.protocol)], talk.pieces.iter().flat_map(piece).collect()].concat();
    talks().into_iter().map(seed).collect()
}

fn pieces(pieces: &[Vec<u8>]) -> Vec<&[u8]> {
    pieces.iter().map(Vec::as_slice).collect()
}

#[test]
fn every_protocol_is_spoken_as_its_games_speak_it() {
    for (index, talk) in talks().iter().enumerate() {
        let (end, out) = drive(talk.protocol, &pieces(&talk.pieces));
        let answer = String::from_utf8(out.answer).expect("text");
        assert_eq!((end, answer.as_str()), (Ok(true), talk.answer), "{index}, {:?}", talk.protocol);
        if talk.protocol != Protocol::WebRcon {
            assert_eq!(out.send, talk.sent, "{index}, {:?}", talk.protocol);
        }
    }
}

#[test]
fn a_stream_in_single_bytes_is_the_same_stream() {
    for talk in talks().iter().filter(|talk| talk.protocol.is_stream()) {
        let single = |piece: &Vec<u8>| match piece.as_slice() {
            [] => vec![SILENCE],
            bytes => bytes.iter().map(|byte| vec![*byte]).collect(),
        };
        let torn: Vec<Vec<u8>> = talk.pieces.iter().flat_map(single).collect();
        let (end, out) = drive(talk.protocol, &pieces(&torn));
        assert_eq!((end, out.answer.as_slice()), (Ok(true), talk.answer.as_bytes()), "{:?}", talk.protocol);
    }
}

#[test]
fn a_console_of_lines_without_a_password_is_asked_once_it_is_quiet() {
    let mut out = Out::default();
    let mut console = telnet::Telnet::new("list", None);
    assert_eq!(console.open(&mut out), Step::Quiet(QUIET));
    assert_eq!(console.take(b"welcome\r\n", &mut out), Ok(Step::Quiet(QUIET)));
    assert_eq!((console.quiet(&mut out), out.send.as_slice()), (Ok(Step::Wait), &[b"list\n".to_vec()][..]));
    assert_eq!(console.take(b"2 players\r\n", &mut out), Ok(Step::Quiet(QUIET)));
    assert_eq!((console.quiet(&mut out), out.answer.as_slice()), (Ok(Step::Done), &b"2 players\n"[..]));
}

#[test]
fn a_prompt_that_comes_after_the_command_is_no_answer_to_it() {
    let mut out = Out::default();
    let mut console = telnet::Telnet::new("list", None);
    console.open(&mut out);
    assert_eq!(console.quiet(&mut out), Ok(Step::Wait));
    assert_eq!(console.take(b"Enter password:\nWrong password 1/3.\n", &mut out), Ok(Step::Quiet(QUIET)));
    assert!(matches!(console.quiet(&mut out), Err(Failure::Refused(_))));
}

/// A command in the place of a late prompt's answer would be a wrong password, and show in the game's log.
#[test]
fn a_prompt_is_waited_for_where_there_is_a_password_for_it() {
    let (end, out) = drive(Protocol::Telnet, &[b"", b"welcome\n", b"", b""]);
    assert_eq!((end, out.send.len()), (Ok(false), 0));
}

/// However far a good talk has come, it is not over before its end.
#[test]
fn half_an_answer_is_none() {
    for talk in talks() {
        for length in 0..talk.pieces.len() {
            let (end, _) = drive(talk.protocol, &pieces(&talk.pieces[..length]));
            assert_eq!(end, Ok(false), "{:?} after {length} pieces", talk.protocol);
        }
    }
    // Silence in the middle of a packet ends nothing: it may be the network's.
    let torn = [source(1, 2, ""), source(2, 0, "one"), source(2, 0, "two")[..9].to_vec(), SILENCE];
    assert_eq!(drive(Protocol::Source, &pieces(&torn)).0, Ok(false));
}

#[test]
fn a_password_that_is_refused_is_told_from_silence() {
    let line = |text: &str| vec![b"Enter password:\n".to_vec(), text.as_bytes().to_vec()];
    let quake = |text: &str| vec![[b"\xff\xff\xff\xff", text.as_bytes()].concat()];
    for (protocol, pieces_) in [
        (Protocol::Source, vec![source(1, 0, ""), source(-1, 2, "")]),
        (Protocol::Source, vec![source(1, 2, ""), source(-1, 2, "")]),
        (Protocol::Telnet, line("Wrong password 1/3.\n")),
        (Protocol::Telnet, line("\r\nPassword incorrect, please enter password:\r\n")),
        (Protocol::Telnet, line("Password:\n")),
        (Protocol::Quake3, quake("print\nBad rconpassword.\n")),
        (Protocol::Quake3, quake("print\nNo rconpassword set on the server.\n")),
        (Protocol::Quake3, quake("print\nInvalid password.\n")),
        (Protocol::Quake, quake("nBad rcon_password.\n")),
        (Protocol::Battleye, vec![battleye(b"\0\0")]),
        (Protocol::WebRcon, vec![SWITCHING.into(), frame(0x88, "")]),
        (Protocol::WebRcon, vec![b"HTTP/1.1 401 Unauthorized\r\n\r\n".to_vec()]),
    ] {
        let end = drive(protocol, &pieces(&pieces_)).0;
        assert!(matches!(end, Err(Failure::Refused(_))), "{protocol:?}: {end:?}");
    }
}

#[test]
fn what_cannot_be_an_answer_is_not_waited_for() {
    let long_head = vec![b'x'; 20_000];
    for (protocol, bytes) in [
        (Protocol::Source, b"\x09\0\0\0\x01\0\0\0\x02\0\0\0".to_vec()),
        (Protocol::Source, b"\xff\xff\xff\xff\x01\0\0\0\x02\0\0\0".to_vec()),
        (Protocol::Source, b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        (Protocol::WebRcon, b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        (Protocol::WebRcon, b"SSH-2.0-x\r\n\r\n".to_vec()),
        (Protocol::WebRcon, long_head.clone()),
        // Masked, of a reserved kind, and one that announces 2^63 bytes.
        (Protocol::WebRcon, [SWITCHING.as_bytes(), b"\x81\x80"].concat()),
        (Protocol::WebRcon, [SWITCHING.as_bytes(), b"\x83\x00"].concat()),
        (Protocol::WebRcon, [SWITCHING.as_bytes(), b"\x81\x7f\x80\0\0\0\0\0\0\0"].concat()),
        (Protocol::Telnet, long_head),
    ] {
        let end = drive(protocol, &[&bytes]).0;
        assert!(matches!(end, Err(Failure::Unanswered(_))), "{protocol:?}: {end:?}");
    }
}

#[test]
fn a_datagram_that_is_not_the_servers_word_changes_nothing() {
    let mut broken = battleye(b"\0\x01");
    *broken.last_mut().expect("bytes") ^= 1;
    for (protocol, bytes) in [
        (Protocol::Battleye, broken),
        // An answer before the login, to a command that nobody sent.
        (Protocol::Battleye, battleye(b"\x01\0early")),
        (Protocol::Quake3, b"print\nno head".to_vec()),
        (Protocol::Quake3, Vec::from(b"\xff\xff\xff\xffstatusResponse\n")),
    ] {
        let (end, out) = drive(protocol, &[&bytes]);
        assert_eq!((end, out.answer.len(), out.send.len()), (Ok(false), 0, 1), "{protocol:?}");
    }
}

/// The check value that every description of this CRC gives.
#[test]
fn the_crc_is_the_one_of_zip() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn a_password_that_a_protocol_would_take_apart_is_not_sent() {
    for (protocol, password) in [
        (Protocol::Quake3, "two words"),
        (Protocol::Quake3, "a\"b"),
        (Protocol::Quake, "a//b"),
        (Protocol::Quake, "pässword"),
        (Protocol::WebRcon, "a?b"),
        (Protocol::WebRcon, "two words"),
    ] {
        let wrong = check(protocol, password).expect_err(password);
        assert!(!wrong.contains(password), "{wrong}");
    }
    for protocol in [Protocol::Source, Protocol::Telnet, Protocol::Battleye] {
        assert_eq!(check(protocol, "two \"wörds\"?"), Ok(()), "{protocol:?}");
    }
}

/// The request as a server would read it: a path, a key of 16 bytes, a mask that is taken off again.
#[test]
fn a_websocket_is_asked_for_and_written_to() {
    let (_, out) = drive(Protocol::WebRcon, &[SWITCHING.as_bytes()]);
    let request = String::from_utf8(out.send[0].clone()).expect("text");
    assert!(request.starts_with("GET /Zq9!secret HTTP/1.1\r\nHost: localhost:1\r\n"), "{request}");
    let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).expect("a key");
    assert_eq!((key.len(), &key[22..]), (24, "=="), "base64 of 16 bytes");
    assert!(request.ends_with("\r\n\r\n"));
    let [0x81, length, mask @ .., _] = &out.send[1][..7] else { panic!("{:?}", out.send[1]) };
    assert_eq!(usize::from(length & 0x7f), out.send[1].len() - 6);
    let text: Vec<u8> = out.send[1][6..].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let wanted = r#"{"Identifier":305419896,"Message":"list","Name":"agones-shim"}"#;
    assert_eq!(String::from_utf8(text).as_deref(), Ok(wanted));
    for (length, head) in
        [(125, &[0x81, 0xfd][..]), (126, &[0x81, 0xfe, 0, 126]), (65_536, &[0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0])]
    {
        assert!(websocket::frame(1, &vec![0; length], 0).starts_with(head), "{length}");
    }
}

/// The fuzzer's corpus: these talks, and every input that once found a bug.
#[test]
fn the_corpus_holds_the_fuzzer_s_invariants() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/rcon");
    if std::env::var_os("WRITE_CORPUS").is_some() {
        for (index, seed) in seeds().iter().enumerate() {
            std::fs::write(format!("{corpus}/talk_{index:02}"), seed).expect("the corpus is there");
        }
    }
    let read =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read(entry.expect("readable").path()).expect("readable");
    let inputs: Vec<Vec<u8>> = std::fs::read_dir(corpus).expect("the corpus is checked in").map(read).collect();
    assert!(seeds().iter().all(|seed| inputs.contains(seed)), "each talk is in {corpus} (WRITE_CORPUS=1 writes them)");
    for input in &inputs {
        fuzz(input);
    }
}

proptest! {
    #[test]
    fn the_fuzzer_s_invariants_hold(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        fuzz(&bytes);
    }

    /// A byte or two of a good talk changed.
    #[test]
    fn the_fuzzer_s_invariants_hold_near_good_answers(
        which in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = which.get(&seeds()).clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        fuzz(&bytes);
    }

    /// Behind a good beginning the rest is met too.
    #[test]
    fn no_bytes_behind_a_good_beginning_are_a_bug(
        which in 0usize..13,
        keep in 0usize..8,
        rest in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
    ) {
        let talk = &talks()[which];
        let kept = talk.pieces.iter().take(keep).chain(&rest);
        let _ = drive(talk.protocol, &kept.map(Vec::as_slice).collect::<Vec<_>>());
    }
}
