//! Every example on every page is run or parsed.
//!
//! Shell blocks are run by a real shell, in which `agones-shim` is the real one, asked to check what it was given
//! instead of living on it, and every other program does nothing. So a misspelt variable, a wrong value, an unknown
//! command or option and a quote that is not closed are all found.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use agones_shim::testing::manifest::yaml::{self, Node, Value};

use super::{Page, root};
use crate::examples;
use crate::support::shim::binary;
use crate::support::{secs, shim};

/// Programs that examples call and that do nothing here.
const OTHERS: [&str; 20] = [
    "cargo",
    "cat",
    "cp",
    "curl",
    "docker",
    "gdb",
    "git",
    "install",
    "jq",
    "kubectl",
    "make",
    "man",
    "mkfifo",
    "perf",
    "promtool",
    "ps",
    "sha256sum",
    "systemctl",
    "systemd-analyze",
    "cmp",
];

/// What stands in for the shim: exit code 64 is a usage error, 78 a wrong setting.
const STAND_IN: &str = r#"#!/bin/sh
case ${1:-} in
--) exec "$REAL" check --strict ;;
"") exec "$REAL" check --strict ;;
check) exec "$REAL" "$@" ;;
local-sdk) shift; exec "$REAL" local-sdk --print-gameserver "$@" ;;
status) shift; for arg; do shift; [ "$arg" = --watch ] || set -- "$@" "$arg"; done; "$REAL" status "$@" ;;
*) AGONES_SDK_GRPC_PORT=1 "$REAL" "$@" </dev/null ;;
esac >/dev/null
[ $? != 64 ]
"#;

struct Stage(PathBuf);

