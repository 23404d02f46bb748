//! The wrapper beside tini and dumb-init: what they add to a program's start, and how fast orphans are reaped.
//!
//! The programs take turns within a run, so that a busy moment of the machine hits them all.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figures::{Figure, Subject, Table, millis};
use super::support::shim::{Builder, binary};
use super::support::specimen::specimen;
use super::support::{proc, secs};
use super::{CHILD_START, ORPHANS, Plan, WHOLE_RUN};

const VARS: [(&str, &str); 3] =
    [("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];

/// A subject and the words that stand before the program's own.
type Tool = (Option<Subject>, Vec<OsString>);

fn tools() -> Vec<Tool> {
    let mut tools = vec![(None, Vec::new()), (Some(Subject::Shim), vec![binary().into_os_string(), "--".into()])];
    let inits =
        [(Subject::Tini, "/usr/bin/tini", &["-s", "--"][..]), (Subject::DumbInit, "/usr/bin/dumb-init", &["--"])];
    for (subject, path, words) in inits {
        if Path::new(path).exists() {
            let words = std::iter::once(path).chain(words.iter().copied()).map(OsString::from);
            tools.push((Some(subject), words.collect()));
        }
    }
    tools
}

/// From the start to the child's first word, and to the end of both; what the program takes alone is taken off.
pub fn start(table: &mut Table, plan: &Plan) {
    let tools = tools();
    let mut samples: Vec<(Vec<Duration>, Vec<Duration>)> = vec![Default::default(); tools.len()];
    for _ in 0..plan.starts {
        for ((_, words), samples) in tools.iter().zip(&mut samples) {
            let (word, end) = echo(words);
            samples.0.push(word);
            samples.1.push(end);
        }
    }
    let medians: Vec<(f64, f64)> = samples.into_iter().map(|(word, end)| (median(word), median(end))).collect();
    for ((subject, _), (word, end)) in tools.iter().zip(&medians).skip(1) {
        let Some(subject) = *subject else { continue };
        table.add(CHILD_START, "ms", subject, &Figure::One(word - medians[0].0));
        table.add(WHOLE_RUN, "ms", subject, &Figure::One(end - medians[0].1));
    }
}

fn echo(words: &[OsString]) -> (Duration, Duration) {
    let argv = [words, &["/bin/echo".into(), "up".into()]].concat();
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).env_clear().envs(VARS);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    let _ = BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line);
    let word = began.elapsed();
    assert_eq!(line, "up\n", "{argv:?}");
    let _ = child.wait();
    (word, began.elapsed())
}

/// From the moment at which 500 orphans end to the one at which none is left, as PID 1 of a namespace.
pub fn orphans(table: &mut Table, plan: &Plan) {
    let allowed = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("  no namespaces here: no orphans");
        return;
    }
    let tools = tools();
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); tools.len()];
    for _ in 0..plan.orphan_runs {
        for ((_, words), samples) in tools.iter().zip(&mut samples).skip(1) {
            samples.extend(reap(words).map(millis));
        }
    }
    for ((subject, _), samples) in tools.iter().zip(samples).skip(1) {
        table.add(ORPHANS, "ms", subject.unwrap_or(Subject::Shim), &Figure::median(samples));
    }
}

fn reap(words: &[OsString]) -> Option<Duration> {
    let argv = specimen(["orphans", "500", "30"]);
    let builder = Builder::of(&words[0]).args(&words[1..]).args(argv);
    let builder = VARS.iter().fold(builder, |builder, (name, value)| builder.var(name, value));
    let mut process = builder.behind(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]).spawn();
    let pid = process.pid();
    let began = process.wait_for_line("orphans", secs(60)).at;
    while began.elapsed() < secs(10) {
        if proc::children(pid).len() <= 1 {
            return Some(began.elapsed());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    None
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| millis(*time))
}
