//! `--help` and the README's table, both made from the rows.

use std::fmt::Write;

use super::counter::{self, FURTHER};
use super::table::{Default, SETTINGS};
use crate::exit::ExitReason;
use crate::machine::ProcessEnd;

/// Help is for terminals of at least this width, in characters.
const WIDTH: usize = 100;

/// The first words of help, and all of `--version`.
const NAME_AND_VERSION: &str = concat!("agones-shim ", env!("CARGO_PKG_VERSION"));

/// How to call it, and for what.
const COMMANDS: [(&str, &str); 10] = [
    ("agones-shim", "sidecar: runs beside the game, in its Pod or on its host"),
    ("agones-shim -- PROGRAM [ARG...]", "wrapper: the game's entrypoint, runs it as its child"),
    ("agones-shim check", "prints the resolved settings, or every error in them"),
    ("agones-shim probe", "one round of the liveness probes: exit 0 or 69"),
    ("agones-shim sdk CALL [ARG...]", "one SDK call, from a hook or a shell (see below)"),
    ("agones-shim rcon URL COMMAND...", "one command over a game's remote console (see below)"),
    ("agones-shim status [ADDR] [--watch]", "shows what the status endpoint says"),
    ("agones-shim local-sdk [OPTION...]", "a local SDK server: try it all with no cluster"),
    ("agones-shim --help", "this text"),
    ("agones-shim --version", "the version"),
];

/// The calls of `agones-shim sdk`.
const CALLS: [&str; 9] = [
    "ready",
    "health",
    "shutdown",
    "allocate",
    "reserve SECONDS",
    "gameserver",
    "label KEY VALUE",
    "annotation KEY VALUE",
    "counter NAME [VALUE]",
];

/// What there is to say of `agones-shim rcon`.
const RCON: &str = "source://, telnet://, quake3://, quake://, webrcon:// or battleye://, then HOST:PORT; no HOST is loopback. The password is in AGONES_SHIM_RCON_PASSWORD or in the file AGONES_SHIM_RCON_PASSWORD_FILE. --match prints the groups of the first match, blank separated, instead of the answer; SECONDS are 5 unless set.";

/// Exit codes with their meaning; what a child gave is the last.
fn exit_codes() -> Vec<(String, &'static str)> {
    let code = |reason: ExitReason| reason.code().to_string();
    let child = ExitReason::Child(ProcessEnd::Signaled(0)).code();
    vec![
        (code(ExitReason::Stopped), "stopped as asked (wrapper: the child's own 0)"),
        (code(ExitReason::NoMatch), "rcon --match: no match in the answer"),
        (code(ExitReason::Usage), "bad argument"),
        (
            code(ExitReason::GameServerGone),
            "the game server is gone: readiness deadline, or liveness; rcon: no answer in time",
        ),
        (code(ExitReason::Bug), "a bug in agones-shim"),
        (code(ExitReason::System), "the system refused: threads, signals, fork"),
        (code(ExitReason::NoSdk), "AGONES_SHIM_SDK=required and no SDK; sdk CALL: no answer in time"),
        (code(ExitReason::Rejected), "sdk CALL: the SDK server refused; rcon: the game refused the password"),
        (code(ExitReason::Config), "bad environment"),
        (code(ExitReason::NotExecutable), "wrapper: PROGRAM cannot be executed"),
        (code(ExitReason::NotFound), "wrapper: PROGRAM was not found"),
        (format!("{child}+n"), "wrapper: the child died of signal n; any other code is the child's own"),
    ]
}

/// What `--help` prints.
#[must_use]
pub fn help() -> String {
    let mut text = format!("{NAME_AND_VERSION}: {}.\n\nUsage:\n", env!("CARGO_PKG_DESCRIPTION"));
    columns(&mut text, &COMMANDS.map(|(command, use_)| (command.to_owned(), use_)));
    text += "\nExample:\n";
    text += "  AGONES_SHIM_READY_TCP=7777 agones-shim -- ./server --port 7777\n";
    text += "  AGONES_SHIM_READY_TCP=7777 AGONES_SHIM_SDK=off AGONES_SHIM_LOG=debug agones-shim\n";
    text += "\nCalls of agones-shim sdk:\n";
    // A call stays on one line: its blanks are no places to break at.
    wrap(&mut text, &CALLS.map(|call| call.replace(' ', "\u{a0}")).join(", "), 2);
    text += "\nConsoles of agones-shim rcon [--match REGEX] [--timeout SECONDS] URL COMMAND...:\n";
    wrap(&mut text, RCON, 2);
    text += "\nSettings are environment variables. An empty one counts as unset.\n";
    wrap(&mut text, "Times are in seconds from 0.001 to ten years, decimals allowed. Lists are comma separated.", 0);
    let mut group = None;
    for setting in SETTINGS {
        if group.replace(setting.group) != Some(setting.group) {
            let _ = write!(text, "\n{}:\n", setting.group.heading());
        }
        let default = match setting.default {
            Default::Nothing => String::new(),
            default => format!("  [default: {}]", default.shown()),
        };
        let _ = writeln!(text, "  {}={}{default}", setting.variable, setting.value);
        wrap(&mut text, &setting.help.replace('`', ""), 6);
        if counter::is_last_numbered(setting) {
            let _ = writeln!(text, "  {}, ...", FURTHER.0);
            wrap(&mut text, &FURTHER.1.replace('`', ""), 6);
        }
    }
    text += "\nExit codes:\n";
    columns(&mut text, &exit_codes());
    text
}

