//! Answers byte by byte, put together by hand after each protocol's description (Teeworlds', DDNet's and Mumble's as
//! their servers gave them): whole, cut at every length, with every byte changed, and bytes that are none.

mod faults;

use proptest::prelude::*;

use super::protocol::{PROTOCOLS, Transport};
use super::*;

const NAMES: Wanted = Wanted { names: true, bots: true };

fn of(name: &str) -> &'static Protocol {
    Protocol::of(name).unwrap_or_else(|| panic!("{name} is in the table"))
}

/// In all questions of these tests.
const ID: u64 = 0x6162_6364_1234_5678;

const A2S_INFO: &[u8] =
    b"\xff\xff\xff\xff\x49\x11A server\0de_dust2\0cstrike\0Counter-Strike\0\xf0\x00\x02\x20\x01dl\0\x01\
    1.38.7.9\0\xb1\x87\x69\x04\x28\x94\x7e\x02\x08\x40\x01secure\0\xf0\0\0\0\0\0\0\0";
const A2S_GOLDSRC: &[u8] =
    b"\xff\xff\xff\xff\x6d10.0.0.7:27015\0A server\0crossfire\0valve\0Half-Life\0\x02\x10\x2fdl\0\0\x01\0";
const A2S_CHALLENGE: &[u8] = b"\xff\xff\xff\xff\x41\x0a\x08\x5e\xea";
const A2S_PLAYERS: &[u8] =
    b"\xff\xff\xff\xff\x44\x03\0Ann\0\x0e\0\0\0\xb4\x97\0\x44\0Bob <3\0\x01\0\0\0\x21\x40\x0a\x41\0\0\0\0\0\0\0\0\0\0";
const QUAKE3: &[u8] =
    b"\xff\xff\xff\xffstatusResponse\n\\challenge\\6162636412345678\\sv_maxclients\\16\\mapname\\q3dm17\
    \\g_needpass\\0\n0 48 \"^1A^7nn^^\"\n12 0 \"^x0F0Bob\"\n";
const QUAKEWORLD: &[u8] =
    b"\xff\xff\xff\xffn\\maxfps\\77\\*version\\MVDSV 0.35\\maxclients\\8\\map\\dm4\\hostname\\q\n\
    7 3 12 38 \"\xc1nn\" \"\" 4 4\n9 0 1 25 \"\x10Bo\xe2\x13\x11\" \"base\" 0 0\n\0";
const QUAKE2: &[u8] = b"\xff\xff\xff\xffprint\n\\mapname\\q2dm1\\maxclients\\12\\hostname\\q\n3 25 \"Ann\"\n";
const BEDROCK: &[u8] = b"\x1c\x30\xb1\x31\xb2\x09\x1a\x2b\x3c\x01\x02\x03\x04\x05\x06\x07\x08\
    \x00\xff\xff\x00\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78\
    \x00\x3fMCPE;A \\; server;859;1.21.120;3;10;1234;Bedrock level;Survival;1;";
const MUMBLE: &[u8] =
    b"\x00\x01\x03\x04\x61\x62\x63\x64\x12\x34\x56\x78\x00\x00\x00\x02\x00\x00\x00\x64\x00\x02\x32\x80";
const TEEWORLDS_6: &[u8] =
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffinf386\x000.6.5\0name\0dm1\0DM\0\x30\x001\x008\x002\x0016\0\
    Ann\0clan\0-1\x005\x001\0Bob\0\x00826\0-3\x000\0";
const TEEWORLDS_6_EXTENDED: &[u8] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffiext1193046\x000.6.4, 16.4\0dd\0Tutorial\0\
    -1924373370\x001082711\0TestDDraceNetwor\x000\x002\x0064\x003\x0063\0\0Ann\0clan\0-1\x005\x001\0\0Bob\0\x00826\0-3\x000\0\0";
const TEEWORLDS_6_MORE: &[u8] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffiex+1193046\x001\0\0Cid\0\0-1\x000\x001\0\0";
const TEEWORLDS_7_TOKEN: &[u8] = b"\x04\x00\x00abcd\x05\xe2\xcdN\xe3";
const TEEWORLDS_7: &[u8] =
    b"!abcd\xe2\xcdN\xe3\xff\xff\xff\xffinf3\x000.7.5\0test one\0\0dm1\0DM\0\0\x01\x01\x08\x02\x80\x01\
    Ann\0clan\0\x40\x05\0Bob\0\0\x9a\x0c\x42\x01";
