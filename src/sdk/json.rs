//! The JSON that Agones' gateway writes, in the order of the .proto files: 64
//! bit numbers are strings, unset fields are there too. Pure; reads nothing.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use super::proto::{beta, sdk};

/// Writes JSON, compact or for people.
#[derive(Debug)]
pub struct Writer {
    out: String,
    /// Nesting, where it is for people.
    depth: Option<usize>,
    /// Nothing stands in the innermost object or list yet.
    first: bool,
}

impl Writer {
    /// Without blanks.
    #[must_use]
    pub fn compact() -> Self {
        Self { out: String::new(), depth: None, first: true }
    }

    /// Over several lines.
    #[must_use]
    pub fn pretty() -> Self {
        Self { out: String::new(), depth: Some(0), first: true }
    }

    /// What was written.
    #[must_use]
    pub fn finish(self) -> String {
        self.out
    }

    /// A number or a word that stands for itself.
    pub fn raw(&mut self, value: impl Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{value}");
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                control if u32::from(control) < 0x20 => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                }
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    /// A 64 bit number, which JSON cannot hold: a string.
    pub fn int64(&mut self, number: i64) {
        let _ = write!(self.out, "\"{number}\"");
    }

    /// An object.
    pub fn object(&mut self, fields: impl FnOnce(&mut Self)) {
        self.nest('{', '}', fields);
    }

    /// One field of an object.
    pub fn field(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        self.item();
        self.string(name);
        self.out.push_str(if self.depth.is_some() { ": " } else { ":" });
        value(self);
        self.first = false;
    }

    /// A list.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, item: impl Fn(&mut Self, T)) {
        self.nest('[', ']', |out| {
            for each in items {
                out.item();
                item(out, each);
                out.first = false;
            }
        });
    }

    fn map<T>(&mut self, map: &BTreeMap<String, T>, value: impl Fn(&mut Self, &T)) {
        self.object(|out| {
            for (name, each) in map {
                out.field(name, |out| value(out, each));
            }
        });
    }

    fn nest(&mut self, open: char, close: char, inner: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.depth = self.depth.map(|depth| depth + 1);
        self.first = true;
        inner(self);
        self.depth = self.depth.map(|depth| depth - 1);
        if !self.first {
            self.new_line();
        }
        self.first = false;
        self.out.push(close);
    }

    fn item(&mut self) {
        if !self.first {
            self.out.push(',');
        }
        self.new_line();
    }

    fn new_line(&mut self) {
        if let Some(depth) = self.depth {
            self.out.push('\n');
            self.out.push_str(&"  ".repeat(depth));
        }
    }
}

/// A GameServer.
#[must_use]
pub fn game_server(game_server: &sdk::GameServer) -> String {
    let mut out = Writer::compact();
    write_game_server(&mut out, game_server);
    out.finish()
}

/// A Counter.
#[must_use]
pub fn counter(counter: &beta::Counter) -> String {
    let mut out = Writer::compact();
    write_counter(&mut out, counter);
    out.finish()
}

/// A List.
#[cfg(feature = "local-sdk")]
#[must_use]
pub fn list(list: &beta::List) -> String {
    let mut out = Writer::compact();
    write_list(&mut out, list);
    out.finish()
}

/// One line of a watch.
#[cfg(feature = "local-sdk")]
#[must_use]
pub fn watch_line(game_server: &sdk::GameServer) -> String {
    let mut out = Writer::compact();
    out.object(|out| out.field("result", |out| write_game_server(out, game_server)));
    let mut line = out.finish();
    line.push('\n');
    line
}

/// A GameServer for people.
#[cfg(feature = "local-sdk")]
#[must_use]
pub fn pretty_game_server(game_server: &sdk::GameServer) -> String {
    let mut out = Writer::pretty();
    write_game_server(&mut out, game_server);
    out.finish()
}

fn write_counter(out: &mut Writer, counter: &beta::Counter) {
    out.object(|out| {
        out.field("name", |out| out.string(&counter.name));
        out.field("count", |out| out.int64(counter.count));
        out.field("capacity", |out| out.int64(counter.capacity));
    });
}

#[cfg(feature = "local-sdk")]
fn write_list(out: &mut Writer, list: &beta::List) {
    out.object(|out| {
        out.field("name", |out| out.string(&list.name));
        out.field("capacity", |out| out.int64(list.capacity));
        out.field("values", |out| out.list(&list.values, |out, value| out.string(value)));
    });
}

/// A GameServer, within something else.
pub fn write_game_server(out: &mut Writer, game_server: &sdk::GameServer) {
    out.object(|out| {
        out.field("object_meta", |out| or_null(out, game_server.object_meta.as_ref(), write_meta));
        out.field("spec", |out| {
            or_null(out, game_server.spec.as_ref(), |out, spec| {
                out.object(|out| out.field("health", |out| or_null(out, spec.health.as_ref(), write_health)));
            });
        });
        out.field("status", |out| or_null(out, game_server.status.as_ref(), write_status));
    });
}

