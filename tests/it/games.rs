//! Real dedicated servers of Debian's packages, run as `examples/games/` says: Ready by the probe of the file, nobody
//! on it, and stopped.
//!
//! Where a package is missing the test says so and proves nothing; with `CI` set that is a failure, but for the one
//! that is too large for CI.

use std::fs;
use std::io::Write as _;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agones_shim::testing::query::{self, Reading};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::ports::Port;
use crate::support::shim::Builder;
use crate::support::{maps, proc, secs, shim, wait};

/// The comments that each file begins with, in this order.
const COMMENTS: [&str; 9] = ["game", "tried", "run", "needs", "port", "ready", "counted", "saves", "stops"];
/// What `tried` says where it was not on the real server.
const FROM_DEFINITIONS: &str = "from public definitions, on a stand-in";
/// In a file, the directory of what is the game's own.
const HOME: &str = "/srv/game";
/// Too large for CI.
const BY_HAND: [&str; 1] = ["openarena-server"];
/// The slowest of them needs a second or two for its start, on an idle machine.
pub(super) const START: Duration = Duration::from_secs(60);

fn games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/games")
}

/// A file of `examples/games/`.
pub struct Example {
    pub name: String,
    pub text: String,
}

impl Example {
    pub(super) fn read(name: &str) -> Self {
        let path = games().join(format!("{name}.env"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { name: name.to_owned(), text }
    }

    pub fn all() -> Vec<Self> {
        let files = fs::read_dir(games()).expect("there are games");
        let names = files.map(|file| file.expect("it can be listed").file_name().into_string().expect("it is text"));
        let mut all: Vec<Self> = names.filter_map(|name| name.strip_suffix(".env").map(Self::read)).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// Its data is too large for CI.
    pub fn is_tested_by_hand(&self) -> bool {
        BY_HAND.contains(&self.name.as_str())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Nobody has tried it on the game itself.
    pub fn is_from_definitions(&self) -> bool {
        self.comment("tried") == FROM_DEFINITIONS
    }

    pub fn comment(&self, key: &str) -> &str {
        let mark = format!("# {key}: ");
        let found = self.text.lines().find_map(|line| line.strip_prefix(&mark));
        found.unwrap_or_else(|| panic!("{}: no {mark:?}", self.name))
    }

    /// The words of `run` behind `agones-shim --`; none where the game runs beside it.
    pub(super) fn command(&self) -> Vec<String> {
        let run = self.comment("run");
        if run == "agones-shim" {
            return Vec::new();
        }
        let command = run.strip_prefix("agones-shim -- ").unwrap_or_else(|| panic!("{}: {run}", self.name));
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in command.chars() {
            match c {
                '"' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                _ => words.last_mut().expect("there is one").push(c),
            }
        }
        words
    }

    pub(super) fn variables(&self) -> Vec<(&str, &str)> {
        let lines = self.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| line.split_once('=').unwrap_or_else(|| panic!("{}: {line:?}", self.name))).collect()
    }

    /// With a free port and a directory of the test's own.
    pub(super) fn moved(&self, home: &Path) -> Self {
        let is_tcp = self.variables().iter().any(|(name, _)| name.ends_with("_TCP"));
        let port = if is_tcp { Port::reserve() } else { Port::reserve_udp() }.number().to_string();
        let text = self.text.replace(self.comment("port"), &port).replace(HOME, home.to_str().expect("it is text"));
        Self { name: self.name.clone(), text }
    }

    fn with_variables(&self, builder: Builder) -> Builder {
        self.variables().into_iter().fold(builder, |builder, (name, value)| builder.var(name, value))
    }

    /// What the server says to its query.
    fn reading(&self) -> Reading {
        let variables = self.variables().into_iter().map(|(name, value)| (name.into(), value.into()));
        query::reading(variables, secs(5))
    }

    /// Waits until the server tells of one player, with this name if it gives names.
    fn wait_for_player(&self, name: Option<&str>) {
        let mut last = None;
        let found = wait::poll(SOON, || {
            let reading = self.reading();
            let is_it =
                reading.players == Some(1) && reading.names == Some(name.map(str::to_owned).into_iter().collect());
            last = Some(reading);
            is_it.then_some(())
        });
        assert!(found.is_some(), "{}: {last:?}", self.name);
    }

    /// Mumble's answer is the only one without.
    fn reading_has_names(&self) -> bool {
        self.is_counted() && !self.text.contains("mumble://")
    }

    /// By a query.
    fn is_counted(&self) -> bool {
        self.variables().iter().any(|(name, _)| name.ends_with("COUNTER_QUERY"))
    }

    /// The SDK server shows what the server answers: how many there are, how many there may be, and who they are.
    fn is_published(&self, sdk: &LocalSdk) -> bool {
        let reading = self.reading();
        let body = |path: &str| sdk.get(path).body.replace(' ', "");
        let shows = |name: &str, value: Option<u64>| {
            let value = value.expect("it is told");
            body("/v1beta1/counters/players").contains(&format!("\"{name}\":\"{value}\""))
        };
        let names = reading.names.unwrap_or_default();
        let list = body("/v1beta1/lists/players");
        shows("count", reading.players)
            && shows("capacity", reading.capacity)
            && names.iter().all(|name| list.contains(&format!("\"{name}\"")))
    }

    /// A client's socket to it, for what a client says first.
    pub(super) fn client(&self) -> impl Fn(&[u8]) -> Vec<u8> + use<> {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let port: u16 = self.comment("port").parse().expect("a port");
        socket.connect(("127.0.0.1", port)).expect("UDP connects to anything");
        socket.set_read_timeout(Some(SOON)).expect("a timeout above 0");
        move |question| {
            let mut reply = [0; 2048];
            socket.send(question).expect("it is up");
            let length = socket.recv(&mut reply).expect("it answers clients");
            reply[..length].to_vec()
        }
    }
}

/// A directory that goes away with the test.
pub(super) struct Home(pub(super) PathBuf);

impl Home {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agones-shim-game-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory can be written");
        Self(path)
    }

    /// Writes a file of the game, directories and all.
    pub(super) fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("it is below home")).expect("it can be made");
        fs::write(path, bytes).expect("it can be written");
    }

