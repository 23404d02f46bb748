//! Each finding by the smallest manifest that shows it, with its place marked by », and the nearest one that must not.

use super::catalogue::ALL;
use super::*;

/// Findings as `LINE:COLUMN: severity: message [rule]`.
fn found(files: &[&str]) -> Vec<String> {
    let mut checker = Checker::default();
    for (number, text) in files.iter().enumerate() {
        checker.file(&number.to_string(), Ok(text));
    }
    let text = checker.finish().text();
    let mut lines: Vec<String> = text.lines().map(|line| line.split_once(':').expect("a file").1.to_owned()).collect();
    lines.pop();
    lines
}

/// A GameServer with this `spec`, and this Pod.
fn server(spec: &str, pod: &str) -> String {
    format!("kind: GameServer\nspec: {{ {spec} template: {{ spec: {{ {pod} }} }} }}\n")
}

/// One container that starts its game through the shim, with these variables and whatever else.
fn wrapper_with(spec: &str, env: &str, rest: &str) -> String {
    server(spec, &format!("{rest} containers: [{{ name: game, args: [\"--\", ./game], env: [ {READY}, {env} ] }}]"))
}

fn wrapper(env: &str) -> String {
    wrapper_with("", env, "")
}

/// Its container as it stands.
fn container(container: &str) -> String {
    server("", &format!("containers: [{{ name: game, {container}, env: [ {READY} ] }}]"))
}

const READY: &str = "{ name: AGONES_SHIM_READY_TCP, value: '7777' }";
const QUERY: &str = "{ name: AGONES_SHIM_COUNTER_QUERY, value: 'a2s://:27015' }";

fn var(name: &str, value: &str) -> String {
    format!("{{ name: AGONES_SHIM_{name}, value: {value} }}")
}

