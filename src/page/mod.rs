//! Pages that a count is read from: bytes in, a number out. Pure.

pub mod exposition;
pub mod json;
