//! A GameServer or Fleet, as far as an SDK server cares. Pure.
//!
//! Unknown fields are ignored, as a new version of Agones may have them; a
//! known one of the wrong type is an error with line and column.

use std::collections::BTreeMap;

use super::field::{Errors, Field};
use super::spec::{Counter, Health, LIST_MAX_CAPACITY, List, PortPolicy, PortSpec, Protocol, Spec};
#[cfg(feature = "local-sdk")]
use super::yaml;
use super::yaml::{Node, Value, Wrong};

/// What a Counter or a List without a capacity gets.
const DEFAULT_CAPACITY: i64 = 1000;

/// Reads the first GameServer or Fleet of a file.
///
/// # Errors
/// There is none in it, or the first thing in it that is wrong, and where.
#[cfg(feature = "local-sdk")]
pub(crate) fn parse(text: &str) -> Result<Spec, String> {
    let documents = yaml::documents(text).map_err(|wrong| wrong.to_string())?;
    let mut others = Vec::new();
    let mut errors = Errors::default();
    for document in &documents {
        for object in objects(document, &mut errors) {
            let spec = match kind(&object, &mut errors).as_deref() {
                Some("GameServer") => Some(game_server(&object, &mut errors)),
                Some("Fleet") => fleet(&object, &mut errors),
                other => {
                    others.push(other.unwrap_or("without a kind").to_owned());
                    continue;
                }
            };
            if let Some(wrong) = errors.0.first() {
                return Err(wrong.to_string());
            }
            return Ok(spec.expect("a Fleet without one is an error"));
        }
    }
    if let Some(wrong) = errors.0.first() {
        return Err(wrong.to_string());
    }
    let found = if others.is_empty() { "nothing of Kubernetes'".to_owned() } else { others.join(", ") };
    Err(format!("no GameServer and no Fleet in it (found: {found})"))
}

/// What a document holds: an object, or those of Kubernetes' List.
pub(super) fn objects<'a>(document: &'a Node, errors: &mut Errors) -> Vec<Field<'a>> {
    let root = Field::root(document);
    if !matches!(document.value, Value::Map(_)) {
        return Vec::new();
    }
    let is_list = root.get("kind").is_some_and(|kind| kind.string().is_ok_and(|kind| kind == "List"));
    match root.get("items").filter(|_| is_list) {
        Some(items) => errors.or_default(items.items()),
        None => vec![root],
    }
}

pub(super) fn kind(object: &Field<'_>, errors: &mut Errors) -> Option<String> {
    errors.or_default(object.text("kind"))
}

pub(super) fn game_server(root: &Field<'_>, errors: &mut Errors) -> Spec {
    let mut spec = Spec { ports: Vec::new(), counters: BTreeMap::new(), lists: BTreeMap::new(), ..Spec::default() };
    if let Some(meta) = errors.or_default(root.map_field("metadata")) {
        // With generateName the cluster would add five letters of its own.
        let generated = errors.or_default(meta.text("generateName")).map(|prefix| format!("{prefix}local"));
        if let Some(name) = errors.or_default(meta.text("name")).or(generated) {
            spec.name = name;
        }
        if let Some(namespace) = errors.or_default(meta.text("namespace")) {
            spec.namespace = namespace;
        }
        spec.labels = errors.or_default(meta.texts("labels"));
        spec.annotations = errors.or_default(meta.texts("annotations"));
    }
    let Some(declared) = errors.or_default(root.map_field("spec")) else { return spec };
    if let Some(health) = errors.or_default(declared.map_field("health")) {
        spec.health = read_health(&health, errors);
    }
    if let Some(ports) = declared.get("ports") {
        for port in errors.or_default(ports.items()) {
            spec.ports.extend(errors.or_default(read_port(&port).map(Some)));
        }
    }
    for (name, counter) in errors.or_default(declared.entries("counters")) {
        spec.counters.insert(name, errors.or_default(read_counter(&counter)));
    }
    for (name, list) in errors.or_default(declared.entries("lists")) {
        spec.lists.insert(name, errors.or_default(read_list(&list)));
    }
    spec
}

