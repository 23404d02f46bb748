//! Rules that hold for every row.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::engine::is_injected;
use super::super::engine::row::{AnySetting, Default, Shown, is_setting, rows, variables};
use super::super::{Host, Hup, LogFormat, SdkMode, Settings, StopScope};
use super::sidecar;

fn defaults() -> Settings {
    let (settings, warnings) = sidecar([("AGONES_SHIM_READY_TCP".into(), "7777".into())]).expect("defaults are good");
    assert_eq!(warnings, []);
    settings
}

#[test]
fn names_are_ours_and_there_once() {
    let mut seen = BTreeSet::new();
    for setting in rows().map(AnySetting::row) {
        let name = setting.variable;
        assert!(seen.insert(name), "{name} twice");
        assert!(
            name.starts_with("AGONES_SHIM_") || ["AGONES_SDK_GRPC_PORT", "AGONES_SDK_GRPC_HOST"].contains(&name),
            "{name}"
        );
        assert!(name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{name}");
    }
}

#[test]
fn no_name_can_be_one_that_kubernetes_injects() {
    for setting in rows().map(AnySetting::row) {
        for value in ["", "1", "tcp://10.0.0.1:80", "udp://10.0.0.1:80", "sctp://10.0.0.1:80"] {
            assert!(!is_injected(setting.variable, value), "{}", setting.variable);
        }
    }
}

#[test]
fn names_and_value_names_say_the_unit() {
    for setting in rows().map(AnySetting::row) {
        let name = setting.variable;
        assert_eq!(name.ends_with("_SECS"), setting.value == "SECONDS", "{name}");
        assert_eq!(name.ends_with("_HTTP") || name.ends_with("_URL"), setting.value.starts_with("URL"), "{name}");
        assert!(!setting.value.is_empty() && setting.value.bytes().all(|byte| byte.is_ascii_uppercase()), "{name}");
    }
}

#[test]
fn help_is_one_or_two_plain_lines_without_a_full_stop() {
    for setting in rows().map(AnySetting::row) {
        let (name, help) = (setting.variable, setting.help);
        assert!(help.len() <= 170, "{name}: {}", help.len());
        assert!(!help.ends_with('.') && !help.contains(['\n', '|', '\t']), "{name}");
        assert!(help.starts_with(|c: char| c.is_uppercase() || c == '`'), "{name}");
        assert_eq!(help.matches('`').count() % 2, 0, "{name}");
        assert_eq!(help.trim(), help, "{name}");
        assert!(!help.contains("  "), "{name}");
    }
}

#[test]
fn help_that_names_a_variable_names_a_known_one() {
    for setting in rows().map(AnySetting::row) {
        for word in setting.help.split(|c: char| !c.is_ascii_uppercase() && c != '_') {
            assert!(
                !(word.starts_with("AGONES_SHIM") || word.starts_with("AGONES_SDK")) || is_setting(word),
                "{}: {word}",
                setting.variable
            );
        }
    }
}

#[test]
fn what_is_shown_in_part_is_what_may_hold_a_password() {
    for row in rows().map(AnySetting::row) {
        let wanted = match row.value {
            "URL" => Shown::Url,
            "URLS" => Shown::Urls,
            "COMMAND" => Shown::Command,
            "HEADER" | "PASSWORD" => Shown::Secret,
            _ => Shown::Whole,
        };
        assert_eq!(row.shown, wanted, "{}", row.variable);
    }
}

#[test]
fn a_numbered_name_is_the_first_one_s_with_the_number_behind_the_series() {
    for (setting, number) in variables() {
        let row = setting.row();
        let Some(series) = row.series else {
            assert_eq!(number, 1, "{}", row.variable);
            continue;
        };
        let rest = row.variable.strip_prefix(series.prefix).expect("its series' prefix");
        let wanted = if number == 1 { row.variable.to_owned() } else { format!("{}{number}_{rest}", series.prefix) };
        assert_eq!(row.variable_of(number), wanted);
        assert!(is_setting(&wanted) && series.last < 10 && is_setting(series.example));
    }
}

#[test]
fn the_short_help_has_the_settings_that_most_need() {
    let common = rows().filter(|setting| setting.row().common.is_some()).count();
    assert!((10..=20).contains(&common), "{common}");
}

#[test]
fn each_default_that_is_a_text_parses_and_each_row_rejects_something() {
    for setting in rows() {
        if let Default::Text(text) = setting.row().default {
            assert_eq!(setting.errors(text), [""; 0], "{}", setting.row().variable);
        }
        assert!(!setting.errors(" '\u{7} ").is_empty(), "{}", setting.row().variable);
    }
}

#[test]
fn zero_is_allowed_just_where_the_help_gives_it_a_meaning() {
    for setting in rows().filter(|setting| setting.row().value == "SECONDS") {
        let row = setting.row();
        assert_eq!(row.help.contains("; 0 is never"), setting.errors("0").is_empty(), "{}", row.variable);
    }
}

#[test]
fn defaults_are_those_of_the_specification() {
    let settings = defaults();
    let seconds = Duration::from_secs;
    assert_eq!(settings.liveness.probes, settings.readiness.probes);
    assert_eq!(settings.readiness.interval, None);
    assert_eq!(settings.readiness.timeout, None);
    assert_eq!(settings.liveness.failure_threshold, None);
    assert_eq!(settings.liveness.probe_timeout, seconds(2));
    assert_eq!(settings.liveness.interval, None);
    assert_eq!(settings.counters, []);
    assert_eq!(settings.sdk.mode, SdkMode::Auto);
    assert_eq!((&settings.sdk.endpoint.host, settings.sdk.endpoint.port.get()), (&Host::Loopback, 9357));
    assert_eq!(settings.sdk.connect_timeout, seconds(30));
    assert_eq!(settings.sdk.call_timeout, seconds(2));
    assert!(!settings.sdk.wait);
    assert_eq!(settings.stop.shutdown_timeout, seconds(8));
    let signal = settings.stop.signal.expect("a default");
    assert_eq!((signal.number, signal.name.as_str()), (15, "SIGTERM"));
    assert!(settings.stop.ok_codes.is_empty());
    assert_eq!(settings.stop.hup, Hup::Stop);
    assert_eq!(settings.stop.timeout, None);
    assert_eq!(settings.stop.scope, StopScope::Group);
    assert_eq!((settings.stop.hook, settings.allocation.hook), (None, None));
    assert_eq!((settings.metadata.labels, settings.metadata.annotations), (vec![], vec![]));
    assert_eq!((settings.allocation.idle_shutdown, settings.allocation.max_age), (None, None));
    assert_eq!(settings.status_addr, None);
    assert_eq!(settings.log.filter, "info");
    assert_eq!(settings.log.format, LogFormat::Auto);
}
