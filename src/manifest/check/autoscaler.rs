//! A FleetAutoscaler and its Fleet, which may be in two files: does anything feed what it scales on?

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::catalogue::AUTOSCALER_UNFED;
use super::{Checker, Field, Finding, Findings, Position, namespace_of, shortened};
use crate::manifest::yaml::Value;

/// Policies hold others (Chain, Schedule).
const MAX_DEPTH: usize = 8;

/// A Fleet, as an autoscaler sees it. Counters and Lists are named `counters/NAME` and `lists/NAME`.
pub(super) struct Fed {
    /// Namespace and name.
    pub(super) fleet: String,
    pub(super) declared: BTreeSet<String>,
    /// What the shim publishes; `None` where that is not known, or where there is no shim.
    pub(super) published: Option<BTreeSet<String>>,
}

/// A policy of an autoscaler.
pub(super) struct Scales {
    file: Rc<str>,
    at: Position,
    fleet: String,
    what: &'static str,
    key: String,
}

/// What an autoscaler scales on.
pub(super) fn read(object: &Field<'_>, findings: &mut Findings<'_>) {
    let Some(spec) = findings.or_default(object.map_field("spec")) else { return };
    let fleet = findings.or_default(spec.text("fleetName")).unwrap_or_default();
    let fleet = format!("{}/{fleet}", namespace_of(object));
    if let Some(policy) = findings.or_default(spec.map_field("policy")) {
        read_policy(&policy, &fleet, MAX_DEPTH, findings);
    }
}

fn read_policy(policy: &Field<'_>, fleet: &str, depth: usize, findings: &mut Findings<'_>) {
    for (field, what) in [("counter", "counters"), ("list", "lists")] {
        let Some(key) = policy.get(field).and_then(|counter| counter.get("key")) else { continue };
        let (at, file, fleet) = (key.at(), findings.file.clone(), fleet.to_owned());
        let key = findings.or_default(key.string());
        findings.checker.scalers.push(Scales { file, at, fleet, what, key });
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    for field in ["chain", "schedule", "policy"] {
        let Some(inner) = policy.get(field) else { continue };
        match &inner.node.value {
            Value::List(_) => {
                let items = findings.or_default(inner.items());
                for item in &items {
                    read_policy(item, fleet, depth, findings);
                }
            }
            _ => read_policy(&inner, fleet, depth, findings),
        }
    }
}

/// Finds what nothing feeds; a Fleet that is in none of the files is not spoken of.
pub(super) fn agree(checker: &mut Checker) {
    let scalers = std::mem::take(&mut checker.scalers);
    let fleets = std::mem::take(&mut checker.fleets);
    let places: BTreeMap<String, usize> =
        fleets.iter().zip(0..).map(|(fed, place)| (fed.fleet.clone(), place)).collect();
    for Scales { file, at, fleet, what, key } in scalers {
        let Some(fed) = places.get(&fleet).map(|&place| &fleets[place]) else { continue };
        let wanted = format!("{what}/{key}");
        let (kind, variable) = if what == "counters" {
            ("Counter", "AGONES_SHIM_COUNTER_NAME")
        } else {
            ("List", "AGONES_SHIM_LIST_NAME")
        };
        let key = format!("{:?}", shortened(&key));
        let fleet = shortened(fleet.split_once('/').map_or("", |(_, name)| name));
        let message = if !fed.declared.contains(&wanted) {
            format!(
                "Fleet {fleet} declares no {kind} {key} (write {key} into its spec.template.spec.{what}, or here a name from there)"
            )
        } else if fed.published.as_ref().is_some_and(|published| !published.contains(&wanted)) {
            format!("nothing feeds {kind} {key} of Fleet {fleet} (write {key} into {variable} there, with a source)")
        } else {
            continue;
        };
        checker.add(Finding { file, at, rule: &AUTOSCALER_UNFED, message });
    }
}