/// A Fleet makes GameServers from its template and marks them with its name.
#[cfg(feature = "local-sdk")]
fn fleet(root: &Field<'_>, errors: &mut Errors) -> Option<Spec> {
    let mut spec = game_server(&fleet_template(root, errors)?, errors);
    if let Some(meta) = errors.or_default(root.map_field("metadata")) {
        if let Some(namespace) = errors.or_default(meta.text("namespace")) {
            spec.namespace = namespace;
        }
        if let Some(name) = errors.or_default(meta.text("name")) {
            spec.labels.insert("agones.dev/fleet".to_owned(), name.clone());
            spec.name = format!("{name}-local");
        }
    }
    Some(spec)
}

/// The GameServer in a Fleet.
pub(super) fn fleet_template<'a>(root: &Field<'a>, errors: &mut Errors) -> Option<Field<'a>> {
    let known = errors.0.len();
    let spec = errors.or_default(root.map_field("spec"));
    let template = spec.and_then(|spec| errors.or_default(spec.map_field("template")));
    if template.is_none() && errors.0.len() == known {
        errors.0.push(root.error("a Fleet needs spec.template"));
    }
    template
}

fn read_health(health: &Field<'_>, errors: &mut Errors) -> Health {
    let defaults = Health::default();
    let mut number = |name: &str, default: u32| {
        let given = errors.or_default(health.integer(name, i64::from(i32::MIN)..=i64::from(i32::MAX)));
        // Agones takes what is not positive for unset.
        given.and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0).unwrap_or(default)
    };
    Health {
        period_seconds: number("periodSeconds", defaults.period_seconds),
        failure_threshold: number("failureThreshold", defaults.failure_threshold),
        initial_delay_seconds: number("initialDelaySeconds", defaults.initial_delay_seconds),
        disabled: errors.or_default(health.boolean("disabled")).unwrap_or(false),
    }
}

fn read_port(port: &Field<'_>) -> Result<PortSpec, Wrong> {
    port.is_map()?;
    let policy = port.choice(
        "portPolicy",
        &[
            ("Dynamic", PortPolicy::Dynamic),
            ("Static", PortPolicy::Static),
            ("Passthrough", PortPolicy::Passthrough),
            ("None", PortPolicy::None),
        ],
    )?;
    let protocol =
        port.choice("protocol", &[("UDP", Protocol::Udp), ("TCP", Protocol::Tcp), ("TCPUDP", Protocol::TcpUdp)])?;
    let number = |name| -> Result<Option<u16>, Wrong> {
        Ok(port.integer(name, 1..=65_535)?.and_then(|number| u16::try_from(number).ok()))
    };
    let spec = PortSpec {
        name: port.text("name")?.unwrap_or_default(),
        policy: policy.unwrap_or(PortPolicy::Dynamic),
        protocol: protocol.unwrap_or(Protocol::Udp),
        host_port: number("hostPort")?,
        container_port: number("containerPort")?,
    };
    match spec.policy {
        PortPolicy::Static if spec.host_port.is_none() => Err(port.error("portPolicy Static needs a hostPort")),
        PortPolicy::None if spec.container_port.is_none() => Err(port.error("portPolicy None needs a containerPort")),
        PortPolicy::Dynamic | PortPolicy::Passthrough if spec.host_port.is_some() => {
            Err(port.error("hostPort is for portPolicy Static only"))
        }
        _ => Ok(spec),
    }
}

fn read_counter(counter: &Field<'_>) -> Result<Counter, Wrong> {
    counter.is_map()?;
    let read = Counter {
        count: counter.integer("count", 0..=i64::MAX)?.unwrap_or(0),
        capacity: counter.integer("capacity", 0..=i64::MAX)?.unwrap_or(DEFAULT_CAPACITY),
    };
    if read.count > read.capacity {
        return Err(counter.error(&format!("count {} is above capacity {}", read.count, read.capacity)));
    }
    Ok(read)
}

