//! The sentences of SPEC.md section 2, each as a trace in a world with a fake clock.

mod counter;
mod explore;
mod health;
mod link;
mod list;
mod metadata;
mod ready;
mod retire;
mod stop;
mod walk;
mod watch;
mod world;
mod wrapper;