const MINECRAFT_JSON: &str = r#"{"version":{"name":"1.21.4","protocol":769},"players":{"max":20,"online":2,"sample":[
    {"name":"Ann","id":"00000000-0000-0000-0000-000000000001"},{"name":"Bob","id":"00000000-0000-0000-0000-000000000002"}]},
    "description":{"text":"A server"},"favicon":"data:image/png;base64,iVBORw0KGgo="}"#;

/// A server of Rust with more players than a byte holds: its bytes say 56 of 244.
fn a2s_rust(keywords: &str) -> Vec<u8> {
    let head = b"\xff\xff\xff\xff\x49\x11A server\0Procedural Map\0rust\0Rust\0\x4a\xda\x38\xf4\x00dl\0\x01";
    let extra = b"2591\0\xb1\x87\x69\x04\x28\x94\x7e\x02\x08\x40\x01";
    [&head[..], extra, keywords.as_bytes(), b"\0\x4a\xda\x03\0\0\0\0\0"].concat()
}

/// One A2S message in two packets, the second first, with the header of each.
fn in_two(first: &[u8], second: &[u8], message: &[u8]) -> Vec<Vec<u8>> {
    let (begin, end) = message.split_at(40);
    let packet = |header: &[u8], part: &[u8]| [b"\xfe\xff\xff\xff\x07\0\0\0", header, part].concat();
    vec![packet(second, end), packet(first, begin)]
}

/// What a server of 1.6 or older answers.
fn minecraft_kick(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    [&[0xff], &u16::try_from(units.len() / 2).unwrap().to_be_bytes()[..], &units].concat()
}

fn minecraft(json: &str) -> Vec<u8> {
    let number = |number: usize| vec![u8::try_from(number & 0x7f).unwrap() | 0x80, u8::try_from(number >> 7).unwrap()];
    let text = [number(json.len()), json.as_bytes().to_vec()].concat();
    [number(text.len() + 1), vec![0], text].concat()
}

fn reading(players: u64, capacity: u64, names: Option<&[&str]>) -> Reading {
    let names = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    Reading { players: Some(players), capacity: Some(capacity), names }
}

/// Every protocol's answers, in the order in which they come, and what they say.
fn answers() -> Vec<(&'static Protocol, Vec<Vec<u8>>, Reading)> {
    let both = Some(&["Ann", "Bob"][..]);
    let own = |pieces: &[&[u8]]| pieces.iter().map(|piece| piece.to_vec()).collect::<Vec<_>>();
    let split = in_two(b"\x02\x00\xe0\x04", b"\x02\x01\xe0\x04", A2S_INFO);
    let split_unsized = in_two(b"\x02\x00", b"\x02\x01", A2S_INFO);
    let split_goldsrc = in_two(b"\x02", b"\x12", A2S_GOLDSRC);
    vec![
        (
            of("a2s"),
            [own(&[A2S_CHALLENGE, A2S_INFO]), own(&[A2S_PLAYERS])].concat(),
            reading(2, 32, Some(&["Ann", "Bob <3"])),
        ),
        (of("a2s"), [split, own(&[A2S_CHALLENGE, A2S_PLAYERS])].concat(), reading(2, 32, Some(&["Ann", "Bob <3"]))),
        (of("a2s"), [split_unsized, own(&[A2S_PLAYERS])].concat(), reading(2, 32, Some(&["Ann", "Bob <3"]))),
        (of("a2s"), [split_goldsrc, own(&[A2S_PLAYERS])].concat(), reading(2, 16, Some(&["Ann", "Bob <3"]))),
        (of("a2s"), vec![a2s_rust("mp500,cp312,ptrak,qp0,v2591")], reading(312, 500, None)),
        (of("a2s"), own(&[A2S_GOLDSRC, A2S_PLAYERS]), reading(2, 16, Some(&["Ann", "Bob <3"]))),
        (of("quake3"), own(&[QUAKE3]), reading(2, 16, Some(&["Ann^", "Bob"]))),
        (of("quake"), own(&[QUAKEWORLD]), reading(2, 8, Some(&["Ann", "[Bob1]"]))),
        (of("quake"), own(&[QUAKE2]), reading(1, 12, Some(&["Ann"]))),
        (of("bedrock"), own(&[BEDROCK]), reading(3, 10, None)),
        (of("mumble"), own(&[MUMBLE]), reading(2, 100, None)),
        (of("teeworlds"), own(&[TEEWORLDS_6]), reading(2, 16, both)),
        (of("teeworlds"), own(&[TEEWORLDS_6_EXTENDED, TEEWORLDS_6_MORE]), reading(3, 63, Some(&["Ann", "Bob", "Cid"]))),
        (of("teeworlds"), own(&[TEEWORLDS_6_MORE, TEEWORLDS_6_EXTENDED]), reading(3, 63, Some(&["Ann", "Bob", "Cid"]))),
        (of("teeworlds"), own(&[TEEWORLDS_7_TOKEN, TEEWORLDS_7]), reading(2, 64, both)),
        (of("minecraft"), vec![minecraft(MINECRAFT_JSON)], reading(2, 20, both)),
        (of("minecraft"), vec![minecraft_kick("§1\x0061\x001.5.2\0A §aserver\x003\x0020")], reading(3, 20, None)),
        (of("minecraft"), vec![minecraft_kick("A §aserver§3§20")], reading(3, 20, None)),
        (of("udp"), own(&[b""]), Reading::default()),
    ]
}

