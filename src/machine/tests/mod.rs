//! The life of a server, sentence by sentence, each as a trace in a world with a fake clock.
//!
//! `walk` and what it needs are there for the fuzzer too.
#![cfg_attr(not(test), allow(dead_code, missing_docs, clippy::missing_panics_doc, reason = "the fuzzer's part"))]

#[cfg(test)]
mod allocation;
#[cfg(test)]
mod counter;
#[cfg(test)]
mod explore;
#[cfg(test)]
mod health;
#[cfg(test)]
mod link;
#[cfg(test)]
mod list;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod ready;
#[cfg(test)]
mod self_allocation;
#[cfg(test)]
mod self_shutdown;
#[cfg(test)]
mod stop;
pub mod walk;
mod world;
#[cfg(test)]
mod wrapper;
