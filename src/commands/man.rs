//! `agones-shim man`: the manual page, from the tables of commands and settings.

use std::fmt::Write;

use super::args::nothing;
use super::help::{exit_codes, usage};
use super::output::print;
use super::{COMMANDS, Command, Reads};
use crate::settings::engine::help;

pub(super) static COMMAND: Command = Command {
    name: "man",
    arguments: "",
    summary: "the manual page: agones-shim man | man -l -",
    words: &[],
    details: &[],
    reads: Reads::Nothing,
    run: |args, _| {
        nothing(&COMMAND, args)?;
        Ok(print(&page()))
    },
};

pub(super) fn page() -> String {
    let (version, description) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"));
    let mut page = format!(".TH AGONES\\-SHIM 1 \"\" \"agones\\-shim {version}\"\n.SH NAME\n");
    let _ = writeln!(page, "agones\\-shim \\- {}\n.SH SYNOPSIS", roff(description));
    let _ = writeln!(page, ".B agones\\-shim\n.br\n.B agones\\-shim \\-\\- \n.I PROGRAM\n.RI [ ARG... ]");
    for command in COMMANDS {
        let _ = writeln!(page, ".br\n.B {}", roff(&usage(command)));
    }
    page += ".SH COMMANDS\n";
    for command in COMMANDS {
        let _ = writeln!(page, ".TP\n.B {}\n{}", roff(command.name), roff(command.summary));
        for (word, help) in command.words {
            let _ = writeln!(page, ".br\n.B {}\n{}", roff(word), roff(help));
        }
    }
    page += ".SH ENVIRONMENT\n";
    for (name, default, help) in help::entries() {
        let _ = writeln!(page, ".TP\n.B {}\n{}{}", roff(&name), roff(&help), roff(&default));
    }
    page += ".SH EXIT STATUS\n";
    for (code, meaning) in exit_codes() {
        let _ = writeln!(page, ".TP\n.B {}\n{}", roff(&code), roff(meaning));
    }
    page
}

/// A dash is a minus, and no line begins with what would be a request.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
