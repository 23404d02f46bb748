//! Rules that hold for every row.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::draft::Draft;
use super::super::judge::is_injected;
use super::super::parse;
use super::super::{Host, SdkMode, Settings, StopScope};
use super::*;

fn defaults() -> Settings {
    let (settings, warnings) = parse::sidecar([(READY_TCP.into(), "7777".into())]).expect("defaults are good");
    assert_eq!(warnings, []);
    settings
}

#[test]
fn names_are_ours_and_there_once() {
    let mut seen = BTreeSet::new();
    for setting in SETTINGS {
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
    for setting in SETTINGS {
        for value in ["", "1", "tcp://10.0.0.1:80", "udp://10.0.0.1:80", "sctp://10.0.0.1:80"] {
            assert!(!is_injected(setting.variable, value), "{}", setting.variable);
        }
    }
}

#[test]
fn names_and_value_names_say_the_unit() {
    for setting in SETTINGS {
        let name = setting.variable;
        assert_eq!(name.ends_with("_SECS"), setting.value == "SECONDS", "{name}");
        assert_eq!(name.ends_with("_HTTP") || name.ends_with("_URL"), setting.is_url, "{name}");
        assert!(!setting.value.is_empty() && setting.value.bytes().all(|byte| byte.is_ascii_uppercase()), "{name}");
    }
}

#[test]
fn help_is_one_or_two_plain_lines_without_a_full_stop() {
    for setting in SETTINGS {
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
    for setting in SETTINGS {
        for word in setting.help.split(|c: char| !c.is_ascii_uppercase() && c != '_') {
            assert!(
                !(word.starts_with("AGONES_SHIM") || word.starts_with("AGONES_SDK"))
                    || SETTINGS.iter().any(|known| known.variable == word),
                "{}: {word}",
                setting.variable
            );
        }
    }
}

#[test]
fn rows_stand_in_groups() {
    assert!(SETTINGS.is_sorted_by_key(|setting| setting.group));
}

#[test]
fn every_row_is_read_by_the_wrapper_and_by_check_and_log_rows_by_all() {
    for setting in SETTINGS {
        assert!(!setting.variable.starts_with(LOG) || setting.readers == EVERYONE, "{}", setting.variable);
        assert!(Reader::Wrapper.reads(setting) && Reader::Check.reads(setting), "{}", setting.variable);
        assert!(setting.readers.iter().filter(|reader| **reader == Reader::Check).count() == 0);
    }
}

#[test]
fn each_default_that_is_a_text_parses_and_each_row_rejects_something() {
    for setting in SETTINGS {
        let mut draft = Draft::default();
        if let Default::Text(text) = setting.default {
            assert_eq!((setting.parse)(&mut draft, text), Ok(()), "{}", setting.variable);
        }
        assert!((setting.parse)(&mut draft, " '\u{7} ").is_err(), "{}", setting.variable);
    }
}

#[test]
fn zero_is_allowed_just_where_the_help_gives_it_a_meaning() {
    for setting in SETTINGS.iter().filter(|setting| setting.value == "SECONDS") {
        let is_allowed = (setting.parse)(&mut Draft::default(), "0").is_ok();
        assert_eq!(setting.help.contains("; 0 is never"), is_allowed, "{}", setting.variable);
    }
}

#[test]
fn defaults_are_those_of_the_specification() {
    let settings = defaults();
    let seconds = Duration::from_secs;
    assert_eq!(settings.liveness, settings.readiness);
    assert_eq!(settings.ready_interval, None);
    assert_eq!(settings.ready_timeout, None);
    assert_eq!(settings.live_failure_threshold, None);
    assert_eq!(settings.probe_timeout, seconds(2));
    assert_eq!(settings.health_interval, None);
    assert_eq!(settings.counters, []);
    assert_eq!(settings.sdk, SdkMode::Auto);
    assert_eq!((&settings.sdk_endpoint.host, settings.sdk_endpoint.port.get()), (&Host::Loopback, 9357));
    assert_eq!(settings.sdk_connect_timeout, seconds(30));
    assert_eq!(settings.sdk_call_timeout, seconds(2));
    assert!(!settings.wait_for_sdk);
    assert_eq!(settings.shutdown_timeout, seconds(8));
    let signal = settings.stop.signal.expect("a default");
    assert_eq!((signal.number, signal.name.as_str()), (15, "SIGTERM"));
    assert!(settings.stop.ok_codes.is_empty());
    assert_eq!(settings.stop.hup, Hup::Stop);
    assert_eq!(settings.stop.timeout, None);
    assert_eq!(settings.stop.scope, StopScope::Group);
    assert_eq!((settings.stop_hook, settings.allocated_hook), (None, None));
    assert_eq!((settings.labels, settings.annotations), (vec![], vec![]));
    assert_eq!((settings.idle_shutdown, settings.max_age), (None, None));
    assert_eq!(settings.status_addr, None);
    assert_eq!(settings.log.filter, "info");
    assert_eq!(settings.log.format, LogFormat::Auto);
}
