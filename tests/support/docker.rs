//! The Docker engine by its command line: containers that end with the test, and images that stay for the next.
//!
//! The tests need the static binary that is shipped (`SHIM_UNDER_TEST`, see `make test-static`) and a daemon.
//! Without them they are skipped and say why; in CI a missing daemon is a failure.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

use super::local_sdk::json_string;
use super::shim::binary;
use super::wait::{poll, secs};

/// The scratch image with the binary under test in it.
pub const IMAGE: &str = "agones-shim-test:latest";
/// An "existing game image": Debian with bzflag-server, made by `.ci/image-base.sh`.
pub const GAME_IMAGE: &str = "agones-shim-test-game:bookworm";
/// The same with the shim as entrypoint, by `examples/Dockerfile.game`.
pub const WRAPPED_IMAGE: &str = "agones-shim-test-wrapped:latest";

/// What a careful operator gives it, and nothing else.
pub const CONFINED: [&str; 6] = [
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--memory=16m",
    "--memory-swap=16m",
    "--pids-limit=64",
];

/// The images, if this machine can run these tests; else the reason is printed.
pub fn ready() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        if env::var_os("SHIM_UNDER_TEST").is_none() {
            eprintln!("skipped: SHIM_UNDER_TEST names no static binary (make test-static)");
            return false;
        }
        if !docker(&["version"]).status.success() {
            assert!(env::var_os("CI").is_none(), "CI has no Docker daemon");
            eprintln!("skipped: no Docker daemon here");
            return false;
        }
        // The context holds what `make image` would find there, and nothing else.
        let context = env::temp_dir().join(format!("agones-shim-image-{}", std::process::id()));
        fs::create_dir_all(&context).expect("the temporary directory can be written");
        fs::copy(binary(), context.join("agones-shim")).expect("the binary under test can be read");
        let context_name = context.to_str().expect("it is text");
        ok(&["build", "--quiet", "--tag", IMAGE, "--file", &in_repository("Dockerfile.scratch"), context_name]);
        fs::remove_dir_all(&context).expect("it was made above");
        let made = Command::new(in_repository(".ci/image-base.sh")).status().expect("bash is there");
        assert!(made.success(), ".ci/image-base.sh: {made}");
        ok(&[
            "build",
            "--quiet",
            "--tag",
            WRAPPED_IMAGE,
            "--build-arg",
            &format!("GAME_IMAGE={GAME_IMAGE}"),
            "--build-arg",
            &format!("AGONES_SHIM_IMAGE={IMAGE}"),
            "--file",
            &in_repository("examples/Dockerfile.game"),
            &in_repository("examples"),
        ]);
        true
    })
}

/// A file of this repository.
pub fn in_repository(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().expect("the repository's path is text").to_owned()
}

/// `docker ARG...`, run to its end.
pub fn docker(args: &[&str]) -> Output {
    output(Command::new("docker").args(args))
}

/// The same; it must succeed. Its standard output without the final newline.
#[track_caller]
pub fn ok(args: &[&str]) -> String {
    succeeded(&docker(args), args)
}

/// A container that is removed when the test ends.
pub struct Container(String);

impl Container {
    /// `docker run --detach ARG...`.
    #[track_caller]
    pub fn run(args: &[&str]) -> Self {
        let name = unique("agones-shim-test");
        let mut all = vec!["run", "--detach", "--name", &name];
        all.extend(args);
        // Known before it is started: a start that fails leaves a container behind.
        let container = Self(name.clone());
        ok(&all);
        container
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// `container:NAME`, for `--network`.
    pub fn network(&self) -> String {
        format!("--network=container:{}", self.0)
    }

    /// All it has written, stderr last.
    pub fn logs(&self) -> String {
        let logs = docker(&["logs", &self.0]);
        format!("{}{}", String::from_utf8_lossy(&logs.stdout), String::from_utf8_lossy(&logs.stderr))
    }

    /// Waits for a line of its logs that contains `part`.
    #[track_caller]
    pub fn wait_for_log(&self, part: &str, within: Duration) {
        let found = poll(within, || self.logs().contains(part).then_some(()));
        assert!(found.is_some(), "no {part:?} within {within:?} in the logs of {}:\n{}", self.0, self.logs());
    }

    /// `docker exec NAME ARG...`.
    pub fn exec(&self, args: &[&str]) -> Output {
        let mut all = vec!["exec", &self.0];
        all.extend(args);
        docker(&all)
    }

    /// A field of `docker inspect`, by Go template.
    #[track_caller]
    pub fn inspect(&self, template: &str) -> String {
        ok(&["inspect", "--format", template, &self.0])
    }

    /// `docker stop` with this grace in seconds; how long it took.
    #[track_caller]
    pub fn stop(&self, grace: u32) -> Duration {
        let started = Instant::now();
        ok(&["stop", "--time", &grace.to_string(), &self.0]);
        started.elapsed()
    }

    /// Waits for its end. Its exit code.
    #[track_caller]
    pub fn exit_code(&self, within: Duration) -> i32 {
        let ended = poll(within, || (self.inspect("{{.State.Running}}") == "false").then_some(()));
        assert!(ended.is_some(), "{} still runs after {within:?}; it wrote:\n{}", self.0, self.logs());
        self.inspect("{{.State.ExitCode}}").parse().expect("it is a number")
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {} wrote:\n{}---", self.0, self.logs());
        }
        docker(&["rm", "--force", "--volumes", &self.0]);
    }
}

