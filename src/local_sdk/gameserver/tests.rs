//! Traces: calls at times in, what happened as text out. The clock is fake; it
//! jumps from deadline to deadline.

use std::time::Duration;

use proptest::prelude::*;

use super::super::change::{Change, State};
use super::super::request::{Code, Refusal, Reply, Request};
use super::{GameServer, Setting};
use crate::manifest::spec::{Health, Spec};
use crate::sdk::proto::{beta, sdk};

/// A GameServer and what was seen of it.
struct Scenario {
    game_server: GameServer,
    now: Duration,
    trace: Vec<String>,
}

impl Scenario {
    fn new() -> Self {
        Self::with_health(Health { disabled: true, ..Health::default() })
    }

    fn with_health(health: Health) -> Self {
        let setting = Setting {
            batch: Duration::from_millis(500),
            epoch: Duration::from_secs(1_700_000_000),
            address: "127.0.0.1".into(),
            ports: vec![("default".into(), 7000)],
        };
        let game_server = GameServer::new(Spec { health, ..Spec::default() }, setting, Duration::ZERO);
        Self { game_server, now: Duration::ZERO, trace: Vec::new() }
    }

    /// In state Ready, at 0.525 s, with an empty trace.
    fn ready() -> Self {
        let mut scenario = Self::new();
        scenario.call(Request::Ready).until(525);
        scenario.trace.clear();
        assert_eq!(scenario.game_server.state(), State::Ready);
        scenario
    }

    /// Performs a call that is accepted.
    fn call(&mut self, request: Request) -> &mut Self {
        self.try_call(request).expect("accepted");
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better in a scenario")]
    fn try_call(&mut self, request: Request) -> Result<Reply, Refusal> {
        let mut changes = Vec::new();
        let outcome = self.game_server.call(self.now, &request, &mut changes);
        self.note(&changes);
        outcome
    }

    /// Lets the time pass, up to and including this many milliseconds since the start.
    fn until(&mut self, milliseconds: u64) -> &mut Self {
        let end = Duration::from_millis(milliseconds);
        while let Some(at) = self.game_server.next_deadline().filter(|&at| at <= end) {
            self.now = at;
            let mut changes = Vec::new();
            self.game_server.tick(at, &mut changes);
            self.note(&changes);
            assert!(self.game_server.next_deadline().is_none_or(|next| next > at), "a deadline that does not pass");
        }
        self.now = end;
        self
    }

    fn note(&mut self, changes: &[Change]) {
        let seconds = self.now.as_secs_f64();
        self.trace.extend(changes.iter().map(|change| format!("{seconds:.3} {} {change}", change.topic())));
    }

    #[track_caller]
    fn saw(&mut self, wanted: &[&str]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.trace), wanted);
        self
    }
}

fn pair(key: &str, value: &str) -> sdk::KeyValue {
    sdk::KeyValue { key: key.into(), value: value.into() }
}

fn set_count(count: i64) -> Request {
    let update = beta::CounterUpdateRequest { name: "players".into(), count: Some(count), ..Default::default() };
    Request::UpdateCounter(Some(update))
}

fn add(value: &str) -> Request {
    Request::AddListValue(beta::AddListValueRequest { name: "players".into(), value: value.into() })
}

#[test]
fn ready_shows_after_the_batch_and_the_controller() {
    Scenario::new()
        .call(Request::Ready)
        .until(60_000)
        .saw(&["0.500 state Scheduled -> RequestReady", "0.525 state RequestReady -> Ready (controller)"]);
}

#[test]
fn one_state_is_pending_and_the_last_one_wins_on_the_first_ones_timer() {
    Scenario::new()
        .call(Request::Ready)
        .until(450)
        .call(Request::Shutdown)
        .until(60_000)
        .saw(&["0.500 state Scheduled -> Shutdown", "0.525 deleted deletion timestamp set (controller)"]);
    Scenario::new()
        .call(Request::Shutdown)
        .call(Request::Reserve(0))
        .call(Request::Allocate)
        .until(60_000)
        .saw(&["0.500 state Scheduled -> Allocated"]);
}

#[test]
fn ready_while_ready_leaves_allocation_for_a_moment() {
    Scenario::ready()
        .call(Request::Ready)
        .until(60_000)
        .saw(&["1.025 state Ready -> RequestReady", "1.050 state RequestReady -> Ready (controller)"]);
}

#[test]
fn ready_while_allocated_gives_the_server_away() {
    Scenario::ready().call(Request::LocalAllocate).call(Request::Ready).until(60_000).saw(&[
        "0.525 state Ready -> Allocated (allocator)",
        "1.025 state Allocated -> RequestReady",
        "1.050 state RequestReady -> Ready (controller)",
    ]);
}

