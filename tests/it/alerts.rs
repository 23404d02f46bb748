//! The alert rules fire when they should and at no other time; the dashboard says what it shows.

use std::fs;

use serde_json::Value;

use crate::status::{in_repository, promtool};

fn text(path: &str) -> String {
    fs::read_to_string(in_repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn alerts() -> Vec<String> {
    let rules = text("examples/alerts.yaml");
    let names = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    names.map(str::to_owned).collect()
}

fn cases() -> Vec<String> {
    let directory = in_repository("tests/alerts");
    let entries = fs::read_dir(directory).expect("there are cases");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("listed").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn the_rules_are_valid_and_fire_when_they_should() {
    let said = promtool(&["check", "rules", &in_repository("examples/alerts.yaml")], "");
    let rules = format!("{} rules found", alerts().len());
    assert!(said.is_none_or(|said| said.contains(&rules)));
    for case in cases() {
        promtool(&["test", "rules", &in_repository(&format!("tests/alerts/{case}"))], "");
    }
}

#[test]
fn each_alert_has_a_case_where_it_fires_and_one_where_it_must_not() {
    let all: String = cases().iter().map(|case| text(&format!("tests/alerts/{case}"))).collect();
    let alerts = alerts();
    assert!(alerts.len() >= 8, "{alerts:?}");
    for alert in alerts {
        let tests = all.split("- eval_time: ").filter(|test| test.contains(&format!("alertname: {alert}\n")));
        let (fires, quiet): (Vec<_>, Vec<_>) = tests.partition(|test| test.contains("exp_alerts:"));
        assert!(!fires.is_empty() && !quiet.is_empty(), "{alert}: {} and {}", fires.len(), quiet.len());
    }
}

#[test]
fn every_panel_of_the_dashboard_says_what_it_shows_of_the_chosen_namespace() {
    let dashboard: Value = serde_json::from_str(&text("examples/grafana-dashboard.json")).expect("JSON");
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    assert!(variables.iter().any(|variable| variable["name"] == "namespace"));
    let panels = dashboard["panels"].as_array().expect("panels");
    for panel in panels {
        assert!(panel["description"].as_str().is_some_and(|text| text.len() > 20), "{}", panel["title"]);
        for target in panel["targets"].as_array().expect("targets") {
            let expr = target["expr"].as_str().expect("an expression");
            let metrics = expr.matches("agones_shim_").count();
            assert_eq!(expr.matches(r#"namespace=~"$namespace""#).count(), metrics, "{expr}");
        }
    }
    let shown = dashboard.to_string();
    for metric in ["agones_shim_published_failing", "agones_shim_liveness_threshold_rounds"] {
        assert!(shown.contains(metric), "{metric}");
    }
    let limits = panels.iter().filter(|panel| panel["fieldConfig"]["defaults"]["thresholds"].is_object()).count();
    assert!(limits >= 8, "{limits} panels have thresholds");
}