    /// Copies a file of the package to where the game looks for it.
    pub(super) fn copy(&self, from: &str, file: &str) {
        self.write(file, fs::read(from).unwrap_or_else(|error| panic!("{from}: {error}")));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is there, or says that it is not.
pub(super) fn installed(name: &str, files: &[&str]) -> bool {
    let Some(missing) = files.iter().find(|file| !Path::new(file).exists()) else { return true };
    assert!(std::env::var_os("CI").is_none() || BY_HAND.contains(&name), "CI has no {missing}");
    // Past the harness's capture, so that it is seen in every run.
    let _ = writeln!(std::io::stderr().lock(), "SKIPPED, not installed: {name} ({missing})");
    false
}

/// The whole life of a game that is run as its file says: not Ready before it answers, then Ready, asked, stopped with
/// SIGTERM. `prepare` gives it what it needs; `code` is what the shim hands on.
fn lives(name: &str, files: &[&str], code: i32, prepare: impl FnOnce(&Home, &Example), check: impl FnOnce(&Example)) {
    lives_behind(&[], name, files, code, prepare, check);
}

/// The same, with these words in front of the shim.
fn lives_behind(
    prefix: &[&str],
    name: &str,
    files: &[&str],
    code: i32,
    prepare: impl FnOnce(&Home, &Example),
    check: impl FnOnce(&Example),
) {
    let example = Example::read(name);
    if !installed(name, &[&[example.command()[0].as_str()], files].concat()) {
        return;
    }
    let home = Home::new(name);
    let example = example.moved(&home.0);
    prepare(&home, &example);
    let sdk = LocalSdk::start(&[]);
    let builder = example.with_variables(shim()).directory(&home.0).var("HOME", &home.0);
    let builder = builder.set("HEALTH_INTERVAL_SECS", "0.5").set("COUNTER_INTERVAL_SECS", "0.5");
    let builder = if example.reading_has_names() { builder.set("LIST_NAME", "players") } else { builder };
    let mut shim = builder.sdk_port(sdk.port()).arg("--").args(example.command()).behind(prefix).spawn();
    shim.wait_for_line(READY, START);
    sdk.wait_for_state("Ready", SOON);
    check(&example);
    if example.is_counted() {
        wait::until_true("what it answers on the Counter and the List", SOON, || example.is_published(&sdk));
    }
    // A line that was seen is nothing that could be probed.
    if example.variables().iter().any(|(name, _)| !name.contains("_LOG")) {
        let probe = example.with_variables(crate::support::shim()).arg("probe").run(SOON);
        assert_eq!((probe.code, probe.stderr.as_str()), (0, ""));
    }
    let game = proc::descendants(shim.pid());
    assert!(!game.is_empty(), "the game runs below the shim");
    shim.signal(Signal::SIGTERM);
    shim.expect_code(code, STOP);
    assert_eq!(sdk.state(), "Shutdown");
    wait::until_true("the game's end", SOON, || game.iter().all(|pid| !proc::is_alive(*pid)));
}

/// Nobody is on it, of so many.
fn empty(capacity: u64) -> impl Fn(&Example) {
    move |example| {
        let reading = example.reading();
        assert_eq!((reading.players, reading.capacity), (Some(0), Some(capacity)), "{}", example.name);
        assert!(reading.names.unwrap_or_default().is_empty());
    }
}

fn nothing(_: &Home, _: &Example) {}

#[test]
fn teeworlds() {
    lives("teeworlds-server", &[], 0, nothing, |example| {
        empty(8)(example);
        // 0.7's handshake: a token, then CONNECT. One who is connecting is a client, and has no name yet.
        let client = example.client();
        let padding = [0; 512];
        let token = client(&[b"\x04\0\0\xff\xff\xff\xff\x05abcd".as_slice(), &padding].concat());
        client(&[b"\x04\0\0", &token[8..12], b"\x01abcd", &padding].concat());
        example.wait_for_player(None);
    });
}

#[test]
fn ddnet() {
    lives("ddnet-server", &[], 0, nothing, empty(64));
}

#[test]
fn quakeworld() {
    let ktx = "/usr/lib/quakeworld/ktx/qwprogs.so";
    let prepare = |home: &Home, _: &Example| {
        home.copy(ktx, "ktx/qwprogs.so");
        home.write("id1/maps/start.bsp", maps::quake());
    };
    lives("mvdsv", &[ktx], 0, prepare, |example| {
        empty(24)(example);
        let client = example.client();
        let challenge = client(b"\xff\xff\xff\xffgetchallenge\n");
        let challenge = challenge[5..].split(|byte| *byte == 0).next().expect("a number");
        // The first letter in bronze, as a player would write it.
        let name = b" \"\\name\\\xc1nn\\*client\\test\"\n";
        let accepted = client(&[b"\xff\xff\xff\xffconnect 28 1234 ", challenge, name].concat());
        assert_eq!(accepted[..5], *b"\xff\xff\xff\xffj");
        example.wait_for_player(Some("Ann"));
    });
}

#[test]
fn quake3() {
    let game = "/usr/lib/ioquake3/baseq3/qagamex86_64.so";
    let prepare = |home: &Home, _: &Example| {
        home.copy(game, "mygame/qagamex86_64.so");
        // An empty one counts as missing.
        home.write("mygame/default.cfg", "// nothing\n");
        home.write("mygame/maps/box.bsp", maps::quake3());
    };
    lives("ioquake3-server", &[game], 0, prepare, empty(8));
}

#[test]
fn openarena() {
    lives("openarena-server", &[], 0, nothing, empty(8));
}

#[test]
fn mumble() {
    let prepare = |home: &Home, example: &Example| {
        let (port, home_path) = (example.comment("port"), home.0.display());
        // As root it changes to a user of its own unless told not to.
        let settings = ["host=127.0.0.1".to_owned(), format!("port={port}"), "users=100".into(), "uname=root".into()];
        let files = [format!("database={home_path}/mumble.sqlite"), "logfile=".into(), "pidfile=".into()];
        home.write("mumble.ini", [settings.as_slice(), &files].concat().join("\n"));
    };
    lives("mumble-server", &[], 0, prepare, empty(100));
}

#[test]
fn bzflag() {
    lives("bzflag-server", &[], 0, nothing, |_| ());
}

#[test]
fn minetest() {
    lives("minetest-server", &[], 0, nothing, |_| ());
}

/// It refuses to run as root.
#[test]
fn freeciv() {
    let as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let prefix: &[&str] = if proc::we_are_root() { &as_nobody } else { &[] };
    let open = |home: &Home, _: &Example| {
        fs::set_permissions(&home.0, fs::Permissions::from_mode(0o777)).expect("our own directory");
    };
    lives_behind(prefix, "freeciv-server", &[], 0, open, |_| ());
}

/// It goes into the background, in a session of its own, and has one port: the shim runs beside it.
#[test]
fn tetrinetx() {
    let (example, server) = (Example::read("tetrinetx"), "/usr/games/tetrinetx");
    if !installed("tetrinetx", &[server]) {
        return;
    }
    let port: u16 = example.comment("port").parse().expect("a port");
    let is_open = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    let sdk = LocalSdk::start(&[]);
    let mut shim = example.with_variables(shim()).sdk_port(sdk.port()).spawn();
    // The package's own script may have started it.
    let ours = !is_open();
    if ours {
        if !proc::we_are_root() {
            let _ = writeln!(std::io::stderr().lock(), "SKIPPED, not possible here: tetrinetx writes to /var");
            return;
        }
        for directory in ["/var/run/tetrinetx", "/var/log/tetrinetx", "/var/games/tetrinetx"] {
            fs::create_dir_all(directory).expect("root may");
        }
        assert_eq!(sdk.state(), "Scheduled");
        Builder::of(server).run(SOON);
    }
    shim.wait_for_line(READY, START);
    sdk.wait_for_state("Ready", SOON);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
    assert!(is_open(), "a sidecar leaves the game alone");
    if ours {
        let pid = fs::read_to_string("/var/run/tetrinetx/game.pid").expect("it writes its number");
        let pid = Pid::from_raw(pid.trim().parse().expect("a number"));
        kill(pid, Signal::SIGTERM).expect("it runs");
    }
}

/// The kernel goes on taking datagrams for a frozen process: only the query tells.
#[test]
fn a_real_server_that_freezes_is_gone() {
    let example = Example::read("teeworlds-server");
    let command = example.command();
    if !installed("teeworlds-server", &[&command[0]]) {
        return;
    }
    let home = Home::new("frozen");
    let example = example.moved(&home.0);
    let game = Builder::of(&command[0]).args(&example.command()[1..]).directory(&home.0).var("HOME", &home.0).spawn();
    let sdk = LocalSdk::start(&[]);
    let mut shim = example
        .with_variables(shim())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("PROBE_TIMEOUT_SECS", "0.5")
        .set("LIVE_FAILURE_THRESHOLD", "3")
        .sdk_port(sdk.port())
        .spawn();
    shim.wait_for_line(READY, START);
    game.signal(Signal::SIGSTOP);
    shim.wait_for_line("timed out after 0.5s", SOON);
    shim.expect_code(69, STOP);
    game.signal(Signal::SIGKILL);
    assert_eq!(sdk.state(), "Ready", "a freeze does not look like a clean end");
}

#[test]
fn every_file_has_the_form_that_the_readme_describes() {
    let readme = fs::read_to_string(games().join("README.md")).expect("it is there");
    for comment in COMMENTS {
        assert!(readme.contains(&format!("| `# {comment}:` |")), "the README does not describe {comment:?}");
    }
    let all = Example::all();
    assert!(all.len() >= 60, "{}", all.len());
    for example in all {
        let name = &example.name;
        let is_tried = !example.is_from_definitions();
        let heads = example.text.lines().map_while(|line| line.strip_prefix("# ")?.split_once(": "));
        let keys: Vec<&str> = heads.clone().map(|(key, _)| key).collect();
        assert_eq!(keys, COMMENTS, "{name}");
        assert!(heads.clone().all(|(_, text)| !text.is_empty() && text.trim() == text), "{name}");
        let packages = example.comment("tried").strip_prefix("on the real server, of Debian's package ");
        assert!(!is_tried || packages.is_some_and(|all| all.split(' ').any(|package| package == name)), "{name}");
        let (port, command) = (example.comment("port"), example.command().concat());
        assert!(port.parse::<u16>().is_ok(), "{name}: {port}");
        assert!(command.contains(port) || example.comment("needs").contains(port), "{name}: {command}");
        assert!(example.command().first().is_none_or(|program| Path::new(program).is_absolute()), "{name}");
        let checked = example.with_variables(shim().unset("AGONES_SHIM_LOG_FORMAT")).arg("check").run(SOON);
        assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{name}");
        assert!(!checked.stdout.contains("warning:"), "{name}: {}", checked.stdout);
    }
}
