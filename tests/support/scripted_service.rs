//! The scripted SDK server's methods: each call is recorded, looked up in the script, and answered.
//!
//! Every answer is given on a thread of its own, so that one that hangs holds up nobody.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agones_shim::testing::sdk::proto::sdk::game_server::status::ListStatus;
use agones_shim::testing::sdk::proto::{self, beta, sdk};
use futures_executor::block_on;
use futures_util::TryStreamExt as _;
use grpcio::{
    ClientStreamingSink, Method, RequestStream, RpcContext, RpcStatus, RpcStatusCode, Service, ServiceBuilder,
    UnarySink,
};

use super::{Answer, Shared, State, meta, status};

/// Every method that is served, for scripts that are about all of them.
pub const METHODS: [&str; 14] = [
    "Ready",
    "Allocate",
    "Shutdown",
    "Reserve",
    "Health",
    "GetGameServer",
    "SetLabel",
    "SetAnnotation",
    "GetCounter",
    "UpdateCounter",
    "GetList",
    "UpdateList",
    "AddListValue",
    "RemoveListValue",
];

/// What a call does when it is not scripted: a reply, or the error that a real server would give.
type Outcome<T> = Result<T, (RpcStatusCode, String)>;

/// All methods, on one shared state.
pub fn build(shared: &Arc<Shared>) -> Service {
    let empty = || Ok(sdk::Empty {});
    let builder = ServiceBuilder::new();
    let builder = unary(
        builder,
        shared,
        &proto::READY,
        "Ready",
        |_| String::new(),
        move |state, _| {
            state.request("Ready", "Ready");
            empty()
        },
    );
    let builder = unary(
        builder,
        shared,
        &proto::ALLOCATE,
        "Allocate",
        |_| String::new(),
        move |state, _| {
            state.request("Allocate", "Allocated");
            empty()
        },
    );
    let builder = unary(
        builder,
        shared,
        &proto::SHUTDOWN,
        "Shutdown",
        |_| String::new(),
        move |state, _| {
            state.request("Shutdown", "Shutdown");
            empty()
        },
    );
    let seconds = |request: &sdk::Duration| request.seconds.to_string();
    let builder = unary(builder, shared, &proto::RESERVE, "Reserve", seconds, move |state, _| {
        state.request("Reserve", "Reserved");
        empty()
    });
    let builder = unary(
        builder,
        shared,
        &proto::GET_GAME_SERVER,
        "GetGameServer",
        |_| String::new(),
        |state, _| Ok(state.current()),
    );
    let pair = |request: &sdk::KeyValue| format!("{}={}", request.key, request.value);
    let builder = unary(builder, shared, &proto::SET_LABEL, "SetLabel", pair, move |state, request| {
        meta(&mut state.game_server).labels.extend([shown(request)]);
        empty()
    });
    let builder = unary(builder, shared, &proto::SET_ANNOTATION, "SetAnnotation", pair, move |state, request| {
        meta(&mut state.game_server).annotations.extend([shown(request)]);
        empty()
    });
    let builder =
        unary(builder, shared, &proto::GET_COUNTER, "GetCounter", |request| request.name.clone(), get_counter);
    let builder = unary(builder, shared, &proto::UPDATE_COUNTER, "UpdateCounter", update_text, update_counter);
    let builder = lists(builder, shared);
    let shared = Arc::clone(shared);
    builder
        .add_client_streaming_handler(&proto::HEALTH, move |_: RpcContext<'_>, beats, sink| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || health(&shared, beats, sink));
        })
        .build()
}

/// A label or an annotation as the GameServer shows it.
fn shown(request: &sdk::KeyValue) -> (String, String) {
    (format!("agones.dev/sdk-{}", request.key), request.value.clone())
}

/// Overwriting a List is no business of the shim's: recorded, and refused.
fn lists(builder: ServiceBuilder, shared: &Arc<Shared>) -> ServiceBuilder {
    let refuse = |_: &mut State, _: &beta::UpdateListRequest| Err(unknown("not by the shim"));
    let builder = unary(builder, shared, &proto::UPDATE_LIST, "UpdateList", |_| String::new(), refuse);
    let builder = unary(
        builder,
        shared,
        &proto::GET_LIST,
        "GetList",
        |request| request.name.clone(),
        |state, request| {
            let list = list(state, &request.name)?.clone();
            Ok(beta::List { name: request.name.clone(), capacity: list.capacity, values: list.values })
        },
    );
    let added = |request: &beta::AddListValueRequest| format!("{}+{}", request.name, request.value);
    let builder = unary(builder, shared, &proto::ADD_LIST_VALUE, "AddListValue", added, |state, request| {
        let list = list(state, &request.name)?;
        let size = list.values.len();
        if i64::try_from(size).is_ok_and(|size| size >= list.capacity) {
            let full = "out of range. No available capacity. Current Capacity";
            return Err(unknown(&format!("{full}: {}, List Size: {size}", list.capacity)));
        }
        if list.values.contains(&request.value) {
            let there = format!("already exists. Value: {} already in List: {}", request.value, request.name);
            return Err(unknown(&there));
        }
        list.values.push(request.value.clone());
        Ok(beta::List::default())
    });
    let removed = |request: &beta::RemoveListValueRequest| format!("{}-{}", request.name, request.value);
    unary(builder, shared, &proto::REMOVE_LIST_VALUE, "RemoveListValue", removed, |state, request| {
        let list = list(state, &request.name)?;
        let place = list.values.iter().position(|value| *value == request.value);
        let place = place.ok_or_else(|| unknown(&format!("not found: value {} not in list", request.value)))?;
        list.values.remove(place);
        Ok(beta::List::default())
    })
}

