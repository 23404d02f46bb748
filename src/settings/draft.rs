//! Values as the rows of the table leave them, before they make sense together.
//!
//! One field a row. What several rows mean together (the Counter's three, the
//! liveness set that is the readiness set) is put together here; what is wrong
//! with them together is said in `parse.rs`.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use super::words::Words;
use super::{
    CounterSettings, Endpoint, Hook, Host, HttpTarget, Hup, KeyValue, LogFormat, LogSettings, Probe, ProbeSettings,
    SdkMode, SdkSettings, Settings, StatusAddr, StatusSettings, StopScope, StopSettings, StopSignal, TcpTarget,
};
use crate::exposition::Selector;

/// `None` is not set. Rows with a default always leave a value.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub ready_tcp: Option<Vec<TcpTarget>>,
    pub ready_http: Option<Vec<HttpTarget>>,
    pub ready_interval: Option<Duration>,
    pub ready_timeout: Option<Duration>,
    pub live_tcp: Option<Vec<TcpTarget>>,
    pub live_http: Option<Vec<HttpTarget>>,
    pub live_failure_threshold: Option<NonZeroU32>,
    pub probe_timeout: Option<Duration>,
    pub health_interval: Option<Duration>,
    pub counter_name: Option<String>,
    pub counter_url: Option<HttpTarget>,
    pub counter_metric: Option<Selector>,
    pub counter_interval: Option<Duration>,
    pub sdk: Option<SdkMode>,
    pub sdk_port: Option<NonZeroU16>,
    pub sdk_host: Option<Host>,
    pub sdk_connect_timeout: Option<Duration>,
    pub sdk_call_timeout: Option<Duration>,
    pub wait_for_sdk: Option<bool>,
    pub labels: Option<Vec<KeyValue>>,
    pub annotations: Option<Vec<KeyValue>>,
    pub allocated_hook: Option<Words>,
    pub allocated_hook_timeout: Option<Duration>,
    pub idle_shutdown: Option<Duration>,
    pub max_age: Option<Duration>,
    pub shutdown_timeout: Option<Duration>,
    pub stop_signal: Option<StopSignal>,
    pub stop_scope: Option<StopScope>,
    pub stop_timeout: Option<Duration>,
    pub hup: Option<Hup>,
    pub stop_hook: Option<Words>,
    pub stop_hook_timeout: Option<Duration>,
    pub status_addr: Option<StatusAddr>,
    pub log: Option<String>,
    pub log_format: Option<LogFormat>,
}

/// 0, where it is allowed at all, means never.
fn unless_zero(time: Duration) -> Option<Duration> {
    Some(time).filter(|time| !time.is_zero())
}

fn probes(tcp: Option<&Vec<TcpTarget>>, http: Option<&Vec<HttpTarget>>) -> Vec<Probe> {
    let tcp = tcp.into_iter().flatten().cloned().map(Probe::Tcp);
    tcp.chain(http.into_iter().flatten().cloned().map(Probe::Http)).collect()
}

impl Draft {
    pub fn readiness(&self) -> Vec<Probe> {
        probes(self.ready_tcp.as_ref(), self.ready_http.as_ref())
    }

    /// Setting either of the two replaces the whole default set.
    pub fn liveness(&self) -> Vec<Probe> {
        let own = probes(self.live_tcp.as_ref(), self.live_http.as_ref());
        if own.is_empty() { self.readiness() } else { own }
    }

    // The functions below give `None` only where a row with a default has left
    // no value, which cannot be.

    pub fn settings(&self) -> Option<Settings> {
        let counter = match (&self.counter_name, &self.counter_url, &self.counter_metric) {
            (Some(name), Some(url), Some(metric)) => Some(CounterSettings {
                name: name.clone(),
                url: url.clone(),
                metric: metric.clone(),
                interval: self.counter_interval?,
            }),
            _ => None,
        };
        let hook =
            |words: &Option<Words>, timeout| words.as_ref().map(|words| Hook { argv: words.argv.clone(), timeout });
        Some(Settings {
            readiness: self.readiness(),
            liveness: self.liveness(),
            ready_interval: self.ready_interval,
            ready_timeout: unless_zero(self.ready_timeout?),
            live_failure_threshold: self.live_failure_threshold,
            probe_timeout: self.probe_timeout?,
            health_interval: self.health_interval,
            counter,
            sdk: self.sdk?,
            sdk_endpoint: self.endpoint()?,
            sdk_connect_timeout: self.sdk_connect_timeout?,
            sdk_call_timeout: self.sdk_call_timeout?,
            shutdown_timeout: self.shutdown_timeout?,
            stop: StopSettings {
                signal: self.stop_signal.clone()?,
                hup: self.hup?,
                timeout: unless_zero(self.stop_timeout?),
                scope: self.stop_scope?,
            },
            stop_hook: hook(&self.stop_hook, self.stop_hook_timeout?),
            wait_for_sdk: self.wait_for_sdk?,
            labels: self.labels.clone().unwrap_or_default(),
            annotations: self.annotations.clone().unwrap_or_default(),
            allocated_hook: hook(&self.allocated_hook, self.allocated_hook_timeout?),
            idle_shutdown: unless_zero(self.idle_shutdown?),
            max_age: unless_zero(self.max_age?),
            status_addr: self.status_addr.clone(),
            log: self.log()?,
        })
    }

    pub fn probe(&self) -> Option<ProbeSettings> {
        Some(ProbeSettings { liveness: self.liveness(), probe_timeout: self.probe_timeout?, log: self.log()? })
    }

    pub fn sdk_call(&self) -> Option<SdkSettings> {
        Some(SdkSettings { endpoint: self.endpoint()?, call_timeout: self.sdk_call_timeout?, log: self.log()? })
    }

    pub fn status(&self) -> Option<StatusSettings> {
        Some(StatusSettings { status_addr: self.status_addr.clone(), log: self.log()? })
    }

    pub fn log(&self) -> Option<LogSettings> {
        Some(LogSettings { filter: self.log.clone()?, format: self.log_format? })
    }

    fn endpoint(&self) -> Option<Endpoint> {
        Some(Endpoint { host: self.sdk_host.clone()?, port: self.sdk_port? })
    }
}
