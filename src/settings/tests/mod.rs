//! Rules that hold for every row, whole environments, and the page of `check`.

mod check;
mod counters;
mod environments;
mod probes;
mod rows;

use super::{LivenessSettings, LogSettings, Parsed, SdkSettings, Settings, StatusAddr, Variable, insight};

fn sidecar(environment: impl IntoIterator<Item = Variable>) -> Parsed<Settings> {
    Settings::read(false, environment)
}

fn wrapper(environment: impl IntoIterator<Item = Variable>) -> Parsed<Settings> {
    Settings::read(true, environment)
}

fn probe(environment: impl IntoIterator<Item = Variable>) -> Parsed<LivenessSettings> {
    LivenessSettings::read(environment)
}

fn sdk(environment: impl IntoIterator<Item = Variable>) -> Parsed<(SdkSettings, LogSettings)> {
    SdkSettings::read(environment)
}

fn status(environment: impl IntoIterator<Item = Variable>) -> Parsed<Option<StatusAddr>> {
    insight::read_status_endpoint(environment)
}
