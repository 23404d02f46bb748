//! `agones-shim completion SHELL`: from the table of commands.

use std::ffi::OsString;

use super::args::{Argument, Arguments, Usage, utf8};
use super::output::print;
use super::{COMMANDS, Command, Reads};
use crate::exit::ExitReason;
use crate::settings::nearest;

pub(super) static COMMAND: Command = Command {
    name: "completion",
    arguments: "SHELL",
    summary: "completions for bash, zsh or fish",
    words: &[
        ("bash", "eval \"$(agones-shim completion bash)\""),
        ("zsh", "the same; compinit has to have run"),
        ("fish", "agones-shim completion fish | source"),
    ],
    details: &[],
    reads: Reads::Nothing,
    run: |args, _| run(args),
};

fn run(args: Vec<OsString>) -> Result<ExitReason, Usage> {
    let mut arguments = Arguments::new(args);
    let shell = match arguments.next()? {
        Some(Argument::Value(shell)) => shell,
        Some(option) => return Err(Usage::unexpected(&COMMAND, &option)),
        None => return Err(Usage::new("completion needs a shell (write bash, zsh or fish)")),
    };
    if let Some(more) = arguments.next()? {
        return Err(Usage::unexpected(&COMMAND, &more));
    }
    match utf8(&shell)? {
        "bash" => Ok(print(&bash())),
        // zsh runs bash's completions.
        "zsh" => Ok(print(&format!("autoload -U +X bashcompinit && bashcompinit\n{}", bash()))),
        "fish" => Ok(print(&fish())),
        other => {
            let near = nearest(other, COMMAND.words.iter().map(|(shell, _)| *shell)).unwrap_or("bash, zsh or fish");
            Err(Usage::new(format!("completion: unknown shell {other:?} (write {near})")))
        }
    }
}

/// The words that may stand behind a command's name.
fn words(command: &Command) -> Vec<&'static str> {
    let words: Vec<&str> = command.words.iter().map(|(word, _)| word.split(' ').next().unwrap_or(word)).collect();
    if command.name == "help" { names() } else { words }
}

fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|command| command.name).collect()
}

pub(super) fn bash() -> String {
    let mut cases = String::new();
    for command in COMMANDS {
        cases += &format!("      {}) words='{} --help' ;;\n", command.name, words(command).join(" "));
    }
    let names = names().join(" ");
    format!(
        "_agones_shim() {{
  local words=''
  if [ \"$COMP_CWORD\" -eq 1 ]; then
    words='{names} -- --help --version'
  elif [ \"$COMP_CWORD\" -eq 2 ] || [ \"${{COMP_WORDS[1]}}\" != sdk ]; then
    case \"${{COMP_WORDS[1]}}\" in
{cases}    esac
  fi
  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))
}}
complete -o default -F _agones_shim agones-shim
"
    )
}

pub(super) fn fish() -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut text = String::from("complete -c agones-shim -f\n");
    for command in COMMANDS {
        let (name, summary) = (command.name, quoted(command.summary));
        text += &format!("complete -c agones-shim -n __fish_use_subcommand -a {name} -d {summary}\n");
        for (word, help) in command.words {
            let word = word.split(' ').next().unwrap_or(word);
            let (name, help) = (command.name, quoted(help));
            let form = word.strip_prefix("--").map_or(format!("-a {word}"), |option| format!("-l {option}"));
            text += &format!("complete -c agones-shim -n '__fish_seen_subcommand_from {name}' {form} -d {help}\n");
        }
    }
    text
}
