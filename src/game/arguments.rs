//! `$(AGONES_GAMESERVER_PORT)` and its like in the child's arguments, once they are known. Pure.
//!
//! The syntax is the kubelet's, which leaves names alone that it does not know. Nothing else is a template.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const PREFIX: &[u8] = b"AGONES_GAMESERVER_";

/// The arguments with these values, and the names in them that have none and stay as they are. `$$(` is `$(`.
pub(crate) fn filled(argv: &[OsString], variables: &[(String, String)]) -> (Vec<OsString>, Vec<String>) {
    let mut missing = Vec::new();
    let argv = argv.iter().map(|word| fill(word, variables, &mut missing)).collect();
    (argv, missing)
}

fn fill(word: &OsStr, variables: &[(String, String)], missing: &mut Vec<String>) -> OsString {
    let (mut out, mut rest) = (Vec::new(), word.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        if rest.starts_with(b"$$(") {
            out.extend_from_slice(b"$(");
            rest = &rest[3..];
            continue;
        }
        if let Some(name) = name(rest) {
            if let Some((_, value)) = variables.iter().find(|(known, _)| known.as_bytes() == name) {
                out.extend_from_slice(value.as_bytes());
                rest = &rest[name.len() + 3..];
                continue;
            }
            missing.push(String::from_utf8_lossy(name).into_owned());
        }
        out.push(byte);
        rest = after;
    }
    OsString::from_vec(out)
}

/// The name in `$(NAME)` at the beginning, if it is one of Agones'.
fn name(text: &[u8]) -> Option<&[u8]> {
    let inner = text.strip_prefix(b"$(")?;
    let end = inner.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?;
    (inner[end] == b')' && inner.starts_with(PREFIX)).then_some(&inner[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_filled_in_and_nothing_else_is_touched() {
        let variables = [("AGONES_GAMESERVER_PORT", "7001"), ("AGONES_GAMESERVER_NAME", "$(AGONES_GAMESERVER_PORT)")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        for (word, wanted, missing) in [
            ("+port", "+port", &[][..]),
            ("--port=$(AGONES_GAMESERVER_PORT)", "--port=7001", &[]),
            ("$(AGONES_GAMESERVER_PORT)$(AGONES_GAMESERVER_PORT)", "70017001", &[]),
            // A value is no template.
            ("$(AGONES_GAMESERVER_NAME)", "$(AGONES_GAMESERVER_PORT)", &[]),
            ("$$(AGONES_GAMESERVER_PORT)", "$(AGONES_GAMESERVER_PORT)", &[]),
            ("$$$(AGONES_GAMESERVER_PORT)", "$$(AGONES_GAMESERVER_PORT)", &[]),
            ("$(AGONES_GAMESERVER_PORT_RCON)", "$(AGONES_GAMESERVER_PORT_RCON)", &["AGONES_GAMESERVER_PORT_RCON"]),
            (
                "$(HOSTNAME) $HOME ${A} $$ $( $(AGONES_GAMESERVER_PORT",
                "$(HOSTNAME) $HOME ${A} $$ $( $(AGONES_GAMESERVER_PORT",
                &[],
            ),
            ("$(AGONES_GAMESERVER_PORT ) $(date)", "$(AGONES_GAMESERVER_PORT ) $(date)", &[]),
        ] {
            let (argv, lacking) = filled(&[word.into()], &variables);
            assert_eq!(
                (argv, lacking),
                (vec![OsString::from(wanted)], missing.iter().map(|name| (*name).to_owned()).collect()),
                "{word}"
            );
        }
        let bytes = OsString::from_vec(b"\xff$(AGONES_GAMESERVER_PORT)\xfe".to_vec());
        assert_eq!(filled(&[bytes], &variables).0[0].as_bytes(), b"\xff7001\xfe");
    }
}
