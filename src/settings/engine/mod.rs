//! What can be done with settings, whichever they are: reading an environment, help, the page of `check`, suggestions.
//!
//! Nothing here knows the name of a setting, nor what one means.

pub(crate) mod check;
pub(crate) mod help;
pub(crate) mod read;
pub(crate) mod row;
pub(crate) mod suggest;
pub(crate) mod unknown;

#[cfg(test)]
pub(crate) use unknown::is_injected;