/// What Kubernetes' `emptyDir` is: a directory of the host's that anybody may write to, gone with the test.
pub struct EmptyDir(PathBuf);

impl EmptyDir {
    /// The name is unique within the test binary.
    pub fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("agones-shim-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("it is ours");
        Self(path)
    }

    /// On the host.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// For `docker run`: mounted there, with options such as `:ro`.
    pub fn at(&self, mount: &str, options: &str) -> String {
        format!("--volume={}:{mount}{options}", self.0.display())
    }
}

impl Drop for EmptyDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The GameServer's state at a `local-sdk` of [`IMAGE`], asked for by the shim's own binary, as a hook would: the container has nothing else.
pub fn state(sdk: &Container) -> Option<String> {
    json_string(&String::from_utf8_lossy(&sdk.exec(&["/agones-shim", "sdk", "gameserver"]).stdout), "state")
}

/// `docker-compose` (or `docker compose`) with one file and project; taken down when the test ends.
pub struct Compose {
    command: Vec<String>,
    vars: Vec<(String, String)>,
}

impl Compose {
    /// Of a file of this repository, with these variables; nothing is started yet.
    pub fn of(file: &str, vars: &[(&str, &str)]) -> Self {
        let plugin = docker(&["compose", "version"]).status.success();
        let mut command: Vec<String> =
            if plugin { vec!["docker".into(), "compose".into()] } else { vec!["docker-compose".into()] };
        command.extend(["--file".into(), in_repository(file), "--project-name".into(), unique("agonesshimtest")]);
        Self { command, vars: vars.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect() }
    }

    /// Runs it to its end; it must succeed. Its standard output.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        succeeded(&self.run(args), args)
    }

    /// What a service has written.
    #[track_caller]
    pub fn logs(&self, service: &str) -> String {
        self.ok(&["logs", "--no-color", service])
    }

    /// Waits for a line of a service's logs that contains `part`.
    #[track_caller]
    pub fn wait_for_log(&self, service: &str, part: &str, within: Duration) {
        let found = poll(within, || self.logs(service).contains(part).then_some(()));
        assert!(found.is_some(), "no {part:?} within {within:?}:\n{}", self.ok(&["logs", "--no-color"]));
    }

    fn run(&self, args: &[&str]) -> Output {
        let vars = self.vars.iter().map(|(name, value)| (name, value));
        output(Command::new(&self.command[0]).args(&self.command[1..]).args(args).envs(vars))
    }
}

impl Drop for Compose {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", String::from_utf8_lossy(&self.run(&["logs", "--no-color"]).stdout));
        }
        self.run(&["down", "--volumes", "--timeout", "1"]);
    }
}

/// A name that no other run of these tests has.
fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs a command to its end, which is bounded by `timeout`: no daemon may hold the tests up for ever.
fn output(command: &mut Command) -> Output {
    let mut bounded = Command::new("timeout");
    bounded.arg(secs(180).as_secs().to_string()).arg(command.get_program()).args(command.get_args());
    bounded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.stdin(Stdio::null()).output().expect("coreutils' timeout is there")
}

#[track_caller]
fn succeeded(output: &Output, args: &[&str]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    assert!(output.status.success(), "{args:?}: {}\n{}", output.status, text(&output.stderr));
    text(&output.stdout)
}

/// The directory of a file that a test hands to Docker.
pub fn temp_file(name: &str, text: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("{}-{name}", unique("agones-shim-test")));
    fs::write(&path, text).expect("the temporary directory can be written");
    path
}
