//! Log filters in env_logger's syntax: `info`, `agones_shim::probe=debug`,
//! several with commas, and a text that lines must contain behind a `/`.
//!
//! env_logger itself prints a warning of its own and goes on with the rest, and
//! takes a misspelt level for the name of a module, which silences everything
//! else. So the text is judged here; what comes out parses there.

use log::LevelFilter;

use crate::settings::engine::suggest;

/// The levels, as env_logger takes them in any case.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Gives the text back, or says as a predicate what is wrong with it.
pub(crate) fn checked(text: &str) -> Result<String, String> {
    let (directives, pattern) = text.split_once('/').map_or((text, ""), |(directives, pattern)| (directives, pattern));
    if pattern.contains('/') {
        return Err("has more than one / in it (write one at most)".into());
    }
    for directive in directives.split(',').map(str::trim) {
        let mut parts = directive.split('=').map(str::trim);
        match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
            ("", None, _) => return Err("is not a log filter: it has an empty item (write info)".into()),
            ("", Some(_), _) | (_, _, Some(_)) => {
                return Err("is not a log filter (write info, or agones_shim::probe=debug)".into());
            }
            (target, ..) if !target.chars().all(is_target) => {
                return Err("is not a log filter: it has a character that no module's name has (write info)".into());
            }
            (target, None, None) => target_or_level(target)?,
            (_, Some(name), None) => level(name)?,
        }
    }
    Ok(text.to_owned())
}

/// What a log record's target is made of: a module's path, or a crate's name.
fn is_target(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_:-.".contains(c)
}

fn level(name: &str) -> Result<(), String> {
    if name.parse::<LevelFilter>().is_ok() {
        return Ok(());
    }
    let near = near_level(name).unwrap_or("info");
    Err(format!("is not a log filter: the levels are off, error, warn, info, debug and trace (write {near})"))
}

/// A word alone is a level, or else the module to see everything of. A number
/// is neither.
fn target_or_level(word: &str) -> Result<(), String> {
    let is_slip = near_level(word).is_some() || word.parse::<u64>().is_ok();
    if is_slip { level(word) } else { Ok(()) }
}

/// The level that somebody will have meant: `inof`, `warning`.
fn near_level(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    suggest::nearest(&word, LEVELS).or_else(|| LEVELS.into_iter().find(|level| word.starts_with(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_env_logger_takes_is_taken() {
        for text in [
            "info",
            "INFO",
            "off",
            "agones_shim=debug",
            "warn,agones_shim::probe=debug, grpcio=off",
            "agones_shim",
            "tiny_http",
            "info/refused",
            "agones_shim=",
        ] {
            // An empty level means all levels to env_logger; here it is a slip.
            assert_eq!(checked(text).is_ok(), text != "agones_shim=", "{text}");
        }
    }

    #[test]
    fn a_misspelt_level_is_not_taken_for_a_module() {
        let levels = "is not a log filter: the levels are off, error, warn, info, debug and trace";
        for (text, message) in [
            ("inof", format!("{levels} (write info)")),
            ("warnings", format!("{levels} (write warn)")),
            ("DEBUGG", format!("{levels} (write debug)")),
            ("3", format!("{levels} (write info)")),
            ("agones_shim=verbose", format!("{levels} (write info)")),
            ("a=b=c", "is not a log filter (write info, or agones_shim::probe=debug)".into()),
            ("=info", "is not a log filter (write info, or agones_shim::probe=debug)".into()),
            ("info,,", "is not a log filter: it has an empty item (write info)".into()),
            (" ", "is not a log filter: it has an empty item (write info)".into()),
            ("a b", "is not a log filter: it has a character that no module's name has (write info)".into()),
            ("info/a/b", "has more than one / in it (write one at most)".into()),
        ] {
            assert_eq!(checked(text), Err(message), "{text}");
        }
    }
}