fn read_all(protocol: &Protocol, wanted: Wanted, pieces: &[Vec<u8>]) -> Result<Option<Reading>, String> {
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    read(protocol, ID, wanted, &pieces)
}

#[test]
fn each_protocol_s_answer_is_read() {
    for (protocol, pieces, wanted) in answers() {
        assert_eq!(read_all(protocol, NAMES, &pieces), Ok(Some(wanted.clone())), "{protocol:?}");
        let counts = Reading { names: None, ..wanted };
        assert_eq!(read_all(protocol, Wanted::COUNTS, &pieces), Ok(Some(counts)), "{protocol:?}");
    }
}

/// The table's own test: a protocol that has a row and no answer here is not tested.
#[test]
fn every_protocol_has_an_answer() {
    for protocol in &PROTOCOLS {
        let told: Vec<Reading> =
            answers().into_iter().filter(|(known, ..)| *known == protocol).map(|(.., told)| told).collect();
        assert!(!told.is_empty(), "{} is answered in these tests", protocol.name);
        assert_eq!(told.iter().all(|told| told.players.is_some()), protocol.counts, "{}", protocol.name);
        let is_named = told.iter().any(|told| told.names.is_some());
        assert_eq!(is_named, protocol.names != protocol::Names::Nobody, "{}", protocol.name);
        assert!(std::ptr::eq(of(protocol.name), protocol), "{} is there once", protocol.name);
    }
}

#[test]
fn an_answer_that_is_cut_says_at_most_less() {
    for (protocol, pieces, whole) in answers().into_iter().filter(|(protocol, ..)| *protocol != of("udp")) {
        for (at, piece) in pieces.iter().enumerate() {
            // Valve's split answers have no sum to check: a part that is cut is another answer.
            let is_part = piece.starts_with(b"\xfe\xff\xff\xff");
            for length in (0..piece.len()).filter(|_| !is_part) {
                let mut cut = pieces.clone();
                cut[at].truncate(length);
                if let Ok(Some(reading)) = read_all(protocol, NAMES, &cut[..=at]) {
                    let is_less = reading.players <= whole.players && reading.names.iter().flatten().count() <= 3;
                    assert!(is_less && reading.capacity.is_some(), "{protocol:?} cut at {length}: {reading:?}");
                }
            }
        }
    }
}

#[test]
fn no_changed_byte_is_a_bug() {
    for (protocol, pieces, _) in answers() {
        for (at, piece) in pieces.iter().enumerate() {
            for place in 0..piece.len() {
                for change in [0x01, 0x80, 0xff, piece[place], piece[place] ^ 0x7f] {
                    let mut changed = pieces.clone();
                    changed[at][place] ^= change;
                    let _ = read_all(protocol, NAMES, &changed);
                }
            }
        }
    }
}

