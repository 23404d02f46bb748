//! A game with a console in a container that was never built for the shim: on the container's terminal and on one of its
//! own, typed to by `docker attach`, behind and in front of an entrypoint that gives up root, and with nothing to write to.
//!
//! What counts is the file that it saves, and what the SDK server says in the end.

use std::fs;

use crate::scene::SOON;
use crate::support::docker::{self, CONFINED, Container, EmptyDir, GAME_IMAGE, IMAGE, ok, state};
use crate::support::pty::{INTERRUPT, Terminal};
use crate::support::{secs, wait};

/// What detaches `docker attach`: Ctrl-P Ctrl-Q.
const DETACH: &str = "\x10\x11";
/// Of `docker stop`.
const GRACE: u32 = 60;

/// Saves for a second on `save`, and on nothing else.
const GAME: &str = r#"trap 'echo TERM >>/save/world' TERM; echo "uid $(id -u), the shim is $(cat /proc/$PPID/comm), $PPID"
if test -t 0 && test -t 1 && test -t 2; then echo "a terminal of $(stty size)"; fi
printf 'Server is '; sleep 0.2; echo up
while read -r line; do
    printf 'got %s\n' "$line"
    case $line in
        save) sleep 1; echo saved >>/save/world; exit 0 ;;
        size) stty size ;;
    esac
done
echo EOF; sleep 60"#;

/// A game in a container that has the shim from an init container, its SDK server, and what it saves.
struct Pod {
    sdk: Container,
    game: Container,
    save: EmptyDir,
    _shim: EmptyDir,
}

impl Pod {
    /// `docker run` with these options and settings; `command` begins with the entrypoint, and `GAME` is in the environment.
    fn new(name: &str, options: &[&str], command: &[&str]) -> Self {
        let (shim, save) = (EmptyDir::new(&format!("{name}-shim")), EmptyDir::new(&format!("{name}-save")));
        let mut install = vec!["run", "--rm", "--network=none"];
        let writable = shim.at("/shim", "");
        install.extend(CONFINED);
        install.extend([writable.as_str(), IMAGE, "install", "/shim"]);
        ok(&install);
        let sdk = Container::run(&["--network=none", "--no-healthcheck", IMAGE, "local-sdk"]);
        let (network, mounted, saved) = (sdk.network(), shim.at("/shim", ":ro"), save.at("/save", ""));
        let (entrypoint, game) = (format!("--entrypoint={}", command[0]), format!("--env=GAME={GAME}"));
        let mut args = vec![network.as_str(), &mounted, &saved, &entrypoint, &game, "--env=AGONES_SHIM_STOP_LINE=save"];
        args.extend(options);
        args.push(GAME_IMAGE);
        args.extend(&command[1..]);
        let game = Container::run(&args);
        Self { sdk, game, save, _shim: shim }
    }

    fn wait_for_ready(&self) {
        wait::until("state Ready", secs(60), || (state(&self.sdk)? == "Ready").then_some(()));
    }

    /// Ready, stopped, saved, and told to Agones.
    #[track_caller]
    fn stops_saved(&self) {
        self.wait_for_ready();
        let took = self.game.stop(GRACE);
        assert!(took < secs(30), "{took:?} of a grace of {GRACE} s");
        assert_eq!((self.game.exit_code(secs(1)), self.world()), (0, "saved\n".to_owned()), "{}", self.game.logs());
        assert_eq!(state(&self.sdk).as_deref(), Some("Shutdown"));
        assert!(!self.game.logs().contains("EOF"), "{}", self.game.logs());
    }

    fn world(&self) -> String {
        fs::read_to_string(self.save.path().join("world")).unwrap_or_default()
    }
}

const SHIM: [&str; 5] = ["/shim/agones-shim", "--", "sh", "-c", GAME];

#[test]
fn as_pid_1_on_a_terminal_that_nobody_is_attached_to_it_is_ready_by_its_lines_and_saves() {
    if !docker::ready() {
        return;
    }
    for (number, (terminal, tty, ready)) in [
        (&["--tty"][..], "1", "READY_TEXT=Server is up"),
        (&["--tty", "--interactive"], "1", "READY_LOG=^Server is up$"),
        (&["--tty"], "0", "READY_LOG=^Server is up$"),
        (&[], "1", "READY_TEXT=Server is up"),
        (&["--interactive"], "1", "READY_LOG=^Server is up$"),
    ]
    .into_iter()
    .enumerate()
    {
        let (tty, ready) = (format!("--env=AGONES_SHIM_TTY={tty}"), format!("--env=AGONES_SHIM_{ready}"));
        let pod = Pod::new(&format!("tty-{number}"), &[terminal, &[&tty, &ready]].concat(), &SHIM);
        pod.stops_saved();
        let log = pod.game.logs();
        // A terminal that has no size yet, or never gets one.
        assert!(log.contains("a terminal of 50 200") && log.contains("the shim is agones-shim, 1"), "{log}");
    }
}

