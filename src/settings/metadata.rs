//! Labels and annotations that the GameServer gets at Ready.

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Setting, Subject};
use super::sdk::warn_if_off;
use super::text::pairs;

/// What Agones puts in front of each key.
pub(crate) const SDK_PREFIX: &str = "agones.dev/sdk-";

static LABELS: Setting<Vec<KeyValue>> = Setting::several("AGONES_SHIM_LABELS", "PAIRS", pairs::labels)
    .help("Labels that the GameServer gets at Ready: `key=value`, several with commas; Agones puts `agones.dev/sdk-` in front of each key");

static ANNOTATIONS: Setting<Vec<KeyValue>> = Setting::several("AGONES_SHIM_ANNOTATIONS", "PAIRS", pairs::annotations)
    .help("Annotations, written like `AGONES_SHIM_LABELS`; a value with commas goes in double quotes: `motd=\"hello, world\"`");

pub(super) static SUBJECT: Subject =
    Subject { heading: "Labels and annotations", rows: &[&LABELS, &ANNOTATIONS], given: &[], check, facts };

/// A label or an annotation, without the prefix that Agones puts in front of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyValue {
    /// Never empty.
    pub key: String,
    /// May be empty.
    pub value: String,
}

/// Labels and annotations that the GameServer gets at Ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MetadataSettings {
    pub labels: Vec<KeyValue>,
    pub annotations: Vec<KeyValue>,
}

impl MetadataSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            labels: values.get(&LABELS).unwrap_or_default(),
            annotations: values.get(&ANNOTATIONS).unwrap_or_default(),
        }
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    warn_if_off(values, &[LABELS.name(), ANNOTATIONS.name()], findings);
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = MetadataSettings::new(values);
    vec![("labels at Ready", shown(&settings.labels)), ("annotations at Ready", shown(&settings.annotations))]
}

fn shown(pairs: &[KeyValue]) -> String {
    let shown: Vec<String> = pairs.iter().map(|pair| format!("{SDK_PREFIX}{}={:?}", pair.key, pair.value)).collect();
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}