#[test]
fn an_answer_to_another_question_is_none() {
    for (protocol, pieces, _) in answers() {
        if ["quake3", "bedrock", "mumble", "teeworlds"].contains(&protocol.name) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            assert_eq!(read(protocol, ID ^ 0x0202_0202_0202_0202, NAMES, &pieces), Ok(None), "{protocol:?}");
        }
    }
}

#[test]
fn what_is_no_answer_is_told_in_words() {
    let json = |text: &str| minecraft(&format!("{text:<200}"));
    let twice: Vec<u8> = A2S_CHALLENGE.to_vec();
    for (protocol, pieces, wanted) in [
        (of("a2s"), vec![b"".to_vec()], "is empty"),
        (of("a2s"), vec![b"\xff\xff\xff\xffn\\map".to_vec()], "begins with 6e 5c 6d 61 70"),
        (of("a2s"), vec![b"HTTP/1.1 400 Bad".to_vec()], "begins with 48 54 54 50 2f 31 2e 31"),
        (of("a2s"), vec![A2S_INFO[..55].to_vec()], "ends too early"),
        (of("a2s"), vec![twice.clone(); 5], "asks for a new challenge again and again"),
        (of("a2s"), vec![b"\xfe\xff\xff\xff\0\0\0\x80\x02\0\0\0".to_vec()], "is compressed, which is not supported"),
        (of("a2s"), vec![b"\xfe\xff\xff\xff\0\0\0\0\xff\0\0\0".to_vec()], "is to come in 255 packets, more than 32"),
        (of("a2s"), vec![b"\xfe\xff\xff\xff\0\0\0\0\x02\xff\0\0".to_vec()], "has part 255 of 2, counted from 0"),
        (of("a2s"), vec![b"\xfe\xff\xff\xff\0\0\0\0\x01\0\0\0no".to_vec()], "begins with 6e 6f"),
        (of("mumble"), vec![MUMBLE[..23].to_vec()], "ends too early"),
        (of("mumble"), vec![[MUMBLE, &[0]].concat()], "is 25 bytes long and not 24"),
        (of("bedrock"), vec![b"\x1d".to_vec()], "begins with 1d"),
        (of("bedrock"), vec![[&BEDROCK[..17], &[0; 16], &BEDROCK[33..]].concat()], "lacks RakNet's magic bytes"),
        (
            of("bedrock"),
            vec![[&BEDROCK[..33], b"\0\x05hello"].concat()],
            "has no numbers of players in its text (write udp:// for another game's RakNet)",
        ),
        (of("quake3"), vec![b"\xff\xff\xff\xffinfoResponse\n\\a\\b".to_vec()], "begins with ff ff ff ff 69 6e 66 6f"),
        (of("quake3"), vec![b"\xff\xff\xff\xffstatusResponse\n\\map\\x\n".to_vec()], "does not say sv_maxclients"),
        (
            of("quake3"),
            vec![b"\xff\xff\xff\xffstatusResponse\n\\sv_maxclients\\-1\n".to_vec()],
            "does not say how many players it takes as a number",
        ),
        (
            of("quake3"),
            vec![b"\xff\xff\xff\xffstatusResponse\n\\sv_maxclients\\8\n1 2 Ann\n".to_vec()],
            r#"has a player without a name in quotes: "1 2 Ann""#,
        ),
        (of("quake"), vec![b"\xff\xff\xff\xffn\n".to_vec()], "has no line of settings"),
        (of("teeworlds"), vec![b"\x10\0\0\x05".to_vec()], "begins with 10 00 00 05"),
        (of("minecraft"), vec![b"\x80\x80\x80\x80\x80\x01".to_vec()], "has a length of more than five bytes"),
        (of("minecraft"), vec![b"\x80\x80\x80\x80\x0f".to_vec()], "has a length below 0"),
        (of("minecraft"), vec![b"\x80\x80\x40".to_vec()], "is to be 1048576 bytes long, more than 262144"),
        (
            of("minecraft"),
            vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".repeat(3)],
            "begins with 48 54 54 50 2f 31 2e 31 and is no status",
        ),
        (of("minecraft"), vec![json("{")], "is no JSON: EOF while parsing an object at line 1 column 200"),
        (of("minecraft"), vec![json("[]")], "is no JSON object"),
    ] {
        assert_eq!(read_all(protocol, NAMES, &pieces), Err(wanted.into()), "{protocol:?}");
    }
}

