//! docs/commands.md and the README's exit codes, from the table of commands.

use std::fmt::Write;

use super::help::{exit_codes, usage};
use super::{COMMANDS, Reads};
use crate::settings::engine::row::rows;

/// docs/commands.md, from its first heading of a command on.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::new();
    for command in COMMANDS {
        let _ = write!(page, "\n## {}\n\n`{}`: {}.\n", command.name, usage(command), command.summary);
        if !command.words.is_empty() {
            page += "\n| argument | meaning |\n|---|---|\n";
            for (word, help) in command.words {
                let _ = writeln!(page, "| `{word}` | {} |", help.replace('|', "\\|"));
            }
        }
        for details in command.details {
            let _ = write!(page, "\n{details}\n");
        }
        match command.reads {
            Reads::Nothing => {}
            Reads::All => page += "\nReads all [settings](settings.md).\n",
            Reads::Some(_) => {
                let read = rows().filter(|setting| command.reads.reads(*setting));
                let names: Vec<String> = read.map(|setting| format!("`{}`", setting.row().variable)).collect();
                let _ = write!(page, "\nReads {}.\n", names.join(", "));
            }
        }
    }
    page
}

/// The README's table of exit codes.
#[must_use]
pub fn exit_code_table() -> String {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for (code, meaning) in exit_codes() {
        let _ = writeln!(table, "| {code} | {meaning} |");
    }
    table
}
