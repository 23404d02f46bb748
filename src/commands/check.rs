//! `agones-shim check`: the resolved settings, or every error in them.

use std::ffi::OsString;

use super::args::{Argument, Arguments, Usage};
use super::output::{print, reject};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::settings::Variable;
use crate::settings::engine::check;

pub(super) static COMMAND: Command = Command {
    name: "check",
    arguments: "[--all] [--strict]",
    summary: "shows what follows from the settings, or every error in them",
    words: &[
        ("--all", "also the settings that are not set, with their defaults"),
        ("--strict", "a warning too is an error: exit 78"),
    ],
    details: &["Passwords in URLs and the arguments of commands are shown as ***."],
    reads: Reads::All,
    run,
};

fn run(args: Vec<OsString>, environment: Vec<Variable>) -> Result<ExitReason, Usage> {
    let (mut all, mut strict) = (false, false);
    let mut arguments = Arguments::new(args);
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Option(option) if option == "--all" => all = true,
            Argument::Option(option) if option == "--strict" => strict = true,
            other => return Err(Usage::unexpected(&COMMAND, &other)),
        }
    }
    Ok(match check::page(environment, all) {
        Ok(page) => {
            let shown = print(&page.text);
            if strict && page.has_warnings { ExitReason::Config } else { shown }
        }
        Err(rejected) => reject(&rejected),
    })
}
