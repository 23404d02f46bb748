//! `agones-shim check`: the resolved settings, or every error in them; with `-f`, those of manifests.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::args::{Argument, Arguments, Usage};
use super::output::{print, reject};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::manifest;
use crate::manifest::check::Checker;
use crate::manifest::check::catalogue::Severity;
use crate::settings::Variable;
use crate::settings::engine::check;

pub(super) static COMMAND: Command = Command {
    name: "check",
    arguments: "[-f FILE]",
    summary: "shows what follows from the settings, or every error in them",
    words: &[
        ("--all", "also the settings that are not set, with their defaults"),
        ("--strict", "a warning too is an error: exit 78, or 65 with -f"),
        ("--file", "-f FILE: holds a GameServer, Fleet or FleetAutoscaler against the settings in it instead"),
        ("--json", "with -f: the findings as JSON"),
    ],
    details: &[
        "Passwords in URLs and the arguments of commands are shown as ***.",
        "-f takes YAML or JSON, a directory (its .yaml, .yml and .json files), or - for stdin, and may be given several times. \
         Each finding is a line FILE:LINE:COLUMN with what to write instead; the environment of this process is not read. \
         Exit 65 with errors.",
    ],
    reads: Reads::All,
    run,
};

#[derive(Default)]
struct Options {
    all: bool,
    strict: bool,
    json: bool,
    files: Vec<OsString>,
}

fn run(args: Vec<OsString>, environment: Vec<Variable>) -> Result<ExitReason, Usage> {
    let mut options = Options::default();
    let mut arguments = Arguments::new(args);
    while let Some(argument) = arguments.next()? {
        match &argument {
            Argument::Option(option) => match option.as_str() {
                "--all" => options.all = true,
                "--strict" => options.strict = true,
                "--json" => options.json = true,
                "-f" | "--file" => options.files.push(arguments.value(option)?),
                _ => return Err(Usage::unexpected(&COMMAND, &argument)),
            },
            Argument::Value(_) => return Err(Usage::unexpected(&COMMAND, &argument)),
        }
    }
    if !options.files.is_empty() {
        if options.all {
            return Err(Usage::new("check: --all is about the settings of this process (leave out -f, or --all)"));
        }
        return Ok(check_manifests(&options));
    }
    if options.json {
        return Err(Usage::new("check: --json is about manifests (write check -f FILE --json)"));
    }
    Ok(match check::page(environment, options.all) {
        Ok(page) => {
            let shown = print(&page.text);
            if options.strict && page.has_warnings { ExitReason::Config } else { shown }
        }
        Err(rejected) => reject(&rejected),
    })
}

fn check_manifests(options: &Options) -> ExitReason {
    let mut checker = Checker::default();
    for name in &options.files {
        if name == "-" {
            checker.file("-", manifest::read(Ok(io::stdin())).as_deref().map_err(Clone::clone));
            continue;
        }
        match files(Path::new(name)) {
            Ok(paths) => paths.iter().for_each(|path| {
                let text = manifest::read(File::open(path));
                checker.file(&path.to_string_lossy(), text.as_deref().map_err(Clone::clone));
            }),
            Err(error) => checker.file(&name.to_string_lossy(), Err(error)),
        }
    }
    let report = checker.finish();
    let shown = print(&if options.json { report.json() } else { report.text() });
    let is_bad = report.has(Severity::Error) || options.strict && report.has(Severity::Warning);
    if is_bad { ExitReason::BadManifest } else { shown }
}

/// A file itself; of a directory its manifests, as kubectl takes them, without those further down.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries =
        fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|error| error.to_string())?;
    let is_manifest =
        |path: &PathBuf| ["yaml", "yml", "json"].iter().any(|ending| path.extension() == Some(OsStr::new(ending)));
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_manifest).collect();
    paths.sort();
    if paths.is_empty() { Err("a directory without .yaml, .yml or .json files".into()) } else { Ok(paths) }
}