#[test]
fn a_reservation_ends_by_its_timer_through_the_usual_batch() {
    Scenario::ready().call(Request::Reserve(3)).until(60_000).saw(&[
        "1.025 state Ready -> Reserved",
        "4.025 reserve the reservation is over, back to Ready",
        "4.525 state Reserved -> RequestReady",
        "4.550 state RequestReady -> Ready (controller)",
    ]);
}

#[test]
fn a_reservation_of_nothing_is_for_ever() {
    for seconds in [0, -1] {
        Scenario::ready().call(Request::Reserve(seconds)).until(1_000_000_000).saw(&["1.025 state Ready -> Reserved"]);
    }
}

#[test]
fn every_later_state_call_ends_a_reservations_timer() {
    for (later, shown) in [(Request::Allocate, "Allocated"), (Request::Reserve(0), "Reserved")] {
        let wanted = format!("2.500 state Reserved -> {shown}");
        Scenario::ready()
            .call(Request::Reserve(3))
            .until(2_000)
            .saw(&["1.025 state Ready -> Reserved"])
            .call(later)
            .until(60_000)
            .saw(&[&wanted]);
    }
}

#[test]
fn nothing_moves_after_the_end() {
    let ends = [
        (Request::Shutdown, "being deleted"),
        (Request::LocalUnhealthy, "Unhealthy"),
        (Request::LocalDelete, "being deleted"),
    ];
    let calls = [
        (Request::Ready, "RequestReady"),
        (Request::Allocate, "Allocated"),
        (Request::Reserve(1), "Reserved"),
        (Request::Shutdown, "Shutdown"),
    ];
    for (end, because) in &ends {
        for (call, wanted) in &calls {
            let mut scenario = Scenario::ready();
            scenario.call(end.clone()).until(2_000);
            let state = scenario.game_server.state();
            scenario.trace.clear();
            scenario.call(call.clone()).until(60_000);
            assert_eq!(scenario.game_server.state(), state);
            scenario.saw(&[&format!("2.500 ignored {wanted}: the GameServer is {because}")]);
        }
    }
}

#[test]
fn a_deletion_leaves_the_state_as_it_was() {
    let mut scenario = Scenario::ready();
    scenario.call(Request::LocalDelete).saw(&["0.525 deleted deletion timestamp set (as asked)"]);
    scenario.until(9_000).call(Request::LocalDelete).saw(&[]);
    let game_server = scenario.game_server.snapshot();
    assert_eq!(game_server.object_meta.expect("meta").deletion_timestamp, 1_700_000_000);
    assert_eq!(game_server.status.expect("status").state, "Ready");
}

#[test]
fn only_a_ready_server_is_allocated_and_it_says_when() {
    let mut scenario = Scenario::new();
    let refusal = scenario.try_call(Request::LocalAllocate).expect_err("Scheduled");
    assert_eq!(refusal.code, Code::FailedPrecondition);
    assert_eq!(refusal.message, "only a Ready or Allocated GameServer can be allocated, this one is Scheduled");
    let mut scenario = Scenario::ready();
    scenario.call(Request::LocalAllocate).saw(&["0.525 state Ready -> Allocated (allocator)"]);
    let annotations = scenario.game_server.snapshot().object_meta.expect("meta").annotations;
    assert_eq!(annotations["agones.dev/last-allocated"], "2023-11-14T22:13:20.525Z");
}

#[test]
fn an_allocated_server_can_be_allocated_again_and_each_time_is_another() {
    let mut scenario = Scenario::ready();
    let stamp = |scenario: &Scenario| {
        scenario.game_server.snapshot().object_meta.expect("meta").annotations["agones.dev/last-allocated"].clone()
    };
    scenario.call(Request::LocalAllocate);
    let first = stamp(&scenario);
    scenario
        .call(Request::LocalAllocate)
        .saw(&["0.525 state Ready -> Allocated (allocator)", "0.525 state Allocated -> Allocated (allocator)"]);
    assert_eq!(
        (first.as_str(), stamp(&scenario).as_str()),
        ("2023-11-14T22:13:20.525Z", "2023-11-14T22:13:20.525000001Z")
    );
    scenario.call(Request::Allocate).until(60_000);
    assert_eq!(stamp(&scenario), "2023-11-14T22:13:21.025Z", "by the SDK too");
    scenario.call(Request::Ready).until(120_000);
    assert_eq!(stamp(&scenario), "2023-11-14T22:13:21.025Z", "Ready() leaves it");
}