fn write_meta(out: &mut Writer, meta: &sdk::game_server::ObjectMeta) {
    out.object(|out| {
        out.field("name", |out| out.string(&meta.name));
        out.field("namespace", |out| out.string(&meta.namespace));
        out.field("uid", |out| out.string(&meta.uid));
        out.field("resource_version", |out| out.string(&meta.resource_version));
        out.field("generation", |out| out.int64(meta.generation));
        out.field("creation_timestamp", |out| out.int64(meta.creation_timestamp));
        out.field("deletion_timestamp", |out| out.int64(meta.deletion_timestamp));
        out.field("annotations", |out| out.map(&meta.annotations, |out, value| out.string(value)));
        out.field("labels", |out| out.map(&meta.labels, |out, value| out.string(value)));
    });
}

fn write_health(out: &mut Writer, health: &sdk::game_server::spec::Health) {
    out.object(|out| {
        out.field("disabled", |out| out.raw(health.disabled));
        out.field("period_seconds", |out| out.raw(health.period_seconds));
        out.field("failure_threshold", |out| out.raw(health.failure_threshold));
        out.field("initial_delay_seconds", |out| out.raw(health.initial_delay_seconds));
    });
}

fn write_status(out: &mut Writer, status: &sdk::game_server::Status) {
    out.object(|out| {
        out.field("state", |out| out.string(&status.state));
        out.field("address", |out| out.string(&status.address));
        out.field("ports", |out| {
            out.list(&status.ports, |out, port| {
                out.object(|out| {
                    out.field("name", |out| out.string(&port.name));
                    out.field("port", |out| out.raw(port.port));
                });
            });
        });
        // Player tracking is an alpha feature that this server does not have.
        out.field("players", |out| out.raw("null"));
        out.field("counters", |out| {
            out.map(&status.counters, |out, counter| {
                out.object(|out| {
                    out.field("count", |out| out.int64(counter.count));
                    out.field("capacity", |out| out.int64(counter.capacity));
                });
            });
        });
        out.field("lists", |out| {
            out.map(&status.lists, |out, list| {
                out.object(|out| {
                    out.field("capacity", |out| out.int64(list.capacity));
                    out.field("values", |out| out.list(&list.values, |out, value| out.string(value)));
                });
            });
        });
        out.field("addresses", |out| {
            out.list(&status.addresses, |out, address| {
                out.object(|out| {
                    out.field("type", |out| out.string(&address.r#type));
                    out.field("address", |out| out.string(&address.address));
                });
            });
        });
    });
}

fn or_null<T>(out: &mut Writer, value: Option<&T>, write: impl FnOnce(&mut Writer, &T)) {
    match value {
        Some(value) => write(out, value),
        None => out.raw("null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::proto::sdk::game_server::{ObjectMeta, Status, status};

    #[test]
    fn unset_fields_are_written_and_64_bit_numbers_are_strings() {
        let game_server = sdk::GameServer {
            object_meta: Some(ObjectMeta {
                name: "a".into(),
                generation: 7,
                labels: BTreeMap::from([("k".into(), "v".into())]),
                ..ObjectMeta::default()
            }),
            spec: None,
            status: Some(Status {
                ports: vec![status::Port { name: "p".into(), port: 7000 }],
                counters: BTreeMap::from([("c".into(), status::CounterStatus { count: 1, capacity: 2 })]),
                lists: BTreeMap::from([("l".into(), status::ListStatus { capacity: 2, values: vec!["x".into()] })]),
                ..Status::default()
            }),
        };
        assert_eq!(
            watch_line(&game_server),
            concat!(
                r#"{"result":{"object_meta":{"name":"a","namespace":"","uid":"","resource_version":"","generation":"7","#,
                r#""creation_timestamp":"0","deletion_timestamp":"0","annotations":{},"labels":{"k":"v"}},"spec":null,"#,
                r#""status":{"state":"","address":"","ports":[{"name":"p","port":7000}],"players":null,"#,
                r#""counters":{"c":{"count":"1","capacity":"2"}},"lists":{"l":{"capacity":"2","values":["x"]}},"#,
                r#""addresses":[]}}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn for_people_it_is_indented() {
        let mut out = Writer::pretty();
        out.object(|out| {
            out.field("a", |out| out.list([1, 2], Writer::raw));
            out.field("b", |out| out.object(|_| {}));
        });
        assert_eq!(out.finish(), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
    }

    proptest::proptest! {
        #[test]
        fn every_string_comes_back_from_an_independent_reader(text in "\\PC*|[\u{0}-\u{20}\"\\\\]*") {
            let mut out = Writer::compact();
            out.string(&text);
            let read: serde_json::Value = serde_json::from_str(&out.finish()).expect("JSON");
            proptest::prop_assert_eq!(read, serde_json::Value::String(text));
        }
    }
}
