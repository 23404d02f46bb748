#[allow(clippy::derive_partial_eq_without_eq)]
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Empty {}
#[allow(clippy::derive_partial_eq_without_eq)]
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct KeyValue {
    #[prost(string, tag = "1")]
    pub key: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub value: ::prost::alloc::string::String,
}
#[allow(clippy::derive_partial_eq_without_eq)]
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Duration {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
}
#[allow(clippy::derive_partial_eq_without_eq)]
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct GameServer {
    #[prost(message, optional, tag = "1")]
    pub object_meta: ::core::option::Option<game_server::ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    pub spec: ::core::option::Option<game_server::Spec>,
    #[prost(message, optional, tag = "3")]
    pub status: ::core::option::Option<game_server::Status>,
}
/// Nested message and enum types in `GameServer`.
pub mod game_server {
    #[allow(clippy::derive_partial_eq_without_eq)]
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct ObjectMeta {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, tag = "2")]
        pub namespace: ::prost::alloc::string::String,
        #[prost(string, tag = "3")]
        pub uid: ::prost::alloc::string::String,
        #[prost(string, tag = "4")]
        pub resource_version: ::prost::alloc::string::String,
        #[prost(int64, tag = "5")]
        pub generation: i64,
        #[prost(int64, tag = "6")]
        pub creation_timestamp: i64,
        #[prost(int64, tag = "7")]
        pub deletion_timestamp: i64,
        #[prost(btree_map = "string, string", tag = "8")]
        pub annotations: ::prost::alloc::collections::BTreeMap<
            ::prost::alloc::string::String,
            ::prost::alloc::string::String,
        >,
        #[prost(btree_map = "string, string", tag = "9")]
        pub labels: ::prost::alloc::collections::BTreeMap<
            ::prost::alloc::string::String,
            ::prost::alloc::string::String,
        >,
    }
    #[allow(clippy::derive_partial_eq_without_eq)]
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Spec {
        #[prost(message, optional, tag = "1")]
        pub health: ::core::option::Option<spec::Health>,
    }
    /// Nested message and enum types in `Spec`.
    pub mod spec {
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct Health {
            #[prost(bool, tag = "1")]
            pub disabled: bool,
            #[prost(int32, tag = "2")]
            pub period_seconds: i32,
            #[prost(int32, tag = "3")]
            pub failure_threshold: i32,
            #[prost(int32, tag = "4")]
            pub initial_delay_seconds: i32,
        }
    }
    #[allow(clippy::derive_partial_eq_without_eq)]
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Status {
        #[prost(string, tag = "1")]
        pub state: ::prost::alloc::string::String,
        #[prost(string, tag = "2")]
        pub address: ::prost::alloc::string::String,
        #[prost(message, repeated, tag = "3")]
        pub ports: ::prost::alloc::vec::Vec<status::Port>,
        #[prost(message, optional, tag = "4")]
        pub players: ::core::option::Option<status::PlayerStatus>,
        #[prost(btree_map = "string, message", tag = "5")]
        pub counters: ::prost::alloc::collections::BTreeMap<
            ::prost::alloc::string::String,
            status::CounterStatus,
        >,
        #[prost(btree_map = "string, message", tag = "6")]
        pub lists: ::prost::alloc::collections::BTreeMap<
            ::prost::alloc::string::String,
            status::ListStatus,
        >,
        #[prost(message, repeated, tag = "7")]
        pub addresses: ::prost::alloc::vec::Vec<status::Address>,
    }
    /// Nested message and enum types in `Status`.
    pub mod status {
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct Address {
            #[prost(string, tag = "1")]
            pub r#type: ::prost::alloc::string::String,
            #[prost(string, tag = "2")]
            pub address: ::prost::alloc::string::String,
        }
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct Port {
            #[prost(string, tag = "1")]
            pub name: ::prost::alloc::string::String,
            #[prost(int32, tag = "2")]
            pub port: i32,
        }
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct PlayerStatus {
            #[prost(int64, tag = "1")]
            pub count: i64,
            #[prost(int64, tag = "2")]
            pub capacity: i64,
            #[prost(string, repeated, tag = "3")]
            pub ids: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        }
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct CounterStatus {
            #[prost(int64, tag = "1")]
            pub count: i64,
            #[prost(int64, tag = "2")]
            pub capacity: i64,
        }
        #[allow(clippy::derive_partial_eq_without_eq)]
        #[derive(Clone, PartialEq, ::prost::Message)]
        pub struct ListStatus {
            #[prost(int64, tag = "1")]
            pub capacity: i64,
            #[prost(string, repeated, tag = "2")]
            pub values: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        }
    }
}
