//! The gRPC side: translates, asks the server thread, answers.
//!
//! Decides nothing. A handler waits for the server thread's answer, which that
//! thread gives without waiting for anything itself.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use futures_util::{SinkExt, TryStreamExt, future};
use grpcio::{
    ChannelBuilder, Environment, Method, RpcStatus, RpcStatusCode, ServerBuilder, ServerCredentials,
    ServerStreamingSink, ServiceBuilder, UnarySink, UnarySinkResult, WriteFlags,
};

use super::request::{Refusal, Reply, Request};
use super::server::{Door, WATCH_ROOM};
use crate::sdk::proto::{self, beta, sdk};

/// How often a watch without changes looks whether its client is still there.
const WATCH_LOOK: Duration = Duration::from_secs(1);

/// Starts serving, and says on which port.
///
/// # Errors
/// The port could not be bound.
pub fn serve(env: Arc<Environment>, address: SocketAddr, door: &Door) -> Result<(grpcio::Server, u16), String> {
    // gRPC would share the port with whoever has it already, and split the calls.
    let args = ChannelBuilder::new(Arc::clone(&env)).reuse_port(false).build_args();
    let service = sdk_service(beta_service(ServiceBuilder::new(), door), door).build();
    let mut server = ServerBuilder::new(env)
        .channel_args(args)
        .register_service(service)
        .build()
        .map_err(|error| format!("the gRPC server could not be made: {error}"))?;
    let port = server
        .add_listening_port(address.to_string(), ServerCredentials::insecure())
        .map_err(|_| format!("gRPC could not listen on {address}"))?;
    server.start();
    Ok((server, port))
}

fn sdk_service(service: ServiceBuilder, door: &Door) -> ServiceBuilder {
    let service = unary(service, &proto::READY, door, |_| Request::Ready, empty);
    let service = unary(service, &proto::ALLOCATE, door, |_| Request::Allocate, empty);
    let service = unary(service, &proto::SHUTDOWN, door, |_| Request::Shutdown, empty);
    let service = unary(service, &proto::RESERVE, door, |duration| Request::Reserve(duration.seconds), empty);
    let service = unary(service, &proto::SET_LABEL, door, Request::SetLabel, empty);
    let service = unary(service, &proto::SET_ANNOTATION, door, Request::SetAnnotation, empty);
    let service = unary(
        service,
        &proto::GET_GAME_SERVER,
        door,
        |_| Request::GetGameServer,
        |reply| match reply {
            Reply::GameServer(game_server) => Some(*game_server),
            _ => None,
        },
    );
    let service = watch(service, door);
    health(service, door)
}

fn beta_service(service: ServiceBuilder, door: &Door) -> ServiceBuilder {
    let service = unary(service, &proto::GET_COUNTER, door, |get| Request::GetCounter(get.name), counter);
    let service = unary(
        service,
        &proto::UPDATE_COUNTER,
        door,
        |update| Request::UpdateCounter(update.counter_update_request),
        counter,
    );
    let service = unary(service, &proto::GET_LIST, door, |get| Request::GetList(get.name), list);
    let service = unary(service, &proto::UPDATE_LIST, door, Request::UpdateList, list);
    let service = unary(service, &proto::ADD_LIST_VALUE, door, Request::AddListValue, list);
    unary(service, &proto::REMOVE_LIST_VALUE, door, Request::RemoveListValue, list)
}

fn unary<Req: 'static, Resp: Send + 'static>(
    service: ServiceBuilder,
    method: &Method<Req, Resp>,
    door: &Door,
    translate: fn(Req) -> Request,
    answer: fn(Reply) -> Option<Resp>,
) -> ServiceBuilder {
    let door = door.clone();
    service.add_unary_handler(method, move |ctx, request, sink| {
        let request = translate(request);
        let outcome = door.try_call(request.clone());
        if outcome == Ok(Reply::Later) {
            // On a thread of its own: this one serves everybody. Without one the sink is dropped, which cancels the call.
            let door = door.clone();
            let thread = thread::Builder::new().name("local-sdk-late".into());
            let _ = thread.spawn(move || drop(futures_executor::block_on(send(sink, door.call(&request).map(answer)))));
            return;
        }
        let sending = send(sink, outcome.map(answer));
        // The reply is on its way, but dropping its future would cancel the call.
        ctx.spawn(async move { drop(sending.await) });
    })
}

fn send<Resp: Send + 'static>(sink: UnarySink<Resp>, outcome: Result<Option<Resp>, Refusal>) -> UnarySinkResult {
    match outcome {
        Ok(Some(reply)) => sink.success(reply),
        Ok(None) => sink.fail(RpcStatus::new(RpcStatusCode::INTERNAL)),
        Err(refusal) => sink.fail(status(refusal)),
    }
}

/// Each message is a beat when it arrives, not when the stream closes.
fn health(service: ServiceBuilder, door: &Door) -> ServiceBuilder {
    let door = door.clone();
    service.add_client_streaming_handler(&proto::HEALTH, move |ctx, mut beats, sink| {
        let door = door.clone();
        ctx.spawn(async move {
            loop {
                match beats.try_next().await {
                    Ok(Some(sdk::Empty {})) => door.beat(),
                    Ok(None) => break,
                    // The stream broke: nobody is there to be answered.
                    Err(_) => return,
                }
            }
            let _ = sink.success(sdk::Empty {}).await;
        });
    })
}

/// A thread for each watch, so that a client that does not read waits alone.
fn watch(service: ServiceBuilder, door: &Door) -> ServiceBuilder {
    let door = door.clone();
    service.add_server_streaming_handler(&proto::WATCH_GAME_SERVER, move |_, sdk::Empty {}, sink| {
        let (watcher, changes) = sync_channel(WATCH_ROOM);
        let thread = thread::Builder::new().name("local-sdk-watch".into());
        // Without a thread the sink is dropped, which cancels the call.
        if thread.spawn(move || send_changes(&changes, sink)).is_ok() {
            door.watch(watcher);
        }
    })
}

fn send_changes(changes: &Receiver<Arc<sdk::GameServer>>, mut sink: ServerStreamingSink<sdk::GameServer>) {
    loop {
        let sent = match changes.recv_timeout(WATCH_LOOK) {
            Ok(game_server) => {
                let game_server = sdk::GameServer::clone(&game_server);
                futures_executor::block_on(sink.send((game_server, WriteFlags::default())))
            }
            Err(RecvTimeoutError::Timeout) => futures_executor::block_on(future::poll_fn(|cx| {
                futures_util::Sink::<(sdk::GameServer, WriteFlags)>::poll_ready(Pin::new(&mut sink), cx)
            })),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if sent.is_err() {
            return;
        }
    }
    let _ = futures_executor::block_on(sink.close());
}

fn status(refusal: Refusal) -> RpcStatus {
    RpcStatus::with_message(RpcStatusCode::from(refusal.code as i32), refusal.message)
}

#[expect(clippy::needless_pass_by_value, reason = "as its siblings")]
fn empty(reply: Reply) -> Option<sdk::Empty> {
    matches!(reply, Reply::Empty).then_some(sdk::Empty {})
}

fn counter(reply: Reply) -> Option<beta::Counter> {
    match reply {
        Reply::Counter(counter) => Some(counter),
        _ => None,
    }
}

fn list(reply: Reply) -> Option<beta::List> {
    match reply {
        Reply::List(list) => Some(list),
        _ => None,
    }
}