#[test]
fn a_fleet_that_shrinks_takes_a_ready_server_and_never_an_allocated_one() {
    let mut scenario = Scenario::ready();
    let chosen = |scenario: &mut Scenario| match scenario.try_call(Request::LocalFleetScaleDown) {
        Ok(Reply::Text(text)) => text.contains(r#""chosen":true"#),
        other => panic!("{other:?}"),
    };
    assert!(chosen(&mut scenario));
    scenario.call(Request::LocalAllocate);
    assert!(!chosen(&mut scenario));
    scenario.call(Request::Reserve(0)).until(10_000);
    assert!(!chosen(&mut scenario), "Reserved");
    scenario.call(Request::Ready).until(20_000);
    assert!(chosen(&mut scenario));
    scenario.call(Request::LocalDelete);
    assert!(!chosen(&mut scenario), "it goes already");
}

#[test]
fn without_beats_it_turns_unhealthy_before_ready_as_after() {
    let looks = [
        "5.000 health no beat for 5.0s: missed 1 of 3",
        "10.000 health no beat for 10.0s: missed 2 of 3",
        "15.000 health no beat for 15.0s: missed 3 of 3",
    ];
    let mut before = Scenario::with_health(Health::default());
    before.until(15_400).saw(&looks);
    assert!(!before.game_server.is_healthy(), "/gshealthz fails before the state shows");
    before.until(1_000_000).saw(&["15.500 state Scheduled -> Unhealthy (health)"]);
    let mut after = Scenario::with_health(Health::default());
    after.call(Request::Ready).until(4_000);
    after.trace.clear();
    after.until(15_400).saw(&looks).until(1_000_000).saw(&["15.500 state Ready -> Unhealthy (health)"]);
}

#[test]
fn a_beat_in_time_forgets_all_failures() {
    let mut scenario = Scenario::with_health(Health::default());
    scenario
        .until(10_100)
        .saw(&["5.000 health no beat for 5.0s: missed 1 of 3", "10.000 health no beat for 10.0s: missed 2 of 3"])
        .call(Request::Health)
        .saw(&["10.100 health beats are back"])
        .until(15_000)
        .saw(&[])
        .until(20_000)
        .saw(&["20.000 health no beat for 9.9s: missed 1 of 3"]);
}

#[test]
fn steady_beats_keep_it_healthy_for_an_hour() {
    let mut scenario = Scenario::with_health(Health::default());
    for milliseconds in (0..3_600_000).step_by(4_900) {
        scenario.until(milliseconds).call(Request::Health);
    }
    scenario.saw(&[]);
}

#[test]
fn nothing_watches_the_beats_where_health_is_disabled() {
    let mut scenario = Scenario::with_health(Health { disabled: true, failure_threshold: 1, ..Health::default() });
    scenario.until(1_000_000_000).saw(&[]);
    assert!(scenario.game_server.is_healthy());
    assert_eq!(scenario.game_server.next_deadline(), None);
}

#[test]
fn the_declared_health_decides() {
    let health = Health { disabled: false, period_seconds: 1, failure_threshold: 2, initial_delay_seconds: 7 };
    Scenario::with_health(health).until(100_000).saw(&[
        "7.000 health no beat for 7.0s: missed 1 of 2",
        "8.000 health no beat for 8.0s: missed 2 of 2",
        "8.500 state Scheduled -> Unhealthy (health)",
    ]);
}

#[test]
fn unhealthy_once_asked_for_cannot_be_talked_out_of() {
    let mut scenario = Scenario::with_health(Health { failure_threshold: 1, ..Health::default() });
    scenario.until(5_100).call(Request::Health).call(Request::Ready).until(9_000).saw(&[
        "5.000 health no beat for 5.0s: missed 1 of 1",
        "5.100 health beats are back",
        "5.500 state Scheduled -> Unhealthy (health)",
    ]);
}

#[test]
fn labels_and_annotations_show_after_the_batch_with_the_sdks_prefix() {
    let mut scenario = Scenario::new();
    scenario
        .call(Request::SetLabel(pair("map", "de_dust")))
        .until(100)
        .call(Request::SetLabel(pair("map", "de_dust2")))
        .call(Request::SetAnnotation(pair("note", "any value: \u{fc}")))
        .until(60_000)
        .saw(&[
            "0.500 label agones.dev/sdk-map=\"de_dust2\"",
            "0.600 annotate agones.dev/sdk-note=\"any value: \u{fc}\"",
        ]);
    let meta = scenario.game_server.snapshot().object_meta.expect("meta");
    assert_eq!(meta.labels["agones.dev/sdk-map"], "de_dust2");
    assert_eq!(meta.annotations["agones.dev/sdk-note"], "any value: \u{fc}");
}

#[test]
fn a_key_that_only_its_prefix_makes_too_long_fails_when_it_is_written() {
    let key = "k".repeat(62);
    let wanted = format!("0.500 refused agones.dev/sdk-{key}: it must not be longer than 63 characters");
    Scenario::new()
        .call(Request::SetLabel(pair(&key, "v")))
        .call(Request::SetLabel(pair("fine", "v")))
        .until(60_000)
        .saw(&["0.500 label agones.dev/sdk-fine=\"v\"", &wanted]);
}

#[test]
fn bad_labels_are_the_callers_fault() {
    let mut scenario = Scenario::new();
    let refusal = scenario.try_call(Request::SetLabel(pair("bad key", "v"))).expect_err("a blank");
    assert_eq!(refusal.code, Code::InvalidArgument);
    assert!(refusal.message.starts_with("invalid label key \"bad key\": "), "{}", refusal.message);
    scenario.until(60_000).saw(&[]);
}

#[test]
fn counters_and_lists_are_answered_at_once_and_shown_after_the_batch() {
    let mut scenario = Scenario::new();
    let shown = |scenario: &Scenario| {
        let status = scenario.game_server.snapshot().status.expect("status");
        (status.counters["players"].count, status.lists["players"].values.clone())
    };
    scenario.call(set_count(3)).call(add("ann")).until(400).call(set_count(5)).call(add("bob"));
    assert_eq!(shown(&scenario), (0, vec![]));
    let Ok(Reply::Counter(counter)) = scenario.try_call(Request::GetCounter("players".into())) else { panic!() };
    assert_eq!(counter.count, 5);
    scenario.until(60_000).saw(&["0.500 counter players 5/1000", "0.500 list players 2/1000 [ann, bob]"]);
    assert_eq!(shown(&scenario), (5, vec!["ann".into(), "bob".into()]));
}

#[test]
fn counters_go_on_after_the_end() {
    Scenario::ready()
        .call(Request::LocalDelete)
        .call(set_count(3))
        .until(60_000)
        .saw(&["0.525 deleted deletion timestamp set (as asked)", "1.025 counter players 3/1000"]);
}

#[test]
fn every_change_that_shows_is_a_new_revision() {
    let mut scenario = Scenario::new();
    let revision = |scenario: &Scenario| scenario.game_server.snapshot().object_meta.expect("meta").resource_version;
    assert_eq!(revision(&scenario), "1");
    scenario.call(Request::Ready).call(set_count(1));
    assert_eq!(revision(&scenario), "1");
    scenario.until(60_000);
    assert_eq!(revision(&scenario), "4", "RequestReady, the Counter, Ready");
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u16),
    Call(Request),
}

