//! A GameServer or Fleet manifest, as far as an SDK server cares. Pure.
//!
//! Unknown fields are ignored, as a new version of Agones may have them; a
//! known one of the wrong type is an error with line and column.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::counters::{Counter, LIST_MAX_CAPACITY, List};
use super::spec::{Health, PortPolicy, PortSpec, Protocol, Spec};
use super::yaml::{self, Node, Value};

/// What a Counter or a List without a capacity gets.
const DEFAULT_CAPACITY: i64 = 1000;

/// Reads the first GameServer or Fleet of a file.
///
/// # Errors
/// There is none in it, or something in it is wrong, and where.
pub fn parse(text: &str) -> Result<Spec, String> {
    let documents = yaml::documents(text)?;
    let mut others = Vec::new();
    for document in &documents {
        let root = Field { path: String::new(), node: document };
        let Value::Map(_) = document.value else { continue };
        match root.get("kind").map(|kind| kind.string()).transpose()?.as_deref() {
            Some("GameServer") => return game_server(&root),
            Some("Fleet") => return fleet(&root),
            other => others.push(other.unwrap_or("without a kind").to_owned()),
        }
    }
    let found = if others.is_empty() { "nothing of Kubernetes'".to_owned() } else { others.join(", ") };
    Err(format!("no GameServer and no Fleet in it (found: {found})"))
}

fn game_server(root: &Field<'_>) -> Result<Spec, String> {
    let mut spec = Spec { ports: Vec::new(), counters: BTreeMap::new(), lists: BTreeMap::new(), ..Spec::default() };
    if let Some(meta) = root.map_field("metadata")? {
        // With generateName the cluster would add five letters of its own.
        let generated = meta.text("generateName")?.map(|prefix| format!("{prefix}local"));
        if let Some(name) = meta.text("name")?.or(generated) {
            spec.name = name;
        }
        if let Some(namespace) = meta.text("namespace")? {
            spec.namespace = namespace;
        }
        spec.labels = meta.texts("labels")?;
        spec.annotations = meta.texts("annotations")?;
    }
    let Some(declared) = root.map_field("spec")? else { return Ok(spec) };
    if let Some(health) = declared.map_field("health")? {
        spec.health = read_health(&health)?;
    }
    if let Some(ports) = declared.get("ports") {
        spec.ports = ports.items()?.iter().map(read_port).collect::<Result<_, _>>()?;
    }
    for (name, counter) in declared.entries("counters")? {
        spec.counters.insert(name, read_counter(&counter)?);
    }
    for (name, list) in declared.entries("lists")? {
        spec.lists.insert(name, read_list(&list)?);
    }
    Ok(spec)
}

/// A Fleet makes GameServers from its template and marks them with its name.
fn fleet(root: &Field<'_>) -> Result<Spec, String> {
    let template = root.map_field("spec")?.map(|spec| spec.map_field("template")).transpose()?.flatten();
    let Some(template) = template else {
        return Err(root.error("a Fleet needs spec.template"));
    };
    let mut spec = game_server(&template)?;
    let meta = root.map_field("metadata")?;
    let meta_text = |name| meta.as_ref().map_or(Ok(None), |meta| meta.text(name));
    if let Some(namespace) = meta_text("namespace")? {
        spec.namespace = namespace;
    }
    if let Some(name) = meta_text("name")? {
        spec.labels.insert("agones.dev/fleet".to_owned(), name.clone());
        spec.name = format!("{name}-local");
    }
    Ok(spec)
}

fn read_health(health: &Field<'_>) -> Result<Health, String> {
    let defaults = Health::default();
    let number = |name: &str, default: u32| -> Result<u32, String> {
        let given = health.integer(name, i64::from(i32::MIN)..=i64::from(i32::MAX))?;
        // Agones takes what is not positive for unset.
        Ok(given.and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0).unwrap_or(default))
    };
    Ok(Health {
        disabled: health.boolean("disabled")?.unwrap_or(false),
        period_seconds: number("periodSeconds", defaults.period_seconds)?,
        failure_threshold: number("failureThreshold", defaults.failure_threshold)?,
        initial_delay_seconds: number("initialDelaySeconds", defaults.initial_delay_seconds)?,
    })
}

