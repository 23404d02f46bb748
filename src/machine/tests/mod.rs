//! The sentences of SPEC.md section 2, each as a trace in a world with a fake clock.

mod counter;
mod explore;
mod health;
mod link;
mod list;
mod ready;
mod stop;
mod walk;
mod world;
mod wrapper;