/// The rule, what shows it, the neighbour, and what the message has in it.
#[expect(clippy::too_many_lines, reason = "one table, some lines a rule")]
fn table() -> Vec<(&'static str, String, String, &'static str)> {
    let counter = |value: &str| format!("{QUERY}, {}", var("COUNTER_NAME", value));
    let two = |first: &str, second: &str| {
        server(
            "container: game,",
            &format!(
                "containers: [{{ name: game, image: g }}, {{ name: agones-shim, {first} env: [ {READY} ] }} {second}]"
            ),
        )
    };
    let page = |url: &str| {
        let metric = format!("{}, {}", var("COUNTER_NAME", "players"), var("COUNTER_METRIC", "m"));
        format!("{metric}, {}", var("COUNTER_METRICS_URL", url))
    };
    let json = |url: &str| {
        let count = format!("{}, {}", var("COUNTER_2_NAME", "rooms"), var("COUNTER_2_JSON_COUNT", "/n"));
        format!("{count}, {}", var("COUNTER_2_JSON_URL", url))
    };
    let scaler = |key: &str| {
        format!(
            "kind: FleetAutoscaler\nspec: {{ fleetName: cs, policy: {{ type: Counter, counter: {{ key: {key} }} }} }}\n---\n"
        )
    };
    let fleet = |counters: &str, env: &str| {
        format!(
            "kind: Fleet\nmetadata: {{ name: cs }}\nspec: {{ template: {{ spec: {{ counters: {counters}, template: {{ spec: {{ containers: [{{ name: game, env: [ {READY}, {env} ] }}] }} }} }} }} }}\n"
        )
    };
    vec![
        ("file", "a: »[1".replace("»[1", "[1\n»"), "a: [1]".into(), "expected ',' or ']'"),
        (
            "field",
            server("", "containers: [{ name: game, env: [{ name: AGONES_SHIM_READY_TCP, value: »7777 }] }]"),
            container("image: g"),
            "value: this is a number, it must be a string (in quotes: \"7777\")",
        ),
        (
            "field",
            wrapper_with("counters: { a: »{ count: 2, capacity: 1 } },", "", ""),
            wrapper_with("counters: { a: { count: 1, capacity: 1 } },", "", ""),
            "count 2 is above capacity 1",
        ),
        (
            "setting",
            wrapper(&var("PROBE_TIMEOUT_SECS", "»5s")),
            wrapper(&var("PROBE_TIMEOUT_SECS", "'5'")),
            "AGONES_SHIM_PROBE_TIMEOUT_SECS: \"5s\" is not a number of seconds",
        ),
        (
            "setting",
            server(
                "",
                "containers: [»{ name: game, args: ['--', x] , env: [ { name: AGONES_SHIM_STOP_LINE, value: stop }] }], terminationGracePeriodSeconds: 60,",
            ),
            wrapper_with("", &var("STOP_LINE", "stop"), "terminationGracePeriodSeconds: 60,"),
            "no readiness probe is set",
        ),
        (
            "setting-warning",
            wrapper(&var("REDAY_TCP", "»'1'")),
            wrapper(&var("LIVE_TCP", "'1'")),
            "did you mean AGONES_SHIM_READY_TCP?",
        ),
        (
            "value-unknown",
            wrapper("»{ name: AGONES_SHIM_LIVE_HTTP, valueFrom: { secretKeyRef: { name: a, key: b } } }"),
            wrapper("{ name: PASSWORD, valueFrom: { secretKeyRef: { name: a, key: b } } }"),
            "the value of AGONES_SHIM_LIVE_HTTP is known in the cluster alone",
        ),
        (
            "value-unknown",
            server("", "containers: [»{ name: game, args: ['--', x], envFrom: [{ secretRef: { name: a } }] }]"),
            server(
                "",
                "containers: [{ name: game, args: ['--', x], envFrom: [], env: [ { name: AGONES_SHIM_READY_TCP, value: '1' } ] }]",
            ),
            "envFrom may hold settings",
        ),
        (
            "two-shims",
            two("image: agones-shim,", &format!(", »{{ name: third, image: agones-shim, env: [ {READY} ] }}")),
            two("image: agones-shim,", ", { name: third, image: agones-shim, args: [local-sdk] }"),
            "containers agones-shim and third both have a shim",
        ),
        (
            "two-shims",
            server(
                "container: game,",
                &format!(
                    "containers: [{{ name: game, env: [ {READY} ] }}, »{{ name: agones-shim, image: 'r/agones-shim:1' }}]"
                ),
            ),
            two("image: 'r/agones-shim:1',", ""),
            "container agones-shim is a shim without any setting, and game has settings of one (move them to agones-shim;",
        ),
        (
            "container-missing",
            two("image: 'r/agones-shim:1',", "")
                .replace("container: game, ", "")
                .replace("spec: { ", "spec: »{ ")
                .replacen("template: { spec: »", "template: { spec: ", 1),
            two("image: 'r/agones-shim:1',", ""),
            "does not say which is the game (write container: game)",
        ),
        (
            "container-missing",
            server("", "containers: [{ name: game }, { name: other }],").replace("spec: { ", "spec: »{ ").replacen(
                "template: { spec: »",
                "template: { spec: ",
                1,
            ),
            server("container: other,", "containers: [{ name: game }, { name: other }],"),
            "2 containers, and spec.container does not say which is the game (write container: game or other)",
        ),
        (
            "container-missing",
            server("container: »gmae,", "containers: [{ name: game }],"),
            server("container: game,", "containers: [{ name: game }],"),
            "there is no container \"gmae\" (write game)",
        ),
        (
            "container-is-shim",
            two("image: 'r/agones-shim:1',", "").replace("container: game", "container: »agones-shim"),
            two("image: 'r/agones-shim:1',", ""),
            "the game container agones-shim is the shim as a sidecar",
        ),
        (
            "wrapper-not-game",
            two("args: ['--', x],", "").replace("{ name: agones-shim", "»{ name: agones-shim"),
            two("args: ['--', x],", "").replace("container: game", "container: agones-shim"),
            "(write container: agones-shim into the GameServer's spec)",
        ),
        (
            "init-blocks",
            server(
                "",
                &format!(
                    "containers: [{{ name: game }}], initContainers: [»{{ name: shim, image: agones-shim, env: [ {READY} ] }}]"
                ),
            ),
            server(
                "",
                &format!(
                    "containers: [{{ name: game }}], initContainers: [{{ name: shim, image: agones-shim, restartPolicy: Always, env: [ {READY} ] }}]"
                ),
            ),
            "(write restartPolicy: Always)",
        ),
        ("sdk-off", wrapper(&var("SDK", "»'off'")), wrapper(&var("SDK", "required")), "\"off\" never calls Ready()"),
        (
            "counter-undeclared",
            wrapper_with("counters: { palyers: {} },", &counter("»players"), ""),
            wrapper_with("counters: { players: {} },", &counter("players"), ""),
            "(write counters: {players: {count: 0, capacity: 16}} there)",
        ),
        (
            "list-undeclared",
            wrapper_with("counters: { names: {} },", &format!("{QUERY}, {}", var("LIST_NAME", "»names")), ""),
            wrapper_with("lists: { names: {} },", &format!("{QUERY}, {}", var("LIST_NAME", "names")), ""),
            "(write lists: {names: {capacity: 16}} there)",
        ),
        (
            "capacity-zero",
            wrapper_with("counters: { players: { capacity: »0 } },", &counter("players"), ""),
            wrapper_with(
                "counters: { players: { capacity: 0 } },",
                &format!("{}, {}", counter("players"), var("COUNTER_CAPACITY", "'1'")),
                "",
            ),
            "spec.counters.players.capacity: 0 leaves room for nobody",
        ),
        (
            "port-taken",
            wrapper_with("ports: [{ containerPort: »8080, protocol: TCP }],", "", ""),
            wrapper_with("ports: [{ containerPort: 8080, protocol: UDP }],", "", ""),
            "spec.ports[0].containerPort: Agones' SDK server has 8080",
        ),
        (
            "port-taken",
            container("ports: [{ containerPort: »9358 }], image: g"),
            container("ports: [{ containerPort: 9359 }], image: g"),
            "containers[0].ports[0].containerPort: Agones' SDK server has 9358",
        ),
        (
            "port-taken",
            wrapper(&var("READY_HTTP", "»'http://localhost:8080/healthz'")),
            wrapper(&var("READY_HTTP", "'http://backend:8080/healthz'")),
            "port 8080 is the SDK server's",
        ),
        ("port-taken", wrapper(&var("LIVE_TCP", "»'9357'")), wrapper(&var("LIVE_TCP", "'9356'")), "port 9357 is"),
        (
            "port-taken",
            wrapper_with("counters: { players: {} },", &page("»'http://localhost:9358/metrics'"), ""),
            wrapper_with("counters: { players: {} },", &page("'http://localhost:9359/metrics'"), ""),
            "port 9358 is",
        ),
        (
            "port-taken",
            wrapper_with("counters: { rooms: {} },", &json("»'http://localhost:8080/'"), ""),
            wrapper_with("counters: { rooms: {} },", &json("'http://localhost:8081/'"), ""),
            "port 8080 is",
        ),
        (
            "grace-too-short",
            wrapper_with("", &format!("{}, {}", var("STOP_LINE", "stop"), var("STOP_LINE_TIMEOUT_SECS", "'28'")), "")
                .replace("template: { spec: {", "template: { spec: »{"),
            wrapper_with("", &format!("{}, {}", var("STOP_LINE", "stop"), var("STOP_LINE_TIMEOUT_SECS", "'27'")), ""),
            "(the line 28s, Shutdown() 8s), and the kubelet kills after 30s",
        ),
        (
            "grace-too-short",
            wrapper(&var("STOP_LINE", "stop")).replace("template: { spec: {", "template: { spec: »{"),
            wrapper_with("", &var("STOP_LINE", "stop"), "terminationGracePeriodSeconds: 60,"),
            "(the line 30s, Shutdown() 8s), and the kubelet kills after 30s (write terminationGracePeriodSeconds: 42)",
        ),
        (
            "grace-too-short",
            wrapper_with("", &var("STOP_TIMEOUT_SECS", "'60'"), "terminationGracePeriodSeconds: »60,"),
            wrapper_with("", &var("STOP_TIMEOUT_SECS", "'60'"), "terminationGracePeriodSeconds: 63,"),
            "(write terminationGracePeriodSeconds: 63)",
        ),
        (
            "health-interval",
            wrapper_with("health: { periodSeconds: 4 },", &var("HEALTH_INTERVAL_SECS", "»'4'"), ""),
            wrapper_with("health: { periodSeconds: 4 },", &var("HEALTH_INTERVAL_SECS", "'3.9'"), ""),
            "4s is not below the GameServer's health.periodSeconds of 4 (write 2, or unset it)",
        ),
        (
            "initial-delay",
            wrapper_with("health: { initialDelaySeconds: »2, failureThreshold: 1 },", "", ""),
            wrapper_with("health: { initialDelaySeconds: 3, failureThreshold: 1 },", "", ""),
            "(write initialDelaySeconds: 3,",
        ),
        (
            "stop-not-permitted",
            container("args: ['--', »gosu, game, ./game], securityContext: { capabilities: { drop: [ALL] } }"),
            container(
                "args: ['--', gosu, game, ./game], securityContext: { capabilities: { drop: [ALL], add: [KILL] } }",
            ),
            "without CAP_KILL",
        ),
        (
            "stop-not-permitted",
            container("args: ['--', »/usr/bin/gosu, game, ./game], securityContext: { runAsUser: 1000 }"),
            container("args: ['--', /usr/bin/gosu, game, ./game], securityContext: { runAsUser: 0 }"),
            "gosu cannot change the user in a container that is not root's",
        ),
        (
            "stop-not-permitted",
            container("args: ['--', »su-exec, game, ./game], securityContext: { runAsNonRoot: true }"),
            container("args: ['--', su-exec, game, ./game], securityContext: { runAsNonRoot: false }"),
            "su-exec cannot change the user in a container that is not root's",
        ),
        (
            "stop-not-permitted",
            container("args: ['--', »sudo, ./game], securityContext: { allowPrivilegeEscalation: false }"),
            container("args: ['--', gosu, game, ./game], securityContext: { allowPrivilegeEscalation: false }"),
            "sudo cannot change the user with allowPrivilegeEscalation: false",
        ),
        (
            "argument-not-filled",
            container("args: ['--', ./game, »'-p$(AGONES_GAMESERVER_PORT)']"),
            wrapper_with("ports: [{ name: game }],", &var("WAIT_FOR_SDK", "'1'"), "")
                .replace("./game", "'-p$(AGONES_GAMESERVER_PORT)'"),
            "$(AGONES_GAMESERVER_PORT) stays as it is (write AGONES_SHIM_WAIT_FOR_SDK with \"1\"",
        ),
        (
            "argument-not-filled",
            wrapper_with("ports: [{ name: game }],", &var("WAIT_FOR_SDK", "'1'"), "")
                .replace("./game", "»'$(AGONES_GAMESERVER_PORT_QUERY)'"),
            wrapper_with("ports: [{ name: query }],", &var("WAIT_FOR_SDK", "'1'"), "")
                .replace("./game", "'$(AGONES_GAMESERVER_PORT_QUERY)'"),
            "(write one of AGONES_GAMESERVER_ADDRESS, AGONES_GAMESERVER_NAME, AGONES_GAMESERVER_PORT, AGONES_GAMESERVER_PORT_GAME)",
        ),
        (
            "autoscaler-unfed",
            scaler("»rooms") + &fleet("{ rooms: {}, players: {} }", &counter("players")),
            scaler("players") + &fleet("{ players: {} }", &counter("players")),
            "nothing feeds Counter \"rooms\" of Fleet cs",
        ),
        (
            "autoscaler-unfed",
            scaler("»rooms") + &fleet("{ players: {} }", &counter("players")),
            scaler("players")
                + &fleet(
                    "{ players: {} }",
                    "{ name: AGONES_SHIM_COUNTER_QUERY, value: 'a2s://:1' }, { name: AGONES_SHIM_COUNTER_NAME, value: players }",
                ),
            "Fleet cs declares no Counter \"rooms\"",
        ),
    ]
}