fn read_port(port: &Field<'_>) -> Result<PortSpec, String> {
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
    let number = |name| -> Result<Option<u16>, String> {
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

fn read_counter(counter: &Field<'_>) -> Result<Counter, String> {
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

fn read_list(list: &Field<'_>) -> Result<List, String> {
    list.is_map()?;
    let capacity = list.integer("capacity", 0..=LIST_MAX_CAPACITY)?.unwrap_or(DEFAULT_CAPACITY);
    let mut values = Vec::new();
    if let Some(given) = list.get("values") {
        for value in given.items()? {
            let text = value.string()?;
            if values.contains(&text) {
                return Err(value.error(&format!("{text:?} is there twice")));
            }
            values.push(text);
        }
    }
    if i64::try_from(values.len()).is_ok_and(|size| size > capacity) {
        return Err(list.error(&format!("{} values are above capacity {capacity}", values.len())));
    }
    Ok(List { capacity, values })
}

/// A node and the way to it, for errors.
struct Field<'a> {
    path: String,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// A field of a mapping. One that is null is not there.
    fn get(&self, name: &str) -> Option<Field<'a>> {
        let Value::Map(entries) = &self.node.value else { return None };
        let (_, node) = entries.iter().find(|(key, _)| key == name)?;
        let field = self.child(name, node);
        (!field.is_null()).then_some(field)
    }

    fn map_field(&self, name: &str) -> Result<Option<Field<'a>>, String> {
        let field = self.get(name);
        field.as_ref().map_or(Ok(()), Field::is_map)?;
        Ok(field)
    }

    fn text(&self, name: &str) -> Result<Option<String>, String> {
        self.get(name).map(|field| field.string()).transpose()
    }

    fn texts(&self, name: &str) -> Result<BTreeMap<String, String>, String> {
        self.entries(name)?.into_iter().map(|(name, field)| Ok((name, field.string()?))).collect()
    }

    /// The fields of a mapping whose names are the user's own.
    fn entries(&self, name: &str) -> Result<Vec<(String, Field<'a>)>, String> {
        let Some(field) = self.map_field(name)? else { return Ok(Vec::new()) };
        let Value::Map(entries) = &field.node.value else { return Ok(Vec::new()) };
        Ok(entries.iter().map(|(name, node)| (name.clone(), field.child(name, node))).collect())
    }

    fn items(&self) -> Result<Vec<Field<'a>>, String> {
        let Value::List(nodes) = &self.node.value else { return Err(self.wrong("a list")) };
        let with_index = nodes.iter().enumerate();
        Ok(with_index.map(|(index, node)| Field { path: format!("{}[{index}]", self.path), node }).collect())
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, String> {
        let Some(field) = self.get(name) else { return Ok(None) };
        match &field.node.value {
            Value::Plain(text) => as_boolean(text).map(Some).ok_or_else(|| field.wrong("true or false")),
            _ => Err(field.wrong("true or false")),
        }
    }

    fn integer(&self, name: &str, allowed: RangeInclusive<i64>) -> Result<Option<i64>, String> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let number = match &field.node.value {
            Value::Plain(text) => text.parse::<i64>().ok(),
            _ => None,
        };
        let Some(number) = number else { return Err(field.wrong("a whole number")) };
        if !allowed.contains(&number) {
            let (from, to) = (allowed.start(), allowed.end());
            let wanted = if *to == i64::MAX { format!("at least {from}") } else { format!("from {from} to {to}") };
            return Err(field.error(&format!("{number} is not {wanted}")));
        }
        Ok(Some(number))
    }

    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let text = field.string()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(Some(*choice));
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        Err(field.error(&format!("{text:?} is not one of {}", names.join(", "))))
    }

    /// A string. Kubernetes refuses a number here, and so does this.
    fn string(&self) -> Result<String, String> {
        match &self.node.value {
            Value::Quoted(text) => Ok(text.clone()),
            Value::Plain(text) if looks_like(text) == "a string" => Ok(text.clone()),
            Value::Plain(text) => Err(self.wrong(&format!("a string (in quotes: \"{text}\")"))),
            Value::List(_) | Value::Map(_) => Err(self.wrong("a string")),
        }
    }

    fn is_map(&self) -> Result<(), String> {
        if matches!(self.node.value, Value::Map(_)) { Ok(()) } else { Err(self.wrong("a mapping")) }
    }

    fn is_null(&self) -> bool {
        matches!(&self.node.value, Value::Plain(text) if looks_like(text) == "null")
    }

    fn child<'b>(&self, name: &str, node: &'b Node) -> Field<'b> {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Field { path, node }
    }

    fn wrong(&self, wanted: &str) -> String {
        let found = match &self.node.value {
            Value::Plain(text) => looks_like(text),
            Value::Quoted(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        };
        self.error(&format!("this is {found}, it must be {wanted}"))
    }

    fn error(&self, text: &str) -> String {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        self.node.at.error(&format!("{path}: {text}"))
    }
}

fn as_boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// What YAML takes a scalar without quotes for.
fn looks_like(text: &str) -> &'static str {
    let is_number = || text.parse::<f64>().is_ok() && text.bytes().any(|byte| byte.is_ascii_digit());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => "null",
        _ if as_boolean(text).is_some() => "true or false",
        _ if is_number() => "a number",
        _ => "a string",
    }
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
            ("health: {disabled: »yes}", "spec.health.disabled: this is a string, it must be true or false"),
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
