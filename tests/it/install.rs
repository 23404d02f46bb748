//! `agones-shim install DIR`: the copy, and the directories that do not take it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use nix::sys::signal::Signal;

use crate::support::Scratch;
use crate::support::shim::{Builder, Finished, binary};
use crate::support::{secs, shim};

fn install(directory: &Path, behind: &[&str]) -> Finished {
    shim().arg("install").arg(directory).behind(behind).run(secs(60))
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("it is there");
    names.map(|entry| entry.expect("it can be listed").file_name().into_string().expect("it is text")).collect()
}

#[test]
fn it_copies_itself_whole_and_executable_whatever_the_umask_is() {
    let scratch = Scratch::new("install");
    let done = install(scratch.directory(), &["sh", "-c", "umask 077; exec \"$@\"", "sh"]);
    let target = scratch.directory().join("agones-shim");
    let own = fs::read(binary()).expect("the binary under test");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(done.stdout, format!("agones-shim: installed {} ({} bytes)\n", target.display(), own.len()));
    assert!(fs::read(&target).expect("installed") == own, "the same bytes");
    assert_eq!(fs::metadata(&target).expect("installed").mode() & 0o7777, 0o755);
    let other = shim().args(["install", "--name", "init"]).arg(scratch.directory()).run(secs(60));
    assert_eq!(other.code, 0, "{}", other.stderr);
    let mut found = names(scratch.directory());
    found.sort();
    assert_eq!(found, ["agones-shim", "init"], "and nothing else is left");
    // The copy is a shim, and can install itself.
    let again = Builder::of(scratch.directory().join("init")).arg("install").arg(scratch.directory()).run(secs(60));
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
}

#[test]
fn an_older_copy_that_is_running_is_replaced_and_runs_on() {
    let scratch = Scratch::new("install-busy");
    assert_eq!(install(scratch.directory(), &[]).code, 0);
    let target = scratch.directory().join("agones-shim");
    let mut running = Builder::of(&target).set("READY_TCP", 1).set("SDK", "off").spawn();
    running.wait_for_line("waiting", secs(10));
    let before = fs::metadata(&target).expect("installed").ino();
    let again = install(scratch.directory(), &[]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    assert_ne!(fs::metadata(&target).expect("installed").ino(), before, "another file under the same name");
    assert!(running.is_running());
    running.signal(Signal::SIGTERM);
    running.expect_code(0, secs(10));
}

/// In a mount namespace of its own, with a tmpfs of these options in the place of the directory.
fn on_tmpfs(directory: &Path, options: &str) -> Option<Finished> {
    let probe = Builder::of("/usr/bin/unshare").args(["--mount", "true"]).run(secs(10));
    if probe.code != 0 {
        eprintln!("skipped: no mount namespaces here");
        return None;
    }
    let script = format!("mount -t tmpfs -o {options} none {} && exec \"$@\"", directory.display());
    Some(install(directory, &["unshare", "--mount", "sh", "-c", &script, "sh"]))
}

#[test]
fn a_directory_that_does_not_take_it_is_73_and_says_why() {
    let scratch = Scratch::new("install-refused");
    let target = scratch.directory().join("agones-shim");
    for (options, wanted) in [
        ("noexec", "nothing can be executed there: it is mounted noexec (mount another volume)"),
        (
            "ro",
            "Read-only file system (os error 30): mount it without readOnly in this container, the game's may have it so",
        ),
        (
            "size=64k",
            "No space left on device (os error 28): there is no room for 4 MiB (raise the volume's sizeLimit)",
        ),
    ] {
        let Some(refused) = on_tmpfs(scratch.directory(), options) else { return };
        assert_eq!((refused.code, refused.stdout.as_str()), (73, ""), "{options}");
        assert_eq!(refused.stderr, format!("agones-shim: install: {}: {wanted}\n", target.display()), "{options}");
    }
    fs::set_permissions(scratch.directory(), Permissions::from_mode(0o755)).expect("it is ours");
    let owner = fs::metadata(scratch.directory()).expect("it is there").uid();
    if owner == 0 {
        // The binary itself may be where only root can read: a copy is started.
        let copy = Scratch::new("install-from");
        fs::set_permissions(copy.directory(), Permissions::from_mode(0o755)).expect("it is ours");
        assert_eq!(install(copy.directory(), &[]).code, 0);
        let foreign = Builder::of(copy.directory().join("agones-shim")).arg("install").arg(scratch.directory());
        let foreign = foreign.behind(["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups"]).run(secs(60));
        let wanted = "Permission denied (os error 13): it belongs to user 0, and this runs as user 65532 (write runAsUser: 0, or fsGroup, into the securityContext)";
        assert_eq!(
            (foreign.code, foreign.stderr),
            (73, format!("agones-shim: install: {}: {wanted}\n", target.display()))
        );
    }
    assert_eq!(names(scratch.directory()), Vec::<String>::new(), "no draft is left");
    fs::create_dir(&target).expect("it is ours");
    let refused = install(scratch.directory(), &[]);
    assert!(refused.code == 73 && refused.stderr.contains("Is a directory"), "{refused:?}");
    let missing = install(&scratch.directory().join("missing"), &[]);
    assert!(missing.code == 73 && missing.stderr.contains("is no directory (mount the volume there)"), "{missing:?}");
}

#[test]
fn words_that_make_no_sense_are_64() {
    for (args, wanted) in [
        (&["install"][..], "install needs a directory (write agones-shim install DIR)"),
        (&["install", "/a", "/b"], "install takes no further argument, but was given \"/b\""),
        (&["install", "/a", "--name", "../b"], "install: --name \"../b\" is no name of a file (write agones-shim)"),
        (&["install", "/a", "--name"], "--name needs a value behind it (--help shows which)"),
        (&["install", "/a", "--nmae", "x"], "unknown option --nmae (did you mean --name?)"),
    ] {
        let finished = shim().args(args).run(secs(10));
        assert_eq!((finished.code, finished.stderr), (64, format!("agones-shim: {wanted}\n")), "{args:?}");
    }
}
