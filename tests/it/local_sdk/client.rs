//! A gRPC client made from the method tables, with a deadline in everything.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agones_shim::testing::sdk::proto::{self, beta, sdk};
use futures_util::{SinkExt as _, TryStreamExt as _};
use grpcio::{CallOption, ChannelBuilder, Client, ClientSStreamReceiver, EnvBuilder, Environment, Method, WriteFlags};

use crate::support::local_sdk::LocalSdk;
use crate::support::wait;

/// Far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What a refused call says: the status code and the text.
pub type Refused = (i32, String);

pub struct SdkClient {
    client: Client,
    _env: Arc<Environment>,
}

impl SdkClient {
    pub fn of(server: &LocalSdk) -> Self {
        Self::new(server.grpc())
    }

    pub fn new(address: SocketAddr) -> Self {
        let env = Arc::new(EnvBuilder::new().cq_count(1).build());
        let channel = ChannelBuilder::new(Arc::clone(&env)).enable_http_proxy(false).connect(&address.to_string());
        Self { client: Client::new(channel), _env: env }
    }

    #[track_caller]
    pub fn call<Req, Resp: Unpin>(&self, method: &Method<Req, Resp>, request: &Req) -> Result<Resp, Refused> {
        self.client.unary_call(method, request, options()).map_err(|error| match error {
            grpcio::Error::RpcFailure(status) => (status.code().into(), status.message().to_owned()),
            other => panic!("{other}"),
        })
    }

    /// A call without arguments that is accepted.
    #[track_caller]
    pub fn ask<Resp: Unpin>(&self, method: &Method<sdk::Empty, Resp>) -> Resp {
        self.call(method, &sdk::Empty {}).expect("accepted")
    }

    pub fn game_server(&self) -> sdk::GameServer {
        self.ask(&proto::GET_GAME_SERVER)
    }

    pub fn status(&self) -> sdk::game_server::Status {
        self.game_server().status.expect("a status")
    }

    #[track_caller]
    pub fn wait_for_state(&self, wanted: &str) {
        wait::until(&format!("state {wanted}"), PATIENCE, || (self.status().state == wanted).then_some(()));
    }

    pub fn set_count(&self, name: &str, count: i64) -> Result<beta::Counter, Refused> {
        let update = beta::CounterUpdateRequest { name: name.into(), count: Some(count), ..Default::default() };
        self.call(&proto::UPDATE_COUNTER, &beta::UpdateCounterRequest { counter_update_request: Some(update) })
    }

    /// One stream of so many beats, closed and answered.
    pub fn beats(&self, number: usize) {
        let (mut sink, answer) = self.client.client_streaming(&proto::HEALTH, options()).expect("a stream");
        futures_executor::block_on(async {
            for _ in 0..number {
                sink.send((sdk::Empty {}, WriteFlags::default())).await.expect("a beat goes out");
            }
            sink.close().await.expect("the stream closes");
            answer.await.expect("the stream is answered")
        });
    }

    /// One beat on a stream that then stays open for as long as the returned value lives.
    pub fn open_beat(&self) -> impl Sized + use<> {
        let (mut sink, answer) = self.client.client_streaming(&proto::HEALTH, options()).expect("a stream");
        futures_executor::block_on(sink.send((sdk::Empty {}, WriteFlags::default()))).expect("a beat goes out");
        (sink, answer)
    }

    pub fn watch(&self) -> Watch {
        Watch(self.client.server_streaming(&proto::WATCH_GAME_SERVER, &sdk::Empty {}, options()).expect("a watch"))
    }
}

pub struct Watch(ClientSStreamReceiver<sdk::GameServer>);

impl Watch {
    /// The next GameServer; `None` when the server ended the stream or went.
    pub fn next(&mut self) -> Option<sdk::GameServer> {
        futures_executor::block_on(self.0.try_next()).ok().flatten()
    }

    #[track_caller]
    pub fn next_state(&mut self) -> String {
        self.next().expect("the watch lives").status.expect("a status").state
    }
}

fn options() -> CallOption {
    CallOption::default().timeout(PATIENCE)
}
