//! A GameServer as environment variables, for the programs that the shim starts.

use std::collections::{BTreeMap, BTreeSet};

use crate::sdk::game_server::GameServer;
use crate::sdk::json::Writer;

/// Names and values.
pub(super) type Variables = Vec<(String, String)>;

/// Linux takes no longer `NAME=value`, its final NUL included (`MAX_ARG_STRLEN`): the program would not start.
const LONGEST: usize = 128 * 1024;

/// Name, and where the world sees the game.
pub(super) fn address(game_server: &GameServer) -> Variables {
    let mut variables = vec![
        ("AGONES_GAMESERVER_NAME".to_owned(), game_server.name.clone()),
        ("AGONES_GAMESERVER_ADDRESS".to_owned(), game_server.address.clone()),
    ];
    let first = game_server.ports.first();
    variables.extend(first.map(|(_, port)| ("AGONES_GAMESERVER_PORT".to_owned(), port.to_string())));
    let ports = game_server.ports.iter();
    variables.extend(ports.map(|(name, port)| (named("AGONES_GAMESERVER_PORT_", name), port.to_string())));
    possible(variables)
}

/// The names of what [`address`] gives, for a GameServer with these ports.
pub(crate) fn address_names(ports: impl IntoIterator<Item = String>) -> Vec<String> {
    let ports = ports.into_iter().map(|name| (name, 0)).collect();
    address(&GameServer { ports, ..GameServer::default() }).into_iter().map(|(name, _)| name).collect()
}

/// All that a hook is told: the address, the state, and labels and annotations, each on its own and, exactly, as JSON.
pub(super) fn everything(game_server: &GameServer) -> Variables {
    let mut variables = address(game_server);
    variables.push(("AGONES_GAMESERVER_STATE".to_owned(), game_server.state.as_str().to_owned()));
    for (what, map) in [("LABEL", &game_server.labels), ("ANNOTATION", &game_server.annotations)] {
        let prefix = format!("AGONES_GAMESERVER_{what}");
        variables.push((format!("{prefix}S"), json(map)));
        let each = map.iter().map(|(key, value)| (named(&format!("{prefix}_"), key), value.clone()));
        variables.extend(each);
    }
    possible(variables)
}

/// Capitals, digits and underscores: a variable's name takes nothing else.
fn named(prefix: &str, name: &str) -> String {
    let name = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    prefix.chars().chain(name).collect()
}

fn json(map: &BTreeMap<String, String>) -> String {
    let mut out = Writer::compact();
    out.object(|out| {
        for (key, value) in map {
            out.field(key, |out| out.string(value));
        }
    });
    out.finish()
}

/// Without what cannot be handed over; of two with one name the first counts.
fn possible(mut variables: Variables) -> Variables {
    let mut names = BTreeSet::new();
    variables.retain(|(name, value)| {
        !value.contains('\0') && name.len() + value.len() + 2 <= LONGEST && names.insert(name.clone())
    });
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::game_server::State;

    fn listed(variables: Variables) -> Vec<String> {
        variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_environment_names_every_port_in_capitals_and_the_first_one_twice() {
        let game_server = GameServer {
            name: "game-1".into(),
            address: "203.0.113.7".into(),
            ports: vec![("game-port".into(), 7001), ("query".into(), 7002)],
            ..GameServer::default()
        };
        assert_eq!(
            listed(address(&game_server)),
            [
                "AGONES_GAMESERVER_NAME=game-1",
                "AGONES_GAMESERVER_ADDRESS=203.0.113.7",
                "AGONES_GAMESERVER_PORT=7001",
                "AGONES_GAMESERVER_PORT_GAME_PORT=7001",
                "AGONES_GAMESERVER_PORT_QUERY=7002",
            ]
        );
    }

    #[test]
    fn a_hook_is_told_labels_and_annotations_one_by_one_and_exactly() {
        let game_server = GameServer {
            state: State::Allocated,
            labels: map(&[("agones.dev/sdk-map", "dust"), ("mode.x", "1"), ("mode-x", "2")]),
            annotations: map(&[("motd", "\"hi\",\nall"), ("nul", "a\0b")]),
            ..GameServer::default()
        };
        assert_eq!(
            listed(everything(&game_server)),
            [
                "AGONES_GAMESERVER_NAME=",
                "AGONES_GAMESERVER_ADDRESS=",
                "AGONES_GAMESERVER_STATE=Allocated",
                r#"AGONES_GAMESERVER_LABELS={"agones.dev/sdk-map":"dust","mode-x":"2","mode.x":"1"}"#,
                "AGONES_GAMESERVER_LABEL_AGONES_DEV_SDK_MAP=dust",
                "AGONES_GAMESERVER_LABEL_MODE_X=2",
                r#"AGONES_GAMESERVER_ANNOTATIONS={"motd":"\"hi\",\nall","nul":"a\u0000b"}"#,
                "AGONES_GAMESERVER_ANNOTATION_MOTD=\"hi\",\nall",
            ]
        );
    }

    #[test]
    fn what_the_kernel_does_not_take_is_left_out() {
        let game_server = GameServer { annotations: map(&[("long", &"x".repeat(LONGEST))]), ..GameServer::default() };
        let names: Vec<String> = everything(&game_server).into_iter().map(|(name, _)| name).collect();
        assert!(!names.iter().any(|name| name.contains("ANNOTATION")), "{names:?}");
        assert!(names.contains(&"AGONES_GAMESERVER_LABELS".to_owned()), "{names:?}");
    }
}
