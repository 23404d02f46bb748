//! Values as the rows of the table leave them, before they make sense together.
//!
//! One field a row. What several rows mean together (the liveness set that is
//! the readiness set; in `counter.rs`, the Counters) is put together here; what
//! is wrong with them together is said in `judge.rs`.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use super::words::Words;
use super::{
    Endpoint, Header, Hook, Host, HttpTarget, Hup, KeyValue, LogFormat, LogSettings, LogTarget, Pattern, Probe,
    ProbeSettings, QueryTarget, SdkMode, SdkSettings, Settings, StatusAddr, StatusSettings, StopScope, StopSettings,
    StopSignal, TcpTarget,
};
use crate::counter::exposition::Selector;
use crate::counter::json::Pointer;

/// `None` is not set. Rows with a default always leave a value.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub ready_tcp: Option<Vec<TcpTarget>>,
    pub ready_http: Option<Vec<HttpTarget>>,
    pub ready_query: Option<Vec<QueryTarget>>,
    pub ready_log: Option<Pattern>,
    pub ready_log_count: Option<NonZeroU32>,
    pub ready_log_file: Option<String>,
    pub ready_file: Option<Vec<String>>,
    pub ready_exec: Option<Words>,
    pub ready_interval: Option<Duration>,
    pub ready_timeout: Option<Duration>,
    pub live_tcp: Option<Vec<TcpTarget>>,
    pub live_http: Option<Vec<HttpTarget>>,
    pub live_query: Option<Vec<QueryTarget>>,
    pub live_exec: Option<Words>,
    pub live_failure_threshold: Option<NonZeroU32>,
    pub probe_timeout: Option<Duration>,
    pub health_interval: Option<Duration>,
    pub counter_name: Option<String>,
    pub counter_url: Option<HttpTarget>,
    pub counter_metric: Option<Selector>,
    pub counter_missing_is_zero: Option<bool>,
    pub counter_query: Option<QueryTarget>,
    pub counter_capacity: Option<bool>,
    pub counter_bots: Option<bool>,
    pub counter_json_url: Option<HttpTarget>,
    pub counter_json_count: Option<Pointer>,
    pub counter_json_capacity: Option<Pointer>,
    pub counter_json_header: Option<Header>,
    pub counter_exec: Option<Words>,
    pub counter_interval: Option<Duration>,
    pub list_name: Option<String>,
    /// What the variables of the second Counter and of those after it leave, and nothing else.
    pub further: Vec<Self>,
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

/// The targets of one variable as probes.
fn probes<T: Clone>(targets: Option<&Vec<T>>, probe: fn(T) -> Probe) -> impl Iterator<Item = Probe> {
    targets.into_iter().flatten().cloned().map(probe)
}

fn program(words: &Words) -> Probe {
    Probe::Exec(words.argv.clone())
}

impl Draft {
    /// What the variables with this number leave.
    pub fn of(&self, number: usize) -> Option<&Self> {
        if number == 1 { Some(self) } else { self.further.get(number.checked_sub(2)?) }
    }

    /// The same, to be filled: in the order of the numbers.
    pub fn of_mut(&mut self, number: usize) -> &mut Self {
        let Some(place) = number.checked_sub(2) else { return self };
        if self.further.len() <= place {
            self.further.resize_with(place + 1, Self::default);
        }
        &mut self.further[place]
    }

    pub fn readiness(&self) -> Vec<Probe> {
        let line = self.ready_line();
        probes(self.ready_tcp.as_ref(), Probe::Tcp)
            .chain(probes(self.ready_http.as_ref(), Probe::Http))
            .chain(probes(self.ready_query.as_ref(), Probe::Query))
            .chain(line.map(Probe::Log))
            .chain(probes(self.ready_file.as_ref(), Probe::File))
            .chain(self.ready_exec.iter().map(program))
            .collect()
    }

    fn ready_line(&self) -> Option<LogTarget> {
        let (pattern, count) = (self.ready_log.clone()?, self.ready_log_count?);
        Some(LogTarget { pattern, count, file: self.ready_log_file.clone() })
    }

    /// Setting any of them replaces the whole default set: what of the readiness set tells whether the server lives.
    pub fn liveness(&self) -> Vec<Probe> {
        let own: Vec<Probe> = probes(self.live_tcp.as_ref(), Probe::Tcp)
            .chain(probes(self.live_http.as_ref(), Probe::Http))
            .chain(probes(self.live_query.as_ref(), Probe::Query))
            .chain(self.live_exec.iter().map(program))
            .collect();
        if own.is_empty() { self.readiness().into_iter().filter(Probe::tells_life).collect() } else { own }
    }

    // The functions below give `None` only where a row with a default has left
    // no value, which cannot be.

    pub fn settings(&self) -> Option<Settings> {
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
            counters: self.counters()?,
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