#[test]
fn each_finding_has_its_place_and_its_neighbour_has_none() {
    for (rule, bad, good, message) in table() {
        let (line, text) = bad
            .lines()
            .enumerate()
            .find(|(_, line)| line.contains('»'))
            .unwrap_or_else(|| panic!("{rule}: no mark in {bad}"));
        let column = text.chars().position(|c| c == '»').expect("the mark") + 1;
        let place = format!("{}:{column}: ", line + 1);
        let shown = found(&[&bad.replace('»', "")]);
        let is_it = |shown: &String| {
            shown.starts_with(&place) && shown.contains(message) && shown.ends_with(&format!("[{rule}]"))
        };
        assert!(shown.len() == 1 && is_it(&shown[0]), "{rule}: wanted {place}{message}, found {shown:#?} in\n{bad}");
        assert_eq!(found(&[&good]), Vec::<String>::new(), "{rule}, the neighbour:\n{good}");
    }
}

/// Each is a step away from a finding, on another side than the neighbour in the table.
#[test]
fn what_looks_like_a_finding_and_is_none() {
    let slow = var("HEALTH_INTERVAL_SECS", "'9'");
    let helper = "{ name: game, image: g }, { name: helper, args: ['$(AGONES_GAMESERVER_PORT)'], env: [ { name: AGONES_SHIM_READY_TCP, value: '7777' } ] }";
    for good in [
        // A Pod with no container to choose from.
        server("", "containers: [],"),
        // UDP, which the SDK server does not listen on: Agones' default, and said of a container.
        wrapper_with("ports: [{ containerPort: 8080 }],", "", ""),
        container("ports: [{ containerPort: 8080, protocol: UDP }], image: g"),
        // As long as the kubelet waits, and not longer: 2 s for the first attempt at Shutdown(), and the save.
        wrapper(&var("STOP_TIMEOUT_SECS", "'28'")),
        // Nobody counts the beats.
        wrapper_with("health: { disabled: true },", &slow, ""),
        // Both names of a port that is two.
        wrapper_with("ports: [{ name: q, protocol: TCPUDP }],", &var("WAIT_FOR_SDK", "'1'"), "")
            .replace("./game", "'$(AGONES_GAMESERVER_PORT_Q_TCP) $(AGONES_GAMESERVER_PORT_Q_UDP)'"),
        // Arguments of what is started by somebody else.
        server("container: game,", &format!("containers: [{helper}]")),
        // Agones writes its own in its place.
        wrapper("{ name: AGONES_SDK_GRPC_PORT, value: x }"),
    ] {
        assert_eq!(found(&[&good]), Vec::<String>::new(), "{good}");
    }
    // The one finding is that nothing is reported.
    let off = found(&[&wrapper(&format!("{}, {slow}", var("SDK", "'off'")))]);
    assert!(off.len() == 1 && off[0].contains("[sdk-off]"), "{off:?}");
    // A sidecar has no line to write.
    let sidecar = format!("{}, {}", var("STOP_LINE", "stop"), var("STOP_TIMEOUT_SECS", "'60'"));
    let two = format!(
        "containers: [{{ name: game, image: g }}, {{ name: shim, image: agones-shim, env: [ {READY}, {sidecar} ] }}]"
    );
    let found = found(&[&server("container: game,", &two)]);
    assert!(found.iter().all(|line| !line.contains("grace-too-short")), "{found:?}");
}