fn read_list(list: &Field<'_>) -> Result<List, Wrong> {
    list.is_map()?;
    let capacity = list.integer("capacity", 0..=LIST_MAX_CAPACITY)?.unwrap_or(DEFAULT_CAPACITY);
    let mut values = Vec::new();
    if let Some(given) = list.get("values") {
        let given = given.items()?;
        if i64::try_from(given.len()).is_ok_and(|size| size > capacity) {
            return Err(list.error(&format!("{} values are above capacity {capacity}", given.len())));
        }
        for value in given {
            let text = value.string()?;
            if values.contains(&text) {
                return Err(value.error(&format!("{text:?} is there twice")));
            }
            values.push(text);
        }
    }
    Ok(List { capacity, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME_SERVER: &str = "
apiVersion: v1
kind: ConfigMap
---
apiVersion: agones.dev/v1
kind: GameServer
metadata:
  name: cs
  labels: {mode: casual, version: '2'}
  annotations:
    note: \"x: y\"
spec:
  unknown: [1, 2]
  container: game
  ports:
  - name: game
    containerPort: 27015
  - {name: rcon, portPolicy: Static, protocol: TCP, hostPort: 7001, containerPort: 27016}
  - {name: both, portPolicy: Passthrough, protocol: TCPUDP}
  - {name: inner, portPolicy: None, containerPort: 80}
  health:
    periodSeconds: 2
    failureThreshold: 0
  counters:
    rooms: {count: 1, capacity: 10}
    players:
  lists:
    names: {capacity: 3, values: [ann, 'bob']}
    empty: {}
  template: {spec: {containers: [{name: game, image: x}]}}
---
kind: Fleet
";

    fn port(name: &str, policy: PortPolicy, protocol: Protocol, host: Option<u16>, container: Option<u16>) -> PortSpec {
        PortSpec { name: name.into(), policy, protocol, host_port: host, container_port: container }
    }

    fn text_map<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn the_first_game_server_of_a_file_is_read_as_a_whole() {
        let text = GAME_SERVER.replace("    players:\n", "    players: {}\n");
        let wanted = Spec {
            name: "cs".into(),
            namespace: "default".into(),
            labels: text_map([("mode", "casual"), ("version", "2")]),
            annotations: text_map([("note", "x: y")]),
            health: Health { disabled: false, period_seconds: 2, failure_threshold: 3, initial_delay_seconds: 5 },
            ports: vec![
                port("game", PortPolicy::Dynamic, Protocol::Udp, None, Some(27015)),
                port("rcon", PortPolicy::Static, Protocol::Tcp, Some(7001), Some(27016)),
                port("both", PortPolicy::Passthrough, Protocol::TcpUdp, None, None),
                port("inner", PortPolicy::None, Protocol::Udp, None, Some(80)),
            ],
            counters: BTreeMap::from([
                ("rooms".into(), Counter { count: 1, capacity: 10 }),
                ("players".into(), Counter { count: 0, capacity: 1000 }),
            ]),
            lists: BTreeMap::from([
                ("names".into(), List { capacity: 3, values: vec!["ann".into(), "bob".into()] }),
                ("empty".into(), List { capacity: 1000, values: vec![] }),
            ]),
        };
        assert_eq!(parse(&text), Ok(wanted));
    }

    #[test]
    fn a_fleet_marks_its_game_servers() {
        let fleet = r#"{"kind": "Fleet", "metadata": {"name": "cs", "namespace": "games"},
            "spec": {"replicas": 3, "template": {"metadata": {"labels": {"a": "b"}},
                "spec": {"counters": {"rooms": {"capacity": 0}}, "health": {"disabled": true}}}}}"#;
        let spec = parse(fleet).expect("JSON is YAML");
        assert_eq!((spec.name.as_str(), spec.namespace.as_str()), ("cs-local", "games"));
        assert_eq!(spec.labels, text_map([("a", "b"), ("agones.dev/fleet", "cs")]));
        assert_eq!(spec.counters["rooms"], Counter { count: 0, capacity: 0 });
        assert!(spec.health.disabled && spec.ports.is_empty() && spec.lists.is_empty());
    }

    #[test]
    fn a_game_server_of_one_line_has_agones_defaults_and_nothing_else() {
        let spec = parse("kind: GameServer").expect("enough");
        let bare = Spec { ports: vec![], counters: BTreeMap::new(), lists: BTreeMap::new(), ..Spec::default() };
        assert_eq!(spec, bare);
        assert_eq!(parse("{kind: GameServer, metadata: {generateName: cs-}}").expect("enough").name, "cs-local");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        // The mark stands in front of the place.
        for (spec, wanted) in [
            ("health: »5", "spec.health: this is a number, it must be a mapping"),
            (
                "health: {periodSeconds: »\"5\"}",
                "spec.health.periodSeconds: this is a string, it must be a whole number",
            ),
            ("health: {disabled: »1}", "spec.health.disabled: this is a number, it must be true or false"),
            ("health: {disabled: »maybe}", "spec.health.disabled: this is a string, it must be true or false"),
            (
                "ports: [{name: »yes}]",
                "spec.ports[0].name: this is true or false, it must be a string (in quotes: \"yes\")",
            ),
            ("ports: »{}", "spec.ports: this is a mapping, it must be a list"),
            ("ports: [»5]", "spec.ports[0]: this is a number, it must be a mapping"),
            (
                "ports: [{}, {portPolicy: »Dynamc}]",
                "spec.ports[1].portPolicy: \"Dynamc\" is not one of Dynamic, Static, Passthrough, None",
            ),
            ("ports: [»{portPolicy: Static}]", "spec.ports[0]: portPolicy Static needs a hostPort"),
            ("ports: [»{hostPort: 7000}]", "spec.ports[0]: hostPort is for portPolicy Static only"),
            ("ports: [»{portPolicy: None}]", "spec.ports[0]: portPolicy None needs a containerPort"),
            ("ports: [{containerPort: »70000}]", "spec.ports[0].containerPort: 70000 is not from 1 to 65535"),
            ("ports: [{name: »5}]", "spec.ports[0].name: this is a number, it must be a string (in quotes: \"5\")"),
            ("counters: {a: »{count: 2, capacity: 1}}", "spec.counters.a: count 2 is above capacity 1"),
            ("counters: {a: {count: »-1}}", "spec.counters.a.count: -1 is not at least 0"),
            ("counters: {a: {count: »1.5}}", "spec.counters.a.count: this is a number, it must be a whole number"),
            ("counters: {a: »[]}", "spec.counters.a: this is a list, it must be a mapping"),
            ("lists: {a: {capacity: »1001}}", "spec.lists.a.capacity: 1001 is not from 0 to 1000"),
            ("lists: {a: {values: [x, »x]}}", "spec.lists.a.values[1]: \"x\" is there twice"),
            ("lists: {a: »{capacity: 0, values: [x]}}", "spec.lists.a: 1 values are above capacity 0"),
        ] {
            let marked = format!("kind: GameServer\nspec: {{{spec}}}");
            let column = marked.lines().nth(1).and_then(|line| line.find('»')).expect("a mark") + 1;
            let wanted = format!("line 2, column {column}: {wanted}");
            assert_eq!(parse(&marked.replace('»', "")), Err(wanted), "{spec}");
        }
    }

    #[test]
    fn a_file_without_a_game_server_is_no_manifest() {
        for (text, found) in [
            ("", "nothing of Kubernetes'"),
            ("root:x:0:0", "nothing of Kubernetes'"),
            ("[1, 2]", "nothing of Kubernetes'"),
            ("a: b", "without a kind"),
            ("kind: Pod\n---\nkind: Service", "Pod, Service"),
        ] {
            assert_eq!(parse(text), Err(format!("no GameServer and no Fleet in it (found: {found})")), "{text:?}");
        }
        assert_eq!(parse("kind: Fleet"), Err("line 1, column 1: the document: a Fleet needs spec.template".into()));
        assert_eq!(
            parse("kind: 5"),
            Err("line 1, column 7: kind: this is a number, it must be a string (in quotes: \"5\")".into())
        );
    }
}