fn list<'a>(state: &'a mut State, name: &str) -> Outcome<&'a mut ListStatus> {
    let lists = &mut status(&mut state.game_server).lists;
    lists.get_mut(name).ok_or_else(|| unknown(&format!("list not found: {name}")))
}

fn unknown(text: &str) -> (RpcStatusCode, String) {
    (RpcStatusCode::UNKNOWN, text.to_owned())
}

fn unary<Req, Resp>(
    builder: ServiceBuilder,
    shared: &Arc<Shared>,
    method: &Method<Req, Resp>,
    name: &'static str,
    detail: impl Fn(&Req) -> String + Send + Clone + 'static,
    act: impl Fn(&mut State, &Req) -> Outcome<Resp> + Send + Clone + 'static,
) -> ServiceBuilder
where
    Req: Send + 'static,
    Resp: Default + Send + 'static,
{
    let shared = Arc::clone(shared);
    builder.add_unary_handler(method, move |_: RpcContext<'_>, request: Req, sink: UnarySink<Resp>| {
        // Recorded and done here and not on the thread: calls are in the order in which they came, and whoever
        // sees one sees its effect.
        let (outcome, pause) = {
            let mut state = shared.lock();
            state.record(name, detail(&request));
            carry_out(&mut state, name, |state| act(state, &request))
        };
        shared.changed.notify_all();
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            shared.hang(pause);
            // The caller may be gone: that is its own business.
            let _ = match outcome {
                Ok(reply) => block_on(sink.success(reply)),
                Err((code, text)) => block_on(sink.fail(RpcStatus::with_message(code, text))),
            };
        });
    })
}

/// What is answered, and how much later.
fn carry_out<T: Default>(
    state: &mut State,
    method: &'static str,
    act: impl FnOnce(&mut State) -> Outcome<T>,
) -> (Outcome<T>, Duration) {
    match state.answer(method) {
        Answer::Ok => (act(state), Duration::ZERO),
        Answer::Error(code, text) => (Err((code, text)), Duration::ZERO),
        Answer::Ignored => (Ok(T::default()), Duration::ZERO),
        Answer::Hang(time) => (Ok(T::default()), time),
        Answer::Late(time) => (act(state), time),
    }
}

fn health(shared: &Shared, mut beats: RequestStream<sdk::Empty>, sink: ClientStreamingSink<sdk::Empty>) {
    while let Ok(Some(_)) = block_on(beats.try_next()) {
        shared.lock().record("Health", String::new());
        shared.changed.notify_all();
    }
    let (outcome, pause) = carry_out(&mut shared.lock(), "Health", |_| Ok(sdk::Empty {}));
    shared.hang(pause);
    let _ = match outcome {
        Ok(reply) => block_on(sink.success(reply)),
        Err((code, text)) => block_on(sink.fail(RpcStatus::with_message(code, text))),
    };
}

fn get_counter(state: &mut State, request: &beta::GetCounterRequest) -> Outcome<beta::Counter> {
    let counter = declared(state, &request.name)?;
    Ok(beta::Counter { name: request.name.clone(), count: counter.0, capacity: counter.1 })
}

fn update_counter(state: &mut State, request: &beta::UpdateCounterRequest) -> Outcome<beta::Counter> {
    let Some(update) = &request.counter_update_request else {
        return Err((RpcStatusCode::UNKNOWN, "invalid argument. Malformed CounterUpdateRequest".to_owned()));
    };
    let (count, capacity) = declared(state, &update.name)?;
    let capacity = update.capacity.unwrap_or(capacity);
    let wanted = update.count.unwrap_or(count + update.count_diff);
    if !(0..=capacity).contains(&wanted) {
        let range = "out of range. Count must be within range [0,Capacity]";
        return Err((RpcStatusCode::UNKNOWN, format!("{range}. Found Count: {wanted}, Capacity: {capacity}")));
    }
    if let Some(counter) = status(&mut state.game_server).counters.get_mut(&update.name) {
        (counter.count, counter.capacity) = (wanted, capacity);
    }
    // Not the new value: some versions answer zeros, and nobody may trust it.
    Ok(beta::Counter::default())
}

fn declared(state: &mut State, name: &str) -> Outcome<(i64, i64)> {
    match status(&mut state.game_server).counters.get(name) {
        Some(counter) => Ok((counter.count, counter.capacity)),
        None => Err((RpcStatusCode::UNKNOWN, format!("counter not found: {name}"))),
    }
}

fn update_text(request: &beta::UpdateCounterRequest) -> String {
    let update = request.counter_update_request.clone().unwrap_or_default();
    match (update.count, update.capacity) {
        (Some(count), None) => format!("{}={count}", update.name),
        (Some(count), Some(capacity)) => format!("{}={count}/{capacity}", update.name),
        (None, _) => format!("{}{:+}", update.name, update.count_diff),
    }
}