#[test]
fn every_rule_of_the_catalogue_is_shown() {
    let table = table();
    for rule in ALL {
        assert!(table.iter().any(|(id, ..)| *id == rule.id), "{} has no test", rule.id);
        assert_eq!(ALL.iter().filter(|other| other.id == rule.id).count(), 1, "{}", rule.id);
    }
}

#[test]
fn all_findings_come_at_once_in_the_order_of_the_file() {
    let text = wrapper_with(
        "ports: [{ name: 5 }, { containerPort: 9357, protocol: TCP }],",
        &[var("READY_TIMEOUT_SECS", "-1"), var("SDK", "maybe"), var("STOP_SIGNAL", "TREM")].join(", "),
        "terminationGracePeriodSeconds: 5,",
    );
    let rules: Vec<String> =
        found(&[&text]).iter().map(|line| line.rsplit('[').next().unwrap_or_default().replace(']', "")).collect();
    assert_eq!(rules, ["field", "port-taken", "grace-too-short", "field", "setting", "setting"]);
}

#[test]
fn variables_are_resolved_as_the_kubelet_does() {
    let of =
        |env: &str| found(&[&server("", &format!("containers: [{{ name: game, args: ['--', x], env: [ {env} ] }}]"))]);
    // What stands before is known, what stands behind is not; of two with one name the last counts.
    assert_eq!(
        of("{ name: PORT, value: '80' }, { name: AGONES_SHIM_READY_TCP, value: '$(PORT)85' }"),
        Vec::<String>::new()
    );
    let wrong = of("{ name: AGONES_SHIM_READY_TCP, value: '$(PORT)85' }, { name: PORT, value: '80' }");
    assert!(wrong.len() == 1 && wrong[0].contains("$(PORT)85"), "{wrong:?}");
    assert_eq!(
        of("{ name: AGONES_SHIM_READY_TCP, value: x }, { name: AGONES_SHIM_READY_TCP, value: '1' }"),
        Vec::<String>::new()
    );
    // A secret makes unknown what holds it; a Service's variables are no settings.
    let unknown =
        of("{ name: P, valueFrom: { fieldRef: { fieldPath: x } } }, { name: AGONES_SHIM_READY_TCP, value: '$(P)' }");
    assert!(unknown.len() == 1 && unknown[0].contains("[value-unknown]"), "{unknown:?}");
    assert_eq!(
        found(&[&server(
            "",
            "containers: [{ name: game, env: [{ name: AGONES_SHIM_SERVICE_HOST, value: '10.0.0.1' }] }]"
        )]),
        Vec::<String>::new()
    );
}

