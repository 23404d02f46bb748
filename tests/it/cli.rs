//! Arguments and environment of the real binary: what is printed where, and the exit code.
//!
//! Each message is asserted in full beside the code that makes it; here it is seen to arrive.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use agones_shim::testing::help;
use nix::sys::signal::Signal;

use crate::support::{secs, shim};

#[test]
fn help_and_version_go_to_stdout() {
    for (arg, wanted) in [
        ("--help", help::all()),
        ("-h", help::short()),
        ("--version", help::version()),
        ("-V", format!("agones-shim {}\n", env!("CARGO_PKG_VERSION"))),
    ] {
        let finished = shim().arg(arg).run(secs(10));
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{arg}");
        assert_eq!(finished.stdout, wanted, "{arg}");
    }
}

#[test]
fn help_into_a_closed_stdout_is_no_panic() {
    let finished = shim().arg("--help").behind(["sh", "-c", r#"exec "$@" >&-"#, "sh"]).run(secs(10));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
}

#[test]
fn a_bad_argument_is_one_line_and_64() {
    for (args, message) in [
        (
            vec!["--"],
            "-- without a program (write agones-shim -- PROGRAM ARG...; an ENTRYPOINT in a Dockerfile drops the CMD of the image below: write its words out)",
        ),
        (vec!["./server"], r#"unknown command "./server" (to run it as the game, write agones-shim -- ./server)"#),
        (vec!["--hepl"], "unknown option --hepl (did you mean --help?)"),
        (vec!["check", "now"], r#"check takes no further argument, but was given "now""#),
        (vec!["sdk", "raedy"], r#"sdk: unknown call "raedy" (write ready)"#),
    ] {
        // A readiness probe, so that nothing but the argument is wrong.
        let finished = shim().args(&args).set("READY_TCP", 1).run(secs(10));
        assert_eq!((finished.code, finished.stdout.as_str()), (64, ""), "{args:?}");
        assert_eq!(finished.stderr, format!("agones-shim: {message}\n"));
    }
}

#[test]
fn every_error_of_the_environment_comes_at_once_with_78() {
    let wanted = concat!(
        "agones-shim: AGONES_SHIM_READY_TCP: \"::1:8085\" is not a port or host:port (write [::1]:8085)\n",
        "agones-shim: AGONES_SHIM_PROBE_TIMEOUT_SECS: \"5s\" is not a number of seconds (write 5)\n",
        "agones-shim: AGONES_SDK_GRPC_PORT: \"x\" is not a port (write a number from 1 to 65535)\n",
        "agones-shim: AGONES_SHIM_LOG: \"\u{fffd}\" is not UTF-8 text\n",
        "agones-shim: warning: AGONES_SHIM_REDAY_TCP: is not a setting (did you mean AGONES_SHIM_READY_TCP?)\n",
    );
    for args in [vec![], vec!["check"], vec!["--", "/proc/self/exe", "--help"]] {
        let finished = shim()
            .args(&args)
            .set("READY_TCP", "::1:8085")
            .set("REDAY_TCP", "8085")
            .set("PROBE_TIMEOUT_SECS", "5s")
            .var("AGONES_SDK_GRPC_PORT", "x")
            .var("AGONES_SHIM_LOG", OsStr::from_bytes(b"\xff"))
            .run(secs(10));
        // Of the wrapper's child too there would be something on stdout.
        assert_eq!((finished.code, finished.stdout.as_str()), (78, ""), "{args:?}");
        assert_eq!(finished.stderr, wanted, "{args:?}");
    }
}

#[test]
fn check_prints_what_is_resolved() {
    let finished =
        shim().args(&["check", "--all"]).set("READY_TCP", 7777).set("COUNTER_INTERVAL_SECS", "0.5").run(secs(10));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    for line in [
        "AGONES_SHIM_READY_TCP=7777 (set)",
        "AGONES_SHIM_COUNTER_INTERVAL_SECS=0.5 (set)",
        "AGONES_SHIM_PROBE_TIMEOUT_SECS=2 (default)",
        "liveness: the readiness set",
    ] {
        assert!(finished.stdout.lines().any(|found| found == line), "{line}: {}", finished.stdout);
    }
}

#[test]
fn a_misspelt_name_is_logged_and_what_kubernetes_injects_is_not() {
    let mut shim = shim()
        .without_sdk()
        .set("READY_TCP", 1)
        .set("LIVENES_TCP", 1)
        .set("PORT", "tcp://10.0.0.1:80")
        .set("SERVICE_HOST", "10.0.0.1")
        .set("PORT_80_TCP_ADDR", "10.0.0.1")
        .spawn();
    shim.wait_for_line("AGONES_SHIM_LIVENES_TCP: is not a setting (did you mean AGONES_SHIM_LIVE_TCP?)", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(20));
    assert_eq!(shim.count_lines("is not a setting"), 1);
}
