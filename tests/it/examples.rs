//! What `examples/` shows works: every manifest parses, its variables pass `agones-shim check` without a warning,
//! its GameServer is one that the local SDK server understands, and what belongs together agrees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agones_shim::testing::manifest::yaml::{self, Node, Value};

use crate::support::shim::Builder;
use crate::support::{secs, shim};

pub type Vars = BTreeMap<String, String>;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn text(file: &str) -> String {
    fs::read_to_string(examples().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn names(ending: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(examples())
        .expect("there are examples")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("it is text"))
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    names
}

fn document(file: &str) -> Node {
    let mut documents = yaml::documents(&text(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(documents.len(), 1, "{file}");
    documents.remove(0)
}

/// The node at a path of keys and list positions, `spec/template/0`.
fn at<'a>(node: &'a Node, path: &str) -> Option<&'a Node> {
    path.split('/').try_fold(node, |node, step| match &node.value {
        Value::Map(entries) => entries.iter().find(|(key, _)| key == step).map(|(_, value)| value),
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        Value::Plain(_) | Value::Quoted(_) => None,
    })
}

fn scalar(node: Option<&Node>) -> Option<&str> {
    match &node?.value {
        Value::Plain(text) | Value::Quoted(text) => Some(text),
        Value::List(_) | Value::Map(_) => None,
    }
}

fn word(node: &Node, path: &str) -> String {
    scalar(at(node, path)).unwrap_or_else(|| panic!("no {path}")).to_owned()
}

fn number(node: &Node, path: &str) -> i64 {
    word(node, path).parse().unwrap_or_else(|_| panic!("{path} is no number"))
}

/// The variables of each container: Kubernetes' `env`, compose's `environment`.
pub fn environments(node: &Node, found: &mut Vec<Vars>) {
    match &node.value {
        Value::Plain(_) | Value::Quoted(_) => {}
        Value::List(items) => items.iter().for_each(|item| environments(item, found)),
        Value::Map(entries) => {
            for (key, value) in entries {
                match (key.as_str(), &value.value) {
                    ("env", Value::List(items)) => {
                        found.push(items.iter().map(|item| (word(item, "name"), word(item, "value"))).collect());
                    }
                    ("environment", Value::Map(entries)) => {
                        let text = |value| scalar(Some(value)).expect("a value").to_owned();
                        found.push(entries.iter().map(|(name, value)| (name.clone(), text(value))).collect());
                    }
                    _ => environments(value, found),
                }
            }
        }
    }
}

/// Every set of variables in the examples, with the file that it is from.
fn all_environments() -> Vec<(String, Vars)> {
    let mut all = Vec::new();
    for file in names(".yaml") {
        let mut found = Vec::new();
        environments(&document(&file), &mut found);
        all.extend(found.into_iter().map(|vars| (file.clone(), vars)));
    }
    for (file, prefix) in [("my-game.service", "Environment="), ("Dockerfile.game", "ENV ")] {
        let vars: Vars = text(file)
            .lines()
            .filter_map(|line| line.strip_prefix(prefix)?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        all.push((file.to_owned(), vars));
    }
    all
}

#[test]
fn every_set_of_variables_passes_check_without_a_warning() {
    let all = all_environments();
    assert!(all.len() >= 7, "three Fleets, two compose files, a unit and a Dockerfile: {}", all.len());
    for (file, vars) in all {
        assert!(!vars.is_empty(), "{file} sets nothing");
        let builder =
            vars.iter().fold(shim().unset("AGONES_SHIM_LOG_FORMAT").arg("check"), |builder, (name, value)| {
                builder.var(name, value)
            });
        let checked = builder.run(secs(20));
        assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{file}: {vars:?}");
        assert!(!checked.stdout.contains("warning:"), "{file}: {}", checked.stdout);
    }
}

#[test]
fn a_misspelt_variable_would_be_seen() {
    // A negative control for the test above.
    let checked = shim().var("AGONES_SHIM_READY_TPC", "1").var("AGONES_SHIM_READY_TCP", "1").arg("check").run(secs(20));
    assert!(checked.stdout.contains("warning: AGONES_SHIM_READY_TPC"), "{}", checked.stdout);
}

#[test]
fn the_local_sdk_server_understands_every_fleet() {
    for file in names(".yaml").iter().filter(|name| name.starts_with("fleet-")) {
        let path = examples().join(file);
        let shown = shim().args(["local-sdk", "-f"]).arg(&path).arg("--print-gameserver").run(secs(20));
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{file}");
        assert!(shown.stdout.contains("players"), "{file}: {}", shown.stdout);
        assert!(shown.stdout.contains("16"), "{file}: {}", shown.stdout);
    }
}

#[test]
fn fleets_and_autoscaler_agree() {
    let scaler = document("fleetautoscaler.yaml");
    let (fleet_name, key) = (word(&scaler, "spec/fleetName"), word(&scaler, "spec/policy/counter/key"));
    let buffer = number(&scaler, "spec/policy/counter/bufferSize");
    let least = number(&scaler, "spec/policy/counter/minCapacity");
    // Agones refuses any other order.
    assert!(buffer <= least && least < number(&scaler, "spec/policy/counter/maxCapacity"));

    for file in [
        "fleet-wrapper.yaml",
        "fleet-sidecar.yaml",
        "fleet-native-sidecar.yaml",
        "fleet-server-browser.yaml",
        "fleet-install.yaml",
        "fleet-image-volume.yaml",
    ] {
        let fleet = document(file);
        assert_eq!(word(&fleet, "kind"), "Fleet", "{file}");
        assert_eq!(word(&fleet, "metadata/name"), fleet_name, "{file}");
        assert_eq!(number(&fleet, &format!("spec/template/spec/counters/{key}/capacity")), 16, "{file}");
        let mut found = Vec::new();
        environments(&fleet, &mut found);
        assert_eq!(found.len(), 1, "{file}: one container is the shim");
        assert_eq!(found[0]["AGONES_SHIM_COUNTER_NAME"], key, "{file}");
        // What alerts, dashboard and `status` need, and an end for a server whose port is wrong.
        assert_eq!(found[0]["AGONES_SHIM_STATUS_ADDR"], "0.0.0.0:9360", "{file}");
        assert!(found[0]["AGONES_SHIM_READY_TIMEOUT_SECS"].parse::<u32>().is_ok_and(|secs| secs >= 300), "{file}");
        // Two containers, or one beside an init container that stays: Agones must be told which is the game.
        let pod = "spec/template/spec/template/spec";
        let stays = at(&fleet, &format!("{pod}/initContainers/0/restartPolicy"));
        let several = at(&fleet, &format!("{pod}/containers/1")).or(stays);
        let named = scalar(at(&fleet, "spec/template/spec/container"));
        assert_eq!(named, several.map(|_| "game"), "{file}");
    }
    assert_eq!(
        scalar(at(
            &document("fleet-native-sidecar.yaml"),
            "spec/template/spec/template/spec/initContainers/0/restartPolicy"
        )),
        Some("Always"),
        "without it, the Pod would wait for the shim's end before it starts the game"
    );
}

#[test]
fn the_pod_monitor_finds_the_status_endpoint_of_every_fleet() {
    let monitor = document("podmonitor.yaml");
    assert_eq!(word(&monitor, "kind"), "PodMonitor");
    let wanted = word(&monitor, "spec/selector/matchLabels/app");
    let port = word(&monitor, "spec/podMetricsEndpoints/0/port");
    assert_eq!(word(&monitor, "spec/podMetricsEndpoints/0/path"), "/metrics");
    for file in names(".yaml").iter().filter(|name| name.starts_with("fleet-")) {
        let fleet = document(file);
        let pod = "spec/template/spec/template";
        assert_eq!(word(&fleet, &format!("{pod}/metadata/labels/app")), wanted, "{file}");
        let places = ["containers/0", "containers/1", "initContainers/0"];
        let ports = places.iter().filter_map(|place| at(&fleet, &format!("{pod}/spec/{place}/ports/0")));
        let ports: Vec<_> = ports.map(|port| (word(port, "name"), number(port, "containerPort"))).collect();
        assert_eq!(ports, [(port.clone(), 9360)], "{file}");
    }
}

#[test]
fn each_pattern_of_allocation_has_a_manifest_with_its_settings() {
    let page = fs::read_to_string(examples().join("../docs/allocation.md")).expect("the page is there");
    let on_players = Some("1");
    for (file, allocate, empty_ready) in [
        ("fleet-wrapper.yaml", None, None),
        ("fleet-server-browser.yaml", on_players, Some("600")),
        ("fleet-persistent-world.yaml", on_players, Some("60")),
    ] {
        assert!(page.contains(&format!("](../examples/{file})")), "{file}");
        let fleet = document(file);
        let mut found = Vec::new();
        environments(&fleet, &mut found);
        let value = |name: &str| found[0].get(name).map(String::as_str);
        assert_eq!(value("AGONES_SHIM_ALLOCATE_ON_PLAYERS"), allocate, "{file}");
        assert_eq!(value("AGONES_SHIM_EMPTY_READY_SECS"), empty_ready, "{file}");
        let row = |name: &str| page.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect("a row");
        assert!(empty_ready.is_none_or(|time| row("AGONES_SHIM_EMPTY_READY_SECS").contains(&format!("`{time}`"))));
        // A player waits for the next reading until a Fleet spares the server.
        let interval = value("AGONES_SHIM_COUNTER_INTERVAL_SECS").map(|text| text.parse::<u32>().expect("seconds"));
        assert!(allocate.is_none() || interval.is_some_and(|interval| interval <= 5), "{file}: {interval:?}");
    }
    let world = document("fleet-persistent-world.yaml");
    assert_eq!((number(&world, "spec/replicas"), word(&world, "spec/strategy/type").as_str()), (1, "Recreate"));
}

#[test]
fn every_link_of_the_page_about_allocation_leads_somewhere() {
    let docs = examples().join("../docs");
    let page = fs::read_to_string(docs.join("allocation.md")).expect("the page is there");
    let targets: Vec<&str> =
        page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to).collect();
    assert!(targets.len() >= 4, "{targets:?}");
    for target in targets {
        assert!(docs.join(target).exists(), "{target}");
    }
}

#[test]
fn a_stop_of_compose_ends_the_shim_before_what_it_talks_to() {
    let compose = document("compose.yaml");
    assert_eq!(word(&compose, "services/shim/depends_on/0"), "sdk");
    let grace = word(&compose, "services/shim/stop_grace_period");
    assert_eq!(grace, "30s");
    let ports = text("compose.yaml").matches(":5154").count();
    assert!(text("compose.yaml").contains(":5154/udp"), "most games speak UDP: {ports}");
}

#[test]
fn systemd_is_happy_with_the_unit() {
    let verify = Path::new("/usr/bin/systemd-analyze");
    if !verify.exists() {
        assert!(std::env::var_os("CI").is_none(), "CI has no systemd-analyze");
        eprintln!("skipped: no systemd-analyze here");
        return;
    }
    // It looks for the programs, which are not installed here; the rest stays as it is.
    let unit = text("my-game.service").replace("/usr/local/bin/agones-shim", "/bin/true");
    let dir = std::env::temp_dir().join(format!("agones-shim-unit-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("the temporary directory can be written");
    let path = dir.join("my-game.service");
    fs::write(&path, &unit).expect("it can be written");
    let verified = Builder::of(verify).arg("verify").arg(&path).run(secs(60));
    fs::write(&path, unit.replace("KillMode=mixed", "KillMod=mixed")).expect("it can be written");
    let control = Builder::of(verify).arg("verify").arg(&path).run(secs(60));
    fs::remove_dir_all(&dir).expect("it was made above");
    assert_eq!((verified.code, verified.stderr.as_str()), (0, ""));
    assert!(control.stderr.contains("KillMod"), "a wrong line would be seen: {}", control.stderr);
}

#[test]
fn the_unit_is_patient_enough() {
    let unit = text("my-game.service");
    let value = |key: &str| {
        unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap_or_else(|| panic!("no {key}"))
    };
    let readme = value("Documentation").strip_prefix("file://").expect("a file");
    assert!(unit.contains(&format!("README.md {readme}\n")), "no line installs {readme}");
    assert_eq!(value("EnvironmentFile"), "-/etc/my-game.env");
    assert_eq!(value("Type"), "notify");
    assert_eq!(value("TimeoutStartSec"), "infinity");
    assert_eq!(value("KillMode"), "mixed");
    assert_eq!(value("SuccessExitStatus"), "143");
    let seconds = |key| value(key).trim_end_matches('s').parse::<u32>().expect("seconds");
    // (threshold + 1) x interval at the defaults, and hook + save + Shutdown.
    assert!(seconds("WatchdogSec") > 4 * 5, "{}", seconds("WatchdogSec"));
    assert!(seconds("TimeoutStopSec") > 5 + 60 + 8, "{}", seconds("TimeoutStopSec"));
}

#[test]
fn the_readme_beside_them_names_every_example() {
    let readme = text("README.md");
    for name in names("").iter().filter(|name| *name != "README.md") {
        assert!(readme.contains(&format!("]({name})")), "examples/README.md does not name {name}");
    }
}
