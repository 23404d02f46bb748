//! `agones-shim check -f`: files, directories and stdin; what is printed, and the exit code. Each finding has its tests
//! beside the code; here they are seen to arrive.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use crate::support::Scratch;
use crate::support::shim::Finished;
use crate::support::{secs, shim};

const BAD: &str = "kind: GameServer
spec:
  counters:
    palyers: {capacity: 16}
  template:
    spec:
      containers:
      - name: game
        args: [\"--\", ./game]
        env:
        - {name: AGONES_SHIM_READY_TCP, value: 7777}
        - {name: AGONES_SHIM_STOP_SIGNAL, value: TREM}
        - {name: AGONES_SHIM_COUNTER_NAME, value: players}
        - {name: AGONES_SHIM_COUNTER_QUERY, value: \"a2s://:27015\"}
        - {name: AGONES_SHIM_RAEDY_TCP, value: \"1\"}
";

const FOUND: &str = r#"FILE:11:48: error: spec.template.spec.containers[0].env[0].value: this is a number, it must be a string (in quotes: "7777") [field]
FILE:12:50: error: AGONES_SHIM_STOP_SIGNAL: "TREM" is not a signal (write TERM) [setting]
FILE:13:51: error: AGONES_SHIM_COUNTER_NAME: "players" is not in the GameServer's spec.counters (write counters: {players: {count: 0, capacity: 16}} there) [counter-undeclared]
FILE:15:48: warning: AGONES_SHIM_RAEDY_TCP: is not a setting (did you mean AGONES_SHIM_READY_TCP?) [setting-warning]
checked 1 object: 3 errors, 1 warning
"#;

fn check(args: &[&str]) -> Finished {
    shim().arg("check").args(args).run(secs(60))
}

#[test]
fn all_examples_pass_without_a_finding_file_by_file_and_together() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let of = |path: &Path| check(&["--strict", "-f", path.to_str().expect("it is text")]);
    let all = of(&examples);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""), "{}", all.stdout);
    assert_eq!(all.stdout, "checked 8 objects: 0 errors, 0 warnings\n");
    for entry in fs::read_dir(&examples).expect("there are examples") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let one = of(&path);
            assert_eq!((one.code, one.stdout.lines().count()), (0, 1), "{}: {}", path.display(), one.stdout);
        }
    }
}

#[test]
fn findings_are_lines_that_editors_read_and_the_exit_code_is_65() {
    let scratch = Scratch::new("check-lines");
    let path = scratch.file("bad.yaml", BAD.as_bytes());
    let checked = check(&["-f", &path]);
    assert_eq!((checked.code, checked.stderr.as_str()), (65, ""));
    assert_eq!(checked.stdout, FOUND.replace("FILE", &path));

    // The environment of this process is another's.
    let other = shim().set("READY_TCP", "nonsense").args(["check", "--file", &path]).run(secs(20));
    assert_eq!(other.stdout, checked.stdout);

    let stdin = Stdio::from(File::open(&path).expect("written above"));
    let piped = shim().stdin(stdin).args(["check", "-f", "-"]).run(secs(20));
    assert_eq!((piped.code, piped.stdout), (65, FOUND.replace("FILE", "-")));
}

#[test]
fn for_programs_there_is_json() {
    let scratch = Scratch::new("check-json");
    let path = scratch.file("bad.yaml", BAD.as_bytes());
    let checked = check(&["--json", "-f", &path]);
    assert_eq!(checked.code, 65);
    for part in [
        "\"errors\": 3",
        "\"warnings\": 1",
        "\"line\": 13",
        "\"column\": 51",
        "\"rule\": \"counter-undeclared\"",
        "\"severity\": \"warning\"",
    ] {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
    }
}

#[test]
fn warnings_alone_pass_unless_asked_not_to() {
    let scratch = Scratch::new("check-strict");
    let text = BAD.replace("7777", "'7777'").replace("TREM", "TERM").replace("palyers", "players");
    let path = scratch.file("warned.yaml", text.as_bytes());
    assert_eq!(check(&["-f", &path]).code, 0);
    assert_eq!(check(&["-f", &path, "--strict"]).code, 65);
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_name_and_the_rest_is_checked() {
    let scratch = Scratch::new("check-unreadable");
    let bad = scratch.file("bad.json", b"{\"kind\": \"GameServer\", \"spec\": 5}");
    let missing = scratch.directory().join("missing.yaml");
    let missing = missing.to_str().expect("it is text");
    let checked = check(&["-f", missing, "-f", &scratch.file("no.yaml", b"\xff"), "-f", &bad]);
    assert_eq!(checked.code, 65);
    for part in [
        "missing.yaml:1:1: error: No such file",
        "no.yaml:1:1: error: not UTF-8 text from byte 1 on",
        "bad.json:1:32: error: spec: this is a number",
    ] {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
    }
    assert_eq!(check(&["-f"]).code, 64);
    assert_eq!(check(&["--json"]).code, 64);
}

#[test]
fn hostile_files_are_errors_in_bounded_time_and_memory() {
    let scratch = Scratch::new("check-hostile");
    let large = scratch.file("large.yaml", b"");
    File::options().write(true).open(&large).and_then(|file| file.set_len(100 << 20)).expect("a sparse file");
    let size = 4 << 20;
    let server = |env: &str| {
        format!("kind: GameServer\nspec: {{template: {{spec: {{containers: [{{args: ['--', x], env: [{env}]}}]}}}}}}\n")
    };
    let doubled = |number: usize| format!("{{name: V{number}, value: '$(V{0})$(V{0})'}},\n  ", number - 1);
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    (1..12).for_each(|level| {
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", "));
    });
    let cases = [
        "[".repeat(size),
        "{a: ".repeat(size / 4),
        "\"".repeat(size),
        "- ".repeat(size / 2),
        format!("[{}]", "1,".repeat(size / 2 - 1)),
        server(&format!("{{name: AGONES_SHIM_STOP_HOOK, value: '{}'}}", "x ".repeat(size / 2 - 100))),
        format!("a: &a \"{}\"\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(1000)),
        format!(
            "{}{}{}",
            (0..60).map(|level| format!("&a{level} [")).collect::<Vec<_>>().concat(),
            "x,\n ".repeat(90_000),
            "]".repeat(60)
        ),
        laughs,
        (0..99_000).map(|key| format!("k{key}: 1\n")).collect::<Vec<_>>().concat() + "k1: 1\n",
        server(&(1..20_000).map(doubled).collect::<Vec<_>>().concat().replacen("$(V0)$(V0)", "xxxxxxxx", 1)),
        format!(
            "kind: GameServer\nspec: {{lists: {{{}: {{values: [{}]}}}}}}",
            "k".repeat(1 << 20),
            "v,\n ".repeat(80_000)
        ),
    ];
    let paths = cases.iter().enumerate().map(|(number, text)| scratch.file(&format!("{number}.yaml"), text.as_bytes()));
    for path in paths.chain([large]) {
        // The data of the process; what is mapped of the file itself is not in it.
        let limited = ["sh", "-c", "ulimit -d 65536; exec \"$@\"", "sh"];
        let checked = shim().args(["check", "-f", &path]).behind(limited).run(secs(30));
        assert_eq!((checked.code, checked.stderr.as_str()), (65, ""), "{path}: {}", checked.stdout);
        assert!(checked.stdout.len() < 1 << 20, "{path}: {} bytes", checked.stdout.len());
    }
}
