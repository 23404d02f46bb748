//! Every message that the log can hold, with what to do about it: docs/messages.md and `agones-shim explain` are made
//! from this.
//!
//! The machine's own come from the table in `notice`; those that are logged past it are listed here.

use std::fmt::Write;

use log::Level;

use super::notice::{Description, Notice, Stage};

/// A message and its paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name: `id` in JSON.
    pub id: &'static str,
    /// Where it is documented.
    pub stage: Stage,
    /// Info, warn, error; debug is not documented.
    pub level: Level,
    /// As it is logged.
    pub text: &'static str,
    /// The keys of its fields.
    pub fields: Vec<&'static str>,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: &'static str,
}

/// The id of a warning about a setting.
pub const SETTING_WARNING: &str = "setting-warning";
/// The id of the error where an image's entrypoint was given a command of the shim.
pub const COMMAND_AS_PROGRAM: &str = "command-as-program";
/// The id of the warning about output that nobody reads.
pub const OUTPUT_LOST: &str = "output-lost";
/// The id of the warning about log lines that nobody reads.
pub const LINES_DROPPED: &str = "lines-dropped";
/// The id of a panic.
pub const PANIC: &str = "panic";

/// Lines that do not come from the machine.
const OTHERS: [(&str, Stage, Level, &str, &str); 5] = [
    (
        SETTING_WARNING,
        Stage::Start,
        Level::Warn,
        "VARIABLE: VALUE ...",
        "The line says what the value leads to and what to write instead. `agones-shim check` shows the same before the start.",
    ),
    (
        COMMAND_AS_PROGRAM,
        Stage::Start,
        Level::Error,
        "NAME is a command of agones-shim: write agones-shim NAME, without -- (docker run --entrypoint)",
        "The image's entrypoint ends in `--`, so the words after the image are the game's. Run a command of the shim with \
         `docker run --entrypoint /agones-shim IMAGE NAME`.",
    ),
    (
        OUTPUT_LOST,
        Stage::Game,
        Level::Warn,
        "the game's last output is lost: whatever reads it has stopped reading",
        "See what reads the container's stdout and stderr: it has read nothing for 3 s after the game's end.",
    ),
    (
        LINES_DROPPED,
        Stage::Insight,
        Level::Warn,
        "stderr was full: N log lines were dropped",
        "Whatever reads the log is too slow or has stopped. The shim itself was not held up.",
    ),
    (
        PANIC,
        Stage::Insight,
        Level::Error,
        "panic: ...",
        "A bug in agones-shim: please report the line. It is followed by `thread-died` or `status-failed`, which say what \
         comes of it.",
    ),
];

/// Every message of level info and above, in the order of a life.
#[must_use]
pub fn catalogue() -> Vec<Message> {
    let own = Notice::samples().into_iter().map(|notice| {
        let Description { stage, level, id, text, fields, remedy } = notice.describe();
        let fields = fields.into_iter().map(|(key, _)| key).collect();
        Message { id, stage, level, text, fields, remedy }
    });
    let others = OTHERS.map(|(id, stage, level, text, remedy)| {
        let fields = Vec::new();
        Message { id, stage, level, text, fields, remedy }
    });
    own.chain(others).filter(|message| message.level <= Level::Info).collect()
}

/// The level as JSON lines have it.
#[must_use]
pub const fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warn => "warning",
        Level::Info => "info",
        Level::Debug | Level::Trace => "debug",
    }
}

/// docs/messages.md, from its first heading of a stage on.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::new();
    let all = catalogue();
    for stage in Stage::ALL {
        let _ = write!(out, "\n## {}\n", stage.heading());
        for message in all.iter().filter(|message| message.stage == stage) {
            let Message { id, level, text, fields, remedy, .. } = message;
            let _ = write!(out, "\n### {id}\n\n{}: `{text}`\n", severity(*level));
            if !fields.is_empty() {
                let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
                let _ = write!(out, "\nFields: {}\n", fields.join(", "));
            }
            if !remedy.is_empty() {
                let _ = write!(out, "\n{remedy}\n");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_that_name_one_message_each() {
        let mut ids: Vec<&str> =
            Notice::samples().iter().map(|notice| notice.describe().id).chain(OTHERS.map(|other| other.0)).collect();
        let all = ids.len();
        for id in &ids {
            let is_plain = id.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(is_plain, "{id}");
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn every_warning_and_error_says_what_to_do() {
        for message in catalogue() {
            assert!(message.level == Level::Info || !message.remedy.is_empty(), "{message:?}");
        }
    }

    #[test]
    fn messages_can_be_told_apart() {
        let mut texts: Vec<&str> = catalogue().into_iter().map(|message| message.text).collect();
        let all = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), all);
    }
}