#[test]
fn references_cannot_make_a_small_file_large() {
    let doubled: String = (1..40)
        .map(|level| format!("{{ name: V{level}, value: '$(V{0})$(V{0})' }}, ", level - 1))
        .collect::<Vec<_>>()
        .concat();
    let longest = found(&[&wrapper(&format!("{{ name: V0, value: xxxxxxxx }}, {doubled}"))]);
    assert!(longest.len() == 1 && longest[0].contains("longer than 128 KiB"), "{longest:?}");
    // Each of them is allowed, and all of them together are not.
    let wide: String =
        (0..20).map(|number| format!("{{ name: W{number}, value: $(LONG) }}, ")).collect::<Vec<_>>().concat();
    let long = format!("{{ name: LONG, value: {} }}, {wide}", "x".repeat(100_000));
    let shown = found(&[&wrapper(&long)]);
    assert!(shown.len() == 10 && shown.iter().all(|line| line.contains("more than 1 MiB")), "{shown:?}");
}

#[test]
fn lists_merges_and_documents_of_several_files_are_looked_at_together() {
    let base = "base: &base { counters: { rooms: {} } }\nkind: Nothing\n---\n";
    let list = "kind: List\nitems:\n- kind: Fleet\n  metadata: { name: cs }\n  spec: { template: { spec: &spec { counters: { rooms: {} } } } }\n- kind: GameServer\n  spec: { <<: *spec, health: 5 }\n";
    assert_eq!(
        found(&[&format!("{base}{list}")]),
        ["10:30: error: items[1].spec.health: this is a number, it must be a mapping [field]"]
    );
    let scaler = "kind: FleetAutoscaler\nspec: { fleetName: cs, policy: { type: Chain, chain: [{ id: x, type: List, list: { key: names } }] } }\n";
    let shown = found(&[scaler, list]);
    assert!(shown.iter().any(|line| line.contains("Fleet cs declares no List \"names\"")), "{shown:?}");
    assert_eq!(found(&[scaler]), Vec::<String>::new(), "a Fleet that is in no file is not spoken of");
}

#[test]
fn what_is_no_manifest_is_no_finding() {
    for text in
        ["", "a: b", "- 1", "kind: ConfigMap", "kind: Deployment\nspec: { template: { spec: { containers: 5 } } }"]
    {
        assert_eq!(found(&[text]), Vec::<String>::new(), "{text}");
    }
    assert_eq!(found(&["kind: Fleet"]), ["1:1: error: the document: a Fleet needs spec.template [field]"]);
}

#[test]
fn settings_that_are_named_exist() {
    for source in [include_str!("rules.rs"), include_str!("catalogue.rs"), include_str!("autoscaler.rs")] {
        for (at, _) in source.match_indices("AGONES_SHIM_") {
            let name: String = source[at..]
                .chars()
                .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
                .collect();
            assert!(name.ends_with('_') || crate::settings::engine::row::is_setting(&name), "{name}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_manifest_makes_it_panic(text in "(kind: (GameServer|Fleet|List)\n)?[-a:{}\\[\\],&*!|>#%'\"\n $()0-9?]{0,200}") {
        crate::manifest::fuzz::check(text.as_bytes());
    }
}
