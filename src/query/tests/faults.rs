//! Answers that were once read wrongly: numbers from a place that was another's, names that were none.

use super::*;

const PEOPLE: Wanted = Wanted { names: false, bots: false };

fn bedrock(text: &str) -> Vec<u8> {
    [&BEDROCK[..33], &u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

#[test]
fn a_maximum_of_0_is_an_a2s_answer_whose_capacity_is_unknown() {
    let with = |players: u8, most: u8| {
        let mut info = A2S_INFO.to_vec();
        let at = info.windows(2).position(|pair| pair == b"\x02\x20").unwrap();
        info[at..at + 2].copy_from_slice(&[players, most]);
        read(of("a2s"), ID, Wanted::COUNTS, &[&info])
    };
    assert_eq!(with(7, 0), Ok(Some(Reading { players: Some(7), capacity: None, names: None })));
    assert_eq!(with(0, 0), Ok(Some(Reading { players: Some(0), capacity: None, names: None })));
}

/// Rust's keywords count where a byte is too small, and no others that look like them.
#[test]
fn keywords_count_only_where_they_agree_with_the_bytes() {
    for (keywords, players, most) in [
        ("mp500,cp312", 312, 500),
        ("cp0,x,mp500", 0, 500),
        ("mp500", 56, 244),
        ("mp500,cp", 56, 244),
        ("mp500,cp-1", 56, 244),
        ("mp500,cp312,cp1", 56, 244),
        ("mp500,cp99999999999999999999", 56, 244),
        ("mp5,cp3", 56, 244),
        ("mp300,cp290", 56, 244),
        ("xmp500,cp312", 56, 244),
        ("", 56, 244),
    ] {
        let found = read(of("a2s"), ID, Wanted::COUNTS, &[&a2s_rust(keywords)]);
        assert_eq!(found, Ok(Some(reading(players, most, None))), "{keywords}");
    }
}

/// Fewer names than players, or names that the server makes up, are no names; the counts stay.
#[test]
fn a2s_names_are_all_that_play_or_none() {
    let entry = |name: &&str| [b"\0", name.as_bytes(), b"\0\0\0\0\0\0\0\0\0"].concat();
    let told = |names: &[&str]| {
        let entries: Vec<u8> = names.iter().flat_map(entry).collect();
        let list = [b"\xff\xff\xff\xffD", &[u8::try_from(names.len()).unwrap()][..], &entries].concat();
        read(of("a2s"), ID, NAMES, &[A2S_INFO, &list])
    };
    assert_eq!(told(&[]), Ok(Some(reading(2, 32, None))));
    assert_eq!(told(&["Ann"]), Ok(Some(reading(2, 32, None))));
    assert_eq!(told(&["Ann", ""]), Ok(Some(reading(2, 32, None))));
    assert_eq!(told(&["Max Players", "Bob"]), Ok(Some(reading(2, 32, None))));
    assert_eq!(told(&["Ann", "Bob"]), Ok(Some(reading(2, 32, Some(&["Ann", "Bob"])))));
    assert_eq!(told(&["Ann", "Bob", "Cid"]), Ok(Some(reading(2, 32, Some(&["Ann", "Bob", "Cid"])))));
    let people = Wanted { names: true, bots: false };
    assert_eq!(read(of("a2s"), ID, people, &[A2S_INFO, A2S_PLAYERS]), Ok(Some(reading(1, 32, None))));
}

#[test]
fn quake_servers_that_hide_all_names_name_nobody_and_not_an_empty_list() {
    let told = |players: &str| {
        let status = format!("\\sv_maxclients\\16\\maxclients\\16\n{players}");
        let quake3 = [b"\xff\xff\xff\xffstatusResponse\n", status.as_bytes()].concat();
        let quake = [b"\xff\xff\xff\xffn", status.as_bytes()].concat();
        let all = read(of("quake3"), ID, NAMES, &[&quake3]);
        assert_eq!(read(of("quake"), ID, NAMES, &[&quake]), all);
        all
    };
    assert_eq!(told("0 50 \"\"\n0 50 \"\"\n"), Ok(Some(reading(2, 16, None))));
    assert_eq!(told("0 50 \"\"\n0 50 \"Ann\"\n"), Ok(Some(reading(2, 16, Some(&["Ann"])))));
    assert_eq!(told(""), Ok(Some(reading(0, 16, Some(&[])))));
}

#[test]
fn bots_are_left_out_on_demand() {
    assert_eq!(read(of("a2s"), ID, PEOPLE, &[A2S_INFO]), Ok(Some(reading(1, 32, None))));
    assert_eq!(read(of("a2s"), ID, PEOPLE, &[A2S_GOLDSRC]), Ok(Some(reading(2, 16, None))));
    let quake3 = b"\xff\xff\xff\xffstatusResponse\n\\sv_maxclients\\16\n0 48 \"Ann\"\n9 0 \"Grunt\"\n\
        3 20 \"^1[^7BOT]Orbb\"\n0 999 \"Bob\"\n";
    let names = Wanted { names: true, bots: false };
    assert_eq!(read(of("quake3"), ID, names, &[quake3]), Ok(Some(reading(2, 16, Some(&["Ann", "Bob"])))));
    assert_eq!(read(of("quake3"), ID, Wanted::COUNTS, &[quake3]), Ok(Some(reading(4, 16, None))));
}

/// Never a number from another field: the place is certain, or there is no reading.
#[test]
fn bedrock_s_players_are_found_behind_a_name_with_semicolons_in_it() {
    let none = "has no numbers of players in its text (write udp:// for another game's RakNet)";
    let two = "has two places in its text that may be the players (take the semicolons out of its name)";
    for (text, wanted) in [
        ("MCPE;A;859;1.21.120;3;10;1234;Level;Survival;1;19132;19133;", Ok((3, 10))),
        ("MCPE;A;859;1.21.120;3;10", Ok((3, 10))),
        ("MCPE;A;859;1.21.120;3;10;-1234;", Ok((3, 10))),
        ("MCPE;A;859;WaterdogPE 1.21;3;10;1234;", Ok((3, 10))),
        ("MCPE;Ann;Bob;859;1.21.120;3;10;1234;Level;", Ok((3, 10))),
        ("MCPE;5;6;7;8;859;1.21.120;3;10;1234;Level;", Ok((3, 10))),
        (r"MCPE;A\;5;859;1.21.120;3;10;1234;Level;", Ok((3, 10))),
        ("MCPE;x;5;1.0;7;9;859;1.21.120;3;10;1234;Level;", Err(two)),
        ("MCPE;A;859;1.21.120;3;10;1234;5;1.0;7;9;1", Err(two)),
        ("MCPE;A;B;1.21.120;3;10;1234;", Err(none)),
        ("MCPE;A;859;1.21.120;3;many;1234;", Err(none)),
        ("MCPE;A;859;1.21.120;3", Err(none)),
    ] {
        let wanted = wanted.map(|(players, most)| Some(reading(players, most, None))).map_err(str::to_owned);
        assert_eq!(read(of("bedrock"), ID, Wanted::COUNTS, &[&bedrock(text)]), wanted, "{text}");
    }
}

#[test]
fn an_old_minecraft_server_s_answer_is_read_by_its_fields() {
    let told = |text: &str| read(of("minecraft"), ID, Wanted::COUNTS, &[&minecraft_kick(text)]);
    let none = || Err("has no numbers of players in its text".to_owned());
    assert_eq!(told("§1\x0061\x001.5.2\0name\x003\x0020\0more"), none());
    assert_eq!(told("§1\x0061\x001.5.2\0name\x003"), none());
    assert_eq!(told("Protocol error"), none());
    assert_eq!(told("name§3§many"), none());
    let whole = minecraft_kick("name§3§20");
    for length in 1..whole.len() {
        assert_eq!(read(of("minecraft"), ID, Wanted::COUNTS, &[&whole[..length]]), Ok(None));
    }
}