fn step() -> impl Strategy<Value = Step> {
    let update = (any::<Option<i64>>(), proptest::option::of(-2..20_i64), -3..4_i64).prop_map(
        |(count, capacity, count_diff)| {
            let name = "players".to_owned();
            Request::UpdateCounter(Some(beta::CounterUpdateRequest { name, count, capacity, count_diff }))
        },
    );
    let request = prop_oneof![
        Just(Request::Ready),
        Just(Request::Allocate),
        Just(Request::Shutdown),
        any::<i64>().prop_map(Request::Reserve),
        (0..5_i64).prop_map(Request::Reserve),
        Just(Request::Health),
        Just(Request::LocalAllocate),
        Just(Request::LocalUnhealthy),
        Just(Request::LocalDelete),
        "[a-z/. ]{0,5}".prop_map(|key| Request::SetLabel(pair(&key, &key))),
        "[a-c]".prop_map(|value| add(&value)),
        update,
    ];
    prop_oneof![any::<u16>().prop_map(Step::Wait), request.prop_map(Step::Call)]
}

proptest! {
    /// A random walk. The end is the end, no deadline is missed, no Counter
    /// leaves its range, and the timers never spin.
    #[test]
    fn whatever_is_called_when(steps in proptest::collection::vec(step(), 1..60)) {
        let mut scenario = Scenario::with_health(Health::default());
        let mut ended = None;
        for step in steps {
            match step {
                Step::Wait(milliseconds) => {
                    let end = u64::try_from(scenario.now.as_millis()).expect("short") + u64::from(milliseconds);
                    scenario.until(end);
                }
                Step::Call(request) => drop(scenario.try_call(request)),
            }
            let state = scenario.game_server.state();
            let status = scenario.game_server.snapshot().status.expect("status");
            for counter in status.counters.values() {
                prop_assert!((0..=counter.capacity).contains(&counter.count), "{counter:?}");
            }
            let end = (scenario.game_server.is_deleted() || state == State::Shutdown || state == State::Unhealthy).then_some(state);
            prop_assert!(ended.is_none() || ended == end, "{ended:?} became {end:?}");
            ended = end;
        }
    }
}