#[test]
fn what_is_typed_into_docker_attach_is_the_game_s_and_so_is_the_size_of_the_window() {
    if !docker::ready() {
        return;
    }
    let options = ["--tty", "--interactive", "--env=AGONES_SHIM_TTY=1", "--env=AGONES_SHIM_READY_TEXT=Server is up"];
    let pod = Pod::new("attach", &options, &SHIM);
    pod.wait_for_ready();
    let attach = || Terminal::start(["docker", "attach", pod.game.name()], &[]);
    let mut terminal = attach();
    // The client is attached once it has told the container the size of its window.
    wait::until_true("an attached client", secs(30), || {
        terminal.type_in("size\n");
        terminal.shows("24 80", secs(1))
    });
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", SOON);
    terminal.type_in(DETACH);
    terminal.expect_exit(SOON);
    assert_eq!(pod.game.inspect("{{.State.Running}}"), "true", "a client that leaves takes nothing with it");
    pod.game.wait_for_log("got hello", SOON);

    let mut terminal = attach();
    wait::until_true("an attached client", secs(30), || {
        terminal.type_in("again\n");
        terminal.shows("got again", secs(1))
    });
    // Ctrl-C is the game's, which has no handler: as without the shim, and Agones hears of it.
    terminal.type_in(INTERRUPT);
    assert_eq!(pod.game.exit_code(secs(30)), 130, "{}", pod.game.logs());
    assert_eq!(state(&pod.sdk).as_deref(), Some("Shutdown"));
}

/// What gosu and su-exec do, by a program that each Debian has.
const GIVE_UP_ROOT: &str = "exec setpriv --reuid=1000 --regid=1000 --clear-groups";

#[test]
fn an_entrypoint_that_gives_up_root_may_stand_before_the_shim_and_behind_it() {
    if !docker::ready() {
        return;
    }
    let ready = "--env=AGONES_SHIM_READY_TEXT=Server is up";
    let before = format!(r#"{GIVE_UP_ROOT} /shim/agones-shim -- sh -c "$GAME""#);
    let behind = format!(r#"{GIVE_UP_ROOT} sh -c "$GAME""#);
    for (number, (options, command, who)) in [
        // Docker's own init is PID 1: the shim is an ordinary process.
        (&["--init"][..], &["sh", "-c", &before][..], "uid 1000, the shim is agones-shim, "),
        (&[], &["sh", "-c", &before], "uid 1000, the shim is agones-shim, 1"),
        (&["--init"], &["/shim/agones-shim", "--", "sh", "-c", &behind], "uid 1000, the shim is agones-shim, "),
        (&[], &["/shim/agones-shim", "--", "sh", "-c", &behind], "uid 1000, the shim is agones-shim, 1"),
    ]
    .into_iter()
    .enumerate()
    {
        let pod = Pod::new(&format!("gosu-{number}"), &[&[ready, "--read-only"], options].concat(), command);
        pod.stops_saved();
        let log = pod.game.logs();
        assert!(log.contains(who), "{log}");
        let is_pid_1 = log.lines().any(|line| line.ends_with("the shim is agones-shim, 1"));
        assert_eq!(is_pid_1, options.is_empty(), "{log}");
    }
}

#[test]
fn it_needs_neither_root_nor_a_capability_nor_a_file_to_write_to() {
    if !docker::ready() {
        return;
    }
    let mut options = vec!["--user=1000:1000", "--env=AGONES_SHIM_READY_TEXT=Server is up", "--env=AGONES_SHIM_TTY=1"];
    options.extend(CONFINED);
    let pod = Pod::new("confined", &options, &SHIM);
    pod.stops_saved();
    let log = pod.game.logs();
    assert!(log.contains("uid 1000, the shim is agones-shim, 1") && log.contains("a terminal of 50 200"), "{log}");
}
