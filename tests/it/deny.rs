//! deny.toml, held to by `cargo metadata` alone: licences, one version of each crate, one registry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

/// What stands in the list `name = [...]` of deny.toml: the strings in it.
fn listed(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(format!("{}/deny.toml", env!("CARGO_MANIFEST_DIR"))).expect("deny.toml");
    let lines: String = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let (_, rest) = lines.split_once(&format!("{name} = [")).unwrap_or_else(|| panic!("no list {name}"));
    let (list, _) = rest.split_once(']').expect("the list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

struct Packages {
    by_id: BTreeMap<String, Value>,
    resolve: Value,
}

/// The crates that are compiled for one target, the tests' own included.
fn packages(target: &str) -> Packages {
    let args = ["metadata", "--locked", "--format-version=1", "--filter-platform", target];
    let cargo = Command::new(env!("CARGO")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let mut metadata: Value = serde_json::from_slice(&cargo.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    Packages {
        by_id: packages.map(|package| (text(&package["id"]), package.clone())).collect(),
        resolve: metadata["resolve"].take(),
    }
}

impl Packages {
    /// The package itself and what it links with: neither the tests' crates nor those of build scripts.
    fn shipped(&self) -> Vec<&Value> {
        let nodes = self.resolve["nodes"].as_array().expect("nodes");
        let mut found = vec![text(&self.resolve["root"])];
        let mut next = 0;
        while next < found.len() {
            let node = nodes.iter().find(|node| node["id"] == found[next].as_str()).expect("a node of that id");
            for dependency in node["deps"].as_array().expect("dependencies") {
                let ordinary =
                    dependency["dep_kinds"].as_array().expect("kinds").iter().any(|kind| kind["kind"].is_null());
                let id = text(&dependency["pkg"]);
                if ordinary && !found.contains(&id) {
                    found.push(id);
                }
            }
            next += 1;
        }
        found.iter().map(|id| &self.by_id[id]).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// An SPDX expression, a slash being an old OR. AND binds more tightly; brackets stand around whole alternatives.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    fn any(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, allowed: &BTreeSet<String>) -> bool {
        let mut holds = all(words, allowed);
        while words.next_if(|word| word == "OR" || word == "/").is_some() {
            holds |= all(words, allowed);
        }
        holds
    }
    fn all(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, allowed: &BTreeSet<String>) -> bool {
        let mut holds = one(words, allowed);
        while words.next_if_eq("AND").is_some() {
            holds &= one(words, allowed);
        }
        holds
    }
    fn one(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, allowed: &BTreeSet<String>) -> bool {
        if words.next_if_eq("(").is_some() {
            let holds = any(words, allowed);
            return words.next_if_eq(")").is_some() && holds;
        }
        let mut licence = words.next().unwrap_or_default();
        if words.next_if_eq("WITH").is_some() {
            licence += &format!(" WITH {}", words.next().unwrap_or_default());
        }
        allowed.contains(&licence)
    }
    let spaced =
        ["(", ")", "/"].iter().fold(expression.to_owned(), |text, mark| text.replace(mark, &format!(" {mark} ")));
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    let mut words = words.into_iter().peekable();
    any(&mut words, allowed) && words.next().is_none()
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Zlib".to_owned()]);
    for (expression, wanted) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("Apache-2.0/MIT", true),
        ("MIT AND Zlib", true),
        ("MIT AND GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only AND X", true),
        ("(MIT OR X) AND Zlib", true),
        ("(MIT OR X) AND X", false),
        ("MIT WITH exception", false),
        ("", false),
        ("MIT MIT", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), wanted, "{expression}");
    }
}

#[test]
fn every_crate_has_a_licence_that_is_allowed_and_comes_from_the_one_registry() {
    let (allowed, targets) = (listed("allow"), listed("targets"));
    assert!(allowed.len() < 8 && targets.len() == 3, "{allowed:?} {targets:?}");
    let mut registries = BTreeSet::new();
    for target in &targets {
        let packages = packages(target);
        assert!(packages.by_id.len() > 50);
        for package in packages.by_id.values() {
            let (name, licence) = (text(&package["name"]), text(&package["license"]));
            assert!(is_allowed(&licence, &allowed), "{name}: {licence:?} is not in deny.toml");
            let source = text(&package["source"]);
            assert!(source.starts_with("registry+") || name.starts_with("agones-shim"), "{name} comes from {source:?}");
            registries.insert(source);
        }
    }
    // And the empty one, of the package itself.
    assert_eq!(registries.len(), 2, "{registries:?}");
}

#[test]
fn every_crate_that_is_shipped_is_there_in_one_version() {
    let skipped = listed("skip");
    for target in listed("targets") {
        let packages = packages(&target);
        let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for package in packages.shipped() {
            versions.entry(text(&package["name"])).or_default().insert(text(&package["version"]));
        }
        assert!(versions.len() > 30, "{target}: the crates were not found: {versions:?}");
        versions.retain(|name, versions| versions.len() > 1 && !skipped.contains(name));
        assert!(versions.is_empty(), "{target}: {versions:?}");
    }
}
