//! The shipped binary as it is shipped: alone in an image made from scratch, copied into an existing game image,
//! and in the compose files of `examples/`; and on a kernel as old as the oldest that musl supports.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};

use crate::support::docker::{
    self, CONFINED, Compose, Container, EmptyDir, GAME_IMAGE, IMAGE, WRAPPED_IMAGE, ok, state,
};
use crate::support::local_sdk::json_string;
use crate::support::wait::{poll, until};
use crate::support::{Port, client, secs};

/// A Pod in small: one network namespace with loopback alone, the local SDK server, and bzflag on port 5154.
fn pod() -> (Container, Container) {
    let sdk = Container::run(&["--network=none", "--no-healthcheck", IMAGE, "local-sdk"]);
    let game = Container::run(&[&sdk.network(), GAME_IMAGE, "/usr/games/bzfs", "-p", "5154"]);
    (sdk, game)
}

#[test]
fn the_image_holds_one_file_and_runs_as_a_number() {
    if !docker::ready() {
        return;
    }
    let config = |template| ok(&["image", "inspect", "--format", template, IMAGE]);
    assert_eq!(config("{{.Config.User}}"), "65532:65532");
    assert_eq!(config("{{json .Config.Entrypoint}}"), r#"["/agones-shim"]"#);
    assert_eq!(config("{{index .Config.Labels \"org.opencontainers.image.licenses\"}}"), "Apache-2.0");
    assert_eq!(config("{{json .Config.Healthcheck.Test}}"), r#"["CMD","/agones-shim","probe"]"#);
    assert_eq!(config("{{len .RootFS.Layers}}"), "1");
    let size: u64 = config("{{.Size}}").parse().expect("a number");
    assert!(size <= 4 << 20, "{size} bytes");
    assert!(ok(&["run", "--rm", "--network=none", IMAGE, "--version"]).starts_with("agones-shim "));
}

#[test]
fn a_confined_sidecar_says_ready_answers_probes_and_drains_on_docker_stop() {
    if !docker::ready() {
        return;
    }
    let (sdk, _game) = pod();
    let network = sdk.network();
    let mut args = vec![network.as_str(), "--health-interval=1s", "--env=AGONES_SHIM_READY_TCP=5154"];
    args.extend(CONFINED);
    args.push(IMAGE);
    let shim = Container::run(&args);
    until("state Ready", secs(60), || (state(&sdk)? == "Ready").then_some(()));

    let probe = shim.exec(&["/agones-shim", "probe"]);
    assert!(probe.status.success(), "{}", String::from_utf8_lossy(&probe.stderr));
    until("Docker's HEALTHCHECK", secs(30), || (shim.inspect("{{.State.Health.Status}}") == "healthy").then_some(()));

    let took = shim.stop(30);
    assert!(took < secs(9), "Shutdown() and its confirmation took {took:?}");
    assert_eq!(shim.exit_code(secs(1)), 0);
    assert_eq!(state(&sdk).as_deref(), Some("Shutdown"));
    assert_eq!(shim.inspect("{{.State.OOMKilled}}"), "false");
}

#[test]
fn a_probe_of_a_game_that_is_gone_fails_in_an_image_without_a_shell() {
    if !docker::ready() {
        return;
    }
    let gone = docker::docker(&["run", "--rm", "--network=none", "--env=AGONES_SHIM_READY_TCP=5154", IMAGE, "probe"]);
    assert_eq!(gone.status.code(), Some(69), "{}", String::from_utf8_lossy(&gone.stderr));
}

#[test]
fn copied_into_an_existing_image_it_is_pid_1_and_docker_stop_is_quick() {
    if !docker::ready() {
        return;
    }
    let sdk = Container::run(&["--network=none", "--no-healthcheck", IMAGE, "local-sdk"]);
    let game = Container::run(&[&sdk.network(), "--health-interval=1s", WRAPPED_IMAGE]);
    until("state Ready", secs(60), || (state(&sdk)? == "Ready").then_some(()));
    let first = game.exec(&["cat", "/proc/1/comm"]);
    assert_eq!(String::from_utf8_lossy(&first.stdout).trim(), "agones-shim");
    until("Docker's HEALTHCHECK", secs(30), || (game.inspect("{{.State.Health.Status}}") == "healthy").then_some(()));

    let took = game.stop(60);
    assert!(took < secs(12), "{took:?} of a grace of 60 s");
    assert_eq!(state(&sdk).as_deref(), Some("Shutdown"));
    // bzfs leaves with 0 or dies of the signal, as its version likes; killed by Docker it would be 137.
    let code = game.exit_code(secs(1));
    assert!(code == 0 || code == 143, "exit code {code}");
}

#[test]
fn a_game_image_that_was_never_rebuilt_starts_through_what_an_init_container_installed() {
    if !docker::ready() {
        return;
    }
    let shared = EmptyDir::new("emptydir");
    let (mut install, writable) = (vec!["run", "--rm", "--network=none"], shared.at("/shim", ""));
    install.extend(CONFINED);
    install.extend([writable.as_str(), IMAGE, "install", "/shim"]);
    assert!(ok(&install).starts_with("agones-shim: installed /shim/agones-shim ("));

    let sdk = Container::run(&["--network=none", "--no-healthcheck", IMAGE, "local-sdk"]);
    let (network, shim) = (sdk.network(), shared.at("/shim", ":ro"));
    let game = Container::run(&[
        &network,
        &shim,
        "--env=AGONES_SHIM_READY_TCP=5154",
        "--env=AGONES_SHIM_WAIT_FOR_SDK=1",
        "--entrypoint=/shim/agones-shim",
        GAME_IMAGE,
        "--",
        "sh",
        "-c",
        "echo the port outside is \"$0\"; exec /usr/games/bzfs -p 5154",
        "$(AGONES_GAMESERVER_PORT)",
    ]);
    until("state Ready", secs(60), || (state(&sdk)? == "Ready").then_some(()));
    game.wait_for_log("the port outside is 7", secs(10));
    // While it runs: an upgrade of the volume replaces the file and not the process.
    assert!(ok(&install).starts_with("agones-shim: installed /shim/agones-shim ("));
    let took = game.stop(60);
    assert!(took < secs(12), "{took:?} of a grace of 60 s");
    assert_eq!(state(&sdk).as_deref(), Some("Shutdown"));
}

#[test]
fn a_volume_that_does_not_take_the_shim_is_73() {
    if !docker::ready() {
        return;
    }
    let shared = EmptyDir::new("emptydir-ro");
    let read_only = shared.at("/shim", ":ro");
    for (mount, wanted) in [
        ("--tmpfs=/shim:noexec,mode=1777", "it is mounted noexec"),
        ("--tmpfs=/shim:exec,mode=1777,size=1m", "there is no room for 4 MiB"),
        ("--tmpfs=/shim:exec,mode=0755", "it belongs to user 0, and this runs as user 65532"),
        (read_only.as_str(), "mount it without readOnly in this container"),
    ] {
        let refused =
            docker::docker(&["run", "--rm", "--network=none", "--read-only", mount, IMAGE, "install", "/shim"]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(73) && said.contains(wanted), "{mount}: {} {said}", refused.status);
    }
}

#[test]
fn exit_codes_come_through_an_existing_image() {
    if !docker::ready() {
        return;
    }
    for (command, code) in [
        (&["sh", "-c", "exit 0"] as &[&str], 0),
        (&["sh", "-c", "exit 3"], 3),
        (&["sh", "-c", "kill -9 $$"], 137),
        (&["sh", "-c", "kill -11 $$"], 139),
        (&["/nonexistent"], 127),
        (&["/etc"], 126),
    ] {
        let mut args = vec!["--network=none", "--env=AGONES_SHIM_SDK=off", WRAPPED_IMAGE];
        args.extend(command);
        assert_eq!(Container::run(&args).exit_code(secs(30)), code, "{command:?}");
    }
}

#[test]
fn the_compose_example_runs_game_shim_and_local_sdk() {
    if !docker::ready() {
        return;
    }
    let (game_port, sdk_port) = (Port::reserve(), Port::reserve());
    let (game_number, sdk_number) = (game_port.number(), sdk_port.number());
    // Docker binds them itself.
    drop((game_port, sdk_port));
    let compose = Compose::of(
        "examples/compose.yaml",
        &[
            ("GAME_IMAGE", GAME_IMAGE),
            ("AGONES_SHIM_IMAGE", IMAGE),
            ("GAME_PORT", &game_number.to_string()),
            ("SDK_HTTP_PORT", &sdk_number.to_string()),
        ],
    );
    compose.ok(&["up", "--detach"]);
    let sdk = SocketAddr::from((Ipv4Addr::LOCALHOST, sdk_number));
    let state = || json_string(&client::get(sdk, "/gameserver", secs(2)).ok()?.body, "state");
    until("state Ready through the published port", secs(60), || (state()? == "Ready").then_some(()));
    client::post(sdk, "/local/allocate", "", secs(5)).expect("the local SDK server answers");
    until("state Allocated", secs(10), || (state()? == "Allocated").then_some(()));

    // All of it at once, as the file says: whether it drained, only the SDK server knows.
    compose.ok(&["stop"]);
    let log = compose.ok(&["logs", "sdk"]);
    assert!(log.contains("-> Shutdown"), "{log}");
    let log = compose.ok(&["logs", "shim"]);
    assert!(log.contains("Shutdown() has landed"), "{log}");
}

#[test]
fn the_compose_example_without_agones_runs_and_stops() {
    if !docker::ready() {
        return;
    }
    let port = Port::reserve();
    let number = port.number().to_string();
    drop(port);
    let compose =
        Compose::of("examples/compose-without-agones.yaml", &[("GAME_IMAGE", WRAPPED_IMAGE), ("GAME_PORT", &number)]);
    compose.ok(&["up", "--detach"]);
    let id = compose.ok(&["ps", "--quiet", "game"]);
    let health = || ok(&["inspect", "--format", "{{.State.Health.Status}}", &id]);
    until("healthy by agones-shim probe", secs(60), || (health() == "healthy").then_some(()));
    compose.ok(&["stop"]);
    let code = ok(&["inspect", "--format", "{{.State.ExitCode}}", &id]);
    assert!(code == "0" || code == "143", "exit code {code}");
}

#[test]
fn a_release_has_the_same_bytes_twice_and_its_image_is_that_of_make_image() {
    if !docker::ready() {
        return;
    }
    // As `make static` leaves it: the binary with its notices and its bill of materials, in a directory of its target.
    let binary = crate::support::shim::binary();
    let target = binary.parent().expect("a directory");
    if !target.join("THIRD-PARTY.txt").exists() || !target.ends_with("x86_64-unknown-linux-musl") {
        eprintln!("skipped: SHIM_UNDER_TEST is not where make static puts it");
        return;
    }
    let out = EmptyDir::new("release");
    let release = || {
        let mut command = std::process::Command::new(docker::in_repository(".ci/release.sh"));
        command
            .env("ARCHES", "x86_64")
            .env("STATIC_DIR", target.parent().expect("a directory"))
            .env("RELEASE_DIR", out.path());
        let made = command.output().expect("bash is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::read_to_string(out.path().join("SHA256SUMS")).expect("it was made")
    };
    let sums = release();
    assert_eq!(sums, release());
    assert_eq!(sums.lines().count(), 3, "an archive, an OCI layout, an image for engines that do not load one: {sums}");
    let version = env!("CARGO_PKG_VERSION");
    let archive = out.path().join(format!("agones-shim-{version}-docker-amd64.tar.gz"));
    let image = format!("agones-shim:{version}");
    ok(&["load", "--quiet", "--input", archive.to_str().expect("it is text")]);
    let said = ok(&["run", "--rm", "--network=none", &image, "--version"]);
    let config = |image: &str| {
        ok(&["image", "inspect", "--format", "{{.Config.User}} {{.Config.Entrypoint}} {{.Config.Healthcheck}}", image])
    };
    let (released, built) = (config(&image), config(IMAGE));
    ok(&["rmi", &image]);
    assert_eq!((said, released), (format!("agones-shim {version}"), built));
}

/// System calls that Linux 4.4 does not have, as a seccomp profile that answers as that kernel would.
const NEWER_THAN_LINUX_4_4: &str = r#"{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":[
    "copy_file_range","preadv2","pwritev2","pkey_mprotect","pkey_alloc","pkey_free","statx","io_pgetevents","rseq",
    "pidfd_send_signal","io_uring_setup","io_uring_enter","io_uring_register","open_tree","move_mount","fsopen",
    "fsconfig","fsmount","fspick","pidfd_open","clone3","close_range","openat2","pidfd_getfd","faccessat2",
    "process_madvise","epoll_pwait2","mount_setattr","landlock_create_ruleset","landlock_add_rule",
    "landlock_restrict_self","memfd_secret","process_mrelease","futex_waitv","set_mempolicy_home_node"],
    "action":"SCMP_ACT_ERRNO","errnoRet":38}]}"#;

#[test]
fn no_system_call_newer_than_linux_4_4_is_needed() {
    if !docker::ready() {
        return;
    }
    let profile = docker::temp_file("seccomp.json", NEWER_THAN_LINUX_4_4);
    let old_kernel = format!("--security-opt=seccomp={}", profile.display());
    let sdk = Container::run(&["--network=none", "--no-healthcheck", &old_kernel, IMAGE, "local-sdk"]);
    let game = Container::run(&[&sdk.network(), &old_kernel, WRAPPED_IMAGE]);
    let ready = poll(secs(60), || (state(&sdk)? == "Ready").then_some(()));
    fs::remove_file(profile).expect("it was written above");
    assert!(ready.is_some(), "not Ready\n{}\n{}", game.logs(), sdk.logs());
    game.stop(60);
    assert_eq!(state(&sdk).as_deref(), Some("Shutdown"));
}
