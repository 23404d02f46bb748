//! Every line that the machine can log, as data: level, message and fields are
//! looked up here and nowhere else.

/// A log line of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {}