#[test]
fn a_minecraft_status_without_players_is_an_answer_and_a_sample_is_no_list() {
    let of =
        |players: &str| read(of("minecraft"), ID, NAMES, &[&minecraft(&format!(r#"{{"players":{players:<200}}}"#))]);
    let names = |names: Option<&[&str]>, online, max| Ok(Some(reading(online, max, names)));
    assert_eq!(of("null"), Ok(Some(Reading::default())));
    assert_eq!(of(r#"{"online":-1,"max":"many"}"#), Ok(Some(Reading::default())));
    assert_eq!(of(r#"{"online":0,"max":20}"#), names(Some(&[]), 0, 20));
    assert_eq!(of(r#"{"online":2,"max":20,"sample":[{"name":"Ann"}]}"#), names(None, 2, 20));
    assert_eq!(of(r#"{"online":1,"max":20,"sample":[{"name":"Ann\u0007 "}]}"#), names(Some(&["Ann"]), 1, 20));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(of(&deep).unwrap_err().starts_with("is no JSON: recursion limit exceeded"));
}

#[test]
fn an_empty_a2s_server_is_not_asked_for_names() {
    let mut empty = A2S_INFO.to_vec();
    let players = empty.windows(2).position(|pair| pair == b"\x02\x20").unwrap();
    empty[players] = 0;
    assert_eq!(read(of("a2s"), ID, NAMES, &[&empty]), Ok(Some(reading(0, 32, Some(&[])))));
}

/// The counts are known before the names are asked for, and are not lost with them.
#[test]
fn names_that_do_not_come_leave_the_counts() {
    assert_eq!(read(of("a2s"), ID, NAMES, &[A2S_INFO]), Ok(Some(reading(2, 32, None))));
    assert_eq!(read(of("a2s"), ID, NAMES, &[A2S_INFO, &A2S_PLAYERS[..20]]), Ok(Some(reading(2, 32, None))));
    assert_eq!(read(of("teeworlds"), ID, NAMES, &[TEEWORLDS_6_EXTENDED]), Ok(Some(reading(3, 63, None))));
    assert_eq!(read(of("teeworlds"), ID, NAMES, &[TEEWORLDS_6_MORE]), Ok(None));
}

/// A client that is still connecting counts, and has no name yet: as teeworlds-server 0.7.5 told it.
#[test]
fn who_is_connecting_counts_and_has_no_name() {
    let told = b"!abcd\xd8\xaf\xec\xcf\xff\xff\xff\xffinf3\x000.7.5\0unnamed server\0\0dm1\0DM\0\0\x01\0\x08\x01\x08\
        (connecting)\0\0\x40\0\x01";
    assert_eq!(read(of("teeworlds"), ID, NAMES, &[told]), Ok(Some(reading(1, 8, Some(&[])))));
}

/// The questions as servers want them, byte by byte.
#[test]
fn questions_are_those_of_the_protocols() {
    let talk = |protocol: &Protocol| match &protocol.transport {
        Transport::Udp(talk) => talk(&Question { id: ID, wanted: NAMES, payload: &[1, 2] }),
        Transport::Tcp { .. } => unreachable!("{} is asked over TCP", protocol.name),
    };
    let question = |protocol: &Protocol| talk(protocol).question();
    assert_eq!(question(of("a2s")), [b"\xff\xff\xff\xffTSource Engine Query\0"]);
    assert_eq!(question(of("quake3")), [b"\xff\xff\xff\xffgetstatus 6162636412345678\n"]);
    assert_eq!(question(of("quake")), [b"\xff\xff\xff\xffstatus\n"]);
    assert_eq!(question(of("mumble")), [b"\0\0\0\0\x61\x62\x63\x64\x12\x34\x56\x78"]);
    assert_eq!(question(of("udp")), [[1, 2]]);
    let bedrock = [&[1], &BEDROCK[1..9], &BEDROCK[17..33], &BEDROCK[1..9]].concat();
    assert_eq!(question(of("bedrock")), [bedrock]);
    let teeworlds = question(of("teeworlds"));
    assert_eq!(teeworlds[0], b"xe\x12\x34\0\0\xff\xff\xff\xffgie3\x56");
    assert_eq!((&teeworlds[1][..12], teeworlds[1].len()), (&b"\x04\0\0\xff\xff\xff\xff\x05abcd"[..], 524));

    let mut a2s = talk(of("a2s"));
    assert_eq!(a2s.take(A2S_CHALLENGE), Ok(Step::Ask));
    assert_eq!(a2s.question(), [b"\xff\xff\xff\xffTSource Engine Query\0\x0a\x08\x5e\xea"]);
    assert_eq!(a2s.take(A2S_INFO), Ok(Step::Ask));
    assert_eq!(a2s.question(), [b"\xff\xff\xff\xffU\x0a\x08\x5e\xea"]);
    let mut unchallenged = talk(of("a2s"));
    assert_eq!(unchallenged.take(A2S_INFO), Ok(Step::Ask));
    assert_eq!(unchallenged.question(), [b"\xff\xff\xff\xffU\xff\xff\xff\xff"]);
    let mut seven = talk(of("teeworlds"));
    assert_eq!(seven.take(TEEWORLDS_7_TOKEN), Ok(Step::Ask));
    assert_eq!(seven.question(), [b"\x21\xe2\xcdN\xe3abcd\xff\xff\xff\xffgie3\0"]);
}

/// The answers above in the fuzzer's form.
fn seeds() -> Vec<Vec<u8>> {
    let place = |protocol: &Protocol| {
        let place = PROTOCOLS.iter().position(|known| known == protocol).unwrap();
        u8::try_from(place).unwrap()
    };
    let in_pieces = |(protocol, pieces, _): (&Protocol, Vec<Vec<u8>>, Reading)| {
        // Minecraft's stream may be cut anywhere; the datagrams are all shorter than this.
        let pieces = pieces
            .iter()
            .flat_map(|piece| if piece.is_empty() { vec![&piece[..]] } else { piece.chunks(255).collect() });
        std::iter::once(place(protocol))
            .chain(pieces.flat_map(|piece| [&[u8::try_from(piece.len()).unwrap()], piece].concat()))
            .collect()
    };
    answers().into_iter().map(in_pieces).collect()
}

/// Writes the answers that the corpus lacks.
#[test]
#[ignore = "writes into fuzz/corpus: cargo test --lib query::tests::the_corpus_is_completed -- --ignored"]
fn the_corpus_is_completed() {
    for (number, seed) in seeds().iter().enumerate() {
        let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/query/answer_{:02}"), number);
        std::fs::write(path, seed).unwrap();
    }
}

/// The fuzzer's corpus: these answers, and every input that once found a bug.
#[test]
fn the_corpus_holds_the_fuzzer_s_invariants() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/query");
    let inputs: Vec<Vec<u8>> =
        std::fs::read_dir(corpus).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(seeds().iter().all(|seed| inputs.contains(seed)), "each answer is in {corpus}");
    for input in &inputs {
        fuzz(input);
    }
}

#[test]
fn ids_differ() {
    assert_ne!(id(), id());
}

fn protocols() -> impl Strategy<Value = &'static Protocol> {
    proptest::sample::select(PROTOCOLS.iter().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn no_bytes_are_a_bug(
        protocol in protocols(),
        names in any::<bool>(),
        bots in any::<bool>(),
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
    ) {
        let _ = read_all(protocol, Wanted { names, bots }, &pieces);
    }

    #[test]
    fn the_fuzzer_s_invariants_hold(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        fuzz(&bytes);
    }

    /// A byte or two of a good answer changed, in the fuzzer's form.
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
        (_, pieces, _) in proptest::sample::select(answers()),
        protocol in protocols(),
        keep in 0usize..40,
        rest in proptest::collection::vec(any::<u8>(), 0..300),
        again in 0usize..200,
    ) {
        let mut changed = pieces.clone();
        for piece in &mut changed {
            piece.truncate(keep);
            piece.extend_from_slice(&rest);
        }
        for _ in 0..again {
            changed.push(rest.clone());
        }
        let _ = read_all(protocol, NAMES, &changed);
    }
}
