//! The wire messages, generated from `proto/` and checked in, and the method
//! tables of the two SDK services.
//!
//! A test of `proto/codegen` proves the generated files current; `cargo run -p
//! agones-shim-proto` writes them. The method tables are small enough to write:
//! that spares the build a code generator for services.

use grpcio::{Marshaller, Method, MethodType, pr_de, pr_ser};

/// Package `agones.dev.sdk`.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs)]
#[path = "proto/agones.dev.sdk.rs"]
pub mod sdk;

/// Package `agones.dev.sdk.beta`.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs)]
#[path = "proto/agones.dev.sdk.beta.rs"]
pub mod beta;

/// `google.protobuf.FieldMask`, the one well-known type that prost does not map to a type of Rust.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FieldMask {
    /// Names of fields, as the .proto file spells them.
    #[prost(string, repeated, tag = "1")]
    pub paths: Vec<String>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident: $ty:ident $path:literal, $req:ty => $resp:ty;)*) => {$(
        $(#[$doc])*
        pub const $name: Method<$req, $resp> = Method {
            ty: MethodType::$ty,
            name: $path,
            req_mar: Marshaller { ser: pr_ser, de: pr_de },
            resp_mar: Marshaller { ser: pr_ser, de: pr_de },
        };
    )*};
}

methods! {
    /// Asks for state Ready.
    READY: Unary "/agones.dev.sdk.SDK/Ready", sdk::Empty => sdk::Empty;
    /// Asks for state Allocated.
    ALLOCATE: Unary "/agones.dev.sdk.SDK/Allocate", sdk::Empty => sdk::Empty;
    /// Asks for state Shutdown.
    SHUTDOWN: Unary "/agones.dev.sdk.SDK/Shutdown", sdk::Empty => sdk::Empty;
    /// Asks for state Reserved, for this number of seconds.
    RESERVE: Unary "/agones.dev.sdk.SDK/Reserve", sdk::Duration => sdk::Empty;
    /// A stream of beats.
    HEALTH: ClientStreaming "/agones.dev.sdk.SDK/Health", sdk::Empty => sdk::Empty;
    /// Reads the GameServer.
    GET_GAME_SERVER: Unary "/agones.dev.sdk.SDK/GetGameServer", sdk::Empty => sdk::GameServer;
    /// Reads the GameServer now and at each change.
    WATCH_GAME_SERVER: ServerStreaming "/agones.dev.sdk.SDK/WatchGameServer", sdk::Empty => sdk::GameServer;
    /// Sets a label, prefixed with `agones.dev/sdk-`.
    SET_LABEL: Unary "/agones.dev.sdk.SDK/SetLabel", sdk::KeyValue => sdk::Empty;
    /// Sets an annotation, prefixed with `agones.dev/sdk-`.
    SET_ANNOTATION: Unary "/agones.dev.sdk.SDK/SetAnnotation", sdk::KeyValue => sdk::Empty;
    /// The question of gRPC's own health protocol. The SDK server does not know it, and says so: it is there.
    IS_ANYBODY_THERE: Unary "/grpc.health.v1.Health/Check", sdk::Empty => sdk::Empty;
    /// Reads a Counter.
    GET_COUNTER: Unary "/agones.dev.sdk.beta.SDK/GetCounter", beta::GetCounterRequest => beta::Counter;
    /// Changes a Counter.
    UPDATE_COUNTER: Unary "/agones.dev.sdk.beta.SDK/UpdateCounter", beta::UpdateCounterRequest => beta::Counter;
    /// Reads a List.
    GET_LIST: Unary "/agones.dev.sdk.beta.SDK/GetList", beta::GetListRequest => beta::List;
    /// Overwrites a List's capacity or values.
    UPDATE_LIST: Unary "/agones.dev.sdk.beta.SDK/UpdateList", beta::UpdateListRequest => beta::List;
    /// Adds one value to a List.
    ADD_LIST_VALUE: Unary "/agones.dev.sdk.beta.SDK/AddListValue", beta::AddListValueRequest => beta::List;
    /// Removes one value from a List.
    REMOVE_LIST_VALUE: Unary "/agones.dev.sdk.beta.SDK/RemoveListValue", beta::RemoveListValueRequest => beta::List;
}
