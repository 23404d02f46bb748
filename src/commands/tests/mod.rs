//! The table of commands: what is asked for, and what is made from it.

mod args;

use super::{COMMANDS, completion, help, man};
use crate::settings::engine::row::all;

fn assert_fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
    assert!(!text.contains('`'), "Markdown on a terminal");
}

#[test]
fn help_fits_the_terminal_and_lists_everything() {
    let help = help::all();
    assert_fits(&help);
    for row in all() {
        let line = format!("  {}={}", row.variable, row.value);
        assert!(help.lines().any(|found| found.split("  [").next() == Some(&line)), "{line}");
    }
    for code in ["0", "64", "65", "69", "70", "71", "73", "75", "76", "78", "126", "127", "128+n"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{code} "))), "{code}");
    }
    for command in COMMANDS {
        assert!(help.contains(&format!("  {} ", help::brief(command))), "{}", command.name);
    }
}

#[test]
fn the_short_help_is_a_screen_and_says_where_the_rest_is() {
    let help = help::short();
    assert_fits(&help);
    assert!(help.lines().count() <= 42 && help.contains("--help has all of them"), "{help}");
    assert!(help.contains("AGONES_SHIM_READY_TCP=") && !help.contains("AGONES_SHIM_HUP="), "{help}");
}

#[test]
fn the_help_of_a_command_has_its_words_and_the_settings_that_it_reads() {
    for command in COMMANDS {
        let help = help::of(command);
        assert_fits(&help);
        assert!(help.starts_with(&help::usage(command)), "{help}");
        for (word, meaning) in command.words {
            assert!(help.lines().any(|line| line.contains(word) && line.ends_with(meaning)), "{word}: {help}");
        }
        assert!(!command.summary.ends_with('.') && command.summary.len() < 64, "{}", command.summary);
    }
    let named = |name: &str| help::of(super::find(name).expect(name));
    assert!(named("sdk").contains("AGONES_SDK_GRPC_PORT=") && !named("sdk").contains("AGONES_SHIM_READY_TCP="));
    assert!(named("probe").contains("AGONES_SHIM_LIVE_TCP=") && !named("probe").contains("AGONES_SDK_GRPC_PORT="));
    assert!(named("status").contains("AGONES_SHIM_STATUS_ADDR="));
}

#[test]
fn help_begins_with_how_to_call_it() {
    let begin = "\
agones-shim 0.1.0: Ready, Health, Shutdown and Counters for game servers that have no Agones SDK.

Usage:
  agones-shim                        sidecar: runs beside the game, in its Pod or on its host
  agones-shim -- PROGRAM [ARG...]    wrapper: the game's entrypoint, runs it as its child
"
    .replace("0.1.0", env!("CARGO_PKG_VERSION"));
    assert!(help::all().starts_with(&begin), "{}", help::all());
}

#[test]
fn completions_and_the_manual_page_know_every_command_and_setting() {
    let (bash, fish, man) = (completion::bash(), completion::fish(), man::page());
    for command in COMMANDS {
        let name = command.name;
        assert!(bash.contains(&format!("      {name}) words=")) && bash.contains(&format!("{name} ")), "{name}");
        assert!(fish.contains(&format!("-a {name} ")), "{name}");
        assert!(man.contains(&format!(".B {}\n", name.replace('-', "\\-"))), "{name}");
    }
    for row in all() {
        assert!(man.contains(&format!(".B {}=", row.variable)), "{}", row.variable);
    }
}
