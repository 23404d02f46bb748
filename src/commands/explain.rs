//! `agones-shim explain ID`: the paragraph of a log line, as docs/messages.md has it.

use std::ffi::OsString;

use super::args::{Argument, Arguments, Usage, utf8};
use super::output::print;
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::machine::catalogue::{Message, catalogue, severity};
use crate::settings::engine::help::{columns, wrap};
use crate::settings::nearest;

pub(super) static COMMAND: Command = Command {
    name: "explain",
    arguments: "[ID]",
    summary: "what a log line means and what to do about it",
    words: &[],
    details: &["ID is the field id of a log line in JSON. Without one, all of them are listed."],
    reads: Reads::Nothing,
    run: |args, _| run(args),
};

fn run(args: Vec<OsString>) -> Result<ExitReason, Usage> {
    let mut arguments = Arguments::new(args);
    let id = match arguments.next()? {
        None => return Ok(print(&list())),
        Some(Argument::Value(id)) => id,
        Some(option) => return Err(Usage::unexpected(&COMMAND, &option)),
    };
    if let Some(more) = arguments.next()? {
        return Err(Usage::unexpected(&COMMAND, &more));
    }
    let (id, all) = (utf8(&id)?, catalogue());
    if let Some(message) = all.iter().find(|message| message.id == id) {
        return Ok(print(&paragraph(message)));
    }
    let near = nearest(id, all.iter().map(|message| message.id));
    let hint = near.map_or("agones-shim explain lists them".into(), |near| format!("did you mean {near}?"));
    Err(Usage::new(format!("explain: unknown message {id:?} ({hint})")))
}

fn list() -> String {
    let mut text = String::new();
    let rows: Vec<(String, &str)> =
        catalogue().iter().map(|message| (message.id.to_owned(), severity(message.level))).collect();
    columns(&mut text, &rows);
    text
}

fn paragraph(message: &Message) -> String {
    let mut text = format!("{} ({})\n\n", message.id, severity(message.level));
    wrap(&mut text, message.text, 2);
    if !message.fields.is_empty() {
        text.push('\n');
        wrap(&mut text, &format!("Fields: {}", message.fields.join(", ")), 0);
    }
    text.push('\n');
    let remedy = if message.remedy.is_empty() { "There is nothing to do." } else { message.remedy };
    wrap(&mut text, &remedy.replace('`', ""), 0);
    text
}