/// What `--version` prints.
#[must_use]
pub fn version() -> String {
    format!("{NAME_AND_VERSION}\n")
}

/// The settings as the README's table in Markdown, with a newline at the end.
#[must_use]
pub fn readme_table() -> String {
    let mut table = String::from("| variable | default | meaning |\n|---|---|---|\n");
    for setting in SETTINGS {
        let default = match setting.default {
            Default::Text(text) => format!("`{text}`"),
            default => default.shown().to_owned(),
        };
        let help = setting.help.replace('|', "\\|");
        let _ = writeln!(table, "| `{}` | {default} | {help} |", setting.variable);
        if counter::is_last_numbered(setting) {
            let _ = writeln!(table, "| `{}`, ... | - | {} |", FURTHER.0, FURTHER.1);
        }
    }
    table
}

/// Two columns, the second beginning at one place.
fn columns(text: &mut String, rows: &[(String, &'static str)]) {
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or_default();
    for (left, right) in rows {
        let _ = writeln!(text, "  {left:width$}  {right}");
    }
}

/// Words in lines, each after so many blanks.
fn wrap(text: &mut String, words: &str, indent: usize) {
    let mut column = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        let blanks = if column == 0 { indent } else { 1 };
        text.extend(std::iter::repeat_n(' ', blanks));
        text.push_str(&word.replace('\u{a0}', " "));
        column += blanks + length;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_the_terminal_and_lists_everything() {
        let help = help();
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert_eq!(line, line.trim_end(), "blanks at the end");
        }
        for setting in SETTINGS {
            let line = format!("  {}={}", setting.variable, setting.value);
            assert!(help.lines().any(|found| found.split("  [").next() == Some(&line)), "{line}");
        }
        for code in ["0", "1", "64", "69", "70", "71", "75", "76", "78", "126", "127", "128+n"] {
            assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{code} "))), "{code}");
        }
        for call in CALLS {
            assert!(help.lines().any(|line| line.contains(call)), "{call}");
        }
        assert!(!help.contains('`'), "Markdown on a terminal");
    }

    #[test]
    fn help_begins_with_how_to_call_it() {
        let begin = "\
agones-shim 0.1.0: Ready, Health, Shutdown and Counters for game servers that have no Agones SDK.

Usage:
  agones-shim                          sidecar: runs beside the game, in its Pod or on its host
  agones-shim -- PROGRAM [ARG...]      wrapper: the game's entrypoint, runs it as its child
"
        .replace("0.1.0", env!("CARGO_PKG_VERSION"));
        assert!(help().starts_with(&begin), "{}", help());
    }

    #[test]
    fn a_setting_is_a_line_and_its_help_indented() {
        let wanted = "
  AGONES_SHIM_READY_TIMEOUT_SECS=SECONDS  [default: 0]
      Give up waiting for readiness after so long, and exit 69; 0 is never

Liveness and health:
  AGONES_SHIM_LIVE_TCP=PORTS  [default: readiness set]
      Liveness probes, written like AGONES_SHIM_READY_TCP. Setting any liveness probe replaces the
      whole default set
";
        assert!(help().contains(wanted), "{}", help());
    }

    #[test]
    fn the_readme_has_a_row_for_each_setting() {
        let table = readme_table();
        assert_eq!(table.lines().count(), SETTINGS.len() + 3, "and one for the numbered Counters");
        assert!(table.ends_with('\n'));
        for line in table.lines() {
            assert_eq!(line.replace("\\|", "").matches('|').count(), 4, "{line}");
        }
        let wanted = "| `AGONES_SHIM_PROBE_TIMEOUT_SECS` | `2` | Time that one probe may take, connect to last byte, readiness and liveness alike |\n";
        assert!(table.contains(wanted), "{table}");
    }
}