impl Stage {
    fn new() -> Self {
        let directory = std::env::temp_dir().join(format!("agones-shim-docs-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the temporary directory can be written");
        let stage = Self(directory);
        stage.program("agones-shim", STAND_IN);
        for other in OTHERS {
            stage.program(other, "#!/bin/sh\n");
        }
        stage
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::write(&path, text).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// Runs the lines; what they leave set is checked in the end.
    fn run(&self, script: &str) -> Result<(), String> {
        let script = format!("set -aeu\n{script}\n{CHECK_WHAT_IS_SET}");
        let output = Command::new("/bin/sh")
            .args(["-c", &script])
            .env_clear()
            .env("PATH", &self.0)
            .env("REAL", binary())
            .current_dir(root())
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

/// Settings of another subject need a readiness probe beside them.
const CHECK_WHAT_IS_SET: &str = "
case $(set) in *AGONES_SHIM_READY_*) ;; *) AGONES_SHIM_READY_TCP=1 ;; esac
case $(set) in *AGONES_SHIM_*) agones-shim ;; esac
";

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_shell_block_runs() {
    let stage = Stage::new();
    let mut run = 0;
    for page in Page::all() {
        for (language, line, text) in page.blocks() {
            let script = match language {
                "sh" => text,
                "console" => text.lines().filter_map(|line| line.strip_prefix("$ ")).collect::<Vec<_>>().join("\n"),
                _ => continue,
            };
            stage.run(&script).unwrap_or_else(|error| panic!("{}:{line}: {error}\n{script}", page.path));
            run += 1;
        }
    }
    assert!(run > 15, "the blocks were found: {run}");
    for wrong in [
        "AGONES_SHIM_READY_TPC=1 agones-shim",
        "AGONES_SHIM_COUNTER_NAME=players",
        "AGONES_SHIM_STOP_HOOK='/agones-shim rcon'\nAGONES_SHIM_STOP_HOOK_TIMEOUT_SECS=20s",
        "AGONES_SHIM_READY_TCP=x agones-shim -- ./server",
        "agones-shim chekc",
        "agones-shim sdk raedy",
        "agones-shim local-sdk -f nowhere.yaml",
        "echo 'open",
        "no-such-program",
    ] {
        assert!(stage.run(wrong).is_err(), "{wrong:?} would not be found");
    }
}

fn assert_check(place: &str, variables: &examples::Vars) {
    let mut builder = shim().unset("AGONES_SHIM_LOG_FORMAT").args(["check", "--strict"]);
    if !variables.keys().any(|name| name.starts_with("AGONES_SHIM_READY_")) {
        builder = builder.var("AGONES_SHIM_READY_TCP", "1");
    }
    let checked = variables.iter().fold(builder, |builder, (name, value)| builder.var(name, value)).run(secs(20));
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{place}: {variables:?}\n{}", checked.stdout);
}

#[test]
fn every_manifest_parses_and_its_variables_pass_check() {
    let mut found = 0;
    for page in Page::all() {
        for (language, line, text) in page.blocks() {
            if language != "yaml" {
                continue;
            }
            let place = format!("{}:{line}", page.path);
            for document in yaml::documents(&text).unwrap_or_else(|error| panic!("{place}: {error}")) {
                let mut environments = Vec::new();
                examples::environments(&document, &mut environments);
                for variables in &environments {
                    assert_check(&place, variables);
                }
                found += 1;
            }
        }
    }
    assert!(found >= 4, "the manifests were found: {found}");
}

/// Maps in the order of their keys, every scalar as text.
fn normal(node: &Node) -> String {
    match &node.value {
        Value::Plain(text) | Value::Quoted(text) => format!("{text:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(normal).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let mut entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}:{}", normal(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
    }
}

#[test]
fn the_readme_shows_the_wrapper_s_fleet_whole() {
    let file = fs::read_to_string(root().join("examples/fleet-wrapper.yaml")).expect("it is there");
    let wanted = normal(&yaml::documents(&file).expect("it is YAML")[0]);
    let readme = Page::read("README.md");
    let shown =
        readme.blocks().into_iter().find(|(language, _, text)| *language == "yaml" && text.contains("kind: Fleet"));
    let (.., shown) = shown.expect("there is a Fleet");
    assert_eq!(normal(&yaml::documents(&shown).expect("it is YAML")[0]), wanted);
}

#[test]
fn every_other_block_is_what_it_says() {
    for page in Page::all() {
        for (language, line, text) in page.blocks() {
            let place = format!("{}:{line}", page.path);
            match language {
                // Above.
                "sh" | "console" | "yaml" | "text" => {}
                "json" => {
                    let parsed = serde_json::from_str::<serde_json::Value>(&text);
                    assert!(parsed.is_ok(), "{place}: {parsed:?}");
                }
                "ini" => {
                    let lines = text.lines().map(|line| line.strip_prefix("Environment=").unwrap_or(line));
                    assert_check(&place, &variables(lines));
                }
                "dockerfile" => {
                    let known = [
                        "ARG ",
                        "FROM ",
                        "COPY ",
                        "ENV ",
                        "HEALTHCHECK ",
                        "ENTRYPOINT ",
                        "CMD ",
                        "RUN ",
                        "WORKDIR ",
                        "# ",
                        "    ",
                    ];
                    for instruction in text.lines().filter(|line| !line.is_empty()) {
                        assert!(known.iter().any(|known| instruction.starts_with(known)), "{place}: {instruction}");
                        // The exec form is JSON.
                        if let Some((_, form)) = instruction.split_once(" [") {
                            let form = format!("[{form}");
                            assert!(serde_json::from_str::<Vec<String>>(&form).is_ok(), "{place}: {instruction}");
                        }
                    }
                    assert_check(&place, &variables(text.lines().filter_map(|line| line.strip_prefix("ENV "))));
                }
                other => panic!("{place}: nobody looks at a block of {other:?}"),
            }
        }
    }
}

fn variables<'a>(lines: impl Iterator<Item = &'a str>) -> examples::Vars {
    let own = lines.filter(|line| line.starts_with("AGONES_SHIM_"));
    own.filter_map(|line| line.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
